//! An address without a word on what it speaks: the handshake over Streamable HTTP finds out. Where
//! it is refused as servers of the older transport do, HTTP+SSE is tried at the same address (SPEC
//! 10.4).
//!
//! Nothing is remembered: a reconnect probes again, since a server that moves to the new transport
//! keeps its address.

use std::time::Duration;

use tokio::time::Instant;

use super::errors::access::RequestPurpose;
use super::errors::{self, Failure};
use super::http_session::{Dialect, HttpSession};
use super::outgoing::Post;
use super::status_errors::HttpRefusal;
use crate::{Error, ErrorCode};
use trunkline_pool::interface::words;

/// How long the stream of an address that was probed may take to say where messages are posted. A
/// server of that transport says it first of all, so that it takes a round trip; anything else that
/// keeps a stream open may never say it.
const ENDPOINT_WAIT: Duration = Duration::from_secs(5);

/// Whether the answer to this message says what the server speaks.
pub(super) fn is_probe(channel: &HttpSession, post: &Post) -> bool {
    let is_handshake = || post.method().is_some_and(|method| method == "initialize");
    channel.dialect() == Dialect::Unknown && is_handshake()
}

/// The handshake over Streamable HTTP was refused so; HTTP+SSE is tried from now on.
pub(super) fn fall_back(channel: &HttpSession, refusal: &HttpRefusal) {
    let _ = channel.probed.set(refusal.failure(channel, RequestPurpose::Opening).error().clone());
    channel.speaks(Dialect::Events);
}

/// Waits until the stream of HTTP+SSE has said where messages are posted.
///
/// # Errors
/// With what both attempts met, when the stream of an address that was probed says nothing. Where
/// the configuration names the transport the connect's own time bounds the wait.
pub(super) async fn endpoint(channel: &HttpSession) -> Result<(), Failure> {
    let mut listening = channel.listening.subscribe();
    let named = listening.wait_for(|listening| *listening);
    if channel.probed.get().is_none() {
        let _ = named.await;
        return Ok(());
    }
    let begun = Instant::now();
    let until = begun + ENDPOINT_WAIT;
    let until = channel.reported_at().map_or(until, |reported_at| reported_at.min(until));
    match tokio::time::timeout_at(until, named).await {
        Ok(_) => Ok(()),
        Err(_) => {
            let limit = u64::try_from(until.duration_since(begun).as_millis()).unwrap_or(u64::MAX);
            let message = format!("it did not say within {limit} ms where messages are posted");
            let error = Error::new(ErrorCode::Timeout, message)
                .with_server(channel.server.as_ref())
                .with_detail("which", words::deadline::CONNECT)
                .with_detail("limit_ms", limit);
            Err(Failure::Message(explained(channel, error)))
        }
    }
}

/// What failed before a stream of HTTP+SSE said where messages are posted: with what was tried
/// before it, where that was what the address turned out not to speak. What is wrong with the
/// network or the credentials stands for itself.
pub(super) fn explained(channel: &HttpSession, error: Error) -> Error {
    let says_nothing_else = matches!(error.code(), ErrorCode::Protocol | ErrorCode::Timeout);
    match channel.probed.get() {
        Some(first) if says_nothing_else && !*channel.listening.borrow() => {
            errors::neither(channel, first, error)
        }
        _ => error,
    }
}

/// The stream of an address that was probed ended before it said anything.
pub(super) fn ended_early(channel: &HttpSession) -> Option<Error> {
    let is_early = channel.probed.get().is_some() && !*channel.listening.borrow();
    let message = "its stream ended before it said where messages are posted";
    is_early.then(|| explained(channel, errors::protocol(&channel.server, message)))
}
