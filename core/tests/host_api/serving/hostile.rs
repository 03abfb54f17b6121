//! Clients that mean harm, or are broken: each gets a status, and no other client notices.

use std::io::Write;
use std::net::TcpStream;

use serde_json::json;

use super::exchange::{Answered, Sent, ask, exchange, modern, modern_call, post};
use super::sessions::session_id;
use super::{Endpoint, ONE, OTHER};

/// Bytes of a body that the endpoint of this test takes.
const BODY_BYTES: usize = 64 << 10;

/// What is sent, given a good request; then the status, and the code of the JSON-RPC error if one
/// is wanted. A status of 0 is a connection that is closed without an answer.
type Row = (&'static str, fn(Sent) -> Sent, u16, i64);

/// SPEC 19.7, 19.8: rows of requests whose base is a good modern call.
const ROWS: &[Row] = &[
    ("nothing wrong", |sent| sent, 200, 0),
    ("Host is localhost", |sent| port_of(&sent, "localhost"), 200, 0),
    ("foreign Host", |sent| sent.with("Host", "evil.example"), 403, 0),
    ("foreign Host, right port", |sent| port_of(&sent, "evil.example"), 403, 0),
    ("Host without the port", |sent| sent.with("Host", "127.0.0.1"), 403, 0),
    ("Host with another port", |sent| sent.with("Host", "127.0.0.1:1"), 403, 0),
    ("Host that is none", |sent| sent.with("Host", "a b"), 400, 0),
    ("no Host", |sent| sent.with("Host", ""), 400, 0),
    ("two Hosts", |sent| sent.and("Host", "evil.example"), 400, 0),
    ("foreign Origin", |sent| sent.and("Origin", "http://evil.example"), 403, 0),
    ("Origin null", |sent| sent.and("Origin", "null"), 403, 0),
    ("Origin of another port here", |sent| sent.and("Origin", "http://127.0.0.1:1"), 403, 0),
    ("two Origins", |sent| sent.and("Origin", "a").and("Origin", "b"), 403, 0),
    ("no token", |sent| sent.with("Authorization", ""), 401, 0),
    ("a wrong token", |sent| sent.with("Authorization", "Bearer 0123456789012345678901"), 401, 0),
    ("an empty token", |sent| sent.with("Authorization", "Bearer"), 401, 0),
    ("a token by another scheme", |sent| sent.with("Authorization", "Basic b25lOng="), 401, 0),
    ("two tokens", |sent| sent.and("Authorization", "Bearer x"), 401, 0),
    ("a token in the URL", |sent| sent.line("POST /mcp/s?access_token=x"), 400, 0),
    ("a token in the URL, escaped", |sent| sent.line("POST /mcp/s?%61pi_key=x"), 400, 0),
    ("a token in the URL alone", |sent| url_token(sent), 400, 0),
    ("a body of another type", |sent| sent.with("Content-Type", "text/plain"), 415, 0),
    ("a form, as a page can send it", |sent| form(sent), 415, 0),
    ("a body without a type", |sent| sent.with("Content-Type", ""), 415, 0),
    ("takes HTML alone", |sent| sent.with("Accept", "text/html"), 406, 0),
    ("takes no events", |sent| sent.with("Accept", "application/json"), 406, 0),
    ("no JSON", |sent| sent.body("{"), 400, -32700),
    ("not UTF-8", |sent| sent.body(vec![b'"', 0xff, b'"']), 400, -32700),
    ("a number", |sent| sent.body("7"), 400, 0),
    ("an empty batch", |sent| sent.body("[]"), 400, 0),
    ("a batch", |sent| batch(sent), 400, 0),
    ("no body", |sent| sent.body("").and("Content-Length", "0"), 400, -32700),
    ("a body that is too long", |sent| sent.body(vec![b' '; BODY_BYTES + 1]), 413, 0),
    (
        "a body that says it is too long",
        |sent| sent.body("").and("Content-Length", "99999999"),
        413,
        0,
    ),
    ("a body in pieces that is too long", |sent| chunked(sent, BODY_BYTES + 1), 413, 0),
    ("pieces without a size", |sent| pieces(sent, "zz\r\n{}\r\n0\r\n\r\n"), 400, 0),
    ("a length below zero", |sent| sent.and("Content-Length", "-1"), 400, 0),
    ("two lengths", |sent| sent.and("Content-Length", "1").and("Content-Length", "2"), 400, 0),
    ("a head that is too long", |sent| sent.and("X-Long", &"x".repeat(32 << 10)), 431, 0),
    ("a header with a line feed", |sent| sent.and("X-Odd", "a\nb: c\n\n"), 400, 0),
    ("another method", |sent| sent.line("PUT /mcp/s"), 405, 0),
    ("a preflight without an origin", |sent| sent.line("OPTIONS /mcp/s"), 405, 0),
    ("TRACE", |sent| sent.line("TRACE /mcp/s"), 405, 0),
    ("CONNECT", |sent| sent.line("CONNECT evil.example:443"), 400, 0),
    ("a proxy's request line", |sent| sent.line("POST http://evil.example/mcp/s"), 400, 0),
    ("another path", |sent| sent.line("POST /"), 404, 0),
    ("a path with dots", |sent| sent.line("POST /mcp/../metrics"), 404, 0),
    ("an unknown server", |sent| sent.line("POST /mcp/none"), 404, 0),
    ("an unknown profile", |sent| sent.line("POST /profiles/none/mcp"), 404, 0),
    ("a document of OAuth", |sent| get(sent, "/.well-known/oauth-protected-resource"), 404, 0),
    ("metrics without a token", |sent| get(sent, "/metrics").with("Authorization", ""), 401, 0),
    ("health with a foreign Host", |sent| get(sent, "/healthz").with("Host", "x"), 403, 0),
    ("health", |sent| get(sent, "/healthz").with("Authorization", ""), 200, 0),
    ("an unspoken revision", |sent| revised(sent, "2030-01-01"), 400, -32022),
    (
        "a forged revision in the header",
        |sent| sent.with("MCP-Protocol-Version", "2030-01-01"),
        400,
        -32020,
    ),
    (
        "a forged revision in the body",
        |sent| revised(sent, "2030-01-01").with("MCP-Protocol-Version", "2026-07-28"),
        400,
        -32020,
    ),
    ("another method in the header", |sent| sent.with("Mcp-Method", "tools/list"), 400, -32020),
    ("another tool in the header", |sent| sent.with("Mcp-Name", "big"), 400, -32020),
    ("no tool in the header", |sent| sent.with("Mcp-Name", ""), 400, -32020),
    ("two tools in the headers", |sent| sent.and("Mcp-Name", "big"), 400, -32020),
    ("no capabilities", |sent| without_capabilities(sent), 400, -32602),
    ("an unknown method", |sent| method(sent, "trunkline/approve"), 404, -32601),
    ("a legacy method", |sent| method(sent, "initialize"), 404, -32601),
    ("a forged state", |sent| state(sent, "AAAA.AAAA"), 200, -32602),
    ("a state that is none", |sent| state(sent, ""), 200, -32602),
    ("an answer to nothing", |sent| answer(sent), 400, -32600),
    ("a session that is unknown", |sent| legacy(sent).and("Mcp-Session-Id", "x"), 404, 0),
    (
        "two sessions",
        |sent| legacy(sent).and("Mcp-Session-Id", "x").and("Mcp-Session-Id", "y"),
        400,
        0,
    ),
    ("no session", legacy, 400, 0),
    ("the end of an unknown session", |sent| ended(sent), 404, 0),
    ("a stream without a session", |sent| get(sent, "/mcp/s"), 400, 0),
    (
        "a stream of the modern era",
        |sent| get(sent, "/mcp/s").and("MCP-Protocol-Version", "2026-07-28"),
        405,
        0,
    ),
    ("a stream of something else", |sent| get(sent, "/mcp/s").with("Accept", "text/html"), 406, 0),
];

fn port_of(sent: &Sent, name: &str) -> Sent {
    let host = sent.headers.iter().find(|(had, _)| had == "Host").unwrap().1.clone();
    let (_, port) = host.split_once(':').unwrap();
    sent.clone().with("Host", &format!("{name}:{port}"))
}

fn url_token(sent: Sent) -> Sent {
    sent.with("Authorization", "").line(&format!("POST /mcp/s?token={ONE}"))
}

fn form(sent: Sent) -> Sent {
    sent.with("Content-Type", "application/x-www-form-urlencoded")
}

fn batch(sent: Sent) -> Sent {
    let body = format!("[{}]", String::from_utf8(sent.body.clone()).unwrap());
    sent.body(body)
}

fn pieces(sent: Sent, body: &str) -> Sent {
    sent.and("Transfer-Encoding", "chunked").body(body)
}

fn chunked(sent: Sent, bytes: usize) -> Sent {
    let body = format!("{bytes:x}\r\n{}\r\n0\r\n\r\n", " ".repeat(bytes));
    pieces(sent, &body)
}

fn get(sent: Sent, path: &str) -> Sent {
    let bare = ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Content-Type"]
        .iter()
        .fold(sent, |sent, name| sent.with(name, ""));
    bare.line(&format!("GET {path}")).body("")
}

fn legacy(sent: Sent) -> Sent {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let bare = ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"]
        .iter()
        .fold(sent, |sent, name| sent.with(name, ""));
    bare.body(message.to_string())
}

fn ended(sent: Sent) -> Sent {
    get(sent, "/mcp/s").line("DELETE /mcp/s").and("Mcp-Session-Id", "x")
}

fn revised(sent: Sent, revision: &str) -> Sent {
    let body = String::from_utf8(sent.body.clone()).unwrap().replace("2026-07-28", revision);
    sent.with("MCP-Protocol-Version", revision).body(body)
}

fn without_capabilities(sent: Sent) -> Sent {
    let body = String::from_utf8(sent.body.clone()).unwrap();
    sent.body(body.replace("clientCapabilities", "other"))
}

fn method(sent: Sent, method: &str) -> Sent {
    let body = modern(1, method, json!({})).to_string();
    sent.with("Mcp-Method", method).with("Mcp-Name", "").body(body)
}

fn state(sent: Sent, state: &str) -> Sent {
    let params = json!({ "name": "echo", "arguments": {}, "requestState": state });
    sent.body(modern(1, "tools/call", params).to_string())
}

fn answer(sent: Sent) -> Sent {
    sent.body(json!({ "jsonrpc": "2.0", "id": 1, "result": {} }).to_string())
}

/// SPEC 19.7, 19.8: each is answered by its status, and a good client is served behind each.
#[test]
fn each_hostile_request_is_refused_at_its_own_cost() {
    let endpoint = Endpoint::new(json!({ "limits": { "body_bytes": BODY_BYTES } }));
    let port = endpoint.port();
    let good = modern_call(port, ONE, "echo", &json!({ "message": "hello" }));
    let mut wrong = Vec::new();
    for (name, change, status, code) in ROWS {
        let had = ask(port, &change(good.clone()));
        if (had.status, if *code == 0 { 0 } else { had.code() }) != (*status, *code) {
            wrong.push(format!(
                "{name}: {status} {code} wanted, had {} {} {}",
                had.status,
                had.code(),
                had.body
            ));
        }
        assert!(!had.body.contains(ONE) && !had.body.contains(OTHER), "{name} shows a token");
        let next = ask(port, &good);
        assert!(is_good(&next), "behind `{name}`: {next:?}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    endpoint.end();
}

fn is_good(answer: &Answered) -> bool {
    answer.status == 200 && answer.body.contains("hello")
}

/// SPEC 19.4, 19.7: a session belongs to who opened it, at the path where it was opened.
#[test]
fn a_session_of_another_principal_is_as_unknown_as_none() {
    let endpoint = Endpoint::new(json!({}));
    let port = endpoint.port();
    let id = session_id(port);
    for (token, path, line, status) in [
        (OTHER, "/mcp/s", "POST /mcp/s", 404),
        (ONE, "/mcp", "POST /mcp", 404),
        (OTHER, "/mcp/s", "DELETE /mcp/s", 404),
        (ONE, "/mcp/s", "POST /mcp/s", 200),
        (ONE, "/mcp/s", "DELETE /mcp/s?revision=1999-01-01", 400),
        (ONE, "/mcp/s", "DELETE /mcp/s", 204),
        (ONE, "/mcp/s", "POST /mcp/s", 404),
    ] {
        let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
        let sent = post(port, token, path, &list).and("Mcp-Session-Id", &id).line(line);
        let sent = match line.split_once("revision=") {
            Some((_, revision)) => sent.and("MCP-Protocol-Version", revision),
            None => sent,
        };
        assert_eq!(ask(port, &sent).status, status, "{line} {token}");
    }
    endpoint.end();
}

/// SPEC 19.8: clients that hold connections without a word, half a head or half a body are bounded
/// by the limit of their principal, and others are served meanwhile.
#[test]
fn connections_that_say_nothing_hold_nobody_up() {
    let endpoint = Endpoint::new(json!({ "limits": { "connections": 4 } }));
    let port = endpoint.port();
    let good = modern_call(port, OTHER, "echo", &json!({ "message": "hello" }));
    let half = modern_call(port, ONE, "echo", &json!({ "message": "hello" })).bytes();
    let mut held = Vec::new();
    for part in [0, 1, 20, half.len() - 1, half.len() - 1, half.len() - 1, half.len() - 1] {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.write_all(&half[..part]).unwrap();
        held.push(stream);
        assert!(is_good(&ask(port, &good)), "with {} held", held.len());
    }
    let had = rig::until_some(|| {
        let had = exchange(port, &half);
        (had.status == 429).then_some(had)
    });
    assert!(had.body.contains("too many connections"), "{had:?}");
    drop(held);
    rig::until(|| is_good(&exchange(port, &half)));
    endpoint.end();
}
