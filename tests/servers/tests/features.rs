//! The behaviour cases of what every transport must carry are made here, from each feature and each
//! transport.
//!
//! `UPDATE_CASES=1 cargo test -p trunkline-testserver --test features` writes them anew.

use std::path::Path;

use serde_json::{Value, json};

/// A way to the reference server: its words in the name of a case, the flag that makes it listen,
/// and how it is configured.
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

/// SPEC 5.1, 5.5, 5.9, 7.1, 7.7, 15.1: each feature has its case on each transport, in all
/// languages.
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

/// What a feature is called, the rows of the specification that it is of, and what is done with the
/// lease `l` of the session `a`.
type Feature = (&'static str, &'static [&'static str], fn(Era) -> Vec<Value>);

/// What is done differently in each.
#[derive(Clone, Copy, PartialEq)]
enum Era {
    Legacy,
    Modern,
}

const FEATURES: [Feature; 7] = [
    ("progress comes before its result", &["5.9"], progress),
    ("a cancelled call is freed, and the server hears of it", &["5.5"], cancellation),
    ("a log message reaches the session", &["15.1"], logging),
    ("an argument is completed", &["5.1"], completion),
    ("a resource is subscribed to, and no longer", &["7.7"], subscription),
    ("resource templates are listed, and their changes told", &["7.1"], templates),
    ("what the server asks for is answered", &["15.1", "15.2", "15.4"], questions),
];

fn case((way, flag, kind): (&str, &str, &str), (name, spec, steps): Feature) -> String {
    let era = if way.contains("modern") { Era::Modern } else { Era::Legacy };
    let mut flags = vec![];
    if !flag.is_empty() {
        flags.extend([flag, "0"]);
    }
    if era == Era::Modern {
        flags.extend(["--era", "modern"]);
    }
    flags.push("--list-changes");
    let mut head = json!({ "name": format!("over {way}: {name}"), "spec": spec });
    // Only a client that is asked needs folders and handlers.
    let asks = spec.contains(&"15.2");
    if asks {
        head["options"] = json!({ "roots": ["/"] });
    }
    let mut all = vec![if asks {
        json!({ "open": ["a", { "handlers": handlers() }] })
    } else {
        json!({ "open": "a" })
    }];
    match kind {
        "stdio" => head["servers"] = json!({ "s": { "testserver": flags } }),
        "host" => all.push(json!({ "provide": ["a", "s", flags] })),
        _ => {
            head["remotes"] = json!({ "r": flags });
            head["servers"] = json!({ "s": { "type": kind, "url": "$r" } });
        }
    }
    all.push(json!({ "acquire": ["a", "s"], "as": "l" }));
    all.extend(steps(era));
    let steps: Vec<String> = all.iter().map(|step| format!("      {step}")).collect();
    let head = head.to_string();
    let head = head.strip_suffix('}').unwrap();
    format!("  {head},\n    \"steps\": [\n{}\n    ] }}", steps.join(",\n"))
}

fn progress(_: Era) -> Vec<Value> {
    vec![
        json!({ "call": ["l", "progress", { "steps": 2 }, { "progress": true }], "text": "done" }),
        json!({ "wait_event": ["a", "progress"], "match": { "server": "s", "progress": 1, "total": 2 } }),
        json!({ "wait_event": ["a", "progress"], "match": { "progress": 2 } }),
    ]
}

fn cancellation(_: Era) -> Vec<Value> {
    vec![
        json!({ "start": { "call": ["l", "sleep", { "ms": 60000 }] }, "as": "o" }),
        json!({ "until": { "call": ["l", "under_way", {}], "text": "1" } }),
        json!({ "cancel": "o" }),
        json!({ "finish": "o", "error": { "code": "cancelled" } }),
        json!({ "until": { "call": ["l", "under_way", {}], "text": "0" } }),
        json!({ "call": ["l", "cancelled", {}], "text": "1" }),
    ]
}

fn logging(era: Era) -> Vec<Value> {
    let log = |level: &str, text: &str| json!({ "call": ["l", "log", { "level": level, "text": text }], "text": "logged" });
    let mut steps = Vec::new();
    // The era's servers log to who asks for it alone.
    if era == Era::Modern {
        let wrong = json!({ "code": "invalid_argument", "detail": { "path": "level" } });
        steps.extend([
            log("warning", "nobody asked"),
            json!({ "request": ["l", "logging/setLevel", { "level": "notice" }], "match": {} }),
            json!({ "request": ["l", "logging/setLevel", { "level": "loud" }], "error": wrong }),
            log("info", "too slight"),
        ]);
    }
    steps.push(log("warning", "mind"));
    let heard = json!({ "server": "s", "level": "warning", "logger": "test", "data": "mind" });
    steps.push(json!({ "wait_event": ["a", "log"], "match": heard }));
    steps
}

fn completion(_: Era) -> Vec<Value> {
    let reference = json!({ "type": "ref/prompt", "name": "greet" });
    let params = json!({ "ref": reference, "argument": { "name": "who", "value": "o" } });
    let expected = json!({ "completion": { "values": ["one", "two"], "total": 2 } });
    vec![json!({ "request": ["l", "completion/complete", params], "match": expected })]
}

fn subscription(_: Era) -> Vec<Value> {
    let touch = |text: &str| json!({ "call": ["l", "touch_resource", { "uri": "test://one" }], "text": text });
    vec![
        json!({ "subscribe": ["l", "test://one"] }),
        touch("announced"),
        json!({ "wait_event": ["a", "resource_updated"], "match": { "server": "s", "uri": "test://one" } }),
        json!({ "unsubscribe": ["l", "test://one"] }),
        json!({ "until": touch("not subscribed") }),
    ]
}

fn templates(_: Era) -> Vec<Value> {
    let (old, new) = ("test://item/{id}", "test://page/{number}");
    vec![
        json!({ "resource_templates": "a", "own_names": [old] }),
        json!({ "call": ["l", "change_list", { "list": "resource_templates", "add": [new] }], "text": "changed" }),
        json!({ "wait_event": ["a", "resources_changed"], "match": { "server": "s", "added": [new] } }),
        json!({ "resource_templates": "a", "own_names": [old, new] }),
    ]
}

/// What the session of `questions` answers.
fn handlers() -> Value {
    json!({ "sampling": { "answer": answers()[0] }, "elicitation": { "answer": answers()[1] } })
}

/// To a sampling, a form and the question for the roots.
fn answers() -> [Value; 3] {
    let text = json!({ "text": "hi", "type": "text" });
    [
        json!({ "content": text, "model": "m", "role": "assistant" }),
        json!({ "action": "accept", "content": { "name": "Ada" } }),
        json!({ "roots": [{ "uri": "file:///" }] }),
    ]
}

fn questions(era: Era) -> Vec<Value> {
    let asked = [
        ("sampling/createMessage", json!({ "maxTokens": 5, "messages": [] }), "hi"),
        ("elicitation/create", json!({ "message": "name?", "requestedSchema": {} }), "Ada"),
        ("roots/list", json!({}), "file:///"),
    ];
    let ask = |((method, params, word), answer): (&(&str, Value, &str), Value)| match era {
        Era::Legacy => {
            let text = json!({ "result": answer }).to_string();
            json!({ "call": ["l", "ask", { "method": method, "params": params }], "text": text })
        }
        // The era has no requests of servers: a call is answered by what it needs.
        Era::Modern => {
            let requests = json!({ "q": { "method": method, "params": params } });
            // Each language writes an answer in its own way.
            let had = json!({ "content": [{ "text": { "$has": word } }] });
            json!({ "call": ["l", "need", { "requests": requests }], "match": had })
        }
    };
    let mut steps: Vec<Value> = asked.iter().zip(answers()).map(ask).collect();
    let heard = asked[..2].iter().map(|(method, params, _)| {
        json!({ "server": "s", "session": "a", "method": method, "params": params })
    });
    steps.push(json!({ "asked": "a", "match": heard.collect::<Vec<_>>() }));
    steps
}
