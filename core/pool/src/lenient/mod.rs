//! One lenient pass over what others send, before anything with types reads it (SPEC 18.2).
//!
//! 1. Where a type is expected, a member that is `null` is left out, and an empty array where a map belongs is an empty map; at every depth.
//! 2. A number may be written as a text, a text as a number, and a yes or no as a text.
//! 3. Half a surrogate pair in a text is U+FFFD (SPEC 18.3).
//! 4. What still does not fit its type is left out, where it is a member or an item. A schema keeps what does not fit.
//! 5. [`Kind::Any`] is not looked into: content, arguments, foreign `_meta`, `const`, `enum`, `default` and `examples` of a schema.
//!
//! What comes out feeds readers with types alone. What a host is handed are the server's bytes.

pub mod kinds;
mod schema;
#[cfg(test)]
mod tests;
mod text;
mod walk;

use std::borrow::Cow;

pub use text::whole_characters;

use crate::json::is_value;

/// What belongs at one place.
#[derive(Debug)]
pub enum Kind {
    /// Anything: it passes as it is.
    Any,
    /// A text, which may be written as a number.
    Text,
    /// A text, and nothing else.
    Words,
    /// A finite number.
    Number,
    /// `true` or `false`.
    Bool,
    /// An object of which nobody here looks at the members.
    Object,
    /// An object with these members. Others pass, unless they are `null`.
    Map(&'static [(&'static str, &'static Kind)]),
    /// The same, where `false` says that it is not there, and anything that is no object that it is.
    Flag(&'static [(&'static str, &'static Kind)]),
    /// An object with a value of this kind under each name.
    ByName(&'static Kind),
    /// An array of these.
    List(&'static Kind),
    /// A JSON Schema.
    Schema,
}

/// The text as a reader of this kind wants it: the very text where nothing is odd in it, and where it is no JSON.
pub fn lenient<'a>(text: &'a str, kind: &Kind) -> Cow<'a, str> {
    if !is_value(text) {
        return Cow::Borrowed(text);
    }
    let read = walk::read(text, kind);
    if read == text { Cow::Borrowed(text) } else { Cow::Owned(read) }
}

/// A finite number, which may be written as a text.
pub fn number(text: &str) -> Option<f64> {
    let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let digits = quoted.unwrap_or(text);
    // As JSON has it: no `inf`, no sign before, no white space.
    let is_one = is_value(digits) && !digits.contains(|c: char| c.is_ascii_whitespace());
    let number: f64 = is_one.then(|| digits.parse().ok())??;
    number.is_finite().then_some(number)
}
