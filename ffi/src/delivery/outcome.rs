//! What an operation gives, and the item that tells of it.

use std::sync::Arc;

use trunkline::{Lease, Result};

use crate::abi::buf::{Buf, trunkline_buf_free};
use crate::abi::error::{ErrorObject, trunkline_error_free};
use crate::abi::guard::in_callback;
use crate::abi::item::{DoneFn, Item, ItemKind};
use crate::abi::types::Status;
use crate::abi::user_data::UserData;
use crate::handles::table::Table;

/// The leases of one pool.
pub(crate) type Leases = Table<Arc<Lease>>;

/// What an operation gives.
pub(crate) enum Value {
    Nothing,
    Text(Buf),
    Lease(Lease),
}

impl Value {
    /// A report as JSON text.
    pub(crate) fn report(report: serde_json::Value) -> Value {
        Value::Text(Buf::from(report.to_string()))
    }
}

/// A completion callback of the host.
pub(crate) struct Callback {
    pub(crate) done: DoneFn,
    pub(crate) user_data: UserData,
}

impl Callback {
    /// Shows the host the end of an operation, then destroys the user data. Runs on a completion
    /// thread.
    pub(crate) fn run(self, outcome: Result<Value>, leases: &Leases) {
        let mut item = item_of(outcome, 0, leases);
        if let Some(done) = self.done {
            // SAFETY: the host gave the function for this pointer, and the item outlives the call.
            in_callback(|| unsafe { done(self.user_data.pointer, &mut item) });
        }
        // SAFETY: what the host did not take is still ours.
        unsafe { free_parts(&item) };
    }
}

/// The item that tells of an end. A lease gets its handle here.
pub(crate) fn item_of(outcome: Result<Value>, tag: u64, leases: &Leases) -> Item {
    let outcome = outcome.and_then(|value| match value {
        Value::Nothing => Ok((0, std::ptr::null_mut())),
        Value::Text(buf) => Ok((0, buf.into_raw())),
        Value::Lease(lease) => Ok((leases.insert(Arc::new(lease))?, std::ptr::null_mut())),
    });
    let mut item = Item {
        tag,
        handle: 0,
        kind: ItemKind::Done,
        status: Status::Ok,
        event: 0,
        reserved: 0,
        buf: std::ptr::null_mut(),
        error: std::ptr::null_mut(),
        reserved_more: [0; 2],
    };
    match outcome {
        Ok((handle, buf)) => (item.handle, item.buf) = (handle, buf),
        Err(error) => {
            item.status = Status::from(error.code());
            item.error = ErrorObject::new(error).into_raw();
        }
    }
    item
}

/// Frees what an item owns, but for a handle.
///
/// # Safety
/// The item's pointers are NULL or the library's, and nobody uses them any more.
pub(crate) unsafe fn free_parts(item: &Item) {
    // SAFETY: as the function's own.
    unsafe {
        trunkline_buf_free(item.buf);
        trunkline_error_free(item.error);
    }
}
