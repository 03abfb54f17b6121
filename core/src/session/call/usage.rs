//! What the calls of one session came to.

use serde_json::{Value, json};

use crate::ErrorCode;
use crate::base::usage::{CallEnd, errors_json};

/// The counts of one session.
#[derive(Default)]
pub(crate) struct SessionUsage {
    sent: u64,
    received: u64,
    /// Those that happened, each code once: most sessions have none.
    errors: Vec<(ErrorCode, u64)>,
}

impl SessionUsage {
    /// Counts the end of a call.
    pub(crate) fn count(&mut self, ended: CallEnd) {
        self.sent += ended.sent as u64;
        match ended.came {
            Ok(received) => self.received += received as u64,
            Err(code) => match self.errors.iter_mut().find(|(known, _)| *known == code) {
                Some((_, count)) => *count += 1,
                None => self.errors.push((code, 1)),
            },
        }
    }

    /// Its row in the status.
    pub(crate) fn to_json(&self, session: &str, calls: u64, in_flight: usize) -> Value {
        json!({
            "session": session,
            "calls": calls,
            "in_flight": in_flight,
            "errors": errors_json(self.errors.iter().copied()),
            "bytes_sent": self.sent,
            "bytes_received": self.received,
        })
    }
}
