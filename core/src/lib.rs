//! trunkline: a shared MCP connection pool.
#![deny(unsafe_code)]

mod api;
mod client;
mod driver;
mod platform;
mod transport;

pub use api::{
    CallResult, CompletionQueue, Event, EventMask, Lease, Listed, Operation, Pool, Servers,
    Session, Subscription,
};
pub use trunkline_pool::config::ServerSpec;
pub use trunkline_pool::interface::{self, EventKind};
pub use trunkline_pool::options::{
    AcquireOptions, CallOptions, DrainOptions, PoolOptions, Progress, SessionOptions, Wanted,
};
pub use trunkline_pool::state::EntryState;
pub use trunkline_pool::{Error, ErrorCode, Outcome, Result};
