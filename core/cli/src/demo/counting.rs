//! The tool `count`: it takes its time, tells its progress, and can be cancelled.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::refusal::Refusal;

/// The counts that run, by the id of their request. A dropped sender cancels its count.
#[derive(Default)]
pub(super) struct Counts(Mutex<HashMap<String, Sender<()>>>);

impl Counts {
    /// Takes a count in, before its thread begins: no cancellation comes too early.
    pub(super) fn begin(&self, id: &Value) -> Result<Receiver<()>, Refusal> {
        let mut running = lock(&self.0);
        if running.len() >= COUNTS_MAX {
            return Err(Refusal::new(-32000, format!("{COUNTS_MAX} counts run already")));
        }
        let (sender, receiver) = channel();
        running.insert(id.to_string(), sender);
        Ok(receiver)
    }

    /// Forgets a count that is over, or cancels one that runs.
    pub(super) fn end(&self, id: &Value) {
        lock(&self.0).remove(&id.to_string());
    }

    pub(super) fn cancel_all(&self) {
        lock(&self.0).clear();
    }
}

/// How far is counted, and how fast.
pub(super) struct Steps {
    pub(super) to: u64,
    interval: Duration,
}

impl Steps {
    pub(super) fn of(arguments: &Value) -> Result<Steps, Refusal> {
        let number = |name: &str, usual: u64, max: u64| match &arguments[name] {
            Value::Null => Ok(usual),
            value => value.as_u64().filter(|number| *number <= max).ok_or_else(|| {
                Refusal::new(-32602, format!("`{name}` must be a whole number up to {max}"))
            }),
        };
        let interval = Duration::from_millis(number("interval_ms", 200, INTERVAL_MS_MAX)?);
        Ok(Steps { to: number("to", 5, TO_MAX)?, interval })
    }

    /// Counts; whether to the end.
    pub(super) fn count(&self, cancelled: &Receiver<()>, mut tell: impl FnMut(u64)) -> bool {
        for step in 1..=self.to {
            if cancelled.recv_timeout(self.interval) != Err(RecvTimeoutError::Timeout) {
                return false;
            }
            tell(step);
        }
        true
    }

    pub(super) fn progress(&self, token: &Value, step: u64) -> Value {
        let message = format!("{step} of {}", self.to);
        let params = json!({ "progressToken": token, "progress": step, "total": self.to, "message": message });
        json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params })
    }
}

/// Takes a lock that stays usable after a panic of a thread that held it.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts that run at the same time.
const COUNTS_MAX: usize = 64;

pub(super) const TO_MAX: u64 = 10_000;

pub(super) const INTERVAL_MS_MAX: u64 = 60_000;
