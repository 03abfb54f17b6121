//! The public names: pool, session, lease, events, operations.

mod completion_queue;
mod desk;
mod host_servers;
mod introductions;
mod lease;
mod leasing;
mod loan;
mod pool;
#[cfg(test)]
pub(crate) mod scripted;
mod session;
mod session_calls;
mod session_requests;

pub use completion_queue::{Bell, CompletionQueue};
pub use desk::{HandlerEvent, HandlerQueue};
pub use lease::Lease;
pub use loan::{LoopReader, Reader};
pub use pool::Pool;
pub(crate) use pool::endpoints::PoolEndpoint;
pub use session::Session;
