//! Backslashes in JSON that stand for nothing: most of them are those of a path of Windows that
//! were not doubled (SPEC 18.9).
//!
//! A tolerant parser drops such a backslash without a word, or gives up the whole text. Here each
//! is found first, and a slash takes its place, so that the parser finds the same ends of all
//! strings; what holds one of those places is flawed.

use std::borrow::Cow;

/// What is wrong at a place of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escape {
    /// A backslash before what JSON gives no meaning with it.
    Unknown,
    /// The number of half a character.
    Half,
}

/// The text in which no backslash is wrong, as long as it was, and the offsets of those that were.
pub(super) fn mended(text: &str) -> (Cow<'_, str>, Vec<(usize, Escape)>) {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    if memchr::memchr(b'\\', bytes).is_none() {
        return (Cow::Borrowed(text), found);
    }
    let mut at = 0;
    while at < bytes.len() {
        at = match (bytes[at], bytes.get(at + 1)) {
            (b'/', Some(b'/')) => at + length_until(&bytes[at..], b"\n"),
            (b'/', Some(b'*')) => at + 2 + length_until(&bytes[at + 2..], b"*/"),
            (quote @ (b'"' | b'\''), _) => end_of_string(bytes, at, quote, &mut found),
            _ => at + 1,
        };
    }
    if found.is_empty() {
        return (Cow::Borrowed(text), found);
    }
    let mut out = bytes.to_vec();
    for (offset, _) in &found {
        out[*offset] = b'/';
    }
    // One byte of ASCII took the place of another.
    (String::from_utf8(out).map_or(Cow::Borrowed(text), Cow::Owned), found)
}

/// How much stands before this and with it, or all of it.
fn length_until(bytes: &[u8], wanted: &[u8]) -> usize {
    let found = bytes.windows(wanted.len()).position(|window| window == wanted);
    found.map_or(bytes.len(), |start| start + wanted.len())
}

/// What follows the string that begins there.
fn end_of_string(bytes: &[u8], start: usize, quote: u8, found: &mut Vec<(usize, Escape)>) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            byte if *byte == quote => return at + 1,
            b'\\' => match length_of_escape(&bytes[at..], quote) {
                Ok(length) => at += length,
                Err(wrong) => {
                    found.push((at, wrong));
                    at += 1;
                }
            },
            _ => at += 1,
        }
    }
    at
}

/// The length of what a backslash begins, if it has a meaning: in JSON, or in what a string needs
/// that is quoted in another way or goes on in the next line.
fn length_of_escape(bytes: &[u8], quote: u8) -> Result<usize, Escape> {
    match bytes.get(1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' | b'\n' | b'\r') => Ok(2),
        Some(byte) if *byte == quote => Ok(2),
        Some(b'u') => match unit(bytes).ok_or(Escape::Unknown)? {
            0xd800..=0xdbff => match unit(bytes.get(6..).unwrap_or_default()) {
                Some(0xdc00..=0xdfff) => Ok(12),
                _ => Err(Escape::Half),
            },
            0xdc00..=0xdfff => Err(Escape::Half),
            _ => Ok(6),
        },
        // The end of a text closes no string, which is the parser's to tell.
        None => Ok(1),
        Some(_) => Err(Escape::Unknown),
    }
}

/// The number that is written as `\\uXXXX` at the beginning.
fn unit(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    let digits = std::str::from_utf8(digits).ok()?;
    let is_hex = digits.chars().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backslashes_without_a_meaning_are_found_in_strings_alone() {
        for (text, mended_to, offsets) in [
            (r#"{"a":"b"}"#, r#"{"a":"b"}"#, &[][..]),
            (r#""C:\\Apps\\new""#, r#""C:\\Apps\\new""#, &[]),
            (r#""C:\Apps\Py""#, r#""C:/Apps/Py""#, &[3, 8]),
            (r#""C:\users""#, r#""C:/users""#, &[3]),
            (r#""\u00e9\ud83e\udd80""#, r#""\u00e9\ud83e\udd80""#, &[]),
            (r#""\ud83e""#, r#""/ud83e""#, &[1]),
            (r#""\udd80\ud83e""#, r#""/udd80/ud83e""#, &[1, 7]),
            (r#""\u+123""#, r#""/u+123""#, &[1]),
            (r#"'it\'s' "\'""#, r#"'it\'s' "/'""#, &[9]),
            (r#"// "\A" 'x\n"#, r#"// "\A" 'x\n"#, &[]),
            ("// '\n\"\\A\"", "// '\n\"/A\"", &[6]),
            (r#"/* " */ "\A""#, r#"/* " */ "/A""#, &[9]),
            (r#""a // \A""#, r#""a // /A""#, &[6]),
            ("\"two \\\r\nlines\"", "\"two \\\r\nlines\"", &[]),
            (r#""\"#, r#""\"#, &[]),
            (r#""\ü""#, r#""/ü""#, &[1]),
        ] {
            let (mended, found) = mended(text);
            assert_eq!(mended, mended_to, "{text}");
            let found: Vec<usize> = found.iter().map(|(offset, _)| *offset).collect();
            assert_eq!(found, offsets, "{text}");
        }
    }
}
