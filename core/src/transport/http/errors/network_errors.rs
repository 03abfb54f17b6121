//! The errors of a connection that cannot be made, or whose way to the server broke.

use std::sync::Arc;

use super::error_context::ErrorContext;
use crate::net::network_errors::{bounded, why_unreached};
use crate::{Error, ErrorCode};
use trunkline_pool::interface::words::connect_kind;

/// The server could not be reached, or the way to it broke.
pub(in crate::transport::http) fn network(
    context: &dyn ErrorContext,
    error: &reqwest::Error,
) -> Error {
    let (kind, what, hint) = why_unreached(error, context.road());
    let address = context.shown_address();
    Error::new(ErrorCode::ConnectFailed, format!("{address} cannot be reached: {what}"))
        .with_server(context.server().as_ref())
        .with_detail("kind", kind)
        .with_detail("address", address)
        .with_hint(hint)
}

/// There are no Unix sockets here.
#[cfg(not(unix))]
pub(in crate::transport::http) fn no_sockets(server: &Arc<str>) -> Error {
    Error::new(ErrorCode::ConnectFailed, "this system has no Unix sockets")
        .with_server(server.as_ref())
        .with_detail("kind", connect_kind::SOCKET)
        .with_hint("take `socket_path` out of the server's configuration")
}

/// There are no roots to trust, so that nothing can be reached over TLS.
pub(in crate::transport::http) fn no_trust(server: &Arc<str>, reason: &str) -> Error {
    Error::new(ErrorCode::ConnectFailed, format!("there is no TLS to be had: {}", bounded(reason)))
        .with_server(server.as_ref())
        .with_detail("kind", connect_kind::TLS)
        .with_hint(
            "install the certificates of the system (ca-certificates), or name a file of them in `SSL_CERT_FILE`",
        )
}

/// A fault of the client itself.
pub(in crate::transport::http) fn internal(server: &Arc<str>, error: &reqwest::Error) -> Error {
    let mut last: &dyn std::error::Error = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    let message = format!("the HTTP client cannot be made: {}", bounded(&last.to_string()));
    Error::new(ErrorCode::Internal, message)
        .with_server(server.as_ref())
        .with_detail("place", "transport/http")
}
