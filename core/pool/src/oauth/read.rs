//! The members of an answer, whether it was written as JSON or as a form.

use serde_json::{Map, Value};
use url::form_urlencoded;

use super::Refusal;
use crate::json::Plain;

/// The members of a body: those of a JSON object, or of a form where one of them has this name. None of anything else.
///
/// A member of a form that comes twice is none: nobody knows which was meant.
pub(super) fn members(body: &[u8], of_form: &[&str]) -> Option<Map<String, Value>> {
    let text = String::from_utf8_lossy(body);
    let text = text.trim_start_matches('\u{feff}').trim();
    match serde_json::from_str::<Plain>(text) {
        Ok(Plain(Value::Object(members))) => return Some(members),
        Ok(Plain(_)) => return None,
        Err(_) => {}
    }
    let mut members = Map::new();
    let mut doubled = Vec::new();
    for (name, value) in form_urlencoded::parse(text.as_bytes()) {
        let name = name.into_owned();
        if members.insert(name.clone(), value.into_owned().into()).is_some() {
            doubled.push(name);
        }
    }
    doubled.iter().for_each(|name| drop(members.remove(name)));
    of_form.iter().any(|name| members.contains_key(*name)).then_some(members)
}

/// The text that a member stands for: itself, or a whole number where a text was meant. Nothing for an empty one.
pub fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Number(number) if number.is_u64() || number.is_i64() => Some(number.to_string()),
        _ => None,
    }
}

/// The whole number that a member stands for, also where it was written as a text or with a fraction.
pub(super) fn number_of(value: &Value) -> Option<u64> {
    let number = match value {
        Value::Number(number) => number.as_u64().or_else(|| floor(number.as_f64()?)),
        Value::String(text) => {
            let text = text.trim();
            text.parse::<u64>().ok().or_else(|| floor(text.parse().ok()?))
        }
        _ => None,
    };
    number.map(|number| number.min(NUMBER_MAX))
}

/// Seconds of more than a hundred thousand years mean for ever, and are added to others without harm.
const NUMBER_MAX: u64 = 1 << 42;

fn floor(number: f64) -> Option<u64> {
    (number.is_finite() && number >= 0.0).then_some(number as u64)
}

/// The texts of a member: an array of them, or one with spaces between. What is no text in it counts as absent.
pub(super) fn texts_of(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => {
            let texts = items.iter().filter_map(Value::as_str).filter(|it| !it.trim().is_empty());
            texts.map(str::to_owned).collect()
        }
        Value::String(text) => text.split_whitespace().map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// The refusal that an answer states, of whatever status it is: a code, or an object that holds one.
pub fn said(body: &[u8]) -> Option<Refusal> {
    refusal_in(&members(body, &["error"])?)
}

pub(super) fn refusal_in(members: &Map<String, Value>) -> Option<Refusal> {
    let error = members.get("error")?;
    let described = |value: Option<&Value>| value.and_then(text_of);
    let outside = || described(members.get("error_description"));
    // The number 0 is how some say that there is none.
    if let Some(code) = text_of(error).filter(|_| *error != 0) {
        return Some(Refusal::Said { code, description: outside() });
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
    Some(Refusal::Said { code, description })
}
