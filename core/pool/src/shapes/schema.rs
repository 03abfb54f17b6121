//! What a target refuses in the schema of a tool's arguments, and what is done about it.
//!
//! | Target | Refused | Done |
//! | --- | --- | --- |
//! | all but `mcp` | a schema that is not of `type` `object` | that is its type |
//! | all but `mcp` | a number beyond a float of 64 bits, more than a hundred or so levels | the schema says no more than that it is an object |
//! | OpenAI | `oneOf`, `anyOf`, `allOf`, `enum`, `const`, `not` at the top | taken out; the properties of branches are put beside the others |
//! | OpenAI | an object without `properties` at the top, an array without `items` anywhere | an empty one is added, which says the same |
//! | Anthropic | `oneOf`, `anyOf`, `allOf` at the top | as above |
//! | Anthropic | a property at the top whose name is not of `[a-zA-Z0-9_.-]{1,64}` | left out, and no longer `required` |
//! | Gemini | `$schema` at the top | taken out |
//!
//! References (`$ref`, `$defs`) are taken by all of them, and stay.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value, json};

use crate::json::plain;

use super::Shape;

/// The longest name of a property that Anthropic takes, in characters.
const PROPERTY_NAME_MAX: usize = 64;

/// In how many ways branches may say what a property is. In more than that they say nothing, which bounds the work on a hostile
/// schema.
const WAYS_MAX: usize = 16;

/// Branches of a schema.
const BRANCHES: [&str; 3] = ["oneOf", "anyOf", "allOf"];

/// Members of a schema that are schemas, or arrays of them.
const SCHEMAS: [&str; 16] = [
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "oneOf",
    "anyOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
];

/// Members of a schema that hold schemas by name.
const MAPS: [&str; 5] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// A schema as a target takes it; the very text that was written, where nothing in it is refused.
///
/// One that serde_json cannot read becomes that of any object: a host's own reader would fail on it too, and on all other tools with it.
pub(super) fn fitted(shape: Shape, written: &str) -> String {
    let read = plain(written);
    debug_assert!(!matches!(&read, Ok(schema) if !schema.is_object()), "no catalog takes it");
    // What is not read is more than fits: deeper, or with a number beyond any float.
    let (mut schema, is_read) = match read {
        Ok(Value::Object(schema)) => (schema, true),
        _ => (Map::new(), false),
    };
    let changed = match shape {
        Shape::Mcp => false,
        Shape::OpenAi | Shape::OpenAiResponses => {
            // Each of them, whatever the ones before it did.
            let branches = without_branches(&mut schema);
            let others = ["enum", "const", "not"].map(|member| remove(&mut schema, member));
            let object = as_object(&mut schema);
            let properties = with_properties(&mut schema);
            let items = with_items(&mut schema);
            branches || others.contains(&true) || object || properties || items
        }
        Shape::Anthropic => {
            let wrong = without_wrong_properties(&mut schema);
            let branches = without_branches(&mut schema);
            let object = as_object(&mut schema);
            let properties = without_odd_properties(&mut schema);
            wrong || branches || object || properties
        }
        Shape::Gemini => {
            let dialect = remove(&mut schema, "$schema");
            let wrong = without_wrong_properties(&mut schema);
            as_object(&mut schema) || dialect || wrong
        }
    };
    if changed || !is_read { Value::Object(schema).to_string() } else { written.to_owned() }
}

fn remove(schema: &mut Map<String, Value>, member: &str) -> bool {
    schema.shift_remove(member).is_some()
}

fn as_object(schema: &mut Map<String, Value>) -> bool {
    let is_one = schema.get("type").is_some_and(|of| of == "object");
    if !is_one {
        schema.insert("type".into(), "object".into());
    }
    !is_one
}

/// Takes out properties that are no map: PHP writes an empty one as a list.
fn without_wrong_properties(schema: &mut Map<String, Value>) -> bool {
    let is_wrong = schema.get("properties").is_some_and(|properties| !properties.is_object());
    is_wrong && remove(schema, "properties")
}

fn with_properties(schema: &mut Map<String, Value>) -> bool {
    let has_some = schema.get("properties").is_some_and(Value::is_object);
    if !has_some {
        schema.insert("properties".into(), json!({}));
    }
    !has_some
}

/// Takes the branches at the top out. What they say of properties that the schema itself does not name is put beside the others:
/// what several say in several ways, as one of these.
fn without_branches(schema: &mut Map<String, Value>) -> bool {
    if !BRANCHES.iter().any(|branches| schema.contains_key(*branches)) {
        return false;
    }
    let whole = Value::Object(schema.clone());
    let taken: Vec<Value> =
        BRANCHES.iter().filter_map(|branches| schema.shift_remove(*branches)).collect();
    let mut said: BTreeMap<&String, Vec<&Value>> = BTreeMap::new();
    let branches = taken.iter().filter_map(Value::as_array).flatten();
    let mut walked = HashSet::new();
    for schema in branches.map(|branch| referred(branch, &whole)) {
        if !walked.insert(std::ptr::from_ref(schema)) {
            // Many branches may refer to one schema, which says the same each time.
            continue;
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            let ways = said.entry(name).or_default();
            if ways.len() <= WAYS_MAX && !ways.contains(&property) {
                ways.push(property);
            }
        }
    }
    if !said.is_empty() {
        with_properties(schema);
    }
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    if let Some(properties) = properties {
        for (name, ways) in said {
            let property = match &ways[..] {
                [only] => (*only).clone(),
                several if several.len() <= WAYS_MAX => json!({ "anyOf": several }),
                _ => json!({}),
            };
            properties.entry(name.clone()).or_insert(property);
        }
    }
    true
}

/// A branch, or what it refers to within the whole schema.
fn referred<'a>(branch: &'a Value, whole: &'a Value) -> &'a Value {
    let place = branch.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix('#'));
    place.and_then(|place| whole.pointer(place)).unwrap_or(branch)
}

/// Gives each array that does not say what it holds an empty `items`.
fn with_items(schema: &mut Map<String, Value>) -> bool {
    let is_array = schema.get("type").is_some_and(|of| {
        of == "array" || of.as_array().is_some_and(|types| types.iter().any(|of| of == "array"))
    });
    let mut changed = is_array && !schema.contains_key("items");
    if changed {
        schema.insert("items".into(), json!({}));
    }
    for (member, value) in schema.iter_mut() {
        let inner: Vec<&mut Value> = match value {
            Value::Object(by_name) if MAPS.contains(&member.as_str()) => {
                by_name.values_mut().collect()
            }
            Value::Array(all) if SCHEMAS.contains(&member.as_str()) => all.iter_mut().collect(),
            one if SCHEMAS.contains(&member.as_str()) => vec![one],
            _ => continue,
        };
        for schema in inner.into_iter().filter_map(Value::as_object_mut) {
            changed |= with_items(schema);
        }
    }
    changed
}

/// Leaves out the properties at the top whose names Anthropic does not take.
fn without_odd_properties(schema: &mut Map<String, Value>) -> bool {
    let is_taken = |name: &str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        (1..=PROPERTY_NAME_MAX).contains(&name.len()) && name.chars().all(is_plain)
    };
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return false };
    let before = properties.len();
    properties.retain(|name, _| is_taken(name));
    if properties.len() == before {
        return false;
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| name.as_str().is_none_or(is_taken));
    }
    true
}
