//! Plans.

use serde_json::json;

use super::*;
use crate::config::ServerSpec;
use crate::generate::Random;

fn fingerprint(command: usize) -> Fingerprint {
    let value = json!({ "command": format!("c{command}") });
    ServerSpec::from_value("s", &value).unwrap().fingerprint("", &[])
}

fn holding(command: usize) -> Holding {
    Holding { fingerprint: fingerprint(command), share: Share::Pool, view: View::default() }
}

fn state(servers: &[(&str, Holding)]) -> BTreeMap<String, Holding> {
    servers.iter().map(|(name, holding)| (name.to_string(), holding.clone())).collect()
}

/// SPEC 13.1: one server of each kind of difference.
#[test]
fn each_difference_has_its_list() {
    let viewed = Holding { view: View { trust: true, ..View::default() }, ..holding(1) };
    let own = Holding { share: Share::Session, ..holding(1) };
    let current = [("gone", 1), ("new key", 1), ("own", 1), ("same", 1), ("view", 1)];
    let current = state(&current.map(|(name, command)| (name, holding(command))));
    let desired = state(&[
        ("added", holding(1)),
        ("new key", holding(2)),
        ("own", own),
        ("same", holding(1)),
        ("view", viewed),
    ]);
    let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let plan = plan(&current, &desired);
    let expected = Plan {
        added: names(&["added"]),
        removed: names(&["gone"]),
        replaced: names(&["new key", "own"]),
        reviewed: names(&["view"]),
        unchanged: names(&["same"]),
    };
    assert_eq!(plan, expected);
}

/// SPEC 13.3, 6.3: of the configuration, what a session sees is compared as it is written, and a description is not.
#[test]
fn only_what_a_session_sees_is_reviewed() {
    let holding = |value: serde_json::Value| {
        let spec = ServerSpec::from_value("s", &value).unwrap();
        let fingerprint = spec.fingerprint("", &[]);
        state(&[("s", Holding { fingerprint, share: Share::Pool, view: View::of(&spec) })])
    };
    let bare = holding(json!({"command": "c"}));
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
        let plan = plan(&bare, &holding(value.clone()));
        let found = [
            ("unchanged", &plan.unchanged),
            ("reviewed", &plan.reviewed),
            ("replaced", &plan.replaced),
        ];
        let found: Vec<&str> = found
            .into_iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(list, _)| list)
            .collect();
        assert_eq!(found, [list], "{value}");
    }
}

/// SPEC 13.1, 13.2, I-11: 5,000 generated pairs: every name is in exactly one list, applying the plan gives the
/// desired state, and planning again finds nothing to do.
#[test]
fn plans_are_complete_and_idempotent() {
    let mut random = Random::new(23);
    let prints: Vec<Fingerprint> = (0..3).map(fingerprint).collect();
    let generate = |random: &mut Random| -> BTreeMap<String, Holding> {
        let mut state = BTreeMap::new();
        for _ in 0..random.below(8) {
            let share = if random.is_one_in(3) { Share::Session } else { Share::Pool };
            let view = View { trust: random.is_one_in(3), ..View::default() };
            let holding = Holding { fingerprint: *random.pick(&prints), share, view };
            state.insert(format!("s{}", random.below(8)), holding);
        }
        state
    };
    for _ in 0..5_000 {
        let (current, desired) = (generate(&mut random), generate(&mut random));
        let first = plan(&current, &desired);
        let lists =
            [&first.added, &first.removed, &first.replaced, &first.reviewed, &first.unchanged];
        assert!(lists.iter().all(|names| names.is_sorted()));
        let mut all: Vec<&String> = lists.into_iter().flatten().collect();
        all.sort();
        let mut names: Vec<&String> = current.keys().chain(desired.keys()).collect();
        names.sort();
        names.dedup();
        assert_eq!(all, names);
        let mut applied = current.clone();
        first.removed.iter().for_each(|name| drop(applied.remove(name)));
        for name in [&first.added, &first.replaced, &first.reviewed].into_iter().flatten() {
            applied.insert(name.clone(), desired[name].clone());
        }
        assert_eq!(applied, desired);
        assert!(plan(&applied, &desired).is_empty());
        assert_eq!(first.is_empty(), current == desired);
    }
}
