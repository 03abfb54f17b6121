//! What the demo server offers: its tools, resources and prompts.

use serde_json::{Value, json};

use super::counting::{INTERVAL_MS_MAX, TO_MAX};

pub(super) fn tools() -> Value {
    let whole = |what: &str| json!({ "type": "integer", "description": what });
    let text = |what: &str| json!({ "type": "string", "description": what });
    let upto = |what: &str, max: u64, usual: u64| json!({ "type": "integer", "minimum": 0, "maximum": max, "default": usual, "description": what });
    let size = json!({ "type": "integer" });
    let mut measure = tool(
        "measure",
        "Counts the words, lines and characters of a text.",
        json!({ "text": text("The text") }),
        &["text"],
    );
    measure["outputSchema"] = json!({
        "type": "object",
        "properties": { "words": size, "lines": size, "characters": size },
        "required": ["words", "lines", "characters"],
    });
    let count = json!({
        "to": upto("The last number", TO_MAX, 5),
        "interval_ms": upto("The time between two numbers", INTERVAL_MS_MAX, 200),
    });
    json!([
        tool(
            "echo",
            "Answers with the message.",
            json!({ "message": text("Any text") }),
            &["message"]
        ),
        tool(
            "add",
            "Adds two whole numbers.",
            json!({ "a": whole("The first"), "b": whole("The second") }),
            &["a", "b"]
        ),
        tool("count", "Counts, and tells its progress at each number.", count, &[]),
        measure,
        tool("pid", "Says the number of the server's process.", json!({}), &[]),
    ])
}

fn tool(name: &str, description: &str, properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    json!({
        "name": name,
        "description": description,
        "inputSchema": schema,
        "annotations": { "readOnlyHint": true, "openWorldHint": false },
    })
}

/// The sizes of a text, as the schema of `measure` has them.
pub(super) fn measured(text: &str) -> Value {
    json!({
        "words": text.split_whitespace().count(),
        "lines": text.lines().count(),
        "characters": text.chars().count(),
    })
}

pub(super) fn resource() -> Value {
    json!({ "uri": README, "name": "readme", "description": "What this server offers.", "mimeType": "text/plain" })
}

pub(super) fn template() -> Value {
    let address = format!("{GREETING}{{name}}");
    json!({ "uriTemplate": address, "name": "greeting", "description": "A greeting for a name.", "mimeType": "text/plain" })
}

pub(super) fn prompt() -> Value {
    json!({
        "name": "greet",
        "description": "Asks the model for a greeting.",
        "arguments": [
            { "name": "name", "description": "The name that is greeted", "required": true },
            { "name": "style", "description": "How it sounds: formal, friendly or short", "required": false },
        ],
    })
}

pub(super) fn greeting(name: &str, style: &str) -> String {
    match style {
        "" => format!("Greet {name}."),
        style => format!("Greet {name} in a {style} way."),
    }
}

pub(super) const README: &str = "demo://readme";

/// What the address of a greeting begins with.
pub(super) const GREETING: &str = "demo://greeting/";

pub(super) const STYLES: [&str; 3] = ["formal", "friendly", "short"];

pub(super) const NAMES: [&str; 3] = ["Ada", "Alan", "Grace"];

pub(super) const ABOUT: &str =
    "The demo server of trunkline. Its tools are echo, add, count, measure and pid.";
