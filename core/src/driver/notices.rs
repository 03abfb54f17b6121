//! From the reducer's notices to the events that subscribers see.

use std::sync::Arc;

use serde_json::{Map, Value};
use trunkline_pool::catalog::{Catalog, Unlisted};
use trunkline_pool::interface::{EventKind, words::warning_code};
use trunkline_pool::json::readable_members;
use trunkline_pool::options::LogLevel;
use trunkline_pool::state::{ConnectionId, EntryState, Generation, LossReason, Notice};

use super::{Driver, EntryCell, SessionPort};
use crate::Error;
use crate::client::Callers;
use crate::events::{EventSubject, Recipient};

impl Driver {
    /// Delivers one notice of an entry, to a session that holds it or to the pool.
    pub(super) fn deliver(
        &self,
        session: Option<&dyn SessionPort>,
        cell: &Arc<EntryCell>,
        notice: &Notice,
    ) {
        let told = session.map(SessionPort::recipient);
        match notice {
            Notice::StatusChanged { generation, from, to, reason, .. } => {
                let mut fields = vec![("to", to.as_str().into()), ("reason", (*reason).into())];
                fields.extend(from.map(|state| ("from", state.as_str().into())));
                self.tell(EventKind::StatusChanged, told, cell, *generation, &fields);
                if *to == EntryState::Closed {
                    self.forget(cell.entry);
                }
            }
            // It is made once for all who are told.
            Notice::CatalogChanged { .. } => {}
            Notice::ToolsQuarantined { generation, held, .. } => {
                let Some(session) = session else { return };
                session.on_quarantine((cell, *generation), held);
            }
            Notice::Disconnected { generation, reason, error, .. } => {
                let mut fields = vec![("reason", reason.as_str().into())];
                fields.extend(error.iter().map(|error| ("error", error.to_json())));
                self.tell(EventKind::Disconnected, told, cell, *generation, &fields);
            }
            Notice::Reconnected { generation, attempts, downtime, .. } => {
                let downtime = u64::try_from(downtime.as_millis()).unwrap_or(u64::MAX);
                let fields = [("attempts", (*attempts).into()), ("downtime_ms", downtime.into())];
                self.tell(EventKind::Reconnected, told, cell, *generation, &fields);
            }
            Notice::AuthRequired { generation, error, .. } => {
                let need = auth_need(error);
                let fields: Vec<_> =
                    need.iter().map(|(name, value)| (&**name, value.clone())).collect();
                self.tell(EventKind::AuthRequired, told, cell, *generation, &fields);
            }
            Notice::Failed { generation, error, .. } => {
                let fields = [("error", error.to_json())];
                self.tell(EventKind::Failed, told, cell, *generation, &fields);
                session.into_iter().for_each(SessionPort::on_failure);
            }
            other => tracing::error!(?other, "a notice that this version does not know"),
        }
    }

    /// Tells a session that it loses what it holds with its configuration, where that was
    /// connected: of any other it knows. Where a gate came first, that is the reason, since what
    /// the gate has told is not heard once the hold is given up.
    pub(crate) fn tell_of_configuration(&self, session: &Recipient, cell: &Arc<EntryCell>) {
        let published = cell.load();
        if published.slot.state.is_connected() {
            let generation = published.slot.generation;
            let reason = if self.is_shut(cell) { LossReason::Gate } else { LossReason::Config };
            let fields = [("reason", reason.as_str().into())];
            self.tell(EventKind::Disconnected, Some(session), cell, generation, &fields);
        }
    }

    /// Whether a gate ends an entry, though that may not be carried out yet.
    fn is_shut(&self, cell: &EntryCell) -> bool {
        let core = self.core();
        let server = core.interner.known_server(&cell.server);
        server.is_some_and(|server| core.state.is_shut(server, cell.key))
    }

    fn tell(
        &self,
        kind: EventKind,
        session: Option<&Recipient>,
        cell: &EntryCell,
        generation: Generation,
        fields: &[(&str, Value)],
    ) {
        let holds = || session.is_none_or(|session| cell.is_held_by(session.number));
        self.hub.publish_if(
            kind,
            session,
            &EventSubject::entry(&cell.named, generation),
            fields,
            holds,
        );
    }

    /// Warns of each list that could not be had, unless that was so `before`; and of nothing
    /// listed, after a connect.
    pub(super) fn warn_of_lists(&self, cell: &EntryCell, before: Option<&Catalog>, now: &Catalog) {
        let was_told = |unlisted: &&Unlisted| {
            let told = before.into_iter().flat_map(|before| &before.unlisted);
            told.into_iter().any(|told| told.list == unlisted.list)
        };
        let of = (cell, cell.load().slot.generation);
        for Unlisted { list, error } in now.unlisted.iter().filter(|it| !was_told(it)) {
            let message = format!(
                "the {} list of the server could not be had: {}",
                list.noun(),
                error.message()
            );
            self.warn_of(of, warning_code::LIST_FAILED, &message);
        }
        if before.is_none() && now.is_empty() && now.unlisted.is_empty() {
            let message = "the server lists no tools, prompts or resources";
            self.warn_of(of, warning_code::NOTHING_LISTED, message);
        }
    }

    /// Tells who holds it, or the pool's subscribers alone.
    pub(super) fn warn_of(
        &self,
        (cell, generation): (&EntryCell, Generation),
        code: &str,
        message: &str,
    ) {
        let fields = [("code", code.into()), ("message", message.into())];
        let about = EventSubject::entry(&cell.named, generation);
        let holders = cell.holding();
        for session in &holders {
            self.hub.publish(EventKind::Warning, Some(session.recipient()), &about, &fields);
        }
        if holders.is_empty() {
            self.hub.publish(EventKind::Warning, None, &about, &fields);
        }
    }

    /// A resource of the server was updated: its subscribers are told (SPEC 7.7).
    pub(super) fn resource_updated(&self, cell: &EntryCell, generation: Generation, uri: &str) {
        let fields = [("uri", uri.into())];
        for session in cell.resources.subscribers(uri) {
            let about = EventSubject::entry(&cell.named, generation);
            let wants = || cell.resources.is_wanted_by(uri, session.recipient().number);
            let kind = EventKind::ResourceUpdated;
            self.hub.publish_if(kind, Some(session.recipient()), &about, &fields, wants);
        }
    }

    /// An update of any resource may have been missed: all who want some are told, as if each had
    /// been updated (SPEC 7.2).
    pub(super) fn resources_missed(&self, cell: &EntryCell, id: ConnectionId) {
        for uri in cell.resources.uris() {
            self.resource_updated(cell, id.generation, &uri);
        }
    }

    /// A log message: to the one session with a call in flight; where none is, to the one that gave
    /// some up a moment ago; else to the one that holds the connection. When that is not one it is
    /// nobody's in particular, and only the pool's subscribers are told.
    pub(super) fn logged(
        &self,
        cell: &EntryCell,
        id: ConnectionId,
        params: &str,
        callers: Callers,
    ) {
        let params = readable_members(params);
        let text = |name| params.get(name).and_then(Value::as_str);
        let data = params.get("data").cloned().unwrap_or_default();
        let mut fields = vec![("level", text("level").unwrap_or("info").into()), ("data", data)];
        fields.extend(text("logger").map(|logger| ("logger", logger.into())));
        let about = EventSubject::entry(&cell.named, id.generation);
        let session = match callers {
            Callers::One(session) => self.live_session(session),
            Callers::Nobody => cell.only_holder(),
            Callers::Several => None,
        };
        let session = session.filter(|session| cell.is_held_by(session.recipient().number));
        let told = session.as_deref().map(SessionPort::recipient);
        let number = told.map(|told| told.number);
        let holds = || number.is_none_or(|number| cell.is_held_by(number));
        let level = text("level").and_then(LogLevel::from_word);
        if level.is_some_and(|level| !cell.log_levels.admits(number, id.generation, level)) {
            return;
        }
        let kind = EventKind::Log;
        match session.as_ref().and_then(|session| session.handlers().logging()) {
            None => self.hub.publish_if(kind, told, &about, &fields, holds),
            Some(receiver) => {
                let event = self.hub.publish_and_keep(kind, told, &about, &fields, holds);
                if let Some(event) = event {
                    receiver.receive(event.json());
                }
            }
        }
    }
}

#[cfg(test)]
impl Driver {
    /// A step that is not carried out yet.
    pub(crate) fn step_only(&self, input: trunkline_pool::state::PoolInput) {
        self.run_only(&mut self.core(), input);
    }
}

/// What a host has to bring, by an error of that code: what is `missing`, what the server asks for,
/// and the `url` to sign in at when there is one.
pub(crate) fn auth_need(error: &Error) -> Map<String, Value> {
    const WANTED: [&str; 4] = ["url", "missing", "scope", "resource_metadata"];
    let members = error.detail().iter();
    let wanted = members.filter(|(name, _)| WANTED.contains(&name.as_str()));
    wanted.map(|(name, value)| (name.clone(), value.clone())).collect()
}
