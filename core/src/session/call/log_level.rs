//! How much of a server's log a session wants to hear.
//!
//! A server of the legacy era is told once, by `logging/setLevel`, for all sessions that share it:
//! the least that any of them wants. One of the modern era has no such request and hears it from
//! each of the others (PROTOCOL 1.2). To a host it is the same: what it says by its options or by
//! that request is kept here, and goes out as the era wants it.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use serde_json::value::RawValue;
use trunkline_pool::options::LogLevel;
use trunkline_pool::state::SessionId;

use crate::client::{CallResult, Callee, LevelAnswer};
use crate::driver::{EntryCell, EntrySnapshot, TakenOver};
use crate::{Error, ErrorCode, Result};

const SET_LEVEL: &str = "logging/setLevel";

/// The member of a request's `_meta` that says it.
const MEMBER: &str = "io.modelcontextprotocol/logLevel";

/// What the options of a session and of its leases say.
pub(crate) struct Hears {
    of_all: Option<LogLevel>,
    /// Whether anything is said: nearly no hold has to look further.
    is_any: AtomicBool,
    /// By server, as the last acquire or request has it.
    of_server: Mutex<BTreeMap<Box<str>, LogLevel>>,
}

impl Hears {
    pub(crate) fn new(of_all: Option<LogLevel>) -> Hears {
        let is_any = AtomicBool::new(of_all.is_some());
        Hears { of_all, is_any, of_server: Mutex::default() }
    }

    /// An acquire of a server, or a request to it, says this, if anything.
    pub(crate) fn set(&self, server: &str, level: Option<LogLevel>) {
        if let Some(level) = level {
            let mut of_server = self.of_server.lock().unwrap_or_else(PoisonError::into_inner);
            of_server.insert(server.into(), level);
            self.is_any.store(true, Ordering::Release);
        }
    }

    /// The session holds an entry from now on, of whose log it wants to hear what its options say;
    /// where they say nothing, no less than the server says unasked.
    pub(crate) fn begin(&self, session: SessionId, cell: &EntryCell) {
        if let Some(level) = self.of(&cell.server) {
            want(session, cell, level);
        }
        cell.tell_log_level();
    }

    /// Keeps the level that a request names, until the session says another.
    ///
    /// # Errors
    /// `invalid_argument` for what is none.
    pub(crate) fn keep(&self, session: SessionId, cell: &EntryCell, params: &str) -> Result<()> {
        let Some(level) = named(params) else {
            let levels = LogLevel::ALL.map(LogLevel::as_str).join(", ");
            let message = format!("a level is one of {levels}");
            let error = Error::new(ErrorCode::InvalidArgument, message);
            return Err(error.with_detail("path", "level"));
        };
        self.set(&cell.server, Some(level));
        want(session, cell, level);
        Ok(())
    }

    fn of(&self, server: &str) -> Option<LogLevel> {
        if !self.is_any.load(Ordering::Acquire) {
            return None;
        }
        let of_server = self.of_server.lock().unwrap_or_else(PoisonError::into_inner);
        of_server.get(server).copied().or(self.of_all)
    }
}

/// The session wants to hear so much, as long as it holds the server.
fn want(session: SessionId, cell: &EntryCell, level: LogLevel) {
    cell.log_levels.set(session, level);
    forget_if_gone(session, cell);
}

/// A release that came between did not see what the session wants.
fn forget_if_gone(session: SessionId, cell: &EntryCell) {
    if !cell.is_held_by(session) {
        cell.log_levels.forget(session);
    }
}

/// The level that the params of the request name.
fn named(params: &str) -> Option<LogLevel> {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow)]
        level: Cow<'a, str>,
    }
    let given = serde_json::from_str::<Params<'_>>(params).ok()?;
    LogLevel::from_word(&given.level)
}

/// Whether a request sets the level of a server that has no request for it.
pub(crate) fn is_kept(callee: Callee<'_>, published: &EntrySnapshot) -> bool {
    let is_it = matches!(callee, Callee::Method(method) if method == SET_LEVEL);
    is_it && published.connection.as_ref().is_some_and(|connection| connection.is_modern())
}

/// The level that each request says, unless the server has a request for it. Of one that is still
/// to come that is not known.
pub(crate) fn said_by_requests(
    session: SessionId,
    cell: &EntryCell,
    published: &EntrySnapshot,
) -> Option<&'static str> {
    let level = cell.log_levels.of(session)?;
    let connection = published.connection.as_ref();
    connection.is_none_or(|connection| connection.is_modern()).then(|| level.as_str())
}

/// A request of the host that sets the level of a server that has one for all.
pub(crate) struct Setting {
    cell: Arc<EntryCell>,
    taken: TakenOver,
}

impl Setting {
    /// What comes of any request to a server of the legacy era. One that sets the level says what
    /// the session wants, and goes out with the least that any session wants of the server.
    pub(crate) fn of(
        (session, hears): (SessionId, &Hears),
        (cell, published): (&Arc<EntryCell>, &EntrySnapshot),
        (callee, params): (Callee<'_>, &str),
    ) -> Option<Setting> {
        // Nothing of any other is looked at.
        let is_it = matches!(callee, Callee::Method(method) if method == SET_LEVEL);
        let level = if is_it && published.connection.is_some() { named(params) } else { None }?;
        hears.set(&cell.server, Some(level));
        let taken = cell.take_over_log_level((session, level), published.slot.generation);
        forget_if_gone(session, cell);
        Some(Setting { cell: cell.clone(), taken })
    }

    /// Its params.
    pub(crate) fn params(&self) -> String {
        format!(r#"{{"level":"{}"}}"#, self.taken.level.as_str())
    }

    /// It is over.
    pub(crate) fn end(self, result: &Result<CallResult>) {
        let answer = result.as_ref().err().map_or(LevelAnswer::Taken, LevelAnswer::of);
        if self.cell.log_levels.over(self.taken, answer) {
            self.cell.tell_log_level();
        }
    }
}

/// The host's `_meta` of a request with that level, unless it says one itself. What cannot be read
/// is left as it is.
pub(crate) fn joined<'a>(meta: Option<Cow<'a, str>>, level: Option<&str>) -> Option<Cow<'a, str>> {
    let Some(level) = level else { return meta };
    let ours = format!(r#""{MEMBER}":"{level}""#);
    let Some(meta) = meta else { return Some(format!("{{{ours}}}").into()) };
    let members = serde_json::from_str::<HashMap<Cow<'_, str>, &RawValue>>(&meta);
    match (members, meta.trim_start().strip_prefix('{')) {
        (Ok(members), Some(_)) if members.is_empty() => Some(format!("{{{ours}}}").into()),
        (Ok(members), Some(rest)) if !members.contains_key(MEMBER) => {
            Some(format!("{{{ours},{rest}").into())
        }
        _ => Some(meta),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PROTOCOL 1.2: it joins what the host says for its request alone, which goes before it.
    #[test]
    fn a_level_joins_the_meta_of_a_request() {
        let join = |meta: Option<&'static str>| {
            joined(meta.map(Cow::from), Some("info")).unwrap().into_owned()
        };
        const OURS: &str = r#""io.modelcontextprotocol/logLevel":"info""#;
        assert_eq!(join(None), format!("{{{OURS}}}"));
        assert_eq!(join(Some("{ }")), format!("{{{OURS}}}"));
        assert_eq!(join(Some(r#" {"k":1e400}"#)), format!(r#"{{{OURS},"k":1e400}}"#));
        let own = r#"{"io.modelcontextprotocol\u002flogLevel":"error"}"#;
        assert_eq!(join(Some(own)), own);
        assert_eq!(joined(Some("{}".into()), None).unwrap(), "{}");
        assert_eq!(joined(None, None), None);
    }
}
