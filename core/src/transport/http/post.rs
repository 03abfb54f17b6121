//! One message on its way to the server, up to the head of the answer.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::HeaderValue;
use reqwest::{Method, RequestBuilder, Response, StatusCode};

use super::body::{self, MessageBody, REFUSAL_BYTES_MAX};
use super::errors::answer_words::media_type;
use super::errors::status_class::is_taken;
use super::errors::{self, Failure};
use super::exchange::{exchange, send};
use super::http_session::{Dialect, HttpSession};
use super::outgoing::Post;
use super::sse::response;
use super::status_errors::{self, HttpRefusal};
use super::{detect, modern_headers};
use crate::transport::{DisconnectCause, FrameKind, MayHaveRun};
use crate::{Error, ErrorCode, Outcome};

/// How long a notification or reply may take; requests have their callers' deadlines.
const UNANSWERED_WAIT_MAX: Duration = Duration::from_secs(30);

/// How long a server has for the word that a session is over.
const FAREWELL_WAIT_MAX: Duration = Duration::from_secs(1);

/// How long the first requests wait for the stream of what is unasked: a few round trips. Some
/// servers answer a GET only when they have something to say.
const LISTENING_WAIT: Duration = Duration::from_millis(250);

/// Carries a message, and its answer where it has one. The body of one task.
pub(super) async fn carry(channel: Arc<HttpSession>, post: Post) {
    if let (Some(headers), FrameKind::Request(id)) = (&post.headers, post.kind) {
        if let Err(failed) = modern_headers::ask(&channel, &post, id, headers).await {
            settle(&channel, &post, failed, false);
        }
        return;
    }
    let handshake = !channel.is_negotiated();
    let opening = post.kind == FrameKind::Notification && !*channel.ready.borrow();
    let carried = match post.kind {
        FrameKind::Request(id) => {
            if !handshake {
                opened(&channel).await;
            }
            ask(&channel, &post, id, handshake).await
        }
        FrameKind::Notification | FrameKind::Reply => {
            let sent = tokio::time::timeout(UNANSWERED_WAIT_MAX, deliver(&channel, &post)).await;
            sent.unwrap_or_else(|_| {
                let message = "the server did not take a notification in time";
                Err(Failure::Message(errors::interrupted(
                    &channel.server,
                    message,
                    Outcome::Unknown,
                )))
            })
            .map(drop)
        }
    };
    match carried {
        Ok(()) if opening => {
            channel.ready.send_replace(true);
        }
        Ok(()) => {}
        Err(failed) => {
            let greets = handshake && matches!(post.kind, FrameKind::Request(_));
            if !greets || channel.wants_handshake().await {
                settle(&channel, &post, failed, handshake || opening);
            }
        }
    }
}

/// Waits until requests may be sent: they must not overtake the notification that opens the
/// session, and the first of them are lists, which nothing should change unheard.
async fn opened(channel: &HttpSession) {
    let mut ready = channel.ready.subscribe();
    let _ = ready.wait_for(|ready| *ready).await;
    let mut listening = channel.listening.subscribe();
    let listens = listening.wait_for(|listening| *listening);
    if tokio::time::timeout(LISTENING_WAIT, listens).await.is_err() {
        channel.listening.send_replace(true);
    }
}

/// Answers who waits for a message that failed. What fails before the session is open ends the
/// attempt.
fn settle(channel: &Arc<HttpSession>, post: &Post, failed: Failure, unopened: bool) {
    tracing::debug!(server = %channel.server, error = %failed.error(), "a message failed");
    let refuse = |error: Error, doubt: MayHaveRun| {
        if let (FrameKind::Request(id), Ok(inbound)) = (post.kind, channel.inbound()) {
            inbound.refuse(id, error, doubt);
        }
    };
    let of_call = |error: Error| as_call(channel, error, post.way.outcome());
    match failed {
        Failure::Message(error) | Failure::Refused(error) if unopened => {
            channel.lose(DisconnectCause::Broken(error));
        }
        Failure::Message(error) => refuse(of_call(error), MayHaveRun::Open),
        Failure::Refused(error) => refuse(of_call(error), MayHaveRun::Settled),
        Failure::Session(error) => {
            // The server knows no such session, so that it did nothing in it.
            refuse(lost_session(channel, &error), MayHaveRun::Settled);
            channel.drop_session();
            channel.lose(DisconnectCause::SessionLost(error));
        }
        Failure::Connection(error) => {
            refuse(error.clone().with_outcome(Outcome::NotSent), MayHaveRun::Settled);
            channel.lose(DisconnectCause::Broken(error));
        }
    }
}

/// The error of one call. Where the way to the server failed it is interrupted, and nothing else
/// (SPEC 5.6).
fn as_call(channel: &HttpSession, error: Error, outcome: Outcome) -> Error {
    if error.outcome().is_some() {
        return error;
    }
    if error.code() != ErrorCode::ConnectFailed {
        return error.with_outcome(outcome);
    }
    let message = format!("the call was not answered: {}", error.message());
    errors::interrupted_by(&channel.server, &message, outcome, &error).with_hint_of(&error)
}

/// The error of a call that the server refused since it knows the session no more.
fn lost_session(channel: &HttpSession, error: &Error) -> Error {
    let message = format!("the server no longer knows the session: {}", error.message());
    errors::interrupted_by(&channel.server, &message, Outcome::NotSent, error)
}

/// Sends a request and takes its answer, in either form; over HTTP+SSE the stream brings it.
async fn ask(
    channel: &Arc<HttpSession>,
    post: &Post,
    id: u64,
    handshake: bool,
) -> Result<(), Failure> {
    if channel.dialect() == Dialect::Events {
        return give(channel, post).await;
    }
    if !handshake {
        return ask_by_post(channel, post, id, None).await;
    }
    let mut left: Vec<_> = channel.leave_session().into_iter().collect();
    let asked = ask_by_post(channel, post, id, Some(&mut left)).await;
    for session in left {
        end_session(channel, session).await;
    }
    asked
}

/// The same over Streamable HTTP. A handshake has sessions that nobody goes on with: an earlier
/// one's, and its own where another answer came first.
async fn ask_by_post(
    channel: &Arc<HttpSession>,
    post: &Post,
    id: u64,
    left: Option<&mut Vec<HeaderValue>>,
) -> Result<(), Failure> {
    let (mut response, in_session) =
        exchange(channel, Method::POST, Some(post), || message(channel, post)).await?;
    if !is_taken(response.status()) {
        let refusal = HttpRefusal::read(response, in_session).await;
        if refusal.is_of_the_protocol() {
            channel.inbound()?.heard();
        }
        if let Some(error) = refusal.revision_error().filter(|_| left.is_some()) {
            return status_errors::answer(channel, id, &error);
        }
        let is_other = detect::is_probe(channel, post) && refusal.is_of_another_dialect();
        // What answers the question meanwhile says what the server speaks.
        let is_other = is_other && channel.wants_handshake().await;
        if is_other && channel.dialect() == Dialect::Unknown {
            detect::fall_back(channel, &refusal);
            return give(channel, post).await;
        }
        return match refusal.modern_error().filter(|_| left.is_some()) {
            Some(error) => status_errors::answer(channel, id, error.get()),
            None => Err(refusal.failure(channel, post.purpose(channel))),
        };
    }
    channel.speaks(Dialect::Streamable);
    if let Some(left) = left {
        match channel.inbound()?.awaits(id) {
            true => channel.keep_session(&response).map_err(Failure::Message)?,
            false => left.extend(HttpSession::session_of(&response)),
        }
    }
    match media_type(response.headers()).as_deref() {
        Some("application/json") => response::take_body(channel, &mut response, id).await,
        Some("text/event-stream") => response::take_answer(channel, response, id).await,
        None if response.status() != StatusCode::OK => {
            let message = "the server took a request and sent no answer to it";
            Err(Failure::Message(errors::protocol(&channel.server, message)))
        }
        _ => response::take_untyped(channel, response, id).await,
    }
}

/// Tells the server that a session is over. Whatever it answers, it is: 405 means that it ends by
/// itself.
pub(super) async fn end_session(channel: &HttpSession, session: HeaderValue) {
    if let Ok(request) = channel.in_session(Method::DELETE, session) {
        let _ = tokio::time::timeout(FAREWELL_WAIT_MAX, request.send()).await;
    }
}

/// Sends a message whose answer, if there is one, comes over the stream of HTTP+SSE, which says
/// where to.
async fn give(channel: &Arc<HttpSession>, post: &Post) -> Result<(), Failure> {
    detect::endpoint(channel).await?;
    let mut response = deliver(channel, post).await?;
    // Read for the sake of the socket, which can be used again then.
    let rest = body::read_head(&mut response, REFUSAL_BYTES_MAX);
    let _ = tokio::time::timeout(response::AFTER_ANSWER_WAIT, rest).await;
    Ok(())
}

/// Posts a message until the server has taken or refused it.
async fn deliver(channel: &Arc<HttpSession>, post: &Post) -> Result<Response, Failure> {
    send(channel, Method::POST, Some(post), || message(channel, post)).await
}

fn message(channel: &HttpSession, post: &Post) -> Result<RequestBuilder, Failure> {
    let message = MessageBody { bytes: Some(post.bytes.clone()), way: post.way.clone() };
    Ok(channel.request(Method::POST)?.body(reqwest::Body::wrap(message)))
}
