//! The stream of what a server sends unasked: opened by GET, opened again whenever it ends.
//!
//! Lists wait up to 250 ms for this stream, since a change between a list and the stream would be
//! lost. Opening both at once would double the lists of each connect.

use std::sync::Arc;
use std::time::Duration;

use reqwest::StatusCode;

use super::legacy;
use super::missed_events::Gaps;
use super::response::{self, StreamPosition};
use crate::ErrorCode;
use crate::net::http_date::retry_after;
use crate::transport::DisconnectCause;
use crate::transport::http::errors::Failure;
use crate::transport::http::errors::access::RequestPurpose;
use crate::transport::http::exchange::open_stream;
use crate::transport::http::http_session::{Dialect, HttpSession};
use crate::transport::http::status_errors::HttpRefusal;

/// Listens as long as the connection stands and the server offers a stream. The body of one task.
pub(in crate::transport::http) async fn listen(channel: Arc<HttpSession>) {
    if channel.spoken().await == Dialect::Events {
        return legacy::receive(channel).await;
    }
    let mut ready = channel.ready.subscribe();
    let _ = ready.wait_for(|ready| *ready).await;
    let mut listener = Listener::default();
    loop {
        let turned = listener.turn(&channel).await;
        channel.listening.send_replace(true);
        match turned {
            Ok(NextAttempt::Again) => tokio::time::sleep(listener.place.pace.wait()).await,
            Ok(NextAttempt::After(asked)) => {
                tokio::time::sleep(listener.place.pace.wait_at_least(asked)).await;
            }
            Ok(NextAttempt::NotOffered) => return listener.give_up(&channel),
            Err(Failure::Session(error)) => {
                channel.drop_session();
                return channel.lose(DisconnectCause::SessionLost(error));
            }
            Err(Failure::Connection(error) | Failure::Message(error) | Failure::Refused(error)) => {
                return channel.lose(DisconnectCause::Broken(error));
            }
        }
    }
}

/// Whether the server says that it has no such stream, and never will: it does not know GET, or
/// does it in no way that is known here.
fn is_final(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::METHOD_NOT_ALLOWED
            | StatusCode::NOT_IMPLEMENTED
            | StatusCode::HTTP_VERSION_NOT_SUPPORTED
    )
}

/// What follows one attempt.
enum NextAttempt {
    Again,
    /// The server asks for a wait.
    After(Duration),
    NotOffered,
}

/// Where listening stands.
#[derive(Default)]
struct Listener {
    place: StreamPosition,
    gaps: Gaps,
    was_open: bool,
}

impl Listener {
    /// Opens the stream and takes what it brings.
    async fn turn(&mut self, channel: &Arc<HttpSession>) -> Result<NextAttempt, Failure> {
        let Listener { place, gaps, was_open } = self;
        place.pace.fail();
        let opened = open_stream(channel, place.last.as_ref()).await;
        let (mut response, in_session) = match opened {
            Ok(opened) => opened,
            Err(Failure::Message(error)) if error.code() == ErrorCode::ConnectFailed => {
                return Ok(NextAttempt::Again);
            }
            // It compresses a page of its own, say.
            Err(Failure::Message(_) | Failure::Refused(_)) => return Ok(NextAttempt::NotOffered),
            Err(failed) => return Err(failed),
        };
        if response::is_stream(&response) {
            *was_open = true;
            let is_late = channel.listening.send_replace(true);
            // A stream that is resumed brings what came meanwhile.
            if is_late && place.last.is_none() {
                gaps.note();
            }
            tokio::select! {
                biased;
                followed = response::follow(channel, &mut response, place, || true) => followed?,
                never = gaps.make_up(channel) => match never {},
            }
            return Ok(NextAttempt::Again);
        }
        let status = response.status();
        if is_final(status) {
            return Ok(NextAttempt::NotOffered);
        }
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            let asked = retry_after(response.headers());
            return Ok(asked.map_or(NextAttempt::Again, NextAttempt::After));
        }
        if !*was_open || status.is_success() {
            // Many servers answer so where they have no such stream; whether more is wrong, the
            // next message finds out.
            return Ok(NextAttempt::NotOffered);
        }
        // It no longer knows the event to go on from; or still holds the stream before this one for
        // open, whose end it did not see.
        let passes = place.last.take().is_some() || status == StatusCode::CONFLICT;
        match HttpRefusal::read(response, in_session).await.failure(channel, RequestPurpose::Call) {
            Failure::Message(_) | Failure::Refused(_) if passes => Ok(NextAttempt::Again),
            Failure::Message(_) | Failure::Refused(_) => Ok(NextAttempt::NotOffered),
            failed => Err(failed),
        }
    }

    /// From here on the keep-alive looks after the lists; what changed since the last stream is
    /// looked at now.
    fn give_up(&self, channel: &HttpSession) {
        tracing::debug!(server = %channel.server, "the stream of what is unasked is not offered");
        if let Ok(inbound) = channel.inbound() {
            inbound.deaf();
            if self.was_open {
                inbound.gap();
            }
        }
    }
}
