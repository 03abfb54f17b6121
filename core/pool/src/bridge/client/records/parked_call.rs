//! A call that waits until its client comes back.

use std::collections::BTreeMap;

use super::outcome::ShownOutcome;
use super::question::Question;
use crate::bridge::ids::CallId;
use crate::state::Moment;

/// A call that waits for its client.
#[derive(Debug)]
pub(in crate::bridge::client) struct ParkedCall {
    pub call: CallId,
    /// When the call is given up.
    pub until: Moment,
    /// What the client was asked, by the keys that it answers with.
    pub waiting: BTreeMap<String, Question>,
    /// The server went on meanwhile, and this is the end of the call.
    pub outcome: Option<ShownOutcome>,
}
