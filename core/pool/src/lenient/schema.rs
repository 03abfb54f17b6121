//! What belongs where in a JSON Schema.

use super::Kind::{self, Any, ByName, Schema};

/// Members that hold schemas by name.
const BY_NAME: [&str; 5] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Members that hold other values by name.
const VALUES_BY_NAME: [&str; 3] = ["dependentRequired", "dependencies", "$vocabulary"];

/// Members that are schemas, or arrays of them.
const SCHEMAS: [&str; 16] = [
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "oneOf",
    "anyOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
];

/// Those of them that are arrays: an empty one is one.
const ARRAYS: [&str; 4] = ["prefixItems", "oneOf", "anyOf", "allOf"];

/// Members whose values are the schema's own.
const VALUES: [&str; 5] = ["const", "enum", "default", "examples", "example"];

static SCHEMAS_BY_NAME: Kind = ByName(&Schema);
static ANY_BY_NAME: Kind = ByName(&Any);

/// What belongs under a member of a schema; `None` for what is no more than a value that is not `null`.
pub(super) fn member(name: &str) -> Option<&'static Kind> {
    match name {
        name if BY_NAME.contains(&name) => Some(&SCHEMAS_BY_NAME),
        name if VALUES_BY_NAME.contains(&name) => Some(&ANY_BY_NAME),
        name if SCHEMAS.contains(&name) => Some(&Schema),
        name if VALUES.contains(&name) => Some(&Any),
        _ => None,
    }
}

/// Whether an empty array is what belongs under this member.
pub(super) fn is_array(name: &str) -> bool {
    ARRAYS.contains(&name)
}
