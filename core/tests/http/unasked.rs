//! The stream of what is unasked: who is let in to it, when it is asked for again, and what is
//! heard without it.

use std::time::{Duration, Instant};

use rig::person::sign_in;
use rig::remote::{Remote, connected, lists};
use rig::{Rig, acquire, host, text, until};
use serde_json::json;
use trunkline::AcquireOptions;

/// SPEC 15.3: a stream whose token is spent gets another one, whether it is the first or one that
/// is opened again.
#[test]
fn a_stream_that_is_refused_for_its_token_renews_it() {
    // The first token is good for the messages before the first stream, or for some streams too.
    for uses in [3, 10] {
        let rig = Rig::new(json!({}));
        let ways = json!({ "uses": [uses] }).to_string();
        let flags = ["--list-changes", "--http-auth", &ways];
        let remote = Remote::start(&rig, "retry-0", &flags);
        host(async {
            let config = json!({ "type": "http", "url": remote.url, "oauth": {} });
            rig.configure(json!({ "s": config })).await;
            let session = rig.session("a");
            session.acquire("s", None, &AcquireOptions::default()).await.err().unwrap();
            sign_in(&rig, "s").await.unwrap();
            let lease = acquire(&session, "s").await;
            let generation = lease.generation();
            until(|| remote.count("GET", "") >= 5 || !lease.state().is_connected());
            assert!(lease.state().is_connected(), "{uses}");
            assert_eq!(lease.generation(), generation, "{uses}");
            text(&lease, "echo", json!({ "message": "hi" })).await;
        });
    }
}

/// I-14, SPEC 7.8, 18.4: a server that announced a change and has no stream any more is listed with
/// the keep-alive. A stream that is refused for its credentials refuses nothing else.
#[test]
fn a_change_is_seen_though_the_stream_is_gone_for_good() {
    for status in [405, 501, 505, 400, 200, 401] {
        // The keep-alive lists; it is not to lose a server that a busy machine keeps from an
        // answer.
        let rig = Rig::new(json!({ "keepalive_ms": 300, "keepalive_misses": 100 }));
        let remote = Remote::start(&rig, &format!("one-get={status}"), &["--list-changes"]);
        host(async {
            let (session, lease) = connected(&rig, &remote).await;
            text(&lease, "change_list", json!({ "add": ["first"] })).await;
            until(|| lists(&session, "first"));
            until(|| remote.count("GET", "") == 2);
            // What may have been missed since the end of the stream is looked at at once.
            until(|| remote.count("POST", "tools/list") >= 3);
            text(&lease, "change_list", json!({ "add": ["second"] })).await;
            until(|| lists(&session, "second"));
            assert_eq!(remote.count("GET", ""), 2, "{status}");
        });
    }
}

/// SPEC 7.1, 7.2: a stream that is refused in passing is asked for again: the server still holds
/// the one before it for open, or no longer knows the event to go on from.
#[test]
fn a_stream_that_is_refused_in_passing_is_asked_for_again() {
    for faults in ["second-get=409", "second-get=400,event-ids"] {
        let rig = Rig::new(json!({}));
        let remote = Remote::start(&rig, faults, &["--list-changes"]);
        host(async {
            let (session, lease) = connected(&rig, &remote).await;
            text(&lease, "change_list", json!({ "add": ["first"] })).await;
            until(|| lists(&session, "first"));
            until(|| remote.count("GET", "") == 3);
            text(&lease, "change_list", json!({ "add": ["second"] })).await;
            until(|| lists(&session, "second"));
            assert_eq!(lease.generation(), 1, "{faults}");
        });
    }
}

/// SPEC 8.4: streams too are asked for when the server says, the one of what is unasked and the
/// rest of an answer.
#[test]
fn a_busy_server_gets_the_time_that_it_asks_for_before_its_streams() {
    const ASKED: Duration = Duration::from_secs(3);
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "cut-after-id,busy-get=2", &["--list-changes"]);
    host(async {
        let begun = Instant::now();
        let (_session, lease) = connected(&rig, &remote).await;
        assert!(remote.count("GET", "") <= 1, "the connect does not wait for the stream");
        let called = Instant::now();
        assert_eq!(text(&lease, "echo", json!({ "message": "hi" })).await, "hi");
        assert!(called.elapsed() >= ASKED, "{:?}", called.elapsed());
        let unasked = || {
            let requests = remote.requests();
            let streams = requests.iter().filter(|request| request["http"] == "GET");
            streams.filter(|request| request["headers"]["last-event-id"].is_null()).count()
        };
        until(|| unasked() == 2);
        assert!(begun.elapsed() >= ASKED, "{:?}", begun.elapsed());
    });
}
