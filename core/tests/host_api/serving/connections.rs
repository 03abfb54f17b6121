//! Connections that are used in odd ways, and legacy sessions that are too many or come back.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use rig::HANG;
use serde_json::json;

use super::exchange::{Sent, ask, exchange, initialize, modern_call, post};
use super::sessions::session_id;
use super::{Endpoint, ONE, OTHER};

/// What is sent on a new connection, given the bytes of a good request that ends it; then how the
/// answers begin, in their order. A connection without an answer is closed.
type Row = (&'static str, fn(&str) -> String, &'static [&'static str]);

const OK: &str = "HTTP/1.1 200";
const BAD: &str = "HTTP/1.1 400";

/// SPEC 19.7, 19.8.
const ROWS: &[Row] = &[
    ("one request", |good| good.into(), &[OK]),
    ("two requests at once", |good| format!("{}{good}", open(good)), &[OK, OK]),
    ("one behind a blank line", |good| format!("\r\n{good}"), &[OK]),
    ("garbage", |_| "\u{1}\u{2}\u{3}\r\n\r\n".into(), &[BAD]),
    ("a greeting of TLS", |_| "\u{16}\u{3}\u{1}\0\u{5}\u{1}\0\r\n\r\n".into(), &[BAD]),
    ("HTTP/0.9", |_| "GET /mcp/s\r\n\r\n".into(), &[BAD]),
    ("HTTP/2 at once", |_| "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".into(), &[]),
    ("another protocol", |_| "EHLO evil.example\r\n\r\n".into(), &[BAD]),
    ("garbage behind a request", |good| format!("{}\u{1}\r\n\r\n", open(good)), &[OK, BAD]),
    ("a body behind its length", |good| format!("{}xx", open(good)), &[OK]),
    ("a refused one, then a good one", |good| format!("{}{good}", foreign(good)), &[FORBIDDEN]),
    ("nothing", |_| String::new(), &[]),
    ("half a head", |good| good[..40].into(), &[]),
    ("half a body", |good| good[..good.len() - 1].into(), &[]),
    (
        "more headers than anybody has",
        |good| good.replacen("\r\n", &format!("\r\n{}", "A: b\r\n".repeat(200)), 1),
        &["HTTP/1.1 431"],
    ),
];

const FORBIDDEN: &str = "HTTP/1.1 403";

/// The same request on a connection that stays.
fn open(good: &str) -> String {
    good.replace("Connection: close\r\n", "")
}

/// The same with an origin that is not allowed.
fn foreign(good: &str) -> String {
    open(good).replacen("\r\n", "\r\nOrigin: http://evil.example\r\n", 1)
}

/// Sends all of it, says that nothing follows, and reads until the other side closes.
fn half_closed(port: u16, bytes: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(HANG)).unwrap();
    // An endpoint may answer before it has read everything, and close.
    let _ = stream.write_all(bytes.as_bytes());
    let _ = stream.shutdown(Shutdown::Write);
    let mut read = Vec::new();
    let ended = stream.read_to_end(&mut read);
    assert!(
        !ended.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock),
        "the connection is left: {}",
        String::from_utf8_lossy(&read)
    );
    String::from_utf8_lossy(&read).into_owned()
}

/// Reads the answers of a connection until there are so many, or it is closed.
fn answers(port: u16, bytes: &str, count: usize) -> Vec<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(HANG)).unwrap();
    let _ = stream.write_all(bytes.as_bytes());
    let mut read = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&read).into_owned();
        let lines: Vec<String> =
            text.split("HTTP/1.1 ").skip(1).map(|it| format!("HTTP/1.1 {}", &it[..3])).collect();
        if lines.len() >= count {
            return lines;
        }
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return lines,
            Ok(length) => read.extend_from_slice(&piece[..length]),
        }
    }
}

#[test]
fn an_odd_connection_is_answered_or_closed_and_no_other_notices() {
    let endpoint = Endpoint::new(json!({}));
    let port = endpoint.port();
    let good = modern_call(port, ONE, "echo", &json!({ "message": "hello" }));
    let bytes = String::from_utf8(good.bytes()).unwrap();
    let mut wrong = Vec::new();
    for (name, change, wanted) in ROWS {
        let sent = change(&bytes);
        if !wanted.is_empty() {
            let had = answers(port, &sent, wanted.len());
            if had != *wanted {
                wrong.push(format!("{name}: {wanted:?} wanted, had {had:?}"));
            }
        }
        half_closed(port, &sent);
        let next = ask(port, &good);
        assert!(next.status == 200 && next.body.contains("hello"), "behind `{name}`: {next:?}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    endpoint.end();
}

/// SPEC 19.7: a client that asks for much and reads nothing holds up nobody.
#[test]
fn a_client_that_does_not_read_holds_nobody_up() {
    let endpoint = Endpoint::new(json!({}));
    let port = endpoint.port();
    let good = modern_call(port, OTHER, "echo", &json!({ "message": "hello" }));
    let big = modern_call(port, ONE, "big", &json!({ "bytes": 1 << 20 }));
    let mut held = Vec::new();
    for _ in 0..4 {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.write_all(&big.bytes()).unwrap();
        held.push(stream);
        let had = ask(port, &good);
        assert!(had.body.contains("hello"), "with {} held: {had:?}", held.len());
    }
    drop(held);
    endpoint.end();
}

/// SPEC 19.8: beyond its sessions a principal gets 429, another is served, and an end makes room.
#[test]
fn a_principal_has_so_many_sessions_and_no_more() {
    let endpoint = Endpoint::new(json!({ "limits": { "sessions": 2 } }));
    let port = endpoint.port();
    let opening = |token| post(port, token, "/mcp/s", &initialize(1));
    let [first, _second] = [session_id(port), session_id(port)];
    assert_eq!(ask(port, &opening(ONE)).status, 429);
    assert_eq!(ask(port, &opening(OTHER)).status, 200);
    let end = post(port, ONE, "/mcp/s", &json!({})).and("Mcp-Session-Id", &first).body("");
    assert_eq!(ask(port, &end.line("DELETE /mcp/s")).status, 204);
    assert_eq!(ask(port, &opening(ONE)).status, 200);
    endpoint.end();
}

/// A GET of a session, whose answer does not end by itself.
fn listen(port: u16, id: &str) -> TcpStream {
    let sent = stream_of(port, id);
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(HANG)).unwrap();
    stream.write_all(&sent.bytes()).unwrap();
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains("\r\n\r\n") {
        let mut piece = [0; 512];
        let length = stream.read(&mut piece).unwrap();
        assert_ne!(length, 0, "{}", String::from_utf8_lossy(&read));
        read.extend_from_slice(&piece[..length]);
    }
    let head = String::from_utf8_lossy(&read).to_ascii_lowercase();
    assert!(head.starts_with("http/1.1 200"), "{head}");
    for wanted in ["content-type: text/event-stream", "x-accel-buffering: no"] {
        assert!(head.contains(wanted), "{head}");
    }
    stream
}

fn stream_of(port: u16, id: &str) -> Sent {
    let sent = post(port, ONE, "/mcp/s", &json!({})).and("Mcp-Session-Id", id).body("");
    sent.with("Content-Type", "").line("GET /mcp/s")
}

/// SERVING A3.3, A3.4: a session has one stream of unasked messages, and an unknown event is the
/// end of a stream, not an error.
#[test]
fn a_second_stream_of_a_session_ends_the_first() {
    let endpoint = Endpoint::new(json!({}));
    let port = endpoint.port();
    let id = session_id(port);
    let mut first = listen(port, &id);
    let second = listen(port, &id);
    let mut rest = Vec::new();
    first.read_to_end(&mut rest).expect("the first stream has not ended");
    for event in ["ffff-1", "x", "0-0", "-"] {
        let had = exchange(port, &stream_of(port, &id).and("Last-Event-ID", event).bytes());
        assert_eq!((had.status, had.body.contains("data:")), (200, false), "{event}: {had:?}");
    }
    drop(second);
    endpoint.end();
}

/// SERVING A7.2: a page of a listed origin may ask and read; its preflight needs no token.
#[test]
fn a_page_of_a_listed_origin_is_served() {
    let origin = "https://app.example";
    let endpoint = Endpoint::new(json!({ "allowed_origins": [origin] }));
    let port = endpoint.port();
    let good = modern_call(port, ONE, "echo", &json!({ "message": "hello" }));
    let page = |origin: &str| good.clone().and("Origin", origin);
    let ask_first = |origin: &str| {
        let sent = page(origin).with("Authorization", "").line("OPTIONS /mcp/s").body("");
        ask(port, &sent.with("Content-Type", ""))
    };
    let had = ask(port, &page(origin));
    assert_eq!((had.status, had.header("access-control-allow-origin")), (200, Some(origin)));
    let had = ask_first(origin);
    assert_eq!((had.status, had.header("access-control-allow-origin")), (204, Some(origin)));
    for foreign in ["https://app.example.evil", "http://app.example", "null"] {
        for had in [ask(port, &page(foreign)), ask_first(foreign)] {
            assert_eq!((had.status, had.header("access-control-allow-origin")), (403, None));
        }
    }
    endpoint.end();
}
