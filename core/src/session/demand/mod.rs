//! The servers that a session wants without asking for them by name.

mod failures;
pub(crate) mod follow;
pub(crate) mod lazy;
mod ready;
pub(crate) mod start_gate;
#[cfg(test)]
mod tests;
mod types;

use std::sync::{Arc, MutexGuard};

use trunkline_pool::interface::EventKind;
use trunkline_pool::state::{PoolInput, Ticket};

use super::acquire::answer_with;
use super::session_core::SessionCore;
use crate::driver::server_config::{ConfigOwner, ResolvedServer};
use crate::driver::{LeaseGuard, Wait, Wish};
use crate::events::EventSubject;
use crate::{Error, Result};
pub(crate) use types::{
    CacheProbe, DemandSet, DemandState, DesiredServer, NewDemand, ServerDemand, WantId,
};

impl SessionCore {
    /// Wants nothing any more. What is ready stays held until the holds are given up.
    pub(crate) fn unwant_all(&self) {
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
    pub(crate) fn still_wants(&self, NewDemand { server, want, .. }: &NewDemand) -> bool {
        self.wants().of(server, *want).is_some()
    }

    /// The wish for a server that was put into the list of wants.
    pub(crate) fn wish<'a>(
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
    pub(crate) fn wished(&self, NewDemand { server, want, .. }: &NewDemand, ticket: Ticket) {
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
    pub(crate) fn settle(
        self: &Arc<Self>,
        name: &str,
        (id, asked): (WantId, &Arc<ResolvedServer>),
        result: Result<LeaseGuard>,
    ) {
        let about = match &result {
            Ok(hold) => EventSubject::entry(&hold.cell.named, hold.cell.load().slot.generation),
            Err(_) => EventSubject::server(name),
        };
        // The hold is added under the lock of the wants: an end of the want that comes meanwhile
        // finds the hold, or the hold finds the end.
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
            Ok(hold) => match self.add_hold(hold, held_for, asked) {
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
            self.forget_deferred(want);
        }
        self.tell_lists();
        self.settled.notify_waiters();
    }

    /// The server of a want failed, and is tried again quietly: for now that is its answer. One
    /// that runs for calls only waits for no such attempt.
    fn fail_for_now(self: &Arc<Self>, name: &str, id: WantId, error: Error) {
        let mut wants = self.wants();
        let Some(want) = wants.of(name, id).filter(|want| want.is_answerable()) else { return };
        if want.has_failed() {
            // No event tells of an attempt in vain, and status shows the newest.
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
            self.forget_deferred(want);
        }
        self.tell_lists();
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

    pub(crate) fn wants(&self) -> MutexGuard<'_, DemandSet> {
        self.wants.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
