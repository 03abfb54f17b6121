//! One drain over everything that can be under way (SPEC 9.7, I-08).

use std::sync::mpsc;
use std::time::{Duration, Instant};

use rig::{HANG, Rig, acquire, host, text, until};
use serde_json::{Value, json};
use trunkline::{
    AcquireOptions, CallOptions, DrainOptions, Error, ErrorCode, Lease, Outcome, Servers,
    SessionOptions,
};

use crate::rounds;

type Ended = mpsc::Receiver<Result<(), Error>>;

fn start(lease: &Lease, tool: &str, arguments: Value) -> Ended {
    let (send, ended) = mpsc::channel();
    let done = move |end: Result<_, Error>| send.send(end.map(drop)).unwrap();
    lease.start_call_tool(tool, &arguments.to_string(), &CallOptions::default(), done);
    ended
}

/// How a call ended; it did so once.
fn end(ended: &Ended) -> Result<(), (ErrorCode, Option<Outcome>)> {
    let end = ended.recv_timeout(HANG).expect("every call is answered");
    assert!(ended.recv().is_err(), "a call ended twice");
    end.map_err(|error| (error.code(), error.outcome()))
}

const INTERRUPTED: Result<(), (ErrorCode, Option<Outcome>)> =
    Err((ErrorCode::CallInterrupted, Some(Outcome::Unknown)));

/// Servers of every kind that makes an end hard, and what is under way on them.
struct Busy {
    rig: Rig,
    leases: Vec<Lease>,
    short: Ended,
    long: Ended,
    blocked: Ended,
    acquires: Ended,
}

const KINDS: [(&str, &[&str]); 5] = [
    ("polite", &[]),
    ("working", &["--label", "w"]),
    ("deaf", &["--ignore-eof", "--ignore-term"]),
    ("blocked", &["--label", "b"]),
    ("connecting", &["--initialize-delay-ms", "600000"]),
];

async fn busy() -> Busy {
    let rig = Rig::new(json!({ "exit_grace_ms": 9000, "kill_grace_ms": 200 }));
    rig.configure(KINDS.iter().map(|(name, flags)| (*name, rig.server(flags))).collect()).await;
    let session = rig.session("a");
    let (polite, working) = (acquire(&session, "polite").await, acquire(&session, "working").await);
    let (deaf, blocked) = (acquire(&session, "deaf").await, acquire(&session, "blocked").await);
    let long = start(&working, "sleep", json!({ "ms": 600_000 }));
    text(&blocked, "stop_reading", json!({ "ms": 600_000 })).await;
    let of_blocked = start(&blocked, "echo", json!({ "message": "x".repeat(200_000) }));
    let (send, acquires) = mpsc::channel();
    let acquiring = async move {
        session.acquire("connecting", None, &AcquireOptions::default()).await.map(drop)
    };
    rig.pool.start(acquiring, move |end| send.send(end).unwrap());
    until(|| rig.starts().len() == KINDS.len());
    assert_eq!(text(&working, "under_way", json!({})).await, "1");
    let short = start(&polite, "sleep", json!({ "ms": 1000 }));
    assert_eq!(text(&polite, "under_way", json!({})).await, "1");
    let leases = vec![polite, working, deaf, blocked];
    Busy { rig, leases, short, long, blocked: of_blocked, acquires }
}

/// What is asked of a pool that drains is refused, each in its own way.
async fn is_closing(rig: &Rig, server: &str) {
    let closing = |error: Option<Error>| assert_eq!(error.unwrap().code(), ErrorCode::Closing);
    let servers = Servers::from_json("{}").unwrap();
    closing(rig.pool.reconcile(servers).await.err());
    closing(rig.pool.session(SessionOptions::new("new")).err());
    let restarted = rig.pool.restart(server, None).await;
    match restarted {
        Err(error) => assert_eq!(error.code(), ErrorCode::Closing),
        Ok(report) => {
            assert_eq!(report["entries"][0]["restarted"], false, "{report}");
            assert_eq!(report["entries"][0]["reason"], "closing", "{report}");
        }
    }
    assert_eq!(rig.pool.status()["closing"], true);
}

/// Until when all has to be over.
const DEADLINE: Duration = Duration::from_secs(10);

/// Milliseconds that the report may come later, whatever the servers do; only the long form has the
/// machine to itself.
const LATE_MS_MAX: usize = 250;

fn drain(force: bool) {
    let busy = host(busy());
    host(drains(&busy, force));
}

async fn drains(busy: &Busy, force: bool) {
    let Busy { rig, leases, short, long, blocked, acquires } = busy;
    let options = json!({ "force": force, "timeout_ms": DEADLINE.as_millis() as u64 }).to_string();
    let options = DrainOptions::from_json(&options).unwrap();
    let begun = Instant::now();
    let mut draining = Box::pin(rig.pool.drain_all(&options));
    assert!(
        std::future::poll_fn(|context| {
            std::task::Poll::Ready(draining.as_mut().poll(context).is_pending())
        })
        .await
    );
    is_closing(rig, "working").await;
    let report = tokio::time::timeout(HANG, draining).await.expect("it ends").unwrap();
    let took = begun.elapsed();
    println!("force {force}: {took:?}, {report}");
    let late_ms = rounds(HANG.as_millis() as usize, LATE_MS_MAX);
    assert!(took <= DEADLINE + Duration::from_millis(late_ms as u64), "force {force}: {took:?}");

    // Everybody had an answer before the report.
    assert_eq!(acquires.try_recv().unwrap().unwrap_err().code(), ErrorCode::Closing);
    assert_eq!(end(short), if force { INTERRUPTED } else { Ok(()) });
    assert_eq!(end(long), INTERRUPTED);
    assert_eq!(end(blocked), INTERRUPTED);
    assert_eq!(report["errors"], json!([]));
    assert_eq!(rig.running(), [0; 0], "the report says that nothing is left");
    let counted = report["drained"].as_u64().unwrap() + report["forced"].as_u64().unwrap();
    assert_eq!(counted, KINDS.len() as u64, "the connect under way is one of them: {report}");
    // The deaf and the blocked one, and what worked until the deadline.
    assert_eq!(report["forced"], if force { 2 } else { 3 }, "{report}");
    for lease in leases {
        let error = lease.call_tool("pid", "{}", &CallOptions::default()).await.err().unwrap();
        assert_eq!(error.code(), ErrorCode::Closed);
    }
    is_closing(rig, "working").await;
}

/// SPEC 9.7, 3.10, 5.6, I-08: calls may finish until the deadline, which is one for all.
#[test]
fn a_drain_lets_calls_finish_and_ends_everything_at_its_deadline() {
    drain(false);
}

/// SPEC 9.7, 3.10, 5.6, I-08.
#[test]
fn a_forced_drain_interrupts_every_call_and_leaves_nothing() {
    drain(true);
}
