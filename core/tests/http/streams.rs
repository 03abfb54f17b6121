//! Streams that end before their time, and the one of what is unasked.

use std::time::{Duration, Instant};

use rig::remote::{Remote, connected, failed, lists};
use rig::{Rig, acquire, host, text, until};
use serde_json::json;
use trunkline::{CallOptions, ErrorCode, EventMask, Outcome};

use crate::script::{Answer, Script};

/// SPEC 5.6: with an event to resume from, the call lives.
#[test]
fn a_cut_stream_is_resumed_where_it_can_be() {
    // The id goes back as it came.
    for kind in ["", "=ü ✓"] {
        let rig = Rig::new(json!({}));
        let remote = Remote::start(&rig, &format!("cut-after-id{kind},no-get"), &[]);
        host(async {
            let (_session, lease) = connected(&rig, &remote).await;
            let begun = Instant::now();
            assert_eq!(text(&lease, "echo", json!({"message": "hi"})).await, "hi");
            // The server asked for that wait.
            assert!(begun.elapsed() >= Duration::from_millis(200));
            assert_eq!(resumes(&remote), 1);
        });
    }
}

/// How many streams were asked for that begin after an event.
fn resumes(remote: &Remote) -> usize {
    let requests = remote.requests();
    requests.iter().filter(|it| !it["headers"]["last-event-id"].is_null()).count()
}

/// SPEC 5.6, PROTOCOL 1.1: after an event that cannot be named there is nothing to resume, and no
/// other stream is taken for the rest.
#[test]
fn a_cut_stream_whose_place_cannot_be_named_interrupts_its_call() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "cut-after-id=\u{1}", &[]);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        let error = failed(&lease, "echo", json!({"message": "hi"})).await;
        assert_eq!(error.code(), ErrorCode::CallInterrupted);
        assert_eq!(error.outcome(), Some(Outcome::Unknown));
        assert_eq!((resumes(&remote), remote.count("GET", "")), (0, 1));
    });
}

/// SPEC 5.6: without one, it interrupts its own call alone.
#[test]
fn a_cut_stream_interrupts_its_own_call_alone() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "cut", &[]);
    host(async {
        let (session, lease) = connected(&rig, &remote).await;
        let error = failed(&lease, "echo", json!({"message": "hi"})).await;
        assert_eq!(error.code(), ErrorCode::CallInterrupted);
        assert_eq!(error.outcome(), Some(Outcome::Unknown));
        assert_eq!((lease.generation(), lease.state().is_connected()), (1, true));
        assert!(!session.tools().unwrap().is_empty());
    });
}

/// SPEC 7.1: what the server says unasked comes over a stream of its own.
#[test]
fn list_changes_come_over_the_stream_of_what_is_unasked() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "", &["--list-changes"]);
    host(async {
        let (session, lease) = connected(&rig, &remote).await;
        until(|| remote.count("GET", "") == 1);
        text(&lease, "change_list", json!({"add": "fresh"})).await;
        until(|| lists(&session, "fresh"));
    });
}

/// SPEC 7.1: what changed while nobody could be told is seen when the stream is there again.
#[test]
fn a_change_between_two_streams_is_seen() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "deaf-get=300", &["--list-changes"]);
    host(async {
        let (session, lease) = connected(&rig, &remote).await;
        text(&lease, "change_list", json!({"add": "fresh"})).await;
        until(|| lists(&session, "fresh"));
        assert!(remote.count("GET", "") >= 2);
    });
}

/// SPEC 7.1, 7.7: a subscriber to a resource is told that it may have been updated meanwhile.
#[test]
fn an_update_between_two_streams_is_told() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "deaf-get=300", &[]);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        let events = rig.pool.subscribe(EventMask::ALL).unwrap();
        lease.subscribe_resource("test://one").await.unwrap();
        text(&lease, "touch_resource", json!({"uri": "test://one"})).await;
        let is_told = |event: trunkline::Event| event.json().contains("resource_updated");
        until(|| std::iter::from_fn(|| events.try_next()).any(is_told));
    });
}

/// SPEC 7.1, 7.7: what is missed while the lists of a new connection are read is told when it can
/// be read.
#[test]
fn an_update_that_a_reconnect_misses_is_told_behind_it() {
    let rig = Rig::new(json!({ "reconnect": { "delays_ms": { "remote": [0] } } }));
    let mut remote = Remote::start(&rig, "", &[]);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        lease.subscribe_resource("test://one").await.unwrap();
        let events = rig.pool.subscribe(EventMask(1 << 4 | 1 << 6)).unwrap();
        // Streams end while the first list, which a gateway refuses, is waited for.
        remote.replace(&rig, "retry-0,unavailable=1,unavailable-wait=1", &[]);
        for expected in ["reconnected", "resource_updated"] {
            assert_eq!(events.next().await.unwrap().kind().name(), expected);
        }
    });
}

/// SPEC 8.4, 5.6: the server says `retry: 0`, and with it the place to go on from or nothing. It is
/// asked less and less, until something comes that is said.
#[test]
fn a_server_that_wants_to_be_asked_at_once_is_asked_less_and_less() {
    for event in ["retry: 0\n\n", "id: 7\nretry: 0\ndata:\n\n"] {
        let rig = Rig::new(json!({}));
        let script = Script::start(move |asked| match asked.method() {
            "GET" => {
                let headers = vec!["content-type: text/event-stream".to_owned()];
                Answer::Http("200 OK", headers, event.as_bytes().to_vec())
            }
            _ => Answer::Usual,
        });
        let streams = || script.of("GET").len();
        host(async {
            rig.configure(json!({ "s": script.config() })).await;
            let session = rig.session("a");
            let _lease = acquire(&session, "s").await;
            until(|| streams() > 0);
            let begun = Instant::now();
            until(|| streams() > 5);
            // 150 ms, and twice as long each time; the first may have been due before.
            let took = begun.elapsed();
            assert!(took > Duration::from_millis(300 + 600 + 1_200), "{event:?}: {took:?}");
            // Each of them may have missed something; it is not listed each time for that.
            assert!(script.of("tools/list").len() <= 2);
        });
    }
}

/// SPEC 8.4: so are all the streams of a connection together.
#[test]
fn a_server_that_cuts_many_calls_at_once_is_asked_less_than_ten_times_a_second() {
    const SECONDS: u32 = 3;
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "cut-ids,retry-0", &["--list-changes"]);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        let options = CallOptions::from_json(r#"{"timeout_ms":20000}"#).unwrap();
        let call = |_| lease.start_call_tool("echo", r#"{"message":"hi"}"#, &options, |_| {});
        let calls: Vec<_> = (0..8).map(call).collect();
        until(|| remote.count("POST", "tools/call") == 8);
        let (begun, before) = (Instant::now(), remote.count("GET", ""));
        tokio::time::sleep(Duration::from_secs(SECONDS.into())).await;
        let asked = remote.count("GET", "") - before;
        let most = begun.elapsed().as_secs_f64() * 10.0;
        assert!(asked > 0 && (asked as f64) < most, "{asked} in {:?}", begun.elapsed());
        calls.iter().for_each(|call| call.cancel());
    });
}
