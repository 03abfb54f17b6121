//! In what JavaScript goes on when no call of it is under way.

use std::cell::Cell;
use std::ptr::null_mut;

use napi::{Result, check_status, sys};

use crate::runtime::text;

/// It is made with the environment: one that is made later would have what is asynchronous then, a
/// request of the host perhaps.
pub struct AsyncContext {
    env: sys::napi_env,
    /// Null at the end.
    made: Cell<sys::napi_async_context>,
}

/// What awaited a result goes on when this is dropped.
pub struct CallbackScope(sys::napi_env, sys::napi_callback_scope);

impl AsyncContext {
    /// Of an environment that runs on this thread; hooks see it as `resource`.
    ///
    /// # Errors
    /// When Node cannot make it.
    pub fn new(env: sys::napi_env, resource: sys::napi_value) -> Result<AsyncContext> {
        let (name, mut context) = (text::to_js(env, "trunkline")?, null_mut());
        // SAFETY: `env` is current on this thread, and the result is written before it is read.
        check_status!(unsafe { sys::napi_async_init(env, resource, name, &mut context) })?;
        Ok(AsyncContext { env, made: Cell::new(context) })
    }

    /// A scope around what goes on.
    pub fn scope(&self) -> Option<CallbackScope> {
        let (env, made, mut scope) = (self.env, self.made.get(), null_mut());
        if made.is_null() {
            return None;
        }
        // SAFETY: `env` is current on this thread, and the context was made in it; the object is
        // not used by any Node that this runs in.
        let status = unsafe { sys::napi_open_callback_scope(env, null_mut(), made, &mut scope) };
        (status == sys::Status::napi_ok).then_some(CallbackScope(env, scope))
    }

    /// The environment ends: from now on there are no scopes.
    pub fn end(&self) {
        let made = self.made.replace(null_mut());
        if !made.is_null() {
            // SAFETY: it was made in this environment, which is still there, and is given back
            // once.
            unsafe { sys::napi_async_destroy(self.env, made) };
        }
    }
}

impl Drop for CallbackScope {
    fn drop(&mut self) {
        // SAFETY: it was opened in this environment, on this thread, and is closed once, in the
        // reverse order.
        unsafe { sys::napi_close_callback_scope(self.0, self.1) };
    }
}
