//! Bad remote servers, through the public API: each input is a row of a table, with the error that
//! must come of it, which is there in time, in bounded memory, and in `status` (SPEC 4.6, 5.10,
//! 5.12, S-24, S-32).
//!
//! The rows of `elsewhere` name the tests that show the rest of what may come, and the behaviour
//! cases that do so in all languages.

#[path = "../../../tests/servers/fault/rogue.rs"]
#[allow(dead_code, reason = "the fault server uses the rest")]
mod rogue;

use std::net::TcpListener;
use std::time::{Duration, Instant};

use rig::peak::Peak;
use rig::{Rig, host};
use serde_json::{Value, json};
use trunkline::{AcquireOptions, CallOptions, Error, Lease, Outcome, Session};

use rogue::{Answer, Rogue, Scheme, To};

/// Every row has ended in this time, on a busy machine too. What has no wait of its own would wait
/// for longer.
const IN_TIME: Duration = Duration::from_secs(60);
const NEVER_MS: u64 = 200_000;

/// What all rows together may add to the process: several times the frame limit of a row, for what
/// is on its way.
const GROWTH_KIB_MAX: u64 = 8 << 10;

const FRAME_BYTES: u64 = 200_000;

/// Nobody may show it, and nobody else may get it.
const TOKEN: &str = "Bearer canary-0123456789";

fn table() -> Value {
    serde_json::from_str(include_str!("../../../tests/servers/fault/remotes.json")).unwrap()
}

fn rows<'a>(table: &'a Value, name: &str) -> &'a [Value] {
    let rows = table[name].as_array().unwrap();
    assert!(!rows.is_empty());
    rows
}

fn word<'a>(row: &'a Value, member: &str) -> &'a str {
    row[member].as_str().unwrap()
}

/// What the row sends; `other` is where its redirects lead.
fn answer(row: &Value, other: &TcpListener) -> Answer {
    let then = row["then"].as_str().unwrap_or_default();
    Answer::written(word(row, "sends"), then, other.local_addr().unwrap())
}

/// The configuration of the server at that address.
fn config(url: &str, kind: &str) -> Value {
    json!({ "type": kind, "url": url, "headers": { "Authorization": TOKEN } })
}

/// How an address of the row begins.
fn scheme(row: &Value, kind: &str) -> Scheme {
    match (kind == "websocket", row["tls"] == true) {
        (false, false) => Scheme::Http,
        (false, true) => Scheme::Https,
        (true, false) => Scheme::Ws,
        (true, true) => Scheme::Wss,
    }
}

/// The row's error: its code, its words, its detail; for which there is a server's name and, where
/// somebody can act, a hint.
fn check(row: &Value, kind: &str, error: &Error) {
    let name = format!("{} over {kind}: {error} {}", word(row, "input"), error.to_json());
    assert_eq!(error.code().name(), word(row, "code"), "{name}");
    assert_eq!(error.server(), Some("s"), "{name}");
    assert!(error.message().contains(word(row, "says")), "{name}");
    for (member, value) in row["detail"].as_object().into_iter().flatten() {
        assert_eq!(&error.detail()[member], value, "{name}");
    }
    let shown = format!("{error:?} {}", error.to_json());
    assert!(!shown.contains("canary"), "{shown}");
    assert!(shown.len() < 4_000, "{} characters: {shown}", shown.len());
}

/// The time that a row's connect or call has.
fn waits_ms(row: &Value) -> u64 {
    row["waits_ms"].as_u64().unwrap_or(NEVER_MS)
}

fn pool() -> Rig {
    Rig::new(json!({ "limits": { "frame_bytes": FRAME_BYTES } }))
}

async fn acquire(rig: &Rig, config: Value) -> (Session, trunkline::Result<Lease>) {
    rig.configure(json!({ "s": config })).await;
    let session = rig.session("a");
    let lease = session.acquire("s", None, &AcquireOptions::default()).await;
    (session, lease)
}

/// An address that nothing good is at: the attempt fails, and `status` says why.
fn meet_address(row: &Value, kind: &str, other: &TcpListener) {
    // Without TLS there is nothing that could read what is asked over it.
    let to = if row["tls"] == true { To::Comers } else { To::Everything };
    let rogue = row["host"].is_null().then(|| Rogue::start(to, answer(row, other)));
    let rig = pool();
    let url = match &rogue {
        Some(rogue) => scheme(row, kind).url(rogue.address),
        None => scheme(row, kind).url(word(row, "host")),
    };
    let mut config = config(&url, kind);
    config["connect_timeout_ms"] = json!(waits_ms(row));
    let begun = Instant::now();
    let (_session, refused) = host(acquire(&rig, config));
    let took = begun.elapsed();
    let error = refused.err().unwrap_or_else(|| panic!("{} is a server", word(row, "input")));
    check(row, kind, &error);
    assert!(took < IN_TIME, "{} over {kind}: {took:?}", word(row, "input"));
    let status = rig.pool.status();
    let entry = &status["servers"]["s"];
    assert_eq!(entry["error_code"], row["code"], "{entry}");
    assert_eq!(entry["last_error"]["server"], "s", "{entry}");
    let said = entry["last_error"]["message"].as_str().unwrap();
    assert!(said.contains(word(row, "says")), "{entry}");
    assert!(!status.to_string().contains("canary"), "{status}");
    println!("{:60} {kind:9} {took:?}", word(row, "input"));
}

/// A server that is one until it is called: the call fails, and nothing else.
fn meet_call(row: &Value, era: &str, other: &TcpListener) {
    let rogue = Rogue::start(To::Calls, answer(row, other));
    let rig = pool();
    let mut config = config(&Scheme::Http.url(rogue.address), "http");
    config["era"] = json!(era);
    let options = json!({ "timeout_ms": waits_ms(row), "idle_timeout_ms": waits_ms(row) });
    let options = CallOptions::from_json(&options.to_string()).unwrap();
    host(async {
        let (_session, lease) = acquire(&rig, config).await;
        let lease = lease.unwrap();
        for _ in 0..2 {
            let begun = Instant::now();
            let error = lease.call_tool("any", "{}", &options).await.expect_err("it has to fail");
            check(row, "http", &error);
            assert_eq!(error.outcome(), Some(Outcome::Unknown), "{error}");
            assert!(begun.elapsed() < IN_TIME, "{}: {:?}", word(row, "input"), begun.elapsed());
        }
        let entry = rig.pool.status()["servers"]["s"]["entries"][0].clone();
        let counts = (&entry["state"], &entry["generation"], &entry["calls"], &entry["errors"]);
        assert_eq!(counts, (&json!("active"), &json!(1), &json!(2), &json!(2)), "{entry}");
    });
}

/// SPEC 4.6, 5.10, 5.12, 8.4, S-24, S-32: one after the other in one process, whose memory is
/// looked at.
#[test]
fn every_bad_remote_ends_as_it_is_written_down() {
    rig::alone!();
    let table = table();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    other.set_nonblocking(true).unwrap();
    // What is made once for the process is there before its memory is looked at.
    meet_address(&rows(&table, "addresses")[0], "http", &other);
    let peak = Peak::begin();
    let mut failed = Vec::new();
    let mut meet = |row: &Value, kind: &str, meeting: &dyn Fn()| {
        let met = std::panic::catch_unwind(std::panic::AssertUnwindSafe(meeting));
        failed.extend(met.err().map(|_| format!("{} over {kind}", word(row, "input"))));
    };
    // Silence has nothing to be measured: the behaviour cases alone wait for its end.
    let speaks = |row: &&Value| row["then"] != "hang";
    for row in rows(&table, "addresses").iter().filter(speaks) {
        for kind in row["kinds"].as_array().unwrap().iter().filter_map(Value::as_str) {
            meet(row, kind, &|| meet_address(row, kind, &other));
        }
    }
    for row in rows(&table, "calls").iter().filter(speaks) {
        meet(row, "http", &|| meet_call(row, "legacy", &other));
        // What waits for a time-out is waited for in the other era by the behaviour cases alone.
        if row["waits_ms"].is_null() {
            meet(row, "http", &|| meet_call(row, "modern", &other));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
    let grown = peak.grown_kib();
    println!("grown by {grown} KiB");
    assert!(grown <= GROWTH_KIB_MAX, "{grown} KiB");
    let visited = other.accept().map(drop).unwrap_err();
    assert_eq!(visited.kind(), std::io::ErrorKind::WouldBlock, "another origin was gone to");
}

/// What the table leaves to other tests is shown by tests that are there, and in all languages.
#[test]
fn what_is_shown_elsewhere_is_there() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let files = std::fs::read_dir(format!("{root}/tests/behaviour")).unwrap();
    let files = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    let files: Vec<String> = files.collect();
    let table = table();
    for row in rows(&table, "elsewhere") {
        let source = std::fs::read_to_string(format!("{root}/{}", word(row, "file"))).unwrap();
        assert!(source.contains(&format!("fn {}()", word(row, "test"))), "{row}");
        let case = format!("\"name\": \"{}\"", word(row, "case"));
        let is_there = |file: &String| file.replace("\"name\":\"", "\"name\": \"").contains(&case);
        assert!(files.iter().any(is_there), "{row}");
    }
}
