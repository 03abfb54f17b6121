//! Output schemas and structured content of modern servers, for clients that know objects alone.
//!
//! Up to 2025-11-25 an output schema describes an object. One that describes something else is put
//! into an object with the member `result`, and so is the content, as the SDKs of the protocol do.

use serde_json::{Value, json};

use crate::json::readable;

/// The output schema of a tool, wrapped, where it does not describe an object.
pub(in crate::bridge) fn wrapped(definition: &str) -> Option<String> {
    memchr::memmem::find(definition.as_bytes(), b"outputSchema")?;
    let mut definition = readable(definition)?;
    let schema = definition.get_mut("outputSchema").filter(|schema| !schema.is_null())?;
    if schema["type"] == "object" {
        return None;
    }
    let mut inner = schema.take();
    move_pointers(&mut inner, 0);
    let mut outer = json!({ "type": "object", "properties": {}, "required": ["result"] });
    // A dialect is named at the root alone.
    if let Some(dialect) = inner.as_object_mut().and_then(|inner| inner.shift_remove("$schema")) {
        outer["$schema"] = dialect;
    }
    outer["properties"]["result"] = inner;
    Some(outer.to_string())
}

/// Schemas are not followed deeper than definitions may nest.
const DEPTH_MAX: usize = 64;

/// Points references to the root at the place where the root is now.
fn move_pointers(schema: &mut Value, depth: usize) {
    if depth > DEPTH_MAX {
        return;
    }
    match schema {
        Value::Object(members) => {
            for (name, value) in members.iter_mut() {
                let rest = value.as_str().and_then(|text| text.strip_prefix('#'));
                let moved = rest
                    .filter(|rest| rest.is_empty() || rest.starts_with('/'))
                    .map(|rest| format!("#/properties/result{rest}"));
                match moved {
                    Some(moved) if matches!(name.as_str(), "$ref" | "$dynamicRef") => {
                        *value = Value::from(moved);
                    }
                    _ => move_pointers(value, depth + 1),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| move_pointers(item, depth + 1)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_that_is_no_object_is_put_into_one() {
        let tool = |schema: Value| json!({ "name": "t", "outputSchema": schema }).to_string();
        assert_eq!(wrapped(&tool(json!({ "type": "object", "properties": {} }))), None);
        assert_eq!(wrapped(r#"{"name":"t"}"#), None);
        assert_eq!(wrapped(&tool(Value::Null)), None);
        let list = json!({ "$schema": "d", "type": "array", "items": { "$ref": "#/$defs/a" },
            "$defs": { "a": { "anyOf": [{ "$ref": "#" }, { "$ref": "#anchor" }] } } });
        let outer: Value = serde_json::from_str(&wrapped(&tool(list)).unwrap()).unwrap();
        assert_eq!(
            outer,
            json!({ "type": "object", "required": ["result"], "$schema": "d", "properties": {
                "result": { "type": "array", "items": { "$ref": "#/properties/result/$defs/a" },
                    "$defs": { "a": { "anyOf": [
                        { "$ref": "#/properties/result" }, { "$ref": "#anchor" }] } } } } })
        );
    }
}
