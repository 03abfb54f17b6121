//! The address that a server of HTTP+SSE names for its messages.

use reqwest::Response;

use crate::Result;
use crate::transport::http::errors;
use crate::transport::http::http_session::{Dialect, HttpSession};

/// A stream that does not say where to post is followed no longer than this many bytes of an
/// address.
const ENDPOINT_BYTES_MAX: usize = 8 << 10;

/// Takes the event that says where messages are posted; only the first counts.
///
/// # Errors
/// `protocol` when that is no address of the same origin: nothing of ours goes anywhere else
/// (S-32).
pub(in crate::transport::http) fn take_endpoint(
    channel: &HttpSession,
    from: &Response,
    text: &[u8],
) -> Result<()> {
    if channel.dialect() != Dialect::Events || *channel.listening.borrow() {
        return Ok(());
    }
    let text = std::str::from_utf8(text).ok().map(str::trim);
    let text = text.filter(|text| !text.is_empty() && text.len() <= ENDPOINT_BYTES_MAX);
    let Some(text) = text else {
        let message = "the server names an endpoint that is not a valid URL";
        return Err(errors::protocol(&channel.server, message));
    };
    if !channel.post_to(from.url(), text) {
        return Err(errors::endpoint(channel, text));
    }
    channel.listening.send_replace(true);
    Ok(())
}
