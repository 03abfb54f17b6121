//! The arguments of a call, as they are typed.

use serde_json::{Map, Value};

use crate::failure::Failure;

/// The JSON object that these words mean: an object, or `NAME=TEXT` and `NAME:=JSON`. What `NAME=TEXT` is depends on the schema of the
/// tool: where that wants a text, or says nothing, it is one.
pub(super) fn arguments(words: &[String], schema: &Value) -> Result<String, Failure> {
    if let [object] = words
        && object.trim_start().starts_with('{')
    {
        return whole(object);
    }
    let mut object = Map::new();
    for word in words {
        let (name, value) = argument(word, schema)?;
        if object.insert(name.to_owned(), value).is_some() {
            return Err(Failure::usage(format!("the argument `{name}` is there twice")));
        }
    }
    Ok(Value::Object(object).to_string())
}

/// An object that is passed on as it is written.
pub(super) fn whole(object: &str) -> Result<String, Failure> {
    match serde_json::from_str::<Map<String, Value>>(object) {
        Ok(_) => Ok(object.to_owned()),
        Err(error) => Err(Failure::usage(format!("the arguments are no JSON object: {error}"))),
    }
}

fn argument<'a>(word: &'a str, schema: &Value) -> Result<(&'a str, Value), Failure> {
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
        return Ok((name, text.into()));
    }
    let value = serde_json::from_str(text);
    let value = value.map_err(|_| Failure::usage(format!("the argument `{name}` is no JSON")))?;
    Ok((name, value))
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
    fn a_text_is_a_text_unless_the_schema_wants_something_else() {
        let schema = json!({ "properties": {
            "count": { "type": "integer" }, "either": { "type": ["string", "integer"] }, "text": { "type": "string" },
        } });
        let words = ["count=3", "either=4", "text=5", "unknown=6", "equals=a=b", "empty="];
        let wanted = json!({ "count": 3, "either": "4", "text": "5", "unknown": "6", "equals": "a=b", "empty": "" });
        assert_eq!(read(&words, schema), Ok(wanted.to_string()));
    }

    #[test]
    fn json_is_json() {
        assert_eq!(read(&["a:=[1, null]"], json!({})), Ok(r#"{"a":[1,null]}"#.into()));
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
