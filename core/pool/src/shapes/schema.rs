//! What a target refuses in the schema of a tool's arguments, and what is done about it.
//!
//! | Target | Refused | Done |
//! | --- | --- | --- |
//! | all but `mcp` | members of a wrong type | they become what is meant, else they are taken out |
//! | all but `mcp` | a reference that leads nowhere | it is taken out |
//! | all but `mcp` | a schema that is not of `type` `object`, or has no `properties` at the top | it is, and has |
//! | all but `mcp` | a number beyond a float of 64 bits, more than a hundred or so levels | the schema says no more than that it is an object |
//! | OpenAI, any | `oneOf`, `anyOf`, `allOf`, `enum`, `const`, `not` at the top | taken out; the properties of branches are put beside the others |
//! | OpenAI, any | an array without `items` anywhere | an empty one is added, which says the same |
//! | OpenAI, any | `true` or `false` for a schema, but for what may stand beside the rest | `{}` or `{"not": {}}`, which say the same |
//! | Anthropic | `oneOf`, `anyOf`, `allOf` at the top | as above |
//! | Anthropic, any | an argument at the top whose name is not of `[a-zA-Z0-9_.-]{1,64}` | it gets another name |
//! | Gemini, any | `$schema` at the top | taken out |
//!
//! References (`$ref`, `$defs`) are taken by all of them, and lead where they led.

use serde_json::{Map, Value, json};

use super::arguments::{self, ArgumentNames};
use super::keywords::each_inner;
use super::left_out::LeftOut;
use super::shape::ToolFormat;
use super::surface::{Branches, REFUSED_AT_THE_TOP, surface};
use super::{misfits, references};
use crate::json::plain;

/// A schema as a target takes it.
#[derive(Debug, Default)]
pub(super) struct Fitted {
    /// The very text that was written, where nothing in it is refused.
    pub text: String,
    pub names: ArgumentNames,
    pub left_out: Vec<LeftOut>,
}

/// Fits a schema that went through the lenient pass.
///
/// One that serde_json cannot read becomes that of any object: a host's own reader would fail on it
/// too, and on all other tools with it.
pub(super) fn fitted(shape: ToolFormat, written: &str) -> Fitted {
    if shape == ToolFormat::Mcp {
        return Fitted { text: written.to_owned(), ..Fitted::default() };
    }
    let mut left_out = Vec::new();
    let (mut schema, is_read) = match plain(written) {
        Ok(Value::Object(schema)) => (schema, true),
        // What is not read is more than fits: deeper, or with a number beyond any float.
        _ => {
            left_out.push(LeftOut::new(String::new(), "is more than can be read"));
            (Map::new(), false)
        }
    };
    let right = misfits::put_right(&mut schema, "", &mut left_out);
    let dangling = references::without_dangling(&mut schema, &mut left_out);
    let whole = Value::Object(schema.clone());
    let refused = without_refused(shape, &mut schema, &mut left_out);
    let names = match shape {
        ToolFormat::Anthropic | ToolFormat::Any => arguments::renamed(&mut schema, &mut left_out),
        _ => ArgumentNames::default(),
    };
    if !(right || dangling || refused || !names.is_empty()) && is_read {
        return Fitted { text: written.to_owned(), names, left_out };
    }
    references::kept(&mut schema, &whole, !names.is_empty(), &mut left_out);
    Fitted { text: Value::Object(schema).to_string(), names, left_out }
}

fn without_refused(
    shape: ToolFormat,
    schema: &mut Map<String, Value>,
    left_out: &mut Vec<LeftOut>,
) -> bool {
    let is_openai =
        matches!(shape, ToolFormat::OpenAi | ToolFormat::OpenAiResponses | ToolFormat::Any);
    let branches = if shape == ToolFormat::Gemini { Branches::Stay } else { Branches::Go };
    // Each of them, whatever the ones before it did.
    let surfaced = surface(schema, branches, left_out);
    let mut others = false;
    for keyword in ["enum", "const", "not"].into_iter().filter(|_| is_openai) {
        if schema.shift_remove(keyword).is_some() {
            left_out.push(LeftOut::new(format!("/{keyword}"), REFUSED_AT_THE_TOP));
            others = true;
        }
    }
    // What it says of the dialect changes nothing for who reads it.
    let says_dialect = matches!(shape, ToolFormat::Gemini | ToolFormat::Any);
    let dialect = says_dialect && schema.shift_remove("$schema").is_some();
    let object = as_object(schema);
    let items = is_openai && with_items(schema);
    let booleans = is_openai && without_booleans(schema);
    surfaced || others || dialect || object || items || booleans
}

fn as_object(schema: &mut Map<String, Value>) -> bool {
    let is_one = schema.get("type").is_some_and(|of| of == "object");
    if !is_one {
        schema.insert("type".into(), "object".into());
    }
    let has_properties = schema.contains_key("properties");
    if !has_properties {
        schema.insert("properties".into(), json!({}));
    }
    !is_one || !has_properties
}

/// Writes each schema that is `true` or `false` as an object. What compatible servers read has no
/// place for another; they know both where it is said what may stand beside the rest.
fn without_booleans(schema: &mut Map<String, Value>) -> bool {
    let mut changed = false;
    each_inner(schema, "", &mut |path, inner| match inner {
        Value::Bool(_) if BESIDE_THE_REST.contains(&path) => {}
        Value::Bool(takes_all) => {
            *inner = if *takes_all { json!({}) } else { json!({ "not": {} }) };
            changed = true;
        }
        Value::Object(inner) => changed |= without_booleans(inner),
        _ => {}
    });
    changed
}

/// The keywords, right below a schema, that say whether there may be more than it names.
const BESIDE_THE_REST: [&str; 4] =
    ["/additionalProperties", "/unevaluatedProperties", "/additionalItems", "/unevaluatedItems"];

/// Gives each array that does not say what it holds an empty `items`.
fn with_items(schema: &mut Map<String, Value>) -> bool {
    let is_array = schema.get("type").is_some_and(|of| {
        of == "array" || of.as_array().is_some_and(|types| types.iter().any(|of| of == "array"))
    });
    let mut changed = is_array && !schema.contains_key("items");
    if changed {
        schema.insert("items".into(), json!({}));
    }
    each_inner(schema, "", &mut |_, inner| {
        if let Value::Object(inner) = inner {
            changed |= with_items(inner);
        }
    });
    changed
}
