//! The behaviour cases of bad frames are made from the outcomes that stand beside the fault server.
//!
//! `UPDATE_CASES=1 cargo test -p trunkline-testserver --test bad_frames` writes them anew.

use std::path::Path;

use serde_json::{Map, Value, json};

/// SPEC 5.10, S-24, I-28: each frame has its case, in all languages.
#[test]
fn the_behaviour_cases_of_bad_frames_are_current() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let written: Value = serde_json::from_str(include_str!("../fault/behaviours.json")).unwrap();
    let cases: Vec<String> = written["frames"].as_array().unwrap().iter().map(case).collect();
    let cases = format!("[\n{}\n]\n", cases.join(",\n"));
    let file = here.join("../behaviour/10-bad-frames.json");
    if std::env::var_os("UPDATE_CASES").is_some() {
        std::fs::write(&file, &cases).unwrap();
    }
    let current = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(current == cases, "{} is stale: see the head of this test", file.display());
}

/// One case: two sessions on one connection, the bad frame in answer to the one, a call of the other under way, and a
/// server that has nothing to do with it.
fn case(row: &Value) -> String {
    let frame = row["frame"].as_str().unwrap();
    let mut head = Map::new();
    head.insert("name".into(), format!("bad frame: {}", frame.replace('-', " ")).into());
    head.insert("spec".into(), row["spec"].clone());
    if let Some(options) = row.get("options") {
        head.insert("options".into(), options.clone());
    }
    let servers = json!({ "s": { "fault": ["--frame", frame] }, "t": { "fault": [] } });
    head.insert("servers".into(), servers);
    let mut steps: Vec<Value> = vec![
        json!({ "open": "a" }),
        json!({ "open": "b" }),
        json!({ "acquire": ["b", "t"], "as": "apart" }),
    ];
    match row.get("connect") {
        Some(refused) => steps.push(with(json!({ "acquire": ["a", "s"] }), refused)),
        None => steps.extend(established(row)),
    }
    steps.push(json!({ "call": ["apart", "plain", {}], "text": "plain" }));
    let steps: Vec<String> = steps.iter().map(|step| format!("      {step}")).collect();
    let head = Value::Object(head).to_string();
    let head = head.strip_suffix('}').unwrap();
    format!("  {head},\n    \"steps\": [\n{}\n    ] }}", steps.join(",\n"))
}

fn established(row: &Value) -> Vec<Value> {
    let mut steps = vec![
        json!({ "acquire": ["a", "s"], "as": "one" }),
        json!({ "acquire": ["b", "s"], "as": "two" }),
        json!({ "start": { "call": ["two", "other", {}] }, "as": "other" }),
    ];
    if let Some(tools) = row.get("tools") {
        let arrived = json!({ "tools": "a", "own_names": tools });
        steps.push(json!({ "until": arrived }));
    }
    let mut arguments = vec![json!("one"), json!("any"), json!({})];
    arguments.extend(row.get("call_options").cloned());
    let outcome = |name: &str, ordinary: Value| row.get(name).cloned().unwrap_or(ordinary);
    let called = outcome("call", json!({ "text": "any" }));
    if row["cancel"] == true {
        steps.push(json!({ "start": { "call": arguments }, "as": "call" }));
        steps.push(json!({ "cancel": "call" }));
        steps.push(with(json!({ "finish": "call" }), &called));
    } else {
        steps.push(with(json!({ "call": arguments }), &called));
    }
    steps.push(with(json!({ "finish": "other" }), &outcome("other", json!({ "text": "other" }))));
    let mut arguments = vec![json!("two"), json!("plain"), json!({})];
    arguments.extend(row.get("call_options").cloned());
    // A connection that was lost comes back by itself.
    let next = with(json!({ "call": arguments }), &outcome("next", json!({ "text": "plain" })));
    steps.push(json!({ "until": next }));
    steps
}

/// A step with its expectations.
fn with(mut step: Value, expectations: &Value) -> Value {
    let members = step.as_object_mut().unwrap();
    members.extend(expectations.as_object().unwrap().clone());
    step
}
