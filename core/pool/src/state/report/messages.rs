//! The words and errors that the reducer itself says.

use crate::base::text::escaped;
use crate::error::{Error, ErrorCode};
pub(in crate::state) use crate::interface::words::status_reason as reason;
use crate::interface::words::{deadline, hidden, limit};
use crate::state::terms::Usage;

pub(in crate::state) fn closed() -> Error {
    Error::new(ErrorCode::Closed, "the session is closed")
}

pub(in crate::state) fn closing() -> Error {
    Error::new(ErrorCode::Closing, "the pool is draining")
}

pub(in crate::state) fn cancelled() -> Error {
    Error::new(ErrorCode::Cancelled, "the acquire was cancelled")
}

pub(in crate::state) fn budget_exhausted(limit: u32, usage: Usage) -> Error {
    Error::new(ErrorCode::BudgetExhausted, format!("the budget of {limit} servers is used up"))
        .with_detail("budget", limit)
        .with_detail("live", usage.live)
        .with_detail("reserved", usage.reserved)
}

pub(in crate::state) fn limit_of_processes(most: u32) -> Error {
    let message =
        format!("there are {most} server processes, as many as `limits.processes` allows");
    limit_reached(limit::PROCESSES, message)
}

pub(in crate::state) fn limit_of_entries_per_name(most: u32) -> Error {
    let message = format!(
        "there are {most} connections of the server, as many as `limits.entries_per_name` allows"
    );
    limit_reached(limit::ENTRIES_PER_NAME, message)
}

/// The ids of entries are used up, which takes 2^32 of them.
pub(in crate::state) fn limit_of_entries() -> Error {
    let message = format!("the pool has made {} connections, as many as it can", u32::MAX);
    limit_reached(limit::ENTRIES, message)
}

/// The names of a configuration's tools are more than can be remembered, or the configurations are.
pub(in crate::state) fn limit_of_remembered_tools() -> Error {
    let message = "no room is left to remember the definition of one more tool";
    limit_reached(limit::REMEMBERED_TOOLS, message)
}

pub(in crate::state) fn unknown_tool(tool: &str) -> Error {
    Error::new(ErrorCode::ToolNotFound, format!("the server lists no tool `{}` now", escaped(tool)))
        .with_detail("tool", tool)
        .with_detail("reason", hidden::UNKNOWN)
}

pub(in crate::state) fn stale_approval(tool: &str) -> Error {
    Error::new(ErrorCode::StaleApproval, "the tool's definition is another than the one shown")
        .with_detail("tool", tool)
        .with_hint("look at what the tool is now, and accept that")
}

fn limit_reached(limit: &str, message: impl Into<String>) -> Error {
    Error::new(ErrorCode::Limit, message).with_detail("limit", limit)
}

pub(in crate::state) fn crash_loop(cause: Error) -> Error {
    let message = format!("lost too often, the last time: {}", cause.message());
    let mut error = Error::new(ErrorCode::CrashLoop, message);
    if let Some(server) = cause.server() {
        error = error.with_server(server);
    }
    error.with_cause(cause)
}

/// It came back each time, and was lost again before it was healthy.
pub(in crate::state) fn unstable(cause: Error) -> Error {
    let message = format!("lost again soon after it came back, the last time: {}", cause.message());
    let mut error = Error::new(ErrorCode::Unstable, message);
    if let Some(server) = cause.server() {
        error = error.with_server(server);
    }
    error.with_cause(cause)
}

/// A connection ended without a word about why.
pub(in crate::state) fn ended_silently() -> Error {
    Error::new(ErrorCode::Exited, "the server ended without a word about why")
}

/// A connection was still there after the drain's deadline.
pub(in crate::state) fn left_behind() -> Error {
    Error::new(ErrorCode::Timeout, "the server was still ending when the drain's time was over")
        .with_detail("which", deadline::TOTAL)
        .with_hint("give the drain a longer `timeout_ms`")
}
