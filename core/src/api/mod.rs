//! The public names: pool, session, lease, events, operations.

mod event;
mod lease;
mod operation;
mod pool;
mod session;

pub use event::{Event, EventMask, Subscription};
pub use lease::{CallResult, Lease, Listed};
pub use operation::{CompletionQueue, Operation};
pub use pool::{Pool, Servers};
pub use session::Session;
