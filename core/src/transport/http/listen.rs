//! The stream of what a server sends unasked: opened by GET, opened again whenever it ends.

use std::sync::Arc;

use reqwest::StatusCode;

use super::channel::{Channel, Dialect};
use super::failure::Failure;
use super::gap::Gaps;
use super::inbox;
use super::refusal::Refusal;
use super::stream::{self, Place};
use crate::transport::Sighting;

/// Listens as long as the connection stands and the server offers a stream. The body of one task.
pub(super) async fn listen(channel: Arc<Channel>) {
    if channel.spoken().await == Dialect::Events {
        return inbox::receive(channel).await;
    }
    let mut ready = channel.ready.subscribe();
    let _ = ready.wait_for(|ready| *ready).await;
    let mut listener = Listener::default();
    loop {
        let turned = listener.turn(&channel).await;
        channel.listening.send_replace(true);
        match turned {
            Ok(Turn::Again) => {}
            Ok(Turn::NotOffered) => return,
            Err(Failure::Session(error)) => {
                channel.drop_session();
                return channel.lose(Sighting::SessionLost(error));
            }
            Err(Failure::Connection(error)) | Err(Failure::Message(error)) => {
                return channel.lose(Sighting::Broken(error));
            }
        }
        tokio::time::sleep(listener.place.pace.wait()).await;
    }
}

/// What follows one attempt.
enum Turn {
    Again,
    NotOffered,
}

/// Where listening stands.
#[derive(Default)]
struct Listener {
    place: Place,
    gaps: Gaps,
    was_open: bool,
}

impl Listener {
    /// Opens the stream and takes what it brings.
    async fn turn(&mut self, channel: &Arc<Channel>) -> Result<Turn, Failure> {
        let Listener { place, gaps, was_open } = self;
        place.pace.fail();
        let in_session = channel.is_in_session();
        let Ok(mut response) = channel.listen(place.last.as_deref())?.send().await else {
            return Ok(Turn::Again);
        };
        if stream::is_stream(&response) {
            *was_open = true;
            let is_late = channel.listening.send_replace(true);
            // A stream that is resumed brings what came meanwhile.
            if is_late && place.last.is_none() {
                gaps.note();
            }
            tokio::select! {
                biased;
                followed = stream::follow(channel, &mut response, place, || true) => followed?,
                never = gaps.make_up(channel) => match never {},
            }
            return Ok(Turn::Again);
        }
        let status = response.status();
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            return Ok(Turn::Again);
        }
        if !*was_open || status == StatusCode::METHOD_NOT_ALLOWED || status.is_success() {
            // Many servers answer so where they have no such stream; whether more is wrong, the next message finds out.
            return Ok(Turn::NotOffered);
        }
        match Refusal::read(response, in_session).await.failure(channel) {
            Failure::Message(_) => Ok(Turn::NotOffered),
            failed => Err(failed),
        }
    }
}
