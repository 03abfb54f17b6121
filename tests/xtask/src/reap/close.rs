//! Every behaviour, closed in order: when the close has returned, nothing of it runs (SECURITY row
//! 1).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::family;
use super::hosts::{Fleet, Host};
use super::rig::{Behaviour, Last, Moment, Rig};
use super::table::{Round, Table};

/// Closes each behaviour that many times, a few behaviours side by side: a close waits more than it
/// computes.
pub fn measure(rig: &Rig, fleet: &Fleet, rounds: usize, table: &mut Table) {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(behaviour) = rig.behaviours().get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut host = fleet.rust();
            for _ in 0..rounds {
                let closed = host
                    .as_mut()
                    .map_err(|why| why.clone())
                    .and_then(|host| close(rig, host, behaviour));
                done.push((behaviour.name.clone(), closed));
            }
        }
        done
    };
    let done: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    for (behaviour, closed) in done {
        table.add("close", &behaviour, closed.map(|closed| closed.round));
    }
}

/// One close.
pub struct Closed {
    pub took: Duration,
    pub round: Round,
}

/// Connects a server, lets happen what happens before its end, and closes the pool.
pub fn close(rig: &Rig, host: &mut Host, behaviour: &Behaviour) -> Result<Closed, String> {
    let servers = rig.family();
    let leader = rig.establish(host, behaviour, &servers, Moment::Idle)?;
    behaviour.last.provoke(leader)?;
    if behaviour.last == Last::SupervisorDies {
        let reason = host.ask("lost")?;
        if reason != "transport_closed" {
            return Err(format!("the loss is told as {reason}"));
        }
    }
    let took = host.ask("close")?;
    // Not a moment later: what a close leaves is lost.
    let survivors = servers.alive().into_iter().map(family::described).collect();
    let took: f64 = took.parse().map_err(|_| format!("closed in {took}"))?;
    Ok(Closed { took: Duration::from_secs_f64(took / 1e3), round: Round { survivors } })
}

/// Hosts side by side.
const WORKERS: usize = 6;
