//! The watcher on a real file system.

mod ends;
mod files;
mod folders;
mod links;
mod polls;
mod scripts;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::{WatchOptions, Watcher};
use crate::folder::Folder;

/// No wait of a test comes near it; a test that reaches it hangs.
const HANG: Duration = Duration::from_secs(60);

/// Short, so that a test is; what depends on it says its own.
const DEBOUNCE: Duration = Duration::from_millis(20);

/// A folder of one test, which goes with it.
struct Place(Folder);

impl Place {
    fn new() -> Place {
        Place(Folder::new())
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.at(path), text).unwrap();
    }

    /// A folder, and those above it.
    fn folder(&self, path: &str) {
        fs::create_dir_all(self.at(path)).unwrap();
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.at(from), self.at(to)).unwrap();
    }

    fn remove(&self, path: &str) {
        fs::remove_file(self.at(path)).unwrap();
    }

    fn remove_folder(&self, path: &str) {
        fs::remove_dir_all(self.at(path)).unwrap();
    }

    #[cfg(unix)]
    fn link(&self, path: &str, target: &str) {
        std::os::unix::fs::symlink(target, self.at(path)).unwrap();
    }
}

/// A place whose declared files are watched. The watcher goes before the place.
struct Watched {
    watcher: Watcher,
    told: Receiver<BTreeSet<PathBuf>>,
    place: Place,
    signals: Cell<usize>,
}

impl Watched {
    /// Declares these files of a place, and the signals.
    fn new(place: Place, files: &[&str]) -> Watched {
        Watched::with(WatchOptions { debounce: DEBOUNCE, ..WatchOptions::default() }, place, files)
    }

    fn with(options: WatchOptions, place: Place, files: &[&str]) -> Watched {
        let (teller, told) = channel();
        let watcher = Watcher::new(options, move |changed| drop(teller.send(changed))).unwrap();
        let watched = Watched { watcher, told, place, signals: Cell::new(0) };
        watched.declare(files);
        watched
    }

    fn declare(&self, files: &[&str]) {
        let files = files.iter().map(|file| file.to_string()).chain(signals());
        self.watcher.set_files(files.map(|file| self.place.at(&file)).collect());
    }

    /// Waits for a callback that names this file, after which it reads so; `None` when it is not to
    /// be there.
    #[track_caller]
    fn hears(&self, file: &str, text: Option<&str>) {
        let path = self.place.at(file);
        loop {
            let told = self.told.recv_timeout(HANG).expect("it was never told");
            if told.contains(&path) && fs::read_to_string(&path).ok().as_deref() == text {
                return;
            }
        }
    }

    /// What came until now told nothing, apart from what was heard already: what is told next is
    /// another change alone.
    #[track_caller]
    fn hears_nothing_else(&self) {
        let signal = self.signal();
        let signals: BTreeSet<PathBuf> = signals().map(|it| self.place.at(&it)).collect();
        loop {
            let told = self.told.recv_timeout(HANG).expect("it was never told");
            assert!(told.is_subset(&signals), "{told:?}");
            if told.contains(&signal) {
                return;
            }
        }
    }

    /// Waits until all that came before is told.
    #[track_caller]
    fn catches_up(&self) {
        let signal = self.signal();
        while !self.told.recv_timeout(HANG).expect("it was never told").contains(&signal) {}
    }

    /// Writes another of the signals. What is heard comes in order, so that what came before it is
    /// told not later.
    fn signal(&self) -> PathBuf {
        let number = self.signals.replace(self.signals.get() + 1);
        let signal = signals().nth(number).expect("a test uses fewer");
        self.place.write(&signal, "now");
        self.place.at(&signal)
    }
}

/// Each is used once: what is left to be told of one does not pass for the next.
fn signals() -> impl Iterator<Item = String> {
    (0..SIGNALS_MAX).map(|number| format!("signal-{number}"))
}

/// More than any test uses.
const SIGNALS_MAX: usize = 24;

/// Waits for something that has no signal of its own, in short steps.
fn until(mut holds: impl FnMut() -> bool) {
    let begun = std::time::Instant::now();
    while !holds() {
        assert!(begun.elapsed() < HANG, "it never came");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Saves as atomic writers do: a file beside it, renamed over it.
fn replace(path: &Path, text: &str) {
    let temporary = path.with_extension("tmp");
    fs::write(&temporary, text).unwrap();
    fs::rename(&temporary, path).unwrap();
}
