//! The classes that the Python layer uses.

pub mod command_line;
pub mod handler_queue;
pub mod host_servers;
pub mod lease;
pub mod logs;
pub mod pool;
pub mod rows;
pub mod session;
pub mod subscription;
