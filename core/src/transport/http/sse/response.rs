//! Answers: as one JSON body, or as a stream of events that may be cut and resumed.
//!
//! The type of an answer is a hint, and its text decides: some servers forget the header, and
//! nothing else passes for the answer to that id.

use std::sync::Arc;

use reqwest::Response;
use reqwest::header::HeaderValue;
use tokio::time::Instant;
use trunkline_pool::message::{Heard, heard};

use super::backoff::StreamBackoff;
use super::endpoint::take_endpoint;
use super::parser::{EventReader, SseEvent};
use crate::net::http_date::retry_after;
use crate::transport::http::body::{self, Unread};
use crate::transport::http::errors::access::RequestPurpose;
use crate::transport::http::errors::answer_words::{AnswerExcerpt, media_type};
use crate::transport::http::errors::status_class::is_busy;
use crate::transport::http::errors::{self, Failure, network_errors};
use crate::transport::http::exchange::open_stream;
use crate::transport::http::http_session::HttpSession;
use crate::transport::http::status_errors::HttpRefusal;
use crate::transport::{Inbound, ServerLine, Via};
use crate::{ErrorCode, Outcome};

/// How long a stream whose answer came may take to end, so that its socket can be used again.
pub(in crate::transport::http) const AFTER_ANSWER_WAIT: std::time::Duration =
    std::time::Duration::from_secs(1);

/// Where a stream stands, over all the responses that carry it.
#[derive(Debug, Default)]
pub(in crate::transport::http) struct StreamPosition {
    /// What the stream is.
    via: Via,
    /// After this event it can be resumed.
    pub last: Option<HeaderValue>,
    pub pace: StreamBackoff,
}

impl StreamPosition {
    /// The beginning of the response to a request; the rest of it stays that, however often it is
    /// resumed.
    fn of_response(id: u64) -> StreamPosition {
        StreamPosition { via: Via::Response(id), ..StreamPosition::default() }
    }
}

/// Takes an answer that is one JSON body.
pub(in crate::transport::http) async fn take_body(
    channel: &Arc<HttpSession>,
    response: &mut Response,
    id: u64,
) -> Result<(), Failure> {
    let body = whole(channel, response, Vec::new()).await?;
    take_text(channel, &body, id)
}

/// Takes an answer that does not say that it is JSON, or says something else: a message where it is
/// one all the same.
pub(in crate::transport::http) async fn take_untyped(
    channel: &Arc<HttpSession>,
    mut response: Response,
    id: u64,
) -> Result<(), Failure> {
    let first = body::in_time(body::first(&mut response)).await;
    if !first.trim_ascii_start().starts_with(b"{") {
        return Err(Failure::Message(errors::no_answer_after(channel, response, first).await));
    }
    let (status, headers) = (response.status(), response.headers().clone());
    let body = whole(channel, &mut response, first).await?;
    match heard(body.trim_ascii()) {
        Heard::Noise => {
            let said = AnswerExcerpt { status, headers: &headers, body: &body };
            Err(Failure::Message(errors::no_mcp(channel, &said)))
        }
        Heard::Message(_) | Heard::Broken { .. } => take_text(channel, &body, id),
    }
}

/// A whole body, with this as the part read already.
async fn whole(
    channel: &HttpSession,
    response: &mut Response,
    begun: Vec<u8>,
) -> Result<Vec<u8>, Failure> {
    let inbound = channel.inbound()?;
    let body = body::read(response, begun, channel.frame_bytes, &*inbound).await;
    body.map_err(|unread| {
        Failure::Message(match unread {
            Unread::TooLong => errors::too_long(&channel.server),
            Unread::Cut(error) => network_errors::network(channel, &error),
        })
    })
}

fn take_text(channel: &HttpSession, body: &[u8], id: u64) -> Result<(), Failure> {
    let inbound = channel.inbound()?;
    let refused = |message: &str| Failure::Message(errors::protocol(&channel.server, message));
    let text = body.trim_ascii();
    if !text.is_empty() {
        inbound.take(ServerLine::Whole(text), Via::Response(id)).map_err(Failure::Message)?;
    }
    if !inbound.awaits(id) {
        return Ok(());
    }
    Err(refused(match heard(text) {
        Heard::Noise => "the body of the server's answer is not a message",
        Heard::Message(_) | Heard::Broken { .. } => {
            "the body of the server's answer answers something else"
        }
    }))
}

/// Takes an answer that is a stream of events, and resumes the stream where that is possible (SPEC
/// 5.6).
pub(in crate::transport::http) async fn take_answer(
    channel: &Arc<HttpSession>,
    response: Response,
    id: u64,
) -> Result<(), Failure> {
    let inbound = channel.inbound()?;
    let mut place = StreamPosition::of_response(id);
    let mut response = Some(response);
    loop {
        if let Some(mut stream) = response.take() {
            follow(channel, &mut stream, &mut place, || inbound.awaits(id)).await?;
            if !inbound.awaits(id) {
                read_out(stream).await;
                return Ok(());
            }
        }
        let Some(last) = place.last.clone().filter(|_| !place.pace.is_spent()) else {
            return Err(closed(channel));
        };
        tokio::time::sleep(place.pace.wait()).await;
        place.pace.fail();
        response = resume(channel, &last).await?;
    }
}

/// Asks for the rest of an answer; nothing when it may be asked for again.
async fn resume(
    channel: &Arc<HttpSession>,
    last: &HeaderValue,
) -> Result<Option<Response>, Failure> {
    let (response, in_session) = match open_stream(channel, Some(last)).await {
        Ok(opened) => opened,
        Err(Failure::Message(error)) if error.code() == ErrorCode::ConnectFailed => {
            return Ok(None);
        }
        Err(failed) => return Err(interrupted(channel, failed)),
    };
    if is_stream(&response) {
        return Ok(Some(response));
    }
    // A wait that is asked for was waited for, or is too long.
    if is_busy(response.status()) && retry_after(response.headers()).is_none() {
        return Ok(None);
    }
    Err(not_resumed(channel, response, in_session).await)
}

/// Takes an answer that is a stream of events which nothing can resume.
pub(in crate::transport::http) async fn take_once(
    channel: &Arc<HttpSession>,
    mut response: Response,
    id: u64,
) -> Result<(), Failure> {
    let inbound = channel.inbound()?;
    let mut place = StreamPosition::of_response(id);
    follow(channel, &mut response, &mut place, || inbound.awaits(id)).await?;
    if inbound.awaits(id) {
        return Err(closed(channel));
    }
    read_out(response).await;
    Ok(())
}

/// Reads to the end of a stream whose answer has come, for the sake of its socket.
async fn read_out(mut stream: Response) {
    let rest = async { while let Ok(Some(_)) = stream.chunk().await {} };
    let _ = tokio::time::timeout(AFTER_ANSWER_WAIT, rest).await;
}

fn closed(channel: &HttpSession) -> Failure {
    let message = "the server closed the stream before the call's answer";
    Failure::Message(errors::interrupted(&channel.server, message, Outcome::Unknown))
}

/// A resume that was refused: the call is interrupted, unless more is lost.
async fn not_resumed(channel: &HttpSession, response: Response, in_session: bool) -> Failure {
    let failed = match response.status().is_success() {
        true => Failure::Message(errors::no_answer(channel, response).await),
        false => {
            HttpRefusal::read(response, in_session).await.failure(channel, RequestPurpose::Call)
        }
    };
    interrupted(channel, failed)
}

/// What fails on the way to the rest of an answer fails its call.
fn interrupted(channel: &HttpSession, failed: Failure) -> Failure {
    match failed {
        Failure::Message(error) | Failure::Refused(error) => {
            let message = "the server closed the stream before the call's answer";
            let outcome = Outcome::Unknown;
            Failure::Message(errors::interrupted_by(&channel.server, message, outcome, &error))
        }
        failed => failed,
    }
}

/// Whether it is a stream of events.
pub(in crate::transport::http) fn is_stream(response: &Response) -> bool {
    response.status().is_success()
        && media_type(response.headers()).as_deref() == Some("text/event-stream")
}

/// Takes what comes, until the stream ends, is cut, or `goes_on` says that it is over.
///
/// # Errors
/// When the stream cannot be followed any more.
pub(in crate::transport::http) async fn follow(
    channel: &HttpSession,
    stream: &mut Response,
    place: &mut StreamPosition,
    goes_on: impl Fn() -> bool,
) -> Result<(), Failure> {
    let mut events = EventReader::new(channel.frame_bytes);
    let begun = Instant::now();
    // A cut is an end like any other: what follows from it is the same.
    while let Ok(Some(chunk)) = stream.chunk().await {
        let inbound = channel.inbound()?;
        inbound.heard();
        events.feed(&chunk).map_err(|_| Failure::Message(errors::too_long(&channel.server)))?;
        while let Some(event) = events.next() {
            if let SseEvent::Endpoint(text) = &event {
                take_endpoint(channel, stream, text).map_err(Failure::Message)?;
            }
            take_event(&*inbound, event, place)?;
        }
        if !goes_on() {
            break;
        }
    }
    place.pace.stood(begun.elapsed());
    // The last event of some servers is not ended: it counts where it is a message, which none is
    // that was cut.
    if let Some(text) = events.unended().filter(|text| is_message(text)) {
        take_event(&*channel.inbound()?, SseEvent::Message(text), place)?;
    }
    Ok(())
}

fn is_message(text: &[u8]) -> bool {
    matches!(heard(text.trim_ascii()), Heard::Message(_))
}

fn take_event(
    inbound: &dyn Inbound,
    event: SseEvent,
    place: &mut StreamPosition,
) -> Result<(), Failure> {
    let via = place.via;
    // Some servers send answers in events of types of their own.
    let event = match event {
        SseEvent::Other(text) if is_message(&text) => SseEvent::Message(text),
        event => event,
    };
    match &event {
        SseEvent::Id(_) => place.pace.placed(),
        SseEvent::Retry(_) | SseEvent::Other(_) => {}
        SseEvent::Endpoint(_) | SseEvent::Oversized(_) | SseEvent::Message(_) => {
            place.pace.forgive()
        }
    }
    let take = |line: ServerLine<'_>| inbound.take(line, via).map_err(Failure::Message);
    match event {
        SseEvent::Id(id) => place.last = Some(id).filter(|id| !id.is_empty()),
        SseEvent::Endpoint(_) | SseEvent::Other(_) => {}
        SseEvent::Oversized(head) => take(ServerLine::Oversized(&head))?,
        SseEvent::Retry(wait) => place.pace.ask(wait),
        SseEvent::Message(text) => {
            let text = text.trim_ascii();
            if !text.is_empty() {
                take(ServerLine::Whole(text))?;
            }
        }
    }
    Ok(())
}
