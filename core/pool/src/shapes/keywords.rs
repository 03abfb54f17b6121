//! The schemas inside of a schema, by its keywords.

use serde_json::{Map, Value};

pub(super) use crate::lenient::schema::{Takes, takes};

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

/// The same, to be changed: `each` gets the way to a schema, which is a JSON pointer, and the
/// schema.
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
