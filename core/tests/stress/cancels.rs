//! Work that is called off: at each step that shows outside, and at moments that a seed chooses
//! (SECURITY row 8).

use std::sync::mpsc;
use std::time::{Duration, Instant};

use rig::{HANG, Rig, acquire, host, text, until};
use serde_json::{Value, json};
use trunkline::{
    AcquireOptions, CallOptions, Error, ErrorCode, Lease, Operation, Session, SessionOptions,
};

use crate::base::{Base, rig};
use crate::rounds;

/// How far a server's start has come. It stays there for some seconds: a server that nobody waits
/// for any more may come up before it is drained (SPEC 3.4), so it must not stay for ever.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Spawned,
    Initializing,
    Listing,
    Connected,
}

impl Step {
    /// A server that stays there.
    fn server(self, rig: &Rig, log: &str) -> Value {
        let flags: &[&str] = match self {
            Step::Spawned => &["--silent"],
            Step::Initializing => &["--initialize-delay-ms", "5000"],
            Step::Listing => &["--list-delay-ms", "5000"],
            Step::Connected => &[],
        };
        let mut server = rig.server(&[flags, &["--message-log", log]].concat());
        if self == Step::Spawned {
            server["connect_timeout_ms"] = 5000.into();
        }
        server
    }

    /// What the server has seen by then.
    fn message(self) -> Option<&'static str> {
        match self {
            Step::Spawned => None,
            Step::Initializing => Some("initialize"),
            Step::Listing => Some("tools/list"),
            Step::Connected => Some("resources/templates/list"),
        }
    }
}

/// Who calls an acquire off.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    Drop,
    Cancel,
    Timeout,
    SessionClose,
    /// With its holds kept for a moment.
    SessionCloseLater,
}

const WAYS: [By; 5] = [By::Drop, By::Cancel, By::Timeout, By::SessionClose, By::SessionCloseLater];

/// SPEC 3.4, 3.5, 4.6, I-04: nothing stays of an acquire, however far it had come and no matter who
/// ended it.
#[test]
fn an_acquire_may_be_called_off_when_its_process_is_there() {
    rig::alone!();
    called_off(Step::Spawned);
}

#[test]
fn an_acquire_may_be_called_off_in_the_handshake() {
    rig::alone!();
    called_off(Step::Initializing);
}

#[test]
fn an_acquire_may_be_called_off_while_its_server_lists() {
    rig::alone!();
    called_off(Step::Listing);
}

#[test]
fn an_acquire_may_be_called_off_when_its_server_is_connected() {
    rig::alone!();
    called_off(Step::Connected);
}

/// Calls acquires off at that step, in each way.
fn called_off(step: Step) {
    let rig = rig();
    let log = rig.path("messages");
    host(async {
        let steps = [step, Step::Connected];
        let server = |step: &Step| step.server(&rig, log.to_str().unwrap());
        let servers = steps.iter().map(|step| (format!("{step:?}"), server(step)));
        rig.configure(servers.collect()).await;
        let base = Base::new(&rig, "Connected").await;
        for by in WAYS {
            std::fs::write(&log, "").unwrap();
            let reached = {
                let (before, log, rig) = (rig.starts().len(), log.clone(), &rig);
                move || {
                    let seen = std::fs::read_to_string(&log).unwrap();
                    let seen = |message| seen.lines().any(|line| line == message);
                    rig.starts().len() > before && step.message().is_none_or(seen)
                }
            };
            let session = rig.session("a");
            let result = call_off(&rig, &session, step, by, reached).await;
            match (&result, step) {
                (Ok(()), Step::Connected) => {}
                (Ok(()), _) => panic!("{step:?} {by:?}: it connected"),
                (Err(error), _) => assert_eq!(error.code(), expected(by), "{step:?} {by:?}"),
            }
            drop(session);
            base.returns(&rig);
        }
    });
}

fn expected(by: By) -> ErrorCode {
    match by {
        By::Drop | By::Cancel => ErrorCode::Cancelled,
        By::Timeout => ErrorCode::Timeout,
        By::SessionClose | By::SessionCloseLater => ErrorCode::Closed,
    }
}

/// Acquires, and ends it when the server is there.
async fn call_off(
    rig: &Rig,
    session: &Session,
    step: Step,
    by: By,
    reached: impl Fn() -> bool,
) -> Result<(), Error> {
    let timeout = if by == By::Timeout { r#"{"timeout_ms":200}"# } else { "{}" };
    let options = AcquireOptions::from_json(timeout).unwrap();
    let server = format!("{step:?}");
    if by == By::Drop {
        let acquiring = session.acquire(&server, None, &options);
        tokio::select! {
            biased;
            result = acquiring => return result.map(drop),
            () = async { while !reached() { tokio::task::yield_now().await } } => {}
        }
        return Err(Error::new(ErrorCode::Cancelled, "dropped"));
    }
    let (operation, result) = start(rig, session, &server, options);
    if by != By::Timeout {
        until(reached);
    }
    match by {
        By::Cancel => operation.cancel(),
        By::SessionClose => session.close(None),
        By::SessionCloseLater => session.close(Some(Duration::from_millis(50))),
        By::Drop | By::Timeout => {}
    }
    result.recv_timeout(HANG).unwrap().map(drop)
}

type Acquired = mpsc::Receiver<Result<Lease, Error>>;

/// Starts an acquire as the bindings do.
fn start(
    rig: &Rig,
    session: &Session,
    server: &str,
    options: AcquireOptions,
) -> (Operation, Acquired) {
    let (send, result) = mpsc::channel();
    let (session, server) = (session.clone(), server.to_owned());
    let acquire = async move { session.acquire(&server, None, &options).await };
    let operation = rig.pool.start(acquire, move |answer| drop(send.send(answer)));
    (operation, result)
}

/// A small generator, so that a seed says everything.
struct Random(u64);

impl Random {
    fn of(seed: usize) -> Random {
        Random((seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    /// Waits for a part of the time, without sleeping: a thread's sleep is far coarser.
    fn pause(&mut self, longest: Duration) {
        let nanos = u64::try_from(longest.as_nanos()).unwrap();
        let end = Instant::now() + Duration::from_nanos(self.below(nanos));
        while Instant::now() < end {
            std::hint::spin_loop();
        }
    }
}

/// Some of the moments of a start, which takes a few milliseconds.
const START: Duration = Duration::from_millis(12);

/// I-04: an acquire from one thread, its cancellation from another.
#[test]
fn an_acquire_may_be_cancelled_at_any_moment() {
    rig::alone!();
    let rig = rig();
    let base = host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        Base::new(&rig, "s").await
    });
    let mut completed = 0;
    let rounds = rounds(150, 5_000);
    for seed in 1..=rounds {
        let mut random = Random::of(seed);
        let session = rig.session("a");
        let (operation, result) = start(&rig, &session, "s", AcquireOptions::default());
        let canceller = std::thread::spawn(move || {
            random.pause(START);
            operation.cancel();
        });
        match result.recv_timeout(HANG).unwrap() {
            Ok(lease) => {
                completed += 1;
                host(async { text(&lease, "pid", json!({})).await });
            }
            Err(error) => {
                assert_eq!(error.code(), ErrorCode::Cancelled, "seed {seed}: {error}")
            }
        }
        assert!(result.recv().is_err(), "seed {seed}: it was answered twice");
        canceller.join().unwrap();
        drop(session);
        base.returns(&rig);
    }
    println!("{completed} of {rounds} acquires were not cancelled in time");
}

/// I-04: what an operation held is given up before its end is told, also if it never began.
#[test]
fn a_cancelled_operation_holds_nothing_when_it_says_so() {
    let rig = Rig::new(json!({}));
    host(rig.configure(json!({ "s": rig.server(&[]) })));
    let (send, opened) = mpsc::channel();
    let pool = rig.pool.clone();
    let session = rig.session("a");
    // Inside a completion the only thread of the library is taken, so that what is started there
    // cannot begin.
    rig.pool.start(std::future::ready(Ok(())), move |_| {
        let acquire =
            async move { session.acquire("s", None, &AcquireOptions::default()).await.map(drop) };
        let again = pool.clone();
        let done = move |end: Result<(), Error>| {
            let session = again.session(SessionOptions::new("a"));
            send.send((end.unwrap_err().code(), session.map(drop))).unwrap();
        };
        pool.start(acquire, done).cancel();
    });
    let (code, opened) = opened.recv_timeout(HANG).unwrap();
    assert_eq!(code, ErrorCode::Cancelled);
    opened.expect("the session is closed, and its id is free");
}

/// I-04, I-17: calls, restarts and holds of others, all called off at any moment; the last holder
/// finds a server that works.
#[test]
fn calls_and_restarts_may_be_cancelled_at_any_moment() {
    rig::alone!();
    let rig = rig();
    let base = host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        Base::new(&rig, "s").await
    });
    let holder = rig.session("holder");
    let lease = host(acquire(&holder, "s"));
    let wait = CallOptions::from_json(r#"{"wait":true}"#).unwrap();
    for seed in 1..=rounds(100, 3_000) {
        let mut random = Random::of(seed);
        let (send, results) = mpsc::channel();
        let mut operations = Vec::new();
        if random.below(4) == 0 {
            let (send, pool) = (send.clone(), rig.pool.clone());
            let restart = async move { pool.restart("s", None).await.map(drop) };
            operations.push(rig.pool.start(restart, move |end| send.send(end).unwrap()));
        }
        for options in [&wait, &CallOptions::default()] {
            let send = send.clone();
            let done = move |end: Result<_, Error>| send.send(end.map(drop)).unwrap();
            operations.push(lease.start_call_tool("sleep", r#"{"ms":3}"#, options, done));
        }
        drop(send);
        let count = operations.len();
        for operation in operations {
            random.pause(START / 4);
            operation.cancel();
        }
        for _ in 0..count {
            if let Err(error) = results.recv_timeout(HANG).unwrap() {
                let codes =
                    [ErrorCode::Cancelled, ErrorCode::CallInterrupted, ErrorCode::Unavailable];
                assert!(codes.contains(&error.code()), "seed {seed}: {error}");
            }
        }
        assert!(results.recv().is_err(), "seed {seed}: something was answered twice");
        host(async {
            lease.call_tool("pid", "{}", &wait).await.unwrap();
        });
    }
    assert_eq!(rig.pool.status()["servers"]["s"]["entries"][0]["in_flight"], 0);
    drop((lease, holder));
    base.returns(&rig);
}
