//! Fork and exec of one server: a new session, three pipes, nothing else inherited (S-20 to S-23).
//!
//! Written out instead of `std::process::Command`, which panics when it cannot reap a child whose
//! exec failed: a host that ignores SIGCHLD leaves nothing to reap (I-22).

use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::ptr;
use std::time::Duration;

use crate::platform::fork::child::{close_others_on_exec, default_signals};
use crate::platform::fork::close_on_fork::NotInherited;
use crate::platform::pipe::{ReadPipe, pipe, set_nonblocking};
use crate::platform::{FileStamp, LAUNCH_STEPS, LAUNCH_TIMEOUT_MS, Launch, LaunchError, signals};

/// A child that was forked, before it meets the runtime.
#[derive(Debug)]
pub(in crate::platform) struct RawChild {
    pub leader: Unclaimed,
    pub stdin: NotInherited<OwnedFd>,
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
    /// Where it says what failed; the exec closes it.
    pub report: OwnedFd,
}

/// A child that nobody watches yet: killed and reaped when it is dropped before it was claimed.
#[derive(Debug)]
pub(in crate::platform) struct Unclaimed(Option<libc::pid_t>);

impl Unclaimed {
    /// The pid; from here on its taker ends it.
    pub(super) fn claim(mut self) -> Option<libc::pid_t> {
        self.0.take()
    }
}

impl Drop for Unclaimed {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            abandon(pid);
        }
    }
}

/// What the child needs, allocated before the fork.
struct Prepared {
    program: CString,
    /// What was looked at, the program first.
    looked_at: Vec<(CString, FileStamp)>,
    #[cfg(target_os = "linux")]
    is_binary: bool,
    cwd: CString,
    argv: Vec<*const libc::c_char>,
    envp: Vec<*const libc::c_char>,
    // The texts that `argv` and `envp` point into.
    _texts: Vec<CString>,
}

/// Forks the child that becomes the program. Waits for nothing of it: what it needs may lie on a
/// file system that is away, and others are to be started by this thread.
///
/// The caller's thread must have every signal blocked, so that no handler of the host runs in the
/// child.
pub(in crate::platform) fn fork_exec(launch: &Launch) -> Result<RawChild, LaunchError> {
    let prepared = Prepared::new(launch)
        .map_err(|error| LaunchError::new("pass its arguments and environment", error))?;
    let open = |error| LaunchError::new("open its pipes", error);
    let (child_in, stdin) = pipe().map_err(open)?;
    let stdin = NotInherited::new(stdin);
    let (stdout, child_out) = pipe().map_err(open)?;
    let (stderr, child_err) = pipe().map_err(open)?;
    let (report, child_report) = pipe().map_err(open)?;
    for ours in [&*stdin, &stdout, &stderr, &report] {
        set_nonblocking(ours).map_err(open)?;
    }
    // SAFETY: the child calls only async-signal-safe functions, on memory that was prepared before,
    // until it execs or exits.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let streams = [child_in.as_raw_fd(), child_out.as_raw_fd(), child_err.as_raw_fd()];
        // SAFETY: this is the forked child.
        unsafe { become_program(&prepared, streams, child_report.as_raw_fd()) }
    }
    if pid < 0 {
        return Err(LaunchError::new("start it", io::Error::last_os_error()));
    }
    drop((child_in, child_out, child_err, child_report));
    let leader = Unclaimed(Some(pid));
    Ok(RawChild { leader, stdin, stdout, stderr, report })
}

/// Kills and reaps a child that never became a server. Waits for none: one that the kernel holds
/// may not end for long.
pub(super) fn abandon(pid: libc::pid_t) {
    const STACK_BYTES: usize = 64 * 1024;
    // SAFETY: the child is ours and unreaped, so its pid and its group are its own.
    unsafe {
        libc::kill(-pid, libc::SIGKILL);
        libc::kill(pid, libc::SIGKILL);
    }
    if has_ended(pid, libc::WNOHANG) {
        return;
    }
    let thread = std::thread::Builder::new().name("trunkline-reap".into()).stack_size(STACK_BYTES);
    let waits = signals::with_signals_blocked(|| thread.spawn(move || has_ended(pid, 0)));
    if let Err(error) = waits {
        tracing::warn!(%error, "a child that was ended is left to be reaped");
    }
}

/// Reaps a child that has ended. A host that reaps everything makes the wait fail, which is as
/// good.
fn has_ended(pid: libc::pid_t, flags: libc::c_int) -> bool {
    loop {
        // SAFETY: waits for a child of ours by its pid; the status is not asked for.
        match unsafe { libc::waitpid(pid, ptr::null_mut(), flags) } {
            0 => return false,
            1.. => return true,
            _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            _ => return true,
        }
    }
}

/// Waits for the end of the report pipe, which the exec closes, or for the child's failure in it;
/// at most [`LAUNCH_TIMEOUT_MS`].
///
/// Needs the runtime. A dropped future changes nothing.
pub(super) async fn executed(report: OwnedFd) -> Result<(), LaunchError> {
    let unread = |error| LaunchError::new("start it", error);
    let mut words = Vec::with_capacity(2 * size_of::<i32>());
    let report = ReadPipe::new(report).map_err(unread)?;
    let limit = Duration::from_millis(LAUNCH_TIMEOUT_MS.into());
    // Eight bytes go through a pipe whole.
    match tokio::time::timeout(limit, report.read(&mut words)).await {
        Err(_) => return Err(LaunchError::new("execute it", io::ErrorKind::TimedOut.into())),
        Ok(read) => read.map_err(unread)?,
    };
    let word = |place: usize| Some(i32::from_ne_bytes(*words.get(place..)?.first_chunk()?));
    let (Some(step), Some(errno)) = (word(0), word(size_of::<i32>())) else { return Ok(()) };
    let step = usize::try_from(step).ok().and_then(|step| LAUNCH_STEPS.get(step).copied());
    Err(LaunchError::new(step.unwrap_or("start it"), io::Error::from_raw_os_error(errno)))
}

impl Prepared {
    fn new(launch: &Launch) -> io::Result<Self> {
        let args = std::iter::once(&launch.name).chain(&launch.args);
        let args = args.map(|arg| text(arg.as_bytes())).collect::<io::Result<Vec<_>>>()?;
        let env = launch
            .env
            .iter()
            .map(|(name, value)| text(&[name.as_bytes(), b"=", value.as_bytes()].concat()));
        let env = env.collect::<io::Result<Vec<_>>>()?;
        let pointers = |texts: &[CString]| {
            texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect::<Vec<_>>()
        };
        let expected = &launch.expected;
        let looked_at = expected
            .files
            .iter()
            .map(|(path, stamp)| Ok((text(path.as_os_str().as_bytes())?, *stamp)))
            .collect::<io::Result<Vec<_>>>()?;
        Ok(Prepared {
            looked_at,
            #[cfg(target_os = "linux")]
            is_binary: expected.is_binary,
            program: text(launch.program.as_os_str().as_bytes())?,
            cwd: text(OsStr::as_bytes(launch.cwd.as_os_str()))?,
            argv: pointers(&args),
            envp: pointers(&env),
            _texts: args.into_iter().chain(env).collect(),
        })
    }
}

fn text(bytes: &[u8]) -> io::Result<CString> {
    CString::new(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "a value contains a zero byte"))
}

/// Turns the forked child into the program; on a failure, reports it and exits.
///
/// # Safety
/// Only in a child right after `fork`, with descriptors numbered 3 or above. Everything called here
/// is async-signal-safe.
unsafe fn become_program(prepared: &Prepared, streams: [RawFd; 3], report: RawFd) -> ! {
    // SAFETY: `prepared` was built before the fork and lives until the exec; the descriptors are
    // open.
    unsafe {
        libc::setsid();
        default_signals();
        if libc::chdir(prepared.cwd.as_ptr()) < 0 {
            fail(report, 0);
        }
        for (wanted, stream) in (0..).zip(streams) {
            if libc::dup2(stream, wanted) < 0 {
                fail(report, 1);
            }
        }
        close_others_on_exec(3);
        let mut none = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
        let Some(_program) = as_it_was_looked_at(prepared) else { fail(report, 4) };
        #[cfg(target_os = "linux")]
        if let Some(program) = _program.filter(|_| prepared.is_binary) {
            // What is executed is what was compared.
            libc::fexecve(program, prepared.argv.as_ptr(), prepared.envp.as_ptr());
            let refused = io::Error::last_os_error().raw_os_error();
            if !matches!(refused, Some(libc::ENOENT | libc::ENOSYS)) {
                fail(report, 2)
            }
            // The system gives it to another program, which is not told of descriptors, or knows no
            // such call: execute the path that was just compared.
        }
        libc::execve(prepared.program.as_ptr(), prepared.argv.as_ptr(), prepared.envp.as_ptr());
        fail(report, 2)
    }
}

/// The program, open, if anything was looked at; nothing at all if a file is not what it was then.
/// They are closed on exec.
///
/// # Safety
/// Only in a child right after `fork`.
unsafe fn as_it_was_looked_at(prepared: &Prepared) -> Option<Option<RawFd>> {
    let mut program = None;
    for (path, stamp) in &prepared.looked_at {
        let mut found = std::mem::MaybeUninit::<libc::stat>::zeroed();
        // SAFETY: the path was prepared before the fork, and the structure is valid for the call.
        let (fd, is_found) = unsafe { look_at(path, found.as_mut_ptr()) };
        // SAFETY: all zeros are a value of it, and the call wrote the rest.
        if !is_found || stamp_of(unsafe { found.assume_init_ref() }) != *stamp {
            return None;
        }
        program = program.or((fd >= 0).then_some(fd));
    }
    Some(program)
}

/// The file, open for nothing but to be asked about and executed, and whether it could be asked.
///
/// # Safety
/// The structure is valid for a write.
#[cfg(target_os = "linux")]
unsafe fn look_at(path: &CStr, found: *mut libc::stat) -> (RawFd, bool) {
    // SAFETY: the path ends with a zero; the rest is the caller's to meet.
    unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
        (fd, fd >= 0 && libc::fstat(fd, found) == 0)
    }
}

/// No program is executed by its descriptor here.
///
/// # Safety
/// The structure is valid for a write.
#[cfg(not(target_os = "linux"))]
unsafe fn look_at(path: &CStr, found: *mut libc::stat) -> (RawFd, bool) {
    // SAFETY: the path ends with a zero; the rest is the caller's to meet.
    (-1, unsafe { libc::stat(path.as_ptr(), found) } == 0)
}

#[allow(clippy::unnecessary_cast, reason = "the fields have other types on other systems")]
fn stamp_of(found: &libc::stat) -> FileStamp {
    FileStamp([
        found.st_dev as u64,
        found.st_ino as u64,
        found.st_size as u64,
        found.st_mtime as u64,
        found.st_mtime_nsec as u64,
        found.st_ctime as u64,
        found.st_ctime_nsec as u64,
    ])
}

/// Tells the parent what failed, and ends the child.
///
/// # Safety
/// Only in a child right after `fork`.
unsafe fn fail(report: RawFd, step: i32) -> ! {
    let words = [step, io::Error::last_os_error().raw_os_error().unwrap_or(0)];
    // SAFETY: the buffer is valid for its size; `_exit` runs no handler of the host.
    unsafe {
        libc::write(report, words.as_ptr().cast(), size_of_val(&words));
        libc::_exit(127)
    }
}
