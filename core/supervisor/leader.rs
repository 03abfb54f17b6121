//! The first process of a server: forked, given a session of its own, its three streams and nothing
//! else (S-21 to S-23).

use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

use crate::message::{Order, Stamp};
use crate::sys;

/// Which step failed, in the host's order of them.
const ENTER_FOLDER: i32 = 0;
const ARRANGE_STREAMS: i32 = 1;
const EXECUTE: i32 = 2;
const START: i32 = 3;
const FIND_AGAIN: i32 = 4;

/// Opens a file for nothing but to be asked about and executed. The same on all machines that the
/// build script lets through.
const O_PATH: i32 = 0o10_000_000;

/// A leader that was forked, and the pipe that closes when its exec has succeeded.
pub struct Leader {
    pub pid: i32,
    pub report: OwnedFd,
}

/// Starts the program; `Err` with the step and the error number.
pub fn start(order: &Order, streams: [OwnedFd; 3]) -> Result<Leader, (i32, i32)> {
    let failed = || (START, sys::errno());
    let (report, child_report) = sys::pipe().ok_or_else(failed)?;
    let (argv, envp) = (order.argv(), order.envp());
    let keeper = std::process::id() as i32;
    // SAFETY: this process has one thread.
    match unsafe { sys::fork() } {
        0 => {
            let step = become_program(order, &argv, &envp, &streams, keeper);
            let words = [step.to_le_bytes(), sys::errno().to_le_bytes()].concat();
            // SAFETY: the buffer is valid for its length; `_exit` leaves everything to the kernel.
            unsafe {
                sys::write(child_report.as_raw_fd(), words.as_ptr().cast(), words.len());
                sys::_exit(127)
            }
        }
        pid if pid > 0 => Ok(Leader { pid, report }),
        _ => Err(failed()),
    }
}

/// Returns only when it failed, with the step. Every descriptor but the three is closed by the
/// exec.
fn become_program(
    order: &Order,
    argv: &[*const std::ffi::c_char],
    envp: &[*const std::ffi::c_char],
    streams: &[OwnedFd; 3],
    keeper: i32,
) -> i32 {
    if !sys::die_with(keeper, sys::SIGKILL) {
        return START;
    }
    // SAFETY: the texts and the lists of pointers live until the exec; the descriptors are open.
    unsafe {
        sys::setsid();
        if sys::chdir(order.cwd()) < 0 {
            return ENTER_FOLDER;
        }
        for (wanted, stream) in (0 as RawFd..).zip(streams) {
            if sys::dup2(stream.as_raw_fd(), wanted) < 0 {
                return ARRANGE_STREAMS;
            }
        }
        sys::plain_signals();
        let Some(program) = as_it_was_looked_at(order) else {
            return FIND_AGAIN;
        };
        if let Some(program) = program.filter(|_| order.is_binary()) {
            // What is executed is what was compared.
            sys::fexecve(program.as_raw_fd(), argv.as_ptr(), envp.as_ptr());
            if !matches!(sys::errno(), sys::ENOENT | sys::ENOSYS) {
                return EXECUTE;
            }
            // The system gives it to another program, which is not told of descriptors, or knows no
            // such call: execute the path that was just compared.
        }
        sys::execve(order.program(), argv.as_ptr(), envp.as_ptr());
    }
    EXECUTE
}

/// The program, open, if anything was looked at; nothing at all if a file is not what it was then.
fn as_it_was_looked_at(order: &Order) -> Option<Option<File>> {
    let mut program = None;
    for (path, stamp) in order.looked_at() {
        let file = open(path)?;
        if stamp_of(&file)? != *stamp {
            return None;
        }
        program = program.or(Some(file));
    }
    Some(program)
}

fn open(path: &CStr) -> Option<File> {
    let path = OsStr::from_bytes(path.to_bytes());
    File::options().read(true).custom_flags(O_PATH).open(path).ok()
}

fn stamp_of(file: &File) -> Option<Stamp> {
    let found = file.metadata().ok()?;
    let times = [found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()];
    let [written, written_ns, changed, changed_ns] = times.map(|time| time as u64);
    let size = found.size();
    Some([found.dev(), found.ino(), size, written, written_ns, changed, changed_ns])
}
