//! What a pass costs (SPEC 13.2).

use std::time::{Duration, Instant};

use super::*;

/// SPEC 13.1, 13.2: of a thousand servers one changed: only that one is told, and the pass is quick.
#[test]
fn one_change_of_a_thousand_servers_is_a_quick_pass() {
    let rig = trusted();
    let _session = rig.session_with(json!({ "id": "a", "servers": [] }));
    let servers = |changed: usize| {
        let server = |number: usize| {
            let text = if number == changed { "other" } else { "same" };
            let server =
                json!({ "command": "/bin/true", "args": [text], "env": { "A": "${HOME}" } });
            (format!("s{number:04}"), server)
        };
        let servers: serde_json::Map<String, Value> = (0..1000).map(server).collect();
        json!({ "mcpServers": servers }).to_string()
    };
    rig.pool.set_source(&name("user"), Some(&servers(0))).unwrap();
    let spec = |arg: &str| {
        let server = json!({ "command": "/bin/true", "args": [arg] });
        trunkline::ServerSpec::from_value("s0500", &server).unwrap()
    };
    let mut times = Vec::new();
    for turn in 0..20 {
        let spec = spec(&format!("turn {turn}"));
        let begun = Instant::now();
        let report = rig.pool.add_server("s0500", &spec).unwrap();
        times.push(begun.elapsed());
        assert_eq!(report["result"], "replaced");
    }
    times.sort();
    let median = times[times.len() / 2];
    let begun = Instant::now();
    let report = rig.pool.set_source(&name("user"), Some(&servers(1))).unwrap();
    let replaced = begun.elapsed();
    let rows = report["servers"].as_object().unwrap();
    let others = rows.values().filter(|row| row["action"] != "unchanged").count();
    assert_eq!(others, 2);
    println!("a pass {median:?}, with the text parsed {replaced:?}");
    // Built without optimisation, and beside other tests.
    assert!(median < Duration::from_millis(100), "{median:?}");
}
