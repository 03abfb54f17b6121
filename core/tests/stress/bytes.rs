//! What is over keeps no byte of the allocator's: a kind of event that kept a few each time would
//! be seen by nothing else for days (I-25).

use std::cell::Cell;
use std::time::Duration;

use rig::remote::Remote;
use rig::{HANG, Rig, acquire, score, traces, until};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use trunkline::{AcquireOptions, CallOptions, EventMask, ServerSpec, Session};

use crate::{base, rounds};

/// What tables and lists may grow by as one of them happens to be fuller, however often it all goes
/// on.
const SLACK: usize = 16 << 10;

/// A pool with one server that a session has, and what can happen to them.
struct Going {
    rig: Rig,
    remote: Remote,
    session: Session,
    runtime: Runtime,
    /// The name that the session has for the server's `echo`.
    echo: String,
}

impl Going {
    fn new() -> Going {
        let rig = Rig::new(json!({ "drain_delay_ms": 0, "exit_grace_ms": 300, "reconnect": {
            "delays_ms": { "local": [1] }, "breaker": { "window_ms": 1 }, "healthy_after_ms": 0,
        } }));
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).enable_all().build().unwrap();
        let session = rig.session_with(json!({ "id": "a", "servers": ["s"] }));
        let remote = Remote::start(&rig, "", &[]);
        let mut going = Going { rig, remote, session, runtime, echo: String::new() };
        going.configure("x");
        let tools = going.session.tools().unwrap();
        let echo = tools.iter().find(|tool| tool.own_name == "echo".into()).unwrap();
        going.echo = echo.name.to_string();
        going
    }

    /// The session has the server by the configuration with that label.
    fn configure(&self, label: &str) {
        let servers = json!({
            "s": self.rig.server(&["--label", label]),
            "remote": { "url": self.remote.url },
            "missing": { "command": "no-such-program" },
            "early": { "command": "/bin/false" },
        });
        self.runtime.block_on(async {
            self.rig.configure(servers).await;
            self.session.ready(Some("s"), Some(HANG)).await.unwrap();
        });
    }

    async fn call(&self, tool: &str) -> bool {
        let options = CallOptions::from_json(r#"{"wait":true}"#).unwrap();
        self.session.call_tool(tool, r#"{"message":"m"}"#, &options).await.is_ok()
    }

    /// Loses the server, which comes back.
    fn lose(&self) {
        let begun = self.rig.starts().len();
        traces::kill("KILL", self.rig.running()[0]);
        until(|| self.rig.starts().len() > begun);
        // One that is made before the loss is seen is lost with it.
        while !self.runtime.block_on(self.call(&self.echo)) {}
    }

    /// One of a kind.
    fn once(&self, kind: &str, number: usize) {
        match kind {
            "losses" => self.lose(),
            "pools" => {
                let rig = Rig::new(json!({ "drain_delay_ms": 0 }));
                self.runtime.block_on(async {
                    rig.configure(json!({ "s": rig.server(&[]) })).await;
                    drop(acquire(&rig.session("a"), "s").await);
                });
            }
            "edits" => self.configure(["y", "x"][number % 2]),
            "streams of events" => {
                drop(self.rig.pool.subscribe(EventMask::ALL).unwrap());
                drop(self.session.subscribe(EventMask::ALL).unwrap());
            }
            _ => self.runtime.block_on(self.awaited(kind, number)),
        }
    }

    async fn awaited(&self, kind: &str, number: usize) {
        let (call, acquire_options) = (CallOptions::default(), AcquireOptions::default());
        match kind {
            "calls" => assert!(self.call(&self.echo).await),
            "calls of no tool" => assert!(!self.call("no").await),
            "dropped calls" => {
                let call = self.session.call_tool(&self.echo, r#"{"message":"m"}"#, &call);
                drop(tokio::time::timeout(Duration::from_micros(20), call).await);
            }
            "leases" => drop(acquire(&self.session, "s").await),
            "remote connections" => {
                let lease = acquire(&self.session, "remote").await;
                drop(lease.call_tool("echo", r#"{"message":"m"}"#, &call).await.unwrap());
            }
            "subscriptions to resources" => {
                let lease = acquire(&self.session, "s").await;
                lease.subscribe_resource("test://item/1").await.unwrap();
                lease.unsubscribe_resource("test://item/1").await.unwrap();
            }
            "sessions" => {
                let options = json!({ "id": format!("b{number}"), "servers": ["s"] });
                let session = self.rig.session_with(options);
                session.ready(None, Some(HANG)).await.unwrap();
            }
            "starts that fail" => {
                let server = ["missing", "early"][number % 2];
                assert!(self.session.acquire(server, None, &acquire_options).await.is_err());
            }
            "configurations of a session" => {
                let session = self.rig.session("c");
                let own = self.rig.server(&["--label", ["1", "2"][number % 2]]);
                let own = ServerSpec::from_json("own", &own.to_string()).unwrap();
                drop(session.acquire("own", Some(&own), &acquire_options).await.unwrap());
                session.close(None);
            }
            "restarts" => {
                self.rig.pool.restart("s", None).await.unwrap();
                assert!(self.call(&self.echo).await);
            }
            other => panic!("no kind {other}"),
        }
    }
}

/// What comes and goes, and how often.
const KINDS: [(&str, usize); 14] = [
    ("calls", 300),
    ("calls of no tool", 300),
    ("dropped calls", 100),
    ("leases", 200),
    ("remote connections", 40),
    ("subscriptions to resources", 50),
    ("sessions", 100),
    ("streams of events", 100),
    ("starts that fail", 40),
    ("configurations of a session", 20),
    ("restarts", 30),
    ("edits", 30),
    ("losses", 20),
    ("pools", 10),
];

/// I-25, SPEC 3.4, 4.6, 13.1, SECURITY row 21: whatever comes and goes, once and again.
#[test]
fn what_is_over_keeps_no_byte() {
    rig::alone!(base::NO_SPARES);
    let going = Going::new();
    let count = Cell::new(0);
    for (kind, times) in KINDS {
        let again = |times: usize| {
            (0..times).for_each(|_| going.once(kind, count.replace(count.get() + 1)));
        };
        let times = times * rounds(1, 20);
        // What is made once, or grows with how many there were at a time, is there then.
        again(times);
        let before = base::at_rest();
        again(times);
        let grown = base::at_rest().saturating_sub(before);
        println!("{kind}: {grown} bytes more after {times}");
        assert!(grown <= SLACK, "{kind}: {grown} bytes are kept of {times}");
    }
    score::done("soak/kinds", KINDS.len() as u64);
    let status: Value = going.rig.pool.status();
    assert_eq!(status["totals"]["entries"], 1, "{status}");
}

/// I-25: what a server lists again after a loss is what it listed before, and nobody holds it
/// twice.
#[test]
fn what_is_listed_again_is_held_once() {
    const SERVERS: usize = 8;
    rig::alone!(base::NO_SPARES);
    let rig = Rig::new(json!({ "reconnect": { "delays_ms": { "local": [1] } } }));
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(1).enable_all().build().unwrap();
    let names: Vec<String> = (0..SERVERS).map(|number| format!("s{number}")).collect();
    let servers: Value =
        names.iter().map(|name| (name.clone(), rig.server(&["--label", name]))).collect();
    runtime.block_on(rig.configure(servers));
    let session = rig.session_with(json!({ "id": "a", "servers": names }));
    runtime.block_on(session.ready(None, Some(HANG))).unwrap();
    let lose = |pid: u32| {
        let begun = rig.starts().len();
        traces::kill("KILL", pid);
        until(|| rig.starts().len() > begun);
        runtime.block_on(session.ready(None, Some(HANG))).unwrap();
        base::at_rest()
    };
    let running = rig.running();
    // What is made with the first loss is there then.
    let before = lose(running[0]);
    let after = running[1..].iter().fold(before, |_, pid| lose(*pid));
    let (grown, lost) = (after.saturating_sub(before), SERVERS - 1);
    println!("{grown} bytes more after the first losses of {lost} servers");
    assert!(grown <= SLACK, "{grown} bytes are kept of the first losses of {lost} servers");
}
