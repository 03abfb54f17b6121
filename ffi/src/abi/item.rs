//! What queues and completion callbacks give to the host.

use std::ffi::c_void;

use crate::abi::buf::Buf;
use crate::abi::error::ErrorObject;
use crate::abi::types::Status;

/// What a `trunkline_item` tells.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// An operation ended: `status`; then `buf` or `handle`, or `error`.
    Done = 1,
    /// An event of a subscription: `event`, and its JSON text in `buf`.
    Event = 2,
    /// A subscription ended, since its pool or session did, or the pool was freed. Nothing follows
    /// from it, and it need not be closed.
    End = 3,
}

/// The end of an operation, or an event: what a queue delivers, and what a completion callback is
/// shown.
///
/// From `trunkline_queue_drain` the caller owns `buf`, `error` and `handle`. In a callback `buf`
/// and `error` are borrowed; to keep one, take the pointer and set the field to NULL. A lease in
/// `handle` is the host's own in both cases: release it.
#[repr(C)]
#[derive(Debug)]
pub struct Item {
    /// The number that the host gave when it started the operation or subscribed; 0 in a callback.
    pub tag: u64,
    /// Of an acquire: the lease. Of an event or an end: the subscription. Otherwise 0.
    pub handle: u64,
    /// What this item tells.
    pub kind: ItemKind,
    /// How the operation ended; `TRUNKLINE_STATUS_OK` for events.
    pub status: Status,
    /// The number of the event (a `trunkline_event`, and whatever comes later); 0 otherwise.
    pub event: u32,
    /// 0.
    pub reserved: u32,
    /// The result, report or event: JSON text. NULL when there is none.
    pub buf: *mut Buf,
    /// Why the operation failed; NULL when it did not.
    pub error: *mut ErrorObject,
    /// 0.
    pub reserved_more: [u64; 2],
}

/// Called once, on a thread of the library, when an operation ended. `item` is the library's, and
/// good until the function returns.
///
/// It must not throw. It may start operations, cancel, release, unsubscribe and free; a blocking
/// function answers `TRUNKLINE_STATUS_WRONG_THREAD` inside it. A few threads of each pool serve all
/// completions, so one that blocks holds up others.
pub type DoneFn = Option<unsafe extern "C" fn(user_data: *mut c_void, item: *mut Item)>;
