//! HTTP+SSE, the transport before Streamable HTTP: one stream brings everything that the server sends, and says first where messages
//! are posted. Its end is the end of the connection.

use std::sync::Arc;

use reqwest::Method;

use super::channel::Channel;
use super::exchange::send;
use super::failure::{self, Failure};
use super::probe;
use super::stream::{self, Place};
use crate::transport::Sighting;

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
    let mut response = send(channel, Method::GET, None, || channel.listen(None)).await?;
    if !stream::is_stream(&response) {
        return Err(Failure::Message(failure::no_answer(channel, response).await));
    }
    stream::follow(channel, &mut response, &mut Place::default(), || true).await
}
