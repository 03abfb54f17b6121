//! A pass over many servers (SPEC 13.2); what it costs is measured by the benchmark.

use super::*;
use trunkline::EventMask;

/// SPEC 13.1, 13.2: of a thousand servers one changed: only that one is told, and only to that one
/// something happens, in a session that wants all of them. None has a program, so that each is
/// tried once and has failed; none is tried again by itself, however long this takes.
#[test]
fn of_a_thousand_servers_the_one_that_changed_is_told() {
    let rig = rig(json!({ "trusted": true, "reconnect": { "revive_ms": [] } }));
    let session = rig.session_with(json!({ "id": "a" }));
    let servers = |changed: usize| {
        let server = |number: usize| {
            let text = if number == changed { "other" } else { "same" };
            let server =
                json!({ "command": "/nowhere/x", "args": [text], "env": { "A": "${HOME}" } });
            (format!("s{number:04}"), server)
        };
        let servers: serde_json::Map<String, Value> = (0..1000).map(server).collect();
        json!({ "mcpServers": servers }).to_string()
    };
    rig.pool.set_source(&name("user"), Some(&servers(0))).unwrap();
    let spec = |arg: &str| {
        let server = json!({ "command": "/nowhere/x", "args": [arg] });
        trunkline::ServerSpec::from_value("s0500", &server).unwrap()
    };
    for turn in 0..20 {
        let report = rig.pool.add_server("s0500", &spec(&format!("turn {turn}"))).unwrap();
        assert_eq!(report["result"], "replaced");
    }
    host(async { session.ready(None, Some(HANG)).await.unwrap() });
    let events = rig.pool.subscribe(EventMask::ALL).unwrap();
    let report = rig.pool.set_source(&name("user"), Some(&servers(1))).unwrap();
    let rows = report["servers"].as_object().unwrap();
    let others = rows.values().filter(|row| row["action"] != "unchanged").count();
    assert_eq!(others, 2);
    host(async {
        settled(&rig).await;
        session.ready(None, Some(HANG)).await.unwrap();
    });
    let events: Vec<Value> = std::iter::from_fn(|| events.try_next())
        .map(|event| serde_json::from_str(event.json()).unwrap())
        .collect();
    // A session is ready before the end of the attempts that failed is told.
    let is_late = |event: &Value| {
        event["to"] == "closed" && event["server"] != "s0000" && event["server"] != "s0001"
    };
    let events: Vec<Value> = events.into_iter().filter(|event| !is_late(event)).collect();
    let about = |name: &str| events.iter().filter(|event| event["server"] == *name).count();
    let of_servers = events.iter().filter(|event| event["server"].is_string()).count();
    assert_eq!(about("s0000") + about("s0001"), of_servers, "{events:?}");
    assert!((2..=20).contains(&of_servers), "{events:?}");
}
