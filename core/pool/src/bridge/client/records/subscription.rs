//! A subscription to a resource, and who wants it.

use std::collections::BTreeMap;

use super::call::OpenRequest;
use crate::bridge::ids::CallId;

/// A server, and its own URI.
pub(in crate::bridge::client) type ResourceKey = (String, String);

/// Who wants to be told of a resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::bridge::client) enum Holder {
    /// The legacy session.
    Session,
    /// A listen of a modern client.
    Listen(OpenRequest),
}

/// A subscription to one resource.
#[derive(Debug)]
pub(in crate::bridge::client) struct Subscription {
    /// Who wants it, and the URI that each gave.
    pub holders: BTreeMap<Holder, String>,
    /// The call that subscribes; nothing once it is answered.
    pub pending: Option<CallId>,
    /// Legacy requests that wait for the server's answer.
    pub waiting: Vec<OpenRequest>,
}
