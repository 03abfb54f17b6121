//! Tools in the shapes of model APIs: JSON whose top level is an object with its properties
//! visible, whatever the schema is, and the same when it is made once more.

use serde_json::Value;
use trunkline_pool::json::is_value;
use trunkline_pool::lenient::whole_characters;
use trunkline_pool::shapes::ToolFormat;

use super::value;

pub const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "{\"type\":\"object\",\"properties\":{",
    "\"properties\":{\"a\":{}}",
    "\"properties\":[]",
    "\"$ref\":\"#/$defs/A\"",
    "\"$ref\":\"#\"",
    "\"$ref\":\"#/anyOf/0\"",
    "\"$defs\":{\"A\":{}}",
    "\"$id\":\"https://e.test/s\"",
    "\"$anchor\":\"a\"",
    "\"anyOf\":[{}]",
    "\"oneOf\":[{\"$ref\":\"#/$defs/A\"}]",
    "\"allOf\":[{\"required\":[\"a\"]}]",
    "\"not\":{}",
    "\"items\":[null]",
    "\"required\":[\"$a\"]",
    "\"$a\":{\"type\":\"array\"}",
    "\"dependentRequired\":{\"a\":[\"b\"]}",
    "\"dependencies\":{\"a\":[]}",
    "\"enum\":[null]",
    "\"const\":[]",
    "\"type\":[\"String\",\"null\"]",
    "\"additionalProperties\":false",
    "true",
    "null",
    "7",
    "1e999",
    "\\ud800",
];

/// SPEC 18.2, 18.8.
pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    // A catalog takes no other text.
    let definition = format!(r#"{{"name":"n","inputSchema":{}}}"#, whole_characters(text));
    if !is_value(text) || !is_value(&definition) {
        return;
    }
    for shape in ToolFormat::ALL {
        let tool = shape.tool("mcp__s__n", &definition);
        let fit = shape.fit(&definition);
        assert!(is_value(&tool), "{tool}");
        // Nobody reads one that is too deep, or has a number beyond any float.
        let Some(read) = value(tool.as_bytes()) else { continue };
        let (name, schema) = match shape {
            ToolFormat::Mcp => {
                assert!(fit.to_json().is_none());
                continue;
            }
            ToolFormat::OpenAi => (&read["function"]["name"], &read["function"]["parameters"]),
            ToolFormat::OpenAiResponses => (&read["name"], &read["parameters"]),
            ToolFormat::Anthropic => (&read["name"], &read["input_schema"]),
            ToolFormat::Gemini => (&read["name"], &read["parametersJsonSchema"]),
            _ => (&read["name"], &read["inputSchema"]),
        };
        assert_eq!(name, "mcp__s__n");
        assert_eq!(schema["type"], "object", "{tool}");
        assert!(schema["properties"].is_object(), "{tool}");
        for (shaped, _) in fit.names.iter() {
            assert!(schema["properties"].get(shaped).is_some(), "{shaped} in {tool}");
        }
        let again = format!(r#"{{"name":"n","inputSchema":{schema}}}"#);
        assert!(shape.fit(&again).names.is_empty(), "{tool}");
        let arguments: Value = fit.names.iter().map(|(name, _)| (name, Value::from(1))).collect();
        let arguments = arguments.to_string();
        let back = shape.own_arguments(&definition, &arguments).expect("they are the tool's own");
        let back = value(back.as_bytes()).expect("they are JSON");
        assert!(fit.names.iter().all(|(_, own)| back.get(own).is_some()), "{back}");
    }
}
