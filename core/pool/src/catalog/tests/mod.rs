//! Pages, differences and views.

mod changes;
mod pages;
mod reasons;

use serde_json::{Value, json};

use super::{Catalog, ListKind};

/// A catalog whose tools are these definitions.
fn tools(definitions: &[Value]) -> Catalog {
    let mut catalog = Catalog::default();
    let page = json!({ "tools": definitions }).to_string();
    assert_eq!(catalog.add_page(ListKind::Tools, &page).unwrap().next, None);
    catalog.finish();
    catalog
}

/// A sound tool.
fn tool(name: &str) -> Value {
    json!({"name": name, "description": "d", "inputSchema": {"type": "object"}})
}
