//! The address that a server of HTTP+SSE names for its messages.

use reqwest::Response;

use super::channel::{Channel, Dialect};
use super::failure;
use crate::Result;

/// A stream that does not say where to post is followed no longer than this many bytes of an
/// address.
const ENDPOINT_BYTES_MAX: usize = 8 << 10;

/// Takes the event that says where messages are posted; only the first counts.
///
/// # Errors
/// `protocol` when that is no address of the same origin: nothing of ours goes anywhere else
/// (S-32).
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
