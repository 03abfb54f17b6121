//! A server that no longer reads what is sent to it.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use rig::{HANG, Rig, acquire, host, text};
use serde_json::{Value, json};
use trunkline::{CallOptions, DrainOptions, Error, ErrorCode, Lease, Operation, Outcome};

/// More than a pipe holds, so that the first is cut in the middle and the rest cannot begin.
const BIG: usize = 200_000;

/// How much longer than before a call of another server may take, and what counts as the least
/// before it.
const SLOWER_MAX: u32 = 10;
const AT_LEAST: Duration = Duration::from_micros(500);

type Ended = mpsc::Receiver<Result<(), Error>>;

fn start_big(lease: &Lease, options: &str) -> (Operation, Ended) {
    let (send, ended) = mpsc::channel();
    let arguments = json!({ "message": "x".repeat(BIG) }).to_string();
    let options = CallOptions::from_json(options).unwrap();
    let done = move |end: Result<_, Error>| drop(send.send(end.map(drop)));
    (lease.start_call_tool("echo", &arguments, &options, done), ended)
}

/// How a call failed; it ended once.
fn end(ended: &Ended) -> (ErrorCode, Option<Outcome>) {
    let error = ended.recv_timeout(HANG).expect("it ends").unwrap_err();
    assert!(ended.recv().is_err(), "a call ended twice");
    (error.code(), error.outcome())
}

fn in_flight(rig: &Rig, server: &str) -> Value {
    rig.pool.status()["servers"][server]["entries"][0]["in_flight"].clone()
}

/// How long a call takes: the fastest of 200, which other work of the machine slows least. Each is
/// answered with what it said.
async fn echo_time(lease: &Lease) -> Duration {
    let mut times = Vec::new();
    for i in 0..200 {
        let begun = Instant::now();
        assert_eq!(text(lease, "echo", json!({ "message": i.to_string() })).await, i.to_string());
        times.push(begun.elapsed());
    }
    times.into_iter().min().unwrap()
}

/// SPEC 5.11, I-07: it holds up nothing but its own calls, and those not beyond their time.
#[test]
fn a_server_that_does_not_read_blocks_no_call_of_others_no_timeout_no_cancel_and_no_close() {
    let rig = Rig::new(json!({ "exit_grace_ms": 2000 }));
    host(async {
        rig.configure(json!({ "deaf": rig.server(&[]), "other": rig.server(&["--label", "o"]) }))
            .await;
        let session = rig.session("a");
        let (deaf, other) = (acquire(&session, "deaf").await, acquire(&session, "other").await);
        let before = echo_time(&other).await;
        text(&deaf, "stop_reading", json!({ "ms": 600_000 })).await;

        let (_, first) = start_big(&deaf, "{}");
        let unsent: Vec<_> = (0..8).map(|_| start_big(&deaf, "{}").1).collect();
        let (cancelled, cancel_ended) = start_big(&deaf, "{}");

        // Calls of the other server pass while all of these wait, and pass as they did.
        let beside = echo_time(&other).await;
        println!("a call took {before:?}, and {beside:?} beside a server that does not read");
        assert!(beside < before.max(AT_LEAST) * SLOWER_MAX, "{before:?}, then {beside:?}");
        assert_eq!(in_flight(&rig, "deaf"), 10, "the calls of the deaf server were over first");

        cancelled.cancel();
        let error =
            cancel_ended.try_recv().expect("it ends before the cancel returns").unwrap_err();
        assert_eq!((error.code(), error.outcome()), (ErrorCode::Cancelled, Some(Outcome::NotSent)));
        let timed = (0..4).map(|_| start_big(&deaf, r#"{"timeout_ms":100}"#).1);
        for ended in timed.collect::<Vec<_>>() {
            let expected = (ErrorCode::Timeout, Some(Outcome::NotSent));
            assert_eq!(end(&ended), expected);
        }
        assert_eq!(in_flight(&rig, "deaf"), 9);

        let force = DrainOptions::from_json(r#"{"force":true}"#).unwrap();
        let drained = tokio::time::timeout(HANG, rig.pool.drain_all(&force)).await;
        let report = drained.expect("it closes").unwrap();
        assert_eq!(report, json!({ "v": 1, "drained": 1, "forced": 1, "errors": [] }));
        assert_eq!(end(&first), (ErrorCode::CallInterrupted, Some(Outcome::Unknown)));
        for ended in unsent {
            assert_eq!(end(&ended), (ErrorCode::CallInterrupted, Some(Outcome::NotSent)));
        }
    });
}
