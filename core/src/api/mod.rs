//! The public names: pool, session, lease, events, operations.

mod accept;
mod completion_queue;
mod desk;
mod drain;
mod gates;
mod host_servers;
mod introductions;
mod lease;
mod leasing;
mod loan;
mod pool;
mod restart;
mod roots;
#[cfg(test)]
pub(crate) mod scripted;
mod session;
mod session_calls;
mod sign_in;

pub use completion_queue::{Bell, CompletionQueue};
pub use desk::{DeskNews, HandlerDesk};
pub use lease::Lease;
pub use loan::{Loan, ReadBy};
pub use pool::Pool;
pub use session::Session;
