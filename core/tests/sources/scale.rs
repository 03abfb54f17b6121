//! A pass over many servers (SPEC 13.2); what it costs is measured by the benchmark.

use super::*;

/// SPEC 13.1, 13.2: of a thousand servers one changed: only that one is told.
#[test]
fn of_a_thousand_servers_the_one_that_changed_is_told() {
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
    for turn in 0..20 {
        let report = rig.pool.add_server("s0500", &spec(&format!("turn {turn}"))).unwrap();
        assert_eq!(report["result"], "replaced");
    }
    let report = rig.pool.set_source(&name("user"), Some(&servers(1))).unwrap();
    let rows = report["servers"].as_object().unwrap();
    let others = rows.values().filter(|row| row["action"] != "unchanged").count();
    assert_eq!(others, 2);
}
