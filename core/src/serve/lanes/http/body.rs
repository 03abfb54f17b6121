//! The body of a request, bounded in bytes and in time.

use std::pin::Pin;

use http::HeaderMap;
use http::header::CONTENT_LENGTH;
use http_body::Body;
use hyper::body::Incoming;

use super::replies::{self, HttpReply};
use crate::serve::lane::Principal;
use crate::serve::lanes::front::Front;
use crate::serve::lanes::quotas::QuotaKind;
use crate::serve::lanes::rpc_errors;

/// The text of a body, or the answer where there is none.
///
/// A dropped future leaves the rest unread.
pub(super) async fn text(
    front: &Front,
    who: &Principal,
    headers: &HeaderMap,
    body: Incoming,
) -> Result<String, Box<HttpReply>> {
    let bytes_max = front.bounds.body_bytes;
    let too_large = || {
        let text = format!("the body has more than {bytes_max} bytes");
        Box::new(replies::closed(replies::plain(413, &text)))
    };
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let length: usize = length.unwrap_or(bytes_max);
    if length > bytes_max {
        return Err(too_large());
    }
    let Some(_seat) = front.quotas.take(who, QuotaKind::BodyBytes, length) else {
        let text = "this principal sends too much at one time";
        return Err(Box::new(replies::closed(replies::plain(429, text))));
    };
    let read = tokio::time::timeout(front.bounds.body_wait, collect(body, bytes_max)).await;
    let bytes = match read {
        Err(_elapsed) => {
            return Err(Box::new(replies::closed(replies::plain(
                408,
                "the body did not come in time",
            ))));
        }
        Ok(Err(BodyFault::TooLarge)) => return Err(too_large()),
        Ok(Err(BodyFault::Broken)) => {
            return Err(Box::new(replies::closed(replies::plain(400, "the body cannot be read"))));
        }
        Ok(Ok(bytes)) => bytes,
    };
    String::from_utf8(bytes).map_err(|_| Box::new(replies::json(400, rpc_errors::unreadable())))
}

enum BodyFault {
    TooLarge,
    Broken,
}

async fn collect(mut body: Incoming, bytes_max: usize) -> Result<Vec<u8>, BodyFault> {
    let mut bytes = Vec::new();
    loop {
        let next = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
        let Some(frame) = next else { return Ok(bytes) };
        // Trailers say nothing to anybody.
        let Ok(piece) = frame.map_err(|_| BodyFault::Broken)?.into_data() else { continue };
        if piece.len() > bytes_max - bytes.len() {
            return Err(BodyFault::TooLarge);
        }
        bytes.extend_from_slice(&piece);
    }
}
