//! The behaviour cases of what every transport must carry are made here, from each feature and each transport.
//!
//! `UPDATE_CASES=1 cargo test -p trunkline-testserver --test features` writes them anew.

use std::path::Path;

use serde_json::{Value, json};

/// A way to the reference server: its words in the name of a case, the flag that makes it listen, and how it is configured.
const WAYS: [(&str, &str, &str); 8] = [
    ("stdio", "", "stdio"),
    ("Streamable HTTP", "--http", "http"),
    ("HTTP+SSE", "--sse", "sse"),
    ("a websocket", "--ws", "websocket"),
    ("what the host provides", "", "host"),
    ("stdio in the modern era", "", "stdio"),
    ("Streamable HTTP in the modern era", "--http", "http"),
    ("what the host provides in the modern era", "", "host"),
];

/// SPEC 5.1, 5.5, 5.9, 7.1, 7.7, 15.1: each feature has its case on each transport, in all languages.
#[test]
fn the_behaviour_cases_of_features_are_current() {
    let cases = WAYS.iter().flat_map(|way| FEATURES.iter().map(|feature| case(*way, *feature)));
    let cases = format!("[\n{}\n]\n", cases.collect::<Vec<_>>().join(",\n"));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../behaviour/12-features.json");
    if std::env::var_os("UPDATE_CASES").is_some() {
        std::fs::write(&file, &cases).unwrap();
    }
    let current = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(current == cases, "{} is stale: see the head of this test", file.display());
}

/// What a feature is called, the rows of the specification that it is of, and what is done with the lease `l` of the session `a`.
type Feature = (&'static str, &'static str, fn() -> Vec<Value>);

const FEATURES: [Feature; 6] = [
    ("progress comes before its result", "5.9", progress),
    ("a cancelled call is freed, and the server hears of it", "5.5", cancellation),
    ("a log message reaches the session", "15.1", logging),
    ("an argument is completed", "5.1", completion),
    ("a resource is subscribed to, and no longer", "7.7", subscription),
    ("resource templates are listed, and their changes told", "7.1", templates),
];

fn case((way, flag, kind): (&str, &str, &str), (name, spec, steps): Feature) -> String {
    let era: &[&str] = if way.contains("modern") { &["--era", "modern"] } else { &[] };
    let mut flags = vec![];
    if !flag.is_empty() {
        flags.extend([flag, "0"]);
    }
    flags.extend(era);
    flags.push("--list-changes");
    let mut head = json!({ "name": format!("over {way}: {name}"), "spec": [spec] });
    let mut all = vec![json!({ "open": "a" })];
    match kind {
        "stdio" => head["servers"] = json!({ "s": { "testserver": flags } }),
        "host" => all.push(json!({ "provide": ["a", "s", flags] })),
        _ => {
            head["remotes"] = json!({ "r": flags });
            head["servers"] = json!({ "s": { "type": kind, "url": "$r" } });
        }
    }
    all.push(json!({ "acquire": ["a", "s"], "as": "l" }));
    all.extend(steps());
    let steps: Vec<String> = all.iter().map(|step| format!("      {step}")).collect();
    let head = head.to_string();
    let head = head.strip_suffix('}').unwrap();
    format!("  {head},\n    \"steps\": [\n{}\n    ] }}", steps.join(",\n"))
}

fn progress() -> Vec<Value> {
    vec![
        json!({ "call": ["l", "progress", { "steps": 2 }, { "progress": true }], "text": "done" }),
        json!({ "wait_event": ["a", "progress"], "match": { "server": "s", "progress": 1, "total": 2 } }),
        json!({ "wait_event": ["a", "progress"], "match": { "progress": 2 } }),
    ]
}

fn cancellation() -> Vec<Value> {
    vec![
        json!({ "start": { "call": ["l", "sleep", { "ms": 60000 }] }, "as": "o" }),
        json!({ "until": { "call": ["l", "under_way", {}], "text": "1" } }),
        json!({ "cancel": "o" }),
        json!({ "finish": "o", "error": { "code": "cancelled" } }),
        json!({ "until": { "call": ["l", "under_way", {}], "text": "0" } }),
        json!({ "call": ["l", "cancelled", {}], "text": "1" }),
    ]
}

fn logging() -> Vec<Value> {
    vec![
        json!({ "call": ["l", "log", { "level": "warning", "text": "mind" }], "text": "logged" }),
        json!({ "wait_event": ["a", "log"], "match": { "server": "s", "level": "warning", "logger": "test", "data": "mind" } }),
    ]
}

fn completion() -> Vec<Value> {
    let reference = json!({ "type": "ref/prompt", "name": "greet" });
    let params = json!({ "ref": reference, "argument": { "name": "who", "value": "o" } });
    let expected = json!({ "completion": { "values": ["one", "two"], "total": 2 } });
    vec![json!({ "request": ["l", "completion/complete", params], "match": expected })]
}

fn subscription() -> Vec<Value> {
    let touch = |text: &str| json!({ "call": ["l", "touch_resource", { "uri": "test://one" }], "text": text });
    vec![
        json!({ "subscribe": ["l", "test://one"] }),
        touch("announced"),
        json!({ "wait_event": ["a", "resource_updated"], "match": { "server": "s", "uri": "test://one" } }),
        json!({ "unsubscribe": ["l", "test://one"] }),
        json!({ "until": touch("not subscribed") }),
    ]
}

fn templates() -> Vec<Value> {
    let (old, new) = ("test://item/{id}", "test://page/{number}");
    vec![
        json!({ "resource_templates": "a", "own_names": [old] }),
        json!({ "call": ["l", "change_list", { "list": "resource_templates", "add": [new] }], "text": "changed" }),
        json!({ "wait_event": ["a", "resources_changed"], "match": { "server": "s", "added": [new] } }),
        json!({ "resource_templates": "a", "own_names": [old, new] }),
    ]
}
