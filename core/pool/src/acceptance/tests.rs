//! What is accepted, what is held back, and what is shown of it.

use std::sync::Arc;

use serde_json::{Value, json};

use super::excerpt::excerpts;
use super::known::DEFINITION_BYTES_MAX;
use super::*;
use crate::approvals::{Decision, Standing};
use crate::base::text::hex;
use crate::catalog::ListKind;
use crate::config::ServerSpec;
use OnToolChange::{Notify, Quarantine};

/// One whose changed tools are held back.
fn configuration(number: u32) -> Configuration {
    under(Quarantine, number)
}

fn under(on_tool_change: OnToolChange, number: u32) -> Configuration {
    let spec = ServerSpec::from_value("s", &json!({ "command": number.to_string() })).unwrap();
    let fingerprint = spec.fingerprint("pool", &[]);
    Configuration { server: ServerId(0), fingerprint, on_tool_change }
}

fn listed(tools: &[(&str, &str)]) -> Arc<Catalog> {
    let tools: Vec<Value> = tools
        .iter()
        .map(|(name, description)| json!({ "name": name, "description": description, "inputSchema": {} }))
        .collect();
    of(&tools)
}

fn of(tools: &[Value]) -> Arc<Catalog> {
    let mut catalog = Catalog::default();
    catalog.add_page(ListKind::Tools, &json!({ "tools": tools }).to_string()).unwrap();
    catalog.finish();
    Arc::new(catalog)
}

fn names(judged: &Judged) -> (Vec<&str>, Vec<&str>, Vec<&str>) {
    let usable = judged.usable.tools.iter().map(|item| &*item.name).collect();
    let held = judged.held.tools().iter().map(|tool| &*tool.item.name).collect();
    (usable, held, judged.renewed.iter().map(|name| &**name).collect())
}

/// SPEC 7.6
#[test]
fn what_is_seen_for_the_first_time_is_accepted() {
    let mut accepted = Accepted::default();
    let lists = listed(&[("a", "1"), ("b", "1")]);
    let judged = accepted.judge(configuration(0), lists.clone());
    assert_eq!(names(&judged), (vec!["a", "b"], vec![], vec![]));
    assert!(Arc::ptr_eq(&judged.usable, &lists));
    let judged = accepted.judge(configuration(0), listed(&[("a", "1"), ("c", "1")]));
    assert_eq!(names(&judged), (vec!["a", "c"], vec![], vec![]));
}

/// SPEC 7.6, S-41
#[test]
fn another_definition_is_held_back_until_it_is_accepted() {
    let mut accepted = Accepted::default();
    accepted.judge(configuration(0), listed(&[("a", "1"), ("b", "1")]));
    let changed = listed(&[("a", "2"), ("b", "1")]);
    for _ in 0..2 {
        let judged = accepted.judge(configuration(0), changed.clone());
        assert_eq!(names(&judged), (vec!["b"], vec!["a"], vec![]));
    }
    assert_eq!(accepted.accept(configuration(0), changed.tool("a").unwrap()), Ok(()));
    let judged = accepted.judge(configuration(0), changed);
    assert_eq!(names(&judged), (vec!["a", "b"], vec![], vec![]));
    let judged = accepted.judge(configuration(0), listed(&[("a", "1")]));
    assert_eq!(names(&judged), (vec![], vec!["a"], vec![]));
}

/// SPEC 7.6: a name that returns with another digest is a change; one that returns to the accepted
/// one is none.
#[test]
fn a_name_is_remembered_while_it_is_not_listed() {
    for (policy, expected) in
        [(Quarantine, (vec![], vec!["a"], vec![])), (Notify, (vec!["a"], vec![], vec!["a"]))]
    {
        let mut accepted = Accepted::default();
        accepted.judge(under(policy, 0), listed(&[("a", "1")]));
        accepted.judge(under(policy, 0), listed(&[]));
        let judged = accepted.judge(under(policy, 0), listed(&[("a", "1")]));
        assert_eq!(names(&judged), (vec!["a"], vec![], vec![]));
        accepted.judge(under(policy, 0), listed(&[]));
        let judged = accepted.judge(under(policy, 0), listed(&[("a", "2")]));
        assert_eq!(names(&judged), expected);
    }
}

/// SPEC 7.6, 2.3: what one configuration listed says nothing of another.
#[test]
fn configurations_are_apart_and_the_oldest_is_forgotten() {
    let mut accepted = Accepted::default();
    let count = CONFIGURATIONS_MAX as u32;
    for number in 0..count {
        accepted.judge(configuration(number), listed(&[("a", &number.to_string())]));
    }
    let judged = accepted.judge(configuration(0), listed(&[("a", "new")]));
    assert_eq!(names(&judged).1, ["a"]);
    // One more takes the place of the one that was judged longest ago.
    accepted.judge(configuration(count), listed(&[("a", "x")]));
    assert_eq!(accepted.configurations.len(), CONFIGURATIONS_MAX);
    let judged = accepted.judge(configuration(0), listed(&[("a", "new")]));
    assert_eq!(names(&judged).1, ["a"]);
    let judged = accepted.judge(configuration(1), listed(&[("a", "new")]));
    assert_eq!(names(&judged), (vec!["a"], vec![], vec![]));
}

/// SPEC 7.6, S-41: what is held back of an entry stays so, however many configurations come;
/// without room a newcomer's tools are.
#[test]
fn a_configuration_that_an_entry_has_is_not_forgotten() {
    let mut accepted = Accepted::default();
    let count = CONFIGURATIONS_MAX as u32;
    for number in 0..count {
        accepted.enter(configuration(number));
        accepted.judge(configuration(number), listed(&[("a", "1")]));
    }
    let changed = listed(&[("a", "2")]);
    let newcomer = accepted.judge(configuration(count), changed.clone());
    assert_eq!(names(&newcomer), (vec![], vec!["a"], vec![]));
    // Nor is what was kept of it shown while it sleeps.
    assert_eq!(accepted.usable(configuration(count), changed.clone()).tools.len(), 0);
    assert_eq!(accepted.usable(under(Notify, count), changed.clone()).tools.len(), 1);
    assert_eq!(accepted.accept(configuration(count), &changed.tools[0]), Err(NoRoom));
    let newcomer = accepted.judge(under(Notify, count), changed.clone());
    assert_eq!(names(&newcomer), (vec!["a"], vec![], vec![]));
    let oldest = accepted.judge(configuration(0), changed.clone());
    assert_eq!(names(&oldest).1, ["a"]);
    // A configuration is forgotten when the last of its entries is gone, and then only for the
    // room.
    accepted.enter(configuration(7));
    accepted.leave(configuration(7));
    let newcomer = accepted.judge(configuration(count), changed.clone());
    assert_eq!(names(&newcomer).1, ["a"]);
    accepted.leave(configuration(7));
    let known = accepted.judge(configuration(7), changed.clone());
    assert_eq!(names(&known).1, ["a"]);
    let newcomer = accepted.judge(configuration(count), changed.clone());
    assert_eq!(names(&newcomer).0, ["a"]);
    assert!(!accepted.configurations.contains_key(&configuration(7)));
}

/// A tool of a server that has very many.
fn numbered(number: usize) -> Item {
    Item { name: format!("{number:05}").into(), definition: "{}".into(), digest: [1; 32] }
}

/// SPEC 7.6: names beyond the bound cannot push others out of memory.
#[test]
fn a_name_that_cannot_be_remembered_is_held_back() {
    let mut accepted = Accepted::default();
    let full = Catalog { tools: (0..NAMES_MAX).map(numbered).collect(), ..Catalog::default() };
    accepted.judge(under(Notify, 0), Arc::new(full.clone()));
    let judged = accepted.judge(configuration(0), Arc::new(full));
    assert!(judged.held.tools().is_empty());
    let one_more = Catalog { tools: vec![numbered(0), numbered(NAMES_MAX)], ..Catalog::default() };
    let judged = accepted.judge(configuration(0), Arc::new(one_more.clone()));
    assert_eq!(names(&judged), (vec!["00000"], vec!["20000"], vec![]));
    assert_eq!(judged.held.tools()[0].difference(), &json!({ "to": "01".repeat(32) }));
    let usable = accepted.usable(configuration(0), Arc::new(one_more.clone()));
    assert_eq!(usable.tools.iter().map(|item| &*item.name).collect::<Vec<_>>(), ["00000"]);
    assert_eq!(accepted.accept(configuration(0), &numbered(NAMES_MAX)), Err(NoRoom));
    assert_eq!(accepted.accept(configuration(0), &numbered(0)), Ok(()));
    let judged = accepted.judge(under(Notify, 0), Arc::new(one_more));
    assert_eq!(names(&judged), (vec!["00000", "20000"], vec![], vec![]));
}

/// SPEC 7.6: of what nobody lists now, as many new names may be used as could be remembered.
#[test]
fn what_is_asleep_has_no_more_room_than_what_is_listed() {
    let mut accepted = Accepted::default();
    let lists = |tools| Arc::new(Catalog { tools, ..Catalog::default() });
    accepted.judge(configuration(0), lists((0..NAMES_MAX - 1).map(numbered).collect()));
    let new = lists((0..3).map(|number| numbered(NAMES_MAX + number)).collect());
    assert_eq!(accepted.usable(configuration(0), new.clone()).tools.len(), 1);
    assert_eq!(accepted.judge(configuration(0), new).usable.tools.len(), 1);
    let one_too_many = lists((0..=NAMES_MAX).map(numbered).collect());
    assert_eq!(accepted.usable(configuration(1), one_too_many).tools.len(), NAMES_MAX);
}

/// SPEC 7.6: the texts that are kept are bounded; without one, digests alone are shown.
#[test]
fn definitions_are_kept_as_far_as_there_is_room() {
    let mut accepted = Accepted::default();
    let item = |name: &str, bytes: usize, digest| Item {
        name: name.into(),
        definition: " ".repeat(bytes).into(),
        digest: [digest; 32],
    };
    let lists = |tools| Arc::new(Catalog { tools, ..Catalog::default() });
    let half = DEFINITION_BYTES_MAX / 2;
    let first = vec![item("a", half, 1), item("b", half, 1), item("c", 1, 1)];
    accepted.judge(configuration(0), lists(first));
    let changed = vec![item("a", 1, 2), item("b", 1, 2), item("c", 1, 2)];
    let judged = accepted.judge(configuration(0), lists(changed.clone()));
    let kept = |judged: &Judged| -> Vec<bool> {
        let tools = judged.held.tools().iter();
        tools.map(|tool| tool.accepted.as_ref().is_some_and(|known| known.text.is_some())).collect()
    };
    assert_eq!(kept(&judged), [true, true, false]);
    // What is replaced gives its room back.
    accepted.accept(configuration(0), &changed[0]).unwrap();
    accepted.accept(configuration(0), &changed[2]).unwrap();
    let again = vec![item("a", 1, 3), item("b", 1, 3), item("c", 1, 3)];
    let judged = accepted.judge(configuration(0), lists(again));
    assert_eq!(kept(&judged), [true, true, true]);
    // It gives back no more than it had: `b`, and one byte each of `a` and `c`, are there still.
    for digest in [1, 2] {
        let last = vec![item("d", half - 2, digest), item("e", 1, digest)];
        let judged = accepted.judge(configuration(0), lists(last));
        assert_eq!(kept(&judged), if digest == 1 { vec![] } else { vec![true, false] });
    }
    // Of what is only told of, nothing is.
    accepted.judge(under(Notify, 0), lists(vec![item("a", 1, 1)]));
    assert_eq!(accepted.configurations[&under(Notify, 0)].tools["a"].text, None);
}

/// SPEC 7.6, S-40, S-41, S-49: what a model sees and what changed of it, escaped.
#[test]
fn a_difference_shows_the_members_that_changed() {
    let before = json!({ "name": "a", "title": "A", "description": "ok", "inputSchema": {"b": 1, "a": 2}, "_meta": 1 });
    let after = json!({ "name": "a", "description": "o\u{200b}k", "inputSchema": {"a": 2, "b": 1},
                        "outputSchema": {"type": "object"}, "annotations": null, "_meta": 2 });
    let (before, after) = (of(&[before]), of(&[after]));
    let mut accepted = Accepted::default();
    accepted.judge(configuration(0), before.clone());
    let judged = accepted.judge(configuration(0), after.clone());
    let (from, to) = (hex(&before.tools[0].digest), hex(&after.tools[0].digest));
    assert_eq!(
        judged.held.tool("a").unwrap().difference(),
        &json!({ "from": from, "to": to, "fields": {
            "title": { "from": "A" },
            "description": { "from": "ok", "to": "o\\u{200b}k" },
            "outputSchema": { "to": "{\"type\":\"object\"}" },
        } })
    );
    assert_eq!(judged.held.tool("b"), None);
}

/// SPEC 7.6: a difference is seen wherever it begins, and a text of any length is cut.
#[test]
fn an_excerpt_begins_shortly_before_the_first_difference() {
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(excerpts(text("abc"), text("abd")), (text("abc"), text("abd")));
    assert_eq!(excerpts(None, text("new")), (None, text("new")));
    let lead = "x".repeat(60);
    let old = format!("{}{lead}1", "p".repeat(1000));
    let new = format!("{}{lead}2{}", "p".repeat(1000), "y".repeat(1000));
    let expected = format!("…{lead}2{}…", "y".repeat(539));
    assert_eq!(excerpts(Some(old), Some(new)), (Some(format!("…{lead}1")), Some(expected)));
    let whole = "z".repeat(600);
    assert_eq!(excerpts(None, Some(whole.clone())), (None, Some(whole)));
}

/// SPEC 7.6: sessions are told of each definition once.
#[test]
fn what_is_newly_held_back_is_told_from_what_was() {
    let mut accepted = Accepted::default();
    accepted.judge(configuration(0), listed(&[("a", "1"), ("b", "1")]));
    let mut held = |tools: &[(&str, &str)]| accepted.judge(configuration(0), listed(tools)).held;
    let first = held(&[("a", "2"), ("b", "1")]);
    let second = held(&[("a", "2"), ("b", "2")]);
    let third = held(&[("a", "3"), ("b", "2")]);
    let names = |held: &QuarantinedTools| -> Vec<String> {
        held.tools().iter().map(|tool| tool.item.name.to_string()).collect()
    };
    assert_eq!(names(&second.since(&first)), ["b"]);
    assert_eq!(names(&third.since(&second)), ["a"]);
    assert_eq!(names(&third.since(&third)), [""; 0]);
    assert_eq!(names(&third.without("a")), ["b"]);
    assert!(third.is_same(&third.clone()) && !third.is_same(&second));
    assert!(QuarantinedTools::default().is_same(&third.without("a").without("b")));
    assert!(
        !QuarantinedTools::default().is_same(&third)
            && !third.is_same(&QuarantinedTools::default())
    );
    assert_ne!(third, second);
}

/// An approval, the number of its decision.
fn approval(serial: u64) -> Standing {
    Standing { decision: Decision::Approved, at_ms: 0, serial }
}

fn approved(serial: u64, tools: &Catalog) -> Recalled {
    let tools = tools.tools.iter().map(|item| (item.name.clone(), item.digest)).collect();
    Recalled::Approved { by: approval(serial), tools: Arc::new(tools) }
}

/// SPEC 7.6: digests that stayed with an approval hold back what changed since; without a text,
/// there is a difference without texts.
#[test]
fn what_an_approval_accepted_before_is_known() {
    let mut accepted = Accepted::default();
    let before = listed(&[("a", "1"), ("b", "1")]);
    accepted.recall(configuration(0), &approved(1, &before));
    let judged = accepted.judge(configuration(0), listed(&[("a", "2"), ("b", "1"), ("c", "1")]));
    assert_eq!(names(&judged), (vec!["b", "c"], vec!["a"], vec![]));
    assert!(judged.learned);
    let changed = judged.held.tool("a").unwrap().difference().clone();
    assert_eq!(changed["from"], hex(&before.tool("a").unwrap().digest));
    assert!(changed.get("fields").is_none());
    assert_eq!(accepted.digests(configuration(0)).len(), 3);
    // The text of what was seen since is known.
    let judged = accepted.judge(configuration(0), listed(&[("b", "2")]));
    assert_eq!(judged.held.tools()[0].difference()["fields"]["description"]["from"], "1");
    assert!(!judged.learned);
}

/// SPEC 7.6, 12.4: what an approval accepted goes with it; what this pool accepted by the same one
/// stays.
#[test]
fn another_approval_accepts_anew() {
    let mut accepted = Accepted::default();
    accepted.recall(configuration(0), &approved(1, &listed(&[])));
    accepted.judge(configuration(0), listed(&[("a", "1")]));
    accepted.recall(configuration(0), &approved(1, &listed(&[("a", "0"), ("b", "0")])));
    let judged = accepted.judge(configuration(0), listed(&[("a", "1"), ("b", "1")]));
    assert_eq!(names(&judged), (vec!["a"], vec!["b"], vec![]));
    accepted.recall(configuration(0), &approved(2, &listed(&[])));
    assert_eq!(accepted.held(configuration(0)), QuarantinedTools::default());
    let judged = accepted.judge(configuration(0), listed(&[("a", "2"), ("b", "1")]));
    assert_eq!(names(&judged), (vec!["a", "b"], vec![], vec![]));
}

/// SPEC 7.6, 14.2, S-41: what sessions were shown of a server that did not run is what its live
/// lists are held against.
#[test]
fn lists_that_were_shown_are_accepted() {
    let mut accepted = Accepted::default();
    let shown = Recalled::Shown(listed(&[("a", "1"), ("b", "1")]));
    accepted.recall(configuration(0), &approved(1, &listed(&[("b", "0")])));
    accepted.recall(configuration(0), &shown);
    accepted.recall(under(Notify, 0), &shown);
    let lists = listed(&[("a", "2"), ("b", "0")]);
    let judged = accepted.judge(configuration(0), lists.clone());
    assert_eq!(names(&judged), (vec!["b"], vec!["a"], vec![]));
    let fields = &judged.held.tools()[0].difference()["fields"];
    assert_eq!(fields["description"], json!({ "from": "1", "to": "2" }));
    let judged = accepted.judge(under(Notify, 0), lists);
    assert_eq!(names(&judged), (vec!["a", "b"], vec![], vec![]));
}

/// SPEC 7.6: where it is only told of what changed, that accepts nothing for others.
#[test]
fn what_is_only_told_of_is_accepted_for_nobody_else() {
    let mut accepted = Accepted::default();
    for configuration in [configuration(0), under(Notify, 0)] {
        accepted.judge(configuration, listed(&[("a", "1")]));
    }
    let judged = accepted.judge(under(Notify, 0), listed(&[("a", "2")]));
    assert_eq!(names(&judged), (vec!["a"], vec![], vec!["a"]));
    let judged = accepted.judge(configuration(0), listed(&[("a", "2")]));
    assert_eq!(names(&judged).1, ["a"]);
}

/// SPEC 7.6: what is held back is remembered with the configuration, until it is accepted or
/// another list is judged.
#[test]
fn what_is_held_back_is_remembered() {
    let mut accepted = Accepted::default();
    let (server, other) = (ServerId(0), ServerId(1));
    accepted.judge(configuration(0), listed(&[("a", "1"), ("b", "1")]));
    let changed = listed(&[("a", "2"), ("b", "2")]);
    let judged = accepted.judge(configuration(0), changed.clone());
    assert_eq!(accepted.held_of(server), judged.held);
    assert_eq!(accepted.held_of(other), QuarantinedTools::default());
    let item = changed.tool("a").unwrap().clone();
    let held = vec![(configuration(0), Remembered::Held(item.clone()))];
    assert_eq!(accepted.remembered(server, "a"), held);
    accepted.accept(configuration(0), &item).unwrap();
    let now = vec![(configuration(0), Remembered::Accepted(item.digest))];
    assert_eq!(accepted.remembered(server, "a"), now);
    assert_eq!(accepted.remembered(server, "x"), [(configuration(0), Remembered::Nothing)]);
    assert_eq!(accepted.held(configuration(0)), judged.held.without("a"));
    accepted.judge(configuration(1), listed(&[("a", "1")]));
    assert_eq!(accepted.held_of(server), QuarantinedTools::default());
}
