//! The behaviour cases of servers that misbehave are made from the outcomes that stand beside the
//! fault server.
//!
//! `UPDATE_CASES=1 cargo test -p trunkline-testserver --test faults` writes them anew.

use std::path::Path;

use serde_json::{Map, Value, json};

/// SPEC 5.10: each frame has its case, in all languages.
#[test]
fn the_behaviour_cases_of_bad_frames_are_current() {
    let rows = rows(BEHAVIOURS, "frames");
    check("10-bad-frames.json", rows.iter().flat_map(in_its_eras).map(|row| spoiled(&row)));
}

/// SPEC 4.6, 4.8, 5.10: and so has each answer.
#[test]
fn the_behaviour_cases_of_bad_answers_are_current() {
    let rows = rows(BEHAVIOURS, "answers");
    check("10-bad-answers.json", rows.iter().flat_map(in_its_eras).map(|row| spoiled(&row)));
}

/// SPEC 4.3, 5.12, 7.7: and each request beside the calls, and each list beside that of tools.
#[test]
fn the_behaviour_cases_of_bad_requests_are_current() {
    let rows = rows(REQUESTS, "requests");
    check("10-bad-requests.json", rows.iter().flat_map(in_its_eras).map(|row| badly_asked(&row)));
}

/// SPEC 9.8: and each way in which the processes of a server stay.
#[test]
fn the_behaviour_cases_of_processes_that_stay_are_current() {
    let rows = rows(BEHAVIOURS, "processes");
    let closed = rows.iter().filter(|row| row.get("last").is_none());
    check("10-processes.json", closed.map(closed_at_the_end));
}

/// SPEC 4.6, 5.10, 5.12: and each address at which no server is, and each call that is answered
/// badly.
#[test]
fn the_behaviour_cases_of_bad_remotes_are_current() {
    let (addresses, calls) = (rows(REMOTES, "addresses"), rows(REMOTES, "calls"));
    let cases = addresses.iter().map(bad_address).chain(calls.iter().map(badly_called));
    check("10-bad-remotes.json", cases);
}

const ERAS: [&str; 2] = ["legacy", "modern"];

const REMOTES: &str = include_str!("../fault/remotes.json");
const REQUESTS: &str = include_str!("../fault/requests.json");
const BEHAVIOURS: &str = include_str!("../fault/behaviours.json");

fn rows(written: &str, name: &str) -> Vec<Value> {
    let written: Value = serde_json::from_str(written).unwrap();
    written[name].as_array().unwrap().clone()
}

/// The row once for each era that it holds in.
fn in_its_eras(row: &Value) -> Vec<Value> {
    let modern = with(row.clone(), &json!({ "modern": true }));
    if row["eras"] == "both" { vec![row.clone(), modern] } else { vec![row.clone()] }
}

/// The cases are those in the file, or are put there.
fn check(file: &str, cases: impl Iterator<Item = String>) {
    let cases = format!("[\n{}\n]\n", cases.collect::<Vec<_>>().join(",\n"));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../behaviour").join(file);
    if std::env::var_os("UPDATE_CASES").is_some() {
        std::fs::write(&file, &cases).unwrap();
    }
    let current = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(current == cases, "{} is stale: see the head of this test", file.display());
}

/// One case: two sessions on one connection, the bad frame in answer to the one, a call of the
/// other under way, and a server that has nothing to do with it.
fn spoiled(row: &Value) -> String {
    let name = match row["frame"].as_str() {
        Some(frame) => format!("bad frame{}", in_words(row, frame)),
        None => format!("bad answer: {}", answer_name(row)),
    };
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
    let mut server = json!({ "fault": answer_flags(row) });
    if let Some(members) = row.get("server") {
        server = with(server, members);
    }
    let servers = json!({ "s": server, "t": { "fault": [] } });
    written(&name, row, json!({ "servers": servers }), &steps)
}

/// What is spoiled, and in which words the row says it.
fn answer_name(row: &Value) -> String {
    let at = row["at"].as_str().unwrap();
    let (place, trouble) = at.split_once('=').unwrap();
    let method = place.split('@').next().unwrap();
    format!("{method}{}", in_words(row, trouble))
}

/// The era, where it has to be said, and the trouble: as the row calls it, or by its own name.
fn in_words(row: &Value, trouble: &str) -> String {
    let era = if row["modern"] == true { " of the modern era" } else { "" };
    let trouble = row.get("name").and_then(Value::as_str).unwrap_or(trouble);
    format!("{era}: {}", trouble.replace('-', " "))
}

fn answer_flags(row: &Value) -> Value {
    let kind = if row["frame"].is_string() { "frame" } else { "at" };
    let mut flags = vec![json!(format!("--{kind}")), row[kind].clone()];
    if row["modern"] == true {
        flags.insert(0, json!("--modern"));
    }
    flags.into()
}

/// One case: a server that has more than tools, and what becomes of one of its answers; it goes on
/// with its work, or comes back, and a server that has nothing to do with it goes on too.
fn badly_asked(row: &Value) -> String {
    let place = row["at"].as_str().unwrap().split_once('=').unwrap().0;
    let mut steps: Vec<Value> = vec![
        json!({ "open": "a" }),
        json!({ "open": "b" }),
        json!({ "acquire": ["b", "t"], "as": "apart" }),
    ];
    // It has all its time, also where another has little.
    let patient = json!({ "timeout_ms": 80_000, "idle_timeout_ms": 80_000 });
    let plain = |lease: &str| json!({ "call": [lease, "plain", {}, patient], "text": "plain" });
    match row.get("connect") {
        Some(refused) => steps.push(with(json!({ "acquire": ["a", "s"] }), refused)),
        // A list that is lost costs itself alone.
        None if row["lost"] == true => {
            steps.push(json!({ "acquire": ["a", "s"], "as": "one" }));
            let warning = json!({ "code": "list_failed", "server": "s" });
            steps.push(json!({ "wait_event": ["a", "warning", warning] }));
            steps.push(plain("one"));
        }
        None => {
            steps.push(json!({ "acquire": ["a", "s"], "as": "one" }));
            steps.extend(asked(place));
            let last = steps.pop().unwrap();
            steps.push(with(last, &row["does"]));
            steps.push(json!({ "until": plain("one") }));
        }
    }
    steps.push(plain("apart"));
    let mut flags = answer_flags(row);
    flags.as_array_mut().unwrap().insert(0, json!("--features"));
    let servers = json!({ "s": { "fault": flags }, "t": { "fault": [] } });
    written(
        &format!("bad answer: {}", answer_name(row)),
        row,
        json!({ "servers": servers }),
        &steps,
    )
}

/// The steps that ask for this. The last one gets the answer or shows what came of it. The first
/// stream of changes is about the lists, the second about a resource.
fn asked(place: &str) -> Vec<Value> {
    let reference = json!({ "type": "ref/prompt", "name": "greet" });
    let completed = json!({ "ref": reference, "argument": { "name": "who", "value": "h" } });
    let subscribe = json!({ "subscribe": ["one", "test://one"] });
    match place {
        "prompts/get" => vec![json!({ "get_prompt": ["one", "greet", {}] })],
        "subscriptions/listen" => vec![json!({ "prompts": "a" })],
        "resources/read" => vec![json!({ "read_resource": ["one", "test://one"] })],
        "resources/subscribe" | "subscriptions/listen@2" => vec![subscribe],
        "resources/unsubscribe" => {
            vec![subscribe, json!({ "unsubscribe": ["one", "test://one"] })]
        }
        "completion/complete" => vec![json!({ "request": ["one", place, completed] })],
        "logging/setLevel" => vec![json!({ "request": ["one", place, { "level": "info" }] })],
        _ => panic!("nothing asks for {place}"),
    }
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
    // What a server that is told what to say says.
    let said = row.get("line").map_or(json!({}), |line| json!({ "line": line }));
    let mut arguments = vec![json!("one"), json!("any"), said];
    arguments.extend(row.get("call_options").cloned());
    let outcome = |name: &str, ordinary: Value| row.get(name).cloned().unwrap_or(ordinary);
    let called = outcome("call", json!({ "text": "any" }));
    if row["cancel"] == true {
        steps.push(json!({ "start": { "call": arguments }, "as": "call" }));
        // It is cancelled once the server has it: what came behind it is answered.
        let under_way = json!({ "servers": { "s": { "entries": [{ "in_flight": 2 }] } } });
        steps.push(json!({ "until": { "status": [], "match": under_way } }));
        steps.push(json!({ "call": ["two", "plain", {}], "text": "plain" }));
        steps.push(json!({ "cancel": "call" }));
        steps.push(with(json!({ "finish": "call" }), &called));
    } else {
        steps.push(with(json!({ "call": arguments }), &called));
    }
    steps.push(with(json!({ "finish": "other" }), &outcome("other", json!({ "text": "other" }))));
    let mut arguments = vec![json!("two"), json!("plain"), json!({})];
    // What is answered has all its time.
    arguments.extend(row.get("next").and(row.get("call_options")).cloned());
    // A connection that was lost comes back by itself.
    let next = with(json!({ "call": arguments }), &outcome("next", json!({ "text": "plain" })));
    steps.push(json!({ "until": next }));
    steps
}

/// One case: the address is reached in each way, all at the same time, and `status` says of each
/// what came of it.
fn bad_address(row: &Value) -> String {
    let (mut remotes, mut servers) = (Map::new(), Map::new());
    let (mut steps, mut ends) = (vec![json!({ "open": "a" })], Vec::new());
    for kind in row["kinds"].as_array().unwrap().iter().filter_map(Value::as_str) {
        let scheme = if kind == "websocket" { "ws" } else { "http" };
        // There is no TLS there, nor anything that could read what is asked over it.
        let (scheme, to) = match row["tls"] == true {
            true => (format!("{scheme}s"), "comers"),
            false => (scheme.to_owned(), "everything"),
        };
        let at = format!("at {kind}");
        let url = match row.get("host").and_then(Value::as_str) {
            Some(host) => format!("{scheme}://{host}/mcp?key=canary-query"),
            None => {
                let mut flags = vec![json!("--listen"), json!(scheme)];
                if to != "everything" {
                    flags.extend([json!("--to"), json!(to)]);
                }
                remotes.insert(at.clone(), remote(row, flags.into()));
                format!("${at}")
            }
        };
        servers.insert(kind.to_owned(), remote_server(row, kind, &url));
        steps.push(json!({ "start": { "acquire": ["a", kind] }, "as": kind }));
        let status = json!({ "servers": { kind: { "error_code": row["code"] } } });
        ends.push(json!({ "finish": kind, "error": refusal(row, kind) }));
        ends.push(json!({ "status": [], "match": status }));
    }
    steps.extend(ends);
    let name = format!("bad address: {}", row["input"].as_str().unwrap());
    written(&name, &bounded(row), json!({ "remotes": remotes, "servers": servers }), &steps)
}

/// One case: a server that answers its calls badly, twice in each era, and is connected as before.
/// The eras' calls wait together.
fn badly_called(row: &Value) -> String {
    let remotes = json!({ "at": remote(row, json!(["--listen", "http", "--to", "calls"])) });
    let (mut servers, mut counted) = (Map::new(), Map::new());
    let mut steps = vec![json!({ "open": "a" })];
    for era in ERAS {
        let server = remote_server(&json!({}), "http", "$at");
        servers.insert(era.into(), with(server, &json!({ "era": era })));
        steps.push(json!({ "acquire": ["a", era], "as": era }));
        let entry = json!({ "state": "active", "generation": 1, "calls": 2, "errors": 2 });
        counted.insert(era.into(), json!({ "era": era, "entries": [entry] }));
    }
    for _ in 0..2 {
        let call = |era: &str| format!("call {era}");
        for era in ERAS {
            let mut arguments = vec![json!(era), json!("any"), json!({})];
            if let Some(waits) = row.get("waits_ms") {
                arguments.push(json!({ "timeout_ms": waits, "idle_timeout_ms": waits }));
            }
            steps.push(json!({ "start": { "call": arguments }, "as": call(era) }));
        }
        for era in ERAS {
            let error = with(refusal(row, era), &json!({ "outcome": "unknown" }));
            steps.push(json!({ "finish": call(era), "error": error }));
        }
    }
    steps.push(json!({ "status": [], "match": { "servers": counted } }));
    let name = format!("bad answer to a call over HTTP: {}", row["input"].as_str().unwrap());
    let given = json!({ "remotes": remotes, "servers": servers });
    written(&name, &bounded(row), given, &steps)
}

/// The fault server that answers as the row says.
fn remote(row: &Value, flags: Value) -> Value {
    let mut flags = flags.as_array().unwrap().clone();
    flags.extend([json!("--sends"), row["sends"].clone()]);
    if let Some(then) = row.get("then") {
        flags.extend([json!("--then"), then.clone()]);
    }
    json!({ "fault": flags })
}

/// A server there, with something that nobody may show.
fn remote_server(row: &Value, kind: &str, url: &str) -> Value {
    let headers = json!({ "Authorization": "Bearer canary-0123456789" });
    // What ends by itself does so in less, on a busy machine too.
    let waits = row.get("waits_ms").cloned().unwrap_or_else(|| json!(80_000));
    json!({
        "type": kind, "url": url, "headers": headers, "connect_timeout_ms": waits,
    })
}

/// The error that the row says, with its words and without what nobody may show.
fn refusal(row: &Value, server: &str) -> Value {
    let mut error =
        json!({ "code": row["code"], "server": server, "message": { "$has": row["says"] } });
    if let Some(detail) = row.get("detail") {
        error["detail"] = detail.clone();
    }
    error
}

/// What all of these cite, and the limit that what has no end is seen by.
fn bounded(row: &Value) -> Value {
    let spec = row.get("spec").cloned().unwrap_or_else(|| json!(["4.6", "5.10", "5.12"]));
    json!({ "spec": spec, "options": { "limits": { "frame_bytes": 200_000 } } })
}

/// One case: it is used, and when the pool is closed nothing of it is left.
fn closed_at_the_end(row: &Value) -> String {
    let flags = &row["flags"];
    let steps = [
        json!({ "open": "a" }),
        json!({ "acquire": ["a", "s"], "as": "lease" }),
        json!({ "call": ["lease", "plain", {}], "text": "plain" }),
    ];
    let name = format!("nothing is left of a server: {}", row["name"].as_str().unwrap());
    let row = json!({ "spec": ["9.8"], "options": { "exit_grace_ms": 100, "kill_grace_ms": 100 } });
    written(&name, &row, json!({ "servers": { "s": { "fault": flags } } }), &steps)
}

/// The text of a case: what it is called and given, and a line for each step.
fn written(name: &str, row: &Value, given: Value, steps: &[Value]) -> String {
    let mut head = Map::new();
    head.insert("name".into(), name.into());
    head.insert("spec".into(), row["spec"].clone());
    if let Some(options) = row.get("options") {
        head.insert("options".into(), options.clone());
    }
    head.extend(given.as_object().unwrap().clone());
    let steps: Vec<String> = steps.iter().map(|step| format!("      {step}")).collect();
    let head = Value::Object(head).to_string();
    let head = head.strip_suffix('}').unwrap();
    format!("  {head},\n    \"steps\": [\n{}\n    ] }}", steps.join(",\n"))
}

/// A step with its expectations.
fn with(mut step: Value, expectations: &Value) -> Value {
    let members = step.as_object_mut().unwrap();
    members.extend(expectations.as_object().unwrap().clone());
    step
}
