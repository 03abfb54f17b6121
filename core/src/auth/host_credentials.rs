//! The host as a source of credentials: its handler `credentials`, asked when a server refuses what
//! it was sent.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use serde_json::json;
use tokio::sync::watch;
use trunkline_pool::interface::words;
use trunkline_pool::options::{HandlerKind, Handlers, ServerRequest};

use super::credentials::grant_types::{Reason, Token};
use super::host_token;
use crate::Error;
use crate::net::www_authenticate::Challenge;
use crate::runtime::handling::{contained, failed};

/// What the host has for its answer, unless handlers have less: the message that was refused waits
/// for it.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(30);

/// The method by which such a request is known among others.
const METHOD: &str = "credentials";

/// The handler of a pool or session, while that is open.
#[derive(Clone)]
pub(super) struct HostCredentials {
    handlers: watch::Sender<Option<Handlers>>,
    /// Whose it is; empty for the pool's.
    session: Arc<str>,
    patience: Duration,
}

/// Why it gave nothing.
#[derive(Clone, Debug)]
pub(crate) enum Denial {
    /// It has none, or does not want to.
    Refused,
    /// It gave something that is no token, with the error that says so; or it panicked.
    Failed(Option<Error>),
    /// It took too long.
    Timeout,
}

impl Denial {
    /// The error of a server that was left without, with the reason in `detail.handler`, and what
    /// was wrong as its cause.
    pub(crate) fn explain(&self, error: Error) -> Error {
        let error = error.with_detail("handler", self.word());
        match self {
            Denial::Failed(Some(cause)) => error.with_cause(cause.clone()),
            Denial::Refused | Denial::Failed(None) | Denial::Timeout => error,
        }
    }

    pub(super) fn word(&self) -> &'static str {
        match self {
            Denial::Refused => words::denial::REFUSED,
            Denial::Failed(_) => words::denial::FAILED,
            Denial::Timeout => words::denial::TIMEOUT,
        }
    }
}

impl HostCredentials {
    /// The source among these handlers, if there is one.
    pub(super) fn of(
        handlers: &Handlers,
        session: &str,
        patience: Duration,
    ) -> Option<HostCredentials> {
        let patience = patience.min(ANSWER_WAIT_MAX);
        handlers.has_credentials().then(|| {
            let handlers = watch::Sender::new(Some(handlers.clone()));
            HostCredentials { handlers, session: session.into(), patience }
        })
    }

    /// Nobody is asked any more; who answers at this moment is told so by the drop of what it does.
    pub(super) fn close(&self) {
        self.handlers.send_replace(None);
    }

    /// Who is asked from here on, after a [`close`](Self::close).
    pub(super) fn reopen(&self, handlers: &Handlers) {
        self.handlers.send_replace(Some(handlers.clone()));
    }

    /// Asks the host. No mutex is held meanwhile; what waits for the same credentials waits for the
    /// answer.
    pub(super) async fn ask(
        &self,
        server: &Arc<str>,
        home: Option<&Url>,
        reason: Reason,
        refusal: Option<&str>,
    ) -> Result<Token, Denial> {
        let challenge = Challenge::of(refusal.into_iter());
        let params = json!({
            "url": home.map(Url::to_string),
            "reason": reason.word(),
            "scopes": challenge.scopes().collect::<Vec<_>>(),
            "challenge": refusal,
        });
        let request = ServerRequest::new(
            HandlerKind::Credentials,
            self.session.clone(),
            METHOD,
            &params.to_string(),
        );
        let request = request.from_server(server.clone(), 0, 0);
        let mut closed = self.handlers.subscribe();
        let handlers = closed.borrow_and_update().clone().ok_or(Denial::Refused)?;
        let begun = catch_unwind(AssertUnwindSafe(|| handlers.answer(request)));
        let handling = begun.map_err(|_| Denial::Failed(None))?.ok_or(Denial::Refused)?;
        let answer = tokio::select! {
            biased;
            answer = contained(handling) => answer,
            _ = closed.changed() => return Err(Denial::Refused),
            () = tokio::time::sleep(self.patience) => return Err(Denial::Timeout),
        };
        let answer = answer.map_err(|refusal| match refusal.unfit() {
            Some(path) => Denial::Failed(Some(host_token::unfit(path, &refusal.message))),
            None if refusal == failed() => Denial::Failed(None),
            None => Denial::Refused,
        })?;
        let given = host_token::token_in(&answer).map_err(|error| Denial::Failed(Some(error)))?;
        given.ok_or(Denial::Refused)
    }
}
