//! One request up to the head of its answer: redirects, credentials, and the waits that a server
//! asks for.
//!
//! Redirects stay within the origin and keep the method. No header of ours reaches another origin,
//! and a POST never becomes a GET.
//!
//! A connect waits for no `Retry-After` that would end too late. The refusal is its error at once,
//! since `timeout` would say nothing of the server.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderValue, LOCATION};
use reqwest::{Method, RequestBuilder, Response};
use tokio::time::Instant;

use super::errors::access::RequestPurpose;
use super::errors::status_class::{is_about_credentials, is_busy, is_taken};
use super::errors::{self, Failure, network_errors};
use super::http_session::HttpSession;
use super::outgoing::Post;
use super::status_errors::HttpRefusal;
use crate::auth::CredentialAttempt;
use crate::net::headers::coding;
use crate::net::http_date::retry_after;
use crate::net::network_errors::is_unanswered;

/// Redirects within the origin that are followed for one message.
const REDIRECTS_MAX: u32 = 3;

/// The longest `Retry-After` that a message waits for; its own deadline may be sooner. One of a
/// connect waits for none that ends too late.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(30);

/// How often one message waits so.
const RETRIES_MAX: u32 = 3;

/// Sends a request until the server has taken or refused it; `request` makes it anew each time. One
/// that is no message opens the connection.
pub(super) async fn send(
    channel: &Arc<HttpSession>,
    method: Method,
    post: Option<&Post>,
    request: impl Fn() -> Result<RequestBuilder, Failure>,
) -> Result<Response, Failure> {
    let (response, in_session) = exchange(channel, method, post, request).await?;
    if is_taken(response.status()) {
        return Ok(response);
    }
    let purpose = post.map_or(RequestPurpose::Opening, |post| post.purpose(channel));
    Err(HttpRefusal::read(response, in_session).await.failure(channel, purpose))
}

/// The same, with a refusal as it came, and whether the request named a session.
pub(super) async fn exchange(
    channel: &Arc<HttpSession>,
    method: Method,
    post: Option<&Post>,
    request: impl Fn() -> Result<RequestBuilder, Failure>,
) -> Result<(Response, bool), Failure> {
    let (mut redirects, mut spent) = (0, ExchangeTries::default());
    loop {
        let (response, in_session) = attempt(channel, &method, post, &request, &mut spent).await?;
        if !response.status().is_redirection() {
            channel.take_cookies(&response);
            return Ok((response, in_session));
        }
        redirects += 1;
        if redirects > REDIRECTS_MAX {
            return Err(Failure::Message(errors::redirects(channel)));
        }
        if !follow(channel, &method, &response) {
            return Err(Failure::Message(errors::redirect(channel, response.url(), &response)));
        }
        channel.take_cookies(&response);
    }
}

/// Asks for a stream, after this event where there is one. It is not asked for anywhere else: where
/// a web page is in its place, the address of messages stays.
pub(super) async fn open_stream(
    channel: &Arc<HttpSession>,
    after: Option<&HeaderValue>,
) -> Result<(Response, bool), Failure> {
    let mut spent = ExchangeTries::default();
    let asked = || channel.listen(after);
    let opened = attempt(channel, &Method::GET, None, asked, &mut spent).await?;
    if !opened.0.status().is_redirection() {
        channel.take_cookies(&opened.0);
    }
    Ok(opened)
}

/// What one message has had of what it may have.
#[derive(Default)]
struct ExchangeTries {
    retries: u32,
    turn: CredentialAttempt,
}

/// Sends a request until the server neither wants other credentials for it that there are nor asks
/// for a wait that it is given.
async fn attempt(
    channel: &Arc<HttpSession>,
    method: &Method,
    post: Option<&Post>,
    request: impl Fn() -> Result<RequestBuilder, Failure>,
    spent: &mut ExchangeTries,
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
                return Err(Failure::Message(errors::coded(channel, &coding)));
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

/// Sends a request once; once more, by a socket of its own, where the first was closed before an
/// answer and a repetition changes nothing.
async fn answered(
    channel: &HttpSession,
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
        .map_err(|error| Failure::Message(network_errors::network(channel, &error)))
}

/// Whether there is time for that wait. If not, the error of the connect names the wait and no
/// time-out, so that the next attempt waits.
fn is_in_time(channel: &HttpSession, wait: Duration) -> bool {
    channel.reported_at().is_none_or(|reported_at| Instant::now() + wait <= reported_at)
}

/// Whether the redirect stays within the origin; the next attempt goes there, by the same method.
fn follow(channel: &HttpSession, method: &Method, response: &Response) -> bool {
    let repeats = match response.status().as_u16() {
        301 | 302 | 307 | 308 => true,
        303 => method == Method::GET,
        _ => false,
    };
    let location = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
    repeats && location.is_some_and(|location| channel.follow(response.url(), location))
}
