//! The one thread-safe function of an environment: how the library's threads call the JavaScript
//! thread.
//!
//! One weak thread-safe function serves all promises. One for each costs twice as much with 64
//! calls in flight.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard};

use napi::{Result, check_status, sys};

use crate::runtime::text;

/// A thread-safe function that carries nothing but "something waits in the queue".
///
/// It starts out weak: by itself it never keeps the event loop alive.
pub struct Waker(Mutex<Option<Raw>>);

struct Raw(sys::napi_threadsafe_function);

// SAFETY: Node-API allows `napi_call_threadsafe_function` from any thread; the other uses stay on
// the JavaScript thread.
unsafe impl Send for Raw {}

/// What Node calls for a wake-up, and once when the function is gone.
pub struct Callbacks {
    /// Called on the JavaScript thread for every wake-up that arrives; its third argument is
    /// `context`.
    pub on_wake: unsafe extern "C" fn(sys::napi_env, sys::napi_value, *mut c_void, *mut c_void),
    /// Called on the JavaScript thread at the end; its second argument is `context`.
    pub on_end: unsafe extern "C" fn(sys::napi_env, *mut c_void, *mut c_void),
    /// Whatever the two need.
    pub context: *mut c_void,
}

impl Waker {
    /// A waker that wakes nobody yet.
    pub fn new() -> Waker {
        Waker(Mutex::new(None))
    }

    /// Connects it to the environment, in which hooks see it as `resource`.
    ///
    /// # Errors
    /// When Node cannot make the function; `on_end` is then not called.
    pub fn open(
        &self,
        env: sys::napi_env,
        resource: sys::napi_value,
        callbacks: Callbacks,
    ) -> Result<()> {
        let name = text::to_js(env, "trunkline")?;
        let mut function = null_mut();
        // SAFETY: `env` is current on this thread; no JavaScript function is given, so `on_wake`
        // is; queue size 0 is unbounded, and the completion queue asks for one wake-up per batch at
        // most.
        check_status!(unsafe {
            sys::napi_create_threadsafe_function(
                env,
                null_mut(),
                resource,
                name,
                0,
                1,
                callbacks.context,
                Some(callbacks.on_end),
                callbacks.context,
                Some(callbacks.on_wake),
                &mut function,
            )
        })?;
        // SAFETY: the function was just made in this environment.
        check_status!(unsafe { sys::napi_unref_threadsafe_function(env, function) })?;
        *self.lock() = Some(Raw(function));
        Ok(())
    }

    /// Asks for one call of `on_wake`. From any thread; nothing once closed.
    pub fn wake(&self) {
        if let Some(Raw(function)) = &*self.lock() {
            // SAFETY: `close` takes the function away, under this lock, before Node frees it. A
            // refusal means that the environment is ending, and then nobody is left to be told.
            unsafe {
                sys::napi_call_threadsafe_function(
                    *function,
                    null_mut(),
                    sys::ThreadsafeFunctionCallMode::nonblocking,
                )
            };
        }
    }

    /// Keeps the event loop alive until [`let_go`](Waker::let_go). On the JavaScript thread.
    pub fn hold(&self, env: sys::napi_env) {
        if let Some(Raw(function)) = &*self.lock() {
            // SAFETY: as in `wake`, and this is the JavaScript thread.
            unsafe { sys::napi_ref_threadsafe_function(env, *function) };
        }
    }

    /// The counterpart of [`hold`](Waker::hold).
    pub fn let_go(&self, env: sys::napi_env) {
        if let Some(Raw(function)) = &*self.lock() {
            // SAFETY: as in `wake`, and this is the JavaScript thread.
            unsafe { sys::napi_unref_threadsafe_function(env, *function) };
        }
    }

    /// Disconnects it: from now on nobody is woken. Node frees the function itself, with its
    /// environment.
    pub fn close(&self) {
        self.lock().take();
    }

    fn lock(&self) -> MutexGuard<'_, Option<Raw>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
