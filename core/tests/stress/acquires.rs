//! Many who ask for one server at the same moment (SECURITY row 5).

use std::future::poll_fn;
use std::sync::{Barrier, mpsc};
use std::task::Poll;

use rig::{HANG, Rig, host, score, text};
use serde_json::{Value, json};
use trunkline::{AcquireOptions, Error, ErrorCode, Lease};

use crate::rounds;

const ACQUIRES: usize = 1_000;
const THREADS: usize = 8;
const SESSIONS: usize = 250;

/// Starts all acquires of a server from several threads at once; every answer.
fn acquire_at_once(rig: &Rig, server: &str) -> Vec<Result<Lease, Error>> {
    let sessions: Vec<_> = (0..SESSIONS).map(|i| rig.session(&format!("{server}-{i}"))).collect();
    let (send, answers) = mpsc::channel();
    let together = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (send, sessions, together) = (send.clone(), &sessions, &together);
            scope.spawn(move || {
                together.wait();
                for i in (thread..ACQUIRES).step_by(THREADS) {
                    let (session, server) = (sessions[i % SESSIONS].clone(), server.to_owned());
                    let send = send.clone();
                    let acquire = async move {
                        session.acquire(&server, None, &AcquireOptions::default()).await
                    };
                    rig.pool.start(acquire, move |answer| send.send(answer).unwrap());
                }
            });
        }
    });
    let answers = (0..ACQUIRES).map(|_| answers.recv_timeout(HANG).unwrap());
    answers.collect()
}

/// I-02, SPEC 2.1, 3.3: one process for each round, which all leases reach, and nothing of it
/// afterwards.
#[test]
fn a_thousand_acquires_of_a_new_key_start_one_process() {
    let rounds = rounds(10, 500);
    let rig = Rig::new(json!({ "drain_delay_ms": 0 }));
    let server = |round| (format!("s{round}"), rig.server(&["--label", &format!("{round}")]));
    host(rig.configure((0..rounds).map(server).collect::<Value>()));
    for round in 0..rounds {
        let leases = acquire_at_once(&rig, &format!("s{round}"));
        let leases: Vec<_> = leases.into_iter().map(Result::unwrap).collect();
        let mut pids = host(async {
            let mut pids = Vec::new();
            for lease in &leases {
                pids.push(text(lease, "pid", json!({})).await);
            }
            pids
        });
        pids.dedup();
        assert_eq!(pids.len(), 1, "round {round}");
        assert_eq!(rig.starts().len(), round + 1);
        drop(leases);
        rig.wait_for_no_process();
    }
    score::done("herd", rounds as u64);
}

/// I-02, SPEC 3.3: a failure is everybody's too, and is one attempt. Who asks after it tries
/// afresh.
#[test]
fn a_thousand_acquires_of_a_server_that_fails_get_one_error() {
    let rig = Rig::new(json!({}));
    let attempts = rig.path("attempts");
    let go_on = rig.path("go on");
    let fails = r#"echo attempt >> "$1"; until [ -e "$2" ]; do sleep 0.02; done; exit 3"#;
    let args = json!(["-c", fails, "sh", attempts, go_on]);
    host(rig.configure(json!({ "s": { "command": "/bin/sh", "args": args } })));
    let attempted = || std::fs::read_to_string(&attempts).unwrap_or_default().lines().count();
    let sessions: Vec<_> = (0..SESSIONS).map(|i| rig.session(&format!("{i}"))).collect();
    let options = AcquireOptions::default();
    let errors = host(async {
        let acquires = (0..ACQUIRES).map(|i| sessions[i % SESSIONS].acquire("s", None, &options));
        let mut acquires: Vec<_> = acquires.map(Box::pin).collect();
        for acquire in &mut acquires {
            // All have asked before it fails.
            let asked = poll_fn(|context| Poll::Ready(acquire.as_mut().poll(context))).await;
            assert!(asked.is_pending());
        }
        std::fs::write(&go_on, "").unwrap();
        let mut errors = Vec::new();
        for acquire in acquires {
            errors.push(acquire.await.err().unwrap());
        }
        errors
    });
    assert!(errors.iter().all(|error| error.code() == ErrorCode::Exited));
    assert!(errors.iter().all(|error| error.detail() == errors[0].detail()));
    assert_eq!(attempted(), 1);
    assert_eq!(rig.pool.status()["totals"]["entries"], 0);
    assert!(host(sessions[0].acquire("s", None, &options)).is_err());
    assert_eq!(attempted(), 2);
}
