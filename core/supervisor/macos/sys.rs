//! The few calls of macOS that the supervisor makes, declared by hand: it has no dependencies.

use std::ffi::{c_char, c_int, c_long, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;
use std::time::Duration;

use crate::tracked::Line;

pub const SIGKILL: c_int = 9;
pub const SIGTERM: c_int = 15;
pub const SIGSTOP: c_int = 17;
pub const SIGCONT: c_int = 19;

const EVFILT_READ: i16 = -1;
const EVFILT_PROC: i16 = -5;
const EV_ADD: u16 = 0x1;
const EV_CLEAR: u16 = 0x20;
const NOTE_EXIT: u32 = 0x8000_0000;
const NOTE_FORK: u32 = 0x4000_0000;
const PROC_PIDTBSDINFO: c_int = 3;
const ZOMBIE: u32 = 5;
const SIG_SETMASK: c_int = 3;

/// Descriptors that a careless host may have passed on.
const DESCRIPTORS_MAX: c_int = 4096;

/// Events taken at once.
const EVENTS_MAX: usize = 64;

/// Room for processes that start between the two looks at the table.
const SPARE_PIDS: usize = 64;

#[repr(C)]
#[derive(Clone, Copy)]
struct KernelEvent {
    ident: usize,
    filter: i16,
    flags: u16,
    notes: u32,
    value: isize,
    own: *mut c_void,
}

#[repr(C)]
struct Time {
    seconds: c_long,
    nanoseconds: c_long,
}

/// `proc_bsdinfo`.
#[repr(C)]
#[derive(Clone, Copy)]
struct ProcessEntry {
    flags: u32,
    status: u32,
    exit_status: u32,
    pid: u32,
    parent: u32,
    owners: [u32; 6],
    reserved: u32,
    names: [c_char; 48],
    files: u32,
    group: u32,
    job_control: u32,
    terminal: u32,
    terminal_group: u32,
    nice: i32,
    started_seconds: u64,
    started_microseconds: u64,
}

const _: () = assert!(size_of::<ProcessEntry>() == 136 && size_of::<KernelEvent>() == 32);

unsafe extern "C" {
    fn fork() -> c_int;
    fn setsid() -> c_int;
    fn _exit(status: c_int) -> !;
    fn close(fd: c_int) -> c_int;
    fn kqueue() -> c_int;
    fn kevent(
        queue: c_int,
        changes: *const KernelEvent,
        change_count: c_int,
        events: *mut KernelEvent,
        event_count: c_int,
        timeout: *const Time,
    ) -> c_int;
    fn proc_listallpids(pids: *mut c_void, bytes: c_int) -> c_int;
    fn proc_pidinfo(
        pid: c_int,
        kind: c_int,
        argument: u64,
        answer: *mut c_void,
        bytes: c_int,
    ) -> c_int;
    fn getsid(pid: c_int) -> c_int;
    fn kill(pid: c_int, signal: c_int) -> c_int;
    fn sigprocmask(how: c_int, set: *const u32, old: *mut u32) -> c_int;
}

/// Leaves the host: no child of it, in a session of its own, with no descriptor above 2, deaf to
/// signals.
pub fn detach() {
    let all = u32::MAX;
    // SAFETY: this process has one thread and owns nothing above 2; what a host passed on by
    // accident is nobody's here.
    unsafe {
        match fork() {
            0 => {}
            _ => _exit(0),
        }
        setsid();
        sigprocmask(SIG_SETMASK, &all, ptr::null_mut());
        (3..DESCRIPTORS_MAX).for_each(|fd| {
            close(fd);
        });
    }
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// There is something to read, or its end.
    Readable,
    /// This process forked.
    Forked(i32),
    /// This process ended.
    Ended(i32),
}

/// What is waited for.
pub struct Queue(OwnedFd);

impl Queue {
    pub fn new() -> Option<Queue> {
        // SAFETY: the result is checked, new and unowned.
        unsafe {
            let fd = kqueue();
            (fd >= 0).then(|| Queue(OwnedFd::from_raw_fd(fd)))
        }
    }

    /// Tells when a descriptor is readable, for as long as it is.
    pub fn watch_input(&self, fd: c_int) -> bool {
        self.add(fd as usize, EVFILT_READ, 0, 0)
    }

    /// Tells of the forks and the end of a process; `false` when there is none.
    pub fn watch_process(&self, pid: i32) -> bool {
        self.add(pid as usize, EVFILT_PROC, EV_CLEAR, NOTE_EXIT | NOTE_FORK)
    }

    fn add(&self, ident: usize, filter: i16, flags: u16, notes: u32) -> bool {
        let own = ptr::null_mut();
        let change = KernelEvent { ident, filter, flags: EV_ADD | flags, notes, value: 0, own };
        // SAFETY: one valid change, and no room for events.
        unsafe { kevent(self.0.as_raw_fd(), &change, 1, ptr::null_mut(), 0, ptr::null()) == 0 }
    }

    /// Waits until something happens, or the time is over; without a time, for ever.
    pub fn wait(&self, time: Option<Duration>) -> Vec<Event> {
        let own = ptr::null_mut();
        let none = KernelEvent { ident: 0, filter: 0, flags: 0, notes: 0, value: 0, own };
        let mut events = [none; EVENTS_MAX];
        let time = time.map(|it| Time {
            seconds: it.as_secs() as c_long,
            nanoseconds: it.subsec_nanos().into(),
        });
        let time = time.as_ref().map_or(ptr::null(), ptr::from_ref);
        let room = EVENTS_MAX as c_int;
        // SAFETY: the time is valid or null, and the events are as many as is said.
        let count =
            unsafe { kevent(self.0.as_raw_fd(), ptr::null(), 0, events.as_mut_ptr(), room, time) };
        let happened = events.iter().take(usize::try_from(count).unwrap_or(0));
        let read = |event: &KernelEvent| match event.filter {
            EVFILT_READ => Event::Readable,
            _ if event.notes & NOTE_EXIT != 0 => Event::Ended(event.ident as i32),
            _ => Event::Forked(event.ident as i32),
        };
        happened.map(read).collect()
    }
}

/// Every living process that this one may look at.
pub fn table() -> Vec<Line> {
    // SAFETY: without room the call only says how many there are.
    let count = unsafe { proc_listallpids(ptr::null_mut(), 0) };
    let mut pids = vec![0_i32; usize::try_from(count).unwrap_or(0) + SPARE_PIDS];
    // SAFETY: the list is valid for its size.
    let count = unsafe { proc_listallpids(pids.as_mut_ptr().cast(), size_of_val(&*pids) as c_int) };
    pids.truncate(usize::try_from(count).unwrap_or(0));
    pids.into_iter().filter(|pid| *pid > 0).filter_map(line).collect()
}

fn line(pid: i32) -> Option<Line> {
    // SAFETY: all zeros is a valid structure of numbers.
    let mut found: ProcessEntry = unsafe { std::mem::zeroed() };
    let bytes = size_of_val(&found) as c_int;
    // SAFETY: the answer is as large as is said; `getsid` only asks.
    let (written, session) = unsafe {
        let answer = (&raw mut found).cast();
        (proc_pidinfo(pid, PROC_PIDTBSDINFO, 0, answer, bytes), getsid(pid))
    };
    (written == bytes && found.status != ZOMBIE).then(|| Line {
        pid,
        parent: found.parent as i32,
        group: found.group as i32,
        session,
        started: found.started_seconds * 1_000_000 + found.started_microseconds,
    })
}

/// Signals a process that is still the one of this line.
pub fn signal(member: &Line, signal: c_int) {
    if line(member.pid).is_some_and(|it| it.started == member.started) {
        // SAFETY: sends a signal. There is no way to hold a process here, so that only the look
        // before tells whose pid it is.
        unsafe { kill(member.pid, signal) };
    }
}
