//! Differences and views.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::json;

use super::super::*;
use super::{tool, tools};
use crate::base::random::Random;

fn filter(include: Option<&[&str]>, exclude: &[&str]) -> Filter {
    let owned = |patterns: &[&str]| patterns.iter().map(|p| p.to_string()).collect::<Vec<_>>();
    Filter { include: include.map(owned), exclude: owned(exclude) }
}

/// SPEC 6.1: absent includes everything, empty nothing; exclude wins; patterns work.
#[test]
fn filters_decide_by_name() {
    for (filter, admitted) in [
        (filter(None, &[]), "echo add sleep echo_2"),
        (filter(Some(&[]), &[]), ""),
        (filter(Some(&["echo"]), &[]), "echo"),
        (filter(Some(&["echo*"]), &[]), "echo echo_2"),
        (filter(Some(&["echo", "a?d"]), &[]), "echo add"),
        (filter(Some(&["*"]), &["echo*"]), "add sleep"),
        (filter(Some(&["echo"]), &["echo"]), ""),
        (filter(None, &["*"]), ""),
        (filter(Some(&["ECHO"]), &[]), ""),
        (filter(Some(&["ech"]), &[]), ""),
    ] {
        let names = ["echo", "add", "sleep", "echo_2"];
        let found: Vec<&str> = names.into_iter().filter(|name| filter.admits(name)).collect();
        assert_eq!(found.join(" "), admitted, "{filter:?}");
    }
}

/// SPEC 6.1: an include entry's parenthesised suffix is dropped; only a whole one, and only there.
#[test]
fn a_parenthesised_suffix_is_dropped() {
    assert!(filter(Some(&["run(git *)"]), &[]).admits("run"));
    assert!(filter(Some(&["r*(x)"]), &[]).admits("run"));
    assert!(filter(Some(&["run()"]), &[]).admits("run"));
    assert!(!filter(Some(&["run(x"]), &[]).admits("run"));
    assert!(!filter(Some(&["run(x)y"]), &[]).admits("run"));
    assert!(filter(None, &["run(x)"]).admits("run"));
    assert!(!filter(None, &["run(x)"]).admits("run(x)"));
}

/// SPEC 7.4: the text of a change has its names as JSON.
#[test]
fn a_change_has_a_text() {
    let names = |names: &[&str]| names.iter().map(|name| Arc::from(*name)).collect::<Vec<_>>();
    let change = NameChanges::new(names(&["a", "b\"\n"]), names(&[]), names(&["é"]));
    assert_eq!(change.members(), r#""added":["a","b\"\n"],"removed":[],"changed":["é"]"#);
}

/// SPEC 6.1, 7.4: tools and prompts of a difference are filtered, resources are not.
#[test]
fn a_session_is_told_of_what_it_sees() {
    let names = |names: &[&str]| names.iter().map(|name| Arc::from(*name)).collect::<Vec<_>>();
    let change = |added: &[&str], removed: &[&str], changed: &[&str]| {
        NameChanges::new(names(added), names(removed), names(changed))
    };
    let whole = change(&["a", "b"], &["c", "d"], &["e", "a2"]);
    let difference = CatalogDifference {
        tools: whole.clone(),
        prompts: whole.clone(),
        resources: whole.clone(),
    };
    let seen = |filter: &Filter| difference.seen_by(|name| filter.admits(name));
    let some_seen = seen(&filter(Some(&["a*", "c"]), &["a2"]));
    let some = change(&["a"], &["c"], &[]);
    assert_eq!(
        some_seen,
        CatalogDifference { tools: some.clone(), prompts: some, resources: whole }
    );
    assert_eq!(seen(&filter(None, &[])), difference);
    assert!(CatalogDifference::default().seen_by(|_| false).is_empty());
}

/// SPEC 6.6: a view keeps the order of the catalog, which is by name.
#[test]
fn views_are_in_the_order_of_names() {
    let catalog = tools(&["b", "B", "a", "_", "ä", "a1"].map(tool));
    let names: Vec<&str> = catalog.tools.iter().map(|item| &*item.name).collect();
    assert_eq!(names, ["B", "_", "a", "a1", "b", "ä"]);
    let filter = filter(Some(&["a*", "b"]), &[]);
    let names = names.into_iter();
    let view: Vec<&str> = names.filter(|name| filter.admits(name)).collect();
    assert_eq!(view, ["a", "a1", "b"]);
}

/// SPEC 7.4: resources and templates are told of together, each name once.
#[test]
fn resources_and_templates_are_one_change() {
    let mut before = Catalog::default();
    let page = json!({"resources": [{"uri": "u:1"}, {"uri": "u:2"}]}).to_string();
    before.add_page(ListKind::Resources, &page).unwrap();
    before.finish();
    let mut after = Catalog::default();
    let page = json!({"resources": [{"uri": "u:2", "title": "t"}]}).to_string();
    after.add_page(ListKind::Resources, &page).unwrap();
    let page = json!({"resourceTemplates": [{"uriTemplate": "u:{x}"}, {"uriTemplate": "a:{x}"}]});
    after.add_page(ListKind::ResourceTemplates, &page.to_string()).unwrap();
    after.finish();
    let difference = CatalogDifference::between(&before, &after);
    assert_eq!(difference.resources.added, ["a:{x}".into(), "u:{x}".into()]);
    assert_eq!(difference.resources.removed, ["u:1".into()]);
    assert_eq!(difference.resources.changed, ["u:2".into()]);
    assert!(difference.tools.is_empty() && !difference.is_empty());
}

/// SPEC 7.6: of the tools that came, those that once had another definition are changed as well,
/// wherever they stand in the list.
#[test]
fn a_tool_that_came_back_as_another_is_changed_too() {
    let named = |name: &str| json!({"name": name, "inputSchema": {}});
    let (before, after) = (tools(&[named("m")]), tools(&["z", "m", "a", "k"].map(named)));
    let renewed = ["z", "a", "m", "gone"].map(Arc::from);
    let difference = CatalogDifference::between(&before, &after).with_renewed(&renewed);
    assert_eq!(difference.tools.added, ["a".into(), "k".into(), "z".into()]);
    assert_eq!(difference.tools.changed, ["a".into(), "z".into()]);
}

/// SPEC 7.3, 7.4: 1,000 pairs of generated lists, against sets.
#[test]
fn differences_agree_with_sets() {
    let mut random = Random::new(13);
    let letters: Vec<char> = "abc_".chars().collect();
    let list = |random: &mut Random| {
        let names: BTreeMap<String, usize> = (0..random.below(12))
            .map(|_| (random.word(&letters, 2) + "x", random.below(2)))
            .collect();
        let mut definitions: Vec<_> = names
            .iter()
            .map(|(name, version)| json!({"name": name, "inputSchema": {"v": version}}))
            .collect();
        random.shuffle(&mut definitions);
        (names, tools(&definitions))
    };
    for _ in 0..1_000 {
        let (old, before) = list(&mut random);
        let (new, after) = list(&mut random);
        let change = CatalogDifference::between(&before, &after).tools;
        let set = |names: &[Arc<str>]| {
            assert!(names.is_sorted());
            names.iter().map(|name| name.to_string()).collect::<BTreeSet<_>>()
        };
        let minus = |a: &BTreeMap<String, usize>, b: &BTreeMap<String, usize>| {
            a.keys().filter(|name| !b.contains_key(*name)).cloned().collect::<BTreeSet<_>>()
        };
        assert_eq!(set(&change.added), minus(&new, &old));
        assert_eq!(set(&change.removed), minus(&old, &new));
        let both =
            old.iter().filter(|(name, version)| new.get(*name).is_some_and(|now| now != *version));
        assert_eq!(set(&change.changed), both.map(|(name, _)| name.clone()).collect());
        assert_eq!(change.is_empty(), old == new);
    }
}
