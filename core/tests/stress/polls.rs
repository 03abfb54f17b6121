//! Futures that are dropped at each of their await points (SECURITY row 8): those of every public
//! function, which `public.rs` looks after.

mod approvals;
mod calls;
mod pools;
mod public;
mod remotes;
mod resources;
mod sessions;
mod signs;
mod sources;

use std::task::Poll;

use rig::{Rig, host, score, text};
use serde_json::{Value, json};
use trunkline::Lease;

use crate::base::{Base, rig};

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

/// Cuts a future of this public function ever later, until it completes, and sees to it that it was
/// cut where it waits: as soon as it does, and when it is woken.
fn at_every_poll<T>(function: &str, mut attempt: impl FnMut(Cut) -> Option<T>) {
    let mut most = [0, 0];
    // What it waits for may be there before it looks, but not every time.
    let waited = (0..TIMES).any(|_| {
        let cuts = until_complete(function, &mut attempt);
        most = [most[0].max(cuts[0]), most[1].max(cuts[1])];
        most.iter().all(|cuts| *cuts > 0)
    });
    assert!(waited, "{function} never waits, so nothing was dropped where it does: {most:?}");
    // However often that was begun anew: what one function repeats is no other one.
    score::done("cancel/forms", 1);
    score::done("cancel/cuts", most.iter().sum::<usize>() as u64);
}

/// Cuts it ever later, until it completes; how often that was where it waits, at each moment.
fn until_complete<T>(function: &str, mut attempt: impl FnMut(Cut) -> Option<T>) -> [usize; 2] {
    [Moment::Waiting, Moment::Woken].map(|moment| {
        let mut polls = 0;
        while attempt(Cut { polls, moment }).is_none() {
            polls += 1;
            assert!(polls < 1_000, "{function} never completes");
        }
        assert!(polls > 0, "{function} completed without being polled");
        polls - 1
    })
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

/// What was dropped is on the wire as a cancellation before whatever is asked next.
fn assert_nothing_is_under_way(rig: &Rig, lease: &Lease) {
    assert_eq!(host(text(lease, "under_way", json!({}))), "0");
    assert_eq!(entry(rig)["in_flight"], 0);
}

/// How often a future is cut from its beginning to its end until it was seen to wait.
const TIMES: usize = 50;
