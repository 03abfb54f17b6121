//! Starting the supervisor: its program from memory, its process a child of nobody that the host
//! would notice.

use std::ffi::CStr;
use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::time::Duration;

use super::{fd_passing, messages};
use crate::platform::LAUNCH_TIMEOUT_MS;
use crate::platform::carried_program::{self, PROGRAM, may_pass};
use crate::platform::fork::child::{close_others_on_exec, default_signals, exit_descriptor};
use crate::platform::pipe::set_nonblocking;

/// Descriptors from here on are out of the way of those that the supervisor finds at fixed numbers.
const FREE_FROM: RawFd = 10;

/// How often a file that a fork of some other thread holds open for writing is tried again.
const BUSY_TRIES: u32 = 20;
const BUSY_PAUSE: Duration = Duration::from_millis(5);

/// A running supervisor.
#[derive(Debug)]
pub(super) struct Supervisor {
    control: OwnedFd,
    pub pid: libc::pid_t,
    /// Whose it is. A fork needs its own, and so does a host that has changed its rights since.
    owner: (u32, [libc::uid_t; 4]),
}

impl Supervisor {
    /// Hands over a server. Does not wait.
    pub(super) fn send(&self, descriptors: &[OwnedFd; 4]) -> io::Result<()> {
        fd_passing::send_descriptors(&self.control, descriptors)
    }

    /// Whether it serves this process with the rights that it has now.
    pub(super) fn is_ours(&self) -> bool {
        self.owner == owner()
    }
}

fn owner() -> (u32, [libc::uid_t; 4]) {
    // SAFETY: these have no preconditions.
    let rights = unsafe { [libc::getuid(), libc::geteuid(), libc::getgid(), libc::getegid()] };
    (std::process::id(), rights)
}

/// Starts a supervisor for this process. Blocks until it serves; every signal must be blocked on
/// this thread.
///
/// # Errors
/// Those of [`may_pass`], or that none can run here.
pub(super) fn start() -> io::Result<Supervisor> {
    match start_from(&program_in_memory) {
        Err(error) if !may_pass(&error) => start_from_file(),
        started => started,
    }
}

/// A fork of some other thread may hold the file open for writing until its exec, and make it busy.
fn start_from_file() -> io::Result<Supervisor> {
    let mut tries = 1;
    loop {
        match start_from(&program_in_file) {
            Err(error) if error.raw_os_error() == Some(libc::ETXTBSY) && tries < BUSY_TRIES => {
                tries += 1;
                std::thread::sleep(BUSY_PAUSE);
            }
            started => return started,
        }
    }
}

fn start_from(program: &dyn Fn() -> io::Result<OwnedFd>) -> io::Result<Supervisor> {
    let program = above(program()?)?;
    let (ours, theirs) = fd_passing::socket_pair(libc::SOCK_SEQPACKET)?;
    set_nonblocking(&ours)?;
    let theirs = above(theirs)?;
    let nowhere = fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
    let nowhere = above(nowhere.into())?;
    // SAFETY: has no preconditions.
    let host = exit_descriptor(unsafe { libc::getpid() }).map(above).transpose()?;
    let descriptors = Descriptors {
        program: program.as_raw_fd(),
        control: theirs.as_raw_fd(),
        nowhere: nowhere.as_raw_fd(),
        host: host.as_ref().map_or(-1, AsRawFd::as_raw_fd),
    };
    fork_twice(descriptors)?;
    drop(theirs);
    let pid = hear_hello(&ours)?;
    tracing::debug!(pid, "supervisor started");
    Ok(Supervisor { control: ours, pid, owner: owner() })
}

/// The number of each descriptor in the host.
#[derive(Clone, Copy)]
struct Descriptors {
    program: RawFd,
    control: RawFd,
    nowhere: RawFd,
    /// -1 where the kernel has none.
    host: RawFd,
}

/// Forks a process that forks the supervisor and ends, so that the supervisor is no child of the
/// host.
///
/// Without a signal for their end, both are invisible to a host that waits for any child or listens
/// to SIGCHLD.
fn fork_twice(descriptors: Descriptors) -> io::Result<()> {
    let pid = bare_fork();
    if pid == 0 {
        // SAFETY: both are forked children of a thread whose signals are blocked, and use nothing
        // but system calls.
        unsafe {
            match bare_fork() {
                0 => become_supervisor(descriptors),
                second => libc::_exit(if second < 0 { NOT_FORKED } else { 0 }),
            }
        }
    }
    let Ok(pid) = libc::pid_t::try_from(pid) else {
        return Err(io::ErrorKind::OutOfMemory.into());
    };
    if pid < 0 {
        return Err(io::Error::last_os_error());
    }
    let mut status = 0;
    // SAFETY: waits for our own child, which nobody else can reap by waiting for any.
    while unsafe { libc::waitpid(pid, &mut status, libc::__WALL) } < 0 {
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            break;
        }
    }
    // A tool that watches the process may have given the child a status of its own; the supervisor
    // says over its socket what is wrong.
    match libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == NOT_FORKED {
        true => Err(io::Error::from_raw_os_error(libc::EAGAIN)),
        false => Ok(()),
    }
}

/// The status of the first child where the second could not be forked: none that a tool such as
/// valgrind is told to use.
const NOT_FORKED: libc::c_int = 113;

/// `fork` without a signal at the child's end, and without the host's own fork handlers, which may
/// take locks.
fn bare_fork() -> libc::c_long {
    // SAFETY: without flags this is a plain fork. The child calls nothing but system calls.
    unsafe { libc::syscall(libc::SYS_clone, 0, 0, 0, 0, 0) }
}

/// Turns the forked child into the supervisor; on a failure, says so over the control socket and
/// exits.
///
/// # Safety
/// Only in a forked child, with descriptors numbered [`FREE_FROM`] or above.
unsafe fn become_supervisor(descriptors: Descriptors) -> ! {
    const NAME: &CStr = c"trunkline-supervisor";
    const PATH_BYTES: usize = 32;
    let Descriptors { program, control, nowhere, host } = descriptors;
    let argv = [NAME.as_ptr(), ptr::null()];
    let envp = [ptr::null::<libc::c_char>()];
    // SAFETY: the texts are constants or live on this stack; the descriptors are open.
    unsafe {
        libc::setsid();
        libc::chdir(c"/".as_ptr());
        default_signals();
        for (from, to) in [(control, 0), (nowhere, 1), (nowhere, 2), (host, 3)] {
            if from < 0 {
                libc::close(to);
            } else {
                libc::dup2(from, to);
            }
        }
        close_others_on_exec(4);
        let (argv, envp) = (argv.as_ptr(), envp.as_ptr());
        let path = c"".as_ptr();
        libc::syscall(libc::SYS_execveat, program, path, argv, envp, libc::AT_EMPTY_PATH);
        let errno = *libc::__errno_location();
        let mut path = [0_u8; PATH_BYTES];
        // Writing into a buffer on the stack allocates nothing.
        let _ = write!(&mut path[..PATH_BYTES - 1], "/proc/self/fd/{program}");
        libc::execve(path.as_ptr().cast(), argv, envp);
        let mut hello = [0_u8; 12];
        hello[0] = 1;
        hello[8..].copy_from_slice(&errno.to_le_bytes());
        libc::send(0, hello.as_ptr().cast(), hello.len(), libc::MSG_NOSIGNAL);
        libc::_exit(127)
    }
}

/// Waits for the first word of the supervisor: its pid, or why it cannot run.
fn hear_hello(control: &OwnedFd) -> io::Result<libc::pid_t> {
    let mut wait = libc::pollfd { fd: control.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one valid entry.
    if unsafe { libc::poll(&mut wait, 1, LAUNCH_TIMEOUT_MS.into()) } == 0 {
        return Err(io::ErrorKind::TimedOut.into());
    }
    let mut hello = [0; 12];
    match (fd_passing::receive(control.as_raw_fd(), &mut hello)?, messages::words(hello)) {
        (12, [0, pid, _]) => Ok(pid),
        (12, [_, _, errno]) => Err(io::Error::from_raw_os_error(errno)),
        // It ended before it could speak: its program does not run here.
        (_, _) => Err(io::Error::from_raw_os_error(libc::ENOEXEC)),
    }
}

/// The program in memory that has no name.
fn program_in_memory() -> io::Result<OwnedFd> {
    // Kernels before 6.3 do not know the flag, later ones may insist on it.
    const EXECUTABLE: libc::c_uint = 0x10;
    let name = c"trunkline-supervisor".as_ptr();
    let create = |flags| {
        // SAFETY: the name is a constant.
        let fd = unsafe { libc::memfd_create(name, flags | libc::MFD_CLOEXEC) };
        // SAFETY: a number that is not negative is new and unowned.
        (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) }).ok_or_else(io::Error::last_os_error)
    };
    let file = create(EXECUTABLE).or_else(|error| match error.raw_os_error() {
        Some(libc::EINVAL) => create(0),
        _ => Err(error),
    })?;
    let mut file = fs::File::from(file);
    file.write_all(PROGRAM)?;
    Ok(file.into())
}

/// The program in a file that has nothing left but the open descriptor.
fn program_in_file() -> io::Result<OwnedFd> {
    carried_program::in_file(|path| fs::File::open(path).map(OwnedFd::from))
}

/// The same out of the way, closed on exec.
fn above(fd: OwnedFd) -> io::Result<OwnedFd> {
    // SAFETY: duplicates a descriptor that is open.
    let copy = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, FREE_FROM) };
    // SAFETY: a number that is not negative is new and unowned.
    (copy >= 0).then(|| unsafe { OwnedFd::from_raw_fd(copy) }).ok_or_else(io::Error::last_os_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where memory cannot be executed.
    #[test]
    fn a_supervisor_starts_from_a_file_of_which_nothing_is_left() {
        let left = || {
            let folder = fs::read_dir(std::env::temp_dir()).unwrap().flatten();
            let has_program = |path: &std::path::Path| path.join("supervisor").exists();
            folder.filter(|entry| has_program(&entry.path())).count()
        };
        let supervisor = start_from_file().unwrap();
        let process = exit_descriptor(supervisor.pid).unwrap();
        assert!(supervisor.is_ours());
        assert_eq!(left(), 0);
        drop(supervisor);
        let mut wait = libc::pollfd { fd: process.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid entry.
        assert_eq!(unsafe { libc::poll(&mut wait, 1, LAUNCH_TIMEOUT_MS.into()) }, 1, "it ends");
    }

    #[test]
    fn a_program_that_does_not_run_here_is_an_error_that_will_not_pass() {
        let nonsense = || fs::File::open("/etc/passwd").map(OwnedFd::from);
        let error = start_from(&nonsense).unwrap_err();
        assert!(!may_pass(&error), "{error}");
        let silent = || fs::File::open("/bin/true").map(OwnedFd::from);
        let error = start_from(&silent).unwrap_err();
        assert!(!may_pass(&error), "{error}");
    }
}
