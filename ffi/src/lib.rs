//! The C ABI of trunkline: every `extern "C"` function, and what stands behind them.
//!
//! The header `include/trunkline.h` is generated from this crate, prose included; the library
//! itself is built by the crate beside it. An exported function is thin: inside the [`guard`] it
//! checks and converts what the host passed ([`raw`]), calls the core, and converts back. What is
//! longer than that has a module:
//!
//! - [`table`]: handles; [`objects`]: the tables of one pool; [`numbers`]: which pool a handle is
//!   of.
//! - [`completion`]: the end of an operation, exactly once; [`forms`]: the three ways to ask for
//!   it.
//! - [`dispatch`] and [`subscription`]: the threads that run the host's callbacks; [`running`]:
//!   what a close waits for of them.
//! - [`queue`] and [`notify`]: what a host with a loop of its own polls instead.
//! - [`pool_work`], [`session_work`] and [`lease_work`]: the functions that are written from the
//!   table of operations.
//!
//! In a forked child nothing of the parent's is locked or freed: every function compares the number
//! of forks first.
// What a caller of the exported functions has to keep is written in the header, once for all of
// them.
#![allow(clippy::missing_safety_doc)]
#![allow(rustdoc::private_intra_doc_links)]

mod buf;
mod call_options;
mod cancel;
mod completion;
mod dispatch;
mod error;
mod forms;
mod guard;
mod handler_queues;
mod handlers;
mod holds;
mod host_servers;
#[rustfmt::skip]
mod lease_work;
mod item;
mod library;
mod logs;
#[cfg_attr(windows, path = "notify/windows.rs")]
mod notify;
mod numbers;
mod objects;
mod outcome;
mod panic_guard;
mod pool;
#[rustfmt::skip]
mod pool_work;
mod queue;
mod queue_calls;
mod raw;
mod running;
#[cfg(all(test, feature = "schedules"))]
#[path = "../../core/tests/rig/schedules.rs"]
mod schedules;
#[cfg(all(test, feature = "schedules"))]
#[path = "../../core/tests/rig/score.rs"]
mod score;
#[rustfmt::skip]
mod session_work;
mod signal;
mod subscribe;
mod subscription;
mod sync;
mod table;
mod types;
mod user_data;

pub use buf::*;
pub use error::*;
pub use handlers::*;
pub use holds::*;
pub use host_servers::*;
pub use item::*;
pub use lease_work::*;
pub use library::*;
pub use logs::*;
pub use objects::PoolObject;
pub use pool::*;
pub use pool_work::*;
pub use queue::QueueObject;
pub use queue_calls::*;
pub use session_work::*;
pub use subscribe::*;
pub use types::*;
