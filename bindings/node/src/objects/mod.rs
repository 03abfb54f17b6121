//! The classes and functions that the JavaScript files use.

pub mod bridge;
pub mod command_line;
pub mod handler_queue;
pub mod host_servers;
pub mod lease;
pub mod logs;
#[rustfmt::skip]
pub mod operations;
pub mod pool;
pub mod session;
pub mod subscription;
