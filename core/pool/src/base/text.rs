//! How strings that somebody else wrote are shown to a person.

use std::fmt::Write as _;

/// The string with everything escaped that a terminal would act on or a reader would not see.
///
/// Control characters, bidirectional controls, invisible characters, tags and the backslash itself
/// become `\u{…}`, `\n`, `\r`, `\t` or `\\`. So two different strings never look alike because of
/// them (S-10, S-49).
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            hidden if is_hidden(hidden) => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{{{:x}}}", u32::from(hidden));
            }
            plain => out.push(plain),
        }
    }
    out
}

/// Whether a character is a control character, or one that is not seen or changes what is seen
/// around it.
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{17b4}'
                | '\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Bytes as hex digits, in lower case.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The digest that [`hex`] wrote.
pub fn digest_from_hex(digits: &str) -> Option<[u8; 32]> {
    let mut out = [0; 32];
    // Only the lower-case form that `hex` writes, so that one fingerprint has one spelling.
    let is_ours = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
    if digits.len() != 64 || !digits.bytes().all(is_ours) {
        return None;
    }
    for (byte, pair) in out.iter_mut().zip(digits.as_bytes().chunks(2)) {
        let pair = std::str::from_utf8(pair).ok()?;
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S-49: escape codes, line breaks and invisible characters become visible.
    #[test]
    fn hidden_characters_are_shown() {
        assert_eq!(escaped("a\u{1b}[2Jb\r\n\t"), "a\\u{1b}[2Jb\\r\\n\\t");
        assert_eq!(escaped("x\u{202e}y\u{200b}\u{e0041}"), "x\\u{202e}y\\u{200b}\\u{e0041}");
        assert_eq!(escaped("plain ü 漢 ok"), "plain ü 漢 ok");
    }

    /// S-49: a string that spells an escape does not look like the character itself.
    #[test]
    fn escaping_is_injective() {
        assert_ne!(escaped("\\u{1b}"), escaped("\u{1b}"));
        assert_eq!(escaped("\\n"), "\\\\n");
    }
}
