//! An open `subscriptions/listen`.

use std::collections::BTreeMap;

use super::call::OpenRequest;
use super::subscription::ResourceKey;
use crate::bridge::input::ListKinds;

/// One open `subscriptions/listen`.
#[derive(Debug, Default)]
pub(in crate::bridge::client) struct Listen {
    pub lists: ListKinds,
    /// What was asked for, with the URI that the client gave; whether it is granted, once that is
    /// known.
    pub resources: BTreeMap<ResourceKey, (String, Option<bool>)>,
    pub is_acknowledged: bool,
    /// Lists that changed before the acknowledgement.
    pub missed: ListKinds,
}

impl OpenRequest {
    /// The params of a notification that belongs to this listen; `members` may be empty.
    pub fn tagged(&self, members: &str) -> String {
        let comma = if members.is_empty() { "" } else { "," };
        let id = &self.id;
        format!(r#"{{{members}{comma}"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}"#)
    }
}
