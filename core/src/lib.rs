//! trunkline: a shared MCP connection pool.
#![deny(unsafe_code)]

mod client;

pub use trunkline_pool::{Error, ErrorCode, Outcome, Result};
