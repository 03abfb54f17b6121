//! One message on its way to the server, up to the head of the answer.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderValue, LOCATION};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::Deserialize;
use tokio::time::Instant;

use super::body::{self, Message, Way};
use super::channel::{Channel, Dialect};
use super::failure::{self, Failure};
use super::refusal::{self, REFUSAL_BYTES_MAX, Refusal};
use super::standing::Purpose;
use super::{modern, network, probe, said, stream};
use crate::auth::Turn;
use crate::net::headers::coding;
use crate::net::http_date::retry_after;
use crate::net::network_errors::is_unanswered;
use crate::transport::{Doubt, FrameKind, Sighting};
use crate::{Error, ErrorCode, Outcome};

/// Redirects within the origin that are followed for one message.
const REDIRECTS_MAX: u32 = 3;

/// The longest `Retry-After` that a message waits for; its own deadline may be sooner. One of a connect waits for none that ends too late.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(30);

/// How often one message waits so.
const RETRIES_MAX: u32 = 3;

/// How long a notification or reply may take; requests have their callers' deadlines.
const UNANSWERED_WAIT_MAX: Duration = Duration::from_secs(30);

/// How long a server has for the word that a session is over.
const FAREWELL_WAIT_MAX: Duration = Duration::from_secs(1);

/// How long the first requests wait for the stream of what is unasked: a few round trips. Some servers answer a GET only when they have
/// something to say.
const LISTENING_WAIT: Duration = Duration::from_millis(250);

/// A message and how far it is.
pub(super) struct Post {
    /// Those of a message of the modern era.
    pub headers: Option<HeaderMap>,
    pub bytes: Bytes,
    pub kind: FrameKind,
    pub way: Arc<Way>,
}

impl Post {
    /// The method that it names; a reply has none.
    pub(super) fn method(&self) -> Option<Cow<'_, str>> {
        #[derive(Deserialize)]
        struct Head<'a> {
            #[serde(borrow)]
            method: Cow<'a, str>,
        }
        serde_json::from_slice::<Head>(&self.bytes).ok().map(|head| head.method)
    }

    /// Whether the server is where it was if it takes this twice (SPEC 18.6).
    fn changes_nothing(&self) -> bool {
        self.method().is_some_and(|method| {
            matches!(&*method, "initialize" | "server/discover" | "ping")
                || method.ends_with("/list")
        })
    }
}

/// Carries a message, and its answer where it has one. The body of one task.
pub(super) async fn carry(channel: Arc<Channel>, post: Post) {
    if let (Some(headers), FrameKind::Request(id)) = (&post.headers, post.kind) {
        if let Err(failed) = modern::ask(&channel, &post, id, headers).await {
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
                Err(Failure::Message(failure::interrupted(
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

/// Waits until requests may be sent: they must not overtake the notification that opens the session, and the first of them
/// are lists, which nothing should change unheard.
async fn opened(channel: &Channel) {
    let mut ready = channel.ready.subscribe();
    let _ = ready.wait_for(|ready| *ready).await;
    let mut listening = channel.listening.subscribe();
    let listens = listening.wait_for(|listening| *listening);
    if tokio::time::timeout(LISTENING_WAIT, listens).await.is_err() {
        channel.listening.send_replace(true);
    }
}

/// Answers who waits for a message that failed. What fails before the session is open ends the attempt.
fn settle(channel: &Arc<Channel>, post: &Post, failed: Failure, unopened: bool) {
    tracing::debug!(server = %channel.server, error = %failed.error(), "a message failed");
    let refuse = |error: Error, doubt: Doubt| {
        if let (FrameKind::Request(id), Ok(inbound)) = (post.kind, channel.inbound()) {
            inbound.refuse(id, error, doubt);
        }
    };
    let of_call = |error: Error| as_call(channel, error, post.way.outcome());
    match failed {
        Failure::Message(error) | Failure::Refused(error) if unopened => {
            channel.lose(Sighting::Broken(error));
        }
        Failure::Message(error) => refuse(of_call(error), Doubt::Open),
        Failure::Refused(error) => refuse(of_call(error), Doubt::Settled),
        Failure::Session(error) => {
            // The server knows no such session, so that it did nothing in it.
            refuse(lost_session(channel, &error), Doubt::Settled);
            channel.drop_session();
            channel.lose(Sighting::SessionLost(error));
        }
        Failure::Connection(error) => {
            refuse(error.clone().with_outcome(Outcome::NotSent), Doubt::Settled);
            channel.lose(Sighting::Broken(error));
        }
    }
}

/// The error of one call. Where the way to the server failed it is interrupted, and nothing else (SPEC 5.6).
fn as_call(channel: &Channel, error: Error, outcome: Outcome) -> Error {
    if error.outcome().is_some() {
        return error;
    }
    if error.code() != ErrorCode::ConnectFailed {
        return error.with_outcome(outcome);
    }
    let message = format!("the call was not answered: {}", error.message());
    failure::interrupted_by(&channel.server, &message, outcome, &error).with_hint_of(&error)
}

/// The error of a call that the server refused since it knows the session no more.
fn lost_session(channel: &Channel, error: &Error) -> Error {
    let message = format!("the server no longer knows the session: {}", error.message());
    failure::interrupted_by(&channel.server, &message, Outcome::NotSent, error)
}

/// Sends a request and takes its answer, in either form; over HTTP+SSE the stream brings it.
async fn ask(channel: &Arc<Channel>, post: &Post, id: u64, handshake: bool) -> Result<(), Failure> {
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

/// The same over Streamable HTTP. A handshake has sessions that nobody goes on with: an earlier one's, and its own where another answer
/// came first.
async fn ask_by_post(
    channel: &Arc<Channel>,
    post: &Post,
    id: u64,
    left: Option<&mut Vec<HeaderValue>>,
) -> Result<(), Failure> {
    let (mut response, in_session) =
        exchange(channel, Method::POST, Some(post), || message(channel, post)).await?;
    if !is_taken(response.status()) {
        let refusal = Refusal::read(response, in_session).await;
        if refusal.is_of_the_protocol() {
            channel.inbound()?.heard();
        }
        if let Some(error) = refusal.revision_error().filter(|_| left.is_some()) {
            return refusal::answer(channel, id, &error);
        }
        let is_other = probe::is_probe(channel, post) && refusal.is_of_another_dialect();
        // What answers the question meanwhile says what the server speaks.
        let is_other = is_other && channel.wants_handshake().await;
        if is_other && channel.dialect() == Dialect::Unknown {
            probe::fall_back(channel, &refusal);
            return give(channel, post).await;
        }
        return match refusal.modern_error().filter(|_| left.is_some()) {
            Some(error) => refusal::answer(channel, id, error.get()),
            None => Err(refusal.failure(channel, Purpose::of(channel, post))),
        };
    }
    channel.speaks(Dialect::Streamable);
    if let Some(left) = left {
        match channel.inbound()?.awaits(id) {
            true => channel.keep_session(&response).map_err(Failure::Message)?,
            false => left.extend(Channel::session_of(&response)),
        }
    }
    match media_type(&response).as_deref() {
        Some("application/json") => stream::take_body(channel, &mut response, id).await,
        Some("text/event-stream") => stream::take_answer(channel, response, id).await,
        None if response.status() != StatusCode::OK => {
            let message = "the server took a request and sent no answer to it";
            Err(Failure::Message(failure::protocol(&channel.server, message)))
        }
        _ => stream::take_untyped(channel, response, id).await,
    }
}

/// Tells the server that a session is over. Whatever it answers, it is: 405 means that it ends by itself.
pub(super) async fn end_session(channel: &Channel, session: HeaderValue) {
    if let Ok(request) = channel.in_session(Method::DELETE, session) {
        let _ = tokio::time::timeout(FAREWELL_WAIT_MAX, request.send()).await;
    }
}

/// Sends a message whose answer, if there is one, comes over the stream of HTTP+SSE, which says where to.
async fn give(channel: &Arc<Channel>, post: &Post) -> Result<(), Failure> {
    probe::endpoint(channel).await?;
    let mut response = deliver(channel, post).await?;
    // Read for the sake of the socket, which can be used again then.
    let rest = body::read_head(&mut response, REFUSAL_BYTES_MAX);
    let _ = tokio::time::timeout(stream::AFTER_ANSWER_WAIT, rest).await;
    Ok(())
}

/// Posts a message until the server has taken or refused it.
async fn deliver(channel: &Arc<Channel>, post: &Post) -> Result<Response, Failure> {
    send(channel, Method::POST, Some(post), || message(channel, post)).await
}

fn message(channel: &Channel, post: &Post) -> Result<RequestBuilder, Failure> {
    let message = Message { bytes: Some(post.bytes.clone()), way: post.way.clone() };
    Ok(channel.request(Method::POST)?.body(reqwest::Body::wrap(message)))
}

/// Sends a request until the server has taken or refused it; `request` makes it anew each time. One that is no message opens the
/// connection.
pub(super) async fn send(
    channel: &Arc<Channel>,
    method: Method,
    post: Option<&Post>,
    request: impl Fn() -> Result<RequestBuilder, Failure>,
) -> Result<Response, Failure> {
    let (response, in_session) = exchange(channel, method, post, request).await?;
    if is_taken(response.status()) {
        return Ok(response);
    }
    let purpose = post.map_or(Purpose::Opening, |post| Purpose::of(channel, post));
    Err(Refusal::read(response, in_session).await.failure(channel, purpose))
}

/// The same, with a refusal as it came, and whether the request named a session.
pub(super) async fn exchange(
    channel: &Arc<Channel>,
    method: Method,
    post: Option<&Post>,
    request: impl Fn() -> Result<RequestBuilder, Failure>,
) -> Result<(Response, bool), Failure> {
    let (mut redirects, mut spent) = (0, Spent::default());
    loop {
        let (response, in_session) = attempt(channel, &method, post, &request, &mut spent).await?;
        if !response.status().is_redirection() {
            channel.take_cookies(&response);
            return Ok((response, in_session));
        }
        redirects += 1;
        if redirects > REDIRECTS_MAX {
            return Err(Failure::Message(failure::redirects(channel)));
        }
        if !follow(channel, &method, &response) {
            return Err(Failure::Message(failure::redirect(channel, response.url(), &response)));
        }
        channel.take_cookies(&response);
    }
}

/// Asks for a stream, after this event where there is one. It is not asked for anywhere else: where a web page is in its place, the
/// address of messages stays.
pub(super) async fn open_stream(
    channel: &Arc<Channel>,
    after: Option<&HeaderValue>,
) -> Result<(Response, bool), Failure> {
    let mut spent = Spent::default();
    let asked = || channel.listen(after);
    let opened = attempt(channel, &Method::GET, None, asked, &mut spent).await?;
    if !opened.0.status().is_redirection() {
        channel.take_cookies(&opened.0);
    }
    Ok(opened)
}

/// What one message has had of what it may have.
#[derive(Default)]
struct Spent {
    retries: u32,
    turn: Turn,
}

/// Sends a request until the server neither wants other credentials for it that there are nor asks for a wait that it is given.
async fn attempt(
    channel: &Arc<Channel>,
    method: &Method,
    post: Option<&Post>,
    request: impl Fn() -> Result<RequestBuilder, Failure>,
    spent: &mut Spent,
) -> Result<(Response, bool), Failure> {
    loop {
        if method == Method::GET {
            channel.turns.take().await;
        }
        channel.prepare().await;
        let in_session = channel.is_in_session();
        let bearer = channel.bearer();
        let response = answered(channel, post, &request).await?;
        let status = response.status();
        if is_taken(status) {
            // Anything else may come from a gateway before a server that is gone.
            channel.inbound()?.heard();
            channel.standing.taken();
            if let Some(coding) = coding(response.headers()) {
                return Err(Failure::Message(failure::coded(channel, &coding)));
            }
            return Ok((response, in_session));
        }
        if is_about_credentials(status) {
            let sent = bearer.as_ref();
            let has_other = channel.has_other(&response, sent, spent.turn).await;
            spent.turn = spent.turn.next(sent);
            if has_other {
                continue;
            }
        }
        let asked = retry_after(response.headers()).filter(|_| is_busy(status));
        asked.map(|wait| channel.inbound().map(|inbound| inbound.busy(wait))).transpose()?;
        match asked.filter(|wait| *wait <= RETRY_AFTER_MAX && spent.retries < RETRIES_MAX) {
            Some(wait) if is_in_time(channel, wait) => {
                spent.retries += 1;
                drop(response);
                tokio::time::sleep(wait).await;
            }
            _ => return Ok((response, in_session)),
        }
    }
}

/// Sends a request once; once more, by a socket of its own, where the first was closed before an answer and a repetition changes nothing.
async fn answered(
    channel: &Channel,
    post: Option<&Post>,
    request: impl Fn() -> Result<RequestBuilder, Failure>,
) -> Result<Response, Failure> {
    let mut sent = request()?.send().await;
    if sent.as_ref().is_err_and(is_unanswered) && post.is_some_and(Post::changes_nothing) {
        let again = request()?.build_split().1;
        sent = match again {
            Ok(again) => channel.fresh()?.execute(again).await,
            Err(error) => Err(error),
        };
    }
    sent.inspect(|response| channel.heed(response.headers()))
        .map_err(|error| Failure::Message(network::network(channel, &error)))
}

/// Whether there is time for that wait: whoever connects is told of it rather than that time ran out, so that the next attempt waits.
fn is_in_time(channel: &Channel, wait: Duration) -> bool {
    channel.reported_at().is_none_or(|reported_at| Instant::now() + wait <= reported_at)
}

fn is_taken(status: StatusCode) -> bool {
    status.is_success() || status == StatusCode::SWITCHING_PROTOCOLS
}

pub(super) fn is_about_credentials(status: StatusCode) -> bool {
    matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
}

pub(super) fn is_busy(status: StatusCode) -> bool {
    matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
}

/// Whether the redirect stays within the origin; the next attempt goes there, by the same method.
fn follow(channel: &Channel, method: &Method, response: &Response) -> bool {
    let repeats = match response.status().as_u16() {
        301 | 302 | 307 | 308 => true,
        303 => method == Method::GET,
        _ => false,
    };
    let location = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
    repeats && location.is_some_and(|location| channel.follow(response.url(), location))
}

/// The type of an answer's content, without its parameters.
pub(super) fn media_type(response: &Response) -> Option<String> {
    said::media_type(response.headers())
}
