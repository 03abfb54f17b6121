//! How the threads that run callbacks are started.

use std::io;
use std::thread;

/// Starts a thread for callbacks, whose signals are blocked from its first instruction, whichever thread starts it: the host's
/// handlers run on the host's own threads. Those of faults are not, for the code in a callback is the host's, and so is its fault.
pub(crate) fn start_callback_thread(
    name: &str,
    body: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    let start = || thread::Builder::new().name(name.to_owned()).spawn(body);
    #[cfg(unix)]
    let start = || signals::blocked(start);
    start().map(drop)
}

#[cfg(unix)]
mod signals {
    use std::mem::MaybeUninit;
    use std::ptr;

    /// Does something while this thread's signals are blocked, but for those of faults.
    pub(super) fn blocked<T>(body: impl FnOnce() -> T) -> T {
        let mut blocked = MaybeUninit::<libc::sigset_t>::uninit();
        let mut before = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: `sigfillset` initialises the set that the other calls use; the last one writes the old mask into `before`.
        unsafe {
            libc::sigfillset(blocked.as_mut_ptr());
            for fault in FAULTS {
                libc::sigdelset(blocked.as_mut_ptr(), fault);
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, blocked.as_ptr(), before.as_mut_ptr());
        }
        let done = body();
        // SAFETY: `before` was initialised above; the old mask is put back as it was.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
        done
    }

    /// Signals that an instruction of the thread itself raises.
    const FAULTS: [libc::c_int; 6] =
        [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS];
}
