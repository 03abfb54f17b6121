//! One served client as a state machine: what it asked, what servers ask it, and what it listens
//! to.

mod announcements;
mod answers;
mod calls;
mod ending;
mod forwarding;
mod listens;
mod parking;
mod questions;
mod records;
mod requests;
mod rounds;
mod served_client;
mod subscriptions;

pub use served_client::ServedClient;
