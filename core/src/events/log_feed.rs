//! What the library logs, for hosts that have no subscriber of `tracing`: those in other languages.
//!
//! Nothing is installed before a host asks for it. Then records wait in a bounded queue, and their
//! reader is woken once for all that came meanwhile. A record is written by the thread on which it
//! happened, which may hold locks of the library: nothing but the queue's own lock is taken there,
//! and the wake-up must not call back.
//!
//! `tracing` calls on the thread where something happens, which may hold locks; calling a host
//! there could deadlock. Records of other crates are left out: they may hold what ours never do.

use std::collections::VecDeque;
use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use arc_swap::ArcSwapOption;
use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber, span};

use crate::platform::fork_generation;
use crate::{Error, ErrorCode, Result};

/// Records that wait at most; those that come then are counted.
const WAITING_MAX: usize = 4096;

/// The levels, the most urgent first.
const LEVELS: [(&str, LevelFilter); 5] = [
    ("error", LevelFilter::ERROR),
    ("warn", LevelFilter::WARN),
    ("info", LevelFilter::INFO),
    ("debug", LevelFilter::DEBUG),
    ("trace", LevelFilter::TRACE),
];

/// The records of the process, from one level on. One feed at a time: another takes its place.
///
/// A record is the text of a JSON object: `time_ms` (since 1970), `level`, `logger` (`trunkline.`
/// and the place), `message`, which is constant, and `fields`.
pub struct LogFeed(Arc<Feed>);

struct Feed {
    level: LevelFilter,
    forks: u64,
    waiting: Mutex<LogQueue>,
    wake: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct LogQueue {
    records: VecDeque<String>,
    dropped: u64,
    ended: bool,
}

/// Who has the records now.
static CURRENT: ArcSwapOption<Feed> = ArcSwapOption::const_empty();

impl LogFeed {
    /// From now on, records of this level (`error`, `warn`, `info`, `debug` or `trace`) and the
    /// more urgent ones are kept until they are [taken](Self::take). `wake` is called on any
    /// thread, perhaps under a lock of the library, when one comes and none waited: it must neither
    /// block nor call the library.
    ///
    /// # Errors
    /// `invalid_argument` for another level, and where the process has a subscriber of `tracing`:
    /// then that has the records.
    pub fn start(level: &str, wake: impl Fn() + Send + Sync + 'static) -> Result<LogFeed> {
        let wrong = |message: &str| {
            Err(Error::new(ErrorCode::InvalidArgument, message).with_detail("path", "level"))
        };
        let Some((_, level)) = LEVELS.iter().find(|(name, _)| *name == level) else {
            return wrong("level must be error, warn, info, debug or trace");
        };
        if !is_installed() {
            return wrong("the process has a subscriber of tracing, which has the records");
        }
        let feed = Arc::new(Feed {
            level: *level,
            forks: fork_generation(),
            waiting: Mutex::default(),
            wake: Box::new(wake),
        });
        let before = CURRENT.swap(Some(feed.clone()));
        before.iter().for_each(|before| before.end());
        tracing::callsite::rebuild_interest_cache();
        Ok(LogFeed(feed))
    }

    /// Up to `most` records that wait. What there was no room for is counted in one of its own, at
    /// the place where it is missing.
    pub fn take(&self, most: usize) -> Vec<String> {
        if self.0.is_elsewhere() {
            return Vec::new();
        }
        let mut waiting = self.0.waiting();
        let count = waiting.records.len().min(most);
        let mut taken: Vec<String> = waiting.records.drain(..count).collect();
        if waiting.records.is_empty() && waiting.dropped > 0 && count < most {
            let dropped = std::mem::take(&mut waiting.dropped);
            let mut fields = Map::new();
            fields.insert("dropped".to_owned(), dropped.into());
            taken.push(record("warn", "trunkline.logs", LOST, fields));
        }
        taken
    }

    /// Whether nothing waits, and nothing will come.
    pub fn is_ended(&self) -> bool {
        self.0.is_elsewhere() || {
            let waiting = self.0.waiting();
            waiting.ended && waiting.records.is_empty() && waiting.dropped == 0
        }
    }

    /// Ends it: what waits can still be taken. Repeating it does nothing.
    pub fn end(&self) {
        if self.0.is_elsewhere() {
            return;
        }
        let ours = Some(self.0.clone());
        let before = CURRENT.compare_and_swap(&ours, None);
        if before.as_ref().is_some_and(|before| Arc::ptr_eq(before, &self.0)) {
            tracing::callsite::rebuild_interest_cache();
        }
        self.0.end();
    }
}

/// The message of the record that counts what is missing.
const LOST: &str = "records were dropped, since nobody took them";

impl Drop for LogFeed {
    fn drop(&mut self) {
        self.end();
    }
}

impl Feed {
    /// A fork has the queue as it was, with a lock that another thread may have had.
    fn is_elsewhere(&self) -> bool {
        self.forks != fork_generation()
    }

    fn push(&self, record: impl FnOnce() -> String) {
        if self.is_elsewhere() {
            return;
        }
        // Outside of the lock: what is logged is written by code of other crates too.
        let record = record();
        let is_first = {
            let mut waiting = self.waiting();
            if waiting.ended {
                return;
            }
            // Once something is missing, what comes behind it is missing too until it is told.
            if waiting.records.len() >= WAITING_MAX || waiting.dropped > 0 {
                waiting.dropped += 1;
                return;
            }
            waiting.records.push_back(record);
            waiting.records.len() == 1
        };
        if is_first {
            (self.wake)();
        }
    }

    fn end(&self) {
        if self.is_elsewhere() {
            return;
        }
        self.waiting().ended = true;
        (self.wake)();
    }

    fn waiting(&self) -> MutexGuard<'_, LogQueue> {
        self.waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Whether our subscriber is the process's; the first who asks makes it so.
fn is_installed() -> bool {
    static INSTALLED: OnceLock<bool> = OnceLock::new();
    *INSTALLED.get_or_init(|| tracing::subscriber::set_global_default(Bridge).is_ok())
}

/// Hands records to the feed that there is, and has no spans.
struct Bridge;

impl Subscriber for Bridge {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        // It is asked anew whenever another feed begins or ends.
        if self.enabled(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let is_ours = metadata.is_event() && metadata.target().starts_with("trunkline");
        is_ours && CURRENT.load().as_ref().is_some_and(|feed| *metadata.level() <= feed.level)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(CURRENT.load().as_ref().map_or(LevelFilter::OFF, |feed| feed.level))
    }

    fn event(&self, event: &Event<'_>) {
        let feed = CURRENT.load_full();
        if let Some(feed) = feed.filter(|feed| *event.metadata().level() <= feed.level) {
            feed.push(|| written(event));
        }
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

/// The text of a record.
fn written(event: &Event<'_>) -> String {
    let mut fields = Fields::default();
    event.record(&mut fields);
    let metadata = event.metadata();
    let level = LEVELS.iter().find(|(_, level)| level == metadata.level());
    let logger = metadata.target().replace("::", ".").replacen("trunkline_", "trunkline.", 1);
    let level = level.map_or("trace", |(name, _)| name);
    record(level, &logger, &fields.message, fields.others)
}

fn record(level: &str, logger: &str, message: &str, fields: Map<String, Value>) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let time_ms = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
    let record = json!({ "time_ms": time_ms, "level": level, "logger": logger, "message": message, "fields": fields });
    record.to_string()
}

#[derive(Default)]
struct Fields {
    message: String,
    others: Map<String, Value>,
}

impl Fields {
    fn keep(&mut self, field: &Field, value: Value) {
        self.others.insert(field.name().to_owned(), value);
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            // Writing to memory cannot fail.
            let _ = write!(self.message, "{value:?}");
            return;
        }
        self.keep(field, format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.message.push_str(value),
            _ => self.keep(field, value.into()),
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.keep(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.keep(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.keep(field, value.into());
    }
}
