//! The way to a websocket: an HTTP request, and what a server must answer to it.
//!
//! A server that closes at `server/discover` is opened anew and greeted with `initialize`: older
//! servers end the connection at what they do not know.

use std::sync::Arc;

use reqwest::header::{
    CONNECTION, HeaderMap, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_EXTENSIONS,
    SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use reqwest::{Method, Response, StatusCode, Upgraded};
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use crate::Error;
use crate::transport::http::errors::answer_words::media_type;
use crate::transport::http::errors::{self, Failure, network_errors};
use crate::transport::http::exchange::send;
use crate::transport::http::http_session::HttpSession;

/// What is spoken over the websocket.
const SUBPROTOCOL: HeaderValue = HeaderValue::from_static("mcp");

/// Opens a websocket to the server.
pub(super) async fn open(channel: &Arc<HttpSession>) -> Result<Upgraded, Failure> {
    let key = generate_key();
    let request = || {
        let mut headers = HeaderMap::new();
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
        headers.insert(SEC_WEBSOCKET_PROTOCOL, SUBPROTOCOL);
        headers.extend(HeaderValue::from_str(&key).ok().map(|key| (SEC_WEBSOCKET_KEY, key)));
        channel.request_with(Method::GET, headers)
    };
    let response = send(channel, Method::GET, None, request).await?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        return Err(Failure::Message(no_upgrade(channel, response).await));
    }
    check(channel, &response, &key).map_err(Failure::Message)?;
    let upgraded = response.upgrade().await;
    upgraded.map_err(|error| Failure::Message(network_errors::network(channel, &error)))
}

/// The server answered as if nobody had asked for an upgrade.
async fn no_upgrade(channel: &HttpSession, response: Response) -> Error {
    match media_type(response.headers()) {
        Some(_) => errors::no_answer(channel, response).await,
        None => errors::protocol(&channel.server, "the address does not speak websocket"),
    }
}

/// Whether an upgrade is to a websocket, and nothing that was not offered.
fn check(channel: &HttpSession, response: &Response, key: &str) -> crate::Result<()> {
    let refused = |message: &str| Err(errors::protocol(&channel.server, message));
    let header = |name: &HeaderName| response.headers().get(name).map(HeaderValue::as_bytes);
    let is_websocket = header(&UPGRADE).is_some_and(|to| to.eq_ignore_ascii_case(b"websocket"));
    if !is_websocket
        || header(&SEC_WEBSOCKET_ACCEPT) != Some(derive_accept_key(key.as_bytes()).as_bytes())
    {
        return refused("the server does not answer the handshake of the websocket");
    }
    if header(&SEC_WEBSOCKET_EXTENSIONS).is_some_and(|given| !given.is_empty()) {
        return refused("the server wants an extension of the websocket that was not offered");
    }
    match header(&SEC_WEBSOCKET_PROTOCOL) {
        Some(given) if !given.eq_ignore_ascii_case(SUBPROTOCOL.as_bytes()) => {
            refused("the server speaks something else than MCP over its websocket")
        }
        _ => Ok(()),
    }
}
