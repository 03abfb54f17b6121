//! The text of an answer, copied at the speed of the machine wherever it comes to lie.

use std::sync::Arc;

/// Bytes of a piece. glibc copies more than about 4 KiB at once by `rep movsb`, which on AMD's processors (Zen 3 and later)
/// takes 15 times as long where the target lies 1 to 63 bytes behind the source within a page; below, by vectors, it never does.
const PIECE: usize = 2048;

/// The text in memory of its own.
pub(crate) fn copied(text: &str) -> Arc<str> {
    if text.len() <= PIECE {
        return text.into();
    }
    let mut shared = Arc::<[u8]>::new_uninit_slice(text.len());
    let Some(room) = Arc::get_mut(&mut shared) else { return text.into() };
    for (room, piece) in room.chunks_mut(PIECE).zip(text.as_bytes().chunks(PIECE)) {
        // SAFETY: both are as long as a piece, or as what is left: they come from slices of one length. The room is new.
        unsafe { piece.as_ptr().copy_to_nonoverlapping(room.as_mut_ptr().cast(), piece.len()) };
    }
    // SAFETY: the loop wrote all of it.
    let bytes = unsafe { shared.assume_init() };
    // SAFETY: the bytes are those of a text, and `str` lies in memory as its bytes do.
    unsafe { Arc::from_raw(Arc::into_raw(bytes) as *const str) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_a_text_is_copied_whatever_its_length() {
        let long = "aäaa\u{1f6a2}".repeat(PIECE);
        for around in [0, 1, PIECE, 2 * PIECE, long.len() - 8] {
            for length in
                (around.saturating_sub(8)..around + 8).filter(|at| long.is_char_boundary(*at))
            {
                let copied = copied(&long[..length]);
                assert_eq!(&*copied, &long[..length]);
                assert_eq!(Arc::strong_count(&copied), 1);
            }
        }
    }
}
