//! Lists of servers: each item is kept as it came, told as left out, or counted, and none costs
//! another.

use trunkline_pool::catalog::{Catalog, ListKind};
use trunkline_pool::json::is_value;

use super::value;

pub const WORDS: &[&str] = &[
    "{\"tools\":[",
    "{\"prompts\":[",
    "{\"resources\":[",
    "{\"resourceTemplates\":[",
    "{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"}}",
    "{\"uri\":\"file:///a\"}",
    "{\"uriTemplate\":\"file:///{b}\"}",
    "\"name\":\"b\"",
    "\"inputSchema\":[]",
    "\"outputSchema\":true",
    "\"description\":7",
    "\"annotations\":\"no\"",
    "\"title\":{}",
    "\"arguments\":{}",
    "\"nextCursor\":7",
    "\"ttlMs\":-1",
    "\"cacheScope\":\"private\"",
    "\"\\ud800\"",
    "null",
    "{}",
    "[]",
    ",",
    "]",
    "}",
    "\"",
];

/// SPEC 4.5, 18.2, 18.3.
pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for list in ListKind::ALL {
        let mut catalog = Catalog::default();
        if catalog.add_page(list, text).is_err() {
            assert!(!catalog.has_items() && catalog.left_out() == 0);
            continue;
        }
        let items = catalog.list(list);
        for item in items {
            assert!(is_value(&item.definition), "{}", item.definition);
            // Nobody reads a number beyond any float.
            let Some(read) = value(item.definition.as_bytes()) else { continue };
            let names = ["name", "uri", "uriTemplate"].map(|key| read[key].as_str());
            assert!(names.contains(&Some(&*item.name)), "{} in {read}", item.name);
            assert!(list != ListKind::Tools || !read["inputSchema"].is_null(), "{read}");
        }
        // One member of the list's name says how many there are.
        let page = value(bytes).filter(|_| text.matches(list.member()).count() == 1);
        if let Some(listed) = page.as_ref().and_then(|page| page[list.member()].as_array()) {
            assert_eq!(items.len() + catalog.left_out(), listed.len(), "{text}");
        }
        catalog.finish();
        let names = catalog.list(list).iter().map(|item| &item.name);
        assert!(names.is_sorted_by(|one, other| one < other), "each name is there once");
    }
}
