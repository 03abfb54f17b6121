//! The supervisor's program, which the build script made, and whether there is to be one.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// The program; empty where the build script could not make it.
pub(super) const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/supervisor"));

/// Forces one way: `group` lets no supervisor be started. For tests, and for hosts that may not
/// have another process.
const CHOICE: &str = "TRUNKLINE_SUPERVISION";

/// The process in which it turned out that no supervisor can run.
static IMPOSSIBLE_IN: AtomicU32 = AtomicU32::new(0);

/// Whether servers of this process are, or will be, under a supervisor.
pub(super) fn is_expected() -> bool {
    !PROGRAM.is_empty()
        && IMPOSSIBLE_IN.load(Ordering::Relaxed) != std::process::id()
        && std::env::var_os(CHOICE).is_none_or(|choice| choice != "group")
}

/// Notes, for the life of this process, that there can be no supervisor.
pub(super) fn note_impossible(error: &io::Error) {
    tracing::warn!(%error, "no supervisor can run here; servers are held by their groups");
    IMPOSSIBLE_IN.store(std::process::id(), Ordering::Relaxed);
}

/// Whether a failure to start says nothing about the next time.
pub(super) fn may_pass(error: &io::Error) -> bool {
    const SCARCE: [i32; 4] = [libc::EMFILE, libc::ENFILE, libc::ENOMEM, libc::EAGAIN];
    error.raw_os_error().is_some_and(|errno| SCARCE.contains(&errno))
        || matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::BrokenPipe)
}

/// Puts the program in a file of its own, in a folder of its own, and removes both when `with` has
/// returned.
pub(super) fn in_file<T>(with: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    use std::hash::{BuildHasher, RandomState};
    let random = RandomState::new().hash_one(std::process::id());
    let folder = std::env::temp_dir().join(format!("trunkline-{random:016x}"));
    // Fails if it exists, so that nobody else has put anything there.
    fs::DirBuilder::new().mode(0o700).create(&folder)?;
    let path = folder.join("supervisor");
    let written = fs::OpenOptions::new().write(true).create_new(true).mode(0o700).open(&path);
    let written = written.and_then(|mut file| file.write_all(PROGRAM));
    let result = written.and_then(|()| with(&path));
    let _ = fs::remove_file(&path);
    let _ = fs::remove_dir(&folder);
    result
}
