//! From the reducer's notices to the events that subscribers see.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};
use trunkline_pool::acceptance::HeldTool;
use trunkline_pool::catalog::{Change, Difference, ListKind};
use trunkline_pool::interface::EventKind;
use trunkline_pool::json::readable_members;
use trunkline_pool::options::LogLevel;
use trunkline_pool::state::{ConnectionId, EntryState, Generation, LossReason, Notice};

use super::{Driver, EntryCell};
use crate::Error;
use crate::api::SessionCore;
use crate::client::Callers;
use crate::events::{About, Said};

/// What is different in the lists of a server, as sessions are told: written once, when the first hears of it.
pub(crate) struct Differing {
    about: About,
    difference: Arc<Difference>,
    tools: OnceLock<Arc<Said>>,
    prompts: OnceLock<Arc<Said>>,
    resources: OnceLock<Arc<Said>>,
}

type OfList<'a> = (EventKind, ListKind, &'a Change, &'a OnceLock<Arc<Said>>);

impl Differing {
    pub(crate) fn new(about: About, difference: Arc<Difference>) -> Differing {
        let [tools, prompts, resources] = Default::default();
        Differing { about, difference, tools, prompts, resources }
    }

    /// The whole of it.
    pub(crate) fn difference(&self) -> &Arc<Difference> {
        &self.difference
    }

    /// Those of the lists that differ.
    fn lists(&self) -> impl Iterator<Item = OfList<'_>> {
        let Difference { tools, prompts, resources, .. } = &*self.difference;
        let lists = [
            (EventKind::ToolsChanged, ListKind::Tools, tools, &self.tools),
            (EventKind::PromptsChanged, ListKind::Prompts, prompts, &self.prompts),
            (EventKind::ResourcesChanged, ListKind::Resources, resources, &self.resources),
        ];
        lists.into_iter().filter(|(_, _, change, _)| !change.is_empty())
    }
}

impl Driver {
    /// Delivers one notice of an entry, to a session that holds it or to the pool.
    pub(super) fn deliver(
        &self,
        session: Option<&SessionCore>,
        cell: &Arc<EntryCell>,
        notice: &Notice,
    ) {
        match notice {
            Notice::StatusChanged { generation, from, to, reason, .. } => {
                let mut fields = vec![("to", to.as_str().into()), ("reason", (*reason).into())];
                fields.extend(from.map(|state| ("from", state.as_str().into())));
                self.tell(EventKind::StatusChanged, session, cell, *generation, &fields);
                if *to == EntryState::Closed {
                    self.forget(cell.entry);
                }
            }
            // It is made once for all who are told.
            Notice::CatalogChanged { .. } => {}
            Notice::ToolsQuarantined { generation, held, .. } => {
                let Some(session) = session else { return };
                session.holds.held_back(session, (cell, *generation), held);
            }
            Notice::Disconnected { generation, reason, error, .. } => {
                let mut fields = vec![("reason", reason.as_str().into())];
                fields.extend(error.iter().map(|error| ("error", error.to_json())));
                self.tell(EventKind::Disconnected, session, cell, *generation, &fields);
            }
            Notice::Reconnected { generation, attempts, downtime, .. } => {
                let downtime = u64::try_from(downtime.as_millis()).unwrap_or(u64::MAX);
                let fields = [("attempts", (*attempts).into()), ("downtime_ms", downtime.into())];
                self.tell(EventKind::Reconnected, session, cell, *generation, &fields);
            }
            Notice::AuthRequired { generation, error, .. } => {
                let need = auth_need(error);
                let fields: Vec<_> =
                    need.iter().map(|(name, value)| (&**name, value.clone())).collect();
                self.tell(EventKind::AuthRequired, session, cell, *generation, &fields);
            }
            Notice::Failed { generation, error, .. } => {
                let fields = [("error", error.to_json())];
                self.tell(EventKind::Failed, session, cell, *generation, &fields);
                session.into_iter().for_each(SessionCore::wake_who_waits);
            }
            other => tracing::error!(?other, "a notice that this version does not know"),
        }
    }

    /// Tells a session that it loses what it holds with its configuration, where that was connected: of any other it knows. Where a gate
    /// came first, that is the reason, since what the gate has told is not heard once the hold is given up.
    pub(crate) fn tell_of_configuration(&self, session: &SessionCore, cell: &Arc<EntryCell>) {
        let published = cell.load();
        if published.slot.state.is_connected() {
            let (entry, generation) = (cell.entry, published.slot.generation);
            let reason = if self.is_shut(cell) { LossReason::Gate } else { LossReason::Config };
            let notice = Notice::Disconnected { entry, generation, reason, error: None };
            self.deliver(Some(session), cell, &notice);
        }
    }

    /// Whether a gate ends an entry, though that may not be carried out yet.
    fn is_shut(&self, cell: &EntryCell) -> bool {
        let core = self.core();
        let server = core.interner.known_server(&cell.server);
        server.is_some_and(|server| core.state.is_shut(server, cell.key))
    }

    /// Tells a session what is different in its lists of a server, each list for itself, while that `stands`.
    pub(crate) fn tell_lists(
        &self,
        session: &SessionCore,
        differing: &Differing,
        stands: impl Fn() -> bool,
    ) {
        for (kind, list, change, said) in differing.lists() {
            let revision = session.number_of_change(list);
            let write =
                || Said::new(kind, &differing.about, |json| json.add_written(&change.members()));
            let said = || said.get_or_init(write).clone();
            self.hub.publish_list(kind, (&session.recipient, revision), said, &stands);
        }
    }

    /// Tells a session that a tool is held back, while that `stands`.
    pub(crate) fn tell_held_back(
        &self,
        session: &SessionCore,
        about: &About,
        tool: &HeldTool,
        stands: impl Fn() -> bool,
    ) {
        let fields =
            [("tool", (&*tool.item.name).into()), ("difference", tool.difference().clone())];
        self.hub.publish_if(
            EventKind::ToolQuarantined,
            Some(&session.recipient),
            about,
            &fields,
            stands,
        );
    }

    fn tell(
        &self,
        kind: EventKind,
        session: Option<&SessionCore>,
        cell: &EntryCell,
        generation: Generation,
        fields: &[(&str, Value)],
    ) {
        let holds = || session.is_none_or(|session| cell.is_held_by(session.recipient.number));
        let told = session.map(|session| &session.recipient);
        self.hub.publish_if(kind, told, &About::entry(&cell.named, generation), fields, holds);
    }

    /// A resource of the server was updated: its subscribers are told (SPEC 7.7).
    pub(super) fn resource_updated(&self, cell: &EntryCell, generation: Generation, uri: &str) {
        let fields = [("uri", uri.into())];
        for session in cell.resources.subscribers(uri) {
            let about = About::entry(&cell.named, generation);
            let wants = || cell.resources.is_wanted_by(uri, session.recipient.number);
            let kind = EventKind::ResourceUpdated;
            self.hub.publish_if(kind, Some(&session.recipient), &about, &fields, wants);
        }
    }

    /// An update of any resource may have been missed: all who want some are told, as if each had been updated (SPEC 7.2).
    pub(super) fn resources_missed(&self, cell: &EntryCell, id: ConnectionId) {
        for uri in cell.resources.uris() {
            self.resource_updated(cell, id.generation, &uri);
        }
    }

    /// A log message: to the one session with a call in flight, or where none is to the one that gave some up a moment ago, or else to
    /// the one that holds the connection. When that is not one it is nobody's in particular, and only the pool's subscribers are told.
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
        let about = About::entry(&cell.named, id.generation);
        let session = match callers {
            Callers::One(session) => self.live_session(session),
            Callers::Nobody => cell.only_holder(),
            Callers::Several => None,
        };
        let session = session.filter(|session| cell.is_held_by(session.recipient.number));
        let holds =
            || session.as_ref().is_none_or(|session| cell.is_held_by(session.recipient.number));
        let level = text("level").and_then(LogLevel::from_word);
        let number = session.as_ref().map(|session| session.recipient.number);
        if level.is_some_and(|level| !cell.log_levels.admits(number, id.generation, level)) {
            return;
        }
        let kind = EventKind::Log;
        let told = session.as_ref().map(|session| &session.recipient);
        match session.as_ref().and_then(|session| session.handlers.logging()) {
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
    /// A step of which nothing is carried out yet.
    pub(crate) fn step_only(&self, input: trunkline_pool::state::Input) {
        self.run_only(&mut self.core(), input);
    }
}

/// What a host has to bring, by an error of that code: what is `missing`, what the server asks for, and the `url` to sign in at when there
/// is one.
pub(crate) fn auth_need(error: &Error) -> Map<String, Value> {
    const WANTED: [&str; 4] = ["url", "missing", "scope", "resource_metadata"];
    let members = error.detail().iter();
    let wanted = members.filter(|(name, _)| WANTED.contains(&name.as_str()));
    wanted.map(|(name, value)| (name.clone(), value.clone())).collect()
}
