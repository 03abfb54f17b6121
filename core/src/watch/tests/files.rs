//! How a file changes, appears and goes.

use std::fs::OpenOptions;
use std::io::Write;
use std::time::{Duration, Instant};

use super::*;

fn one_file() -> Watched {
    let place = Place::new();
    place.write("s.json", "old");
    Watched::new(place, &["s.json"])
}

/// SPEC 13.5: the file is truncated and written.
#[test]
fn a_file_that_is_written_in_place_is_told() {
    let watched = one_file();
    watched.place.write("s.json", "new");
    watched.hears("s.json", Some("new"));
}

/// SPEC 13.5: a writer that keeps the file open is told before it closes it, and once.
#[test]
fn a_file_that_is_appended_to_is_told_while_it_is_open() {
    let watched = one_file();
    let mut file = OpenOptions::new().append(true).open(watched.place.at("s.json")).unwrap();
    file.write_all(b", new").unwrap();
    watched.hears("s.json", Some("old, new"));
    watched.declare(&["s.json"]);
    watched.hears_nothing_else();
}

/// SPEC 13.5: vim renames the file away, writes another of its name, and removes the first; again
/// and again.
#[test]
fn a_file_that_vim_saves_is_told() {
    let watched = one_file();
    for number in 0..5 {
        let text = format!("new {number}");
        watched.place.rename("s.json", "s.json~");
        watched.place.write("s.json", &text);
        watched.place.remove("s.json~");
        watched.hears("s.json", Some(&text));
    }
}

/// SPEC 13.5: VS Code, and every editor that writes atomically, renames a new file over the old
/// one; again and again.
#[test]
fn a_file_that_is_replaced_by_a_rename_is_told() {
    let watched = one_file();
    for number in 0..5 {
        let text = format!("new {number}");
        replace(&watched.place.at("s.json"), &text);
        watched.hears("s.json", Some(&text));
    }
}

/// SPEC 13.5: both are told, and what is written into the new one.
#[test]
fn a_file_that_is_deleted_and_made_again_is_told() {
    let watched = one_file();
    watched.place.remove("s.json");
    watched.hears("s.json", None);
    watched.place.write("s.json", "again");
    watched.hears("s.json", Some("again"));
    watched.place.write("s.json", "and again");
    watched.hears("s.json", Some("and again"));
}

/// SPEC 13.5: a file that was renamed away and comes back with other content.
#[test]
fn a_file_that_is_moved_away_and_back_is_told() {
    let watched = one_file();
    watched.place.folder("elsewhere");
    watched.place.rename("s.json", "elsewhere/s.json");
    watched.hears("s.json", None);
    watched.place.write("elsewhere/s.json", "new");
    watched.place.rename("elsewhere/s.json", "s.json");
    watched.hears("s.json", Some("new"));
}

/// SPEC 13.5: what can be read again after its mode changed is told.
#[test]
fn a_file_whose_metadata_changes_is_told() {
    let watched = one_file();
    let file = OpenOptions::new().write(true).open(watched.place.at("s.json")).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    watched.hears("s.json", Some("old"));
}

/// SPEC 13.5: neither other files of the folder, nor reading, nor declaring the same again.
#[test]
fn what_is_no_change_of_a_declared_file_is_not_told() {
    let watched = one_file();
    watched.place.write("other.json", "new");
    replace(&watched.place.at("another.json"), "new");
    watched.place.folder("s.json.d");
    fs::read(watched.place.at("s.json")).unwrap();
    watched.declare(&["s.json"]);
    watched.hears_nothing_else();
}

/// SPEC 13.5: the set is replaced whole.
#[test]
fn files_that_are_declared_later_replace_those_before() {
    let watched = one_file();
    watched.declare(&["t.json"]);
    watched.place.write("s.json", "new");
    watched.hears_nothing_else();
    watched.catches_up();
    watched.place.write("t.json", "new");
    watched.hears("t.json", Some("new"));
}

/// SPEC 13.5: a burst of changes, over several files, is told once.
#[test]
fn a_burst_is_told_once() {
    let place = Place::new();
    let files = ["a.json", "b.json", "c.json"];
    // Longer than a busy machine holds a thread up.
    let options = WatchOptions { debounce: Duration::from_secs(1), ..WatchOptions::default() };
    let watched = Watched::with(options, place, &files);
    for number in 0..30 {
        let file = watched.place.at(files[number % 3]);
        match number % 2 {
            0 => fs::write(file, number.to_string()).unwrap(),
            _ => replace(&file, &number.to_string()),
        }
    }
    let told = watched.told.recv_timeout(HANG).unwrap();
    assert_eq!(told, BTreeSet::from(files.map(|file| watched.place.at(file))));
    watched.hears_nothing_else();
}

/// SPEC 13.5: the default is 300 ms after the last change.
#[test]
fn a_change_is_told_300_ms_after_it() {
    let options = WatchOptions::default();
    assert_eq!(options.debounce, Duration::from_millis(300));
    let watched = Watched::with(options, Place::new(), &["s.json"]);
    let begun = Instant::now();
    watched.place.write("s.json", "new");
    watched.hears("s.json", Some("new"));
    assert!(begun.elapsed() >= Duration::from_millis(300), "{:?}", begun.elapsed());
}

/// SPEC 13.5: a file that is written all the time is told all the same.
#[test]
fn a_file_that_is_written_without_end_is_told() {
    let watched = one_file();
    let begun = Instant::now();
    let told = loop {
        watched.place.write("s.json", &format!("{:?}", begun.elapsed()));
        match watched.told.recv_timeout(DEBOUNCE / 10) {
            Ok(told) => break told,
            Err(_) => assert!(begun.elapsed() < HANG, "it was never told"),
        }
    };
    assert!(told.contains(&watched.place.at("s.json")));
}

/// SPEC 13.5: a change that follows the declaration at once is never lost, whatever was just made
/// or removed.
#[test]
fn a_change_right_after_the_declaration_is_told() {
    let watched = Watched::new(Place::new(), &[]);
    for number in 0..100 {
        let (folder, file) = (format!("f{number}"), format!("f{number}/s.json"));
        match number % 3 {
            0 => watched.place.folder(&folder),
            1 => {
                watched.place.folder(&folder);
                watched.place.write(&file, "old");
            }
            _ => {}
        }
        watched.declare(&[&file]);
        watched.place.folder(&folder);
        watched.place.write(&file, "new");
        watched.hears(&file, Some("new"));
    }
}

/// SPEC 13.5: after the system lost events everything may have changed, and is watched as before.
#[test]
fn events_that_were_lost_count_as_a_change_of_everything() {
    let place = Place::new();
    place.write("s.json", "old");
    let watched = Watched::new(place, &["s.json", "a/t.json"]);
    let lost = notify::Event::new(notify::EventKind::Other).set_flag(notify::event::Flag::Rescan);
    watched.watcher.shared.inbox.hear(Ok(lost));
    let told = watched.told.recv_timeout(HANG).unwrap();
    let files = ["s.json", "a/t.json"].map(str::to_owned).into_iter().chain(signals());
    assert_eq!(told, files.map(|file| watched.place.at(&file)).collect());
    watched.place.write("s.json", "new");
    watched.hears("s.json", Some("new"));
}

/// SPEC 13.5: what was told is what was looked at: it is not told once more when something else has
/// the watches looked over.
#[test]
fn what_was_told_is_not_told_again() {
    let place = Place::new();
    place.write("s.json", "1");
    let watched = Watched::new(place, &["s.json"]);
    watched.hears_nothing_else();
    watched.place.write("s.json", "22");
    watched.hears("s.json", Some("22"));
    watched.declare(&["s.json"]);
    watched.hears_nothing_else();
}
