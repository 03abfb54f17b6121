//! Plans.

use serde_json::{Value, json};

use super::*;
use crate::base::random::Random;
use crate::config::ServerSpec;
use crate::options::SessionOptions;

/// One server as somebody wrote it, and as it was asked for.
#[derive(Clone, Debug)]
struct Written {
    spec: ServerSpec,
    options: SessionOptions,
    share: Share,
    warrant: Option<WarrantId>,
    shuts: Shuts,
    lazy: bool,
}

type State = BTreeMap<String, Written>;

fn written(value: Value) -> Written {
    let spec = ServerSpec::from_value("s", &value).unwrap();
    let (options, shuts) = (SessionOptions::new("a"), Shuts::default());
    Written { spec, options, share: Share::Pool, warrant: None, shuts, lazy: false }
}

fn command(number: u64) -> Written {
    written(json!({ "command": format!("c{number}") }))
}

impl Written {
    fn holding<'a>(&'a self, server: &'a str) -> Holding<'a> {
        let fingerprint = self.spec.fingerprint("", &[]);
        let connection = Connection { fingerprint, share: self.share, warrant: self.warrant };
        let viewed = Viewed { server, spec: &self.spec, options: &self.options };
        Holding { connection, shuts: self.shuts, lazy: self.lazy, viewed }
    }
}

fn holdings(state: &State) -> BTreeMap<&str, Holding<'_>> {
    state.iter().map(|(name, written)| (&**name, written.holding(name))).collect()
}

/// The word for what one server is after a change.
fn between(old: &Written, new: &Written) -> &'static str {
    let (current, desired) = (old.holding("s"), new.holding("s"));
    let (current, desired) = (BTreeMap::from([("s", current)]), BTreeMap::from([("s", desired)]));
    let plan = plan(&current, &desired);
    let lists = [
        ("unchanged", &plan.unchanged),
        ("reviewed", &plan.reviewed),
        ("replaced", &plan.replaced),
        ("added", &plan.added),
        ("removed", &plan.removed),
    ];
    let mut found = lists.into_iter().filter(|(_, names)| **names == ["s"]);
    let (word, _) = found.next().unwrap();
    assert_eq!(found.next(), None, "in one list only");
    word
}

/// SPEC 13.1: one server of each kind of difference, and in which order they are carried out.
#[test]
fn each_difference_has_its_list() {
    let current = ["gone", "new key", "own", "same", "view"];
    let current = State::from(current.map(|name| (name.to_string(), command(1))));
    let viewed = written(json!({ "command": "c1", "trust": true }));
    let own = Written { share: Share::Session, ..command(1) };
    let desired = [
        ("added", command(1)),
        ("new key", command(2)),
        ("own", own),
        ("same", command(1)),
        ("view", viewed),
    ];
    let desired = State::from(desired.map(|(name, written)| (name.to_string(), written)));
    let (current, desired) = (holdings(&current), holdings(&desired));
    let plan = plan(&current, &desired);
    let expected = Plan {
        added: vec!["added"],
        removed: vec!["gone"],
        replaced: vec!["new key", "own"],
        reviewed: vec!["view"],
        unchanged: vec!["same"],
    };
    assert_eq!(plan, expected);
    assert_eq!(plan.ends(), ["gone", "new key", "own"]);
    assert_eq!(plan.begins(), ["added", "new key", "own"]);
}

/// SPEC 13.3, 6.3: of the configuration, what a session sees is compared as it is written, and a
/// description is not.
#[test]
fn only_what_a_session_sees_is_reviewed() {
    let bare = written(json!({"command": "c"}));
    for (value, list) in [
        (json!({"command": "c", "exclude": [], "args": [], "env": {}}), "unchanged"),
        (json!({"command": "c", "description": "d", "connect_timeout_ms": 500}), "unchanged"),
        (json!({"command": "c", "include": []}), "reviewed"),
        (json!({"command": "c", "include": ["*"]}), "reviewed"),
        (json!({"command": "c", "exclude": ["x"]}), "reviewed"),
        (json!({"command": "c", "trust": true}), "reviewed"),
        (json!({"command": "c", "always_load": ["x"]}), "reviewed"),
        (json!({"command": "c", "timeout": 5}), "replaced"),
        (json!({"command": "c", "args": ["x"], "trust": true}), "replaced"),
    ] {
        assert_eq!(between(&bare, &written(value.clone())), list, "{value}");
    }
}

/// SPEC 6.2, 6.3: what a session's options state of that server is part of what it sees, and
/// nothing else of them.
#[test]
fn options_of_the_session_review_the_servers_that_they_name() {
    let bare = written(json!({"command": "c", "trust": true}));
    for (options, list) in [
        (json!({}), "unchanged"),
        (json!({ "trust": { "other": false } }), "unchanged"),
        (json!({ "trust": { "s": true } }), "unchanged"),
        (json!({ "trust": { "s": false } }), "reviewed"),
        (json!({ "exclude": { "s": ["x"] } }), "reviewed"),
        (json!({ "always_load": { "s": ["x"] } }), "reviewed"),
    ] {
        let mut whole = options.clone();
        whole["id"] = "a".into();
        let new = SessionOptions::from_json(&whole.to_string()).unwrap();
        assert_eq!(between(&bare, &Written { options: new, ..bare.clone() }), list, "{options}");
    }
}

/// SPEC 11.5, 12, 14.2: what a gate has ended, what runs by another decision, and what is to run
/// otherwise is wanted anew. How little of its configuration changed does not matter.
#[test]
fn what_was_asked_for_in_another_way_is_replaced() {
    let bare = command(1);
    let by = |warrant| Written { warrant: Some(WarrantId(warrant)), ..bare.clone() };
    let shut = |name, warrant| Written { shuts: Shuts { name, warrant }, ..bare.clone() };
    assert_eq!(between(&bare, &by(1)), "replaced");
    assert_eq!(between(&by(1), &by(2)), "replaced");
    assert_eq!(between(&by(1), &by(1)), "unchanged");
    assert_eq!(between(&bare, &shut(1, 0)), "replaced");
    assert_eq!(between(&bare, &shut(0, 1)), "replaced");
    assert_eq!(between(&bare, &Written { lazy: true, ..bare.clone() }), "replaced");
}

/// SPEC 13.1, 13.2, I-11: 5,000 generated pairs: every name is in exactly one list, applying the
/// plan gives the desired state, and planning again finds nothing to do.
#[test]
fn plans_are_complete_and_idempotent() {
    let mut random = Random::new(23);
    let specs: Vec<Written> = (0..3)
        .flat_map(|number| {
            let viewed = json!({ "command": format!("c{number}"), "trust": true });
            [command(number), written(viewed)]
        })
        .collect();
    let generate = |random: &mut Random| -> State {
        let mut state = State::new();
        for _ in 0..random.below(8) {
            let mut one = random.pick(&specs).clone();
            one.share = if random.one_in(3) { Share::Session } else { Share::Pool };
            one.warrant = random.one_in(4).then(|| WarrantId(random.below(2)));
            one.shuts.name = random.one_in(4).into();
            one.lazy = random.one_in(4);
            state.insert(format!("s{}", random.below(8)), one);
        }
        state
    };
    for _ in 0..5_000 {
        let (current, desired) = (generate(&mut random), generate(&mut random));
        let (current, desired) = (holdings(&current), holdings(&desired));
        let first = plan(&current, &desired);
        let lists =
            [&first.added, &first.removed, &first.replaced, &first.reviewed, &first.unchanged];
        assert!(lists.iter().all(|names| names.is_sorted()));
        let mut all: Vec<&str> = lists.into_iter().flatten().copied().collect();
        all.sort();
        let mut names: Vec<&str> = current.keys().chain(desired.keys()).copied().collect();
        names.sort();
        names.dedup();
        assert_eq!(all, names);
        let mut applied = current.clone();
        applied.retain(|name, _| !first.ends().contains(name));
        for name in first.begins().iter().chain(&first.reviewed) {
            applied.insert(name, desired[name]);
        }
        assert_eq!(applied, desired);
        assert!(plan(&applied, &desired).is_empty());
        assert_eq!(first.is_empty(), current == desired);
    }
}
