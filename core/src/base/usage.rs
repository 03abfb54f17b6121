//! What the calls of one server's name came to, over all of its entries: counted on the way of
//! every call, without a lock.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use serde_json::{Value, json};

use crate::ErrorCode;

/// The upper bounds of durations in milliseconds, as OpenTelemetry's conventions for MCP have them;
/// longer ones come after the last.
const BOUNDS_MS: [u64; 14] =
    [10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000];

/// The methods whose durations are told apart. What a host calls others is its own affair, and may
/// be anything.
const METHODS: [&str; 5] =
    ["tools/call", "resources/read", "prompts/get", "completion/complete", "_OTHER"];

/// The counts of one server's name; nothing until its first call, since most names that a pool
/// hears of are never called.
#[derive(Default)]
pub(crate) struct ServerUsage(OnceLock<Box<Counts>>);

#[derive(Default)]
struct Counts {
    sent: AtomicU64,
    received: AtomicU64,
    /// By the number of the code.
    errors: [AtomicU64; ErrorCode::ALL.len()],
    /// By the place of the method.
    durations: [Durations; METHODS.len()],
}

#[derive(Default)]
struct Durations {
    total_us: AtomicU64,
    buckets: [AtomicU64; BOUNDS_MS.len() + 1],
}

/// How a call ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallEnd {
    /// The bytes of its params, where they were sent.
    pub sent: usize,
    /// The bytes of its result, or the error.
    pub came: Result<usize, ErrorCode>,
}

impl ServerUsage {
    /// Counts the end of a call.
    pub(crate) fn count(&self, method: &str, took: Duration, ended: CallEnd) {
        self.0.get_or_init(Box::default).count(method, took, ended);
    }

    /// For the status; nothing of what was never called.
    pub(crate) fn to_json(&self) -> Option<Value> {
        self.0.get().map(|counts| counts.to_json())
    }
}

impl Counts {
    fn count(&self, method: &str, took: Duration, ended: CallEnd) {
        self.sent.fetch_add(ended.sent as u64, Relaxed);
        match ended.came {
            Ok(received) => self.received.fetch_add(received as u64, Relaxed),
            Err(code) => self.errors[code as usize - 1].fetch_add(1, Relaxed),
        };
        let place = METHODS.iter().position(|known| *known == method);
        let durations = &self.durations[place.unwrap_or(METHODS.len() - 1)];
        let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS_MS.iter().position(|bound| took <= bound * 1_000);
        durations.buckets[bucket.unwrap_or(BOUNDS_MS.len())].fetch_add(1, Relaxed);
        durations.total_us.fetch_add(took, Relaxed);
    }

    /// What never happened is left out.
    fn to_json(&self) -> Value {
        let counts = self.errors.iter().map(|count| count.load(Relaxed));
        let rows = METHODS.iter().zip(&self.durations);
        json!({
            "bytes_sent": self.sent.load(Relaxed),
            "bytes_received": self.received.load(Relaxed),
            "errors": errors_json(ErrorCode::ALL.iter().copied().zip(counts)),
            "durations": rows.filter_map(|(method, row)| row.to_json(method)).collect::<Vec<_>>(),
        })
    }
}

impl Durations {
    fn to_json(&self, method: &str) -> Option<Value> {
        let counts: Vec<u64> = self.buckets.iter().map(|count| count.load(Relaxed)).collect();
        let count: u64 = counts.iter().sum();
        let buckets: Vec<Value> = (BOUNDS_MS.iter().map(|bound| json!(bound)))
            .chain([Value::Null])
            .zip(counts)
            .map(|(bound, count)| json!({ "le_ms": bound, "count": count }))
            .collect();
        let total_us = self.total_us.load(Relaxed);
        (count > 0).then(|| {
            json!({ "method": method, "count": count, "total_us": total_us, "buckets": buckets })
        })
    }
}

/// Errors by code, those that happened.
pub(crate) fn errors_json(counts: impl Iterator<Item = (ErrorCode, u64)>) -> Value {
    let happened = counts.filter(|(_, count)| *count > 0);
    happened.map(|(code, count)| json!({ "code": code.name(), "count": count })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 16.7.
    #[test]
    fn a_call_is_counted_where_it_belongs_and_nowhere_else() {
        let usage = ServerUsage::default();
        assert_eq!(usage.to_json(), None);
        let ended = |came| CallEnd { sent: 7, came };
        usage.count("tools/call", Duration::from_millis(10), ended(Ok(5)));
        usage.count("tools/call", Duration::from_micros(10_001), ended(Err(ErrorCode::Timeout)));
        usage.count("no/such", Duration::from_secs(301), ended(Err(ErrorCode::Internal)));
        usage.count("tools/call", Duration::MAX, CallEnd { sent: 0, came: Ok(1) });
        let told = usage.to_json().unwrap();
        assert_eq!((&told["bytes_sent"], &told["bytes_received"]), (&json!(21), &json!(6)));
        let errors = json!([{ "code": "timeout", "count": 1 }, { "code": "internal", "count": 1 }]);
        assert_eq!(told["errors"], errors);
        let rows = told["durations"].as_array().unwrap();
        let filled = |row: &Value| -> Vec<(Value, Value)> {
            let buckets = row["buckets"].as_array().unwrap().iter();
            let some = buckets.filter(|bucket| bucket["count"] != 0);
            some.map(|bucket| (bucket["le_ms"].clone(), bucket["count"].clone())).collect()
        };
        assert_eq!((&rows[0]["method"], &rows[0]["count"]), (&json!("tools/call"), &json!(3)));
        let expected = [(json!(10), json!(1)), (json!(20), json!(1)), (json!(null), json!(1))];
        assert_eq!(filled(&rows[0]), expected);
        assert_eq!(
            (&rows[1]["method"], &rows[1]["total_us"]),
            (&json!("_OTHER"), &json!(301_000_000_u64))
        );
        assert_eq!(filled(&rows[1]), [(json!(null), json!(1))]);
        assert_eq!(rows.len(), 2);
    }
}
