//! The behaviour cases are well-formed: a slip in one would look like a fault of the library.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value};

/// Verbs, and how many arguments each takes.
const VERBS: [(&str, usize, usize); 60] = [
    ("open", 1, 2),
    ("close", 1, 2),
    ("acquire", 2, 4),
    ("provide", 3, 3),
    ("started", 1, 1),
    ("ready", 1, 3),
    ("refresh", 2, 2),
    ("listed", 1, 2),
    ("introduction", 1, 2),
    ("release", 1, 1),
    ("configure", 2, 2),
    ("set_roots", 1, 1),
    ("set_gates", 1, 1),
    ("disable", 2, 2),
    ("enable", 2, 2),
    ("call", 3, 4),
    ("call_exposed", 3, 4),
    ("request", 3, 4),
    ("request_of", 4, 5),
    ("read_resource", 2, 2),
    ("get_prompt", 3, 3),
    ("subscribe", 2, 2),
    ("unsubscribe", 2, 2),
    ("tools", 1, 1),
    ("prompts", 1, 1),
    ("resources", 1, 1),
    ("resource_templates", 1, 1),
    ("revision", 1, 1),
    ("tools_for", 2, 2),
    ("status", 0, 0),
    ("watch", 2, 2),
    ("wait_event", 2, 3),
    ("no_event", 2, 3),
    ("asked", 1, 1),
    ("reconcile", 1, 1),
    ("accept_tool", 3, 3),
    ("restart", 1, 2),
    ("sign_in", 1, 2),
    ("visit", 1, 1),
    ("finish_sign_in", 1, 1),
    ("sign_out", 1, 1),
    ("drain", 0, 1),
    ("write", 2, 2),
    ("load", 1, 2),
    ("set_source", 2, 2),
    ("switch_source", 2, 2),
    ("add_server", 2, 2),
    ("remove_server", 1, 1),
    ("reload", 0, 1),
    ("set_trusted", 1, 1),
    ("approvals", 0, 0),
    ("approve", 2, 2),
    ("reject", 2, 2),
    ("forget", 1, 1),
    ("settled", 0, 1),
    ("explain", 1, 2),
    ("pool", 1, 1),
    ("reopen", 0, 0),
    ("count", 1, 1),
    ("cancel", 1, 1),
];

const STARTED: [&str; 14] = [
    "acquire",
    "call",
    "call_exposed",
    "request",
    "request_of",
    "read_resource",
    "get_prompt",
    "drain",
    "restart",
    "settled",
    "started",
    "refresh",
    "listed",
    "ready",
];

const EXPECTATIONS: [&str; 10] =
    ["as", "equals", "differs", "is", "match", "text", "raw", "length", "own_names", "error"];

const OPERATORS: [&str; 4] = ["$has", "$any", "$absent", "$not"];

struct Checker {
    case: String,
    saved: BTreeSet<String>,
    faults: Vec<String>,
}

impl Checker {
    fn fault(&mut self, what: impl std::fmt::Display) {
        self.faults.push(format!("{}: {what}", self.case));
    }

    fn step(&mut self, step: &Value) {
        let Some(step) = step.as_object() else { return self.fault("a step is not an object") };
        let is_verb = |key: &&String| !EXPECTATIONS.contains(&key.as_str());
        let verbs: Vec<&String> = step.keys().filter(is_verb).collect();
        match verbs[..] {
            [verb] => self.verb(verb, &step[verb]),
            _ => self.fault(format!("not one verb: {verbs:?}")),
        }
        for (key, value) in step.iter().filter(|(key, _)| EXPECTATIONS.contains(&key.as_str())) {
            self.expectation(key, value);
        }
    }

    fn verb(&mut self, verb: &str, argument: &Value) {
        match verb {
            "until" => self.step(argument),
            "start" => match argument.as_object().and_then(|inner| inner.iter().next()) {
                Some((inner, argument)) if STARTED.contains(&inner.as_str()) => {
                    self.verb(inner, argument);
                }
                _ => self.fault("start of something that cannot be started"),
            },
            "finish" => self.name(argument),
            _ => {
                let Some((_, least, most)) = VERBS.iter().find(|(known, ..)| *known == verb) else {
                    return self.fault(format!("no verb {verb}"));
                };
                let single = [argument.clone()];
                let arguments = argument.as_array().map_or(&single[..], Vec::as_slice);
                if !(*least..=*most).contains(&arguments.len()) {
                    self.fault(format!("{verb} has {} arguments", arguments.len()));
                }
                let on_lease =
                    ["release", "call", "request", "read_resource", "get_prompt", "subscribe"];
                if verb == "cancel" || on_lease.contains(&verb.trim_start_matches("un")) {
                    self.name(&arguments[0]);
                }
                if let Some(pattern) = arguments.get(2).filter(|_| verb.ends_with("_event")) {
                    self.pattern(pattern);
                }
            }
        }
    }

    fn name(&mut self, name: &Value) {
        if !name.as_str().is_some_and(|name| self.saved.contains(name)) {
            self.fault(format!("{name} was not saved before"));
        }
    }

    fn expectation(&mut self, key: &str, value: &Value) {
        match key {
            "as" => drop(self.saved.insert(value.as_str().unwrap_or_default().to_string())),
            "equals" | "differs" => self.name(value),
            "match" | "error" => self.pattern(value),
            _ => {}
        }
    }

    fn pattern(&mut self, pattern: &Value) {
        match pattern {
            Value::Array(items) => items.iter().for_each(|item| self.pattern(item)),
            Value::Object(members) => {
                for (key, value) in members {
                    let is_operator = members.len() == 1 && OPERATORS.contains(&key.as_str());
                    if key.starts_with('$') && !is_operator {
                        self.fault(format!("no operator {key}"));
                    }
                    self.pattern(value);
                }
            }
            _ => {}
        }
    }
}

fn faults_of(case: &Value) -> Vec<String> {
    let name = case["name"].as_str().unwrap_or_default().to_string();
    let mut checker = Checker { case: name, saved: BTreeSet::new(), faults: Vec::new() };
    for key in case.as_object().into_iter().flat_map(Map::keys) {
        if !["name", "spec", "options", "remotes", "servers", "steps", "after"]
            .contains(&key.as_str())
        {
            checker.fault(format!("no member {key} in a case"));
        }
    }
    for (name, wanted) in case["remotes"].as_object().into_iter().flatten() {
        let flags = wanted.get("fault").unwrap_or(wanted);
        checker.saved.insert(name.clone());
        if !flags.as_array().is_some_and(|flags| flags.iter().all(Value::is_string)) {
            checker.fault(format!("the flags of {name} are no texts"));
        }
    }
    let rows = case["spec"].as_array().cloned().unwrap_or_default();
    let is_row = |row: &Value| row.as_str().is_some_and(|row| row.contains(['.', '-']));
    if rows.is_empty() || !rows.iter().all(is_row) {
        checker.fault("no rows of the specification");
    }
    case["steps"].as_array().into_iter().flatten().for_each(|step| checker.step(step));
    checker.faults
}

fn all_cases() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../behaviour");
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        match serde_json::from_str(&text).unwrap() {
            Value::Array(several) => cases.extend(several),
            one => cases.push(one),
        }
    }
    cases
}

#[test]
fn every_case_is_well_formed_and_has_a_name_of_its_own() {
    let cases = all_cases();
    let names: BTreeSet<&str> = cases.iter().filter_map(|case| case["name"].as_str()).collect();
    assert_eq!(names.len(), cases.len());
    assert!(cases.len() >= 30);
    let faults: Vec<String> = cases.iter().flat_map(faults_of).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_slip_in_a_case_is_found() {
    let case = |steps: Value| serde_json::json!({"name": "x", "spec": ["1.1"], "steps": steps});
    for steps in [
        serde_json::json!([{"opne": "a"}]),
        serde_json::json!([{"open": "a", "close": "a"}]),
        serde_json::json!([{"acquire": "a"}]),
        serde_json::json!([{"call": ["never", "echo", {}]}]),
        serde_json::json!([{"status": [], "equals": "never"}]),
        serde_json::json!([{"status": [], "match": {"a": {"$hsa": 1}}}]),
        serde_json::json!([{"start": {"open": "a"}, "as": "o"}]),
        serde_json::json!([{"until": {"nothing": []}}]),
    ] {
        assert_eq!(faults_of(&case(steps.clone())).len(), 1, "{steps}");
    }
}
