//! The first words to a server. One that is unknown is asked with `server/discover`; whatever it
//! makes of that, it is connected: an error or silence stand for the legacy era, and one that the
//! question ended or confused is begun anew with `initialize` alone (SPEC 4.8).

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use trunkline_pool::config::Era;
use trunkline_pool::interface::words;

use super::Opening;
use super::discover::modern_code;
use crate::client::connection::Link;
use crate::client::errors;
use crate::{Error, ErrorCode};

/// How long a process may take over the question once it has read it, before it is greeted as one
/// of the legacy era too. Nothing is lost when it answers later.
const ANSWER_WAIT: Duration = Duration::from_secs(1);

/// How often a process is looked at that has not read the question: most of them are still
/// starting.
const READ_LOOK: Duration = Duration::from_millis(50);

/// A greeting that came to nothing.
pub(in crate::client) struct GreetingFailure {
    /// Why.
    pub error: Error,
    /// How a new connection to the same server may do better.
    pub anew: Option<Opening>,
}

impl GreetingFailure {
    /// There is nothing to be done about it.
    pub(in crate::client) fn for_good(error: Error) -> GreetingFailure {
        GreetingFailure { error, anew: None }
    }
}

impl Link {
    /// Finds out what the server speaks, and keeps what it said of itself. The caller sets the
    /// deadline; at `patience` a process that has read what it was sent, and answered nothing,
    /// counts as confused.
    ///
    /// A dropped future ends rmcp's part; the wire is not touched.
    pub(in crate::client) async fn greet(
        self: &Arc<Self>,
        opening: Opening,
        patience: Instant,
    ) -> std::result::Result<(), GreetingFailure> {
        match opening {
            Opening::Probe => self.probe(patience).await,
            Opening::Known(Era::Modern) => match self.discover().await {
                Ok(Era::Modern) => Ok(()),
                Ok(Era::Legacy) => self.shake_hands_after(Opening::Probe).await,
                Err(error) => Err(GreetingFailure::for_good(error)),
            },
            Opening::Known(Era::Legacy) => self.shake_hands_alone(Some(Opening::Probe)).await,
            Opening::Only(Era::Legacy) => self.shake_hands_alone(None).await,
            Opening::Only(Era::Modern) => match self.discover().await {
                Ok(Era::Modern) => Ok(()),
                Ok(Era::Legacy) => Err(GreetingFailure::for_good(self.not_modern())),
                Err(error) => Err(GreetingFailure::for_good(error)),
            },
        }
    }

    /// How the same server is greeted anew when this connection ended under the question: a process
    /// that never read it, or a websocket that was never open, ended for a reason of its own.
    pub(in crate::client) fn ended_by_question(&self, opening: Opening) -> Option<Opening> {
        let asked = opening == Opening::Probe && self.facts.get().is_none();
        let is_blamed = asked && self.wire.may_have_ended_by_word();
        is_blamed.then_some(Opening::Known(Era::Legacy))
    }

    async fn probe(
        self: &Arc<Self>,
        patience: Instant,
    ) -> std::result::Result<(), GreetingFailure> {
        let mut discovering = std::pin::pin!(self.discover());
        let answer = tokio::select! {
            biased;
            answer = &mut discovering => Some(answer),
            () = self.unanswered() => None,
        };
        match answer {
            Some(Ok(Era::Modern)) => return Ok(()),
            Some(Ok(Era::Legacy)) => {
                return self.shake_hands_after(Opening::Known(Era::Legacy)).await;
            }
            Some(Err(error)) => return Err(GreetingFailure::for_good(error)),
            None => {}
        }
        // Beside the open question: whichever answer comes first settles it.
        self.handshake.set_question(true);
        let mut shaking = std::pin::pin!(self.shake_hands());
        let mut patient = std::pin::pin!(tokio::time::sleep(self.options.timeout / 6));
        let (mut is_open, mut is_patient, mut refusal) = (true, true, None);
        loop {
            tokio::select! {
                biased;
                answer = &mut discovering, if is_open => match answer {
                    Ok(Era::Modern) => {
                        self.handshake.end();
                        return Ok(());
                    }
                    Ok(Era::Legacy) | Err(_) => {
                        self.handshake.set_question(false);
                        is_open = false;
                    }
                },
                shaken = &mut shaking, if refusal.is_none() => match shaken {
                    Ok(()) => return self.choose_legacy(),
                    Err(error) => refusal = Some(error),
                },
                // A handshake that fails counts from now on, though the question may be answered
                // still.
                () = &mut patient, if is_patient => {
                    self.handshake.set_question(false);
                    is_patient = false;
                }
                () = self.confused(patience) => {
                    let error = errors::slow(&self.server, words::deadline::CONNECT, self.options.timeout);
                    return Err(GreetingFailure { error, anew: Some(Opening::Known(Era::Legacy)) });
                }
            }
            // A process that refuses what it is sent beside the question may answer that still.
            let counts = !is_open || (!is_patient && self.wire.child().is_none());
            if let Some(error) = refusal.as_ref().filter(|_| counts) {
                return Err(self.refused_handshake(error.clone(), Opening::Known(Era::Legacy)));
            }
        }
    }

    /// After the question was answered with something that only a legacy server says.
    async fn shake_hands_after(&self, anew: Opening) -> std::result::Result<(), GreetingFailure> {
        self.metadata.clear();
        match self.shake_hands().await {
            Ok(()) => Ok(()),
            Err(error) => Err(self.refused_handshake(error, anew)),
        }
    }

    async fn shake_hands_alone(
        &self,
        anew: Option<Opening>,
    ) -> std::result::Result<(), GreetingFailure> {
        self.shake_hands().await.map_err(|error| match anew {
            Some(anew) => self.refused_handshake(error, anew),
            None => GreetingFailure::for_good(error),
        })
    }

    /// A process that refuses the handshake may do so for what came before, or because it no longer
    /// is what it was; one that speaks an unknown revision does not. A remote server has nothing
    /// before it, so that its own word counts: that of the modern era.
    fn refused_handshake(&self, error: Error, anew: Opening) -> GreetingFailure {
        let refusal = error.cause().filter(|it| it.code() == ErrorCode::ServerError);
        let may_help = |refusal: &Error| {
            let is_modern = modern_code(refusal).is_some() && anew == Opening::Probe;
            self.wire.child().is_some() || is_modern
        };
        let anew = Some(anew).filter(|_| refusal.is_some_and(may_help));
        GreetingFailure { error, anew }
    }

    fn choose_legacy(&self) -> std::result::Result<(), GreetingFailure> {
        self.metadata.clear();
        Ok(())
    }

    /// Resolves when a good server would have answered.
    async fn unanswered(&self) {
        if self.wire.child().is_none() {
            return self.unanswered_by_remote().await;
        }
        while !self.wire.was_read() {
            tokio::time::sleep(READ_LOOK).await;
        }
        tokio::time::sleep(ANSWER_WAIT.min(self.options.timeout / 3)).await;
    }

    /// The same of a remote server. Nothing says whether it has seen the question, which has two
    /// thirds of the time that is left; and again, where the server asked for time, after which it
    /// is asked once more.
    async fn unanswered_by_remote(&self) {
        let mut asked = Instant::now();
        loop {
            let left = self.given_up_at.saturating_duration_since(asked);
            tokio::time::sleep_until(asked + left / 3 * 2).await;
            let until = Instant::from_std(self.pulse.left_alone_until());
            if until <= asked {
                return;
            }
            asked = until;
        }
    }

    /// Resolves when a process that was asked shows no sign of understanding anything any more.
    async fn confused(&self, patience: Instant) {
        if self.wire.child().is_none() {
            return std::future::pending().await;
        }
        tokio::time::sleep_until(patience).await;
        while !self.wire.was_read() {
            tokio::time::sleep(READ_LOOK).await;
        }
    }

    fn not_modern(&self) -> Error {
        let message = "the server does not speak the modern era, which its configuration asks for";
        errors::protocol(&self.server, message)
            .with_hint("take `era` out of the server's configuration")
    }
}
