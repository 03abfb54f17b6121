//! The C ABI of trunkline: every `extern "C"` function, and what stands behind them.
//!
//! The header `include/trunkline.h` is generated from this crate, prose included; the library
//! itself is built by the crate beside it. An exported function is thin: inside the guard it
//! checks and converts what the host passed ([`abi`]), calls the core, and converts back. Each room
//! imports only from those before it:
//!
//! - [`abi`]: types, texts and errors; `guard.rs` is around every function, and `raw.rs` reads
//!   pointers.
//! - [`handles`]: `table.rs` has the handles, `pool_ids.rs` says which pool one is of;
//!   `callback_tracker.rs` knows what a close waits for.
//! - [`delivery`]: `completion.rs` ends an operation, exactly once. `callback_threads.rs` and
//!   `subscription.rs` run the host's callbacks; other hosts poll `queue.rs`, or wait for it.
//!   `handle_registry.rs` has the objects of one pool.
//! - [`ops`]: the functions. `forms.rs` has the three ways to ask for an end; `pool_ops.rs`,
//!   `session_ops.rs` and `lease_ops.rs` are written from the table of operations.
//!
//! In a forked child nothing of the parent's is locked or freed: every function compares the number
//! of forks first.
// What a caller of the exported functions has to keep is written in the header, once for all of
// them.
#![allow(clippy::missing_safety_doc)]
#![allow(rustdoc::private_intra_doc_links)]

mod abi;
mod delivery;
mod handles;
mod ops;
#[cfg(all(test, feature = "schedules"))]
#[path = "../../core/tests/rig/schedules.rs"]
mod schedules;
#[cfg(all(test, feature = "schedules"))]
#[path = "../../core/tests/rig/score.rs"]
mod score;

pub use abi::{buf::*, error::*, item::*, types::*};
pub use delivery::handle_registry::PoolObject;
pub use delivery::queue::QueueObject;
pub use ops::{
    handle_ops::*, host_servers::*, lease_ops::*, library::*, logs::*, pool::*, pool_ops::*,
    queue_functions::*, requests::*, session_ops::*, subscribe::*,
};
