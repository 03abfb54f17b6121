//! What each of 64 bytes is, as words with a bit for each of them.
//!
//! The bytes are turned by 90 degrees: word `n` then has the bits `n` of all bytes, and a kind of
//! byte is a term of those words. That takes the same few operations on every processor, and none
//! for a byte.

/// Bytes that are looked at together.
pub(super) const BLOCK: usize = 64;

/// For each kind of byte, which of a block are of it: the lowest bit is that of the first byte.
pub(super) struct Kinds {
    pub quote: u64,
    pub backslash: u64,
    /// Below the space.
    pub control: u64,
    /// What may stand between values.
    pub white: u64,
    /// `{` and `[`.
    pub open: u64,
    /// `}` and `]`.
    pub close: u64,
    /// Of brackets alone: whether it is that of an object.
    pub object: u64,
    pub comma: u64,
    pub colon: u64,
    pub digit: u64,
    pub zero: u64,
    pub dot: u64,
    pub minus: u64,
}

impl Kinds {
    #[inline(always)]
    pub(super) fn of(block: &[u8; BLOCK]) -> Kinds {
        let [b0, b1, b2, b3, b4, b5, b6, b7] = planes(block);
        // By the upper half of a byte.
        let below_40 = !(b7 | b6);
        let (is_2, is_3) = (below_40 & b5 & !b4, below_40 & b5 & b4);
        let control = below_40 & !b5;
        let is_5_or_7 = !b7 & b6 & b4;
        // By its lower half.
        let (below_4, above_b) = (!(b3 | b2), b3 & b2);
        let (is_0, is_2_below) = (below_4 & !b1 & !b0, below_4 & b1 & !b0);
        let is_9 = b3 & !(b2 | b1) & b0;
        let (is_a, is_b) = (b3 & !b2 & b1 & !b0, b3 & !b2 & b1 & b0);
        let (is_c, is_d, is_e) = (above_b & !b1 & !b0, above_b & !b1 & b0, above_b & b1 & !b0);
        Kinds {
            quote: is_2 & is_2_below,
            backslash: is_5_or_7 & !b5 & is_c,
            control,
            white: is_2 & is_0 | control & !b4 & (is_9 | is_a | is_d),
            open: is_5_or_7 & is_b,
            close: is_5_or_7 & is_d,
            object: b5,
            comma: is_2 & is_c,
            colon: is_3 & is_a,
            digit: is_3 & !(b3 & (b2 | b1)),
            zero: is_3 & is_0,
            dot: is_2 & is_e,
            minus: is_2 & is_d,
        }
    }
}

/// The bits of one place of all bytes, for each place.
#[inline(always)]
fn planes(block: &[u8; BLOCK]) -> [u64; 8] {
    let (bytes, _) = block.as_chunks();
    let mut words: [u64; 8] = std::array::from_fn(|at| u64::from_le_bytes(bytes[at]));
    // First bytes change places between the words, then bits within each column of bytes.
    exchange::<1>(&mut words, 8, 0x00ff_00ff_00ff_00ff);
    exchange::<2>(&mut words, 16, 0x0000_ffff_0000_ffff);
    exchange::<4>(&mut words, 32, 0x0000_0000_ffff_ffff);
    exchange::<1>(&mut words, 1, 0x5555_5555_5555_5555);
    exchange::<2>(&mut words, 2, 0x3333_3333_3333_3333);
    exchange::<4>(&mut words, 4, 0x0f0f_0f0f_0f0f_0f0f);
    words
}

/// Of words that are so far apart, the upper bits of one change places with the lower ones of the
/// other.
#[inline(always)]
fn exchange<const APART: usize>(words: &mut [u64; 8], shift: u32, lower: u64) {
    for at in 0..8 {
        if at & APART == 0 {
            let changed = (words[at] >> shift ^ words[at + APART]) & lower;
            words[at] ^= changed << shift;
            words[at + APART] ^= changed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_of_its_kinds_wherever_it_stands() {
        for byte in 0..=255_u8 {
            for at in 0..BLOCK {
                let mut block = [b'x'; BLOCK];
                block[at] = byte;
                let kinds = Kinds::of(&block);
                let seen = [
                    (kinds.quote, byte == b'"'),
                    (kinds.backslash, byte == b'\\'),
                    (kinds.control, byte < b' '),
                    (kinds.white, matches!(byte, b' ' | b'\t' | b'\n' | b'\r')),
                    (kinds.open, matches!(byte, b'{' | b'[')),
                    (kinds.close, matches!(byte, b'}' | b']')),
                    (kinds.comma, byte == b','),
                    (kinds.colon, byte == b':'),
                    (kinds.digit, byte.is_ascii_digit()),
                    (kinds.zero, byte == b'0'),
                    (kinds.dot, byte == b'.'),
                    (kinds.minus, byte == b'-'),
                ];
                for (number, (kind, expected)) in seen.into_iter().enumerate() {
                    assert_eq!(kind, u64::from(expected) << at, "{byte:#x} at {at}, kind {number}");
                }
                let object = kinds.object & (kinds.open | kinds.close);
                assert_eq!(object, u64::from(matches!(byte, b'{' | b'}')) << at, "{byte:#x}");
            }
        }
    }
}
