//! What this uses of libuv, which Node has in itself and exports.
//!
//! It is looked up where it is used: an addon that is linked to it would not load in a program that
//! runs addons without it.
//!
//! Bun ends the process at a call of libuv, and Deno has no handle scope where an environment ends.
//! So neither reads answers in its loop.

#[cfg(unix)]
use std::ffi::CStr;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use napi::sys::uv_loop_s;

/// A handle: its memory, of a size that libuv says.
pub type Handle = *mut c_void;

/// Told that a descriptor can be read, or cannot be polled.
pub type OnPolled = unsafe extern "C" fn(handle: Handle, status: c_int, events: c_int);

/// Told that a handle is closed, whose memory may go.
pub type OnClosed = unsafe extern "C" fn(handle: Handle);

/// The functions. Each is for the thread of the loop alone.
pub struct Uv {
    pub handle_size: unsafe extern "C" fn(kind: c_int) -> usize,
    pub poll_init: unsafe extern "C" fn(*mut uv_loop_s, Handle, descriptor: c_int) -> c_int,
    pub poll_start: unsafe extern "C" fn(Handle, events: c_int, OnPolled) -> c_int,
    pub poll_stop: unsafe extern "C" fn(Handle) -> c_int,
    pub unref: unsafe extern "C" fn(Handle),
    pub attach: unsafe extern "C" fn(Handle, *mut c_void),
    pub attached: unsafe extern "C" fn(Handle) -> *mut c_void,
    pub close: unsafe extern "C" fn(Handle, Option<OnClosed>),
}

/// `UV_POLL`, a kind of handle.
pub const POLL: c_int = 8;

/// `UV_READABLE`, what is polled for.
pub const READABLE: c_int = 1;

impl Uv {
    /// Those of the process that this is loaded into, if it has them.
    pub fn of_process() -> Option<&'static Uv> {
        static FOUND: OnceLock<Option<Uv>> = OnceLock::new();
        FOUND.get_or_init(Uv::find).as_ref()
    }

    /// Windows polls sockets alone.
    #[cfg(not(unix))]
    fn find() -> Option<Uv> {
        None
    }

    #[cfg(unix)]
    fn find() -> Option<Uv> {
        // SAFETY: each has the type that libuv 1 documents under its name, on every system.
        unsafe {
            Some(Uv {
                handle_size: function(c"uv_handle_size")?,
                poll_init: function(c"uv_poll_init")?,
                poll_start: function(c"uv_poll_start")?,
                poll_stop: function(c"uv_poll_stop")?,
                unref: function(c"uv_unref")?,
                attach: function(c"uv_handle_set_data")?,
                attached: function(c"uv_handle_get_data")?,
                close: function(c"uv_close")?,
            })
        }
    }
}

/// A function of the process.
///
/// # Safety
/// `F` is the type of a function, and of the one with that name.
#[cfg(unix)]
unsafe fn function<F: Copy>(name: &CStr) -> Option<F> {
    // SAFETY: the name ends with a zero byte.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: as the caller says, and a pointer to a function is as large as any.
    (!address.is_null()).then(|| unsafe { std::mem::transmute_copy(&address) })
}
