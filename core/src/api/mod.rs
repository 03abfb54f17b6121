//! The public names: pool, session, lease, events, operations.

mod accept;
mod acquire;
mod call;
mod configure;
mod desk;
mod event;
mod gates;
mod held;
mod holds;
mod hosted;
mod lease;
mod operation;
mod pool;
mod progress;
mod reconcile;
mod registry;
mod reports;
mod retry;
mod roots;
mod session;
mod sign_in;
mod status;
mod told;
mod untold;
mod view;
mod wanted;

pub use call::CallResult;
pub use desk::{DeskNews, HandlerDesk};
pub use event::{Event, EventMask, Subscription};
pub use lease::Lease;
pub use operation::{CompletionQueue, Operation};
pub use pool::{Pool, Servers};
pub use progress::ProgressFeed;
pub use session::Session;
pub(crate) use session::SessionCore;
pub use view::Listed;
