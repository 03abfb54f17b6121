//! What becomes of tools whose definition changed (SPEC 7.6).
//!
//! What an entry publishes as its lists is what may be used. A tool that is held back is published
//! beside them. So it is in no view and in no call, and each holder of the entry has heard of it.
//! What is held back of a server without an entry is remembered with its configuration, and is
//! accepted there.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::acceptance::{Configuration, Judged, QuarantinedTools, Remembered};
use crate::base::ids::{EntryId, ServerId, SessionId};
use crate::catalog::{Catalog, Item};
use crate::error::Error;
use crate::options::OnToolChange;
use crate::state::PoolState;
use crate::state::effect::Effect;
use crate::state::report::messages;
use crate::state::report::notice::{Audience, Notice};
use crate::state::session::ask::Acceptance;

/// What became of an acceptance at one entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum AcceptanceResult {
    /// It lists no tool of that name.
    Nothing,
    /// It lists the tool, and with another definition.
    Another,
    /// It lists the tool with that definition, which is usable now.
    Accepted,
}

impl PoolState {
    /// Replaces what an entry lists by what the policy makes of new lists. What is newly held back,
    /// and what was listed before; nothing when that is the same.
    pub(in crate::state) fn take_lists(
        &mut self,
        id: EntryId,
        listed: Arc<Catalog>,
        out: &mut Vec<Effect>,
    ) -> Option<News> {
        let configuration = self.entries.get(id)?.configuration();
        let Judged { usable, held, renewed, learned } = self.accepted.judge(configuration, listed);
        if learned {
            self.keep_accepted(configuration, None, out);
        }
        let entry = self.entries.get_mut(id)?;
        if entry.catalog == usable && entry.held == held {
            return None;
        }
        let newly_held = held.since(&entry.held);
        entry.held = held;
        let before = std::mem::replace(&mut entry.catalog, usable);
        Some(News { before, newly_held, renewed })
    }

    /// Tells the holders what became of the lists: first of tools that are held back, then of what
    /// came, went and changed.
    pub(in crate::state) fn tell_news(&self, id: EntryId, news: News, out: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get(id) else {
            return;
        };
        let generation = entry.generation;
        if !news.newly_held.tools().is_empty() {
            let held = news.newly_held;
            let notice = Notice::ToolsQuarantined { entry: id, generation, held };
            self.tell_holders(id, notice, out);
        }
        let after = entry.catalog.clone();
        self.tell_change(id, news.before, after, &news.renewed, out);
    }

    /// Tells sessions that did not hold an entry before what is held back there.
    pub(in crate::state) fn tell_held(
        &self,
        id: EntryId,
        sessions: impl IntoIterator<Item = SessionId>,
        out: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.entries.get(id).filter(|entry| !entry.held.tools().is_empty())
        else {
            return;
        };
        let newcomers: Box<[SessionId]> = sessions.into_iter().collect();
        if !newcomers.is_empty() {
            let (generation, held) = (entry.generation, entry.held.clone());
            let notice = Notice::ToolsQuarantined { entry: id, generation, held };
            out.push(Effect::Notify { audience: Audience::Sessions(newcomers), notice });
        }
    }

    /// What of a server's kept lists may be shown.
    pub fn usable(&self, configuration: Configuration, listed: Arc<Catalog>) -> Arc<Catalog> {
        self.accepted.usable(configuration, listed)
    }

    /// What is held back of a server, whether or not it is connected: of the configuration whose
    /// lists were read last.
    pub fn held_of(&self, server: ServerId) -> QuarantinedTools {
        self.accepted.held_of(server)
    }

    /// What is held back of one configuration, whether or not it is connected.
    pub fn held(&self, configuration: Configuration) -> QuarantinedTools {
        self.accepted.held(configuration)
    }

    /// Has what is accepted kept, where that holds anything back.
    fn keep_accepted(
        &self,
        configuration: Configuration,
        tool: Option<Item>,
        out: &mut Vec<Effect>,
    ) {
        if configuration.on_tool_change == OnToolChange::Quarantine {
            let accepted = Arc::new(self.accepted.digests(configuration));
            out.push(Effect::KeepAccepted { configuration, accepted, tool });
        }
    }

    /// Accepts a definition at every entry of the server that lists it, and where it is remembered
    /// to be held back.
    pub(in crate::state) fn accept_tool(&mut self, acceptance: Acceptance, out: &mut Vec<Effect>) {
        let ticket = acceptance.ticket;
        if self.closing.is_some() {
            out.push(Effect::Refuse { ticket, error: messages::closing() });
            return;
        }
        let mut told = Vec::new();
        let found = self.accept_everywhere(&acceptance, &mut told);
        out.append(&mut told);
        out.push(match found {
            Err(error) => Effect::Refuse { ticket, error },
            Ok(AcceptanceResult::Nothing) => {
                Effect::Refuse { ticket, error: messages::unknown_tool(&acceptance.tool) }
            }
            Ok(AcceptanceResult::Another) => {
                Effect::Refuse { ticket, error: messages::stale_approval(&acceptance.tool) }
            }
            Ok(AcceptanceResult::Accepted) => Effect::ToolAccepted { ticket },
        });
    }

    fn accept_everywhere(
        &mut self,
        acceptance: &Acceptance,
        out: &mut Vec<Effect>,
    ) -> Result<AcceptanceResult, Error> {
        let name = self.names.get(acceptance.server);
        let entries: Vec<EntryId> =
            name.into_iter().flat_map(|name| name.entries.values().copied()).collect();
        let (mut found, mut live) = (AcceptanceResult::Nothing, BTreeSet::new());
        for id in entries {
            found = found.max(self.accept_at(id, acceptance, out)?);
            live.extend(self.configuration(id));
        }
        for (configuration, remembered) in
            self.accepted.remembered(acceptance.server, &acceptance.tool)
        {
            let here = match remembered {
                Remembered::Held(item) if item.digest == acceptance.digest => {
                    self.accept_item(configuration, item, out)?;
                    AcceptanceResult::Accepted
                }
                Remembered::Held(_) => AcceptanceResult::Another,
                // What is connected says itself what it lists.
                Remembered::Accepted(digest)
                    if digest == acceptance.digest && !live.contains(&configuration) =>
                {
                    AcceptanceResult::Accepted
                }
                Remembered::Accepted(_) | Remembered::Nothing => AcceptanceResult::Nothing,
            };
            found = found.max(here);
        }
        Ok(found)
    }

    fn accept_item(
        &mut self,
        configuration: Configuration,
        item: Item,
        out: &mut Vec<Effect>,
    ) -> Result<(), Error> {
        let accepted = self.accepted.accept(configuration, &item);
        accepted.map_err(|_| messages::limit_of_remembered_tools())?;
        self.keep_accepted(configuration, Some(item), out);
        Ok(())
    }

    fn accept_at(
        &mut self,
        id: EntryId,
        acceptance: &Acceptance,
        out: &mut Vec<Effect>,
    ) -> Result<AcceptanceResult, Error> {
        let Some(entry) = self.entries.get_mut(id) else {
            return Ok(AcceptanceResult::Nothing);
        };
        let tool = &acceptance.tool;
        let compared = |digest: [u8; 32]| match digest == acceptance.digest {
            true => AcceptanceResult::Accepted,
            false => AcceptanceResult::Another,
        };
        let Some(held) = entry.held.tool(tool) else {
            let listed = entry.catalog.tool(tool);
            return Ok(listed.map_or(AcceptanceResult::Nothing, |item| compared(item.digest)));
        };
        if compared(held.item.digest) == AcceptanceResult::Another {
            return Ok(AcceptanceResult::Another);
        }
        let item = held.item.clone();
        let configuration = entry.configuration();
        self.accept_item(configuration, item.clone(), out)?;
        let Some(entry) = self.entries.get_mut(id) else {
            return Ok(AcceptanceResult::Nothing);
        };
        let listed = Arc::new(entry.catalog.with_tool(item));
        entry.held = entry.held.without(tool);
        let before = std::mem::replace(&mut entry.catalog, listed);
        self.publish(id, out);
        let renewed = vec![tool.clone()];
        self.tell_news(id, News { before, newly_held: QuarantinedTools::default(), renewed }, out);
        Ok(AcceptanceResult::Accepted)
    }
}

/// What new lists bring.
pub(in crate::state) struct News {
    /// What was listed before.
    pub(in crate::state) before: Arc<Catalog>,
    /// What is held back and was not before.
    pub(in crate::state) newly_held: QuarantinedTools,
    /// The usable tools whose accepted definition is a new one.
    pub(in crate::state) renewed: Vec<Arc<str>>,
}
