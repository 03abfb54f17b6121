//! What a forked child does before its exec, and descriptors of processes: for both ways to start a
//! program.

#[cfg(target_os = "linux")]
use std::os::fd::FromRawFd;
use std::os::fd::{OwnedFd, RawFd};
#[cfg(target_os = "linux")]
use std::ptr;

/// The highest descriptor that is closed one by one where the kernel cannot close a range.
const CLOSE_ONE_BY_ONE_MAX: RawFd = 65_536;

/// Resets every disposition, since ignored signals would be inherited through the exec.
///
/// # Safety
/// Only in a child right after `fork`.
pub(in crate::platform) unsafe fn default_signals() {
    const SIGNAL_MAX: libc::c_int = 64;
    for signal in 1..=SIGNAL_MAX {
        // By the system call, because the C library keeps two signals to itself and refuses to
        // touch them. All zeros is the default action with no flags, whatever the order of the
        // fields; the mask has eight bytes.
        #[cfg(target_os = "linux")]
        // SAFETY: the kernel reads at most the size of its own structure, which is smaller than
        // this one.
        unsafe {
            let default = [0_u64; 8];
            let none = ptr::null_mut::<libc::c_void>();
            libc::syscall(libc::SYS_rt_sigaction, signal, default.as_ptr(), none, 8_usize);
        }
        #[cfg(not(target_os = "linux"))]
        // SAFETY: the default disposition is always valid; a number that is no signal fails
        // harmlessly.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
        }
    }
}

/// Leaves the program nothing but the descriptors below `first`.
///
/// # Safety
/// Only in a child right after `fork`.
pub(in crate::platform) unsafe fn close_others_on_exec(first: RawFd) {
    #[cfg(target_os = "linux")]
    {
        const CLOSE_RANGE_CLOEXEC: libc::c_uint = 4;
        // SAFETY: marks descriptors of this child only.
        let done = unsafe {
            libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, CLOSE_RANGE_CLOEXEC)
        };
        if done == 0 {
            return;
        }
    }
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the struct is valid for the call, and marking a number that is not open fails
    // harmlessly.
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        let end = RawFd::try_from(limit.rlim_cur).unwrap_or(RawFd::MAX).min(CLOSE_ONE_BY_ONE_MAX);
        for fd in first..end {
            libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC);
        }
    }
}

/// A descriptor that becomes readable when the process has ended; `None` where the kernel has none.
pub(in crate::platform) fn exit_descriptor(pid: libc::pid_t) -> Option<OwnedFd> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: opens a new descriptor, closed on exec by definition.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        let fd = RawFd::try_from(fd).ok().filter(|fd| *fd >= 0)?;
        // SAFETY: the descriptor is new and unowned.
        Some(unsafe { OwnedFd::from_raw_fd(fd) })
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = pid;
        None
    }
}
