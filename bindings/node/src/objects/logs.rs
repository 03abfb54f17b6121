//! What the library logs, on its way to a function of the host.

use napi_derive::napi;
use trunkline::LogFeed;

use crate::runtime::environment::Environment;
use crate::runtime::failure::{Result, thrown};
use crate::runtime::json_text::JsonText;
use crate::runtime::reply::Arrival;

/// The records of the library, from one level on. Its finaliser ends it, if the host did not.
#[napi]
pub struct NativeLogs {
    number: u64,
    feed: LogFeed,
}

impl NativeLogs {
    /// From now on the environment hears when there are records.
    pub fn new(environment: &Environment, level: &str) -> Result<NativeLogs> {
        let number = environment.number();
        let queue = environment.queue().clone();
        let wake = move || queue.push(Arrival::Readable { subscription: number });
        LogFeed::start(level, wake).map(|feed| NativeLogs { number, feed }).map_err(thrown)
    }
}

#[napi]
impl NativeLogs {
    /// Its number, with which `on_readable` is called.
    #[napi(catch_unwind)]
    pub fn number(&self) -> f64 {
        self.number as f64
    }

    /// Up to `most` records that wait, as the text of a JSON array; empty when none does.
    #[napi(catch_unwind)]
    pub fn take(&self, most: u32) -> JsonText {
        let records = self.feed.take(usize::try_from(most).unwrap_or(usize::MAX));
        JsonText(match records.is_empty() {
            true => String::new(),
            false => format!("[{}]", records.join(",")),
        })
    }

    /// Whether nothing waits, and nothing will come.
    #[napi(catch_unwind)]
    pub fn is_ended(&self) -> bool {
        self.feed.is_ended()
    }

    /// Ends it; what waits can still be taken.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        self.feed.end();
    }
}
