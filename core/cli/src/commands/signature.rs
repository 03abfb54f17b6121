//! What a tool takes, in a line that a person reads and a call that they can type.
//!
//! A schema comes from a server: what it does not say, or says wrongly, is `any`.

use serde_json::{Map, Value};

use crate::console::shell_words::quoted;

/// One argument of a tool.
pub(super) struct Parameter<'a> {
    pub(super) name: &'a str,
    pub(super) kind: String,
    pub(super) is_required: bool,
    pub(super) description: &'a str,
    schema: &'a Value,
}

/// The arguments that a schema names, the required ones first.
pub(super) fn parameters(whole: &Value) -> Vec<Parameter<'_>> {
    let required = whole["required"].as_array().map_or(&[][..], Vec::as_slice);
    let properties = whole["properties"].as_object().into_iter().flatten();
    let mut parameters: Vec<Parameter<'_>> = properties
        .map(|(name, schema)| {
            let schema = resolved(schema, whole);
            Parameter {
                name,
                kind: kind(schema, whole, DEPTH_MAX),
                is_required: required.iter().any(|other| other == name),
                description: schema["description"].as_str().unwrap_or_default(),
                schema,
            }
        })
        .collect();
    parameters.sort_by_key(|parameter| !parameter.is_required);
    parameters
}

/// `NAME(ARGUMENT: TYPE, …)`.
pub(super) fn signature(tool: &str, parameters: &[Parameter<'_>]) -> String {
    let parameter = |parameter: &Parameter<'_>| {
        let optional = if parameter.is_required { "" } else { "?" };
        let usual = parameter.schema.get("default").map(|usual| format!(" = {usual}"));
        format!("{}{optional}: {}{}", parameter.name, parameter.kind, usual.unwrap_or_default())
    };
    format!("{tool}({})", parameters.iter().map(parameter).collect::<Vec<_>>().join(", "))
}

/// A call with every argument that the tool needs; `server` as it is typed.
pub(super) fn example(server: &str, tool: &str, parameters: &[Parameter<'_>]) -> String {
    let required = parameters.iter().filter(|parameter| parameter.is_required);
    let words = required.map(|parameter| quoted(&sample(parameter)));
    // What begins like an option would be one.
    let is_option = [server, tool].iter().any(|word| word.starts_with('-'));
    let is_option = is_option && !server.starts_with("--stdio ");
    let call = if is_option { "trunkline call --" } else { "trunkline call" };
    [call.to_owned(), server.to_owned(), quoted(tool)]
        .into_iter()
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}

/// An argument as `call` takes it.
fn sample(parameter: &Parameter<'_>) -> String {
    let schema = parameter.schema;
    let said = [schema.get("default"), schema.get("const")].into_iter().flatten().next();
    let listed = ["examples", "enum"].iter().find_map(|member| schema[*member].get(0));
    let value = said.or(listed).cloned().unwrap_or_else(|| usual(&parameter.kind, schema));
    let name = parameter.name;
    match value {
        Value::String(text) if takes_text(schema) => format!("{name}={text}"),
        // A type of the schema makes JSON of it by itself.
        value if value.is_number() || value.is_boolean() => match schema["type"].is_string() {
            true => format!("{name}={value}"),
            false => format!("{name}:={value}"),
        },
        value => format!("{name}:={value}"),
    }
}

fn takes_text(schema: &Value) -> bool {
    matches!(schema["type"].as_str(), None | Some("string"))
}

/// A value of that kind, where the schema has none.
fn usual(kind: &str, schema: &Value) -> Value {
    match kind.split(" | ").next().unwrap_or_default() {
        "integer" | "number" => {
            schema.get("minimum").filter(|least| least.is_number()).cloned().unwrap_or(1.into())
        }
        "boolean" => true.into(),
        "null" => Value::Null,
        "object" => Value::Object(Map::new()),
        kind if kind.ends_with("[]") => Value::Array(Vec::new()),
        _ => "text".into(),
    }
}

/// The word for what a schema lets in.
fn kind(schema: &Value, whole: &Value, depth: usize) -> String {
    let schema = resolved(schema, whole);
    if depth == 0 {
        return ANY.to_owned();
    }
    if let Some(values) = schema["enum"].as_array().filter(|values| !values.is_empty()) {
        return joined(values.iter().map(Value::to_string));
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    for member in ["anyOf", "oneOf"] {
        if let Some(schemas) = schema[member].as_array().filter(|schemas| !schemas.is_empty()) {
            return joined(schemas.iter().map(|schema| kind(schema, whole, depth - 1)));
        }
    }
    match &schema["type"] {
        Value::String(word) if word == "array" => {
            let items = kind(&schema["items"], whole, depth - 1);
            if items.contains(" | ") { format!("({items})[]") } else { format!("{items}[]") }
        }
        Value::String(word) => word.clone(),
        Value::Array(words) if !words.is_empty() => {
            joined(words.iter().map(|word| word.as_str().unwrap_or(ANY).to_owned()))
        }
        _ if schema["properties"].is_object() => "object".to_owned(),
        _ => ANY.to_owned(),
    }
}

/// Alternatives, each once.
fn joined(kinds: impl Iterator<Item = String>) -> String {
    let mut shown: Vec<String> = Vec::new();
    for kind in kinds {
        if !shown.contains(&kind) {
            shown.push(kind);
        }
    }
    if shown.len() > ALTERNATIVES_MAX {
        shown.truncate(ALTERNATIVES_MAX);
        shown.push("…".to_owned());
    }
    shown.join(" | ")
}

/// The schema that a reference into the same document means; one step, since a second is seldom.
fn resolved<'a>(schema: &'a Value, whole: &'a Value) -> &'a Value {
    let pointer = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    pointer.and_then(|pointer| whole.pointer(pointer)).unwrap_or(schema)
}

const ANY: &str = "any";

/// Schemas within schemas that are looked at.
const DEPTH_MAX: usize = 4;

/// Alternatives of one argument that are shown.
const ALTERNATIVES_MAX: usize = 12;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(schema: Value) -> (String, String) {
        let parameters = parameters(&schema);
        (signature("t", &parameters), example("demo", "t", &parameters))
    }

    #[test]
    fn each_kind_of_schema_has_a_word_and_a_sample() {
        let schema = json!({
            "properties": {
                "any": {}, "count": { "type": "integer", "minimum": 3 }, "names": { "type": "array", "items": { "type": "string" } },
                "level": { "enum": ["low", "high"] }, "either": { "type": ["string", "null"] }, "more": { "$ref": "#/$defs/more" },
                "one": { "anyOf": [{ "type": "number" }, { "type": "boolean" }] }, "last": { "type": "boolean", "default": false },
            },
            "required": ["any", "count", "names", "level", "either", "more", "one"],
            "$defs": { "more": { "properties": {}, "description": "d" } },
        });
        let (signature, example) = shown(schema);
        let wanted = "t(any: any, count: integer, names: string[], level: \"low\" | \"high\", either: string | null, \
                      more: object, one: number | boolean, last?: boolean = false)";
        assert_eq!(signature, wanted);
        let wanted = "trunkline call demo t any=text count=3 'names:=[]' level=low either=text 'more:={}' one:=1";
        assert_eq!(example, wanted);
    }

    #[test]
    fn a_schema_that_goes_round_or_says_nothing_has_an_end() {
        let round = json!({ "properties": { "a": { "type": "array", "items": { "$ref": "#/properties/a" } } } });
        assert_eq!(shown(round).0, "t(a?: any[][][][])");
        for schema in [json!(null), json!({ "properties": 7 }), json!([])] {
            assert_eq!(shown(schema), ("t()".into(), "trunkline call demo t".into()));
        }
    }

    #[test]
    fn a_name_stays_one_word_of_the_example() {
        let schema = json!({ "properties": { "a b": {} }, "required": ["a b"] });
        let parameters = parameters(&schema);
        let example = example("demo", "--x $(rm)", &parameters);
        assert_eq!(example, "trunkline call -- demo '--x $(rm)' 'a b=text'");
    }
}
