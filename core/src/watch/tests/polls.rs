//! Files that cannot be watched are polled, and that is said.

use super::*;
use crate::watch::Polled;
use crate::watch::types::UnwatchedReason;

fn polled_at(watched: &Watched, folder: &Path) -> Option<UnwatchedReason> {
    let polled = watched.watcher.polled();
    polled.iter().find(|it| it.folder == folder).map(|it| it.why)
}

/// SPEC 13.5: without a single watch each change is told all the same, within some seconds.
#[test]
fn files_without_watches_are_polled() {
    let options = WatchOptions { debounce: DEBOUNCE, watches_max: 0 };
    let watched = Watched::with(options, Place::new(), &["a/s.json"]);
    assert_eq!(polled_at(&watched, &watched.place.0), Some(UnwatchedReason::TooMany));
    watched.place.folder("a");
    watched.place.write("a/s.json", "new");
    watched.hears("a/s.json", Some("new"));
    // As long as before, and within the same tick of many file systems.
    watched.place.write("a/s.json", "NEW");
    watched.hears("a/s.json", Some("NEW"));
    watched.place.remove("a/s.json");
    watched.hears("a/s.json", None);
}

/// SPEC 13.5: the folders that are within the bound are watched, the others polled.
#[test]
fn folders_above_the_bound_are_polled() {
    let place = Place::new();
    let depth = place.0.ancestors().count();
    place.folder("a");
    let options = WatchOptions { debounce: DEBOUNCE, watches_max: depth };
    let watched = Watched::with(options, place, &["a/s.json", "s.json"]);
    let expected = Polled { folder: watched.place.at("a"), why: UnwatchedReason::TooMany };
    assert_eq!(watched.watcher.polled(), [expected]);
    watched.place.write("s.json", "new");
    watched.hears("s.json", Some("new"));
    watched.place.write("a/s.json", "new");
    watched.hears("a/s.json", Some("new"));
    watched.declare(&["s.json"]);
    assert_eq!(watched.watcher.polled(), []);
}

/// SPEC 13.5: a folder that can be passed and not read is polled; what is below it is watched.
/// A user who may read everything watches it.
#[test]
#[cfg(unix)]
fn a_folder_that_cannot_be_read_is_polled() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.folder("a/b");
    let mode = |mode| fs::set_permissions(place.at("a"), PermissionsExt::from_mode(mode)).unwrap();
    mode(0o311);
    let is_readable = fs::read_dir(place.at("a")).is_ok();
    let expected = (!is_readable).then_some(UnwatchedReason::PermissionDenied);
    let watched = Watched::new(place, &["a/b/s.json"]);
    assert_eq!(polled_at(&watched, &watched.place.at("a")), expected);
    assert_eq!(polled_at(&watched, &watched.place.at("a/b")), None);
    watched.place.write("a/b/s.json", "new");
    watched.hears("a/b/s.json", Some("new"));
    watched.place.rename("a/b", "a/c");
    watched.hears("a/b/s.json", None);
    watched.place.rename("a/c", "a/b");
    watched.hears("a/b/s.json", Some("new"));
    fs::set_permissions(watched.place.at("a"), PermissionsExt::from_mode(0o755)).unwrap();
    until(|| watched.watcher.polled().is_empty());
}

/// SPEC 13.5: when the system's watches end by themselves, everything may have changed; it is
/// polled, and watched anew.
#[test]
fn watches_that_end_are_made_anew() {
    let place = Place::new();
    place.write("s.json", "old");
    let watched = Watched::new(place, &["s.json"]);
    watched.watcher.shared.armed().disarm();
    watched.hears("s.json", Some("old"));
    until(|| watched.watcher.polled().is_empty());
    watched.place.write("s.json", "new");
    watched.hears("s.json", Some("new"));
}
