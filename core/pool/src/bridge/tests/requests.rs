//! Requests of clients of both eras: what is answered here, what is refused, and with which code.

use super::talk::{facts, talk};
use crate::bridge::{BridgeInput, Era, LaneKind, McpHeaders, StreamId};

/// A legacy session that is open on stream 1.
pub const OPEN: (&str, &[&str]) = (
    r#"1 > 1 initialize {"protocolVersion":"2025-11-25","capabilities":{"elicitation":{},"sampling":{}}}"#,
    &["open 1", "send 1 last 200 …\"protocolVersion\":\"2025-11-25\"…"],
);

/// SPEC 19.2: a legacy session over HTTP.
#[test]
fn a_legacy_session_is_opened_and_answered() {
    talk(
        facts(Era::Legacy, LaneKind::Http),
        Era::Legacy,
        &[
            ("1 > 1 ping {}", &[r#"send 1 last 200 {"id":1,"result":{}}"#]),
            ("2 > 2 tools/list {}", &["send 2 last 400 …-32600…"]),
            OPEN,
            ("2 > - notifications/initialized {}", &["accepted 2"]),
            (
                "3 > 1 initialize {\"protocolVersion\":\"2025-11-25\"}",
                &["send 3 last 400 …-32600…"],
            ),
            (
                "3 > \"a\" tools/list {}",
                &["send 3 last 200 {\"id\":\"a\",\"result\":{\"tools\":[{\"name\":\"echo\"…"],
            ),
            ("3 > 2 tools/list {\"cursor\":\"x\"}", &["send 3 last 200 …-32602…`params.cursor`…"]),
            ("3 > 2 tools/list {\"cursor\":7}", &["send 3 last 200 …-32602…`params.cursor`…"]),
            ("3 > 3 server/discover {}", &["send 3 last 200 …-32601…"]),
            (
                "3 > 4 logging/setLevel {\"level\":\"warning\"}",
                &["level warning", "send 3 last 200 …{}}"],
            ),
            (
                "3 > 5 logging/setLevel {\"level\":\"loud\"}",
                &["send 3 last 200 …-32602…`params.level`…"],
            ),
            ("3 > 6 tools/call {}", &["send 3 last 200 …-32602…`params.name`…"]),
            ("3 raw {", &["send 3 last 400 {\"id\":null,…-32700…"]),
            ("3 raw {\"a\":1}", &["send 3 last 400 {\"id\":null,…-32600…"]),
            (
                "3 raw [{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
                &["send 3 last 400 …-32600…"],
            ),
        ],
    );
}

/// SPEC 19.2: which revision a client gets that asks for one.
#[test]
fn a_revision_that_is_not_spoken_becomes_the_newest_legacy_one() {
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let line =
            format!(r#"1 > 1 initialize {{"protocolVersion":"{asked}","capabilities":{{}}}}"#);
        let told = format!("send 1 200 …\"protocolVersion\":\"{agreed}\"…");
        talk(facts(Era::Legacy, LaneKind::Lines), Era::Modern, &[(&line, &["open 1", &told])]);
    }
}

/// SPEC 19.2: batches are of one revision, and their stream ends behind the last answer.
#[test]
fn a_batch_is_answered_message_by_message() {
    talk(
        facts(Era::Legacy, LaneKind::Http),
        Era::Legacy,
        &[
            (
                r#"1 > 1 initialize {"protocolVersion":"2025-03-26","capabilities":{}}"#,
                &["open 1", "send 1 last 200 …"],
            ),
            (
                r#"2 raw [{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}},{"jsonrpc":"2.0","method":"x"}]"#,
                &["send 2 200 {\"id\":1,\"result\":{}}", "call 1 s tools/call {\"name\":\"echo\"}"],
            ),
            ("answered 1 {}", &["send 2 last 200 {\"id\":2,\"result\":{}}"]),
            (r#"3 raw [{"jsonrpc":"2.0","method":"x"}]"#, &["accepted 3"]),
            ("3 raw []", &["send 3 last 400 …-32600…"]),
        ],
    );
}

/// SPEC 19.2: each modern request stands for itself.
#[test]
fn a_modern_request_says_everything_of_itself() {
    talk(
        facts(Era::Modern, LaneKind::Http),
        Era::Modern,
        &[
            (
                "1 > 1 server/discover {META}",
                &[
                    "send 1 last 200 …\"supportedVersions\":[\"2026-07-28\"…\"resultType\":\"complete\"…serverInfo…",
                ],
            ),
            (
                "1 > 1 tools/list {META}",
                &["send 1 last 200 …\"ttlMs\":5000,\"cacheScope\":\"public\"…"],
            ),
            ("1 > 1 tools/list {}", &["send 1 last 400 …-32602…protocolVersion…"]),
            (
                r#"1 > 1 tools/list {"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#,
                &["send 1 last 400 …-32602…clientCapabilities…"],
            ),
            (
                r#"1 > 1 tools/list {"_meta":{"io.modelcontextprotocol/protocolVersion":"2030-01-01"}}"#,
                &[
                    "send 1 last 400 …-32022…\"supported\":[\"2026-07-28\"…\"requested\":\"2030-01-01\"…",
                ],
            ),
            ("1 > 1 initialize {META}", &["send 1 last 404 …-32601…"]),
            ("1 > 1 ping {META}", &["send 1 last 404 …-32601…"]),
            ("1 > 1 logging/setLevel {META}", &["send 1 last 404 …-32601…"]),
            ("1 > 1 resources/subscribe {META}", &["send 1 last 404 …-32601…"]),
            ("1 > 1 tasks/get {META}", &["send 1 last 404 …-32601…"]),
            ("1 < 1 {}", &["send 1 last 400 …-32600…"]),
            ("1 > - notifications/x {}", &["accepted 1"]),
            ("1 raw []", &["send 1 last 400 …-32600…"]),
        ],
    );
}

/// SPEC 19.6: what belongs to one leg stays on it, and everything else passes.
#[test]
fn ids_tokens_and_reserved_members_are_new_on_each_leg() {
    let call = r#"1 > 7 tools/call {"name":"echo","arguments":{"b":1.0, "a":[]},"_meta":{"progressToken":"t","traceparent":"00-x","io.modelcontextprotocol/x":1}}"#;
    talk(
        facts(Era::Legacy, LaneKind::Lines),
        Era::Legacy,
        &[
            (OPEN.0, &["open 1", "send 1 200 …"]),
            (
                call,
                &[
                    r#"call 1 s tools/call {"name":"echo","arguments":{"b":1.0, "a":[]},"_meta":{"traceparent":"00-x"}} progress"#,
                ],
            ),
            (
                r#"progress 1 {"progressToken":44,"progress":1}"#,
                &[r#"send 1 droppable 200 …"params":{"progress":1,"progressToken":"t"}}"#],
            ),
            ("1 > 7 ping {}", &["send 1 400 …-32600…same id…"]),
            (
                r#"answered 1 {"content":[{"type":"text" ,"text":"x"}],"structuredContent":null}"#,
                &[
                    r#"send 1 200 {"id":7,"result":{"content":[{"type":"text" ,"text":"x"}],"structuredContent":null}}"#,
                ],
            ),
            (r#"progress 1 {"progress":2}"#, &[]),
            ("answered 1 {}", &[]),
        ],
    );
}

/// SPEC 19.5: every error of a server and of the pool is told in the words of the client's era.
#[test]
fn errors_of_servers_and_of_the_pool_are_told() {
    let read = r#"resources/read {META,"uri":"x:y"}"#;
    let line = format!("1 > 1 {read}");
    talk(
        facts(Era::Modern, LaneKind::Http),
        Era::Legacy,
        &[
            (&line, &[r#"call 1 s resources/read {"uri":"x:y"}"#]),
            ("failed 1 -32002 {}", &["send 1 last 200 …-32602…{\"uri\":\"x:y\"}…"]),
            (&line, &["call 2 …"]),
            (
                "failed 2 -32001 1",
                &["send 1 last 200 …-32603…{\"original\":{\"code\":-32001,\"data\":1}}…"],
            ),
            (&line, &["call 3 …"]),
            (
                "lost 3",
                &[
                    r#"send 1 last 200 …-32603…{"code":"call_interrupted","retryable":false,"outcome":"unknown","server":"s"}…"#,
                ],
            ),
            (&line, &["call 4 …"]),
            ("answered 4 []", &["send 1 last 200 …-32603…"]),
        ],
    );
}

/// SPEC 19.2: over HTTP the headers say what the body says, or the request is refused.
#[test]
fn headers_of_a_modern_request_are_compared_with_its_body() {
    let mut talk = talk(facts(Era::Modern, LaneKind::Http), Era::Modern, &[]);
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo",{meta}}}}}"#
    );
    for (name, is_right) in [("echo", true), ("other", false)] {
        let all = [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", name),
        ];
        let headers = McpHeaders::new(all);
        let done = talk.take(BridgeInput::Message {
            stream: StreamId(1),
            text: &text,
            headers: Some(&headers),
        });
        let done = format!("{done:?}");
        assert_eq!(done.contains("Call {"), is_right, "{done}");
        assert_eq!(done.contains("-32020") && done.contains("status: 400"), !is_right, "{done}");
    }
}
