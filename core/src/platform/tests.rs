//! What the tests ask of the operating system by hand.

#[cfg(target_os = "linux")]
mod launch;
#[cfg(target_os = "linux")]
mod looked_at;

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::folder::Folder;

/// Names the test that a process was started for, and what it is given.
const CHOSEN: &str = "TRUNKLINE_TEST_ALONE";
const GIVEN: &str = "TRUNKLINE_TEST_GIVEN";

/// Runs a test in a process of its own: this test binary again, with that one test.
pub(crate) fn alone_in_a_process(test: &str, run: impl FnOnce()) {
    if let Some(succeeded) = in_another_process(test, Path::new(""), |_| run()) {
        assert!(succeeded, "{test} failed in its own process");
    }
}

/// In the first process, starts another one for `test` and says whether it succeeded; in that one,
/// runs `run`, and answers `None`.
pub(crate) fn in_another_process(
    test: &str,
    given: &Path,
    run: impl FnOnce(PathBuf),
) -> Option<bool> {
    if std::env::var_os(CHOSEN) == Some(OsString::from(test)) {
        run(std::env::var_os(GIVEN).unwrap().into());
        return None;
    }
    // What the other process does not drop at its exit goes all the same.
    let folder = Folder::new();
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", test, "--nocapture"]).env(CHOSEN, test).env(GIVEN, given);
    again.env("TMPDIR", &*folder);
    Some(again.status().unwrap().success())
}

/// A pipe: our end, and the one that a server writes to.
pub(crate) fn read_pair() -> (super::ReadPipe, File) {
    let (read, write) = super::pipe::pipe().unwrap();
    super::pipe::set_nonblocking(&read).unwrap();
    (super::ReadPipe::new(read).unwrap(), write.into())
}

/// The other way round: our end, and the one that a server reads from, where a read that finds
/// nothing is `WouldBlock`.
pub(crate) fn write_pair() -> (super::WritePipe, File) {
    let (read, write) = super::pipe::pipe().unwrap();
    super::pipe::set_nonblocking(&read).unwrap();
    super::pipe::set_nonblocking(&write).unwrap();
    (
        super::WritePipe::new(super::fork::close_on_fork::NotInherited::new(write)).unwrap(),
        read.into(),
    )
}

/// Descriptors that an exec would pass on, as a careless host has them.
pub(crate) fn inheritable_descriptors(count: usize) -> Vec<File> {
    let open = || {
        let file = File::open("/dev/null").unwrap();
        // SAFETY: clears a flag of a descriptor that is open.
        assert_eq!(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFD, 0) }, 0);
        file
    };
    (0..count).map(|_| open()).collect()
}

/// The disposition of a C program, which Rust's own start-up changes.
pub(crate) fn default_sigpipe() {
    // SAFETY: the default disposition is always valid.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

/// A host that ignores what it can ignore, and blocks what it can block on this thread.
pub(crate) fn ignore_and_block_signals() {
    for signal in 1..=64 {
        // SAFETY: ignoring is always valid; where it is not possible the call fails harmlessly.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    super::signals::block_all_signals();
}

/// A host that does not want to hear of its children.
pub(crate) fn ignored_sigchld() {
    // SAFETY: ignoring is always valid.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
}

/// A host with a thread that waits for any child.
pub(crate) fn reap_everything() {
    std::thread::spawn(|| {
        loop {
            // SAFETY: the status is not asked for.
            if unsafe { libc::waitpid(-1, std::ptr::null_mut(), 0) } < 0 {
                std::thread::sleep(std::time::Duration::from_micros(200));
            }
        }
    });
}

/// How many children this process and its supervisor have, dead ones that nobody has reaped
/// included.
pub(crate) fn children_of_this_process() -> usize {
    #[cfg(target_os = "linux")]
    let supervised = super::supervised::pid().map_or(0, |pid| children_of(&pid.to_string()));
    #[cfg(not(target_os = "linux"))]
    let supervised = 0;
    children_of("self") + supervised
}

fn children_of(process: &str) -> usize {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{process}/task")) else { return 0 };
    let lists =
        threads.flatten().filter_map(|it| std::fs::read_to_string(it.path().join("children")).ok());
    lists.map(|list| list.split_ascii_whitespace().count()).sum()
}
