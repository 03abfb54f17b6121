//! Streamable HTTP/1.1, both eras (SERVING A2, A3, A4).
//!
//! A request passes in this order: `Host` and `Origin`, the token, the path, the limits, its
//! method, its headers, and only then its body.

mod body;
mod events;
mod get;
mod legacy;
mod post;
mod replies;
mod routes;
mod sessions;

use std::sync::{Arc, Mutex, PoisonError};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

pub(super) use self::sessions::{LegacySessions, end_idle};
use super::front::Front;
use super::quotas::{QuotaKind, Seat};
use crate::serve::lane::Principal;

/// The other side of a connection.
pub(super) struct Peer {
    /// Who it is, where the system says so.
    user: Option<Principal>,
    /// The share of the one whose requests it carries.
    seat: Mutex<Option<Seat>>,
}

impl Peer {
    /// One that has to show a token.
    pub(super) fn of_port() -> Peer {
        Peer { user: None, seat: Mutex::new(None) }
    }

    /// One that the system names; without a seat it has too many connections.
    pub(super) fn of_socket(user: Principal, seat: Option<Seat>) -> Peer {
        Peer { user: Some(user), seat: Mutex::new(seat) }
    }

    /// Counts the connection as one of this principal's, if that has room for it.
    fn is_seated(&self, front: &Front, who: &Principal) -> bool {
        let mut seat = self.seat.lock().unwrap_or_else(PoisonError::into_inner);
        if seat.as_ref().is_some_and(|seat| seat.who() == who) {
            return true;
        }
        *seat = front.quotas.take(who, QuotaKind::Connections, 1);
        seat.is_some()
    }
}

/// Serves the requests of a connection until it is closed by its client, fails, or the endpoint
/// drains.
///
/// A dropped future drops the requests that are answered, as a lost connection does.
pub(super) async fn serve(
    front: Arc<Front>,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: Peer,
    mut drain: watch::Receiver<bool>,
) {
    let peer = Arc::new(peer);
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(front.bounds.header_wait)
        .max_header_size(front.bounds.header_bytes);
    let answered = front.clone();
    let service = service_fn(move |request| {
        let (front, peer) = (answered.clone(), peer.clone());
        async move { Ok::<_, std::convert::Infallible>(routes::answer(front, peer, request).await) }
    });
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = &mut connection => Some(ended),
        _ = drain.wait_for(|drains| *drains) => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended");
    }
}
