//! One line that shows exactly what would run (S-10).

use std::fmt::Write as _;

/// The arguments as one line of printable ASCII, nothing cut: two different lists never give the
/// same line.
///
/// An argument of letters, digits and plain signs stands as it is; another one stands between
/// quotes.
pub fn escaped_line<'a>(arguments: impl IntoIterator<Item = &'a str>) -> String {
    let mut out = String::new();
    for (index, argument) in arguments.into_iter().enumerate() {
        if index > 0 {
            out.push(' ');
        }
        if is_plain(argument) {
            out.push_str(argument);
        } else {
            out.push('"');
            push_escaped(&mut out, argument);
            out.push('"');
        }
    }
    out
}

/// A text as printable ASCII: what is not, a backslash and a quote are escaped. Letters of other
/// scripts are too, since some look like letters of this one.
pub fn escaped_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_escaped(&mut out, text);
    out
}

fn is_plain(argument: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:@%+,".contains(&byte);
    !argument.is_empty() && argument.bytes().all(is_plain)
}

fn push_escaped(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(character),
            // Writing to a String cannot fail.
            other => drop(write!(out, "\\u{{{:x}}}", u32::from(other))),
        }
    }
}
