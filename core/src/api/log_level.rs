//! How much of a server's log a session wants to hear.
//!
//! A server of the legacy era is told once, by `logging/setLevel`. One of the modern era has no such request and hears it from each of
//! the others (PROTOCOL 1.2). To a host it is the same: what it says by that request is kept here, and goes out with its next ones.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::call::Callee;
use super::session::SessionCore;
use crate::driver::{EntryCell, Published};
use crate::{Error, ErrorCode, Result};

const SET_LEVEL: &str = "logging/setLevel";

/// The member of a request's `_meta` that says it.
const MEMBER: &str = "io.modelcontextprotocol/logLevel";

const LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// Whether a request sets the level of a server that has no request for it.
pub(super) fn is_kept(callee: Callee<'_>, published: &Published) -> bool {
    let is_it = matches!(callee, Callee::Method(method) if method == SET_LEVEL);
    is_it && published.connection.as_ref().is_some_and(|connection| connection.is_modern())
}

/// Keeps the level, as long as the session holds the server.
///
/// # Errors
/// `invalid_argument` for what is none.
pub(super) fn keep(session: &SessionCore, cell: &EntryCell, params: &str) -> Result<()> {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow)]
        level: Cow<'a, str>,
    }
    let given = serde_json::from_str::<Params<'_>>(params).ok();
    let level = given.and_then(|given| LEVELS.into_iter().find(|level| *level == given.level));
    let Some(level) = level else {
        let message = format!("a level is one of {}", LEVELS.join(", "));
        return Err(Error::new(ErrorCode::InvalidArgument, message).with_detail("path", "level"));
    };
    cell.log_levels.set(session.number, level);
    // A release that came between did not see it.
    if !cell.is_held_by(session.number) {
        cell.log_levels.forget(session.number);
    }
    Ok(())
}

/// The host's `_meta` of a request with that level, unless it says one itself. What cannot be read is left as it is.
pub(super) fn joined<'a>(meta: Option<Cow<'a, str>>, level: Option<&str>) -> Option<Cow<'a, str>> {
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
