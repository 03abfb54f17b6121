//! Pages of lists.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::*;
use super::{tool, tools};
use crate::ErrorCode;
use crate::base::random::Random;

fn names(items: &[Item]) -> Vec<&str> {
    items.iter().map(|item| &*item.name).collect()
}

/// SPEC 5.3, 4.5: definitions stay byte for byte: white space, order, unknown fields and long
/// numbers.
#[test]
fn definitions_stay_as_they_are_written() {
    let definition = "{ \"x-odd\":[1.50,  18446744073709551616],\"inputSchema\":{\"type\":\"object\"},\"name\":\"a\\u0041\"}";
    let mut catalog = Catalog::default();
    let page = format!("{{\"_meta\":{{}}, \"tools\" : [ {definition} ] ,\"ttlMs\":5}}");
    assert_eq!(catalog.add_page(ListKind::Tools, &page).unwrap().next, None);
    catalog.finish();
    let item = catalog.tool("aA").unwrap();
    assert_eq!(&*item.definition, definition);
    assert_eq!(catalog.skipped, []);
}

/// SPEC 7.8, PROTOCOL 1.2: how long a page is fresh stands beside its items, and cannot spoil them.
#[test]
fn a_page_says_how_long_it_is_fresh() {
    let fresh_for = |ttl: &str| {
        let page = format!(r#"{{"tools":[],"ttlMs":{ttl},"cacheScope":"private"}}"#);
        Catalog::default().add_page(ListKind::Tools, &page).unwrap().fresh_for
    };
    for (ttl, milliseconds) in [("5000", 5000), ("1.9", 1), ("0", 0), ("-1", 0), ("-1e300", 0)] {
        assert_eq!(fresh_for(ttl), Some(Duration::from_millis(milliseconds)), "{ttl}");
    }
    assert_eq!(fresh_for("1e300"), Some(Duration::from_millis(u64::MAX)));
    for ttl in ["null", "\"5000\"", "[1]", "{}", "true", "1e999"] {
        assert_eq!(fresh_for(ttl), None, "{ttl}");
    }
    let silent = Catalog::default().add_page(ListKind::Tools, r#"{"tools":[]}"#).unwrap();
    assert_eq!(silent, PageEnd::default());
}

/// SPEC 7.5, 14.2: whom a page is for stands beside its items too; what is not understood is for
/// nobody else.
#[test]
fn a_page_says_whom_it_may_be_kept_for() {
    let scope = |beside: &str| {
        let page = format!(r#"{{"tools":[]{beside}}}"#);
        Catalog::default().add_page(ListKind::Tools, &page).unwrap().scope
    };
    let of = |value: &str| scope(&format!(r#","cacheScope":{value}"#));
    for value in ["\"public\"", "null"] {
        assert_eq!(of(value), CacheScope::Shared, "{value}");
    }
    for value in ["\"private\"", "\"Public\"", "\"\"", "1", "true", "{}", "[\"public\"]"] {
        assert_eq!(of(value), CacheScope::Private, "{value}");
    }
    assert_eq!(scope(""), CacheScope::Shared);
    let twice = r#","cacheScope":"private","cacheScope":"public""#;
    assert_eq!(scope(twice), CacheScope::Private);
}

/// SPEC 4.3: all pages, each with the cursor of the next; the lists do not mix.
#[test]
fn pages_add_up() {
    let mut catalog = Catalog::default();
    let page =
        |items: Value, cursor: Value| json!({"prompts": items, "nextCursor": cursor}).to_string();
    let mut add =
        |items, cursor| catalog.add_page(ListKind::Prompts, &page(items, cursor)).unwrap().next;
    assert_eq!(add(json!([{"name": "b"}]), json!("2")), Some("2".into()));
    assert_eq!(add(json!([]), json!("3")), Some("3".into()));
    assert_eq!(add(json!([{"name": "a"}]), json!(null)), None);
    assert_eq!(add(json!([]), json!("")), Some(String::new()));
    let resources = json!({"resources": [{"uri": "u:1", "name": "x"}]}).to_string();
    catalog.add_page(ListKind::Resources, &resources).unwrap();
    let templates = json!({"resourceTemplates": [{"uriTemplate": "u:{a}"}]}).to_string();
    catalog.add_page(ListKind::ResourceTemplates, &templates).unwrap();
    catalog.finish();
    assert_eq!(names(&catalog.prompts), ["a", "b"]);
    assert_eq!(names(&catalog.resources), ["u:1"]);
    assert_eq!(names(&catalog.resource_templates), ["u:{a}"]);
    assert_eq!(catalog.tools, []);
}

/// SPEC 4.3: an empty list and a failed one are different things.
#[test]
fn a_result_without_its_list_is_an_error() {
    for (page, list) in [
        ("{}", ListKind::Tools),
        ("{\"prompts\":[]}", ListKind::Tools),
        ("{\"tools\":{}}", ListKind::Tools),
        ("{\"tools\":[]} x", ListKind::Tools),
        ("{\"tools\":[", ListKind::Tools),
        ("[]", ListKind::Tools),
        ("", ListKind::Resources),
        ("{\"resources\":[]}", ListKind::ResourceTemplates),
    ] {
        let mut catalog = Catalog::default();
        let error = catalog.add_page(list, page).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Protocol, "{page}");
        assert_eq!(catalog, Catalog::default(), "{page}");
    }
    // SPEC 18.2: what is `null` is a list with nothing in it, and a cursor may be a number.
    for (page, next) in [
        ("{\"tools\":[]}", None),
        ("{\"tools\":null}", None),
        ("{\"tools\":[],\"nextCursor\":null}", None),
        ("{\"tools\":[],\"nextCursor\":{}}", None),
        ("{\"tools\":[],\"nextCursor\":5}", Some("5")),
    ] {
        let end = Catalog::default().add_page(ListKind::Tools, page).unwrap();
        assert_eq!(end.next.as_deref(), next, "{page}");
    }
}

/// SPEC 4.5, S-38, S-49: one malformed item is skipped and reported, and never loses the others.
#[test]
fn a_malformed_tool_costs_itself_alone() {
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let with = |member: &str| format!(r#"{{"name":"x","inputSchema":{{}},{member}}}"#);
    for (definition, name) in [
        (r#"{"inputSchema":{}}"#.to_owned(), None),
        (r#"{"name":5,"inputSchema":{}}"#.into(), None),
        (r#"{"name":null,"inputSchema":{}}"#.into(), None),
        (r#"{"name":"\ud800","inputSchema":{}}"#.into(), None),
        ("5".into(), None),
        ("null".into(), None),
        ("[{}]".into(), None),
        (format!(r#"{{"name":"x","inputSchema":{{"d":"{}"}}}}"#, "a".repeat(1 << 20)), Some("x")),
        (r#"{"name":"","inputSchema":{}}"#.into(), Some("")),
        (r#"{"name":"a\u001b[2J","inputSchema":{}}"#.into(), Some("a\\u{1b}[2J")),
        (r#"{"name":"a\u202eb","inputSchema":{}}"#.into(), Some("a\\u{202e}b")),
        (r#"{"name":"a\nb","inputSchema":{}}"#.into(), Some("a\\nb")),
        (
            format!(r#"{{"name":"{}","inputSchema":{{}}}}"#, "é".repeat(129)),
            Some(&*(String::from("é").repeat(80) + "…")),
        ),
        (r#"{"name":"x"}"#.into(), Some("x")),
        (r#"{"name":"x","inputSchema":null}"#.into(), Some("x")),
        (r#"{"name":"x","inputSchema":true}"#.into(), Some("x")),
        (with(r#""name":"x""#), Some("x")),
        (with(r#""other":{"a":1,"a":1}"#), Some("x")),
        (with(&format!(r#""other":{}"#, deep(64))), Some("x")),
        (with(&format!(r#""other":{}"#, deep(100_000))), Some("x")),
    ] {
        let mut catalog = Catalog::default();
        let page = format!(r#"{{"tools":[{},{definition},{}]}}"#, tool("before"), tool("zafter"));
        catalog.add_page(ListKind::Tools, &page).unwrap();
        catalog.finish();
        assert_eq!(names(&catalog.tools), ["before", "zafter"], "{definition:.100}");
        let skipped: Vec<_> =
            catalog.skipped.iter().map(|item| (item.list, item.name.as_deref())).collect();
        assert_eq!(skipped, [(ListKind::Tools, name)], "{definition:.100}");
    }
    // SPEC 18.2, 18.3: an empty array where a map belongs, and half a character, are understood;
    // what does not fit costs its member.
    let sound = [
        with(r#""description":5"#),
        with(r#""title":{}"#),
        with(r#""outputSchema":[1]"#),
        with(r#""outputSchema":"text""#),
        with(r#""annotations":"no""#),
        with(&format!(r#""other":{}"#, deep(63))),
        with(r#""title":null"#),
        with(r#""icons":5"#),
        with(r#""outputSchema":[],"annotations":[]"#),
        with(r#""description":"\udc00""#),
        r#"{"name":"x","inputSchema":[ ]}"#.to_owned(),
    ];
    for definition in sound {
        let mut catalog = Catalog::default();
        catalog.add_page(ListKind::Tools, &format!(r#"{{"tools":[{definition}]}}"#)).unwrap();
        assert_eq!(catalog.skipped, [], "{definition:.100}");
    }
}

/// SPEC 4.5, S-14: names that look odd and harm nobody are kept.
#[test]
fn unusual_names_are_kept() {
    let odd = ["__proto__", "constructor", "a b", "ü漢", "a/b.c", "(x)", "*", &"n".repeat(256)];
    let catalog = tools(&odd.map(tool));
    assert_eq!((catalog.tools.len(), catalog.skipped.len()), (odd.len(), 0));
    assert!(odd.iter().all(|name| catalog.tool(name).is_some()));
    assert!(catalog.tool("b").is_none());
}

/// SPEC 4.5: prompts and resources are held to the same rules.
#[test]
fn malformed_prompts_and_resources_are_skipped() {
    for (list, good, bad) in [
        (
            ListKind::Prompts,
            json!({"name": "p", "arguments": {}, "title": 7}),
            json!({"name": 7, "arguments": [{"name": "a"}]}),
        ),
        (ListKind::Resources, json!({"uri": "u:1", "size": 5}), json!({"name": "no uri"})),
        (
            ListKind::Resources,
            json!({"uri": "u:1", "mimeType": ["a/b"], "name": 5, "annotations": "a"}),
            json!({"uri": 2, "name": "two"}),
        ),
        (ListKind::ResourceTemplates, json!({"uriTemplate": "u:{x}"}), json!({"uri": "u:1"})),
        (
            ListKind::Resources,
            json!({"uri": "u:".to_owned() + &"x".repeat(8000)}),
            json!({"uri": "u:\u{0}"}),
        ),
    ] {
        let mut catalog = Catalog::default();
        catalog.add_page(list, &json!({list.member(): [bad, good]}).to_string()).unwrap();
        assert_eq!((catalog.list(list).len(), catalog.skipped.len()), (1, 1), "{bad}");
    }
}

/// SPEC 4.5, 6.6: of two with one name the first stays; only one that differs is reported.
#[test]
fn the_first_of_two_with_one_name_stays() {
    let other = json!({"name": "a", "description": "other", "inputSchema": {}});
    let catalog = tools(&[tool("b"), tool("a"), other, tool("b")]);
    assert_eq!(names(&catalog.tools), ["a", "b"]);
    assert!(catalog.tool("a").unwrap().definition.contains("\"d\""));
    let skipped: Vec<_> =
        catalog.skipped.iter().map(|it| (it.name.as_deref(), &*it.reason)).collect();
    let reasons = ["another tool has this name", "the server lists this tool twice"];
    assert_eq!(skipped, [(Some("a"), reasons[0]), (Some("b"), reasons[1])]);
}

/// S-24, SPEC 18.2: items and reports are bounded, over all pages together; whatever is left out is
/// counted.
#[test]
fn endless_lists_are_cut() {
    let mut catalog = Catalog::default();
    for page in 0..12 {
        let items: Vec<Value> = (0..1_000).map(|item| tool(&format!("t{page}-{item}"))).collect();
        catalog.add_page(ListKind::Tools, &json!({ "tools": items }).to_string()).unwrap();
    }
    assert_eq!(catalog.tools.len(), 10_000);
    assert_eq!((catalog.skipped.len(), catalog.left_out()), (2, 2_000));
    let rubbish = json!({ "prompts": vec![5; 9_000] }).to_string();
    let mut prompts = Catalog::default();
    for left_out in [9_000, 18_000] {
        prompts.add_page(ListKind::Prompts, &rubbish).unwrap();
        assert_eq!(prompts.left_out(), left_out);
    }
    assert_eq!(prompts.skipped.len(), 10_000);
    catalog.take_over(ListKind::Prompts, prompts);
    assert_eq!((catalog.skipped.len(), catalog.left_out()), (10_000, 20_000));
}

/// SPEC 7.6: the digest covers what a model sees, by meaning, and nothing else.
#[test]
fn the_digest_covers_what_a_model_sees() {
    let base = json!({"name": "a", "title": "t", "description": "d", "inputSchema": {"type": "object", "x": 1},
                      "outputSchema": {"y": 1}, "annotations": {"readOnlyHint": true}, "_meta": {"m": 1}});
    let digest = |value: &Value| {
        let catalog = tools(std::slice::from_ref(value));
        assert_eq!(catalog.skipped, []);
        catalog.tools[0].digest
    };
    let first = digest(&base);
    for (pointer, value, counts) in [
        ("/name", json!("b"), true),
        ("/title", json!("t2"), true),
        ("/title", json!(null), true),
        ("/description", json!("d "), true),
        ("/inputSchema/x", json!(2), true),
        ("/inputSchema/x", json!("1"), true),
        ("/outputSchema/y", json!(1.5), true),
        ("/annotations/readOnlyHint", json!(false), true),
        // The host gets members of a wrong type too, so the digest covers them.
        ("/description", json!(7), true),
        ("/annotations", json!("read-only"), true),
        ("/_meta/m", json!(2), false),
    ] {
        let mut changed = base.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        assert_eq!(digest(&changed) != first, counts, "{pointer}");
    }
    let odd = |words: &str| json!({"name": "a", "description": [words], "inputSchema": {}});
    assert_ne!(digest(&odd("one")), digest(&odd("other")));
    let mut reordered = base.clone();
    let schema = reordered["inputSchema"].as_object_mut().unwrap();
    schema.shift_remove("type");
    schema.insert("type".into(), "object".into());
    assert_ne!(reordered.to_string(), base.to_string());
    assert_eq!(digest(&reordered), first);
}

/// SPEC 7.6: a golden digest, since digests outlive the process with the approvals.
#[test]
fn the_form_of_the_digest_is_stable() {
    let digest = tools(&[tool("a")]).tools[0].digest;
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, GOLDEN);
}

/// SHA-256 of `tools` and, for each member there is, NUL, its name, NUL, the length of its
/// canonical text, NUL, that text; computed elsewhere.
const GOLDEN: &str = "8a2e60f0d6e82f537043de57528640cfa09b9628107d0ffac27c947d96e7f3c4";

/// I-28: 8,000 damaged pages never panic, and never lose a sound neighbour silently.
#[test]
fn damaged_pages_never_panic() {
    let sound = json!({"tools": [tool("a"), tool("b")], "nextCursor": "c"}).to_string();
    let letters: Vec<char> = "{}[]\":,\\u1e-\u{0}ax".chars().collect();
    let mut random = Random::new(9);
    for _ in 0..8_000 {
        let mut text: Vec<char> = sound.chars().collect();
        let place = random.below(text.len());
        text[place] = *random.pick(&letters);
        let text: String = text.into_iter().collect();
        let mut catalog = Catalog::default();
        if catalog.add_page(ListKind::Tools, &text).is_ok() {
            assert_eq!(catalog.tools.len() + catalog.skipped.len(), 2, "{text}");
            catalog.finish();
        }
    }
}
