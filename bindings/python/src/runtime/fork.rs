//! Forks: what was made before one answers `forked` after it, in the child.
//!
//! The threads of the library do not exist in the child, and its locks may be held for ever there;
//! so nothing that was inherited is called, not even to drop it.

use std::mem::ManuallyDrop;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use trunkline::{Error, ErrorCode};

use crate::runtime::failure::exception;

/// How many forks lie between the first process and this one.
static FORKS: AtomicU32 = AtomicU32::new(0);

extern "C" fn count_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Begins to count forks. Repeating it does nothing.
pub fn watch() -> PyResult<()> {
    static START: Once = Once::new();
    static STARTED: AtomicBool = AtomicBool::new(false);
    START.call_once(|| {
        // SAFETY: the handler is a plain function of this library that only adds to an atomic,
        // which is allowed in the child of a fork; an interpreter never unloads an extension
        // module.
        let status = unsafe { libc::pthread_atfork(None, None, Some(count_fork)) };
        STARTED.store(status == 0, Ordering::Relaxed);
    });
    if STARTED.load(Ordering::Relaxed) {
        Ok(())
    } else {
        Err(PyRuntimeError::new_err("out of memory while registering the fork handler"))
    }
}

/// Something that belongs to the process that made it.
pub struct Owned<T> {
    inner: ManuallyDrop<T>,
    forks: u32,
}

impl<T> Owned<T> {
    /// Belongs to this process.
    pub fn new(inner: T) -> Self {
        Owned { inner: ManuallyDrop::new(inner), forks: FORKS.load(Ordering::Relaxed) }
    }

    /// Whether a fork lies between its making and this process.
    pub fn is_inherited(&self) -> bool {
        self.forks != FORKS.load(Ordering::Relaxed)
    }

    /// The thing, or `ForkedError`.
    pub fn here(&self) -> PyResult<&T> {
        if self.is_inherited() {
            let error = Error::new(
                ErrorCode::Forked,
                "this object was made before a fork, by the parent process",
            )
            .with_hint("make a pool of its own in the child");
            return Err(Python::attach(|py| exception(py, &error)));
        }
        Ok(&self.inner)
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        if !self.is_inherited() {
            // SAFETY: `inner` is dropped here alone, and `self` is not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.inner) }
        }
    }
}
