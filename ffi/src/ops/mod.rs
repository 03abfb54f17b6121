//! The functions that a host calls.

pub(crate) mod call_options;
mod forms;
pub(crate) mod handle_ops;
pub(crate) mod host_servers;
#[rustfmt::skip]
pub(crate) mod lease_ops;
pub(crate) mod library;
pub(crate) mod logs;
pub(crate) mod pool;
#[rustfmt::skip]
pub(crate) mod pool_ops;
pub(crate) mod queue_functions;
pub(crate) mod requests;
#[rustfmt::skip]
pub(crate) mod session_ops;
pub(crate) mod subscribe;
