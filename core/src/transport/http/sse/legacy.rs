//! HTTP+SSE, the transport before Streamable HTTP: one stream brings everything that the server
//! sends, and says first where messages are posted. Its end is the end of the connection.

use std::sync::Arc;

use reqwest::Method;

use super::response::{self, StreamPosition};
use crate::transport::DisconnectCause;
use crate::transport::http::detect;
use crate::transport::http::errors::{self, Failure};
use crate::transport::http::exchange::send;
use crate::transport::http::http_session::HttpSession;

/// Opens the stream and follows it to its end. The body of one task.
pub(in crate::transport::http) async fn receive(channel: Arc<HttpSession>) {
    let sighting = match follow(&channel).await {
        Ok(()) => detect::ended_early(&channel)
            .map_or(DisconnectCause::OutputClosed, DisconnectCause::Broken),
        Err(Failure::Session(error)) => DisconnectCause::SessionLost(error),
        Err(Failure::Message(error) | Failure::Refused(error) | Failure::Connection(error)) => {
            DisconnectCause::Broken(detect::explained(&channel, error))
        }
    };
    channel.lose(sighting);
}

async fn follow(channel: &Arc<HttpSession>) -> std::result::Result<(), Failure> {
    let mut response = send(channel, Method::GET, None, || channel.listen(None)).await?;
    if !response::is_stream(&response) {
        return Err(Failure::Message(errors::no_answer(channel, response).await));
    }
    response::follow(channel, &mut response, &mut StreamPosition::default(), || true).await
}
