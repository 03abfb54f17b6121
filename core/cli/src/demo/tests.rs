//! What the demo server answers, line for line.

use serde_json::{Value, json};

use crate::console::terminal::Terminal;

/// The answers to these lines.
fn answers(lines: &[String]) -> Vec<Value> {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let input = lines.join("\n");
    let mut stdin = input.as_bytes();
    let exit = crate::run(
        ["trunkline", "demo"].map(Into::into),
        Terminal::new(&mut stdin, &mut stdout, &mut stderr),
    );
    assert_eq!((exit, &*stderr), (0, &b""[..]));
    let text = String::from_utf8(stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn request(id: u64, method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

fn modern(mut params: Value, revision: &str) -> Value {
    params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": revision });
    params
}

#[test]
fn a_host_of_the_legacy_era_gets_its_own_revision() {
    let answers = answers(&[
        request(1, "initialize", json!({ "protocolVersion": "2025-03-26" })),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string(),
        request(2, "tools/call", json!({ "name": "add", "arguments": { "a": 2, "b": 3 } })),
        request(3, "initialize", json!({ "protocolVersion": "1999-01-01" })),
    ]);
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-03-26");
    assert_eq!(answers[1]["id"], 2);
    assert_eq!(answers[1]["result"], json!({ "content": [{ "type": "text", "text": "5" }] }));
    assert_eq!(answers[2]["result"]["protocolVersion"], "2025-11-25");
}

#[test]
fn a_host_of_the_modern_era_names_its_revision_in_each_request() {
    let echo = json!({ "name": "echo", "arguments": { "message": "hi" } });
    let answers = answers(&[
        request(1, "server/discover", modern(json!({}), "2026-07-28")),
        request(2, "tools/call", modern(echo, "2026-07-28")),
        request(3, "server/discover", modern(json!({}), "2031-01-01")),
    ]);
    assert_eq!(answers[0]["result"]["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(answers[1]["result"]["resultType"], "complete");
    assert_eq!(answers[2]["error"]["code"], -32022);
    assert_eq!(answers[2]["error"]["data"]["supported"], json!(["2026-07-28"]));
}

#[test]
fn what_is_no_request_is_refused_and_the_next_one_answered() {
    let long = format!("\"{}\"", "a".repeat(super::LINE_BYTES_MAX as usize));
    let answers =
        answers(&["{".into(), "[]".into(), String::new(), long, request(7, "ping", json!({}))]);
    let codes: Vec<&Value> = answers[..3].iter().map(|answer| &answer["error"]["code"]).collect();
    assert_eq!(codes, [&json!(-32600); 3]);
    assert_eq!((&answers[3]["id"], &answers[3]["result"]), (&json!(7), &json!({})));
}

#[test]
fn a_wrong_argument_is_the_failure_of_the_tool_and_a_wrong_name_an_error() {
    let call = |id, name: &str| {
        request(id, "tools/call", json!({ "name": name, "arguments": { "to": -1 } }))
    };
    let answers = answers(&[
        call(1, "echo"),
        call(2, "add"),
        call(3, "measure"),
        call(4, "nothing"),
        call(5, "count"),
        request(6, "prompts/get", json!({ "name": "greet" })),
        request(7, "resources/read", json!({ "uri": "demo://nothing" })),
        request(8, "no/method", json!({})),
    ]);
    for answer in &answers[..3] {
        assert_eq!(answer["result"]["isError"], true, "{answer}");
    }
    let codes: Vec<i64> =
        answers[3..].iter().map(|answer| answer["error"]["code"].as_i64().unwrap()).collect();
    assert_eq!(codes, [-32602, -32602, -32602, -32002, -32601]);
}

/// The count is over, or its answer would come: its thread is joined at the end of the input.
#[test]
fn a_cancelled_count_and_one_whose_host_is_gone_are_not_answered() {
    let count = |id| {
        let meta = json!({ "progressToken": id });
        let arguments = json!({ "to": 1, "interval_ms": 60_000 });
        request(id, "tools/call", json!({ "name": "count", "arguments": arguments, "_meta": meta }))
    };
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    let answers = answers(&[count(1), cancel.to_string(), count(2), request(3, "ping", json!({}))]);
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!(3)]);
}
