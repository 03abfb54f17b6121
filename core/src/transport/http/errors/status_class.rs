//! What a status says, whatever comes with it.
//!
//! A 4xx, and a status with an error of the protocol in its body, is the server's own word.
//! Gateways send the other 5xx when they no longer wait for a server that is still at work.

use reqwest::StatusCode;

pub(in crate::transport::http) fn is_taken(status: StatusCode) -> bool {
    status.is_success() || status == StatusCode::SWITCHING_PROTOCOLS
}

pub(in crate::transport::http) fn is_about_credentials(status: StatusCode) -> bool {
    matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
}

pub(in crate::transport::http) fn is_busy(status: StatusCode) -> bool {
    matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
}
