//! Why a server or a tool is there, or is not (SPEC 11.6).
//!
//! A server that may run and is not connected has a reason too, so that whatever is not available
//! has a remedy.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde_json::{Map, Value, json};
use trunkline_pool::acceptance::HeldTool;
use trunkline_pool::approvals::Replaced;
use trunkline_pool::explain::{Explanation, IdleFilter, Reason, ReasonSource, Subject};
use trunkline_pool::gates::Facts;
use trunkline_pool::lenient::{self, kinds};
use trunkline_pool::shapes::ToolFormat;
use trunkline_pool::state::{EntryState, Gate, GateReason};
use trunkline_pool::view::View;

use super::{Parts, ServerObstacles};
use crate::config::Over;
use crate::driver::EntryCell;
use crate::session::demand::DemandState;
use crate::session::session_core::SessionCore;
use crate::session::view::SessionView;
use crate::session::view::no_tool::{tool_among, tool_is_down, tool_not_found, tools_unlisted};
use crate::{Error, ErrorCode, Result};

/// Members of a definition that have the wrong type, as far as they are told.
fn left_out(definition: &str) -> Vec<Value> {
    let places = lenient::unfit(definition, &kinds::TOOL).into_iter().take(LEFT_OUT_MAX);
    let reason = "has the wrong type";
    places.map(|path| json!({ "path": path, "reason": reason })).collect()
}

/// How many members that are left out of one definition are told.
const LEFT_OUT_MAX: usize = 32;

/// Why it is not there, and what an error says of that.
type AbsenceReason = (Option<Reason>, Option<String>);

/// What is found out about a tool.
struct ToolWhy {
    server: Option<Arc<str>>,
    why: AbsenceReason,
    from: Option<ReasonSource>,
    idle: Vec<IdleFilter>,
}

impl ToolWhy {
    fn to_json(&self, name: &str) -> Value {
        let subject = Subject::Tool(self.server.as_deref());
        let (reason, cause) = self.why.clone();
        let (from, idle) = (self.from.clone(), self.idle.clone());
        Explanation { name, subject, reason, cause, from, idle }.to_json()
    }

    /// Of a name that can be no server's tool.
    fn of_nobody() -> ToolWhy {
        let why = (Some(Reason::Unknown), None);
        ToolWhy { server: None, why, from: None, idle: Vec::new() }
    }
}

impl Parts<'_> {
    /// See [`Pool::explain`](crate::Pool::explain).
    pub(crate) fn explain(&self, name: &str) -> Value {
        let entries = self.driver.entries();
        let mut names: Vec<Box<str>> =
            entries.iter().map(|(_, cell)| (&*cell.server).into()).collect();
        names.extend(self.config.running().all_names());
        names.extend(self.config.claimed_names());
        names.extend(self.failed_of_sessions().into_iter().map(|(name, _)| name));
        let naming = &self.driver.naming;
        // The newest that is connected: one that is still being started lists nothing yet.
        let listing = |server: &str| {
            let theirs = || entries.iter().rev().filter(|(_, cell)| &*cell.server == server);
            let connected = theirs().find(|(status, _)| status.state.is_connected());
            connected.or_else(|| theirs().next())
        };
        if names.iter().any(|known| **known == *name) || !naming.is_exposed(name) {
            let (reason, cause) = self.why(name);
            let from = self.provenance(name, reason);
            let subject = Subject::Server;
            let idle = listing(name).map(|(_, cell)| self.idle_of(cell)).unwrap_or_default();
            let explained = Explanation { name, subject, reason, cause, from, idle }.to_json();
            return self.with_others(name, explained);
        }
        let of_tool = |server: &str| listing(server).map(|(_, cell)| self.why_of_tool(cell, name));
        // A bare name is found where a server has such a tool.
        let has_it =
            |server: &&str| of_tool(server).is_some_and(|why| why.0 != Some(Reason::Unknown));
        let mut all = names.iter().map(|name| &**name);
        let guessed = naming.explain_unknown(name, all.clone()).or_else(|| all.find(has_it));
        let Some(server) = guessed else { return ToolWhy::of_nobody().to_json(name) };
        let why = match self.why(server) {
            (None, _) => of_tool(server).unwrap_or_default(),
            why => self.held_back_asleep((server, name), why),
        };
        let from = self.provenance(server, why.0);
        let idle = listing(server).map(|(_, cell)| self.idle_of(cell)).unwrap_or_default();
        ToolWhy { server: Some(server.into()), why, from, idle }.to_json(name)
    }

    /// An explanation of a server with the other entries of its name: those that would take its
    /// place, and the one whose place it has.
    fn with_others(&self, name: &str, mut explained: Value) -> Value {
        let running = self.config.running();
        let Some(named) = running.named(name) else { return explained };
        if !named.over.is_empty() {
            explained["waiting"] = named.over.iter().map(Over::to_json).collect();
        }
        if let Some(hidden) = &named.hides {
            explained["hides"] = hidden.to_json();
        }
        explained
    }

    /// Why a tool of a connected entry is not there for a session that hides nothing.
    fn why_of_tool(&self, cell: &EntryCell, name: &str) -> AbsenceReason {
        let published = cell.load_full();
        let lists = (&*published.slot.catalog, &published.slot.held);
        tool_among(&cell.server, lists, &self.view_of(cell), (name, &*self.driver.naming))
    }

    /// What the patterns of its configuration match nothing of.
    fn idle_of(&self, cell: &EntryCell) -> Vec<IdleFilter> {
        let slot = &cell.load_full().slot;
        let held_back = slot.held.tools().iter().map(|held| &*held.item.name);
        let unmatched = self.view_of(cell).unmatched(&slot.catalog, held_back);
        unmatched.into_iter().map(|it| IdleFilter::Pattern(cell.server.to_string(), it)).collect()
    }

    /// What a session makes of its lists that states nothing itself.
    fn view_of(&self, cell: &EntryCell) -> View {
        let configured = self.config.configured(&cell.server);
        let view = configured.map_or_else(|_| View::of(&cell.spec), |it| View::of(it.spec()));
        view.exposed_as(&cell.server, &self.driver.naming)
    }

    /// That a tool is held back is why it is not there, while nothing but a call is missing for its
    /// server to run.
    fn held_back_asleep(
        &self,
        (server, exposed): (&str, &str),
        why: AbsenceReason,
    ) -> AbsenceReason {
        if !matches!(why.0, Some(Reason::Asleep | Reason::Unused)) {
            return why;
        }
        let (held, naming) = (self.driver.held_of(server), &self.driver.naming);
        let is_it = |tool: &HeldTool| naming.can_be(exposed, server, &tool.item.name);
        if held.tools().iter().any(is_it) { (Some(Reason::Quarantined), None) } else { why }
    }

    /// Why a server is not connected.
    fn why(&self, name: &str) -> AbsenceReason {
        let seen = self.seen(name);
        let claimed = if seen.is_named { None } else { self.config.claimed_as(name) };
        let by_claim = claimed.as_ref().and_then(|(gate, _)| reason_of(*gate));
        let by_pool = seen.gate.and_then(Reason::from_word);
        let rest = || seen.rest.and_then(Reason::from_word);
        let reason = match seen.is_known || claimed.is_some() {
            true => by_pool.into_iter().chain(by_claim).min().or_else(rest),
            false => Some(Reason::NotConfigured),
        };
        (
            reason,
            cause(reason, &seen).or_else(|| replaced_of(reason, || self.config.replaced(name))),
        )
    }

    /// Where it is said: the list that decides, else the entry.
    fn provenance(&self, server: &str, reason: Option<Reason>) -> Option<ReasonSource> {
        let by_list = match reason {
            Some(Reason::Excluded) => Some(GateReason::Excluded),
            Some(Reason::NotAllowed) => Some(GateReason::NotAllowed),
            Some(Reason::PendingApproval) => Some(GateReason::PendingApproval),
            _ => None,
        };
        let by_entry = || {
            let running = self.config.running();
            let origin = &running.named(server)?.origin;
            let (file, line) = (origin.file.as_deref().map(str::to_owned), origin.line);
            Some(ReasonSource { source: origin.source.to_string(), file, line, list: None })
        };
        let by_claim = || {
            let (_, source) = self.config.claimed_as(server)?;
            Some(ReasonSource { source: source.to_string(), ..ReasonSource::default() })
        };
        by_list
            .and_then(|reason| self.config.list_of(reason, server))
            .or_else(by_entry)
            .or_else(by_claim)
    }
}

impl SessionCore {
    /// See [`Session::explain`](crate::Session::explain).
    pub(crate) fn explain(&self, name: &str) -> Result<Value> {
        let view = self.view()?;
        if self.knows(name) || !self.driver.naming.is_exposed(name) {
            return Ok(self.explain_server(&view, name));
        }
        let mut out = self.why_no_tool(&view, name).to_json(name);
        if let Some(tool) = view.tools.iter().find(|tool| &*tool.name == name) {
            let shaped = ToolFormat::ALL.into_iter().filter_map(|shape| {
                Some((shape.as_str().to_owned(), shape.fit(&tool.definition).to_json()?))
            });
            let shaped: Map<String, Value> = shaped.collect();
            if !shaped.is_empty() {
                out["shapes"] = shaped.into();
            }
            let left_out = left_out(&tool.definition);
            if !left_out.is_empty() {
                out["left_out"] = left_out.into();
            }
        }
        Ok(out)
    }

    /// What a call of a name is answered with that is no tool of this session's.
    pub(crate) fn no_such_tool(&self, view: &SessionView, exposed: &str) -> Error {
        let found = self.why_no_tool(view, exposed);
        let reason = found.why.0.unwrap_or(Reason::Unknown);
        if let Some(failure) = self.failure_of(reason, found.server.as_deref()) {
            let error = tool_is_down(exposed, reason, failure);
            let error = error.with_detail("explanation", found.to_json(exposed));
            return match &found.server {
                Some(server) => error.with_server(&**server),
                None => error,
            };
        }
        let unlisted =
            || view.why_unlisted(found.server.as_deref()?).filter(|_| reason == Reason::Unknown);
        let error = match unlisted() {
            Some(error) => tools_unlisted(exposed, error),
            None => tool_not_found(exposed, reason.as_str()),
        };
        let error = error.with_detail("explanation", found.to_json(exposed));
        // Of a tool that there is more is known than what its name is like.
        let error = match reason {
            Reason::Unknown => {
                error.with_nearest(exposed, view.tools.iter().map(|tool| &*tool.name))
            }
            _ => error,
        };
        match &found.server {
            Some(server) => error.with_server(&**server),
            None => error,
        }
    }

    /// With what a server failed whose tool is not there for that reason.
    fn failure_of(&self, reason: Reason, server: Option<&str>) -> Option<Error> {
        let server = server.filter(|_| matches!(reason, Reason::Failed | Reason::AuthRequired))?;
        let wanted = self.why_wanted_in_vain(server).and_then(|(_, error)| error);
        wanted.or_else(|| self.parts().seen(server).error)
    }

    /// The same error with what explains it, where it is that of a tool that is not there.
    pub(crate) fn explained(&self, server: &str, error: Error) -> Error {
        let detail = error.detail();
        if error.code() != ErrorCode::ToolNotFound || detail.contains_key("explanation") {
            return error;
        }
        let word = |member: &str| detail.get(member).and_then(Value::as_str);
        let (Some(name), Some(reason)) = (word("tool"), word("reason")) else { return error };
        let reason = Reason::from_word(reason);
        let (why, from) = ((reason, None), self.provenance(server, reason));
        let idle = self.view().map(|view| self.idle_filters(&view, server)).unwrap_or_default();
        let found = ToolWhy { server: Some(server.into()), why, from, idle };
        let explanation = found.to_json(name);
        error.with_detail("explanation", explanation)
    }

    fn explain_server(&self, view: &SessionView, name: &str) -> Value {
        let (reason, cause) = match self.why(view, name) {
            (None, cause) if view.defers(name) => (self.why_deferred(name), cause),
            (None, _) => self.why_gone(name),
            why => why,
        };
        let (subject, from) = (Subject::Server, self.provenance(name, reason));
        let idle = self.idle_filters(view, name);
        let explained = Explanation { name, subject, reason, cause, from, idle }.to_json();
        match self.own_server(name) {
            Some(_) => explained,
            None => self.parts().with_others(name, explained),
        }
    }

    /// Why a server is away whose tools stay listed until it is back (SPEC 5.8).
    fn why_gone(&self, name: &str) -> AbsenceReason {
        let seen = self.parts().seen(name);
        let reason = seen.rest.and_then(Reason::from_word);
        let reason = reason.filter(|reason| *reason == Reason::Reconnecting);
        let is_own = self.own_server(name).is_some();
        (reason, cause(reason, &seen).filter(|_| reason.is_some() || !is_own))
    }

    fn why_no_tool(&self, view: &SessionView, exposed: &str) -> ToolWhy {
        let mut names: Vec<Box<str>> = self.config.running().all_names();
        names.extend(self.own_names());
        names.extend(self.disabled_servers());
        names.extend(view.servers().map(Into::into));
        let naming = &self.driver.naming;
        let guessed = || {
            let by_name = naming.explain_unknown(exposed, names.iter().map(|name| &**name));
            by_name.map(Arc::from).or_else(|| view.server_of_hidden(exposed, naming))
        };
        let Some(server) = view.server_of(exposed).or_else(guessed) else {
            return ToolWhy::of_nobody();
        };
        let why = match self.why(view, &server) {
            (None, _) => view.why_no_tool(&server, (exposed, naming)),
            why => self.parts().held_back_asleep((&server, exposed), why),
        };
        let from = self.provenance(&server, why.0);
        let idle = self.idle_filters(view, &server);
        ToolWhy { server: Some(server), why, from, idle }
    }

    /// Why the session sees nothing of a server.
    fn why(&self, view: &SessionView, name: &str) -> AbsenceReason {
        if view.servers().any(|server| server == name) {
            return (None, None);
        }
        let seen = self.parts().seen(name);
        let own = self.own_server(name);
        let gate = match &own {
            Some(own) => {
                self.driver.gates().decide(&Facts::of_name(name)).and(own.authority.gate())
            }
            None => self.gate_of(name),
        };
        let gate = reason_of(gate);
        let of_pool = own.is_none().then(|| {
            let missing = (!seen.is_named).then_some(Reason::NotConfigured);
            seen.gate.and_then(Reason::from_word).or(missing)
        });
        let disabled = self.has_disabled(name).then_some(Reason::Disabled);
        let first = [gate, of_pool.flatten(), disabled].into_iter().flatten().min();
        if first.is_some() {
            let replaced = || replaced_of(first, || self.replaced(name));
            return (first, cause(first, &seen).or_else(replaced));
        }
        let of_pool = || {
            let rest = seen.rest.and_then(Reason::from_word);
            (rest.unwrap_or(Reason::Unused), seen.error.clone())
        };
        let (rest, error) = self.why_wanted_in_vain(name).unwrap_or_else(of_pool);
        (Some(rest), said_of(rest, error.as_ref()))
    }

    /// Why a server is not there that the session wants unasked: what others have of it does not
    /// matter.
    fn why_wanted_in_vain(&self, name: &str) -> Option<(Reason, Option<Error>)> {
        let failed = |error: Option<Error>| {
            let is_auth = error.as_ref().is_some_and(|it| it.code() == ErrorCode::AuthRequired);
            (if is_auth { Reason::AuthRequired } else { Reason::Failed }, error)
        };
        Some(match &self.wants().servers.get(name)?.state {
            DemandState::Looking | DemandState::Pending | DemandState::Over => {
                (Reason::Connecting, None)
            }
            DemandState::Waiting(error) => (Reason::Budget, Some(error.clone())),
            DemandState::Failed(error) => failed(Some(error.clone())),
            DemandState::Asleep(_) => (Reason::Asleep, None),
            DemandState::Ready(hold) => {
                let slot = &self.holds.held(*hold)?.cell().load_full().slot;
                match slot.state {
                    EntryState::AuthRequired | EntryState::Failed => failed(slot.error.clone()),
                    _ => return None,
                }
            }
        })
    }

    fn provenance(&self, server: &str, reason: Option<Reason>) -> Option<ReasonSource> {
        let own = self.own_server(server).map(|own| {
            let claimed = self.config.claimed_source(&own);
            let source = claimed.map_or("session".into(), |source| source.to_string());
            ReasonSource { source, ..ReasonSource::default() }
        });
        match reason {
            Some(Reason::Excluded | Reason::NotAllowed) => self.parts().provenance(server, reason),
            _ => own.or_else(|| self.parts().provenance(server, reason)),
        }
    }

    fn knows(&self, name: &str) -> bool {
        self.own_server(name).is_some() || {
            let running = self.config.running();
            running.named(name).is_some() || running.is_removed(name)
        }
    }
}

/// What of its program is another than was looked at, of a server that waits for approval.
fn replaced_of(
    reason: Option<Reason>,
    replaced: impl FnOnce() -> Option<Replaced>,
) -> Option<String> {
    let waits = reason == Some(Reason::PendingApproval);
    waits.then(replaced)?.map(|replaced| replaced.clause())
}

fn reason_of(gate: Gate) -> Option<Reason> {
    match gate {
        Gate::Shut(reason) => Reason::from_word(reason.as_str()),
        Gate::Open => None,
    }
}

/// What an error says of a reason, or of what runs by what its entry said before.
fn cause(reason: Option<Reason>, seen: &ServerObstacles) -> Option<String> {
    match reason {
        None => seen.outdated.as_ref().map(|error| error.message().to_owned()),
        Some(reason) => said_of(reason, seen.error.as_ref()),
    }
}

/// What an error says of a reason that is no decision.
fn said_of(reason: Reason, error: Option<&Error>) -> Option<String> {
    let says = matches!(
        reason,
        Reason::InvalidConfig
            | Reason::Failed
            | Reason::AuthRequired
            | Reason::Budget
            | Reason::Reconnecting
    );
    error.filter(|_| says).map(|error| error.message().to_owned())
}
