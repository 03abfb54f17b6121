//! Clients over HTTP that do as the protocol says, in both eras.

use serde_json::{Value, json};

use super::exchange::{Answered, Sent, ask, initialize, modern, modern_call, post};
use super::{Endpoint, ONE};

/// The id of a session, as it was given: an answer's head is searched in lower case.
pub fn session_id(port: u16) -> String {
    let bytes = post(port, ONE, "/mcp/s", &initialize(1)).bytes();
    let head = super::lines::raw(port, &bytes);
    let line = head.lines().find(|line| line.to_ascii_lowercase().starts_with("mcp-session-id:"));
    line.and_then(|line| line.split_once(": ")).map(|(_, id)| id.trim().to_owned()).unwrap()
}

fn in_session(port: u16, id: &str, message: &Value) -> Sent {
    let sent = post(port, ONE, "/mcp/s", message).and("Mcp-Session-Id", id);
    sent.and("MCP-Protocol-Version", "2025-11-25")
}

fn result(answer: &Answered) -> Value {
    let messages = answer.messages();
    let found = messages.iter().find(|message| message.get("result").is_some());
    found.unwrap_or_else(|| panic!("{answer:?}"))["result"].clone()
}

/// SPEC 19.2, 19.3: a legacy session from its opening to its end, over the transparent path.
#[test]
fn a_legacy_session_lists_calls_and_ends() {
    let endpoint = Endpoint::new(json!({}));
    let port = endpoint.port();
    let id = session_id(port);
    let ask_one = |message: &Value| ask(port, &in_session(port, &id, message));
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(ask_one(&ready).status, 202);
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let listed = result(&ask_one(&list));
    let tools: Vec<&str> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert!(tools.contains(&"echo"), "{tools:?}");
    let call = json!({ "jsonrpc": "2.0", "id": "three", "method": "tools/call",
        "params": { "name": "echo", "arguments": { "message": "hello" } } });
    let called = ask_one(&call);
    assert_eq!(called.messages()[0]["id"], "three");
    assert!(result(&called)["content"][0]["text"].as_str().unwrap().contains("hello"));
    let progress = json!({ "jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {
        "name": "progress", "arguments": { "steps": 3 }, "_meta": { "progressToken": "p" } } });
    let told = ask_one(&progress);
    assert_eq!(told.header("content-type"), Some("text/event-stream"), "{told:?}");
    let tokens: Vec<Value> = told
        .messages()
        .iter()
        .filter(|message| message["method"] == "notifications/progress")
        .map(|message| message["params"]["progressToken"].clone())
        .collect();
    assert_eq!(tokens, vec![json!("p"); 3], "{told:?}");
    let gone = in_session(port, &id, &json!({})).line("DELETE /mcp/s").body("");
    assert_eq!(ask(port, &gone).status, 204);
    assert_eq!(ask_one(&list).status, 404);
    endpoint.end();
}

/// SPEC 19.2, 19.4: requests of the modern era stand alone, and one server process answers them and
/// the legacy sessions.
#[test]
fn modern_requests_need_no_session_and_share_the_server() {
    let endpoint = Endpoint::new(json!({}));
    let port = endpoint.port();
    let discover = post(port, ONE, "/mcp/s", &modern(1, "server/discover", json!({})))
        .and("MCP-Protocol-Version", "2026-07-28")
        .and("Mcp-Method", "server/discover");
    let found = ask(port, &discover);
    assert_eq!(result(&found)["resultType"], "complete", "{found:?}");
    assert_eq!(found.header("mcp-session-id"), None);
    for round in 0..3 {
        let text = format!("round-{round}");
        let called = ask(port, &modern_call(port, ONE, "echo", &json!({ "message": text })));
        assert!(called.body.contains(&text), "{called:?}");
        session_id(port);
    }
    assert_eq!(endpoint.rig.starts().len(), 1, "one process serves every client");
    endpoint.end();
}

/// SPEC 19.3: the aggregate names a tool by its server.
#[test]
fn the_aggregate_names_tools_by_their_server() {
    let endpoint = Endpoint::new(json!({}));
    let port = endpoint.port();
    let message =
        modern(1, "tools/call", json!({ "name": "s__echo", "arguments": { "message": "hello" } }));
    let sent = post(port, ONE, "/mcp", &message)
        .and("MCP-Protocol-Version", "2026-07-28")
        .and("Mcp-Method", "tools/call")
        .and("Mcp-Name", "s__echo");
    let called = ask(port, &sent);
    assert!(called.body.contains("hello"), "{called:?}");
    endpoint.end();
}
