//! How a request ends, and how it goes on until then.

use crate::bridge::wire::codes::Denial;

/// What a client is told in the end of its request.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::bridge::client) enum ShownOutcome {
    Result(String),
    Denied(Denial),
}

/// How a request goes on that was taken.
#[derive(Debug)]
pub(in crate::bridge::client) enum RouteEnd {
    /// It is answered at once.
    Answered(ShownOutcome),
    /// Its server answers it.
    Later,
}
