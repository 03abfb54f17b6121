//! Schemas without what fits no keyword: what the lenient pass (SPEC 18.2) leaves in them, since it
//! would be missed without a word.
//!
//! Only schemas are looked at: what `const`, `enum`, `default` and `examples` hold stays as it is.
//!
//! [`crate::lenient`] is another pass: it feeds readers, keeps in a schema what it does not
//! understand, and leaves out a parameter whose schema is null. Here that one keeps its name, and
//! what fits nothing is taken out and told.

use serde_json::{Map, Value, json};

use super::keywords::{Takes, below, each_inner, takes};
use super::left_out::LeftOut;

/// The types that there are.
const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];

/// Puts a schema right that went through the pass, at every depth. What fits nothing is taken out,
/// which makes the schema wider, and written down.
pub(super) fn put_right(
    schema: &mut Map<String, Value>,
    path: &str,
    left_out: &mut Vec<LeftOut>,
) -> bool {
    let mut changed = false;
    let mut wrong = Vec::new();
    for (keyword, value) in schema.iter_mut() {
        let Some(takes) = takes(keyword) else { continue };
        match fitted(takes, value) {
            KeywordFit::As => {}
            KeywordFit::Changed => changed = true,
            KeywordFit::Absent => wrong.push((keyword.clone(), None)),
            KeywordFit::Never(reason) => wrong.push((keyword.clone(), Some(reason))),
        }
    }
    for (keyword, reason) in wrong {
        schema.shift_remove(&keyword);
        changed = true;
        if let Some(reason) = reason {
            left_out.push(LeftOut::new(below(path, &keyword), reason));
        }
    }
    each_inner(schema, path, &mut |path, inner| {
        changed |= as_schema(path, inner, left_out);
        if let Value::Object(inner) = inner {
            changed |= put_right(inner, path, left_out);
        }
    });
    changed
}

/// What stands where a schema belongs. Beside names of parameters it stays, as one that takes
/// anything, so that the name does.
fn as_schema(path: &str, value: &mut Value, left_out: &mut Vec<LeftOut>) -> bool {
    match value {
        Value::Object(_) | Value::Bool(_) => return false,
        Value::Array(names) if path.contains("/dependencies/") && !names.is_empty() => {
            return false;
        }
        _ => left_out.push(LeftOut::new(path.to_owned(), "is not a schema")),
    }
    *value = json!({});
    true
}

/// How a value fits its keyword.
enum KeywordFit {
    /// As it is.
    As,
    /// Now.
    Changed,
    /// It stands for nothing.
    Absent,
    /// Not at all, and why.
    Never(&'static str),
}

fn fitted(takes: Takes, value: &mut Value) -> KeywordFit {
    let fits = |fits: bool, reason: &'static str| {
        if fits { KeywordFit::As } else { KeywordFit::Never(reason) }
    };
    match takes {
        Takes::SchemasByName | Takes::SchemasOrNamesByName => {
            fits(value.is_object(), "is not a map of schemas")
        }
        Takes::NamesByName => {
            let are_names = |by_name: &Map<String, Value>| by_name.values().all(are_texts);
            fits(value.as_object().is_some_and(are_names), "is not a map of names")
        }
        Takes::Schema => fits(value.is_object() || value.is_boolean(), "is not a schema"),
        Takes::SchemaOrSchemas => {
            fits(value.is_object() || value.is_boolean() || value.is_array(), "is not a schema")
        }
        // An array of no schema says nothing.
        Takes::Schemas if value.as_array().is_some_and(Vec::is_empty) || is_empty_map(value) => {
            KeywordFit::Absent
        }
        Takes::Schemas => fits(value.is_array(), "is not an array of schemas"),
        Takes::Names => names(value),
        Takes::Type => types(value),
        Takes::Text => fits(value.is_string(), "is not a string"),
        Takes::Number => fits(value.is_number(), "is not a number"),
        Takes::Count => {
            let is_count = value.as_f64().is_some_and(|it| it >= 0.0 && it.fract() == 0.0);
            fits(is_count, "is not a count")
        }
        Takes::Bool => fits(value.is_boolean(), "is neither true nor false"),
    }
}

fn is_empty_map(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty)
}

fn are_texts(value: &Value) -> bool {
    value.as_array().is_some_and(|all| all.iter().all(Value::is_string))
}

/// Names, each of them once; an empty map stands for none.
fn names(value: &mut Value) -> KeywordFit {
    if is_empty_map(value) {
        *value = json!([]);
        return KeywordFit::Changed;
    }
    let Value::Array(names) = value else { return KeywordFit::Never("is not an array of names") };
    let before = names.len();
    let mut seen = std::collections::HashSet::new();
    names.retain(|name| name.as_str().is_some_and(|name| seen.insert(name.to_owned())));
    if names.len() == before { KeywordFit::As } else { KeywordFit::Changed }
}

/// The seven types, in lower case.
fn types(value: &mut Value) -> KeywordFit {
    let before = value.clone();
    let known = |word: &Value| {
        let lower = word.as_str()?.to_ascii_lowercase();
        TYPES.contains(&&*lower).then(|| Value::from(lower))
    };
    let fitted = match &before {
        Value::Array(words) => {
            let words: Option<Vec<Value>> = words.iter().map(known).collect();
            words.filter(|words| !words.is_empty()).map(Value::from)
        }
        word => known(word),
    };
    match fitted {
        None => KeywordFit::Never("is not a type that there is"),
        Some(fitted) if fitted == before => KeywordFit::As,
        Some(fitted) => {
            *value = fitted;
            KeywordFit::Changed
        }
    }
}
