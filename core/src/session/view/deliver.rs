//! Telling a session what is different in its lists, once no lock is held.

use std::sync::Arc;

use trunkline_pool::acceptance::QuarantinedTools as HeldBack;
use trunkline_pool::interface::EventKind;
use trunkline_pool::state::Generation;
use trunkline_pool::view::View;

use super::announcements::{ListEvent, NewlyHeld};
use super::snapshot::ListSource;
use crate::driver::{EntryCell, ListChange};
use crate::events::{EventSubject, ListEvents};
use crate::session::session_core::SessionCore;

impl SessionCore {
    /// The lists of an entry are others, which the session is told as far as it sees it.
    pub(crate) fn tell_of_lists(&self, change: &Arc<ListChange>) {
        let mut tells = false;
        let first = {
            let told = &mut self.holds.inner().told;
            let news = told.listed(change);
            told.look_at_filters(change);
            match news {
                Some(news) => told.next_with(news, &mut tells),
                None => told.next(&mut tells),
            }
        };
        self.tell_from(first, tells);
    }

    /// Tools of an entry are held back newly, which the session is told as far as it sees them.
    /// They may come between the grant and the hold that is made of it: then they are seen as the
    /// configuration of the entry has it.
    pub(crate) fn tell_of_held_back(
        &self,
        (cell, generation): (&Arc<EntryCell>, Generation),
        held: &HeldBack,
    ) {
        {
            let mut inner = self.holds.inner();
            let is_there = inner.holds.values().any(|row| row.is_on(cell.entry));
            let naming = &self.driver.naming;
            let view = || View::new(&cell.server, &cell.spec, &self.options(), naming);
            inner.told.held_back(cell, generation, held, (!is_there).then(view));
        }
        self.tell_lists();
    }

    /// Tells the host what waits to be told, unless somebody is at it.
    pub(crate) fn tell_lists(&self) {
        let mut tells = false;
        let first = self.holds.inner().told.next(&mut tells);
        self.tell_from(first, tells);
    }

    fn tell_from(&self, first: Option<ListEvent>, mut tells: bool) {
        let mut next = first;
        while let Some(news) = next {
            news.tell(self);
            next = self.holds.inner().told.next(&mut tells);
        }
    }
}

impl ListEvent {
    /// Tells it, while the session has the server.
    pub(crate) fn tell(&self, session: &SessionCore) {
        match self {
            ListEvent::Lists { server, source, difference } => {
                let about = match source {
                    ListSource::Entry(cell, generation) => {
                        EventSubject::entry(&cell.named, *generation)
                    }
                    ListSource::Kept => EventSubject::server(server),
                };
                self.announce(&ListEvents::new(about, difference.clone()), session);
            }
            ListEvent::Change(change, None) => self.announce(&change.whole, session),
            ListEvent::Change(change, Some(own)) => {
                let about = EventSubject::entry(&change.cell.named, change.generation);
                self.announce(&ListEvents::new(about, own.clone()), session);
            }
            ListEvent::Unmatched(of) => session.warn_of_unmatched((&of.0, of.1), &of.2),
            ListEvent::HeldBack(held) => held.tell(session),
        }
    }

    fn announce(&self, events: &ListEvents, session: &SessionCore) {
        let has_it = || session.holds.has(self.server());
        let revision = |list| session.number_of_change(list);
        events.announce(&session.driver.hub, &session.recipient, revision, has_it);
    }
}

impl NewlyHeld {
    /// Tells it, while the session holds the entry.
    fn tell(&self, session: &SessionCore) {
        let NewlyHeld { cell, generation, tool } = self;
        let fields =
            [("tool", (&*tool.item.name).into()), ("difference", tool.difference().clone())];
        let (kind, told) = (EventKind::ToolQuarantined, &session.recipient);
        let about = EventSubject::entry(&cell.named, *generation);
        let holds = || cell.is_held_by(told.number);
        session.driver.hub.publish_if(kind, Some(told), &about, &fields, holds);
    }
}
