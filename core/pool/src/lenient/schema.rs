//! The keywords of JSON Schema, and what each of them takes: what every walk over a schema goes by.
//!
//! A name that stands where names of parameters stand is never a keyword, whatever it is called.

use super::value_kind::ValueKind;

/// What a keyword takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// A schema.
    Schema,
    /// An array of at least one schema.
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

/// Each keyword with a known kind. `const`, `enum`, `default` and `examples` hold values, which
/// stay unread.
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
pub(crate) fn takes(keyword: &str) -> Option<Takes> {
    TABLE.iter().find(|(name, _)| *name == keyword).map(|(_, takes)| *takes)
}

/// Members whose values are the schema's own.
const VALUES: [&str; 5] = ["const", "enum", "default", "examples", "example"];

static SCHEMAS_BY_NAME: ValueKind = ValueKind::ByName(&ValueKind::Schema);
static ANY_BY_NAME: ValueKind = ValueKind::ByName(&ValueKind::Any);

/// What belongs under a member of a schema; `None` for what is no more than a value that is not
/// `null`.
pub(super) fn member(name: &str) -> Option<&'static ValueKind> {
    match takes(name) {
        Some(Takes::SchemasByName | Takes::SchemasOrNamesByName) => Some(&SCHEMAS_BY_NAME),
        Some(Takes::NamesByName) => Some(&ANY_BY_NAME),
        Some(Takes::Schema | Takes::Schemas | Takes::SchemaOrSchemas) => Some(&ValueKind::Schema),
        _ if VALUES.contains(&name) => Some(&ValueKind::Any),
        _ => None,
    }
}

/// Whether an empty array is what belongs under this member.
pub(super) fn is_array(name: &str) -> bool {
    takes(name) == Some(Takes::Schemas)
}
