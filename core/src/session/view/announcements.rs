//! What a session was told of the lists of its servers, and telling it what is different.
//!
//! Every difference is one from what the session was told last, whether a catalog or the view is
//! another. It is found under the lock of the holds, and waits in one queue: a thread that finds
//! nobody telling empties it, in order and without the lock, since a telling wakes the host.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;

use trunkline_pool::acceptance::{HeldTool, QuarantinedTools as HeldBack};
use trunkline_pool::catalog::CatalogDifference;
use trunkline_pool::state::Generation;
use trunkline_pool::view::{CatalogView, Unmatched, View};

use super::by_server::ByServer;
use super::removed_servers::Gone;
use super::snapshot::{ListSource, ServerSnapshot, VisibleServer};
use crate::driver::{EntryCell, ListChange};

/// What a session was told, and what it is still to be told.
#[derive(Default)]
pub(crate) struct AnnouncedState {
    /// By server. What is held for the first time is not told.
    servers: ByServer<ServerSnapshot>,
    /// Those to announce when they are there, since the session was told that they are gone, or
    /// expects them.
    gone: Gone,
    /// Grows only by what changes while somebody tells, and is emptied by them.
    news: VecDeque<ListEvent>,
    telling: bool,
}

/// Something to be told.
pub(crate) enum ListEvent {
    /// What a server shows is other than the session was told.
    Lists { server: Arc<str>, source: ListSource, difference: Arc<CatalogDifference> },
    /// The lists of an entry are others. With what the session hears of that, where it is not the
    /// whole change.
    Change(Arc<ListChange>, Option<Arc<CatalogDifference>>),
    /// A tool is held back. In a box: it is rare, and larger than the others, which are moved for
    /// each session.
    HeldBack(Box<NewlyHeld>),
    /// What the filters do with the lists of an entry is other than before: these match nothing. In
    /// a box, for most have no filters.
    Unmatched(Box<(Arc<EntryCell>, Generation, Vec<Unmatched>)>),
}

/// A tool that is held back newly.
pub(crate) struct NewlyHeld {
    pub(crate) cell: Arc<EntryCell>,
    pub(crate) generation: Generation,
    pub(crate) tool: HeldTool,
}

impl AnnouncedState {
    /// This is what is seen now, in the order of their servers' names. A catalog that is replaced
    /// meanwhile has a notice of its own.
    pub(crate) fn compare(&mut self, seen: &[VisibleServer]) {
        for seeing in seen {
            self.compare_one(seeing);
        }
        let is_gone = |server: &&Arc<str>| {
            seen.binary_search_by(|seeing| seeing.server().cmp(server)).is_err()
        };
        let gone: Vec<Arc<str>> = self.servers.names().filter(is_gone).cloned().collect();
        for server in gone {
            let Some(old) = self.servers.remove(&server) else { continue };
            self.gone.add(server);
            let difference = ServerSnapshot::difference(Some(&old), None);
            self.lists((old.server, old.source), Arc::new(difference));
        }
    }

    /// What is seen of this server for the first time is told as well.
    pub(crate) fn expect(&mut self, server: &Arc<str>) {
        if !self.servers.contains(server) {
            self.gone.add(server.clone());
        }
    }

    /// This is what is seen of its server now.
    pub(crate) fn compare_one(&mut self, seeing: &VisibleServer) {
        let server = seeing.server();
        let told = self.servers.get_mut(server);
        if let Some(old) = told
            && old.is_through(seeing)
        {
            old.renew();
            return;
        }
        let old = self.servers.remove(server);
        let is_back = self.gone.remove(server);
        let (now, current) = ServerSnapshot::after(old.as_ref(), seeing);
        if let (Some(old), Some(current)) = (&old, &current) {
            self.admit(old, &now, current);
        }
        if is_back || old.is_some() {
            let difference = ServerSnapshot::difference(old.as_ref(), Some(&now));
            self.lists((now.server.clone(), now.source.clone()), Arc::new(difference));
        }
        self.news.extend(ListEvent::of_filters(&now));
        self.servers.insert(server.clone(), now);
    }

    /// The host gave up a hold on the server. This is seen of it from now on, if anything. That is
    /// not told.
    pub(crate) fn release(&mut self, server: &Arc<str>, seen: Option<&VisibleServer>) {
        let told = self.servers.get(server);
        match (seen, told) {
            (Some(seeing), Some(told)) if told.is_through(seeing) => {}
            (Some(seeing), told) => {
                let (now, _) = ServerSnapshot::after(told, seeing);
                self.gone.remove(server);
                self.servers.insert(server.clone(), now);
            }
            (None, Some(_)) => {
                self.servers.remove(server);
                self.news.retain(|news| news.server() != server);
            }
            (None, None) => {}
        }
    }

    /// The lists of an entry are these: what the session is to be told of that. Nothing of an entry
    /// that is not seen.
    pub(crate) fn listed(&mut self, change: &Arc<ListChange>) -> Option<ListEvent> {
        let told = self.sight(&change.cell)?;
        let from_there = Arc::ptr_eq(&told.catalog, &change.before);
        let before = std::mem::replace(&mut told.catalog, change.after.clone());
        if !told.held_back.is_same(&change.held_back) {
            told.held_back = change.held_back.clone();
        }
        if let ListSource::Entry(_, of) = &mut told.source {
            *of = change.generation;
        }
        let difference = change.whole.difference();
        let own = match from_there {
            // It was told of the lists that the change begins with: its view alone decides what it
            // hears.
            true if told.sees_all => return Some(ListEvent::Change(change.clone(), None)),
            true => told.view.apply(difference),
            false => {
                let before = CatalogView { catalog: &before, view: &told.view };
                let own = CatalogView::difference(Some(before), Some(told.shown()));
                own.with_renewed(&difference.renewed())
            }
        };
        (!own.is_empty()).then(|| ListEvent::Change(change.clone(), Some(Arc::new(own))))
    }

    /// The same change, of a server that had listed nothing before: what the filters do with its
    /// lists.
    pub(crate) fn look_at_filters(&mut self, change: &ListChange) {
        if !change.before.has_items() {
            let news = self.sight(&change.cell).and_then(|told| ListEvent::of_filters(told));
            self.news.extend(news);
        }
    }

    /// These tools are held back newly. `unseen` is the view of an entry that is not seen yet;
    /// without it, no news of one goes out.
    pub(crate) fn held_back(
        &mut self,
        cell: &Arc<EntryCell>,
        generation: Generation,
        held: &HeldBack,
        unseen: Option<View>,
    ) {
        let view = match self.sight(cell) {
            Some(told) => {
                told.held_back = cell.load().slot.held.clone();
                Some(told.view.clone())
            }
            None => unseen.map(Arc::new),
        };
        let Some(view) = view else { return };
        for tool in held.tools().iter().filter(|tool| view.admits(&tool.item.name)) {
            self.news.push_back(ListEvent::of_held_back(cell, generation, tool));
        }
    }

    /// Whether the session has not given the server up.
    pub(crate) fn has(&self, server: &str) -> bool {
        self.servers.contains(server) || self.gone.contains(server)
    }

    /// What is to be told next when this has come up, to who finds nobody telling.
    pub(crate) fn next_with(&mut self, news: ListEvent, tells: &mut bool) -> Option<ListEvent> {
        if !self.telling && self.news.is_empty() {
            (self.telling, *tells) = (true, true);
            return Some(news);
        }
        self.news.push_back(news);
        self.next(tells)
    }

    /// What is to be told next, to who `tells` already, or to who finds nobody telling.
    pub(crate) fn next(&mut self, tells: &mut bool) -> Option<ListEvent> {
        if self.telling && !*tells {
            return None;
        }
        let news = self.news.pop_front();
        *tells = news.is_some();
        self.telling = *tells;
        if news.is_none() {
            // Before, one of them might be what waits to be told.
            self.gone.forget_oldest();
        }
        news
    }

    fn sight(&mut self, cell: &EntryCell) -> Option<&mut ServerSnapshot> {
        let told = self.servers.get_mut(&cell.server);
        told.filter(|told| told.source.entry().is_some_and(|told| told.entry == cell.entry))
    }

    /// Tools that are held back, then as now, and that only the new view admits.
    fn admit(&mut self, old: &ServerSnapshot, now: &ServerSnapshot, current: &HeldBack) {
        let ListSource::Entry(cell, generation) = &now.source else { return };
        for tool in now.held_back.tools() {
            let name = &tool.item.name;
            let stays = current.tool(name).is_some_and(|tool_now| tool_now.item == tool.item);
            if stays && now.view.admits(name) && !old.view.admits(name) {
                self.news.push_back(ListEvent::of_held_back(cell, *generation, tool));
            }
        }
    }

    fn lists(
        &mut self,
        (server, source): (Arc<str>, ListSource),
        difference: Arc<CatalogDifference>,
    ) {
        let is_empty = difference.is_empty();
        self.news.extend((!is_empty).then_some(ListEvent::Lists { server, source, difference }));
    }
}

impl ListEvent {
    /// What the filters do with what is seen, once its server has listed.
    fn of_filters(sight: &ServerSnapshot) -> Option<ListEvent> {
        let ListSource::Entry(cell, generation) = &sight.source else { return None };
        let has_listed = sight.shows && sight.view.has_patterns();
        has_listed
            .then(|| ListEvent::Unmatched((cell.clone(), *generation, sight.unmatched()).into()))
    }

    fn of_held_back(cell: &Arc<EntryCell>, generation: Generation, tool: &HeldTool) -> ListEvent {
        let (cell, tool) = (cell.clone(), tool.clone());
        ListEvent::HeldBack(Box::new(NewlyHeld { cell, generation, tool }))
    }

    pub(crate) fn server(&self) -> &Arc<str> {
        match self {
            ListEvent::Lists { server, .. } => server,
            ListEvent::Change(change, _) => &change.cell.server,
            ListEvent::HeldBack(held) => &held.cell.server,
            ListEvent::Unmatched(of) => &of.0.server,
        }
    }
}
