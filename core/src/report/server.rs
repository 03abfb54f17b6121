//! One server in the status, and its entries.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use trunkline_pool::acceptance::{HeldTool, QuarantinedTools};
use trunkline_pool::catalog::{Catalog, SkippedItem, Unlisted};
use trunkline_pool::config::Era;
use trunkline_pool::gates::{ApprovalState, Facts, Gates};
use trunkline_pool::layers::{Scope, SourceName};
use trunkline_pool::state::{EntryState, EntryStatus, Gate, GateReason};

use super::introduction::{IntroductionParts, own_word};
use super::parts::Parts;
use crate::config::{ConfigStatus, EntryOrigin, Over, ServerRecord};
use crate::driver::server_config::ResolvedServer;
use crate::driver::{self, EntryCell, EntrySnapshot};
use crate::platform::ProcessStats;
use crate::{Error, ErrorCode};

/// What is known of one server.
#[derive(Default)]
pub(crate) struct Server {
    /// The pool's configuration of it; of one that only sessions brought and that failed, theirs.
    pub configured: Option<Arc<ResolvedServer>>,
    /// What a source of the pool says of it.
    pub named: Option<ServerRecord>,
    pub entries: Vec<(EntryStatus, Arc<EntryCell>)>,
    /// What its processes take of the machine, where that was looked up.
    pub taken: Option<ProcessStats>,
}

/// What keeps a server from being connected.
pub(crate) struct ServerObstacles {
    /// Whether a source or a session names it, or a source named it, or something of it is left.
    pub is_known: bool,
    /// Whether a source of the pool names it, or named it.
    pub is_named: bool,
    /// The gate that is shut (SPEC 11.6).
    pub gate: Option<&'static str>,
    /// Why it is not connected although it is admitted (I-27).
    pub rest: Option<&'static str>,
    /// What is wrong with it.
    pub error: Option<Error>,
    /// What is wrong with its entry; it may run by an earlier one.
    pub outdated: Option<Error>,
}

impl Server {
    /// What keeps it from being connected.
    pub fn seen(&self, parts: &Parts<'_>, name: &str) -> ServerObstacles {
        let removed = self.named.is_none() && parts.config.running().is_removed(name);
        let own = self.error(parts, name);
        let is_named = self.named.is_some() || removed;
        let gate = self.gate(removed, name, &parts.driver.gates());
        let rest = self.reason(parts, name, self.state(), own.as_ref());
        let invalid = self.invalid().cloned();
        let (error, outdated) = match (&self.configured, gate) {
            (Some(_), None) => (own.or_else(|| invalid.clone()), invalid),
            _ => (invalid.or(own), None),
        };
        ServerObstacles {
            is_known: is_named || self.configured.is_some() || !self.entries.is_empty(),
            is_named,
            gate,
            rest,
            error,
            outdated,
        }
    }

    /// The processes of its entries, ending ones included.
    pub fn pids(&self) -> impl Iterator<Item = u32> {
        self.entries.iter().filter_map(|(_, cell)| cell.pid())
    }

    /// Its row, with the sessions that do without it.
    pub fn row(&self, parts: &Parts<'_>, name: &str, disabled_by: &[Arc<str>]) -> Value {
        let spec = self.configured.as_ref().map(|configured| &configured.spec);
        let spec = spec.or_else(|| self.entries.first().map(|(_, cell)| &cell.spec));
        let newest = self.entries.last().map(|(_, cell)| cell.load_full());
        let catalog = newest.as_ref().map(|published| published.slot.catalog.clone());
        let catalog = catalog.unwrap_or_default();
        let is_connected = |published: &Arc<EntrySnapshot>| published.slot.state.is_connected();
        let held = match newest.filter(is_connected) {
            Some(published) => published.slot.held.clone(),
            // It is remembered while nothing is connected.
            None => parts.driver.held_of(name),
        };
        let of_pool = self.named.is_some();
        let usage = parts.driver.usage_of(name);
        let removed = !of_pool && parts.config.running().is_removed(name);
        let origin = self.named.as_ref().map(|named| &named.origin);
        let source = match origin {
            Some(origin) => Some(origin.source.clone()),
            None if removed => None,
            None => Some(of_session(parts, name)),
        };
        let ServerObstacles { gate, rest, error, .. } = self.seen(parts, name);
        let state = self.state();
        let over = self.named.iter().flat_map(|named| &named.over);
        let hides = self.named.as_ref().and_then(|named| named.hides.as_ref());
        let auth = error.as_ref().filter(|error| error.code() == ErrorCode::AuthRequired);
        let mut row = json!({
            "configured": !removed,
            "admitted": gate.is_none(),
            "reason": gate.or(rest),
            "state": state,
            "scope": if of_pool || removed { "workspace" } else { "session" },
            "transport": self.spoken().or(spec.map(|spec| spec.transport_name())),
            "era": self.entries.iter().rev().find_map(|(status, cell)| era(status, cell)),
            "origin": source.as_ref().map_or("runtime", |source| source.scope().as_str()),
            "source": source.map(|source| source.to_string()),
            "file": origin.and_then(|origin| origin.file.as_deref()),
            "line": origin.and_then(|origin| origin.line),
            "approval_state": self.approval_state(),
            "content": self.content(),
            "auth_required": auth.is_some() || self.has(&[EntryState::AuthRequired]),
            "auth_need": auth.map(|error| self.auth_need(parts, name, error)),
            "disabled_by": disabled_by.iter().map(|id| &**id).collect::<Vec<&str>>(),
            "pid_count": self.pids().count(),
            "entry_count": self.entries.len(),
            "memory_bytes": self.taken.map(|taken| taken.memory_bytes),
            "cpu_ms": self.taken.map(|taken| taken.cpu_ms),
            "counts": {
                "tools": catalog.tools.len(),
                "prompts": catalog.prompts.len(),
                "resources": catalog.resources.len(),
                "resource_templates": catalog.resource_templates.len(),
                "skipped": catalog.left_out(),
                "quarantined": held.tools().len(),
            },
            "quarantined": quarantined(&held),
            "skipped": skipped(&catalog),
            "usage": usage.and_then(|usage| usage.to_json()),
            "error_code": error.as_ref().map(|error| error.code().name()),
            "last_error": error.as_ref().map(|error| error.to_json()),
            "hint": error.as_ref().and_then(|error| error.hint()),
            "entries": self.entries.iter().map(|row| entry(parts, row)).collect::<Vec<_>>(),
        });
        row["waiting"] = over.map(Over::to_json).collect();
        row["hides"] = hides.map(EntryOrigin::to_json).into();
        row
    }

    /// What is wrong with what its entry says now.
    fn invalid(&self) -> Option<&Error> {
        match &self.named.as_ref()?.standing {
            ConfigStatus::Invalid(error) => Some(error),
            _ => None,
        }
    }

    /// Whether it needs an approval, and what was decided.
    fn approval_state(&self) -> &'static str {
        self.named.as_ref().map_or(ApprovalState::NotNeeded, |named| named.approval).as_str()
    }

    /// Whether a program or a file of it that is another by now would be noticed: of a server that
    /// needs approval it is not (S-16).
    fn content(&self) -> Option<&'static str> {
        let named = self.named.as_ref()?;
        named.origin.source.scope().is_gated().then_some("not_pinned")
    }

    /// The transport that its connections turned out to have, where the configuration leaves it
    /// open.
    fn spoken(&self) -> Option<&'static str> {
        let mut newest = self.entries.iter().rev();
        newest.find_map(|(status, cell)| cell.connection(status.generation)?.transport())
    }

    /// What is wrong with its newest connection, or with the last attempt.
    fn error(&self, parts: &Parts<'_>, name: &str) -> Option<Error> {
        match self.entries.last() {
            Some((_, cell)) => cell.load().slot.error.clone(),
            // What could not be started has no entry; its error stays until the next one connects.
            None => parts.driver.last_error(name),
        }
    }

    /// What the host has to bring; the address to sign in at is that of the sign-in which is under
    /// way for what lacks it.
    fn auth_need(&self, parts: &Parts<'_>, name: &str, error: &Error) -> Value {
        let mut need = driver::auth_need(error);
        // Of what the error is about, as [`error`](Self::error) has it.
        let credentials = match self.entries.last() {
            Some((_, cell)) => cell.context.of(&cell.server, &cell.spec, cell.author),
            // No session is asked: the holder of the last handle of one closes it, which a look at
            // the status must not do.
            None => {
                let configured = parts.config.configured(name).ok();
                let of = |it: Arc<ResolvedServer>| {
                    let context = &parts.driver.context;
                    context.of(&name.into(), it.spec(), it.authority.author())
                };
                configured.and_then(of)
            }
        };
        let url = credentials.and_then(|credentials| parts.driver.sign_ins.url_of(&credentials));
        need.extend(url.map(|url| ("url".to_owned(), url.into())));
        need.into()
    }

    /// What keeps it out (SPEC 11.6).
    fn gate(&self, removed: bool, name: &str, gates: &Gates) -> Option<&'static str> {
        let is_off = self.configured.as_ref().is_some_and(|server| server.spec.disabled);
        let decided = match self.named.as_ref().map(|named| named.gate()) {
            Some(Gate::Shut(reason)) => Some(reason),
            Some(Gate::Open) | None => None,
        };
        let known = [
            removed.then_some(GateReason::Removed),
            is_off.then_some(GateReason::Disabled),
            decided,
        ];
        let facts = known.into_iter().flatten().fold(Facts::of_name(name), Facts::shut_by);
        let gate = match (self.invalid(), gates.decide(&facts)) {
            // What an earlier configuration runs by is kept out by nothing.
            (Some(_), Gate::Open) if self.configured.is_some() => Gate::Open,
            (Some(_), _) => gates.decide(&facts.shut_by(GateReason::InvalidConfig)),
            (None, gate) => gate,
        };
        match gate {
            Gate::Shut(reason) => Some(reason.as_str()),
            Gate::Open => None,
        }
    }

    /// Why an admitted server is not ready (I-27); nothing for one that is.
    fn reason(
        &self,
        parts: &Parts<'_>,
        name: &str,
        state: &str,
        error: Option<&Error>,
    ) -> Option<&'static str> {
        if state == "connected" {
            return None;
        }
        let is_auth = |error: &Error| error.code() == ErrorCode::AuthRequired;
        let waits = |named: &ServerRecord| matches!(named.standing, ConfigStatus::Waiting(_));
        Some(if self.has(&[EntryState::Spawning]) {
            "connecting"
        } else if self.has(&[EntryState::Reconnecting]) {
            "reconnecting"
        } else if self.named.as_ref().is_some_and(waits) {
            "waiting"
        } else if parts.driver.is_beyond_budget(name) {
            "budget"
        } else if self.has(&[EntryState::AuthRequired]) || error.is_some_and(is_auth) {
            "auth_required"
        } else if self.has(&[EntryState::Failed]) || error.is_some() {
            "failed"
        } else if parts.driver.check_open().is_err() {
            "closing"
        } else if self
            .configured
            .as_ref()
            .is_some_and(|server| server.is_lazy(&parts.driver.options))
        {
            // A call of one of its tools starts it.
            "asleep"
        } else {
            // Nobody has asked for it, or nobody holds it any more.
            "unused"
        })
    }

    /// Any connected entry, else any connecting one, else not.
    fn state(&self) -> &'static str {
        if self.has(&[EntryState::Active, EntryState::Draining]) {
            "connected"
        } else if self.has(&[EntryState::Spawning, EntryState::Reconnecting]) {
            "connecting"
        } else {
            "disconnected"
        }
    }

    fn has(&self, wanted: &[EntryState]) -> bool {
        self.entries.iter().any(|(status, _)| wanted.contains(&status.state))
    }
}

/// The tools that are held back; of very many the first.
fn quarantined(held: &QuarantinedTools) -> Value {
    let row =
        |tool: &HeldTool| json!({ "tool": &*tool.item.name, "difference": tool.difference() });
    held.tools().iter().take(QUARANTINED_SHOWN_MAX).map(row).collect()
}

/// Rows of held-back tools of one server: each shows texts, and more than this nobody reads.
const QUARANTINED_SHOWN_MAX: usize = 64;

/// What was listed and had to be left out, and why (SPEC 4.5); of very much the first.
fn skipped(catalog: &Catalog) -> Value {
    let row = |it: &SkippedItem| json!({ "list": it.list.member(), "name": it.name, "reason": it.reason });
    catalog.skipped.iter().take(SKIPPED_SHOWN_MAX).map(row).collect()
}

/// Rows of what is left out of one server's lists.
const SKIPPED_SHOWN_MAX: usize = 64;

/// The source of a server that sessions brought along: their own, or what they said that it is of.
fn of_session(parts: &Parts<'_>, name: &str) -> Arc<SourceName> {
    match parts.config.claimed_as(name) {
        Some((_, source)) => source,
        None => Arc::new(SourceName::of_scope(Scope::Session)),
    }
}

fn entry(parts: &Parts<'_>, (status, cell): &(EntryStatus, Arc<EntryCell>)) -> Value {
    let now = parts.driver.now();
    let uptime = status.connected_at.map(|since| now.0.saturating_sub(since.0) / 1_000_000);
    let connection = cell.connection(status.generation);
    let facts = connection.as_ref().map(|connection| connection.server_facts());
    let said = facts.as_ref().and_then(|facts| facts.introduction.as_ref());
    let IntroductionParts { server_info, capabilities, instructions } =
        said.map(IntroductionParts::of).unwrap_or_default();
    json!({
        "entry_index": status.index,
        "refs": status.refs,
        "state": status.state.as_str(),
        "generation": status.generation.0,
        "uptime_ms": uptime,
        "calls": cell.calls.load(Ordering::Relaxed),
        "errors": cell.errors.load(Ordering::Relaxed),
        "in_flight": connection.as_ref().map_or(0, |connection| connection.in_flight()),
        "losses": status.losses,
        "pid": cell.pid(),
        "era": era(status, cell),
        "protocol_version": facts.as_ref().map(|facts| facts.protocol_version.clone()),
        "server_name": facts.as_ref().map(|facts| own_word(&facts.name)),
        "server_version": facts.as_ref().map(|facts| own_word(&facts.version)),
        "server_info": server_info,
        "capabilities": capabilities,
        "instructions": instructions,
        "unlisted": cell.connection(status.generation).map(|_| unlisted(cell)),
        "noise": connection.as_ref().map(|connection| connection.noise_lines()),
        "ignored": connection.as_ref().map(|connection| Value::from_iter(connection.ignored())),
        "stderr": connection.as_ref().map(|connection| connection.stderr_tail()),
    })
}

/// The lists that could not be had, and why.
fn unlisted(cell: &EntryCell) -> Value {
    let row = |one: &Unlisted| json!({ "list": one.list.member(), "error": one.error.to_json() });
    cell.load().slot.catalog.unlisted.iter().map(row).collect()
}

/// The protocol family of a connection that stands.
fn era(status: &EntryStatus, cell: &EntryCell) -> Option<&'static str> {
    cell.connection(status.generation)?.server_facts().era.map(Era::as_str)
}
