//! What the reader and rmcp share while hands are shaken.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleClient;
use rmcp::service::RxJsonRpcMessage;
use tokio::sync::{mpsc, watch};

use crate::client::introduction::Introduction;

/// The link between the reader and rmcp.
#[derive(Default)]
pub(in crate::client) struct Handshake {
    pub inner: Arc<Mutex<HandshakeState>>,
    /// Whether a question is open beside it, whose answer may make it needless.
    question: watch::Sender<bool>,
}

#[derive(Default)]
pub(in crate::client) struct HandshakeState {
    /// The id of the request whose answer rmcp waits for.
    pub expected: Option<u64>,
    pub to_rmcp: Option<mpsc::Sender<RxJsonRpcMessage<RoleClient>>>,
    /// The error that the server answered with: the text of the member.
    pub refusal: Option<String>,
    /// What the server said of itself in its answer.
    pub said: Option<Introduction>,
    pub ended: bool,
}

impl Handshake {
    /// Whether this is the answer that rmcp waits for.
    pub(in crate::client) fn expects(&self, id: u64) -> bool {
        lock(&self.inner).expected == Some(id)
    }

    /// A question is open beside it, or is not any more.
    pub(in crate::client) fn set_question(&self, is_open: bool) {
        self.question.send_replace(is_open);
    }

    /// Waits until no question is open beside it; whether it is wanted then.
    pub(in crate::client) fn still_wanted(&self) -> impl Future<Output = bool> + use<> {
        let (inner, mut question) = (self.inner.clone(), self.question.subscribe());
        async move {
            let _ = question.wait_for(|is_open| !is_open).await;
            !lock(&inner).ended
        }
    }

    /// Lets go of rmcp. It is told nothing more.
    pub(in crate::client) fn end(&self) {
        let mut inner = lock(&self.inner);
        inner.ended = true;
        inner.expected = None;
        let rest = inner.to_rmcp.take();
        drop(inner);
        drop(rest);
        self.set_question(false);
    }
}

pub(in crate::client) fn lock(inner: &Mutex<HandshakeState>) -> MutexGuard<'_, HandshakeState> {
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}
