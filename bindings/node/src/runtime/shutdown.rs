//! The end of pools that the host did not close: at the end of an environment, and of the process.
//!
//! Node runs no clean-up hooks on `process.exit`, so `lib/native.cjs` listens for the `exit` event
//! too. Either way nothing may await any more: the JavaScript thread waits here, for a bounded
//! time, until the servers are gone (SPEC 16.4).

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

use trunkline::{DrainOptions, Pool};

/// What a forced drain gets at the end of a host, in milliseconds. Servers that end at the end of
/// their stdin need a few; the rest are killed when it is over. The host's exit must stay prompt.
const DRAIN_MS: u64 = 1_000;

/// When the wait ends even without an answer: the drain's time, and half a second for the kill and
/// the reaping.
const WAIT: Duration = Duration::from_millis(DRAIN_MS + 500);

/// Whose pools are meant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Those of one environment, by its key.
    Environment(u64),
    /// All of the process: its main thread is ending, and the workers with it.
    Process,
}

struct Known {
    environment: u64,
    pool: Weak<Pool>,
}

static KNOWN: Mutex<Vec<Known>> = Mutex::new(Vec::new());

/// Remembers a pool for the end.
pub fn remember(environment: u64, pool: &Arc<Pool>) {
    let mut known = lock();
    known.retain(|known| known.pool.strong_count() > 0);
    known.push(Known { environment, pool: Arc::downgrade(pool) });
}

/// Drains pools by force and waits for it, at most [`WAIT`]. Repeating it finds nothing more to do.
pub fn end_pools(whose: Whose) {
    let pools = take(whose);
    let (sender, receiver) = channel();
    for pool in &pools {
        drain(pool, sender.clone());
    }
    drop(sender);
    await_all(&receiver, pools.len());
}

fn take(whose: Whose) -> Vec<Arc<Pool>> {
    let is_meant = |known: &Known| match whose {
        Whose::Environment(key) => known.environment == key,
        Whose::Process => true,
    };
    let mut known = lock();
    let pools = known.iter().filter(|known| is_meant(known));
    let pools = pools.filter_map(|known| known.pool.upgrade()).collect();
    known.retain(|known| !is_meant(known));
    pools
}

fn drain(pool: &Arc<Pool>, sender: Sender<()>) {
    let options = format!(r#"{{"force":true,"timeout_ms":{DRAIN_MS}}}"#);
    let options = DrainOptions::from_json(&options).unwrap_or_default();
    let drained = pool.clone();
    let future = async move { drained.drain_all(&options).await };
    pool.start(future, move |_| {
        // Nobody listens any more when the wait was over first.
        let _ = sender.send(());
    });
}

fn await_all(receiver: &Receiver<()>, count: usize) {
    let deadline = Instant::now() + WAIT;
    for _ in 0..count {
        let left = deadline.saturating_duration_since(Instant::now());
        if receiver.recv_timeout(left).is_err() {
            return;
        }
    }
}

fn lock() -> MutexGuard<'static, Vec<Known>> {
    KNOWN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
