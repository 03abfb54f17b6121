//! Why a server or a tool is there, or is not (SPEC 11.6).

use std::sync::Arc;

use serde_json::Value;
use trunkline_pool::acceptance::Held as HeldBack;
use trunkline_pool::catalog::{Catalog, ListKind};
use trunkline_pool::explain::{Explanation, Provenance, Reason, Subject};
use trunkline_pool::gates::Facts;
use trunkline_pool::interface::words;
use trunkline_pool::naming::{explain_unknown, exposed_name_beside};
use trunkline_pool::state::{Gate, GateReason};
use trunkline_pool::view::View;

use super::pool::{Pool, PoolCore};
use super::session::{Session, SessionCore};
use super::view::Lists;
use crate::{Error, ErrorCode, Result};

impl Pool {
    /// Why a server, or a tool by its exposed name, is there or not: `{v, name, kind: server | tool, server?, available, reason?, message,
    /// from?: {source, file?, line?, list?}, remedy?}`. The reason is the first of SPEC 11.6 that applies; `from` is where it is said, with the
    /// list that decides. A server that could be used and is not connected has a reason as well, such as `unused`. For a tool that
    /// nobody lists, `server` is the one that its name would belong to. A name that is no server's and cannot be a tool's is a server
    /// that is `not_configured`.
    ///
    /// What sessions hide or switch off is not in it: [`Session::explain`] says that.
    ///
    /// # Errors
    /// `forked`.
    pub fn explain(&self, name: &str) -> Result<Value> {
        self.0.driver.check_process()?;
        Ok(self.0.explain(name))
    }
}

impl Session {
    /// The same as [`Pool::explain`] for this session: its own servers, what it holds, switches off and filters.
    ///
    /// # Errors
    /// `closed`, `forked`.
    pub fn explain(&self, name: &str) -> Result<Value> {
        let core = self.core();
        let view = core.view()?;
        if core.knows(name) || !is_exposed(name) {
            return Ok(core.explain_server(&view, name));
        }
        Ok(core.why_no_tool(&view, name).to_json(name))
    }
}

/// Why it is not there, and what an error says of that.
type Why = (Option<Reason>, Option<String>);

/// What is found out about a tool.
struct ToolWhy {
    server: Option<Arc<str>>,
    why: Why,
    from: Option<Provenance>,
}

impl ToolWhy {
    fn to_json(&self, name: &str) -> Value {
        let subject = Subject::Tool(self.server.as_deref());
        let (reason, cause) = self.why.clone();
        Explanation { name, subject, reason, cause, from: self.from.clone() }.to_json()
    }

    /// Of a name that can be no server's tool.
    fn of_nobody() -> ToolWhy {
        ToolWhy { server: None, why: (Some(Reason::Unknown), None), from: None }
    }
}

impl PoolCore {
    fn explain(&self, name: &str) -> Value {
        let entries = self.driver.entries();
        let mut names: Vec<Box<str>> =
            entries.iter().map(|(_, cell)| (&*cell.server).into()).collect();
        names.extend(self.running().all_names());
        if names.iter().any(|known| **known == *name) || !is_exposed(name) {
            let (reason, cause) = self.why(name);
            let from = self.provenance(name, reason);
            let subject = Subject::Server;
            return Explanation { name, subject, reason, cause, from }.to_json();
        }
        let Some(server) = explain_unknown(name, names.iter().map(|name| &**name)) else {
            return ToolWhy::of_nobody().to_json(name);
        };
        let mut why = self.why(server);
        let newest = entries.iter().rev().find(|(_, cell)| &*cell.server == server);
        if let (None, Some((_, cell))) = (why.0, newest) {
            let published = cell.load_full();
            let lists = (&*published.slot.catalog, &published.slot.held);
            let view = self
                .configured(server)
                .map_or_else(|_| View::of(&cell.spec), |configured| View::of(configured.spec()));
            why = tool_among(server, lists, &view, (name, &self.driver.reserved_names));
        }
        let from = self.provenance(server, why.0);
        ToolWhy { server: Some(server.into()), why, from }.to_json(name)
    }

    /// Why a server is not connected.
    fn why(&self, name: &str) -> Why {
        let seen = self.seen(name);
        let decided = seen.gate.or(seen.rest).and_then(Reason::from_word);
        let reason = if seen.is_known { decided } else { Some(Reason::NotConfigured) };
        (reason, cause(reason, seen.error.as_ref()))
    }

    /// Where it is said: the list that decides, else the entry.
    fn provenance(&self, server: &str, reason: Option<Reason>) -> Option<Provenance> {
        let by_list = match reason {
            Some(Reason::Excluded) => Some(GateReason::Excluded),
            Some(Reason::NotAllowed) => Some(GateReason::NotAllowed),
            Some(Reason::PendingApproval) => Some(GateReason::PendingApproval),
            _ => None,
        };
        by_list.and_then(|reason| self.list_of(reason, server)).or_else(|| {
            let running = self.running();
            let origin = &running.named(server)?.origin;
            Some(Provenance {
                source: origin.source.to_string(),
                file: origin.file.as_deref().map(str::to_owned),
                line: origin.line,
                list: None,
            })
        })
    }
}

impl SessionCore {
    /// What a call of a name is answered with that is no tool of this session's.
    pub(super) fn no_such_tool(&self, view: &Lists, exposed: &str) -> Error {
        let found = self.why_no_tool(view, exposed);
        let reason = found.why.0.unwrap_or(Reason::Unknown);
        let error = tool_not_found(exposed, reason.as_str());
        let error = error.with_detail("explanation", found.to_json(exposed));
        match &found.server {
            Some(server) => error.with_server(&**server),
            None => error,
        }
    }

    /// The same error with what explains it, where it is that of a tool that is not there.
    pub(super) fn explained(&self, server: &str, error: Error) -> Error {
        let detail = error.detail();
        if error.code() != ErrorCode::ToolNotFound || detail.contains_key("explanation") {
            return error;
        }
        let word = |member: &str| detail.get(member).and_then(Value::as_str);
        let (Some(name), Some(reason)) = (word("tool"), word("reason")) else { return error };
        let reason = Reason::from_word(reason);
        let (why, from) = ((reason, None), self.provenance(server, reason));
        let explanation = ToolWhy { server: Some(server.into()), why, from }.to_json(name);
        error.with_detail("explanation", explanation)
    }

    fn explain_server(&self, view: &Lists, name: &str) -> Value {
        let (reason, cause) = self.why(view, name);
        let (subject, from) = (Subject::Server, self.provenance(name, reason));
        Explanation { name, subject, reason, cause, from }.to_json()
    }

    fn why_no_tool(&self, view: &Lists, exposed: &str) -> ToolWhy {
        let mut names: Vec<Box<str>> = self.pool.running().all_names();
        names.extend(self.own_names());
        names.extend(self.disabled_servers());
        names.extend(view.servers().map(Into::into));
        let guessed = || explain_unknown(exposed, names.iter().map(|name| &**name)).map(Arc::from);
        let Some(server) = view.server_of(exposed).or_else(guessed) else {
            return ToolWhy::of_nobody();
        };
        let why = match self.why(view, &server) {
            (None, _) => view.why_no_tool(&server, (exposed, &self.driver.reserved_names)),
            why => why,
        };
        let from = self.provenance(&server, why.0);
        ToolWhy { server: Some(server), why, from }
    }

    /// Why the session sees nothing of a server.
    fn why(&self, view: &Lists, name: &str) -> Why {
        if view.servers().any(|server| server == name) {
            return (None, None);
        }
        let seen = self.pool.seen(name);
        let own = self.own_server(name);
        let gate = match &own {
            Some(own) => {
                self.driver.gates().decide(&Facts::of_name(name)).and(own.authority.gate())
            }
            None => self.gate_of(name),
        };
        let gate = match gate {
            Gate::Shut(reason) => Reason::from_word(reason.as_str()),
            Gate::Open => None,
        };
        let of_pool = own.is_none().then(|| {
            let missing = (!seen.is_named).then_some(Reason::NotConfigured);
            seen.gate.and_then(Reason::from_word).or(missing)
        });
        let disabled = self.has_disabled(name).then_some(Reason::Disabled);
        let first = [gate, of_pool.flatten(), disabled].into_iter().flatten().min();
        let rest = || seen.rest.and_then(Reason::from_word).unwrap_or(Reason::Unused);
        let reason = Some(first.unwrap_or_else(rest));
        (reason, cause(reason, seen.error.as_ref()))
    }

    fn provenance(&self, server: &str, reason: Option<Reason>) -> Option<Provenance> {
        let own = self
            .own_server(server)
            .map(|_| Provenance { source: "session".into(), ..Provenance::default() });
        match reason {
            Some(Reason::Excluded | Reason::NotAllowed) => self.pool.provenance(server, reason),
            _ => own.or_else(|| self.pool.provenance(server, reason)),
        }
    }

    fn knows(&self, name: &str) -> bool {
        self.own_server(name).is_some() || {
            let running = self.pool.running();
            running.named(name).is_some() || running.is_removed(name)
        }
    }
}

/// What an error says of a reason that is no decision.
fn cause(reason: Option<Reason>, error: Option<&Error>) -> Option<String> {
    let says = matches!(
        reason?,
        Reason::InvalidConfig
            | Reason::Failed
            | Reason::AuthRequired
            | Reason::Budget
            | Reason::Reconnecting
    );
    error.filter(|_| says).map(|error| error.message().to_owned())
}

/// Whether it begins as the exposed names of tools do.
fn is_exposed(name: &str) -> bool {
    name.starts_with("mcp__")
}

/// Why a tool of a connected server is not there, by its exposed name.
pub(super) fn tool_among(
    server: &str,
    (catalog, held_back): (&Catalog, &HeldBack),
    view: &View,
    (exposed, reserved): (&str, &std::collections::BTreeSet<String>),
) -> (Option<Reason>, Option<String>) {
    let is_it = |tool: &str| exposed_name_beside(server, tool, reserved) == exposed;
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
        None => (Some(Reason::Unknown), None),
    }
}

/// `reason` is a word of SPEC 11.6, or `unknown`.
pub(super) fn tool_not_found(tool: &str, reason: &str) -> Error {
    Error::new(ErrorCode::ToolNotFound, "no such tool in this session's view")
        .with_detail("tool", tool)
        .with_detail("reason", reason)
}

/// The server lists the tool, and it cannot be called.
pub(super) fn tool_left_out(tool: &str, why: &str) -> Error {
    Error::new(ErrorCode::ToolNotFound, format!("the server's tool cannot be called: {why}"))
        .with_detail("tool", tool)
        .with_detail("reason", words::hidden::LEFT_OUT)
}

/// The server lists the tool in a way that could not be taken over (SPEC 4.5).
pub(super) fn tool_malformed(tool: &str, why: &str) -> Error {
    tool_left_out(tool, why).with_detail("reason", words::hidden::MALFORMED)
}

/// The tool is there, and its definition is not the accepted one (SPEC 7.6).
pub(super) fn tool_quarantined(tool: &str) -> Error {
    let message = "the tool's definition changed, and was not accepted";
    Error::new(ErrorCode::ToolNotFound, message)
        .with_detail("tool", tool)
        .with_detail("reason", words::hidden::QUARANTINED)
        .with_hint("look at the difference that `tool_quarantined` and the status show, and accept it with `accept_tool`")
}
