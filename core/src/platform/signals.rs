//! Signals: masks of our own threads, writes that cannot raise SIGPIPE in the host, and sending to
//! a process.

use std::cell::Cell;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    /// Whether this is a thread of ours, on which every signal is blocked.
    static BLOCKED: Cell<bool> = const { Cell::new(false) };
}

/// Blocks every signal on the calling thread, for good. For threads of our own: the host's handlers
/// then never run on them, and a write to a closed pipe is an error instead of a signal.
pub(crate) fn block_all_signals() {
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigfillset` initialises the set that `pthread_sigmask` then reads; the old mask is
    // not asked for.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), ptr::null_mut());
    }
    BLOCKED.set(true);
}

/// Runs `start` with every signal blocked, so that a thread started in it inherits that from its
/// first instruction.
pub(super) fn with_signals_blocked<T>(start: impl FnOnce() -> T) -> T {
    with_mask(&[], start)
}

/// The same with the signals of faults open, whatever this thread itself has blocked.
pub(super) fn with_faults_open<T>(start: impl FnOnce() -> T) -> T {
    with_mask(&FAULTS, start)
}

/// Runs `start` with every signal blocked but the `open` ones.
fn with_mask<T>(open: &[libc::c_int], start: impl FnOnce() -> T) -> T {
    let mut blocked = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigfillset` initialises the set that the other calls use; the last one writes the
    // old mask into `before`.
    unsafe {
        libc::sigfillset(blocked.as_mut_ptr());
        for signal in open {
            libc::sigdelset(blocked.as_mut_ptr(), *signal);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, blocked.as_ptr(), before.as_mut_ptr());
    }
    let result = start();
    // SAFETY: `before` was initialised above; the old mask is put back as it was.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    result
}

/// `write(2)` that never raises SIGPIPE, whatever the host made of that signal.
///
/// # Errors
/// `BrokenPipe` when nobody reads; `WouldBlock` when the pipe is full.
pub(super) fn write(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    // On Apple's systems the signal goes to the process: no mask keeps it away, and nothing but
    // `never_raise` does.
    #[cfg(not(target_vendor = "apple"))]
    if !BLOCKED.get() {
        #[cfg(target_os = "linux")]
        if let Some(result) = write_unsignalled(fd, bytes) {
            return result;
        }
        return write_masked(fd, bytes);
    }
    write_once(fd, bytes)
}

/// No write to it raises SIGPIPE, on whatever thread.
#[cfg(target_vendor = "apple")]
pub(super) fn never_raise(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: sets a flag of a descriptor that is open.
    match unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETNOSIGPIPE, 1) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// [`write`] in one call of the system, where that has such a write: Linux from 6.18 on. What
/// answers otherwise, an older system or a sandbox that lets nobody ask, is not asked again.
#[cfg(target_os = "linux")]
fn write_unsignalled(fd: BorrowedFd<'_>, bytes: &[u8]) -> Option<io::Result<usize>> {
    static IS_REFUSED: AtomicBool = AtomicBool::new(false);
    const RWF_NOSIGNAL: libc::c_long = 0x100;
    const ONE_PART: libc::c_long = 1;
    // Where the stream is.
    const HERE: libc::c_long = -1;
    while !IS_REFUSED.load(Ordering::Relaxed) {
        let part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let fd = libc::c_long::from(fd.as_raw_fd());
        // SAFETY: the descriptor is borrowed for the call, and so is the one part, which is only
        // read. Each number is as wide as a register, since a narrower one leaves the rest of it
        // undefined.
        let written = unsafe {
            libc::syscall(
                libc::SYS_pwritev2,
                fd,
                &raw const part,
                ONE_PART,
                HERE,
                HERE,
                RWF_NOSIGNAL,
            )
        };
        if let Ok(written) = usize::try_from(written) {
            return Some(Ok(written));
        }
        let error = io::Error::last_os_error();
        match error.kind() {
            io::ErrorKind::Interrupted => {}
            io::ErrorKind::WouldBlock | io::ErrorKind::BrokenPipe => return Some(Err(error)),
            _ => IS_REFUSED.store(true, Ordering::Relaxed),
        }
    }
    None
}

/// [`write`] anywhere: with the signal blocked on this thread, and taken if it came.
#[cfg(not(target_vendor = "apple"))]
fn write_masked(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    let mut pipe = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigemptyset` initialises the set before it is used; `before` is written by the last
    // call.
    unsafe {
        libc::sigemptyset(pipe.as_mut_ptr());
        libc::sigaddset(pipe.as_mut_ptr(), libc::SIGPIPE);
        libc::pthread_sigmask(libc::SIG_BLOCK, pipe.as_ptr(), before.as_mut_ptr());
    }
    // SAFETY: initialised by the calls above.
    let (pipe, before) = unsafe { (pipe.assume_init(), before.assume_init()) };
    let result = write_once(fd, bytes);
    // SAFETY: reads an initialised set.
    let was_blocked = unsafe { libc::sigismember(&before, libc::SIGPIPE) } == 1;
    let raised = matches!(&result, Err(error) if error.kind() == io::ErrorKind::BrokenPipe);
    if raised && !was_blocked {
        consume(&pipe);
    }
    // SAFETY: puts the mask back as it was.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &before, ptr::null_mut()) };
    result
}

/// Takes the SIGPIPE that our own write left pending on this thread, if the host does not ignore
/// it.
#[cfg(not(target_vendor = "apple"))]
fn consume(set: &libc::sigset_t) {
    loop {
        let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the set and the time are valid for the call; no information is asked for.
        let taken = unsafe { libc::sigtimedwait(set, ptr::null_mut(), &now) };
        if taken >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return;
        }
    }
}

fn write_once(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    loop {
        // SAFETY: the descriptor is borrowed for the call, and the buffer is valid for its length.
        let written = unsafe { libc::write(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(written) => return Ok(written),
            Err(_) => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
}

/// Signals that an instruction of the thread itself raises.
const FAULTS: [libc::c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS];

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;
    use crate::platform::{alone_in_a_process, default_sigpipe};

    type Way = fn(BorrowedFd<'_>, &[u8]) -> io::Result<usize>;

    #[cfg(not(target_vendor = "apple"))]
    const WAYS: [Way; 2] = [write, write_masked];
    #[cfg(target_vendor = "apple")]
    const WAYS: [Way; 1] = [write];

    /// I-22: whichever way the system has, the host of a closed pipe lives, and its mask is as it
    /// was.
    #[test]
    fn a_write_to_nobody_is_an_error_and_no_signal() {
        let name = "platform::signals::tests::a_write_to_nobody_is_an_error_and_no_signal";
        alone_in_a_process(name, || {
            default_sigpipe();
            for way in WAYS {
                let (read, end) = crate::platform::pipe::pipe().unwrap();
                #[cfg(target_vendor = "apple")]
                never_raise(end.as_fd()).unwrap();
                assert_eq!(way(end.as_fd(), b"12345").unwrap(), 5);
                drop(read);
                let error = way(end.as_fd(), b"12345").unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
                let (mut pending, mut mask) = (MaybeUninit::uninit(), MaybeUninit::uninit());
                // SAFETY: both calls fill the sets that are asked afterwards.
                let is_in = unsafe {
                    libc::sigpending(pending.as_mut_ptr());
                    libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), mask.as_mut_ptr());
                    [pending, mask].map(|set| libc::sigismember(set.as_ptr(), libc::SIGPIPE))
                };
                assert_eq!(is_in, [0, 0]);
            }
        });
    }

    /// A full pipe is one, in either way.
    #[test]
    fn a_write_to_a_full_pipe_does_not_wait() {
        for way in WAYS {
            let (_read, end) = crate::platform::pipe::pipe().unwrap();
            crate::platform::pipe::set_nonblocking(&end).unwrap();
            let error = loop {
                if let Err(error) = way(end.as_fd(), &[0; 4096]) {
                    break error;
                }
            };
            assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        }
    }
}
