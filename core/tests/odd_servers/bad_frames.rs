//! Bad frames and bad answers, through the public API: each costs its own call alone, at once and
//! in bounded memory (I-28, SECURITY row 14).
//!
//! The outcomes stand beside the fault server; the behaviour cases made of them show the same in
//! each language.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rig::expect;
use rig::peak::Peak;
use rig::values::{Failure, Given, Saved};
use rig::{HANG, Rig, acquire, host, testserver, text};
use serde_json::{Value, json};
use trunkline::{AcquireOptions, CallOptions, CallResult, Error, ErrorCode, Lease};

/// What a frame may cost beyond the frame limit of its case: 64 MiB of stderr and a 16 MiB line
/// pass by in this.
const GROWTH_KIB_MAX: u64 = 16 << 10;

fn fault_server(rig: &Rig, flags: &[&str]) -> Value {
    let mut server = rig.server(flags);
    server["command"] = json!(testserver().with_file_name("trunkline-faultserver"));
    server
}

/// Checks an outcome against the row's, or the ordinary one.
///
/// # Errors
/// What is wrong with it.
fn check(row: &Value, part: &str, got: Result<CallResult, Error>) -> Result<(), String> {
    let ordinary = json!({ "text": if part == "next" { "plain" } else { part } });
    let ordinary = if part == "call" { json!({ "text": "any" }) } else { ordinary };
    let expected = row.get(part).unwrap_or(&ordinary).as_object().unwrap();
    let got = got.map(|result| Given::text(result.json())).map_err(Failure::Library);
    let checked = expect::check(expected, got, &Saved::default());
    checked.map(drop).map_err(|why| format!("{}: {part}: {why}", name(row)))
}

/// What a row is about: a frame, what becomes of the answer to a method, or a line in place of an
/// answer.
fn name(row: &Value) -> &str {
    let mut names = ["frame", "at", "line"].into_iter().map(|kind| &row[kind]);
    names.find_map(Value::as_str).unwrap()
}

/// The flags that make the fault server do it.
fn flags(row: &Value) -> Vec<&str> {
    let kind = if row["frame"].is_string() { "--frame" } else { "--at" };
    let mut flags = vec![kind, name(row)];
    flags.extend((row["modern"] == true).then_some("--modern"));
    flags
}

/// The row once for each era that it holds in.
fn eras(row: &Value) -> Vec<Value> {
    let mut modern = row.clone();
    modern["modern"] = json!(true);
    if row["eras"] == "both" { vec![row.clone(), modern] } else { vec![row.clone()] }
}

/// One frame: a call that gets it, one that is under way beside it, and one that comes after.
async fn meet(rig: &Rig, row: &Value) {
    let frame = name(row);
    let mut server = fault_server(rig, &flags(row));
    let members = row["server"].as_object().into_iter().flatten();
    members.for_each(|(name, member)| server[name] = member.clone());
    rig.configure(json!({ "s": server, "t": fault_server(rig, &[]) })).await;
    let session = rig.session("a");
    let apart = acquire(&session, "t").await;
    let begun = Instant::now();
    let lease = session.acquire("s", None, &AcquireOptions::default()).await;
    match (lease, row.get("connect")) {
        (Ok(lease), None) => calls(row, &lease).await.unwrap_or_else(|why| panic!("{why}")),
        (Err(error), Some(refused)) => {
            assert!(begun.elapsed() < HANG, "{frame}: {:?}", begun.elapsed());
            let got = Err(Failure::Library(error));
            expect::check(refused.as_object().unwrap(), got, &Saved::default()).unwrap();
        }
        (lease, _) => panic!("{frame}: {:?}", lease.err()),
    }
    println!("{frame:.60} {:?}", begun.elapsed());
    assert_eq!(text(&apart, "plain", json!({})).await, "plain");
}

/// The calls of a row.
///
/// # Errors
/// What ended otherwise than it has to.
async fn calls(row: &Value, lease: &Lease) -> Result<(), String> {
    let options = row.get("call_options").cloned().unwrap_or(json!({}));
    let options = CallOptions::from_json(&options.to_string()).unwrap();
    let ordinary = CallOptions::default();
    let other = lease.call_tool("other", "{}", &ordinary);
    // What a server that is told what to say says.
    let arguments = json!({ "line": row["line"] }).to_string();
    let call = async {
        if row["cancel"] == true {
            drop(cancelled(lease).await);
            return Ok(());
        }
        check(row, "call", lease.call_tool("any", &arguments, &options).await)
    };
    let begun = Instant::now();
    // The other call is written first: the branches begin in this order.
    let (other, called) = tokio::join!(biased; other, call);
    // What waits for a time-out that is not the row's has another outcome as well.
    assert!(begun.elapsed() < HANG, "{}: {:?}", name(row), begun.elapsed());
    called.and(check(row, "other", other))?;
    let is_lost = row["other"]["error"]["code"] == "call_interrupted";
    let wait = CallOptions::from_json(r#"{"wait":true}"#).unwrap();
    let options = if row.get("next").is_some() { &options } else { &ordinary };
    let next = lease.call_tool("plain", "{}", if is_lost { &wait } else { options }).await;
    check(row, "next", next)
}

/// A call that is cancelled by its host: its reply comes later.
async fn cancelled(lease: &Lease) -> Result<CallResult, tokio::time::error::Elapsed> {
    let options = CallOptions::default();
    let call = async { lease.call_tool("any", "{}", &options).await.unwrap() };
    tokio::time::timeout(Duration::from_millis(50), call).await
}

/// SPEC 5.10, 4.3, 4.5, 4.7, 4.8, S-24, I-28: every row, one after the other in one process.
#[test]
fn every_bad_frame_ends_as_it_is_written_down() {
    rig::alone!();
    let written = include_str!("../../../tests/servers/fault/behaviours.json");
    let written: Value = serde_json::from_str(written).unwrap();
    let rows = ["frames", "answers"].map(|kind| written[kind].as_array().unwrap());
    // Those that wait for a deadline have nothing to be measured; the behaviour suite has them.
    let is_measured = |row: &&Value| {
        ["options", "server"].iter().all(|given| row[given]["connect_timeout_ms"].is_null())
    };
    let rows: Vec<Value> = rows.into_iter().flatten().filter(is_measured).flat_map(eras).collect();
    host(meet(&Rig::new(json!({})), &json!({ "frame": "crlf" })));
    let peak = Peak::begin();
    for row in &rows {
        let rig = Rig::new(row.get("options").cloned().unwrap_or(json!({})));
        host(meet(&rig, row));
        let grown = peak.grown_kib();
        assert!(grown <= GROWTH_KIB_MAX, "{}: {grown} KiB", name(row));
    }
    println!("grown by {} KiB", peak.grown_kib());
    rig::score::done("frames/kept", rows.len() as u64);
}

/// The rows of a group of lines: each of `its` in the place that the line, and what has to come of
/// it, leave open.
fn rows_of(group: &Value) -> impl Iterator<Item = Value> {
    let its = group["its"].as_array().unwrap().iter().map(|it| it.as_str().unwrap());
    its.map(|it| {
        // As it is read: in a line each character is one byte.
        let bytes: Vec<u8> = it.chars().map(|it| u8::try_from(it).unwrap()).collect();
        let mut row = filled_in(group, &String::from_utf8_lossy(&bytes));
        row["line"] = filled_in(&group["line"], it);
        row
    })
}

/// `value` with what is left open in its texts.
fn filled_in(value: &Value, it: &str) -> Value {
    match value {
        Value::String(text) => text.replace("$IT", it).into(),
        Value::Array(items) => items.iter().map(|item| filled_in(item, it)).collect(),
        Value::Object(members) => {
            let filled = members.iter().map(|(name, member)| (name.clone(), filled_in(member, it)));
            Value::Object(filled.collect())
        }
        other => other.clone(),
    }
}

/// SPEC 5.10, 5.3, 5.12: each line in place of an answer, one after the other in one session. Where
/// it is no reply to its call, the answer follows, and ends it; a few calls wait in vain.
#[test]
fn every_bad_frame_that_is_a_line_ends_as_it_is_written_down() {
    rig::alone!();
    let written = include_str!("../../../tests/servers/fault/lines.json");
    let written: Value = serde_json::from_str(written).unwrap();
    let rows = written["lines"].as_array().unwrap().iter().flat_map(rows_of);
    let patience = HANG.as_millis() as u64;
    let rig = Rig::new(json!({
        "call_timeout_ms": patience, "call_idle_timeout_ms": patience,
        "reconnect": {
            "delays_ms": { "local": [1] }, "breaker": { "window_ms": 1 }, "healthy_after_ms": 0,
        },
    }));
    let (mut lines, mut wrong) = (BTreeSet::new(), Vec::new());
    host(async {
        rig.configure(json!({ "s": fault_server(&rig, &["--frame", "said"]) })).await;
        let session = rig.session("a");
        let lease = acquire(&session, "s").await;
        let peak = Peak::begin();
        for row in rows {
            assert!(lines.insert(name(&row).to_owned()), "{} is there twice", name(&row));
            if let Err(why) = calls(&row, &lease).await {
                wrong.push(format!("{}: {why}", row["about"]));
                // Of the rows behind it none is wrong for a connection that it cost.
                let wait = CallOptions::from_json(r#"{"wait":true}"#).unwrap();
                drop(lease.call_tool("plain", "{}", &wait).await);
            }
        }
        let grown = peak.grown_kib();
        assert!(grown <= GROWTH_KIB_MAX, "{grown} KiB for {} lines", lines.len());
    });
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), lines.len(), wrong.join("\n"));
    rig::score::done("frames/kept", lines.len() as u64);
}

/// SPEC 5.11: what cannot be written holds up nobody else, and not the close.
#[test]
fn a_server_that_stops_reading_holds_up_no_other_and_no_close() {
    let rig = Rig::new(json!({}));
    host(async {
        let servers = json!({ "s": fault_server(&rig, &["--frame", "stops-reading"]), "t": fault_server(&rig, &[]) });
        rig.configure(servers).await;
        let session = rig.session("a");
        let (deaf, apart) = (acquire(&session, "s").await, acquire(&session, "t").await);
        let options = CallOptions::from_json(r#"{"timeout_ms":300}"#).unwrap();
        // More than the pipe holds.
        let long = json!({ "text": "x".repeat(4 << 20) }).to_string();
        for tool in ["any", "plain", "plain", "plain"] {
            let begun = Instant::now();
            let error = deaf.call_tool(tool, &long, &options).await.err().unwrap();
            assert_eq!(error.code(), ErrorCode::Timeout, "{error}");
            assert!(begun.elapsed() < HANG);
            assert_eq!(text(&apart, "plain", json!({})).await, "plain");
        }
        let begun = Instant::now();
        rig.pool.close().await.unwrap();
        assert!(begun.elapsed() < HANG, "{:?}", begun.elapsed());
    });
}
