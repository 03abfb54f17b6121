//! What the host gives with its callbacks.

use std::ffi::c_void;

use crate::abi::guard::in_callback;
use crate::abi::types::DestroyFn;

/// A `user_data` of the host with its destroy function, which runs exactly once: when this is
/// dropped.
pub(crate) struct UserData {
    pub(crate) pointer: *mut c_void,
    destroy: DestroyFn,
}

// SAFETY: the header says that callbacks run on threads of the library.
unsafe impl Send for UserData {}

impl UserData {
    pub(crate) fn new(pointer: *mut c_void, destroy: DestroyFn) -> UserData {
        UserData { pointer, destroy }
    }
}

impl Drop for UserData {
    fn drop(&mut self) {
        if let Some(destroy) = self.destroy {
            // SAFETY: the host gave the function for this pointer, and nothing uses it afterwards.
            in_callback(|| unsafe { destroy(self.pointer) });
        }
    }
}
