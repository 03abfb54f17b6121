//! The servers that a session wants without asking for them by name, and acquiring in general.

use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;
use trunkline_pool::config::Share;
use trunkline_pool::interface::EventKind;
use trunkline_pool::state::{Ask, Family, Input, Ticket};

use super::held::{Origin, Standing, disabled};
use super::holds::{HoldId, Kind};
use super::pool::Configured;
use super::session::SessionCore;
use crate::driver::{About, Answer, Answered, Driver, Interner, LeaseHold, Wish};
use crate::{Error, ErrorCode, Result};

/// The wanted servers by name.
#[derive(Default)]
pub(super) struct Wants {
    servers: BTreeMap<Box<str>, Want>,
    /// The session is closed: nothing is wanted any more.
    closed: bool,
}

/// A server that is to be asked for.
type Added = (Box<str>, Arc<Configured>);

struct Want {
    configured: Arc<Configured>,
    /// The question to the pool: tells an answer to an earlier want of the same name apart.
    ticket: Option<Ticket>,
    state: WantState,
}

enum WantState {
    Pending,
    /// There is no room for it in the budget; it begins when there is.
    Waiting(Error),
    Ready(HoldId),
    Failed(Error),
}

/// Lets sessions follow the pool's configuration. All of them let go what they no longer want before any asks for
/// something new, so that what is gone makes room for what comes (SPEC 9.5).
pub(super) fn follow_together(sessions: &[Arc<SessionCore>]) {
    let added = |session: &Arc<SessionCore>| {
        session.let_go().into_iter().map(|added| (session.clone(), added)).collect::<Vec<_>>()
    };
    let added: Vec<(Arc<SessionCore>, Added)> = sessions.iter().flat_map(added).collect();
    let Some((first, _)) = added.first() else { return };
    let wishes = added.iter().map(|(session, added)| session.wish(added)).collect();
    let tickets = first.driver.want(wishes);
    for ((session, (name, configured)), ticket) in added.iter().zip(tickets) {
        session.wished(name, configured, ticket);
    }
}

/// The answer to an acquire as a result, exactly once.
fn answer_with(name: &str, answer: impl FnOnce(Result<LeaseHold>) + Send + 'static) -> Answer {
    let server = Box::<str>::from(name);
    Box::new(move |answered| match answered {
        Answered::Granted(hold) => answer(Ok(hold)),
        Answered::Refused(error) => answer(Err(error.with_server(&*server))),
        Answered::Restarted(_) | Answered::ToolAccepted | Answered::Drained(_) => {
            answer(Err(Error::new(ErrorCode::Internal, "the answer to another question")));
        }
    })
}

impl SessionCore {
    /// Wants what the pool has configured now, as far as the session's options go.
    ///
    /// What is to be done is decided under the lock and from the newest source, so that of two at once each leaves the
    /// newest state. It is done without the lock, since an answer may call the host.
    pub(super) fn follow(self: &Arc<Self>) {
        follow_together(std::slice::from_ref(self));
    }

    /// Lets go what it no longer wants; what it wants besides, which is to be asked for.
    fn let_go(self: &Arc<Self>) -> Vec<Added> {
        let (gone, new) = self.differences();
        for ticket in gone.iter().filter_map(Want::open_ticket) {
            self.driver.step(Input::CancelAcquire { ticket });
        }
        let unwanted: Vec<HoldId> = gone.iter().filter_map(Want::hold).collect();
        self.holds.review(self, &unwanted);
        self.settled.notify_waiters();
        new
    }

    /// Brings the list of wants up to date: those that are over, and those that are to be asked for.
    fn differences(&self) -> (Vec<Want>, Vec<Added>) {
        let mut wants = self.wants();
        if wants.closed {
            return Default::default();
        }
        let mut wanted: BTreeMap<_, _> = self.pool.servers().into_iter().collect();
        let options = self.options();
        wanted.retain(|name, configured| {
            options.servers.names(name) && !configured.spec.disabled && !self.has_disabled(name)
        });
        let before = std::mem::take(&mut wants.servers);
        let (same, gone): (BTreeMap<_, _>, BTreeMap<_, _>) =
            before.into_iter().partition(|(name, want): &(Box<str>, Want)| {
                let new = wanted.get(name);
                new.is_some_and(|new| new.is_same_connection(&want.configured))
            });
        wants.servers = same;
        let mut new = Vec::new();
        for (name, configured) in wanted {
            if !wants.servers.contains_key(&name) {
                wants.servers.insert(name.clone(), Want::pending(&configured));
                new.push((name, configured));
            }
        }
        (gone.into_values().collect(), new)
    }

    /// Wants nothing any more. What is ready stays held until the holds are given up.
    pub(super) fn unwant_all(&self) {
        let servers = {
            let mut wants = self.wants();
            wants.closed = true;
            std::mem::take(&mut wants.servers)
        };
        for ticket in servers.into_values().filter_map(|want| Want::open_ticket(&want)) {
            self.driver.step(Input::CancelAcquire { ticket });
        }
    }

    /// The wish for a server that was put into the list of wants.
    fn wish(self: &Arc<Self>, (name, configured): &Added) -> Wish {
        let (session, server, asked) = (Arc::downgrade(self), name.clone(), configured.clone());
        let answer = answer_with(name, move |result| {
            if let Some(session) = session.upgrade() {
                session.settle(&server, &asked, result);
            }
        });
        let (session, server, asked) = (Arc::downgrade(self), name.clone(), configured.clone());
        let deferred = Box::new(move |error: Error| {
            if let Some(session) = session.upgrade() {
                session.wait_for_room(&server, &asked, error.with_server(&*server));
            }
        });
        Wish { ask: Box::new(self.question(name, configured)), answer, deferred }
    }

    /// Keeps the ticket of a wish. One that is wanted no more is taken back.
    fn wished(&self, name: &str, configured: &Arc<Configured>, ticket: Ticket) {
        let mut wants = self.wants();
        let want = wants.servers.get_mut(name);
        match want.filter(|want| want.is_of(configured)) {
            Some(want) => want.ticket = Some(ticket),
            None => {
                drop(wants);
                self.driver.step(Input::CancelAcquire { ticket });
            }
        }
    }

    /// The answer to a want came. One that is no longer wanted is dropped, and so released.
    fn settle(self: &Arc<Self>, name: &str, asked: &Arc<Configured>, result: Result<LeaseHold>) {
        let about = match &result {
            Ok(hold) => About::entry(&hold.cell, hold.cell.load().slot.generation),
            Err(_) => About::server(name.into()),
        };
        let held = result.and_then(|hold| {
            let added = self.holds.add(self, hold, (Kind::Want, Origin::Pool), asked);
            added.map(|(id, _)| id).ok_or_else(|| self.closed())
        });
        let held = held.map_err(|error| error.with_server(name));
        let (kind, field) = match self.record(name, asked, &held) {
            Some(left) => match &held {
                Ok(_) => (EventKind::ServerReady, ("left", left.into())),
                Err(error) => (EventKind::Failed, ("error", error.to_json())),
            },
            None => {
                if let Ok(hold) = held {
                    self.holds.review(self, &[hold]);
                }
                return;
            }
        };
        self.driver.hub.publish(kind, Some(self), &about, &[field]);
        self.settled.notify_waiters();
    }

    /// A want waits for room in the budget: for now that is its answer.
    fn wait_for_room(&self, name: &str, asked: &Arc<Configured>, error: Error) {
        let mut wants = self.wants();
        let want = wants.servers.get_mut(name);
        if let Some(want) = want.filter(|want| want.is_of(asked) && want.is_pending()) {
            want.state = WantState::Waiting(error);
        }
        drop(wants);
        self.settled.notify_waiters();
    }

    /// Writes the answer down, if it is still wanted. The names that are open after it.
    fn record(
        &self,
        name: &str,
        asked: &Arc<Configured>,
        held: &Result<HoldId>,
    ) -> Option<Vec<String>> {
        let mut wants = self.wants();
        let want = wants.servers.get_mut(name)?;
        if !want.is_of(asked) || !want.is_open() {
            return None;
        }
        want.state = match held {
            Ok(hold) => WantState::Ready(*hold),
            Err(error) => WantState::Failed(error.clone()),
        };
        let pending = wants.servers.iter().filter(|(_, want)| want.is_pending());
        Some(pending.map(|(name, _)| name.to_string()).collect())
    }

    /// Asks the pool for a hold; `answer` gets it, or the error, exactly once.
    pub(super) fn ask_for(
        &self,
        name: &str,
        configured: &Arc<Configured>,
        answer: impl FnOnce(Result<LeaseHold>) + Send + 'static,
    ) -> Ticket {
        let question = self.question(name, configured);
        self.driver.ask(
            |ticket, interner| {
                let Ask { ticket, session, key, server, fingerprint, family, share } =
                    question(ticket, interner);
                Input::Acquire { ticket, session, key, server, fingerprint, family, share }
            },
            answer_with(name, answer),
        )
    }

    /// What the pool is asked for a hold.
    fn question(
        &self,
        name: &str,
        configured: &Arc<Configured>,
    ) -> impl FnOnce(Ticket, &mut Interner) -> Ask + 'static {
        let (session, name, configured) = (self.number, Box::<str>::from(name), configured.clone());
        let share = configured.share;
        let owner = (share == Share::Session).then_some(session);
        let family = match configured.spec.transport_name() {
            "stdio" | "websocket" => Family::Local,
            _ => Family::Remote,
        };
        move |ticket, interner| {
            let key = interner.key(&name, &configured.spec, configured.fingerprint, owner);
            let server = interner.server(&name);
            let fingerprint = configured.fingerprint;
            Ask { ticket, session, key, server, fingerprint, family, share }
        }
    }

    /// A hold that was asked for. Dropping the future gives it up.
    pub(super) async fn acquire(
        self: &Arc<Self>,
        name: &str,
        configured: &Arc<Configured>,
        timeout: Option<Duration>,
    ) -> Result<LeaseHold> {
        let (send, receive) = oneshot::channel();
        let ticket = self.ask_for(name, configured, move |result| {
            // A hold that nobody waits for is dropped here, and so released.
            let _ = send.send(result);
        });
        let waiting = CancelAcquire { driver: &self.driver, ticket: Some(ticket) };
        let result = match timeout {
            None => receive.await,
            Some(timeout) => tokio::select! {
                biased;
                result = receive => result,
                () = self.driver.runtime.sleep_until(Instant::now() + timeout) => {
                    drop(waiting);
                    return Err(timed_out(timeout).with_server(name).with_session(&*self.id));
                }
            },
        };
        waiting.over();
        let dead = |_| Err(Error::new(ErrorCode::Internal, "the pool gave no answer"));
        result.unwrap_or_else(dead).map_err(|error| error.with_session(&*self.id))
    }

    /// See [`Session::ready`](super::Session::ready).
    pub(super) async fn ready(
        &self,
        server: Option<&str>,
        timeout: Option<Duration>,
    ) -> Result<()> {
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
        loop {
            let settled = self.settled.notified();
            let mut settled = std::pin::pin!(settled);
            // Registered before the look, so that nothing is missed between the look and the wait.
            settled.as_mut().enable();
            self.check()?;
            let pending = match self.unsettled(server)? {
                None => return Ok(()),
                Some(pending) => pending,
            };
            let Some(deadline) = deadline else {
                settled.await;
                continue;
            };
            tokio::select! {
                () = settled => {}
                () = self.driver.runtime.sleep_until(deadline) => {
                    let error = timed_out(timeout.unwrap_or_default()).with_session(&*self.id);
                    return Err(error.with_detail("servers", pending));
                }
            }
        }
    }

    /// The servers that are not settled; `None` when all that are asked for are.
    fn unsettled(&self, server: Option<&str>) -> Result<Option<Vec<String>>> {
        let wants = self.wants();
        let Some(name) = server else {
            let pending = wants.servers.iter().filter(|(_, want)| want.is_pending());
            let pending: Vec<_> = pending.map(|(name, _)| name.to_string()).collect();
            return Ok((!pending.is_empty()).then_some(pending));
        };
        match wants.servers.get(name).map(|want| &want.state) {
            Some(WantState::Pending) => Ok(Some(vec![name.to_owned()])),
            Some(WantState::Ready(_)) => Ok(None),
            Some(WantState::Failed(error) | WantState::Waiting(error)) => {
                Err(error.clone().with_session(&*self.id))
            }
            None => match self.holds.lease_on(name).map(|held| (held.standing(), held)) {
                _ if self.has_disabled(name) => Err(self.named(name, disabled())),
                Some((Standing::Returning, _)) => Ok(Some(vec![name.to_owned()])),
                Some((_, held)) => held.check().map(|()| None).map_err(|e| self.named(name, e)),
                None => Err(self.unwanted(name)),
            },
        }
    }

    fn unwanted(&self, name: &str) -> Error {
        let message = "the session does not want a server of that name";
        let error = Error::new(ErrorCode::InvalidArgument, message).with_detail("path", "server");
        self.named(name, error)
    }

    fn wants(&self) -> MutexGuard<'_, Wants> {
        self.wants.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Want {
    fn pending(configured: &Arc<Configured>) -> Want {
        Want { configured: configured.clone(), ticket: None, state: WantState::Pending }
    }

    fn is_pending(&self) -> bool {
        matches!(self.state, WantState::Pending)
    }

    fn hold(&self) -> Option<HoldId> {
        if let WantState::Ready(hold) = self.state { Some(hold) } else { None }
    }

    /// Whether its answer is still to come.
    fn is_open(&self) -> bool {
        matches!(self.state, WantState::Pending | WantState::Waiting(_))
    }

    fn is_of(&self, configured: &Arc<Configured>) -> bool {
        Arc::ptr_eq(&self.configured, configured)
    }

    fn open_ticket(&self) -> Option<Ticket> {
        self.ticket.filter(|_| self.is_open())
    }
}

fn timed_out(timeout: Duration) -> Error {
    let millis = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    Error::new(ErrorCode::Timeout, format!("not connected within {millis} ms"))
        .with_detail("which", "connect")
        .with_detail("timeout_ms", millis)
}

/// Takes the question back when the asker is dropped.
struct CancelAcquire<'a> {
    driver: &'a Arc<Driver>,
    ticket: Option<Ticket>,
}

impl CancelAcquire<'_> {
    fn over(mut self) {
        self.ticket = None;
    }
}

impl Drop for CancelAcquire<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take().filter(|_| !self.driver.runtime.is_forked()) {
            self.driver.step(Input::CancelAcquire { ticket });
        }
    }
}
