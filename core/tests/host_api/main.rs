//! What a host does with a pool, its sessions and its leases, and what it is told, with real
//! servers.

mod cache;
mod edges;
mod events;
mod hosted;
mod kept;
mod lazy;
mod logs;
mod names;
mod pool;
mod retry;
mod server_requests;
mod serving;
mod sessions;
mod status;
