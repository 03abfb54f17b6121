//! The keywords of JSON Schema, and what each of them takes: what every walk over a schema goes by.
//!
//! A name that stands where names of parameters stand is never a keyword, whatever it is called.

use serde_json::{Map, Value};

/// What a keyword takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// A schema.
    Schema,
    /// An array of schemas, of which there is at least one.
    Schemas,
    /// A schema, or an array of them.
    SchemaOrSchemas,
    /// Schemas by name.
    SchemasByName,
    /// Schemas, or arrays of names, by name.
    SchemasOrNamesByName,
    /// Arrays of names by name.
    NamesByName,
    /// Names.
    Names,
    /// One of seven words, or an array of them.
    Type,
    Text,
    Number,
    /// A number that is a whole one, and none below zero.
    Count,
    Bool,
}

/// Each keyword of which it is known. `const`, `enum`, `default` and `examples` hold values, which nobody looks into.
const TABLE: [(&str, Takes); 51] = [
    ("type", Takes::Type),
    ("properties", Takes::SchemasByName),
    ("required", Takes::Names),
    ("patternProperties", Takes::SchemasByName),
    ("$defs", Takes::SchemasByName),
    ("definitions", Takes::SchemasByName),
    ("dependentSchemas", Takes::SchemasByName),
    ("dependencies", Takes::SchemasOrNamesByName),
    ("dependentRequired", Takes::NamesByName),
    ("items", Takes::SchemaOrSchemas),
    ("prefixItems", Takes::Schemas),
    ("oneOf", Takes::Schemas),
    ("anyOf", Takes::Schemas),
    ("allOf", Takes::Schemas),
    ("additionalItems", Takes::Schema),
    ("unevaluatedItems", Takes::Schema),
    ("contains", Takes::Schema),
    ("additionalProperties", Takes::Schema),
    ("unevaluatedProperties", Takes::Schema),
    ("propertyNames", Takes::Schema),
    ("not", Takes::Schema),
    ("if", Takes::Schema),
    ("then", Takes::Schema),
    ("else", Takes::Schema),
    ("contentSchema", Takes::Schema),
    ("$ref", Takes::Text),
    ("$dynamicRef", Takes::Text),
    ("$id", Takes::Text),
    ("$anchor", Takes::Text),
    ("$dynamicAnchor", Takes::Text),
    ("$schema", Takes::Text),
    ("$comment", Takes::Text),
    ("title", Takes::Text),
    ("description", Takes::Text),
    ("format", Takes::Text),
    ("pattern", Takes::Text),
    ("contentEncoding", Takes::Text),
    ("contentMediaType", Takes::Text),
    ("minimum", Takes::Number),
    ("maximum", Takes::Number),
    ("exclusiveMinimum", Takes::Number),
    ("exclusiveMaximum", Takes::Number),
    ("multipleOf", Takes::Number),
    ("minLength", Takes::Count),
    ("maxLength", Takes::Count),
    ("minItems", Takes::Count),
    ("maxItems", Takes::Count),
    ("minProperties", Takes::Count),
    ("maxProperties", Takes::Count),
    ("uniqueItems", Takes::Bool),
    ("deprecated", Takes::Bool),
];

/// What the keyword takes, if it is one.
pub(super) fn takes(keyword: &str) -> Option<Takes> {
    TABLE.iter().find(|(name, _)| *name == keyword).map(|(_, takes)| *takes)
}

/// The schemas that stand right inside of one, each with the way to it.
pub(super) fn inner(schema: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    schema.iter().flat_map(|(keyword, value)| {
        let found: Box<dyn Iterator<Item = &Value>> = match (takes(keyword), value) {
            (Some(Takes::SchemasByName | Takes::SchemasOrNamesByName), Value::Object(by_name)) => {
                Box::new(by_name.values())
            }
            (Some(Takes::Schemas | Takes::SchemaOrSchemas), Value::Array(all)) => {
                Box::new(all.iter())
            }
            (Some(Takes::Schema | Takes::SchemaOrSchemas), one) => Box::new(std::iter::once(one)),
            _ => Box::new(std::iter::empty()),
        };
        found
    })
}

/// The same, to be changed: `each` gets the way to a schema, which is a JSON pointer, and the schema.
pub(super) fn each_inner(
    schema: &mut Map<String, Value>,
    path: &str,
    each: &mut dyn FnMut(&str, &mut Value),
) {
    for (keyword, value) in schema.iter_mut() {
        let path = below(path, keyword);
        match (takes(keyword), value) {
            (Some(Takes::SchemasByName | Takes::SchemasOrNamesByName), Value::Object(by_name)) => {
                by_name.iter_mut().for_each(|(name, inner)| each(&below(&path, name), inner))
            }
            (Some(Takes::Schemas | Takes::SchemaOrSchemas), Value::Array(all)) => {
                let numbered = all.iter_mut().enumerate();
                numbered.for_each(|(index, inner)| each(&format!("{path}/{index}"), inner));
            }
            (Some(Takes::Schema | Takes::SchemaOrSchemas), one) => each(&path, one),
            _ => {}
        }
    }
}

/// The JSON pointer of a member.
pub(super) fn below(path: &str, member: &str) -> String {
    format!("{path}/{}", member.replace('~', "~0").replace('/', "~1"))
}
