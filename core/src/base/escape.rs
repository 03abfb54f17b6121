//! Text of a server made safe to show (S-49).

use std::fmt::Write;

/// The bytes as one line of text: control, format and invisible characters as `\u{…}`, invalid
/// UTF-8 as `\x…`, a backslash doubled, so that two different inputs never look alike.
pub(crate) fn escape_line(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' => out.push_str("\\\\"),
                '\t' => out.push_str("\\t"),
                hidden if is_hidden(hidden) => {
                    let _ = write!(out, "\\u{{{:x}}}", u32::from(hidden));
                }
                shown => out.push(shown),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// Control characters, and those that change how others are shown or are not shown themselves:
/// marks of direction, zero-width characters, separators of lines, tags, and variation selectors of
/// the supplement.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(u32::from(character),
            0x00AD | 0x034F | 0x061C | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F
            | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0x3164 | 0xFEFF | 0xFFA0
            | 0xFFF0..=0xFFFB | 0xE0000..=0xE0FFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S-49, S-10.
    #[test]
    fn nothing_that_steers_a_terminal_or_hides_text_is_left() {
        let line = "\u{1b}[31mred\u{202e}\u{200b}\u{e0041} ok \\u{1b}".as_bytes();
        let shown = escape_line(&[line, b"\xff\t"].concat());
        assert_eq!(shown, r"\u{1b}[31mred\u{202e}\u{200b}\u{e0041} ok \\u{1b}\xff\t");
    }
}
