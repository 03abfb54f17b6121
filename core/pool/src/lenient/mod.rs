//! One lenient pass over what others send, before anything with types reads it (SPEC 18.2).
//!
//! 1. Where a type is expected, a member that is `null` is left out, and an empty array where a map
//!    belongs is an empty map; at every depth.
//! 2. A number may be written as a text, a text as a number, and a yes or no as a text.
//! 3. Half a surrogate pair in a text is U+FFFD (SPEC 18.3).
//! 4. What still does not fit its type is left out, where it is a member or an item. Inside of a
//!    schema what does not fit stays.
//! 5. [`ValueKind::Any`] is not looked into: content, arguments, foreign `_meta`, `const`, `enum`,
//!    `default` and `examples` of a schema.
//!
//! What comes out feeds readers with types alone. What a host is handed are the server's bytes.
//!
//! The pass gives texts, not values: it costs one walk and loses no digit. Hints that decide over
//! trust (`readOnlyHint`, `idempotentHint`) count only as `true`; no text is read as a yes there.

pub mod kinds;
pub(crate) mod schema;
#[cfg(test)]
mod tests;
mod text;
mod value_kind;
mod walk;

use std::borrow::Cow;

use serde_json::Value;

pub use text::whole_characters;
pub use value_kind::ValueKind;

use crate::json::{is_value, plain};

/// The text as a reader of this kind wants it: the very text where nothing is odd in it, and where
/// it is no JSON.
pub fn lenient<'a>(text: &'a str, kind: &ValueKind) -> Cow<'a, str> {
    if !is_value(text) {
        return Cow::Borrowed(text);
    }
    let read = walk::read(text, kind);
    if read == text { Cow::Borrowed(text) } else { Cow::Owned(read) }
}

/// Where in a text what does not fit its type was left out, each place as a JSON pointer: not what
/// is inside of arrays.
pub fn unfit(text: &str, kind: &ValueKind) -> Vec<String> {
    let mut found = Vec::new();
    if let (Ok(before), Ok(after)) = (plain(text), plain(&lenient(text, kind))) {
        missing(&before, &after, "", &mut found);
    }
    found
}

fn missing(before: &Value, after: &Value, path: &str, found: &mut Vec<String>) {
    let (Value::Object(before), Value::Object(after)) = (before, after) else { return };
    for (name, value) in before.iter().filter(|(_, value)| !value.is_null()) {
        let path = format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
        match after.get(name) {
            Some(kept) => missing(value, kept, &path, found),
            None => found.push(path),
        }
    }
}
