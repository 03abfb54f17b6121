//! The servers that a session wants without asking for them by name.

mod failures;
mod ready;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard};

use trunkline_pool::gates::Shuts;
use trunkline_pool::interface::EventKind;
use trunkline_pool::options::SessionOptions;
use trunkline_pool::plan::Holding;
use trunkline_pool::state::{PoolInput, Ticket};
use trunkline_pool::view::Viewed;

use super::acquire::answer_with;
use super::follow::DesiredServer;
use super::holds::{HoldId, HoldKind};
use super::server_config::{ConfigOwner, ResolvedServer};
use super::session_core::SessionCore;
use crate::driver::{LeaseGuard, Wait, Wish};
use crate::events::EventSubject;
use crate::{Error, ErrorCode, Result};

/// The wanted servers by name.
#[derive(Default)]
pub(super) struct DemandSet {
    pub(super) servers: BTreeMap<Box<str>, ServerDemand>,
    last: WantId,
    /// How often what is kept was looked for.
    pub(super) looks: u64,
    /// The session has seen what was kept at its beginning.
    pub(super) shown: bool,
    /// The session is closed: nothing is wanted any more.
    pub(super) closed: bool,
}

/// The number of a want, and of a question that it asked: tells the answer to an earlier one of the
/// same server apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WantId(pub(super) u64);

/// A server that is to be asked for.
pub(super) struct NewDemand {
    pub(super) server: Box<str>,
    pub(super) configured: Arc<ResolvedServer>,
    pub(super) want: WantId,
}

pub(super) struct ServerDemand {
    /// The number of its newest question.
    pub(super) id: WantId,
    /// Its own.
    pub(super) born: WantId,
    /// The newest of the same connection.
    pub(super) configured: Arc<ResolvedServer>,
    /// What the session sees of it is made of this, and of these options: the newest too.
    pub(super) seen_by: (Arc<ResolvedServer>, Arc<SessionOptions>),
    /// As it was when it was asked for: a gate that was shut since has ended what came of it.
    shuts: Shuts,
    /// The question to the pool.
    pub(super) ticket: Option<Ticket>,
    pub(super) state: DemandState,
    /// What is kept of it.
    pub(super) kept: CacheProbe,
    /// Present when it runs for calls only.
    pub(super) lazy: Option<Lazy>,
}

/// How far what is kept of a server was looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CacheProbe {
    /// Not yet.
    Never,
    /// It is being looked for, at that look.
    At(u64),
    /// What there is was taken.
    Taken,
}

/// What a want has of which the server runs for calls only.
#[derive(Default)]
pub(super) struct Lazy {
    /// The calls that run, or wait for it.
    pub(super) users: usize,
    /// Its server is started once, since nothing is known of its tools.
    pub(super) learns: bool,
    /// The failure that the session was told of, until its server is there again.
    pub(super) told: Option<ErrorCode>,
}

pub(super) enum DemandState {
    /// What is kept of it is looked for, and decides whether it is asked for.
    Looking,
    Pending,
    /// There is no room for it; it begins when there is.
    Waiting(Error),
    Ready(HoldId),
    Failed(Error),
    /// It failed, and what ends that has come: the next plan asks for it anew. Until then it is one
    /// that is still to come.
    Over,
    /// No question was asked: its tools are known, and no call needs it. How its last start failed.
    Asleep(Option<Error>),
}

impl SessionCore {
    /// Wants nothing any more. What is ready stays held until the holds are given up.
    pub(super) fn unwant_all(&self) {
        let servers = {
            let mut wants = self.wants();
            wants.closed = true;
            std::mem::take(&mut wants.servers)
        };
        for ticket in servers.into_values().filter_map(|want| ServerDemand::open_ticket(&want)) {
            self.driver.step(PoolInput::CancelAcquire { ticket });
        }
    }

    /// Whether what was put into the list of wants is there still.
    pub(super) fn still_wants(&self, NewDemand { server, want, .. }: &NewDemand) -> bool {
        self.wants().of(server, *want).is_some()
    }

    /// The wish for a server that was put into the list of wants.
    pub(super) fn wish<'a>(
        self: &'a Arc<Self>,
        NewDemand { server, configured, want }: &'a NewDemand,
    ) -> Wish<'a> {
        let (session, name, id) = (Arc::downgrade(self), server.clone(), *want);
        let asked = configured.clone();
        let answer = answer_with(server, move |result| {
            if let Some(session) = session.upgrade() {
                session.settle(&name, (id, &asked), result);
            }
        });
        let (session, name) = (Arc::downgrade(self), server.clone());
        let deferred = Arc::new(move |wait: Wait, error: Error| {
            let Some(session) = session.upgrade() else { return };
            let error = error.with_server(&*name);
            match wait {
                Wait::Room => session.wait_for_room(&name, id, error),
                Wait::Server => session.fail_for_now(&name, id, error),
            }
        });
        Wish { ask: Box::new(self.question(server, configured)), answer, deferred }
    }

    /// Keeps the ticket of a wish. One that is wanted no more is taken back.
    pub(super) fn wished(&self, NewDemand { server, want, .. }: &NewDemand, ticket: Ticket) {
        let mut wants = self.wants();
        match wants.of(server, *want) {
            Some(want) if want.is_answerable() || want.hold().is_some() => {
                want.ticket = Some(ticket);
            }
            _ => {
                drop(wants);
                self.driver.step(PoolInput::CancelAcquire { ticket });
            }
        }
    }

    /// The answer to a want came. One that is no longer wanted is dropped, and so released.
    pub(super) fn settle(
        self: &Arc<Self>,
        name: &str,
        (id, asked): (WantId, &Arc<ResolvedServer>),
        result: Result<LeaseGuard>,
    ) {
        let about = match &result {
            Ok(hold) => EventSubject::entry(&hold.cell.named, hold.cell.load().slot.generation),
            Err(_) => EventSubject::server(name),
        };
        // The hold is added under the lock of the wants: whoever ends the want meanwhile finds it,
        // or is found by it.
        let mut wants = self.wants();
        let Some(want) = wants.of(name, id).filter(|want| want.is_answerable()) else {
            drop(wants);
            drop(result);
            return;
        };
        let had_failed = want.has_failed();
        let (mut added, mut rests, mut over) = (None, None, None);
        let held_for = (want.hold_kind(), ConfigOwner::Pool);
        let news = match result {
            Ok(hold) => match self.holds.add(self, hold, held_for, asked) {
                Ok(new) => {
                    want.state = DemandState::Ready(new.id);
                    want.clear_failure();
                    rests = want.is_of_no_use().then(|| self.rest(name, want)).flatten();
                    added = Some(new);
                    Some((EventKind::ServerReady, ("left", self.pending(&wants).into())))
                }
                Err(refused) => {
                    // What ended the session, or switched the server off, ends the want: now, since
                    // the server may be switched on again before anybody looks at what is wanted.
                    let want = wants.servers.remove(name);
                    drop(wants);
                    drop(refused);
                    self.end_demands(want.as_slice());
                    return;
                }
            },
            Err(error) => {
                let field = ("error", error.to_json());
                let is_news = !had_failed && want.note_failure(&error);
                over = self.fail(name, want, error);
                is_news.then_some((EventKind::Failed, field))
            }
        };
        drop(wants);
        if let Some(added) = added {
            added.finish(self);
        }
        drop(rests);
        if let Some((kind, field)) = news {
            self.driver.hub.publish(kind, Some(&self.recipient), &about, &[field]);
        }
        if let Some(want) = over {
            // The event comes first, and then its tools go.
            self.holds.forget_deferred(self, want);
        }
        self.holds.tell(self);
        self.settled.notify_waiters();
    }

    /// The server of a want failed, and is tried again quietly: for now that is its answer. One
    /// that runs for calls only waits for no such attempt.
    fn fail_for_now(self: &Arc<Self>, name: &str, id: WantId, error: Error) {
        let mut wants = self.wants();
        let Some(want) = wants.of(name, id).filter(|want| want.is_answerable()) else { return };
        if want.has_failed() {
            // Nobody is told of an attempt in vain, and who looks sees the newest.
            want.state = DemandState::Failed(error);
            return;
        }
        let field = ("error", error.to_json());
        let is_news = want.note_failure(&error);
        let over = self.fail(name, want, error);
        let ticket = if want.lazy.is_some() { want.ticket.take() } else { None };
        drop(wants);
        if let Some(ticket) = ticket {
            self.driver.step(PoolInput::CancelAcquire { ticket });
        }
        if is_news {
            let about = EventSubject::server(name);
            self.driver.hub.publish(EventKind::Failed, Some(&self.recipient), &about, &[field]);
        }
        if let Some(want) = over {
            // The event comes first, and then its tools go.
            self.holds.forget_deferred(self, want);
        }
        self.holds.tell(self);
        self.settled.notify_waiters();
    }

    /// A start failed. A server that runs for calls only sleeps on when its tools are known, be it
    /// that somebody else's connection listed them meanwhile; of another the want is given, whose
    /// tools are to go.
    fn fail(&self, name: &str, want: &mut ServerDemand, error: Error) -> Option<u64> {
        if want.lazy.is_none() {
            want.state = DemandState::Failed(error);
            return Some(want.born.0);
        }
        if self.holds.defers(name, want.born.0) || self.defer_kept(name, want) {
            want.sleep(Some(error));
        } else {
            want.state = DemandState::Failed(error);
        }
        None
    }

    /// A want waits for room: for now that is its answer.
    fn wait_for_room(&self, name: &str, id: WantId, error: Error) {
        let mut wants = self.wants();
        if let Some(want) = wants.of(name, id).filter(|want| want.is_open()) {
            want.state = DemandState::Waiting(error);
        }
        drop(wants);
        self.settled.notify_waiters();
    }

    pub(super) fn wants(&self) -> MutexGuard<'_, DemandSet> {
        self.wants.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl DemandSet {
    /// A want, unless it is over, or another of the same server has taken its place.
    fn of(&mut self, server: &str, id: WantId) -> Option<&mut ServerDemand> {
        self.servers.get_mut(server).filter(|want| want.id == id)
    }

    /// A new number for a question.
    pub(super) fn next(&mut self) -> WantId {
        self.last.0 += 1;
        self.last
    }
}

impl ServerDemand {
    pub(super) fn new(id: WantId, to_want: DesiredServer) -> ServerDemand {
        let DesiredServer { configured, options, shuts, lazy } = to_want;
        let (state, lazy) = match lazy {
            true => (DemandState::Looking, Some(Lazy::default())),
            false => (DemandState::Pending, None),
        };
        let (ticket, kept, seen_by) = (None, CacheProbe::Never, (configured.clone(), options));
        ServerDemand { id, born: id, configured, seen_by, shuts, ticket, state, kept, lazy }
    }

    /// What the session has of its server.
    pub(super) fn holding<'a>(&'a self, server: &'a str) -> Holding<'a> {
        let (connection, lazy) = (self.configured.connection(), self.lazy.is_some());
        let (configured, options) = &self.seen_by;
        let viewed = Viewed { server, spec: configured.spec(), options };
        Holding { connection, shuts: self.shuts, lazy, viewed }
    }

    /// Whether its server, or what is known of it, is still to come. What a call alone has begun is
    /// nobody else's matter.
    fn is_awaited(&self) -> bool {
        match self.state {
            DemandState::Looking | DemandState::Over => true,
            DemandState::Pending => self.lazy.as_ref().is_none_or(|lazy| lazy.learns),
            DemandState::Waiting(_)
            | DemandState::Ready(_)
            | DemandState::Failed(_)
            | DemandState::Asleep(_) => false,
        }
    }

    /// Whether the session is to be told of this failure: one that runs for calls only and is
    /// started in vain again stands as it stood.
    fn note_failure(&mut self, error: &Error) -> bool {
        let code = error.code();
        self.lazy.as_mut().is_none_or(|lazy| lazy.told.replace(code) != Some(code))
    }

    /// Its server is there, or known: the next failure is another.
    pub(super) fn clear_failure(&mut self) {
        if let Some(lazy) = &mut self.lazy {
            lazy.told = None;
        }
    }

    /// It waits for a call, and for nobody else.
    pub(super) fn sleep(&mut self, why: Option<Error>) {
        self.state = DemandState::Asleep(why);
        if let Some(lazy) = &mut self.lazy {
            lazy.learns = false;
        }
    }

    /// Whether nothing came of it and nobody has begun it again: with tools that are known it would
    /// sleep.
    pub(super) fn has_learned_nothing(&self) -> bool {
        self.lazy.is_some() && self.has_failed()
    }

    /// Whether an answer of any kind is still to come.
    fn is_to_come(&self) -> bool {
        matches!(self.state, DemandState::Looking | DemandState::Pending | DemandState::Over)
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.state, DemandState::Over)
    }

    fn has_failed(&self) -> bool {
        matches!(self.state, DemandState::Failed(_))
    }

    fn hold_kind(&self) -> HoldKind {
        if self.lazy.is_some() { HoldKind::Calls } else { HoldKind::Want }
    }

    pub(super) fn hold(&self) -> Option<HoldId> {
        if let DemandState::Ready(hold) = self.state { Some(hold) } else { None }
    }

    /// Whether an answer to it would be taken: that of a server which failed comes when it is there
    /// after all.
    fn is_answerable(&self) -> bool {
        self.is_open() || (self.has_failed() && self.lazy.is_none())
    }

    /// Whether its answer is still to come.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, DemandState::Pending | DemandState::Waiting(_))
    }

    pub(super) fn open_ticket(&self) -> Option<Ticket> {
        self.ticket.filter(|_| self.is_answerable())
    }
}
