//! Tools in the shapes of model APIs.

use serde_json::{Value, json};

use super::*;
use crate::error::ErrorCode;

mod table;

/// The arguments' schema of a tool in a shape, which the lenient pass goes over first.
fn fitted_whole(shape: ToolFormat, schema: &str) -> schema::Fitted {
    schema::fitted(shape, &lenient(schema, &crate::lenient::ValueKind::Schema))
}

/// The arguments' schema of a tool in a shape, as text.
fn fitted(shape: ToolFormat, schema: &str) -> String {
    fitted_whole(shape, schema).text
}

/// Fits a schema, and reads it.
fn fit(shape: ToolFormat, schema: &Value) -> Value {
    serde_json::from_str(&fitted(shape, &schema.to_string())).unwrap()
}

/// What nothing in it refuses, in the server's own spelling, with keywords that nobody knows.
const ORDINARY: &str = r##"{"type":"object", "$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"a":{"$ref":"#/$defs/A"},"n":{"type":"number","maximum":1.50e2,"x-mine":{"b":[1,  2]}},"l":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"null"}]}}},"$defs":{"A":{"oneOf":[{"const":1},{"enum":["\u0061"]}]}},"required":["a"],"additionalProperties":false}"##;

/// SPEC 6.1: each shape is what its API documents.
#[test]
fn each_shape_is_that_of_its_api() {
    let definition = r#"{"name":"echo","title":"Echo","description":"Says \u0061 word.","inputSchema":{"type":"object","properties":{"message":{"type":"string"}}},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"_meta":{"big":12345678901234567890123}}"#;
    let schema = r#"{"type":"object","properties":{"message":{"type":"string"}}}"#;
    let say = r#""description":"Says \u0061 word.""#;
    for (shape, expected) in [
        (ToolFormat::Mcp, definition.replace(r#""name":"echo""#, r#""name":"mcp__s__echo""#)),
        (
            ToolFormat::OpenAi,
            format!(
                r#"{{"type":"function","function":{{"name":"mcp__s__echo",{say},"parameters":{schema}}}}}"#
            ),
        ),
        (
            ToolFormat::OpenAiResponses,
            format!(
                r#"{{"type":"function","name":"mcp__s__echo",{say},"parameters":{schema},"strict":false}}"#
            ),
        ),
        (
            ToolFormat::Anthropic,
            format!(r#"{{"name":"mcp__s__echo",{say},"input_schema":{schema}}}"#),
        ),
        (
            ToolFormat::Gemini,
            format!(r#"{{"name":"mcp__s__echo",{say},"parametersJsonSchema":{schema}}}"#),
        ),
        (
            ToolFormat::Any,
            format!(
                r#"{{"name":"mcp__s__echo","title":"Echo",{say},"outputSchema":{{"type":"object"}},"annotations":{{"readOnlyHint":true}},"_meta":{{"big":12345678901234567890123}},"inputSchema":{schema}}}"#
            ),
        ),
    ] {
        let tool = shape.tool("mcp__s__echo", definition);
        assert_eq!(tool, expected);
        assert!(serde_json::from_str::<Value>(&tool).is_ok());
    }
}

/// SPEC 6.1: a title stands for a description that is absent, and Gemini, which wants one, is given
/// the tool's own name at least.
#[test]
fn a_tool_without_a_description_is_taken() {
    let described = |shape: ToolFormat, definition: &str| -> Value {
        serde_json::from_str::<Value>(&shape.tool("n", definition)).unwrap()["description"].take()
    };
    let titled = r#"{"name":"a b","title":"T","description":null,"inputSchema":{"type":"object"}}"#;
    let bare = r#"{"name":"a b","inputSchema":{"type":"object"}}"#;
    assert_eq!(described(ToolFormat::Anthropic, titled), json!("T"));
    assert_eq!(described(ToolFormat::Gemini, titled), json!("T"));
    assert_eq!(described(ToolFormat::Gemini, bare), json!("a b"));
    assert_eq!(described(ToolFormat::Anthropic, bare), Value::Null);
    assert_eq!(
        ToolFormat::Anthropic.tool("n", bare),
        r#"{"name":"n","input_schema":{"type":"object","properties":{}}}"#
    );
}

/// SPEC 18.2: what does not fit its member costs that member alone, and no hint is a yes that does
/// not say so.
#[test]
fn members_of_a_wrong_type_are_in_no_shape() {
    let odd = r#"{"name":"a","title":{"en":"A"},"description":["d"],"annotations":{"readOnlyHint":"true","idempotentHint":true},"outputSchema":"text","execution":7,"inputSchema":{"type":"object","properties":{}},"x":7}"#;
    let schema = r#"{"type":"object","properties":{}}"#;
    for (shape, expected) in [
        (ToolFormat::Mcp, odd.replace(r#""name":"a""#, r#""name":"n""#)),
        (ToolFormat::Anthropic, format!(r#"{{"name":"n","input_schema":{schema}}}"#)),
        (
            ToolFormat::Any,
            format!(
                r#"{{"name":"n","annotations":{{"idempotentHint":true}},"x":7,"inputSchema":{schema}}}"#
            ),
        ),
    ] {
        assert_eq!(shape.tool("n", odd), expected, "{shape:?}");
    }
    let numbered = r#"{"name":"a","description":7,"inputSchema":{}}"#;
    assert!(ToolFormat::OpenAi.tool("n", numbered).contains(r#""description":"7""#));
}

/// SPEC 6.1: a schema in which nothing is refused stays, byte for byte, references and unknown
/// keywords too.
#[test]
fn a_schema_that_is_taken_stays_byte_for_byte() {
    for shape in
        [ToolFormat::Mcp, ToolFormat::OpenAi, ToolFormat::OpenAiResponses, ToolFormat::Anthropic]
    {
        assert_eq!(fitted(shape, ORDINARY), ORDINARY, "{shape:?}");
    }
    let mut without: Value = serde_json::from_str(ORDINARY).unwrap();
    without.as_object_mut().unwrap().remove("$schema");
    for shape in [ToolFormat::Gemini, ToolFormat::Any] {
        let fitted = fitted(shape, ORDINARY);
        assert_eq!(serde_json::from_str::<Value>(&fitted).unwrap(), without, "{shape:?}");
    }
}

/// SPEC 6.1: what a target refuses is fitted, and nothing else moves.
#[test]
fn what_a_target_refuses_is_fitted() {
    use ToolFormat::{Anthropic, Gemini, Mcp, OpenAi, OpenAiResponses};
    let empty = json!({ "type": "object", "properties": {} });
    let cases = [
        (Mcp, json!({ "oneOf": [] }), json!({ "oneOf": [] })),
        (Anthropic, json!({}), empty.clone()),
        (Anthropic, json!({ "type": ["object", "null"] }), empty.clone()),
        (Gemini, json!({ "$schema": "s" }), empty.clone()),
        (OpenAi, json!({ "type": "object" }), empty.clone()),
        (OpenAiResponses, json!({ "not": {}, "const": 1, "enum": [1] }), empty),
        // What each of the branches requires stays required.
        (
            Anthropic,
            json!({ "type": "object", "properties": { "a": {} }, "anyOf": [{ "required": ["a"] }], "not": {} }),
            json!({ "type": "object", "properties": { "a": {} }, "not": {}, "required": ["a"] }),
        ),
        // What branches say of properties stays, each once; the schema's own word goes first.
        (
            Anthropic,
            json!({
                "type": "object", "properties": { "own": { "type": "string" } },
                "oneOf": [
                    { "properties": { "own": { "type": "null" }, "a": { "type": "string" }, "b": { "const": 1 } } },
                    { "$ref": "#/$defs/Two" }
                ],
                "$defs": { "Two": { "properties": { "a": { "type": "string" }, "b": { "const": 2 } } } }
            }),
            json!({
                "type": "object",
                "properties": { "own": { "type": "string" }, "a": { "type": "string" }, "b": { "anyOf": [{ "const": 1 }, { "const": 2 }] } },
                "$defs": { "Two": { "properties": { "a": { "type": "string" }, "b": { "const": 2 } } } }
            }),
        ),
        // An array that says nothing of what it holds, wherever a schema can be; a value that looks
        // like one is none.
        (
            OpenAi,
            json!({ "type": "object", "properties": {
                "type": { "type": "array" }, "two": { "type": ["array", "null"], "default": { "type": "array" } },
                "deep": { "anyOf": [{ "items": { "type": "array" } }, { "type": "array", "items": true }] }
            } }),
            json!({ "type": "object", "properties": {
                "type": { "type": "array", "items": {} }, "two": { "type": ["array", "null"], "default": { "type": "array" }, "items": {} },
                "deep": { "anyOf": [{ "items": { "type": "array", "items": {} } }, { "type": "array", "items": {} }] }
            } }),
        ),
        // A schema that is no object, wherever one can be; what says whether there may be more is
        // none that is asked for.
        (
            ToolFormat::Any,
            json!({
                "type": "object", "additionalProperties": false, "properties": {
                    "additionalProperties": true, "never": false,
                    "deep": { "type": "object", "properties": { "any": true }, "additionalProperties": true, "default": { "x": true } }
                }
            }),
            json!({
                "type": "object", "additionalProperties": false, "properties": {
                    "additionalProperties": {}, "never": { "not": {} },
                    "deep": { "type": "object", "properties": { "any": {} }, "additionalProperties": true, "default": { "x": true } }
                }
            }),
        ),
    ];
    for (shape, schema, expected) in cases {
        assert_eq!(fit(shape, &schema), expected, "{shape:?} {schema}");
        // What is fitted once fits.
        assert_eq!(fit(shape, &expected), expected, "{shape:?} {schema}");
    }
}

/// SPEC 4.5, 6.1: what is more than anybody here reads, such as a number beyond any float, says
/// nothing but that it is an object.
#[test]
fn a_schema_that_cannot_be_read_is_any_object() {
    let long = "1".repeat(5_000);
    let deep = "[".repeat(500) + &"]".repeat(500);
    for value in ["1e999", &long, &deep] {
        let schema = format!(r#"{{"type":"object","maximum":{value}}}"#);
        let definition = format!(r#"{{"name":"n","inputSchema":{schema}}}"#);
        assert!(ToolFormat::Mcp.tool("n", &definition).contains(value));
        for shape in table::FITTING {
            assert!(!shape.tool("n", &definition).contains(value), "{shape:?} {value:.9}");
            let any = fit(shape, &json!({ "type": "object" })).to_string();
            assert_eq!(fitted(shape, &schema), any, "{shape:?} {value:.9}");
        }
    }
}

/// SPEC 16.5: each shape has a word, and another one is refused with those that there are.
#[test]
fn each_shape_has_a_word() {
    for shape in ToolFormat::ALL {
        assert_eq!(ToolFormat::from_word(shape.as_str()).unwrap(), shape);
    }
    let error = ToolFormat::from_word("OpenAI").unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
    assert_eq!(error.detail()["path"], "shape");
    assert!(error.message().contains("\"OpenAI\""), "{error}");
    assert!(error.hint().unwrap().contains("`openai`"), "{error:?}");
}

/// SPEC 6.1, S-38: what many branches refer to is looked at once, or a schema of this size would
/// take minutes.
#[test]
fn branches_that_all_refer_to_a_large_schema_cost_no_more_than_their_text() {
    let properties: serde_json::Map<String, Value> =
        (0..60_000).map(|number| (format!("p{number}"), json!({}))).collect();
    let large = json!({ "large": { "enum": (0..60_000).collect::<Vec<_>>() } });
    for properties in [Value::Object(properties), large] {
        let branches = vec![json!({ "$ref": "#" }); 33_000];
        let schema = json!({ "type": "object", "properties": properties, "anyOf": branches });
        let expected = json!({ "type": "object", "properties": properties });
        assert_eq!(fit(ToolFormat::Anthropic, &schema), expected);
    }
}
