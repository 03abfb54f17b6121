//! Streamable HTTP/1.1, both eras (SERVING A2, A3, A4).
//!
//! A request passes in this order: `Host` and `Origin`, the token, the path, the limits, its
//! method, its headers, and only then its body.

mod body;
mod events;
mod get;
pub(super) mod idle;
mod legacy;
pub(super) mod peer;
mod post;
mod replies;
mod reply_body;
mod routes;
pub(super) mod sessions;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

use self::peer::Peer;
use super::front::Front;

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
