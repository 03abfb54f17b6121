//! Changes to single members of a JSON text; all others keep their bytes and their order.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::frames::text;
use crate::json::members;

/// What becomes of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::bridge) enum Edit {
    /// It stays as it is.
    Keep,
    /// It goes.
    Drop,
    /// This JSON takes the place of its value.
    Put(String),
}

/// The prefix of the members of `_meta` that belong to the protocol, and are new on each leg.
const RESERVED: &str = "io.modelcontextprotocol/";

/// The object with each member edited, and with what is appended; `None` where it is no object.
pub(in crate::bridge) fn edited(
    object: &str,
    mut edit: impl FnMut(&str, &str) -> Edit,
    appended: &[(&str, &str)],
) -> Option<String> {
    let read = members(object).ok()?;
    let mut out = String::with_capacity(object.len() + 64);
    let mut push = |name: &str, value: &str| {
        out.push(if out.is_empty() { '{' } else { ',' });
        out.push_str(&text(name));
        out.push(':');
        out.push_str(value);
    };
    for (name, value) in &read {
        match edit(name, value.get()) {
            Edit::Keep => push(name, value.get()),
            Edit::Drop => {}
            Edit::Put(value) => push(name, &value),
        }
    }
    for (name, value) in appended {
        push(name, value);
    }
    out.push_str(if out.is_empty() { "{}" } else { "}" });
    Some(out)
}

/// The array with each item edited, where any is; `None` where it stays, or is no array.
pub(in crate::bridge) fn edited_items(
    array: &str,
    mut edit: impl FnMut(&str) -> Option<String>,
) -> Option<String> {
    let items: Vec<&RawValue> = serde_json::from_str(array).ok()?;
    let edits: Vec<_> = items.iter().map(|item| edit(item.get())).collect();
    if edits.iter().all(Option::is_none) {
        return None;
    }
    let texts = items.iter().zip(edits).map(|(item, edit)| match edit {
        Some(edit) => Cow::Owned(edit),
        None => Cow::Borrowed(item.get()),
    });
    Some(format!("[{}]", texts.collect::<Vec<_>>().join(",")))
}

/// The edit that puts something new in the place of a member, where there is something new.
pub(in crate::bridge) fn put(new: Option<String>) -> Edit {
    new.map_or(Edit::Keep, Edit::Put)
}

/// A `_meta` without the members that belong to one leg, and with ours; `None` for an empty one.
pub(in crate::bridge) fn stamped(meta: Option<&str>, ours: &[(&str, &str)]) -> Option<String> {
    let is_of_leg = |name: &str| name.starts_with(RESERVED) || name == "progressToken";
    let edit = |name: &str, _: &str| if is_of_leg(name) { Edit::Drop } else { Edit::Keep };
    let stamped = edited(meta.unwrap_or("{}"), edit, ours).or_else(|| edited("{}", edit, ours));
    stamped.filter(|meta| meta != "{}")
}

/// Params or a result with its `_meta` stamped.
pub(in crate::bridge) fn restamped(object: &str, ours: &[(&str, &str)]) -> Option<String> {
    let read = members(object).ok()?;
    let meta = read.iter().rfind(|(name, _)| name == "_meta").map(|(_, value)| value.get());
    if meta.is_none() && ours.is_empty() {
        return Some(object.to_owned());
    }
    let drop = |name: &str, _: &str| if name == "_meta" { Edit::Drop } else { Edit::Keep };
    let new = stamped(meta, ours);
    let appended: Vec<_> = new.iter().map(|meta| ("_meta", meta.as_str())).collect();
    edited(object, drop, &appended)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_bytes_but_for_those_that_are_edited() {
        let object = r#"{ "z": 1.0, "a" : {"b":[1, 2]}, "c": null }"#;
        let edit = |name: &str, _: &str| match name {
            "a" => Edit::Keep,
            "c" => Edit::Put("7".to_owned()),
            _ => Edit::Drop,
        };
        let edited = edited(object, edit, &[("d", "[]")]);
        assert_eq!(edited.as_deref(), Some(r#"{"a":{"b":[1, 2]},"c":7,"d":[]}"#));
        assert_eq!(super::edited("[]", edit, &[]), None);
    }

    /// SPEC 19.6: what belongs to one leg never passes, other members of `_meta` do.
    #[test]
    fn members_of_one_leg_are_stripped_and_ours_are_put() {
        let params = r#"{"_meta":{"io.modelcontextprotocol/clientInfo":{},"progressToken":7,
            "traceparent":"00-a"},"name":"x"}"#;
        let out = restamped(params, &[("io.modelcontextprotocol/logLevel", "\"info\"")]).unwrap();
        assert_eq!(
            out,
            r#"{"name":"x","_meta":{"traceparent":"00-a","io.modelcontextprotocol/logLevel":"info"}}"#
        );
        let bare = r#"{"_meta":{"progressToken":7},"a":1}"#;
        assert_eq!(restamped(bare, &[]).as_deref(), Some(r#"{"a":1}"#));
        assert_eq!(restamped(r#"{"a": 1}"#, &[]).as_deref(), Some(r#"{"a": 1}"#));
    }

    #[test]
    fn an_array_is_rebuilt_only_where_an_item_changes() {
        let edit = |item: &str| (item == "2").then(|| "\"two\"".to_owned());
        assert_eq!(edited_items("[1, 2]", edit).as_deref(), Some("[1,\"two\"]"));
        assert_eq!(edited_items("[1, 3]", edit), None);
        assert_eq!(edited_items("{}", edit), None);
    }
}
