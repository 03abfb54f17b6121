//! Folders of tests.

use std::fs;
use std::io::ErrorKind;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A new folder among the temporary files. Nothing is left when it goes, also when its test fails.
pub struct Folder(PathBuf);

impl Folder {
    /// An empty one.
    pub fn new() -> Folder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        // Links in the way to the temporary files are no part of what is tested.
        let base = std::env::temp_dir().canonicalize().unwrap();
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = base.join(format!("trunkline-test-{}-{number}", std::process::id()));
            match fs::create_dir(&path) {
                // Of a process that was killed, and had the number of this one.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                made => {
                    made.unwrap();
                    return Folder(path);
                }
            }
        }
    }
}

impl Default for Folder {
    fn default() -> Folder {
        Folder::new()
    }
}

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let removed = fs::remove_dir_all(&self.0);
        // A second panic would end the process before the first one is told.
        if !std::thread::panicking() {
            removed.unwrap();
        }
    }
}
