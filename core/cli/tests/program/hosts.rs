//! `status --host`: the pool of a host that runs.

use std::time::{Duration, Instant};

use crate::rig::Home;
use serde_json::json;
use trunkline::{Pool, PoolOptions, Servers, SessionOptions};

/// SPEC 9.4
#[test]
fn a_running_host_is_looked_at_from_outside() {
    let home = Home::new();
    let file = home.path("status.json");
    let shown = |words: &[&str]| {
        let file = file.to_str().unwrap();
        home.run(&[&["status", "--host", file], words].concat())
    };
    assert_eq!(shown(&[]).exit, 8, "nobody writes it");
    let options = json!({ "status_file": file, "cache": "off", "approvals": "memory" });
    let pool = Pool::new(PoolOptions::from_json(&options.to_string()).unwrap()).unwrap();
    let servers = Servers::from_json(
        &json!({ "up": home.server(&["--stderr-text", "it is up"]) }).to_string(),
    )
    .unwrap();
    let of_it = pool.clone();
    let session = pool.block_on(async move {
        of_it.reconcile(servers).await?;
        let session = of_it.session(SessionOptions::from_json(r#"{"id": "a"}"#)?)?;
        session.ready(None, None).await?;
        Ok(session)
    });
    let is_up = || shown(&["--json", "up"]).json()["servers"]["up"]["state"] == "connected";
    until(is_up);
    let ran = shown(&["up"]);
    assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""), "{ran:?}");
    let written = format!("process {}, ", std::process::id());
    assert!(ran.stdout.contains("up  connected") && ran.stdout.contains(&written), "{ran:?}");
    assert!(ran.stdout.contains("stderr  it is up"), "{ran:?}");
    let watched = shown(&["--watch", "--interval", "0.01", "--count", "3"]);
    assert_eq!(watched.stdout.matches("up  connected").count(), 3, "{watched:?}");
    assert_eq!(shown(&["other"]).exit, 8);
    drop(session);
    let closed = pool.clone();
    pool.block_on(async move { closed.close().await }).unwrap();
    assert_eq!(shown(&["--watch"]).exit, 8, "it is gone with the pool");
}

#[test]
fn what_a_dead_host_left_and_what_no_host_wrote_are_told_apart() {
    let home = Home::new();
    let left = json!({ "v": 1, "pid": 7, "written_at_ms": 1000, "period_ms": 1000, "status": {} });
    let (left, other) =
        (home.write("left.json", &left.to_string()), home.write("other.json", "{\"v\": 1}"));
    let shown = |file: &std::path::Path| home.run(&["status", "--host", file.to_str().unwrap()]);
    let ran = shown(&left);
    assert_eq!((ran.exit, ran.stdout.as_str()), (1, ""), "{ran:?}");
    assert!(ran.stderr.contains("process 7 wrote") && ran.stderr.contains("left.json"), "{ran:?}");
    assert_eq!(shown(&other).exit, 3);
    // The clock went back since.
    let later = json!({ "v": 1, "pid": 7, "written_at_ms": 9_000_000_000_000_000_u64, "period_ms": 1000, "status": {} });
    let ran = shown(&home.write("later.json", &later.to_string()));
    assert_eq!((ran.exit, ran.stdout.as_str()), (1, ""), "{ran:?}");
    assert!(ran.stderr.contains("process 7 wrote"), "{ran:?}");
}

/// S-49: the writer of the file says nothing to a terminal.
#[test]
fn no_word_of_a_status_acts_on_a_terminal() {
    let home = Home::new();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let word = "a\u{1b}]0;b\u{7}\u{9b}";
    let entry = json!({ "entry_index": word, "state": word, "refs": word, "stderr": [word] });
    let server = json!({ "transport": word, "origin": word, "reason": word, "state": word, "hint": word, "entries": [entry] });
    let status = json!({ "supervision": word, "processes": word, "totals": { "entries": word }, "servers": { word: server } });
    let file = json!({ "v": 1, "pid": 7, "written_at_ms": now.as_millis() as u64, "period_ms": 600_000, "status": status });
    let file = home.write("status.json", &file.to_string());
    let ran = home.run(&["status", "--host", file.to_str().unwrap()]);
    assert!(ran.stdout.contains("entries") && ran.stdout.contains("entry"), "{ran:?}");
    assert!(!ran.stdout.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{ran:?}");
}

/// Each look is a run of the program.
fn until(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < HANG, "it never came");
        std::thread::park_timeout(Duration::from_millis(50));
    }
}

/// A test that reaches it hangs.
const HANG: Duration = Duration::from_secs(90);
