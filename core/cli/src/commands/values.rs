//! The arguments of a call, as they are typed.

use std::collections::HashMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::console::failure::Failure;

/// The JSON object that these words mean: an object, or `NAME=TEXT` and `NAME:=JSON`. What
/// `NAME=TEXT` is depends on the schema of the tool: where that wants a text, or says nothing, it
/// is one.
pub(super) fn arguments(words: &[String], schema: &Value) -> Result<String, Failure> {
    if let [object] = words
        && object.trim_start().starts_with('{')
    {
        return whole(object);
    }
    let mut given: Vec<(&str, String)> = Vec::new();
    for word in words {
        let (name, value) = argument(word, schema)?;
        if given.iter().any(|(other, _)| *other == name) {
            return Err(Failure::usage(format!("the argument `{name}` is there twice")));
        }
        given.push((name, value));
    }
    // In the order and with the digits that were typed.
    let members = given.iter().map(|(name, value)| format!("{}:{value}", Value::from(*name)));
    Ok(format!("{{{}}}", members.collect::<Vec<_>>().join(",")))
}

/// An object that is passed on as it is written.
pub(super) fn whole(object: &str) -> Result<String, Failure> {
    // Any member may have any name: serde_json's own `Value` would not read all of them.
    match serde_json::from_str::<HashMap<String, &RawValue>>(object) {
        Ok(_) => Ok(object.to_owned()),
        Err(error) => Err(Failure::usage(format!("the arguments are no JSON object: {error}"))),
    }
}

/// The name, and the JSON text of the value.
fn argument<'a>(word: &'a str, schema: &Value) -> Result<(&'a str, String), Failure> {
    let split = word.split_once('=').filter(|(name, _)| !matches!(*name, "" | ":"));
    let Some((name, text)) = split else {
        let message = format!("`{word}` is neither NAME=TEXT nor NAME:=JSON");
        return Err(Failure::usage(message));
    };
    let (name, is_json) = match name.strip_suffix(':') {
        Some(name) => (name, true),
        None => (name, takes_json(&schema["properties"][name]["type"])),
    };
    if !is_json {
        return Ok((name, Value::from(text).to_string()));
    }
    match serde_json::from_str::<&RawValue>(text) {
        Ok(_) => Ok((name, text.trim().to_owned())),
        Err(_) => Err(Failure::usage(format!("the argument `{name}` is no JSON"))),
    }
}

/// Whether a type of a schema is one that a text cannot have.
fn takes_json(kind: &Value) -> bool {
    let is_other = |kind: &Value| kind.as_str().is_some_and(|kind| kind != "string");
    match kind {
        Value::Array(kinds) => !kinds.is_empty() && kinds.iter().all(is_other),
        kind => is_other(kind),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(words: &[&str], schema: Value) -> Result<String, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let read = arguments(&words, &schema);
        read.map_err(|failure| failure.message().to_owned())
    }

    #[test]
    fn an_object_is_passed_on_as_it_is_written() {
        let object = r#" {"id": 9007199254740993, "a": 1.0}"#;
        assert_eq!(read(&[object], json!({})), Ok(object.into()));
    }

    #[test]
    fn no_member_of_an_object_is_anything_but_itself() {
        let object = r#"{"a":{"$serde_json::private::RawValue":"no JSON"}}"#;
        assert_eq!(read(&[object], json!({})), Ok(object.into()));
    }

    #[test]
    fn a_text_is_a_text_unless_the_schema_wants_something_else() {
        let schema = json!({ "properties": {
            "count": { "type": "integer" }, "either": { "type": ["string", "integer"] }, "text": { "type": "string" },
        } });
        let words = ["count=3", "either=4", "text=5", "unknown=6", "equals=a=b", "empty="];
        let wanted =
            r#"{"count":3,"either":"4","text":"5","unknown":"6","equals":"a=b","empty":""}"#;
        assert_eq!(read(&words, schema), Ok(wanted.to_owned()));
    }

    #[test]
    fn json_is_json() {
        assert_eq!(read(&["a:=[1, null]"], json!({})), Ok(r#"{"a":[1, null]}"#.into()));
    }

    #[test]
    fn digits_and_order_are_those_that_were_typed() {
        let schema = json!({ "properties": { "id": { "type": "integer" } } });
        let words = [
            "id=123456789012345678901234567890",
            "b:=1.0000000000000000000001",
            "a:={\"z\":1,\"y\":2}",
        ];
        let wanted = r#"{"id":123456789012345678901234567890,"b":1.0000000000000000000001,"a":{"z":1,"y":2}}"#;
        assert_eq!(read(&words, schema), Ok(wanted.to_owned()));
    }

    #[test]
    fn what_is_neither_is_refused() {
        let wrong = [&["word"][..], &["=text"], &[":=1"], &["a:={"], &["a=1", "a=2"], &["{]"]];
        for words in wrong {
            assert!(read(words, json!({})).is_err(), "{words:?}");
        }
        let schema = json!({ "properties": { "count": { "type": "integer" } } });
        assert!(read(&["count=many"], schema).is_err());
    }
}
