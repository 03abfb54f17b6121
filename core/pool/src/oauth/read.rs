//! The members of an answer, whether it was written as JSON or as a form.

use serde_json::{Map, Value};
use url::form_urlencoded;

use super::refusal::AnswerRefusal;
use crate::json::{is_value, readable_members};
use crate::lenient::{ValueKind, kinds, lenient};

/// The members of a body, each of its kind: those of a JSON object, or of a form where one of them
/// has this name. Anything else has no members.
///
/// A blank text and an empty list say nothing.
pub(super) fn members(
    body: &[u8],
    kind: &ValueKind,
    of_form: &[&str],
) -> Option<Map<String, Value>> {
    let text = String::from_utf8_lossy(body);
    let text = text.trim_start_matches('\u{feff}').trim();
    let mut members = match is_value(text) {
        true if text.starts_with('{') => readable_members(&lenient(text, kind)),
        true => return None,
        false => readable_members(&lenient(&form(text, of_form)?, kind)),
    };
    let known = if let ValueKind::Map(known) = kind { *known } else { &[] };
    for (name, _) in known.iter().filter(|(_, kind)| !matches!(kind, ValueKind::Any)) {
        if let Some(Value::Array(items)) = members.get_mut(*name) {
            items.retain(|item| !says_nothing(item));
        }
        if members.get(*name).is_some_and(says_nothing) {
            members.remove(*name);
        }
    }
    Some(members)
}

/// The members of a form as JSON. One that comes twice is none: nobody knows which was meant.
fn form(text: &str, names: &[&str]) -> Option<String> {
    let mut members = Map::new();
    let mut doubled = Vec::new();
    for (name, value) in form_urlencoded::parse(text.as_bytes()) {
        let name = name.into_owned();
        if members.insert(name.clone(), value.into_owned().into()).is_some() {
            doubled.push(name);
        }
    }
    doubled.iter().for_each(|name| drop(members.remove(name)));
    let is_one = names.iter().any(|name| members.contains_key(*name));
    is_one.then(|| Value::Object(members).to_string())
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// A member that is a text.
pub(super) fn text<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    members.get(name)?.as_str()
}

/// A member that is a list of texts.
pub(super) fn texts<'a>(members: &'a Map<String, Value>, name: &str) -> Vec<&'a str> {
    let items = members.get(name).and_then(Value::as_array);
    items.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// A member that is a number, as a whole one that is not below zero.
pub(super) fn whole(members: &Map<String, Value>, name: &str) -> Option<u64> {
    let number = members.get(name)?;
    let floor = |number: f64| (number >= 0.0).then_some(number as u64);
    let number = number.as_u64().or_else(|| floor(number.as_f64()?));
    number.map(|number| number.min(NUMBER_MAX))
}

/// Seconds of more than a hundred thousand years mean for ever, and are added to others without
/// harm.
const NUMBER_MAX: u64 = 1 << 42;

/// The text that a member of a free form stands for: itself, or a whole number. Nothing for an
/// empty one.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Number(number) if number.is_u64() || number.is_i64() => Some(number.to_string()),
        _ => None,
    }
}

/// The refusal that an answer states, of whatever status it is: a code, or an object that holds
/// one.
pub fn said(body: &[u8]) -> Option<AnswerRefusal> {
    refusal_in(&members(body, &kinds::TOKEN, &["error"])?)
}

pub(super) fn refusal_in(members: &Map<String, Value>) -> Option<AnswerRefusal> {
    let error = members.get("error")?;
    let described = |value: Option<&Value>| value.and_then(text_of);
    let outside = || described(members.get("error_description"));
    // The number 0 is how some say that there is none.
    if let Some(code) = text_of(error).filter(|_| *error != 0) {
        return Some(AnswerRefusal::Said { code, description: outside() });
    }
    // Some wrap it, with the status of HTTP as the code and the word for machines beside it.
    let inside = error.as_object()?;
    let word =
        |name: &&str| inside.get(*name).and_then(Value::as_str).is_some_and(|it| !it.is_empty());
    let names = ["error", "code", "type", "status"];
    let code = names.iter().find(|name| word(name)).or(Some(&"code"));
    let code = code.and_then(|name| text_of(inside.get(*name)?))?;
    let words = ["message", "error_description", "description"];
    let description = words.iter().find_map(|name| described(inside.get(*name))).or_else(outside);
    Some(AnswerRefusal::Said { code, description })
}
