//! Views.

use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::catalog::{ListKind, NameChanges};

fn options(text: &str) -> SessionOptions {
    SessionOptions::from_json(text).unwrap()
}

fn spec(value: serde_json::Value) -> ServerSpec {
    ServerSpec::from_value("s", &value).unwrap()
}

fn catalog(names: &[&str]) -> Catalog {
    let mut catalog = Catalog::default();
    for (list, key) in [
        (ListKind::Tools, "name"),
        (ListKind::Prompts, "name"),
        (ListKind::Resources, "uri"),
        (ListKind::ResourceTemplates, "uriTemplate"),
    ] {
        let of = |name: &&str| match list {
            ListKind::ResourceTemplates => json!({key: format!("{name}{{x}}"), "name": name}),
            _ => json!({key: name, "name": name, "inputSchema": {}}),
        };
        let items: Vec<_> = names.iter().map(of).collect();
        catalog.add_page(list, &json!({ list.member(): items }).to_string()).unwrap();
    }
    catalog.finish();
    catalog
}

fn only(pattern: &str) -> Filter {
    Filter { include: Some(vec![pattern.into()]), exclude: vec![] }
}

fn change(added: &[&str], removed: &[&str], changed: &[&str]) -> NameChanges {
    let [added, removed, changed] = [added, removed, changed]
        .map(|names| names.iter().map(|name| Arc::from(*name)).collect::<Vec<_>>());
    NameChanges::new(added, removed, changed)
}

/// SPEC 6.1: a tool is visible when both the server's configuration and the session admit it.
#[test]
fn both_filters_must_admit() {
    let view = View { by_server: only("a*"), by_session: only("*b"), ..View::default() };
    assert!(view.admits("ab") && !view.admits("a") && !view.admits("b"));
}

/// SPEC 6.1, 6.2: filters of server and session add up, marks of the session replace those of the
/// server.
#[test]
fn the_sessions_word_on_marks_goes_first() {
    let spec = spec(json!({"command": "c", "exclude": ["x"], "trust": true, "always_load": ["a"]}));
    let naming = Arc::default();
    let plain =
        View::new("s", &spec, &options(r#"{"id": "i", "exclude": {"other": ["y"]}}"#), &naming);
    assert_eq!(plain, View::of(&spec));
    assert_eq!(plain.marks("a"), Marks { trust: true, always_load: true });
    assert_eq!(plain.marks("b"), Marks { trust: true, always_load: false });
    let own = options(
        r#"{"id": "i", "exclude": {"s": ["y"]}, "trust": {"s": false}, "always_load": {"s": ["b*"]}}"#,
    );
    let own = View::new("s", &spec, &own, &naming);
    assert!(!own.admits("x") && !own.admits("y") && own.admits("z"));
    assert_eq!(own.marks("a"), Marks::default());
    assert_eq!(own.marks("b1"), Marks { trust: false, always_load: true });
}

/// SPEC 5.2, 11.6: a tool that is not seen is not found, for one of two reasons.
#[test]
fn a_tool_is_found_as_it_is_seen() {
    let (catalog, view) = (catalog(&["a", "b"]), View { by_session: only("a"), ..View::default() });
    assert_eq!(view.tool(&catalog, "a").map(|item| &*item.name), Ok("a"));
    assert_eq!(view.tool(&catalog, "b"), Err(HiddenReason::Filtered));
    assert_eq!(view.tool(&catalog, "c"), Err(HiddenReason::Unknown));
    assert_eq!(
        [HiddenReason::Filtered, HiddenReason::Unknown].map(HiddenReason::as_str),
        ["filtered", "unknown"]
    );
}

/// SPEC 7.4: the news of a change passes both filters of a session.
#[test]
fn a_change_is_told_through_both_filters() {
    let view = View { by_server: only("a*"), by_session: only("*b"), ..View::default() };
    let all = change(&["a", "ab"], &["b"], &["a1b", "c"]);
    let difference =
        CatalogDifference { tools: all.clone(), prompts: all.clone(), resources: all.clone() };
    let some = change(&["ab"], &[], &["a1b"]);
    let told = CatalogDifference { tools: some.clone(), prompts: some, resources: all };
    assert_eq!(view.apply(&difference), told);
    assert_eq!(View::default().apply(&difference), difference);
}

/// SPEC 7.4: what passes the filters of a change is what is different in what is seen.
#[test]
fn a_change_through_a_view_is_the_change_of_what_is_seen() {
    let lists = [catalog(&["a", "ab", "b"]), catalog(&["ab", "c", "cab"])];
    let difference = CatalogDifference::between(&lists[0], &lists[1]);
    for view in [View::default(), View { by_server: only("*b"), trust: true, ..View::default() }] {
        let [before, after] =
            lists.each_ref().map(|catalog| Some(CatalogView { catalog, view: &view }));
        assert_eq!(view.apply(&difference), CatalogView::difference(before, after));
    }
}

/// SPEC 6.5, 6.7: a server that comes or goes brings or takes all that is seen of it.
#[test]
fn a_server_brings_and_takes_what_is_seen() {
    let (catalog, view) = (catalog(&["a", "b"]), View { by_session: only("a"), ..View::default() });
    let shown = Some(CatalogView { catalog: &catalog, view: &view });
    let came = CatalogView::difference(None, shown);
    assert_eq!(came.tools, change(&["a"], &[], &[]));
    assert_eq!(came.prompts, change(&["a"], &[], &[]));
    assert_eq!(came.resources, change(&["a", "a{x}", "b", "b{x}"], &[], &[]));
    let went = CatalogView::difference(shown, None);
    assert_eq!(went.tools, change(&[], &["a"], &[]));
    assert_eq!(went.resources, change(&[], &["a", "a{x}", "b", "b{x}"], &[]));
    assert!(CatalogView::difference(None, None).is_empty());
    assert!(CatalogView::difference(shown, shown).is_empty());
}

/// SPEC 6.3: another filter moves exactly the names that it admits or hides; resources stay.
#[test]
fn another_filter_moves_what_it_decides() {
    let catalog = catalog(&["a", "b", "c"]);
    let without = |name: &str| Filter { include: None, exclude: vec![name.into()] };
    let before = View { by_server: without("c"), ..View::default() };
    let after = View { by_session: without("a"), ..View::default() };
    let shown = |view| Some(CatalogView { catalog: &catalog, view });
    let told = CatalogView::difference(shown(&before), shown(&after));
    let moved = change(&["c"], &["a"], &[]);
    let resources = NameChanges::default();
    assert_eq!(told, CatalogDifference { tools: moved.clone(), prompts: moved, resources });
}

/// SPEC 6.2, 6.3: another mark changes the tools that have it, and nothing else.
#[test]
fn another_mark_changes_tools_alone() {
    let catalog = catalog(&["a", "b"]);
    let plain = View::default();
    let told = |view: &View| {
        let shown = |view| Some(CatalogView { catalog: &catalog, view });
        CatalogView::difference(shown(&plain), shown(view))
    };
    let marked = View { always_load: vec!["a".into()], ..View::default() };
    let trusted = View { trust: true, ..View::default() };
    let tools = |changed: &[&str]| CatalogDifference {
        tools: change(&[], &[], changed),
        ..CatalogDifference::default()
    };
    assert_eq!(told(&marked), tools(&["a"]));
    assert_eq!(told(&trusted), tools(&["a", "b"]));
}

/// SPEC 7.4: another definition is a change, also where a session sees it through another view.
#[test]
fn another_definition_is_a_change() {
    let (before, mut after) = (catalog(&["a", "b"]), catalog(&["a", "b"]));
    for items in [&mut after.tools, &mut after.prompts, &mut after.resources] {
        items[1].digest = [0; 32];
    }
    after.resource_templates[0].digest = [0; 32];
    let view = View::default();
    let shown = |catalog| Some(CatalogView { catalog, view: &view });
    let told = CatalogView::difference(shown(&before), shown(&after));
    let changed = change(&[], &[], &["b"]);
    let resources = change(&[], &[], &["a{x}", "b"]);
    assert_eq!(told, CatalogDifference { tools: changed.clone(), prompts: changed, resources });
}
