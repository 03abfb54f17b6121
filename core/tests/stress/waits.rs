//! Threads that wait for their calls where they started them: alone, when they read the answers
//! themselves, and amid everybody else (DESIGN 6). Each call ends once and with its own outcome, no
//! matter who reads.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, ThreadId};
use std::time::Duration;

use rig::{HANG, Rig, acquire, host, traces};
use serde_json::{Value, json};
use trunkline::{
    AcquireOptions, CallOptions, CallResult, Error, ErrorCode, EventKind, EventMask, Lease,
    Operation, Outcome, Subscription,
};

use crate::base::Base;
use crate::rounds;

/// Threads that wait side by side.
const THREADS: usize = 4;
/// Calls of each in one round.
const CALLS: usize = 60;

/// How the calls of a round ended, by the name of the error, or `ok`.
type Ends = BTreeMap<&'static str, usize>;

/// A call that the thread that starts it waits for.
struct Waited {
    operation: Operation,
    ends: Receiver<(Result<CallResult, Error>, ThreadId)>,
}

impl Waited {
    fn start(lease: &Lease, tool: &str, arguments: Value, timeout: Option<Duration>) -> Waited {
        let (send, ends) = mpsc::channel();
        let mut options = CallOptions::default();
        (options.reads_here, options.timeout) = (true, timeout);
        let done = move |end| send.send((end, thread::current().id())).unwrap();
        let operation = lease.start_call_tool(tool, &arguments.to_string(), &options, done);
        Waited { operation, ends }
    }

    /// The text of its result, and whether it was read here.
    fn end(self) -> (Result<String, Error>, bool) {
        self.operation.read_here();
        let (end, thread) = self.ends.recv_timeout(HANG).expect("the call ends");
        assert!(self.ends.recv().is_err(), "it ends once");
        let text = |result: CallResult| {
            let result: Value = serde_json::from_str(result.json()).unwrap();
            result["content"][0]["text"].as_str().unwrap().to_owned()
        };
        (end.map(text), thread == thread::current().id())
    }
}

fn wait(lease: &Lease, tool: &str, arguments: Value) -> (Result<String, Error>, bool) {
    Waited::start(lease, tool, arguments, None).end()
}

fn count(ends: &mut Ends, end: &Result<String, Error>) {
    let end = end.as_ref().map_or_else(|error| error.code().name(), |_| "ok");
    *ends.entry(end).or_default() += 1;
}

/// Waits for one call after another, alone, until enough were read here; how many were.
fn alone(lease: &Lease, name: &str) -> usize {
    let mut here = 0;
    for call in 0.. {
        let message = format!("<{name}.{call}>");
        let (text, was_here) = wait(lease, "echo", json!({ "message": message }));
        assert_eq!(text.unwrap(), message);
        here += usize::from(was_here);
        if call >= CALLS && here > 0 {
            break;
        }
    }
    here
}

/// Threads that wait one after another, each alone.
fn in_turns(lease: &Lease) {
    let turn = Mutex::new(());
    thread::scope(|scope| {
        for number in 0..THREADS {
            let turn = &turn;
            scope.spawn(move || {
                for call in 0..CALLS {
                    let message = format!("<{number}.{call}>");
                    let _turn = turn.lock().unwrap();
                    let text = wait(lease, "echo", json!({ "message": message })).0;
                    assert_eq!(text.unwrap(), message);
                }
            });
        }
    });
}

/// What one of the threads that wait side by side calls: answers, calls that nobody answers in
/// time, and such as another ends.
fn together(lease: &Lease, thread: usize) -> Ends {
    let mut ends = Ends::new();
    for call in 0..CALLS {
        let (end, message) = (format!("<{thread}.{call}>"), json!({ "ms": 600_000 }));
        let (result, expected) = match call % 10 {
            3 => {
                let time = Duration::from_millis(call as u64 % 13);
                (
                    Waited::start(lease, "sleep", message, Some(time)).end().0,
                    Err(ErrorCode::Timeout),
                )
            }
            7 => {
                let slow = Waited::start(lease, "sleep", message, None);
                let operation = slow.operation.clone();
                let canceller = thread::spawn(move || {
                    thread::park_timeout(Duration::from_micros(call as u64 * 100));
                    operation.cancel();
                });
                let result = slow.end().0;
                canceller.join().unwrap();
                (result, Err(ErrorCode::Cancelled))
            }
            5 => (
                wait(lease, "sleep", json!({ "ms": 1, "message": end })).0.map(|_| end.clone()),
                Ok(end),
            ),
            _ => (wait(lease, "echo", json!({ "message": end })).0, Ok(end)),
        };
        count(&mut ends, &result);
        assert_eq!(result.map_err(|error| error.code()), expected);
    }
    ends
}

/// Calls that nobody reads for, beside those that are waited for.
fn beside(lease: &Lease) -> Ends {
    let mut ends = Ends::new();
    for call in 0..CALLS {
        let (send, end) = mpsc::channel();
        let arguments = json!({ "message": call.to_string() }).to_string();
        let done = move |result: Result<CallResult, Error>| send.send(result).unwrap();
        lease.start_call_tool("echo", &arguments, &CallOptions::default(), done);
        let result = end.recv_timeout(HANG).expect("the call ends");
        let text = result.map(|result| result.json().to_owned());
        assert!(text.as_ref().is_ok_and(|text| text.contains(&format!("\"{call}\""))), "{text:?}");
        count(&mut ends, &text);
        thread::park_timeout(Duration::from_micros(call as u64 % 7 * 300));
    }
    ends
}

/// The server says something before each answer, and asks something after each.
fn amid_messages(lease: &Lease) {
    for call in 0..CALLS {
        let word = format!("word {call}");
        assert_eq!(
            wait(lease, "log", json!({ "level": "info", "text": word })).0.unwrap(),
            "logged"
        );
        assert_eq!(wait(lease, "ask", json!({ "after": true })).0.unwrap(), "asking");
        assert!(wait(lease, "last_answer", json!({})).0.unwrap().contains("roots"));
    }
}

/// The server is killed under a thread that waits for one call after another, alone.
fn killed(lease: &Lease, round: usize) {
    let pid = wait(lease, "pid", json!({})).0.unwrap().parse().unwrap();
    alone(lease, "before the kill");
    let killer = thread::spawn(move || {
        thread::park_timeout(Duration::from_micros(round as u64 % 10 * 300));
        traces::kill("KILL", pid);
    });
    let error = loop {
        if let (Err(error), _) = wait(lease, "echo", json!({ "message": "m" })) {
            break error;
        }
    };
    killer.join().unwrap();
    let expected = matches!(
        (error.code(), error.outcome()),
        (ErrorCode::CallInterrupted, Some(Outcome::Unknown | Outcome::NotSent))
            | (ErrorCode::Unavailable, Some(Outcome::NotSent))
    );
    assert!(expected, "{error:?}");
}

/// A session closes under its thread that waits.
fn closed(rig: &Rig, round: usize) {
    let session = rig.session("closed");
    let lease = {
        let session = session.clone();
        let acquire = async move { session.acquire("s", None, &AcquireOptions::default()).await };
        rig.pool.block_on(acquire).unwrap()
    };
    alone(&lease, "before the close");
    let waits = thread::spawn(move || wait(&lease, "sleep", json!({ "ms": 600_000 })).0);
    thread::park_timeout(Duration::from_micros(round as u64 % 10 * 300));
    session.close(Some(Duration::ZERO));
    let error = waits.join().unwrap().unwrap_err();
    let codes = [ErrorCode::Cancelled, ErrorCode::Closed];
    assert!(codes.contains(&error.code()), "{error:?}");
}

/// The words of the log events until the server is connected again.
async fn until_connected(events: &Subscription) -> usize {
    let mut logs = 0;
    loop {
        let event = tokio::time::timeout(HANG, events.next()).await.expect("an event").unwrap();
        match event.kind() {
            EventKind::Reconnected => return logs,
            EventKind::Log => logs += 1,
            _ => {}
        }
    }
}

/// SPEC 5.1, 5.4 to 5.6, 5.10, I-25.
#[test]
fn threads_that_wait_alone_and_together_lose_no_call_and_no_message() {
    rig::alone!();
    let rig = Rig::new(json!({
        "drain_delay_ms": 0, "exit_grace_ms": 300,
        "reconnect": { "delays_ms": { "local": [0] }, "breaker": { "losses": 1000 }, "healthy_after_ms": 0 },
    }));
    host(rig.configure(json!({ "s": rig.server(&[]) })));
    let base = host(Base::new(&rig, "s"));
    let here = AtomicUsize::new(0);
    let session = rig.session("a");
    let events = session.subscribe(EventMask::ALL).unwrap();
    let lease = host(acquire(&session, "s"));
    for round in 0..rounds(6, 300) {
        here.fetch_add(alone(&lease, "alone"), Ordering::Relaxed);
        in_turns(&lease);
        let each = Ends::from([
            ("ok", CALLS / 10 * 8),
            ("timeout", CALLS / 10),
            ("cancelled", CALLS / 10),
        ]);
        assert_eq!(together(&lease, THREADS), each, "with nobody beside");
        let mut ends: Vec<Ends> = thread::scope(|scope| {
            let waits = |thread| {
                let lease = &lease;
                scope.spawn(move || together(lease, thread))
            };
            let waiting: Vec<_> = (0..THREADS).map(waits).collect();
            let beside = scope.spawn(|| beside(&lease));
            let ends = waiting.into_iter().chain([beside]);
            ends.map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(ends.pop(), Some(Ends::from([("ok", CALLS)])));
        assert_eq!(ends, vec![each; THREADS]);
        amid_messages(&lease);
        closed(&rig, round);
        killed(&lease, round);
        assert_eq!(host(until_connected(&events)), CALLS, "every log message once");
    }
    drop((lease, events, session));
    println!("{} answers were read by the thread that waited alone", here.into_inner());
    base.returns(&rig);
}
