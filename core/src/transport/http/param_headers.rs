//! Arguments of calls that a server of the modern era wants in headers too: `x-mcp-header` in a
//! tool's schema.
//!
//! An annotation that cannot be followed makes its tool unusable, and the tool is left out, as the
//! protocol demands.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use trunkline_pool::catalog::{Catalog, ListKind, SkippedItem};
use trunkline_pool::json::{members, plain};

const ANNOTATION: &str = "x-mcp-header";

/// Schemas are not followed deeper than definitions may nest.
const DEPTH_MAX: usize = 64;

/// What of the arguments of each tool goes into headers; tools without such arguments are not in
/// it.
#[derive(Debug, Default)]
pub(super) struct Mirrors(Mutex<HashMap<Arc<str>, Arc<[Mirror]>>>);

/// One argument.
#[derive(Debug, PartialEq, Eq)]
struct Mirror {
    header: HeaderName,
    /// The members that lead to it.
    path: Vec<String>,
}

/// An argument that goes into a header is there twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Doubled;

impl Mirrors {
    /// Takes over what a listing says, and takes the tools out of it that cannot be called.
    pub(super) fn take(&self, catalog: &mut Catalog, server: &str) {
        let mut mirrors = HashMap::new();
        let mut refused = Vec::new();
        catalog.tools.retain(|tool| match read(&tool.definition) {
            Ok(found) if found.is_empty() => true,
            Ok(found) => {
                mirrors.insert(tool.name.clone(), found.into());
                true
            }
            Err(reason) => {
                tracing::warn!(%server, tool = %tool.name, reason, "a tool is left out");
                let name = Some(tool.name.to_string());
                let reason = reason.to_owned();
                refused.push(SkippedItem { list: ListKind::Tools, name, reason });
                false
            }
        });
        catalog.skipped.extend(refused);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = mirrors;
    }

    /// Adds the headers of a call.
    ///
    /// # Errors
    /// When an argument of them is there twice: the server could take another than what stands in
    /// the header.
    pub(super) fn add(
        &self,
        headers: &mut HeaderMap,
        tool: &str,
        arguments: Option<&RawValue>,
    ) -> Result<(), Doubled> {
        let mirrors = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(tool).cloned();
        let (Some(mirrors), Some(arguments)) = (mirrors, arguments) else { return Ok(()) };
        let mut read = MemberIndex::new();
        for Mirror { header, path } in &*mirrors {
            let value = at(arguments.get(), path, &mut read)?.and_then(|value| plain(value).ok());
            if let Some(value) = value.as_ref().and_then(text).and_then(|text| encoded(&text)) {
                headers.insert(header.clone(), value);
            }
        }
        Ok(())
    }
}

/// The members of the objects on the way to arguments, by the path of each object: read once,
/// however many lead through it. None for a member that is there twice.
type MemberIndex<'a> = HashMap<&'a [String], HashMap<String, Option<&'a RawValue>>>;

/// What a path leads to, if anything.
fn at<'a>(
    arguments: &'a str,
    path: &'a [String],
    read: &mut MemberIndex<'a>,
) -> Result<Option<&'a str>, Doubled> {
    let mut value = arguments;
    for (depth, name) in path.iter().enumerate() {
        let found = read.entry(&path[..depth]).or_insert_with(|| members_once(value));
        match found.get(name) {
            None => return Ok(None),
            Some(None) => return Err(Doubled),
            Some(Some(next)) => value = next.get(),
        }
    }
    Ok(Some(value))
}

fn members_once(object: &str) -> HashMap<String, Option<&RawValue>> {
    let mut found = HashMap::new();
    for (name, value) in members(object).unwrap_or_default() {
        found.entry(name).and_modify(|it| *it = None).or_insert(Some(value));
    }
    found
}

/// The text of an argument in a header; none for one that is null or of a type that has none.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A text as the value of a header: as it is where that is safe, else in the sentinel form.
pub(super) fn encoded(text: &str) -> Option<HeaderValue> {
    let is_plain = text.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
    let is_trimmed = text.trim_matches([' ', '\t']).len() == text.len();
    let is_sentinel = text.starts_with("=?base64?") && text.ends_with("?=");
    if is_plain && is_trimmed && !is_sentinel {
        return HeaderValue::from_str(text).ok();
    }
    HeaderValue::from_str(&format!("=?base64?{}?=", BASE64_STANDARD.encode(text))).ok()
}

/// The annotated arguments of a tool.
fn read(definition: &str) -> Result<Vec<Mirror>, &'static str> {
    if memchr::memmem::find(definition.as_bytes(), ANNOTATION.as_bytes()).is_none() {
        return Ok(Vec::new());
    }
    let definition = plain(definition).map_err(|_| "it cannot be read")?;
    let mut reading = MirrorSearch::default();
    reading.schema(&definition["inputSchema"], Some(&mut Vec::new()), 0)?;
    Ok(reading.found)
}

#[derive(Default)]
struct MirrorSearch {
    found: Vec<Mirror>,
    /// Without regard to case, as headers are.
    names: BTreeSet<String>,
}

impl MirrorSearch {
    /// Reads a schema; `path` leads to it by `properties` alone, if anything does.
    fn schema(
        &mut self,
        schema: &Value,
        mut path: Option<&mut Vec<String>>,
        depth: usize,
    ) -> Result<(), &'static str> {
        let Some(schema) = schema.as_object().filter(|_| depth <= DEPTH_MAX) else { return Ok(()) };
        if let Some(annotation) = schema.get(ANNOTATION) {
            let reached = path.as_deref().filter(|path| !path.is_empty());
            let path = reached.ok_or("its `x-mcp-header` is on no argument")?;
            self.annotated(schema, annotation, path)?;
        }
        for (keyword, value) in schema {
            match keyword.as_str() {
                "properties" => self.properties(value, path.as_deref_mut(), depth)?,
                // Values, not schemas.
                "default" | "const" | "enum" | "examples" | "required" => {}
                _ if keyword == ANNOTATION => {}
                "$defs" | "definitions" | "patternProperties" | "dependentSchemas" => {
                    self.properties(value, None, depth)?;
                }
                _ => match value {
                    Value::Array(schemas) => schemas
                        .iter()
                        .try_for_each(|schema| self.schema(schema, None, depth + 1))?,
                    schema => self.schema(schema, None, depth + 1)?,
                },
            }
        }
        Ok(())
    }

    /// Schemas by name.
    fn properties(
        &mut self,
        properties: &Value,
        mut path: Option<&mut Vec<String>>,
        depth: usize,
    ) -> Result<(), &'static str> {
        for (name, schema) in properties.as_object().into_iter().flatten() {
            if let Some(path) = &mut path {
                path.push(name.clone());
            }
            self.schema(schema, path.as_deref_mut(), depth + 1)?;
            if let Some(path) = &mut path {
                path.pop();
            }
        }
        Ok(())
    }

    fn annotated(
        &mut self,
        schema: &Map<String, Value>,
        annotation: &Value,
        path: &[String],
    ) -> Result<(), &'static str> {
        let name = annotation.as_str().ok_or("its `x-mcp-header` is not a text")?;
        if name.is_empty() {
            return Err("its `x-mcp-header` is empty");
        }
        let primitive = matches!(
            schema.get("type").and_then(Value::as_str),
            Some("string" | "integer" | "boolean")
        );
        if !primitive {
            return Err(
                "its `x-mcp-header` is on an argument that is not a string, integer or boolean",
            );
        }
        let header = HeaderName::from_bytes(format!("mcp-param-{name}").as_bytes());
        let header = header.map_err(|_| "its `x-mcp-header` can be no header")?;
        if !self.names.insert(name.to_ascii_lowercase()) {
            return Err("its `x-mcp-header` is there twice");
        }
        self.found.push(Mirror { header, path: path.to_vec() });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(schema: Value) -> Result<Vec<(String, String)>, &'static str> {
        let definition = json!({ "name": "t", "inputSchema": schema }).to_string();
        let found = read(&definition)?;
        Ok(found.iter().map(|it| (it.header.to_string(), it.path.join("."))).collect())
    }

    /// SPEC 5.6, S-37: a server, and what stands before it, must not take two of what is one here.
    #[test]
    fn arguments_that_lead_to_a_header_twice_are_refused() {
        let region = json!({ "type": "string", "x-mcp-header": "Region" });
        let deep = json!({ "properties": { "deep": { "properties": { "region": region } } } });
        let definition = json!({ "name": "t", "inputSchema": deep }).to_string();
        let mirrors = Mirrors::default();
        let found = read(&definition).unwrap().into();
        mirrors.0.lock().unwrap().insert("t".into(), found);
        for (arguments, expected) in [
            (r#"{"deep":{"region":"a"},"x":1,"x":2}"#, Ok(Some("a"))),
            (r#"{"deep":{}}"#, Ok(None)),
            (r#"{"deep":7}"#, Ok(None)),
            (r#"{"deep":{"region":"a","r\u0065gion":"b"}}"#, Err(Doubled)),
            (r#"{"deep":{"region":"a"},"deep":{}}"#, Err(Doubled)),
        ] {
            let mut headers = HeaderMap::new();
            let raw: Box<RawValue> = serde_json::from_str(arguments).unwrap();
            let added = mirrors.add(&mut headers, "t", Some(&raw));
            let header = headers.get("mcp-param-region").map(|value| value.to_str().unwrap());
            assert_eq!(added.map(|()| header), expected, "{arguments}");
        }
    }

    /// SPEC 4.5: annotations are followed through `properties` alone.
    #[test]
    fn annotated_arguments_are_found_where_properties_lead_to_them() {
        let region = json!({ "type": "string", "x-mcp-header": "Region" });
        let found = of(json!({ "type": "object", "properties": {
            "region": region, "x-mcp-header": { "type": "string" },
            "deep": { "type": "object", "properties": { "n": { "type": "integer", "x-mcp-header": "N" } } },
            "other": { "type": "string", "default": { "x-mcp-header": "data" } },
        } }));
        let expected = [("mcp-param-region", "region"), ("mcp-param-n", "deep.n")];
        let mut found = found.unwrap();
        found.sort();
        found.reverse();
        assert_eq!(found, expected.map(|(name, path)| (name.to_owned(), path.to_owned())));
        assert_eq!(of(json!({ "type": "object" })), Ok(vec![]));
    }

    /// S-37: what a server writes beside annotations is nothing to serde_json either.
    #[test]
    fn no_member_of_a_definition_hides_it() {
        let raw = json!({ "$serde_json::private::RawValue": 1 });
        let annotated = json!({ "type": "string", "x-mcp-header": "Region", "default": raw });
        let found = of(json!({ "type": "object", "properties": { "region": annotated } }));
        assert_eq!(found, Ok(vec![("mcp-param-region".into(), "region".into())]));
    }

    /// SPEC 4.5, S-37.
    #[test]
    fn a_tool_whose_annotation_cannot_be_followed_is_refused() {
        let good = json!({ "type": "string", "x-mcp-header": "A" });
        let mut bad: Vec<Value> = [
            json!(""),
            json!(7),
            json!("a b"),
            json!("a\r\nb"),
            json!("ä"),
            json!("a:"),
        ]
        .into_iter()
        .map(|name| json!({ "properties": { "a": { "type": "string", "x-mcp-header": name } } }))
        .collect();
        for kind in [json!("number"), json!("object"), json!("array"), json!(null)] {
            bad.push(json!({ "properties": { "a": { "type": kind, "x-mcp-header": "A" } } }));
        }
        bad.push(
            json!({ "properties": { "a": good, "b": { "type": "string", "x-mcp-header": "a" } } }),
        );
        bad.push(json!({ "type": "string", "x-mcp-header": "A" }));
        for keyword in ["items", "not", "if", "additionalProperties"] {
            bad.push(json!({ "properties": { "a": { keyword: good } } }));
        }
        for keyword in ["oneOf", "allOf", "anyOf", "prefixItems"] {
            bad.push(json!({ keyword: [{ "properties": { "a": good } }] }));
        }
        bad.push(json!({ "$defs": { "d": good }, "properties": { "a": { "$ref": "#/$defs/d" } } }));
        for schema in bad {
            assert!(of(schema.clone()).is_err(), "{schema}");
        }
    }

    /// S-37: the examples of the protocol's own text.
    #[test]
    fn what_no_header_can_hold_is_encoded() {
        for (text, expected) in [
            ("us-west1", "us-west1"),
            ("", ""),
            ("a b\tc", "a b\tc"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(encoded(text).unwrap(), expected, "{text:?}");
        }
        assert_eq!(text(&json!(-7)).as_deref(), Some("-7"));
        assert_eq!(text(&json!(true)).as_deref(), Some("true"));
        assert_eq!(text(&json!(null)), None);
    }
}
