//! Futures that are dropped at each of their await points (SECURITY row 8).

use std::task::Poll;

use serde_json::{Value, json};
use trunkline::{AcquireOptions, CallOptions, DrainOptions, Servers};

use crate::base::{Base, rig};
use crate::rig::{Rig, acquire, score, text, until};
use crate::{host, traces};

/// When a future is dropped.
#[derive(Clone, Copy, Debug)]
struct Cut {
    /// After so many polls.
    polls: usize,
    moment: Moment,
}

#[derive(Clone, Copy, Debug)]
enum Moment {
    /// As soon as it waits.
    Waiting,
    /// When it is woken: what it waited for has come, and it has not seen it.
    Woken,
}

impl Cut {
    /// Polls the future, and drops it when it is time; its output when it was complete before.
    async fn of<F: Future>(self, future: F) -> Option<F::Output> {
        let mut future = Box::pin(future);
        let mut left = self.polls;
        std::future::poll_fn(move |context| {
            if left == 0 {
                return Poll::Ready(None);
            }
            left -= 1;
            match (future.as_mut().poll(context), self.moment) {
                (Poll::Ready(output), _) => Poll::Ready(Some(output)),
                (Poll::Pending, Moment::Waiting) if left == 0 => Poll::Ready(None),
                (Poll::Pending, _) => Poll::Pending,
            }
        })
        .await
    }
}

/// Cuts ever later, until the future completes.
fn at_every_poll<T>(mut attempt: impl FnMut(Cut) -> Option<T>) {
    for moment in [Moment::Waiting, Moment::Woken] {
        let mut polls = 0;
        while attempt(Cut { polls, moment }).is_none() {
            polls += 1;
            assert!(polls < 1_000, "it never completes");
        }
        assert!(polls > 0, "it completed without being polled");
        score::done("cancel", polls as u64);
    }
}

/// SPEC 3.4, I-04.
#[test]
fn an_acquire_may_be_dropped_at_every_poll() {
    traces::alone("polls::an_acquire_may_be_dropped_at_every_poll", || {
        let (rig, base) = one_server(&[]);
        let session = rig.session("a");
        for options in ["{}", r#"{"timeout_ms":20000}"#] {
            let options = AcquireOptions::from_json(options).unwrap();
            at_every_poll(|cut| {
                let lease = host(cut.of(session.acquire("s", None, &options)));
                let lease = lease.map(Result::unwrap);
                lease.iter().for_each(|lease| drop(host(text(lease, "pid", json!({})))));
                let completed = lease.map(drop);
                base.returns(&rig);
                completed
            });
        }
    });
}

/// SPEC 3.4, I-04: a hold that is granted at once, to somebody who is gone.
#[test]
fn an_acquire_of_a_connected_server_may_be_dropped_at_every_poll() {
    traces::alone("polls::an_acquire_of_a_connected_server_may_be_dropped_at_every_poll", || {
        let (rig, base) = one_server(&[]);
        let held = host(acquire(&rig.session("holder"), "s"));
        let session = rig.session("a");
        let options = AcquireOptions::default();
        at_every_poll(|cut| {
            let lease = host(cut.of(session.acquire("s", None, &options)));
            let completed = lease.map(drop);
            // Another thread may be carrying out the grant, and gives it back when it finds nobody.
            until(|| entry(&rig)["refs"] == 1);
            completed
        });
        drop((held, session));
        base.returns(&rig);
    });
}

/// A pool with one server, and what there is when it does not run.
fn one_server(flags: &[&str]) -> (Rig, Base) {
    let rig = rig();
    host(rig.configure(json!({ "s": rig.server(flags) })));
    let base = host(Base::new(&rig, "s"));
    (rig, base)
}

fn entry(rig: &Rig) -> Value {
    rig.pool.status()["servers"]["s"]["entries"][0].clone()
}

/// SPEC 5.5, I-17: with and without the options that let a call outlive its connection.
#[test]
fn a_call_may_be_dropped_at_every_poll() {
    traces::alone("polls::a_call_may_be_dropped_at_every_poll", || {
        let (rig, base) = one_server(&[]);
        let lease = host(acquire(&rig.session("a"), "s"));
        for options in ["{}", r#"{"wait":true}"#, r#"{"retry":"safe","progress":true}"#] {
            let options = CallOptions::from_json(options).unwrap();
            at_every_poll(|cut| {
                let call = lease.call_tool("sleep", r#"{"ms":50}"#, &options);
                let result = host(cut.of(call)).map(Result::unwrap);
                // The cancellation is on the wire before whatever is asked next.
                assert_eq!(host(text(&lease, "under_way", json!({}))), "0");
                assert_eq!(entry(&rig)["in_flight"], 0);
                result
            });
        }
        drop(lease);
        base.returns(&rig);
    });
}

/// SPEC 7.7, I-04: a subscription that did not come about is taken back.
#[test]
fn a_resource_subscription_may_be_dropped_at_every_poll() {
    traces::alone("polls::a_resource_subscription_may_be_dropped_at_every_poll", || {
        let (rig, base) = one_server(&[]);
        let lease = host(acquire(&rig.session("a"), "s"));
        let count = |method| host(text(&lease, "seen", json!({ "method": method })));
        at_every_poll(|cut| {
            let done = host(cut.of(lease.subscribe_resource("test://item/1")));
            if done.is_some() {
                host(lease.unsubscribe_resource("test://item/1")).unwrap();
            }
            until(|| count("resources/subscribe") == count("resources/unsubscribe"));
            done.map(Result::unwrap)
        });
        drop(lease);
        base.returns(&rig);
    });
}

/// SPEC 9.2, I-04: a restart goes on without whoever asked for it.
#[test]
fn a_restart_may_be_dropped_at_every_poll() {
    traces::alone("polls::a_restart_may_be_dropped_at_every_poll", || {
        let (rig, base) = one_server(&[]);
        let lease = host(acquire(&rig.session("a"), "s"));
        let wait = CallOptions::from_json(r#"{"wait":true}"#).unwrap();
        at_every_poll(|cut| {
            let generation = lease.generation();
            let report = host(cut.of(rig.pool.restart("s", None))).map(Result::unwrap);
            if let Some(report) = &report {
                assert_eq!(report["entries"][0]["restarted"], true, "{report}");
            }
            // A future that is never polled has asked for nothing.
            until(|| cut.polls == 0 || lease.generation() > generation);
            host(lease.call_tool("pid", "{}", &wait)).unwrap();
            assert_eq!((rig.running().len(), &entry(&rig)["refs"]), (1, &json!(1)));
            report
        });
        drop(lease);
        base.returns(&rig);
    });
}

/// SPEC 9.7, I-04, I-08: a drain goes on without whoever asked for it.
#[test]
fn a_drain_and_a_close_may_be_dropped_at_every_poll() {
    traces::alone("polls::a_drain_and_a_close_may_be_dropped_at_every_poll", || {
        let (first, base) = one_server(&[]);
        for force in [false, true] {
            at_every_poll(|cut| {
                let rig = rig();
                host(rig.configure(json!({ "s": rig.server(&["--ignore-eof"]) })));
                let lease = host(acquire(&rig.session("a"), "s"));
                let options = DrainOptions::from_json(&format!(r#"{{"force":{force}}}"#)).unwrap();
                let report = host(cut.of(rig.pool.drain_all(&options))).map(Result::unwrap);
                if cut.polls > 0 {
                    rig.wait_for_no_process();
                }
                let closed = host(cut.of(rig.pool.close())).map(Result::unwrap);
                drop((lease, rig));
                base.returns(&first);
                report.and(closed)
            });
        }
    });
}

/// SPEC 13.2, 14.1, I-04: waiting for a session's servers, and changing them.
#[test]
fn a_reconcile_and_a_wait_may_be_dropped_at_every_poll() {
    traces::alone("polls::a_reconcile_and_a_wait_may_be_dropped_at_every_poll", || {
        let (rig, base) = one_server(&[]);
        at_every_poll(|cut| {
            host(rig.configure(json!({})));
            let session = rig.session_with(json!({ "id": "a" }));
            let servers = json!({ "s": rig.server(&[]) }).to_string();
            let servers = Servers::from_json(&servers).unwrap();
            let changed = host(cut.of(rig.pool.reconcile(servers))).map(Result::unwrap);
            let ready = host(cut.of(session.ready(None, None))).map(Result::unwrap);
            drop(session);
            base.returns(&rig);
            changed.and(ready)
        });
    });
}
