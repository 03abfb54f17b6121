//! What a text looks like: its skeleton after UTS 39, section 4.

use unicode_normalization::UnicodeNormalization as _;

include!(concat!(env!("OUT_DIR"), "/looks.rs"));

/// The text with each letter as the one that it looks like, and without letters that nobody sees.
pub(super) fn skeleton(text: &str) -> impl Iterator<Item = char> {
    text.nfd().flat_map(Look::of).nfd()
}

/// What one letter looks like.
enum Look {
    Itself(Option<char>),
    Text(std::str::Chars<'static>),
}

impl Look {
    fn of(letter: char) -> Look {
        let Ok(row) = LETTERS.binary_search(&u32::from(letter)) else {
            return Look::Itself(Some(letter));
        };
        let (at, length) = (LOOKS[row] >> LENGTH_BITS, LOOKS[row] & ((1 << LENGTH_BITS) - 1));
        Look::Text(TEXTS[at as usize..(at + length) as usize].chars())
    }
}

impl Iterator for Look {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        match self {
            Look::Itself(letter) => letter.take(),
            Look::Text(letters) => letters.next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use unicode_security::confusable_detection::skeleton as theirs;

    use super::skeleton;

    /// The table is whole: each character, alone and between others, is what the library says.
    #[test]
    fn every_character_looks_like_what_unicode_says() {
        for letter in '\0'..=char::MAX {
            let text = format!("a{letter}\u{323}b");
            assert!(skeleton(&text).eq(theirs(&text)), "{letter:?}");
        }
    }
}
