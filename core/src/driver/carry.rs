//! Carrying out effects, in order.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, MutexGuard, Weak};

use trunkline_pool::catalog::Catalog;
use trunkline_pool::state::{
    Audience, ConnectionId, Effect, EntryId, KeyId, ListingNumber, Notice, PoolInput, SessionId,
    Slot,
};

use super::entry::Control;
use super::entry::listing_end::ListingEnd;
use super::executor::{self, Queued};
use super::{
    Core, Driver, DriverWork, EntryCell, ListChange, SessionPort, TicketReply, Wait, connection,
};
use crate::base::wakes::Batch;
use crate::client::ServerListing;
use crate::{Error, ErrorCode};

thread_local! {
    /// Whether this thread carries out effects now, of any pool.
    static CARRYING_OUT: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread carries out effects now: a wait for the pool would be a wait for itself.
pub(crate) fn carries_out() -> bool {
    CARRYING_OUT.get()
}

impl Driver {
    /// Ends a step: gives the mutex back, and carries out the queue unless somebody is at it
    /// already.
    pub(super) fn carry_out<'a>(self: &'a Arc<Self>, mut core: MutexGuard<'a, Core>) {
        self.set_timer(&mut core);
        let before = CARRYING_OUT.replace(true);
        executor::run(
            || self.core(),
            core,
            |next| match next {
                DriverStep::Work(DriverWork::Effect(effect)) => safely(|| self.perform(effect)),
                DriverStep::Work(DriverWork::Listed(end)) => safely(move || end.tell()),
                DriverStep::News(news) => self.tell_all(news),
            },
        );
        CARRYING_OUT.set(before);
    }

    /// The timer goes by the deadline that there is after a step.
    pub(super) fn set_timer(&self, core: &mut Core) {
        let deadline = core.state.next_deadline();
        let nearer = deadline.is_some_and(|new| core.deadline.is_none_or(|old| new < old));
        core.deadline = deadline;
        if nearer {
            self.timer.notify_one();
        }
    }

    fn perform(self: &Arc<Self>, effect: Effect) {
        tracing::debug!(?effect, "effect");
        match effect {
            Effect::Connect { connection, key, .. } => self.connect(connection, key),
            Effect::Close { connection, how } => {
                if !self.order(connection, Control::Close(how)) {
                    tracing::error!(%connection, "close of a connection that is not there");
                }
            }
            // An attempt that is over has told so.
            Effect::Forgo { connection } => drop(self.order(connection, Control::Forgo)),
            Effect::ListCatalog { connection, number } => self.list(connection, number),
            Effect::Publish { entry, slot } => self.publish(entry, slot),
            Effect::Grant { ticket, lease, entry } => self.grant(ticket, lease, entry),
            Effect::Defer { ticket, error } => self.defer(ticket, Wait::Room, error),
            Effect::Postpone { ticket, error } => self.defer(ticket, Wait::Server, error),
            Effect::Refuse { ticket, error } => self.answer(ticket, TicketReply::Refused(error)),
            Effect::Restarted { ticket, reports } => {
                self.answer(ticket, TicketReply::Restarted(reports));
            }
            Effect::KeepAccepted { configuration, accepted, tool } => {
                self.keep_accepted(configuration, &accepted, tool.as_ref());
            }
            Effect::ToolAccepted { ticket } => self.answer(ticket, TicketReply::ToolAccepted),
            Effect::Drained { ticket, report } => self.answer(ticket, TicketReply::Drained(report)),
            Effect::Notify { audience, notice } => self.notify(audience, notice),
            other => tracing::error!(?other, "an effect that this version does not know"),
        }
    }

    fn connect(self: &Arc<Self>, connection: ConnectionId, key: KeyId) {
        match self.entry_or_new(connection.entry) {
            Some(cell) => connection::start(self.clone(), cell, connection),
            None => tracing::error!(%connection, ?key, "a connect of an entry that is not there"),
        }
    }

    /// Tells the task of a connection; `false` when it is gone.
    fn order(&self, connection: ConnectionId, order: Control) -> bool {
        let cell = self.entry(connection.entry);
        cell.is_some_and(|cell| cell.control(connection.generation, order))
    }

    /// Lists again, beside the connection's task, which ends it when the connection goes.
    fn list(self: &Arc<Self>, connection: ConnectionId, number: ListingNumber) {
        let Some(cell) = self.entry(connection.entry) else { return };
        let Some(live) = cell.connection(connection.generation) else { return };
        let end = Some(ListingEnd::of_new(cell.clone()));
        let listing = Listing { driver: self.clone(), end, connection, number, result: None };
        self.spawn(async move {
            let listing = listing;
            let listed = live.list().await;
            let keep = |mut listed: ServerListing| {
                let before = cell.load().slot.catalog.clone();
                listed.catalog.keep_unlisted(&before);
                let catalog = listing.driver.keep_listed(&cell, &live, listed);
                listing.driver.warn_of_lists(&cell, Some(&before), &catalog);
                catalog
            };
            let catalog = listed.map(keep);
            let driver = listing.driver.clone();
            listing.end(catalog);
            driver.show_kept_of(&cell.server);
        });
    }

    fn publish(self: &Arc<Self>, entry: EntryId, slot: Slot) {
        if let Some(cell) = self.entry_or_new(entry) {
            cell.publish(slot);
        }
    }

    fn notify(self: &Arc<Self>, audience: Audience, notice: Notice) {
        match audience {
            Audience::Everybody => self.tell_everybody(&notice),
            Audience::Pool => {
                let cell = notice.entry().and_then(|entry| self.entry(entry));
                if let Some(cell) = cell {
                    self.deliver(None, &cell, &notice);
                }
            }
            Audience::Sessions(sessions) => {
                let news = self.core().addressed(&sessions, notice);
                self.tell_all(news.into_iter().collect());
            }
        }
    }

    /// Delivers one after the other, and wakes those who were told when all were.
    fn tell_all(&self, news: Vec<SessionNotices>) {
        let _batch = Batch::begin();
        for SessionNotices { sessions, cell, notice } in news {
            let change = ListChange::of(&cell, &notice);
            for session in sessions {
                // It may be the last that holds the session, whose handlers are the host's.
                safely(|| {
                    let session = session;
                    tracing::debug!(session = ?session.recipient().number, ?notice, "notice");
                    match &change {
                        Some(change) => session.on_list_change(change),
                        None => self.deliver(Some(&*session), &cell, &notice),
                    }
                });
            }
            // And so may the cell be, of a server of the host's own.
            safely(move || drop((cell, change)));
        }
    }

    /// The cell of an entry that was published or connected before.
    pub(crate) fn entry(&self, entry: EntryId) -> Option<Arc<EntryCell>> {
        self.core().entries.get(&entry).cloned()
    }

    /// The entry is closed, and everybody was told.
    pub(super) fn forget(&self, entry: EntryId) {
        let gone = {
            let mut core = self.core();
            let cell = core.entries.remove(&entry);
            let keyed = cell.as_ref().and_then(|cell| core.release_key(|| self.now(), cell.key));
            (cell, keyed)
        };
        // A server of the host's own ends with them, and its code may call back here.
        drop(gone);
    }

    fn entry_or_new(&self, entry: EntryId) -> Option<Arc<EntryCell>> {
        let mut core = self.core();
        if let Some(cell) = core.entries.get(&entry) {
            return Some(cell.clone());
        }
        let status = core.state.entry(entry)?;
        let keyed = core.interner.keyed(status.key)?.clone();
        core.interner.keep(status.key);
        let cell = Arc::new(EntryCell::new(&status, keyed));
        core.entries.insert(entry, cell.clone());
        Some(cell)
    }
}

/// What is carried out next.
pub(super) enum DriverStep {
    Work(DriverWork),
    /// What sessions are told.
    News(Vec<SessionNotices>),
}

/// What sessions are told of an entry, one after the other.
pub(super) struct SessionNotices {
    sessions: Vec<Arc<dyn SessionPort>>,
    cell: Arc<EntryCell>,
    notice: Notice,
}

impl Queued for Core {
    type Next = DriverStep;

    fn executing(&mut self) -> &mut bool {
        &mut self.executing
    }

    /// All that sessions are told at one time is one.
    fn next(&mut self) -> Option<DriverStep> {
        let (mut news, mut room) = (Vec::new(), NEWS_MAX);
        while let Some((sessions, notice)) = self.take_notice(room) {
            if let Some(addressed) = self.addressed(&sessions, notice) {
                room -= sessions.len();
                news.push(addressed);
            }
        }
        match news.is_empty() {
            true => self.work.pop_front().map(DriverStep::Work),
            false => Some(DriverStep::News(news)),
        }
    }
}

impl Core {
    /// Takes the next work if it tells sessions something: so many of them, while others wait for
    /// their turn.
    fn take_notice(&mut self, room: usize) -> Option<(Vec<SessionId>, Notice)> {
        let DriverWork::Effect(Effect::Notify { audience: Audience::Sessions(ids), notice }) =
            self.work.front_mut()?
        else {
            return None;
        };
        if ids.len() > room {
            let mut now = std::mem::take(ids).into_vec();
            *ids = now.split_off(room).into();
            return (room > 0).then(|| (now, notice.clone()));
        }
        let Some(DriverWork::Effect(Effect::Notify { audience: Audience::Sessions(ids), notice })) =
            self.work.pop_front()
        else {
            return None;
        };
        Some((ids.into_vec(), notice))
    }

    /// What those of these sessions are told that are there, if the entry is.
    fn addressed(&self, sessions: &[SessionId], notice: Notice) -> Option<SessionNotices> {
        let cell = self.entries.get(&notice.entry()?)?.clone();
        // The last, since to drop a session takes the lock that is held here.
        let core = |id| self.sessions.get(id).and_then(Weak::upgrade);
        Some(SessionNotices { sessions: sessions.iter().filter_map(core).collect(), cell, notice })
    }
}

/// A completion of the host that panics must stop neither the queue nor its caller.
fn safely(work: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(work)).is_err() {
        tracing::error!("a completion panicked");
    }
}

/// The most that is told at one time: the first who is told is woken after the last.
const NEWS_MAX: usize = 4096;

/// A listing under way: its end is reported when it is dropped, so that one which dies does not
/// leave its entry waiting.
struct Listing {
    driver: Arc<Driver>,
    end: Option<ListingEnd>,
    connection: ConnectionId,
    number: ListingNumber,
    result: Option<crate::Result<Arc<Catalog>>>,
}

impl Listing {
    fn end(mut self, result: crate::Result<Arc<Catalog>>) {
        self.result = Some(result);
    }
}

impl Drop for Listing {
    fn drop(&mut self) {
        let died = || Err(Error::new(ErrorCode::Internal, "the listing died"));
        let result = self.result.take().unwrap_or_else(died);
        let (connection, number) = (self.connection, self.number);
        if let Some(mut end) = self.end.take().filter(|_| !self.driver.runtime.is_forked()) {
            end.failure = result.as_ref().err().cloned();
            self.driver.step_listed(PoolInput::CatalogListed { connection, number, result }, end);
        }
    }
}
