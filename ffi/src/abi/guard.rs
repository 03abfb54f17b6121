//! What stands between the host and a panic, a fork, or a wait in the wrong place.

use std::cell::Cell;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use trunkline::{Error, ErrorCode, Result, panics};

use crate::abi::cancel::Uncancelled;
use crate::abi::error::ErrorObject;
use crate::abi::panic_guard::{contain, is_guarded};
use crate::abi::types::Status;

/// Runs the body of an exported function: its error goes to `err`, if the caller wants it, and a
/// panic becomes `internal`. The thread is not cancelled meanwhile.
///
/// # Safety
/// `err` is NULL or may be written.
pub(crate) unsafe fn guard(
    err: *mut *mut ErrorObject,
    body: impl FnOnce() -> Result<()>,
) -> Status {
    let _uncancelled = Uncancelled::begin();
    let Err(error) = contain(body) else { return Status::Ok };
    let status = Status::from(error.code());
    if !err.is_null() {
        // SAFETY: `err` may be written, says the caller.
        unsafe { err.write(ErrorObject::new(error).into_raw()) };
    }
    status
}

/// Prepares the process, once: panics are noted for the error, and those of guarded code are not
/// printed; a fork is noticed.
pub(crate) fn prepare_process() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handler touches one atomic, which is allowed in a child of a process with
        // threads.
        #[cfg(unix)]
        unsafe {
            libc::pthread_atfork(None, None, Some(note_fork))
        };
        panics::report_without_values(is_guarded);
    });
}

#[cfg(unix)]
unsafe extern "C" fn note_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// How many forks lie between this process and the one that loaded the library. An object of
/// another number is the parent's.
pub(crate) fn forks() -> u32 {
    FORKS.load(Ordering::Relaxed)
}

/// Refuses an object that belongs to the parent process.
pub(crate) fn check_fork(made_at: u32) -> Result<()> {
    if made_at == forks() {
        return Ok(());
    }
    Err(Error::new(ErrorCode::Forked, "this object belongs to the parent process")
        .with_hint("make a new pool in the child"))
}

/// Refuses a wait on a thread that runs a callback of the host.
pub(crate) fn check_may_block() -> Result<()> {
    if IN_CALLBACK.with(Cell::get) != Some(forks()) {
        return Ok(());
    }
    Err(Error::new(ErrorCode::WrongThread, "a blocking function was called from inside a callback")
        .with_hint("start the operation instead, or call from another thread"))
}

/// Runs a callback of the host; blocking functions refuse meanwhile.
pub(crate) fn in_callback(callback: impl FnOnce()) {
    let before = IN_CALLBACK.with(|inside| inside.replace(Some(forks())));
    callback();
    IN_CALLBACK.with(|inside| inside.set(before));
}

static FORKS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// The process whose callback runs, by its number of forks: a child that was forked inside of
    /// one is not in one of its own.
    static IN_CALLBACK: Cell<Option<u32>> = const { Cell::new(None) };
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// SPEC 16.2: the error is written on failure alone.
    #[test]
    fn the_error_is_written_on_failure_alone() {
        let mut err = std::ptr::null_mut();
        // SAFETY: `err` is a local.
        let status = unsafe { guard(&mut err, || Ok(())) };
        assert!(status == Status::Ok && err.is_null());
        // SAFETY: `err` is a local.
        let status = unsafe { guard(&mut err, || check_fork(u32::MAX)) };
        assert!(status == Status::Forked && !err.is_null());
        // SAFETY: it came from the guard.
        unsafe { crate::abi::error::trunkline_error_free(err) };
    }

    /// I-18
    #[test]
    fn a_wait_inside_a_callback_is_refused_there_alone() {
        assert!(check_may_block().is_ok());
        in_callback(|| {
            in_callback(|| ());
            assert_eq!(check_may_block().unwrap_err().code(), ErrorCode::WrongThread);
        });
        assert!(check_may_block().is_ok());
    }

    /// SPEC 16.3: a child has one thread, and nobody who waits for its callback to return.
    #[cfg(unix)]
    #[test]
    fn a_child_that_was_forked_inside_a_callback_may_wait() {
        in_callback(|| assert!(holds_in_child(|| check_may_block().is_ok())));
    }

    /// Whether this holds in a forked child, which ends with the answer.
    #[cfg(unix)]
    pub(crate) fn holds_in_child(holds: impl FnOnce() -> bool) -> bool {
        prepare_process();
        let mut status = -1;
        // SAFETY: the child does what its caller knows to need no other thread, and ends without
        // cleaning up; the status is a local.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                libc::alarm(90);
                libc::_exit(i32::from(!holds()));
            }
            libc::waitpid(child, &mut status, 0) == child && status == 0
        }
    }
}
