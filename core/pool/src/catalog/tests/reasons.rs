//! What a report says, and where the limits of one item end.

use serde_json::json;

use super::super::*;
use super::{tool, tools};

/// The reason for which one definition is left out; empty when it is not.
fn reason(list: ListKind, definition: &str) -> String {
    let mut catalog = Catalog::default();
    let page = format!(r#"{{"{}":[{definition}]}}"#, list.member());
    catalog.add_page(list, &page).unwrap();
    assert_eq!(catalog.list(list).len() + catalog.skipped.len(), 1, "{definition:.100}");
    catalog.skipped.pop().map_or(String::new(), |skipped| skipped.reason)
}

/// SPEC 4.5: a report says what is wrong, so that the author of the server can mend it.
#[test]
fn reports_say_what_is_wrong() {
    let with = |member: &str| format!(r#"{{"name":"x","inputSchema":{{}},{member}}}"#);
    let deep = format!(r#""other":{}{}"#, "[".repeat(64), "]".repeat(64));
    for (definition, expected) in [
        ("5".to_owned(), "it is not an object"),
        (r#"{"inputSchema":{}}"#.into(), "it has no `name`"),
        (r#"{"name":5,"inputSchema":{}}"#.into(), "its `name` is not a string"),
        (r#"{"name":"","inputSchema":{}}"#.into(), "its name is empty"),
        (
            r#"{"name":"a\nb","inputSchema":{}}"#.into(),
            "its name holds control or invisible characters",
        ),
        (r#"{"name":"x"}"#.into(), "it has no `inputSchema`"),
        (r#"{"name":"x","inputSchema":[1]}"#.into(), "its `inputSchema` is not an object"),
        (with(r#""other":{"a":1,"a":1}"#), "it has a member twice"),
        (with(&deep), "it is nested too deep"),
    ] {
        assert_eq!(reason(ListKind::Tools, &definition), expected, "{definition}");
    }
    assert_eq!(reason(ListKind::Resources, "{}"), "it has no `uri`");
    assert_eq!(reason(ListKind::ResourceTemplates, "{}"), "it has no `uriTemplate`");
}

/// SPEC 4.5, S-24: what is as long as it may be is kept, and one byte more is not.
#[test]
fn the_limits_of_one_item_are_exact() {
    let definition = |bytes: usize| {
        let head = r#"{"name":"x","inputSchema":{},"other":""#;
        head.to_owned() + &"a".repeat(bytes - head.len() - 2) + "\"}"
    };
    assert_eq!(reason(ListKind::Tools, &definition(1 << 20)), "");
    assert_eq!(
        reason(ListKind::Tools, &definition((1 << 20) + 1)),
        "its definition is longer than 1048576 bytes"
    );
    for (list, member, bytes_max) in [
        (ListKind::Tools, "name", 256),
        (ListKind::Prompts, "name", 256),
        (ListKind::Resources, "uri", 8 << 10),
        (ListKind::ResourceTemplates, "uriTemplate", 8 << 10),
    ] {
        let named = |bytes: usize| json!({member: "n".repeat(bytes), "inputSchema": {}});
        assert_eq!(reason(list, &named(bytes_max).to_string()), "", "{list:?}");
        let longer = named(bytes_max + 1).to_string();
        assert_eq!(reason(list, &longer), "its name is too long", "{list:?}");
    }
}

/// S-24: ten thousand items are kept without a word, and the first one beyond is reported.
#[test]
fn the_longest_list_is_whole() {
    let mut definitions: Vec<_> = (0..10_000).map(|index| tool(&format!("t{index}"))).collect();
    let catalog = tools(&definitions);
    assert_eq!((catalog.tools.len(), catalog.skipped.len()), (10_000, 0));
    definitions.push(tool("one more"));
    let catalog = tools(&definitions);
    assert_eq!(catalog.tools.len(), 10_000);
    assert_eq!(catalog.skipped[0].reason, "the server lists more than 10000");
}

/// SPEC 4.3, 4.5, 6.6: errors and reports call the things of each list by their own word.
#[test]
fn each_list_has_its_word() {
    for (list, noun, member, key) in [
        (ListKind::Tools, "tool", "tools", "name"),
        (ListKind::Prompts, "prompt", "prompts", "name"),
        (ListKind::Resources, "resource", "resources", "uri"),
        (ListKind::ResourceTemplates, "resource template", "resourceTemplates", "uriTemplate"),
    ] {
        let mut catalog = Catalog::default();
        let one = json!({key: "a", "inputSchema": {}, "title": "one"});
        let other = json!({key: "a", "inputSchema": {}, "title": "other"});
        catalog.add_page(list, &json!({ member: [one, other] }).to_string()).unwrap();
        catalog.finish();
        let reasons: Vec<&str> = catalog.skipped.iter().map(|item| &*item.reason).collect();
        assert_eq!(reasons, [format!("another {noun} has this name")]);
        let error = catalog.add_page(list, "[]").unwrap_err();
        assert_eq!(error.message(), format!("the result of the {noun} list cannot be read"));
        assert_eq!(error.detail()["list"], member);
        let error = catalog.add_page(list, "{}").unwrap_err();
        assert_eq!(error.message(), format!("the result has no array `{member}`"));
        assert_eq!(error.detail()["list"], member);
    }
}
