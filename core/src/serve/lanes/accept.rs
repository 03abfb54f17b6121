//! Takes connections, and gives each to its lane.
//!
//! A Unix socket serves HTTP and lines: the first byte decides. A request line begins with the
//! upper-case letter of a method, a message with `{`, `[` or white space, and a first line that
//! chooses the path of a connection of lines with `/`. One path is then all that a client has to
//! be told, whichever lane it speaks.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::front::Front;
use super::http;
use super::http::peer::Peer;
use super::lines;
use super::quotas::{QuotaKind, Seat};
use super::rpc_errors;
use super::stalled::GuardedStream;
use crate::serve::lane::Principal;

/// Connections of one listener, over all principals: nobody is known before a request.
const CONNECTIONS_MAX: usize = 1024;

/// After an error of the system, as when it has no descriptor left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves the connections of a port until the endpoint drains, then waits for those that are left.
pub(super) async fn serve_tcp(
    front: Arc<Front>,
    listener: TcpListener,
    drain: watch::Receiver<bool>,
) {
    let serve = |stream: TcpStream, drain| {
        // A frame is written whole, and its client waits for it.
        let _ = stream.set_nodelay(true);
        let stream = GuardedStream::new(stream, Vec::new(), front.bounds.stall);
        Some(http::serve(front.clone(), stream, Peer::of_port(), drain))
    };
    let accept = move |context: &mut Context<'_>| listener.poll_accept(context).map_ok(|it| it.0);
    serve_all(accept, serve, drain).await;
}

/// The same for a Unix socket, whose peers the system names.
#[cfg(unix)]
pub(super) async fn serve_unix(
    front: Arc<Front>,
    listener: tokio::net::UnixListener,
    user: u32,
    drain: watch::Receiver<bool>,
) {
    let serve = |stream, drain| {
        let who = peer_of(&stream, user)?;
        Some(serve_either(front.clone(), stream, who, drain))
    };
    let accept = move |context: &mut Context<'_>| listener.poll_accept(context).map_ok(|it| it.0);
    serve_all(accept, serve, drain).await;
}

/// Takes connections until the endpoint drains, each in a task of its own.
async fn serve_all<S, F>(
    mut accept: impl FnMut(&mut Context<'_>) -> Poll<io::Result<S>>,
    serve: impl Fn(S, watch::Receiver<bool>) -> Option<F>,
    mut drain: watch::Receiver<bool>,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let mut connections = JoinSet::new();
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let accepted = tokio::select! {
            accepted = std::future::poll_fn(&mut accept) => accepted,
            _ = drain.wait_for(|drains| *drains) => break,
            Some(_) = connections.join_next() => continue,
        };
        let Some(stream) = kept(accepted).await else { continue };
        let Ok(permit) = room.clone().try_acquire_owned() else { continue };
        let Some(served) = serve(stream, drain.clone()) else { continue };
        connections.spawn(async move {
            let _permit = permit;
            served.await;
        });
    }
    // The listener goes with it: the system holds no connection that nobody serves.
    drop(accept);
    while connections.join_next().await.is_some() {}
}

/// The stream of a connection that came; after an error, nothing and a pause.
async fn kept<S>(accepted: io::Result<S>) -> Option<S> {
    match accepted {
        Ok(stream) => Some(stream),
        Err(error) => {
            tracing::warn!(%error, "a connection cannot be accepted");
            tokio::time::sleep(ACCEPT_PAUSE).await;
            None
        }
    }
}

/// The principal of a peer, which must be this user; others are closed unanswered.
#[cfg(unix)]
fn peer_of(stream: &tokio::net::UnixStream, user: u32) -> Option<Principal> {
    use crate::serve::lane::PrincipalKind;
    let peer = stream.peer_cred().ok()?.uid();
    if peer != user {
        tracing::warn!(uid = peer, "a connection of another user is refused");
        return None;
    }
    Some(Principal { kind: PrincipalKind::User, name: peer.to_string().into(), profile: None })
}

/// Serves one connection of a socket by the lane that its first byte chooses.
#[cfg_attr(not(unix), allow(dead_code, reason = "there are no sockets"))]
async fn serve_either(
    front: Arc<Front>,
    mut stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    who: Principal,
    mut drain: watch::Receiver<bool>,
) {
    let seat = front.quotas.take(&who, QuotaKind::Connections, 1);
    let mut first = vec![0; 1];
    let read = tokio::select! {
        read = tokio::time::timeout(front.bounds.idle, stream.read(&mut first)) => read,
        _ = drain.wait_for(|drains| *drains) => return,
    };
    if !matches!(read, Ok(Ok(1))) {
        return;
    }
    let is_http = first[0].is_ascii_uppercase();
    let stream = GuardedStream::new(stream, first, front.bounds.stall);
    if is_http {
        return http::serve(front, stream, Peer::of_socket(who, seat), drain).await;
    }
    serve_lines(front, stream, who, seat).await;
}

async fn serve_lines(
    front: Arc<Front>,
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    who: Principal,
    seat: Option<Seat>,
) {
    let Some(_seat) = seat else {
        let message = "this user has too many connections to the endpoint";
        let line = rpc_errors::error_frame(rpc_errors::INTERNAL_ERROR, message) + "\n";
        // A peer that went has no use for it.
        let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, line.as_bytes()).await;
        return;
    };
    let (reader, writer) = tokio::io::split(stream);
    lines::serve(front, (reader, writer), who).await;
}
