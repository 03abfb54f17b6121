//! Arguments that a tool wants in headers too: whether the headers say what the arguments say.

use serde_json::Value;

use super::codes::Denial;
use super::headers::{McpHeaders, mismatch};
use crate::json::readable;

const ANNOTATION: &str = "x-mcp-header";

/// Schemas are not followed deeper than definitions may nest.
const DEPTH_MAX: usize = 64;

/// Checks the headers of a call against the annotations of the tool's definition.
pub(in crate::bridge) fn check(
    headers: &McpHeaders,
    definition: &str,
    arguments: Option<&str>,
) -> Result<(), Denial> {
    if memchr::memmem::find(definition.as_bytes(), ANNOTATION.as_bytes()).is_none() {
        return Ok(());
    }
    let definition = readable(definition).unwrap_or_default();
    let arguments = arguments.and_then(readable).unwrap_or_default();
    walk(headers, &definition["inputSchema"], &arguments, 0)
}

fn walk(
    headers: &McpHeaders,
    schema: &Value,
    arguments: &Value,
    depth: usize,
) -> Result<(), Denial> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    for (name, property) in properties.filter(|_| depth < DEPTH_MAX) {
        let argument = &arguments[name];
        if let Some(header) = property[ANNOTATION].as_str() {
            agree(headers, &format!("Mcp-Param-{header}"), argument)?;
        }
        walk(headers, property, argument, depth + 1)?;
    }
    Ok(())
}

/// Whether a header says what an argument says: numbers by their value, and no header for an
/// argument that is not there.
fn agree(headers: &McpHeaders, header: &str, argument: &Value) -> Result<(), Denial> {
    let value = headers.decoded(header)?;
    let is_same = match (&value, argument) {
        (None, Value::Null) => return Ok(()),
        (Some(_), Value::Null) => return Err(mismatch(header, "has no argument")),
        (None, _) => return Err(mismatch(header, "is missing")),
        (Some(value), Value::String(text)) => value == text,
        (Some(value), Value::Bool(argument)) => *value == argument.to_string(),
        (Some(value), Value::Number(number)) => {
            let read = value.parse::<f64>().ok();
            *value == number.to_string() || read.is_some() && read == number.as_f64()
        }
        (Some(_), Value::Array(_) | Value::Object(_)) => false,
    };
    if is_same { Ok(()) } else { Err(mismatch(header, "is not what the argument says")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOL: &str = r#"{"name":"t","inputSchema":{"type":"object","properties":{
        "region":{"type":"string","x-mcp-header":"Region"},
        "deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}}}"#;

    #[test]
    fn annotated_arguments_stand_in_their_headers() {
        let region = ("Mcp-Param-Region", "eu");
        let number = ("mcp-param-n", "7");
        for (headers, arguments, is_right) in [
            (vec![region], Some(r#"{"region":"eu"}"#), true),
            (vec![region, number], Some(r#"{"region":"eu","deep":{"n":7.0}}"#), true),
            (vec![("Mcp-Param-Region", "=?base64?ZXU=?=")], Some(r#"{"region":"eu"}"#), true),
            (vec![("Mcp-Param-Other", "x")], None, true),
            (vec![], Some(r#"{"region":null}"#), true),
            (vec![], Some(r#"{"region":"eu"}"#), false),
            (vec![region], None, false),
            (vec![region], Some(r#"{"region":"us"}"#), false),
            (vec![region, number], Some(r#"{"region":"eu","deep":{"n":8}}"#), false),
            (vec![region], Some(r#"{"region":["eu"]}"#), false),
        ] {
            let read = McpHeaders::new(headers.iter().copied());
            let checked = check(&read, TOOL, arguments);
            assert_eq!(checked.is_ok(), is_right, "{headers:?} {arguments:?}");
        }
        assert!(check(&McpHeaders::default(), r#"{"name":"t"}"#, None).is_ok());
    }
}
