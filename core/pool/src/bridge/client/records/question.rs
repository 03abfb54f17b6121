//! Questions of servers that are open.

use crate::bridge::ids::{CallId, QuestionId, StreamId};

/// A question as the client gets it.
#[derive(Clone, Debug)]
pub(in crate::bridge::client) struct Question {
    pub id: QuestionId,
    pub method: String,
    pub params: String,
}

/// A question that a legacy client was asked.
#[derive(Debug)]
pub(in crate::bridge::client) struct AskedQuestion {
    pub question: QuestionId,
    pub call: CallId,
    pub stream: StreamId,
}
