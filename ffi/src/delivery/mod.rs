//! How ends, events and questions reach the host, and the objects of a pool.

pub(crate) mod callback_threads;
pub(crate) mod completion;
pub(crate) mod handle_registry;
pub(crate) mod handler_queues;
#[cfg_attr(windows, path = "notify_windows.rs")]
mod notify;
pub(crate) mod outcome;
pub(crate) mod queue;
pub(crate) mod signal;
pub(crate) mod subscription;
