//! What comes from a server: each frame goes where it belongs, in order; and how a loss is seen and
//! told.
//!
//! The exit of the server's own process is the loss, although a helper may hold its output open.
//! Calls are answered first; the report waits at most 100 ms for the exit status.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;
use trunkline_pool::catalog::ListKind;
use trunkline_pool::interface::words;
use trunkline_pool::json::readable_members;
use trunkline_pool::lenient::{kinds, lenient};
use trunkline_pool::message::{Heard, Message, heard, heard_of};
use trunkline_pool::state::LossReason;

use super::requests::{complete, fail};
use crate::client::connection::{Life, Link, Loss};
use crate::client::era::ResultType;
use crate::client::errors;
use crate::client::lists::subscriptions::Id;
use crate::client::state::ignored_counts::count;
use crate::client::state::list_capabilities::ListCapabilities;
use crate::platform::Exit;
use crate::transport::{
    BoxFuture, Child, DisconnectCause, Inbound, MayHaveRun, ServerLine, UndeliveredAnswer, Via,
    of_server,
};
use crate::{Error, Outcome, Result};

/// How long the report of a loss waits for the exit of the process, so that it can name the status.
const EXIT_STATUS_WAIT: Duration = Duration::from_millis(100);

/// How long it waits beyond that where the process is known to have ended, or to be about to:
/// the word on how it ended may be late, on a busy machine.
const ENDING_WAIT: Duration = Duration::from_millis(1_400);

/// How long the exit is waited for after the loss was reported without it.
const LATE_EXIT_WAIT: Duration = Duration::from_secs(30);

/// How long the calls in flight wait with it: a caller that hears of a lost call then mostly finds
/// the loss reported, since the report follows the answers at once when the exit is known. That is
/// mostly within a millisecond. Half of what SPEC 5.6 leaves.
const ANSWER_WAIT: Duration = Duration::from_millis(5);

/// How long a loss waits for the exit of the process.
struct Waits {
    /// Before the calls in flight are answered.
    answers: Duration,
    /// After that, before the loss is reported.
    report: Duration,
}

/// A process that ended is mostly seen by its output. What else is seen says by itself why the
/// connection is lost, or was seen with some delay already.
fn waits(sighting: &DisconnectCause) -> Waits {
    let (answers, report) = match sighting {
        DisconnectCause::OutputClosed => (ANSWER_WAIT, EXIT_STATUS_WAIT - ANSWER_WAIT),
        DisconnectCause::InputClosed => (Duration::ZERO, EXIT_STATUS_WAIT),
        DisconnectCause::Broken(_) | DisconnectCause::SessionLost(_) | DisconnectCause::Silent => {
            (Duration::ZERO, Duration::ZERO)
        }
    };
    Waits { answers, report }
}

impl Inbound for Link {
    fn heard(&self) {
        self.pulse.beat();
    }

    fn take(&self, line: ServerLine<'_>, via: Via) -> Result<()> {
        self.take_line(line, via)
    }

    fn take_last(&self, line: ServerLine<'_>) -> Result<()> {
        match line {
            // A server that died while writing leaves half a frame; that is no fault of its own.
            ServerLine::Whole(text) if matches!(heard(text), Heard::Broken { .. }) => Ok(()),
            line => self.take_line(line, Via::Common),
        }
    }

    fn take_answer(&self, request: u64, frame: &[u8]) -> Option<UndeliveredAnswer> {
        let Heard::Message(message) = heard(frame) else { return None };
        match message {
            Message::Result { id, result } if id == request => {
                let said = self.said_by(result);
                if said == Ok(ResultType::InputRequired) {
                    return None;
                }
                let (flight, reply) = (self.calls.take(id)?, self.judge(result, said));
                Some(UndeliveredAnswer::new(|| complete(flight.payload.done, reply)))
            }
            Message::Error { id: Some(id), error } if id == request => {
                let (flight, error) = (self.calls.take(id)?, self.refused(error));
                Some(UndeliveredAnswer::new(|| fail(flight, error)))
            }
            _ => None,
        }
    }

    fn awaited(&self) -> usize {
        self.calls.awaited()
    }

    fn deadline(&self, request: u64) -> Option<Instant> {
        self.calls.deadline(request)
    }

    fn awaits(&self, request: u64) -> bool {
        self.calls.contains(request) || self.handshake.expects(request)
    }

    fn given_up_at(&self) -> Option<tokio::time::Instant> {
        (self.stands() == Life::Connecting).then_some(self.given_up_at)
    }

    fn wants_handshake(&self) -> BoxFuture<'static, bool> {
        Box::pin(self.handshake.still_wanted())
    }

    fn refuse(&self, request: u64, error: Error, doubt: MayHaveRun) {
        let is_over = doubt == MayHaveRun::Settled || error.outcome() == Some(Outcome::NotSent);
        let flight = match is_over {
            true => self.calls.settle(request),
            false => self.calls.give_up(request),
        };
        if let Some(flight) = flight {
            fail(flight, error);
        }
    }

    fn busy(&self, wait: Duration) {
        self.pulse.leave_alone(wait);
    }

    fn gap(&self) {
        self.tell(|events| events.resources_missed());
        if self.declared.get().is_some_and(ListCapabilities::change) {
            self.tell(|events| events.list_changed(ListKind::Tools));
        }
    }

    fn deaf(&self) {
        self.pulse.is_deaf.store(true, Ordering::Relaxed);
    }

    fn stderr(&self, line: &str) {
        self.tell(|events| events.stderr(line));
    }

    fn lost(self: Arc<Self>, sighting: DisconnectCause) -> BoxFuture<'static, ()> {
        Box::pin(async move { self.lose(sighting).await })
    }
}

impl Link {
    /// Ends a connection that was lost: every call in flight first, then the report, then the
    /// process tree.
    pub(in crate::client) async fn lose(self: &Arc<Self>, sighting: DisconnectCause) {
        let before = self.advance(Life::Lost, |life| matches!(life, Life::Connecting | Life::Open));
        let is_first = matches!(before, Life::Connecting | Life::Open);
        let exited = async |limit: Duration| match self.wire.child() {
            Some(child) if limit.is_zero() => child.exit_now(),
            Some(child) => tokio::time::timeout(limit, child.exited()).await.ok(),
            None => None,
        };
        let waits = waits(&sighting);
        let mut exit = if is_first { exited(waits.answers).await } else { None };
        self.cut();
        self.begin_end();
        if !is_first {
            return;
        }
        if exit.is_none() {
            exit = exited(waits.report).await;
        }
        let is_ending = || self.wire.child().is_some_and(Child::is_ending);
        let mut is_late = exit.is_none() && !waits.report.is_zero() && is_ending();
        if is_late {
            exit = exited(ENDING_WAIT).await;
            is_late = exit.is_none();
            exit = exit.or(Some(Exit::Unknown));
        }
        let closed = |stream| match self.wire.child() {
            Some(_) => errors::protocol(&self.server, format!("the server closed {stream}")),
            None => errors::unconnected(&self.server, "the server closed the connection"),
        };
        let (reason, error) = match (sighting, exit) {
            (DisconnectCause::Broken(error), _) => (LossReason::TransportError, error),
            (DisconnectCause::SessionLost(error), _) => (LossReason::SessionLost, error),
            (DisconnectCause::Silent, None) => {
                (LossReason::Keepalive, errors::silent(&self.server, &self.options))
            }
            (_, Some(exit)) => {
                let error = errors::exited(&self.server, exit, &self.stderr_lines());
                (LossReason::TransportClosed, error)
            }
            (DisconnectCause::OutputClosed, None) => {
                (LossReason::TransportClosed, closed("its standard output"))
            }
            (DisconnectCause::InputClosed, None) => {
                (LossReason::TransportError, closed("its standard input"))
            }
        };
        let loss = Loss { reason, error };
        tracing::info!(server = %self.server, error = %loss.error, "connection lost");
        self.ending.lost.send_replace(Some(loss.clone()));
        if before == Life::Open && self.stands() == Life::Lost {
            self.tell(|events| events.lost(loss.reason, loss.error));
            if is_late {
                self.tell_late_exit().await;
            }
        }
    }

    /// Tells how the process of a connection that was lost ended, once that is heard.
    async fn tell_late_exit(&self) {
        let Some(child) = self.wire.child() else { return };
        match tokio::time::timeout(LATE_EXIT_WAIT, child.exited()).await {
            Ok(Exit::Unknown) | Err(_) => {}
            Ok(exit) => {
                let error = errors::exited(&self.server, exit, &[]);
                tracing::info!(server = %self.server, %error, "the exit of a lost connection");
                self.tell(|events| events.exited_late(error.message()));
            }
        }
    }

    /// # Errors
    /// When the connection cannot go on.
    fn take_line(&self, line: ServerLine<'_>, via: Via) -> Result<()> {
        match line {
            ServerLine::Whole(text) => self.take_text(text, via),
            ServerLine::Oversized(head) => match heard_of(head) {
                Heard::Broken { id } => {
                    let error = errors::limit(&self.server, words::limit::FRAME_BYTES);
                    self.fail_by_id(id, error)
                }
                Heard::Noise | Heard::Message(_) => self.take_noise(head),
            },
        }
    }

    fn take_text(&self, text: &[u8], via: Via) -> Result<()> {
        match heard(text) {
            Heard::Message(message) => self.take_message(message, via),
            Heard::Broken { id } => {
                let message = "the server sent a message that cannot be read";
                self.fail_by_id(id, errors::protocol(&self.server, message))
            }
            Heard::Noise => self.take_noise(text),
        }
    }

    fn take_noise(&self, text: &[u8]) -> Result<()> {
        self.ignored.noise(text, &self.redactor);
        Ok(())
    }

    fn take_message(&self, message: Message<'_>, via: Via) -> Result<()> {
        match message {
            Message::Stray => {
                count(&self.ignored.replies);
                Ok(())
            }
            Message::Result { id, result } => {
                let mut said = self.said_by(result);
                if said == Ok(ResultType::InputRequired) && self.calls.takes_input_requests(id) {
                    said = Ok(ResultType::Complete);
                }
                if said == Ok(ResultType::InputRequired) && self.take_round(id, result) {
                    return Ok(());
                }
                if let Some(flight) = self.calls.settle(id) {
                    complete(flight.payload.done, self.judge(result, said));
                    return Ok(());
                }
                self.take_handshake_reply(Some(id), Ok(result))
            }
            Message::Error { id, error } => {
                if let Some(flight) = id.and_then(|id| self.calls.settle(id)) {
                    fail(flight, self.refused(error));
                    return Ok(());
                }
                self.take_handshake_reply(id, Err(error))
            }
            Message::Request { id, method, params } => {
                self.take_request(id, &method, params.unwrap_or("{}"), via);
                Ok(())
            }
            Message::Notification { method, params } => {
                self.take_notification(&method, params.unwrap_or("{}"), via);
                Ok(())
            }
        }
    }

    /// The error that the server answered with.
    pub(in crate::client) fn refused(&self, error: &str) -> Error {
        of_server(&self.server, &self.redactor.json(error))
    }

    /// Fails the request that a bad frame belongs to.
    ///
    /// # Errors
    /// The same error, when that is not known: then the connection fails.
    fn fail_by_id(&self, id: Option<u64>, error: Error) -> Result<()> {
        let Some(id) = id.filter(|id| !self.handshake.expects(*id)) else {
            return Err(error);
        };
        match self.calls.settle(id) {
            Some(flight) => {
                complete(flight.payload.done, Err(error.with_outcome(Outcome::Unknown)))
            }
            None => count(&self.ignored.replies),
        }
        Ok(())
    }

    fn take_notification(&self, method: &str, params: &str, via: Via) {
        match method {
            "notifications/progress" => self.take_progress(params),
            "notifications/tools/list_changed" => self.take_list_changed(ListKind::Tools, params),
            "notifications/prompts/list_changed" => {
                self.take_list_changed(ListKind::Prompts, params);
            }
            "notifications/resources/list_changed" => {
                self.take_list_changed(ListKind::Resources, params);
            }
            "notifications/resources/updated" => self.take_updated(params),
            "notifications/subscriptions/acknowledged" => self.take_acknowledged(params),
            "notifications/message" => {
                let params = self.redactor.json(params);
                let callers = self.calls.log_callers(via, Instant::now());
                self.tell(|events| events.log(&params, callers));
            }
            "notifications/elicitation/complete" => {
                match readable_members(params).get("elicitationId").and_then(Value::as_str) {
                    Some(id) => {
                        let shown = self.redactor.text(id);
                        self.tell(|events| events.elicitation_completed(id, &shown));
                    }
                    None => count(&self.ignored.notifications),
                }
            }
            "notifications/cancelled" if self.ends_stream(params) => {}
            "notifications/cancelled" => self.take_cancelled(params),
            _ => count(&self.ignored.notifications),
        }
    }

    fn take_list_changed(&self, list: ListKind, params: &str) {
        if !self.is_ours(params) {
            return count(&self.ignored.notifications);
        }
        self.pulse.announces.store(true, Ordering::Relaxed);
        self.tell(|events| events.list_changed(list));
    }

    fn take_progress(&self, params: &str) {
        #[derive(Deserialize)]
        struct Progress {
            #[serde(rename = "progressToken")]
            token: Id,
        }
        let progress = serde_json::from_str::<Progress>(params).ok();
        let token = progress.and_then(|Progress { token }| token.number());
        let read = lenient(params, &kinds::PROGRESS);
        if has_dropped(params, &read) {
            count(&self.ignored.notifications);
        }
        // Without its number it is a sign of life and no report.
        let is_report = has_number(&read);
        let known = token.is_some_and(|token| {
            self.calls.progress(token, |deliver| {
                if !is_report {
                    return;
                }
                let params = self.redactor.json(&read);
                let deliver = std::panic::AssertUnwindSafe(|| deliver(&params));
                if std::panic::catch_unwind(deliver).is_err() {
                    tracing::error!(server = %self.server, "a progress receiver panicked");
                }
            })
        });
        if !known {
            count(&self.ignored.notifications);
        }
    }
}

/// Whether a notification of progress says how far it is.
fn has_number(read: &str) -> bool {
    #[derive(Deserialize)]
    struct Report {
        progress: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_str::<Report>(read).is_ok_and(|report| report.progress.is_some())
}

/// Whether a member of a notification of progress was none that could be read; `null` is none.
fn has_dropped(params: &str, read: &str) -> bool {
    let members = |text| readable_members(text).into_iter().filter(|(_, value)| !value.is_null());
    params != read && members(params).count() != members(read).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 5.6: the calls are answered within 10 ms of the sight of a loss, whatever the exit of
    /// the process takes.
    #[test]
    fn calls_hardly_wait_for_the_exit_of_the_process() {
        let broken = DisconnectCause::Broken(errors::protocol(&"s".into(), "broken"));
        for sighting in [broken, DisconnectCause::Silent] {
            let Waits { answers, report } = waits(&sighting);
            assert_eq!((answers, report), (Duration::ZERO, Duration::ZERO));
        }
        // Who sees a broken input has waited for the last answers before.
        assert_eq!(waits(&DisconnectCause::InputClosed).answers, Duration::ZERO);
        let Waits { answers, report } = waits(&DisconnectCause::OutputClosed);
        assert!(answers <= Duration::from_millis(5) && answers + report == EXIT_STATUS_WAIT);
    }
}
