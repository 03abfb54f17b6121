//! Folders on the way to a file: those that are not there yet, that go, and that are others than
//! before.

use super::*;

/// SPEC 13.5: one folder after the other, and what is in the last one.
#[test]
fn folders_that_appear_one_by_one_are_followed_down() {
    let watched = Watched::new(Place::new(), &["a/b/c/s.json"]);
    for folder in ["a", "a/b", "a/b/c"] {
        watched.place.folder(folder);
        watched.catches_up();
    }
    watched.place.write("a/b/c/s.json", "new");
    watched.hears("a/b/c/s.json", Some("new"));
    watched.place.write("a/b/c/s.json", "newer");
    watched.hears("a/b/c/s.json", Some("newer"));
}

/// SPEC 13.5: all at once, faster than any watch can follow; again and again.
#[test]
fn folders_that_appear_and_go_at_once_are_followed() {
    let watched = Watched::new(Place::new(), &["a/b/c/s.json"]);
    for number in 0..20 {
        let text = number.to_string();
        watched.place.folder("a/b/c");
        watched.place.write("a/b/c/s.json", &text);
        watched.hears("a/b/c/s.json", Some(&text));
        watched.place.remove_folder("a");
        watched.hears("a/b/c/s.json", None);
    }
}

/// SPEC 13.5: folders appear while the watches are made, each between the look at it and the watch
/// of the one above it.
#[test]
fn folders_that_appear_while_a_file_is_declared_are_not_missed() {
    let watched = Watched::new(Place::new(), &[]);
    for number in 0..100_u64 {
        let deep = format!("f{number}/b/c/d/e/f");
        let file = format!("{deep}/s.json");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for (end, _) in deep.match_indices('/').chain([(deep.len(), "")]) {
                    watched.place.folder(&deep[..end]);
                    // Another pace each time.
                    (0..number * 100).for_each(|_| std::hint::spin_loop());
                }
            });
            watched.declare(&[&file]);
        });
        let text = number.to_string();
        watched.place.write(&file, &text);
        watched.hears(&file, Some(&text));
    }
}

/// SPEC 13.5: a tree that is moved into place has everything in it already.
#[test]
fn a_tree_that_is_moved_into_place_is_told() {
    let watched = Watched::new(Place::new(), &["a/b/s.json"]);
    watched.place.folder("built/b");
    watched.place.write("built/b/s.json", "new");
    watched.place.rename("built", "a");
    watched.hears("a/b/s.json", Some("new"));
    watched.place.write("a/b/s.json", "newer");
    watched.hears("a/b/s.json", Some("newer"));
}

/// SPEC 13.5: away, written there, and back; the folder itself, and one further up.
#[test]
fn a_folder_that_is_renamed_away_and_back_is_followed() {
    let place = Place::new();
    place.folder("a/b");
    place.write("a/b/s.json", "old");
    let watched = Watched::new(place, &["a/b/s.json"]);
    for (number, folder) in ["a/b", "a"].into_iter().cycle().take(6).enumerate() {
        watched.place.rename(folder, "away");
        watched.hears("a/b/s.json", None);
        watched.place.rename("away", folder);
        watched.hears(
            "a/b/s.json",
            fs::read_to_string(watched.place.at("a/b/s.json")).ok().as_deref(),
        );
        let text = number.to_string();
        watched.place.write("a/b/s.json", &text);
        watched.hears("a/b/s.json", Some(&text));
    }
}

/// SPEC 13.5: gone and back before anybody looked: the same folder, whose watch went with the move.
#[test]
fn a_folder_that_is_away_for_a_moment_is_followed() {
    let place = Place::new();
    place.folder("a/b");
    let watched = Watched::new(place, &["a/b/s.json"]);
    for (number, folder) in ["a/b", "a"].into_iter().cycle().take(8).enumerate() {
        watched.place.rename(folder, "away");
        watched.place.rename("away", folder);
        watched.catches_up();
        let text = number.to_string();
        watched.place.write("a/b/s.json", &text);
        watched.hears("a/b/s.json", Some(&text));
    }
}

/// SPEC 13.5: what happens in the folder that went is nothing to anybody.
#[test]
fn a_folder_that_was_renamed_away_is_not_followed() {
    let place = Place::new();
    place.folder("a/b");
    place.write("a/b/s.json", "old");
    let watched = Watched::new(place, &["a/b/s.json"]);
    watched.place.rename("a", "away");
    watched.hears("a/b/s.json", None);
    watched.catches_up();
    watched.place.write("away/b/s.json", "new");
    watched.hears_nothing_else();
}

/// SPEC 13.5: another folder of the same name, by renames: the files of the new one count, those of
/// the old one do not.
#[test]
fn a_folder_that_is_replaced_by_another_is_followed() {
    let place = Place::new();
    for (folder, text) in [("a", "old"), ("other", "other")] {
        place.folder(folder);
        place.write(&format!("{folder}/s.json"), text);
    }
    let watched = Watched::new(place, &["a/s.json"]);
    watched.place.rename("a", "away");
    watched.place.rename("other", "a");
    watched.hears("a/s.json", Some("other"));
    watched.catches_up();
    watched.place.write("away/s.json", "away");
    watched.hears_nothing_else();
    watched.catches_up();
    watched.place.write("a/s.json", "new");
    watched.hears("a/s.json", Some("new"));
}

/// SPEC 13.5: a folder that is removed and made again at once has the same name, and often the same
/// number.
#[test]
fn a_folder_that_is_made_again_is_followed() {
    let place = Place::new();
    place.folder("a");
    let watched = Watched::new(place, &["a/s.json"]);
    for number in 0..20 {
        watched.place.remove_folder("a");
        watched.place.folder("a");
        watched.catches_up();
        let text = number.to_string();
        watched.place.write("a/s.json", &text);
        watched.hears("a/s.json", Some(&text));
    }
}

/// SPEC 13.5: a file where a folder has to be, and the other way round.
#[test]
fn a_file_in_the_way_is_no_end() {
    let place = Place::new();
    place.write("a", "a file");
    let watched = Watched::new(place, &["a/s.json"]);
    watched.place.remove("a");
    watched.place.folder("a");
    watched.place.write("a/s.json", "new");
    watched.hears("a/s.json", Some("new"));
    watched.place.remove("a/s.json");
    watched.place.folder("a/s.json");
    watched.catches_up();
    watched.place.remove_folder("a/s.json");
    watched.place.write("a/s.json", "newer");
    watched.hears("a/s.json", Some("newer"));
}

/// SPEC 13.5: a declared folder changes with each file in it.
#[test]
fn a_declared_folder_is_told_with_what_is_in_it() {
    let watched = Watched::new(Place::new(), &["a/servers.d"]);
    watched.place.folder("a/servers.d");
    watched.hears("a/servers.d", None);
    watched.catches_up();
    watched.place.write("a/servers.d/one.json", "new");
    watched.hears("a/servers.d", None);
    watched.catches_up();
    watched.place.write("a/other.json", "new");
    watched.hears_nothing_else();
}
