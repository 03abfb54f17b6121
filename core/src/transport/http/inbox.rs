//! HTTP+SSE, the transport before Streamable HTTP: one stream brings everything that the server sends, and says first where messages
//! are posted. Its end is the end of the connection.

use std::sync::Arc;

use reqwest::{Method, Response};

use super::channel::{Channel, Dialect};
use super::failure::{self, Failure};
use super::post;
use super::probe;
use super::said;
use super::stream::{self, Place};
use crate::Result;
use crate::transport::Sighting;

/// A stream that does not say where to post is followed no longer than this many bytes of an address.
const ENDPOINT_BYTES_MAX: usize = 8 << 10;

/// Opens the stream and follows it to its end. The body of one task.
pub(super) async fn receive(channel: Arc<Channel>) {
    let sighting = match follow(&channel).await {
        Ok(()) => probe::ended_early(&channel).map_or(Sighting::OutputClosed, Sighting::Broken),
        Err(Failure::Session(error)) => Sighting::SessionLost(error),
        Err(Failure::Message(error) | Failure::Refused(error) | Failure::Connection(error)) => {
            Sighting::Broken(probe::explained(&channel, error))
        }
    };
    channel.lose(sighting);
}

async fn follow(channel: &Arc<Channel>) -> std::result::Result<(), Failure> {
    let mut response = post::send(channel, Method::GET, None, || channel.listen(None)).await?;
    if !stream::is_stream(&response) {
        return Err(Failure::Message(said::no_answer(channel, response).await));
    }
    stream::follow(channel, &mut response, &mut Place::default(), || true).await
}

/// Takes the event that says where messages are posted; only the first counts.
///
/// # Errors
/// `protocol` when that is no address of the same origin: nothing of ours goes anywhere else (S-32).
pub(super) fn take_endpoint(channel: &Channel, from: &Response, text: &[u8]) -> Result<()> {
    if channel.dialect() != Dialect::Events || *channel.listening.borrow() {
        return Ok(());
    }
    let text = std::str::from_utf8(text).ok().map(str::trim);
    let text = text.filter(|text| !text.is_empty() && text.len() <= ENDPOINT_BYTES_MAX);
    let Some(text) = text else {
        let message = "the server names an endpoint that is no address";
        return Err(failure::protocol(&channel.server, message));
    };
    if !channel.post_to(from.url(), text) {
        return Err(failure::endpoint(channel, text));
    }
    channel.listening.send_replace(true);
    Ok(())
}
