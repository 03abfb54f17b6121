//! Maps by id.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by ids that this process makes, or by digests; its order means nothing.
pub type IdMap<K, V> = HashMap<K, V, BuildHasherDefault<IdHasher>>;

/// One multiplication for each word: ids are made by this process, so nobody can choose them to
/// collide, and who wants digests to has to search for them.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for bytes in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        // The odd constant is 2^64 divided by the golden ratio; the rotation brings its well-mixed
        // high bits down.
        self.0 = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }
}

#[cfg(test)]
mod tests {
    use std::hash::Hash;

    use super::*;

    #[test]
    fn neighbouring_ids_do_not_share_their_low_bits() {
        let low = |value: u32| {
            let mut hasher = IdHasher::default();
            value.hash(&mut hasher);
            hasher.finish() & 0x3ff
        };
        let distinct: std::collections::BTreeSet<u64> = (0..512).map(low).collect();
        assert!(distinct.len() > 300, "{} of 512", distinct.len());
        let mut hasher = IdHasher::default();
        hasher.write(&[1, 2]);
        assert_ne!(hasher.finish(), 0);
    }
}
