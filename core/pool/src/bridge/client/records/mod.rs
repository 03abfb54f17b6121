//! What is kept of a client: its requests, calls, questions, listens and subscriptions.

pub(super) mod call;
pub(super) mod input_step;
pub(super) mod listen;
pub(super) mod outcome;
pub(super) mod parked_call;
pub(super) mod question;
pub(super) mod subscription;
