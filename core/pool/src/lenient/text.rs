//! Half a surrogate pair in a JSON text (SPEC 18.3).

use std::borrow::Cow;

/// The text with each escape of half a surrogate pair as that of U+FFFD; every other byte as it is.
pub fn whole_characters(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let (mut out, mut kept, mut at) = (String::new(), 0, 0);
    while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
        let begin = at + found;
        at = match surrogate(&bytes[begin..]) {
            None => begin + 2,
            Some(Half::First) if surrogate(&bytes[begin + 6..]) == Some(Half::Second) => begin + 12,
            Some(_) => {
                out.push_str(&text[kept..begin]);
                out.push_str("\\ufffd");
                kept = begin + 6;
                kept
            }
        };
        if at >= bytes.len() {
            break;
        }
    }
    if out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

#[derive(Clone, Copy, PartialEq)]
enum Half {
    First,
    Second,
}

/// Which half of a pair the escape is that the text begins with.
fn surrogate(text: &[u8]) -> Option<Half> {
    let [b'\\', b'u', b'd' | b'D', second, third, fourth, ..] = text else { return None };
    let are_digits = third.is_ascii_hexdigit() && fourth.is_ascii_hexdigit();
    match second.to_ascii_lowercase() {
        b'8'..=b'9' | b'a'..=b'b' if are_digits => Some(Half::First),
        b'c'..=b'f' if are_digits => Some(Half::Second),
        _ => None,
    }
}
