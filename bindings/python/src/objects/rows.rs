//! Lists, as Python makes objects of their items.

use pyo3::prelude::*;
use trunkline::{List, ListedItem};

/// A list that Python was given: with it a session says that its list has the same items still.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct GivenList(pub List);

/// A listed thing: name, server, own name, definition as JSON text, trust and always-load marks,
/// whether it is deferred.
type Row = (String, String, String, String, bool, bool, bool);

/// What Python makes its `ListedItem` of.
pub fn rows(listed: &[ListedItem]) -> Vec<Row> {
    let row = |one: &ListedItem| {
        let (name, server) = (one.name.to_string(), one.server.to_string());
        let (own_name, definition) = (one.own_name.to_string(), one.definition.to_string());
        (name, server, own_name, definition, one.trust, one.always_load, one.deferred)
    };
    listed.iter().map(row).collect()
}
