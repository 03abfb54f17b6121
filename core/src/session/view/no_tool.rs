//! A tool that is not there: why, and the error that says so (SPEC 5.2, 11.6).

use trunkline_pool::acceptance::QuarantinedTools as HeldBack;
use trunkline_pool::catalog::{Catalog, ListKind};
use trunkline_pool::explain::Reason;
use trunkline_pool::interface::words;
use trunkline_pool::interface::words::entry_state;
use trunkline_pool::naming::Naming;
use trunkline_pool::text::escaped;
use trunkline_pool::view::View;

use crate::{Error, ErrorCode};

/// Why a tool of a connected server is not there, by its exposed name.
pub(crate) fn tool_among(
    server: &str,
    (catalog, held_back): (&Catalog, &HeldBack),
    view: &View,
    (exposed, naming): (&str, &Naming),
) -> (Option<Reason>, Option<String>) {
    let is_it = |tool: &str| naming.can_be(exposed, server, tool);
    let hidden = |tool: &str, else_: Option<Reason>| {
        if view.admits(tool) { else_ } else { Some(Reason::Filtered) }
    };
    if let Some(tool) = catalog.tools.iter().find(|tool| is_it(&tool.name)) {
        let only_as_task = catalog.tasks.contains(&tool.name).then_some(Reason::LeftOut);
        return (hidden(&tool.name, only_as_task), None);
    }
    if let Some(tool) = held_back.tools().iter().find(|tool| is_it(&tool.item.name)) {
        return (hidden(&tool.item.name, Some(Reason::Quarantined)), None);
    }
    let mut skipped = catalog.skipped.iter().filter(|skipped| skipped.list == ListKind::Tools);
    match skipped.find(|skipped| skipped.name.as_deref().is_some_and(is_it)) {
        Some(skipped) => (Some(Reason::Malformed), Some(skipped.reason.clone())),
        None if catalog.unreported > 0 => {
            let more = catalog.unreported;
            (
                Some(Reason::Unknown),
                Some(format!("the server lists {more} more, which are left out")),
            )
        }
        None => {
            (Some(Reason::Unknown), catalog.why_unlisted(ListKind::Tools).map(ToString::to_string))
        }
    }
}

/// `reason` is a word of SPEC 11.6, or `unknown`.
pub(crate) fn tool_not_found(tool: &str, reason: &str) -> Error {
    let message = format!("this session's view has no tool `{}`", escaped(tool));
    Error::new(ErrorCode::ToolNotFound, message)
        .with_detail("tool", tool)
        .with_detail("reason", reason)
}

/// The tool is of a server that failed, or lacks credentials: that is what is wrong, and not the
/// tool's name (SPEC 18.12).
pub(crate) fn tool_is_down(tool: &str, reason: Reason, failure: Error) -> Error {
    let error = match failure.code() {
        ErrorCode::AuthRequired => failure.with_detail("state", entry_state::AUTH_REQUIRED),
        _ => server_has_failed(failure).with_detail("state", entry_state::FAILED),
    };
    error.with_detail("tool", tool).with_detail("reason", reason.as_str())
}

/// The server's list of tools could not be had: nobody knows whether it has the tool
/// (SPEC 4.4, 18.12).
pub(crate) fn tools_unlisted(tool: &str, cause: &Error) -> Error {
    let message = format!("the server's list of tools could not be had: {}", cause.message());
    Error::new(ErrorCode::Unavailable, message)
        .with_detail("tool", tool)
        .with_detail("reason", words::hidden::UNKNOWN)
        .with_hint("the list is asked for again by itself; `refresh` asks for it now")
        .with_cause(cause.clone())
}

/// Of a server that failed, by what it failed of.
pub(crate) fn server_has_failed(cause: Error) -> Error {
    let message = format!("the server has failed: {}", cause.message());
    let error = Error::new(ErrorCode::Unavailable, message);
    let hint = cause.hint().map(str::to_owned);
    let error = match hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    };
    error.with_cause(cause)
}

/// The tool was kept from an earlier list of the server, which has it no more.
pub(crate) fn tool_vanished(tool: &str) -> Error {
    let tool_shown = escaped(tool);
    let message =
        format!("the server no longer lists the tool `{tool_shown}`, known from an earlier list");
    Error::new(ErrorCode::ToolNotFound, message)
        .with_detail("tool", tool)
        .with_detail("reason", words::hidden::UNKNOWN)
        .with_hint("read the session's tools again")
}

/// The server lists the tool, and it cannot be called.
pub(crate) fn tool_left_out(tool: &str, why: &str) -> Error {
    let message = format!("the server's tool `{}` cannot be called: {why}", escaped(tool));
    Error::new(ErrorCode::ToolNotFound, message)
        .with_detail("tool", tool)
        .with_detail("reason", words::hidden::LEFT_OUT)
}

/// The server lists the tool in a way that could not be taken over (SPEC 4.5).
pub(crate) fn tool_malformed(tool: &str, why: &str) -> Error {
    tool_left_out(tool, why).with_detail("reason", words::hidden::MALFORMED)
}

/// The tool is there, and its definition is not the accepted one (SPEC 7.6).
pub(crate) fn tool_quarantined(tool: &str) -> Error {
    let message =
        format!("the definition of the tool `{}` changed, and was not accepted", escaped(tool));
    Error::new(ErrorCode::ToolNotFound, message)
        .with_detail("tool", tool)
        .with_detail("reason", words::hidden::QUARANTINED)
        .with_hint("look at the difference that `tool_quarantined` and the status show, and accept it with `accept_tool`")
}
