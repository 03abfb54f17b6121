//! The few calls of the operating system that the supervisor makes, declared by hand: it has no
//! dependencies.
//!
//! The layouts and numbers are those of Linux on the little-endian machines that the build script
//! lets through; they are the same there for every C library.

use std::ffi::{c_char, c_int, c_long, c_short, c_uint, c_ulong, c_void};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

pub const SIGKILL: c_int = 9;
pub const SIGUSR1: c_int = 10;
pub const SIGPIPE: c_int = 13;
pub const SIGTERM: c_int = 15;
pub const SIGCHLD: c_int = 17;
pub const SIGCONT: c_int = 18;
pub const SIGSTOP: c_int = 19;

const POLLIN: c_short = 1;
const PR_SET_PDEATHSIG: c_int = 1;
const PR_SET_NAME: c_int = 15;
const PR_SET_CHILD_SUBREAPER: c_int = 36;
const SYS_PIDFD_SEND_SIGNAL: c_long = 424;
const SYS_PIDFD_OPEN: c_long = 434;
const CLOEXEC: c_int = 0o2_000_000;
const F_SETFD: c_int = 2;
const FD_CLOEXEC: c_int = 1;
const MSG_DONTWAIT: c_int = 0x40;
const MSG_NOSIGNAL: c_int = 0x4000;
const MSG_CMSG_CLOEXEC: c_int = 0x4000_0000;
const WNOHANG: c_int = 1;
const EPERM: i32 = 1;
pub const ENOENT: i32 = 2;
pub const ENOSYS: i32 = 38;

/// As large as any C library makes it.
type SignalSet = [u64; 16];

#[repr(C)]
struct PollEntry {
    fd: c_int,
    events: c_short,
    revents: c_short,
}

#[repr(C)]
struct Part {
    base: *mut c_void,
    length: usize,
}

#[repr(C)]
struct MessageHeader {
    name: *mut c_void,
    name_length: c_uint,
    parts: *mut Part,
    part_count: usize,
    control: *mut c_void,
    control_length: usize,
    flags: c_int,
}

/// A control message with room for the descriptors of one server.
#[repr(C)]
struct ControlMessage {
    length: usize,
    level: c_int,
    kind: c_int,
    descriptors: [RawFd; 4],
}

unsafe extern "C" {
    pub fn fork() -> c_int;
    pub fn setsid() -> c_int;
    pub fn chdir(path: *const c_char) -> c_int;
    pub fn dup2(from: c_int, to: c_int) -> c_int;
    pub fn execve(
        path: *const c_char,
        argv: *const *const c_char,
        envp: *const *const c_char,
    ) -> c_int;
    pub fn fexecve(fd: c_int, argv: *const *const c_char, envp: *const *const c_char) -> c_int;
    pub fn write(fd: c_int, bytes: *const c_void, length: usize) -> isize;
    pub fn _exit(status: c_int) -> !;
    fn getppid() -> c_int;
    fn kill(pid: c_int, signal: c_int) -> c_int;
    fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn prctl(option: c_int, ...) -> c_int;
    fn syscall(number: c_long, ...) -> c_long;
    fn signal(signal: c_int, handler: usize) -> usize;
    fn sigemptyset(set: *mut SignalSet) -> c_int;
    fn sigfillset(set: *mut SignalSet) -> c_int;
    fn sigaddset(set: *mut SignalSet, signal: c_int) -> c_int;
    fn sigprocmask(how: c_int, set: *const SignalSet, old: *mut SignalSet) -> c_int;
    fn signalfd(fd: c_int, set: *const SignalSet, flags: c_int) -> c_int;
    fn poll(entries: *mut PollEntry, count: c_ulong, timeout: c_int) -> c_int;
    fn read(fd: c_int, bytes: *mut c_void, length: usize) -> isize;
    #[link_name = "send"]
    fn send_bytes(fd: c_int, bytes: *const c_void, length: usize, flags: c_int) -> isize;
    fn recvmsg(fd: c_int, message: *mut MessageHeader, flags: c_int) -> isize;
    fn pipe2(ends: *mut [c_int; 2], flags: c_int) -> c_int;
    fn fcntl(fd: c_int, command: c_int, ...) -> c_int;
}

/// Blocks every signal that can be blocked: nothing that a terminal or a stranger sends ends this
/// process.
pub fn block_signals() {
    let mut all: SignalSet = [0; 16];
    // SAFETY: the set is valid and at least as large as the C library's. SIGCHLD must not be
    // ignored, or nothing could be waited for.
    unsafe {
        sigfillset(&mut all);
        sigprocmask(2, &all, ptr::null_mut());
        signal(SIGCHLD, 0);
    }
}

/// The dispositions and the mask that a program expects. What else a host ignored was reset before
/// this program began.
pub fn plain_signals() {
    let mut none: SignalSet = [0; 16];
    // SAFETY: as above; the standard library of this program ignores SIGPIPE.
    unsafe {
        signal(SIGPIPE, 0);
        sigemptyset(&mut none);
        sigprocmask(2, &none, ptr::null_mut());
    }
}

/// A descriptor that is readable while one of these signals waits. They must be blocked.
pub fn signal_descriptor(signals: &[c_int]) -> Option<OwnedFd> {
    let mut set: SignalSet = [0; 16];
    // SAFETY: the set is valid; the result is checked and unowned.
    unsafe {
        sigemptyset(&mut set);
        for signal in signals {
            sigaddset(&mut set, *signal);
        }
        owned(signalfd(-1, &set, CLOEXEC))
    }
}

/// Makes this process the parent of every orphan below it.
pub fn become_subreaper() -> bool {
    // SAFETY: takes one more number.
    unsafe {
        prctl(PR_SET_CHILD_SUBREAPER, 1 as c_ulong, 0 as c_ulong, 0 as c_ulong, 0 as c_ulong) == 0
    }
}

/// Asks for a signal when the parent dies; `false` when it is dead already.
pub fn die_with(parent: i32, signal: c_int) -> bool {
    // SAFETY: takes one more number.
    unsafe { prctl(PR_SET_PDEATHSIG, signal as c_ulong, 0 as c_ulong, 0 as c_ulong, 0 as c_ulong) };
    is_child_of(parent)
}

/// Whether that process is still the parent of this one.
pub fn is_child_of(parent: i32) -> bool {
    // SAFETY: has no preconditions.
    unsafe { getppid() == parent }
}

/// The name that process lists show.
pub fn set_name(name: &std::ffi::CStr) {
    // SAFETY: the kernel reads up to the zero byte, at most 16.
    unsafe { prctl(PR_SET_NAME, name.as_ptr(), 0 as c_ulong, 0 as c_ulong, 0 as c_ulong) };
}

/// What became of one child.
pub enum Reaped {
    /// `(pid, wait status)`.
    One(i32, i32),
    /// The others live.
    NoneEnded,
    /// There are no children.
    NoneLeft,
}

/// Reaps one child that has ended.
pub fn reap() -> Reaped {
    let mut status = 0;
    // SAFETY: the status is valid for the call to write.
    match unsafe { waitpid(-1, &mut status, WNOHANG) } {
        0 => Reaped::NoneEnded,
        pid if pid > 0 => Reaped::One(pid, status),
        _ => Reaped::NoneLeft,
    }
}

/// Sends a signal to a child of this process that was not reaped, whose pid is therefore its own.
pub fn signal_child(pid: i32, signal: c_int) {
    // SAFETY: sends a signal.
    unsafe { kill(pid, signal) };
}

/// A descriptor of whichever process has the pid now; `None` when there is none, or the kernel is
/// too old.
pub fn open_process(pid: i32) -> Option<OwnedFd> {
    // SAFETY: the result is checked and unowned; such descriptors are closed on exec by definition.
    unsafe { owned(syscall(SYS_PIDFD_OPEN, pid as c_long, 0 as c_long) as c_int) }
}

/// Sends a signal, or with 0 only asks.
pub fn signal_process(process: &OwnedFd, signal: c_int) -> Signalled {
    let (fd, signal) = (process.as_raw_fd() as c_long, signal as c_long);
    let none = ptr::null::<c_void>();
    // SAFETY: the descriptor is open; the information argument may be null.
    match unsafe { syscall(SYS_PIDFD_SEND_SIGNAL, fd, signal, none, 0 as c_long) } {
        0 => Signalled::Done,
        _ if errno() == EPERM => Signalled::NotOurs,
        _ => Signalled::Gone,
    }
}

/// What came of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signalled {
    Done,
    /// The process is there, and another user's.
    NotOurs,
    Gone,
}

/// Waits until one of the descriptors has something to say, or `timeout_ms` is over; -1 waits for
/// ever.
pub fn wait<const N: usize>(
    descriptors: [Option<BorrowedFd<'_>>; N],
    timeout_ms: c_int,
) -> [bool; N] {
    // The kernel passes over negative numbers.
    let fd = |it: Option<BorrowedFd<'_>>| it.map_or(-1, |it| it.as_raw_fd());
    let mut entries = descriptors.map(|it| PollEntry { fd: fd(it), events: POLLIN, revents: 0 });
    // SAFETY: as many valid entries as it is told.
    unsafe { poll(entries.as_mut_ptr(), N as c_ulong, timeout_ms) };
    entries.map(|entry| entry.revents != 0)
}

/// Reads what is there; 0 at the end, and at an error.
pub fn receive(from: BorrowedFd<'_>, bytes: &mut [u8]) -> usize {
    // SAFETY: the buffer is valid for its length.
    let count = unsafe { read(from.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len()) };
    usize::try_from(count).unwrap_or(0)
}

/// Sends without waiting and without SIGPIPE. What does not fit is lost.
pub fn send(to: BorrowedFd<'_>, bytes: &[u8]) {
    let flags = MSG_DONTWAIT | MSG_NOSIGNAL;
    // SAFETY: the buffer is valid for its length.
    unsafe { send_bytes(to.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags) };
}

/// What came over the control socket.
pub enum Parcel {
    /// The socket of a server and its three streams.
    Server([OwnedFd; 4]),
    /// Something else, which is dropped.
    Other,
    /// The host closed it.
    End,
}

/// Takes one message from the control socket.
pub fn receive_parcel(control: BorrowedFd<'_>) -> Parcel {
    const HEADER: usize = size_of::<usize>() + 2 * size_of::<c_int>();
    let mut byte = 0_u8;
    let mut part = Part { base: (&raw mut byte).cast(), length: 1 };
    let mut extra = ControlMessage { length: 0, level: 0, kind: 0, descriptors: [-1; 4] };
    let mut message = MessageHeader {
        name: ptr::null_mut(),
        name_length: 0,
        parts: &mut part,
        part_count: 1,
        control: (&raw mut extra).cast(),
        control_length: size_of::<ControlMessage>(),
        flags: 0,
    };
    let flags = MSG_CMSG_CLOEXEC;
    // SAFETY: every pointer in the message is valid, with its length, for the call.
    let count = unsafe { recvmsg(control.as_raw_fd(), &mut message, flags) };
    if count <= 0 {
        return Parcel::End;
    }
    // SAFETY: descriptors that the call put there are new and unowned; the others are still -1.
    let descriptors = extra.descriptors.map(|fd| unsafe { owned(fd) });
    match descriptors {
        [Some(a), Some(b), Some(c), Some(d)] if extra.length >= HEADER => {
            Parcel::Server([a, b, c, d])
        }
        _ => Parcel::Other,
    }
}

/// A pipe closed on exec: where to read, where to write.
pub fn pipe() -> Option<(OwnedFd, OwnedFd)> {
    let mut ends = [-1; 2];
    // SAFETY: the array has room for both; they are new and unowned.
    unsafe {
        if pipe2(&mut ends, CLOEXEC) < 0 {
            return None;
        }
        Some((owned(ends[0])?, owned(ends[1])?))
    }
}

/// Takes over a descriptor that the host arranged for this program, and passes it on to nobody.
///
/// # Safety
/// Once for each number, and only for what this program was started with.
pub unsafe fn inherited(fd: RawFd) -> Option<OwnedFd> {
    // SAFETY: sets a flag; the caller says that nobody owns the number.
    unsafe { if fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 { None } else { owned(fd) } }
}

/// # Safety
/// A number that is not negative is a new, unowned descriptor.
unsafe fn owned(fd: c_int) -> Option<OwnedFd> {
    // SAFETY: the caller's promise.
    (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The error number of the call before.
pub fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}
