//! Questions to the reducer, and where their answers go.

use std::sync::{Arc, MutexGuard};

use trunkline_pool::interface::words;
use trunkline_pool::state::{Ask, Effect, EntryId, KeyId, LeaseId, PoolInput, SessionId, Ticket};

use super::tickets::{PendingTicket, QUESTIONS_MAX};
use super::{
    Acquired, ConnectionKey, Core, Driver, DriverWork, Interner, LeaseGuard, TicketCallback,
    TicketReply, Wait, Wish,
};
use crate::{Error, ErrorCode};

impl Driver {
    /// Asks a question; `answer` gets the reducer's answer, now or later. When too many are open
    /// the answer is `limit`.
    pub(crate) fn ask(
        self: &Arc<Self>,
        question: impl FnOnce(Ticket, &mut Interner) -> PoolInput,
        answer: TicketCallback,
    ) -> Ticket {
        let mut core = self.core();
        let ticket = core.questions.ticket();
        let input = question(ticket, &mut core.interner);
        let acquire = match input {
            PoolInput::Acquire(ref ask) => Some((ask.session, ask.key)),
            _ => None,
        };
        if core.questions.is_full() && !matches!(input, PoolInput::Drain { .. }) {
            self.refuse_question(core, acquire, answer);
            return ticket;
        }
        core.questions.open.insert(ticket, PendingTicket { answer, deferred: None, acquire });
        self.run(core, input);
        ticket
    }

    /// Asks for a hold. Where the step grants it and nothing else is to be carried out first, it is
    /// had in the same breath: such an acquire opens no question. Else `answer` makes what gets the
    /// answer, now or later, and what waits for it.
    pub(crate) fn acquire<W>(
        self: &Arc<Self>,
        question: impl FnOnce(Ticket, &mut Interner) -> Ask,
        answer: impl FnOnce() -> (TicketCallback, W),
    ) -> Acquired<W> {
        let mut core = self.core();
        let ticket = core.questions.ticket();
        let ask = question(ticket, &mut core.interner);
        let acquire = Some((ask.session, ask.key));
        if core.questions.is_full() {
            let (answer, wait) = answer();
            self.refuse_question(core, acquire, answer);
            return Acquired::Asked(ticket, wait);
        }
        let (session, key) = (ask.session, ask.key);
        self.run_only(&mut core, PoolInput::Acquire(ask));
        match self.take_grant(&mut core, ticket, session) {
            Some(hold) => {
                let keyed = core.release_key(|| self.now(), key);
                drop(core);
                drop(keyed);
                Acquired::Granted(hold)
            }
            None => {
                let (answer, wait) = answer();
                core.questions
                    .open
                    .insert(ticket, PendingTicket { answer, deferred: None, acquire });
                self.carry_out(core);
                Acquired::Asked(ticket, wait)
            }
        }
    }

    /// Carries out the grant of this ticket, if that is all there is to do, and nobody is at work.
    fn take_grant(
        self: &Arc<Self>,
        core: &mut Core,
        asked: Ticket,
        session: SessionId,
    ) -> Option<LeaseGuard> {
        let Some(&DriverWork::Effect(Effect::Grant { ticket, lease, entry })) = core.work.front()
        else {
            return None;
        };
        if core.executing || core.work.len() > 1 || ticket != asked {
            return None;
        }
        let cell = core.entries.get(&entry)?.clone();
        tracing::debug!(?ticket, ?lease, ?entry, "granted at once");
        core.work.pop_front();
        self.set_timer(core);
        let mut hold = LeaseGuard::new(self.clone(), cell, lease);
        if let Some(holder) = core.sessions.get(&session) {
            hold.held_by(session, holder);
        }
        Some(hold)
    }

    /// One question too many.
    fn refuse_question(
        &self,
        mut core: MutexGuard<'_, Core>,
        acquire: Option<(SessionId, KeyId)>,
        answer: TicketCallback,
    ) {
        let keyed = acquire.and_then(|(_, key)| core.release_key(|| self.now(), key));
        drop(core);
        drop(keyed);
        answer(TicketReply::Refused(too_many_questions()));
    }

    /// Asks for everything that one pass wants, in one step. A ticket for each wish, in their
    /// order.
    pub(crate) fn want(self: &Arc<Self>, wishes: Vec<Wish<'_>>) -> Vec<Ticket> {
        let mut core = self.core();
        let (mut tickets, mut asks, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        for Wish { ask, answer, deferred } in wishes {
            let ticket = core.questions.ticket();
            tickets.push(ticket);
            if core.questions.is_full() {
                refused.push(answer);
                continue;
            }
            let ask = ask(ticket, &mut core.interner);
            let acquire = Some((ask.session, ask.key));
            let asked = PendingTicket { answer, deferred: Some(deferred), acquire };
            core.questions.open.insert(ticket, asked);
            asks.push(ask);
        }
        self.run(core, PoolInput::Want { asks });
        for answer in refused {
            answer(TicketReply::Refused(too_many_questions()));
        }
        tickets
    }

    /// A wish has to wait.
    pub(super) fn defer(&self, ticket: Ticket, wait: Wait, error: Error) {
        let deferred = {
            let questions = &mut self.core().questions;
            let Some(asked) = questions.remove(ticket) else { return };
            let deferred = asked.deferred.clone();
            questions.waiting.insert(ticket, asked);
            deferred
        };
        if let Some(deferred) = deferred {
            deferred(wait, error);
        }
    }

    pub(super) fn answer(&self, ticket: Ticket, answered: TicketReply) {
        let (asked, keyed) = self.take_question(&mut self.core(), ticket);
        drop(keyed);
        give(ticket, asked, answered);
    }

    /// A lease was granted: its session has it from now on, and the caller gets it.
    pub(super) fn grant(self: &Arc<Self>, ticket: Ticket, lease: LeaseId, entry: EntryId) {
        let mut core = self.core();
        let cell = core.entries.get(&entry).cloned();
        let (asked, keyed) = self.take_question(&mut core, ticket);
        let holder = asked.as_ref().and_then(|asked| {
            let (number, _) = asked.acquire?;
            Some((number, core.sessions.get(&number)?.clone()))
        });
        drop(core);
        drop(keyed);
        let Some(cell) = cell else {
            give(ticket, asked, TicketReply::Refused(missing_entry()));
            return self.step(PoolInput::Release { lease });
        };
        let mut hold = LeaseGuard::new(self.clone(), cell, lease);
        if let Some((number, session)) = holder {
            hold.held_by(number, &session);
        }
        give(ticket, asked, TicketReply::Granted(hold));
    }

    /// A question that has its answer, and what its key stood for if nobody else keeps that: to be
    /// dropped once no lock is held.
    fn take_question(
        &self,
        core: &mut Core,
        ticket: Ticket,
    ) -> (Option<PendingTicket>, Option<ConnectionKey>) {
        let asked = core.questions.remove(ticket);
        let acquire = asked.as_ref().and_then(|asked| asked.acquire);
        (asked, acquire.and_then(|(_, key)| core.release_key(|| self.now(), key)))
    }
}

/// Gives an answer. No lock is held.
fn give(ticket: Ticket, asked: Option<PendingTicket>, answered: TicketReply) {
    match asked {
        Some(asked) => (asked.answer)(answered),
        None => tracing::error!(?ticket, "an answer to no question"),
    }
}

fn missing_entry() -> Error {
    Error::new(ErrorCode::Internal, "the entry was closed while it was granted")
}

fn too_many_questions() -> Error {
    let message = format!("{QUESTIONS_MAX} acquires and restarts are under way already");
    Error::new(ErrorCode::Limit, message).with_detail("limit", words::limit::QUEUED_COMMANDS)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use trunkline_pool::config::{ServerSpec, Share};
    use trunkline_pool::options::{Offered, PoolOptions};
    use trunkline_pool::state::{DrainMode, Family, ServerId};

    use super::*;
    use crate::driver::{Authority, KeyRequest, StartPriority};
    use crate::otlp::Observer;

    fn code_of(answered: &TicketReply) -> Option<ErrorCode> {
        match answered {
            TicketReply::Refused(error) => Some(error.code()),
            _ => None,
        }
    }

    fn ask_of(session: SessionId, ticket: Ticket, interner: &mut Interner) -> Ask {
        let spec = ServerSpec::from_value("s", &serde_json::json!({ "command": "x" })).unwrap();
        let (fingerprint, offered) = (spec.fingerprint("pool", &[]), Offered::default());
        let context = &crate::auth::Context::default_of_tests();
        let wanted = KeyRequest {
            spec: &Arc::new(spec),
            host: None,
            fingerprint,
            offered,
            owner: None,
            context,
            authority: &Authority::Host,
            written: None,
            turn: StartPriority::default(),
        };
        let (server, key) = interner.key("s", &wanted);
        let (family, share) = (Family::Local, Share::Pool);
        let on_tool_change = Default::default();
        let reconnect = None;
        Ask { ticket, session, key, server, fingerprint, on_tool_change, family, share, reconnect }
    }

    /// SPEC 9.6: 65,536 questions may be open. One more is refused and leaves nothing; a drain is
    /// taken all the same.
    #[test]
    fn a_question_too_many_is_refused_at_once_and_a_drain_never_is() {
        let driver = Driver::new(PoolOptions::default(), Observer::none()).unwrap();
        for number in 0..QUESTIONS_MAX {
            let asked = PendingTicket { answer: Box::new(drop), deferred: None, acquire: None };
            driver.core().questions.open.insert(Ticket(u64::MAX - number as u64), asked);
        }
        let (send, answers) = mpsc::channel();
        let answer = || -> TicketCallback {
            let send = send.clone();
            Box::new(move |answered| send.send(answered).unwrap())
        };
        let session = SessionId(1);
        driver.ask(
            |ticket, interner| PoolInput::Acquire(ask_of(session, ticket, interner)),
            answer(),
        );
        let Ok(TicketReply::Refused(error)) = answers.try_recv() else { panic!("no refusal") };
        assert_eq!(error.code(), ErrorCode::Limit);
        assert_eq!(error.detail()["limit"], "queued_commands");
        assert!(driver.core().interner.keyed(KeyId(0)).is_none(), "its key is kept");

        let restart = |ticket, _: &mut Interner| PoolInput::Restart {
            ticket,
            server: ServerId(0),
            index: None,
        };
        driver.ask(restart, answer());
        assert_eq!(code_of(&answers.try_recv().unwrap()), Some(ErrorCode::Limit));

        let ask =
            Box::new(move |ticket, interner: &mut Interner| ask_of(session, ticket, interner));
        driver.want(vec![Wish { ask, answer: answer(), deferred: Arc::new(|_, _| ()) }]);
        assert_eq!(code_of(&answers.try_recv().unwrap()), Some(ErrorCode::Limit));
        assert!(driver.core().interner.keyed(KeyId(0)).is_none(), "its key is kept");

        let (how, deadline) = (DrainMode::Finish, driver.now());
        driver.ask(|ticket, _| PoolInput::Drain { ticket, how, deadline }, answer());
        assert!(matches!(answers.try_recv().unwrap(), TicketReply::Drained(_)));
    }
}
