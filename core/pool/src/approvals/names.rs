//! Names that look like others (SPEC 12.11).

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization as _;
use unicode_security::MixedScript as _;

include!(concat!(env!("OUT_DIR"), "/looks.rs"));

/// Whether a name may be read as another: letters of several scripts in one, or all of them like
/// letters of ASCII.
pub fn is_deceptive(name: &str) -> bool {
    !name.is_ascii() && (!name.is_single_script() || skeleton(name).all(|sign| sign.is_ascii()))
}

/// Names by what they look like.
#[derive(Debug, Default)]
pub struct Alike(BTreeMap<String, Vec<String>>);

impl Alike {
    /// These names.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Alike {
        let mut alike = BTreeMap::<_, Vec<String>>::new();
        for name in names {
            alike.entry(look_of(name)).or_default().push(name.to_owned());
        }
        Alike(alike)
    }

    /// Another one of them that looks like this one.
    pub fn to(&self, name: &str) -> Option<&str> {
        let alike = self.0.get(&look_of(name))?;
        alike.iter().map(String::as_str).find(|other| *other != name)
    }
}

/// What a name looks like. Case counts for nothing, since a reader passes over it.
fn look_of(name: &str) -> String {
    skeleton(name).collect::<String>().to_lowercase()
}

/// What a text looks like (UTS 39, section 4): each letter as the one that it looks like, and
/// without letters that nobody sees.
fn skeleton(text: &str) -> impl Iterator<Item = char> {
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
