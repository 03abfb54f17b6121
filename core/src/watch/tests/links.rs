//! Links: the file itself, or a folder on the way to it.
#![cfg(unix)]

use super::*;

/// SPEC 13.5: what is written at the end of the link, and the link itself.
#[test]
fn a_file_that_is_a_link_is_followed() {
    let place = Place::new();
    place.folder("one");
    place.folder("two");
    place.write("one/s.json", "one");
    place.write("two/s.json", "two");
    place.link("s.json", "one/s.json");
    let watched = Watched::new(place, &["s.json"]);
    watched.place.write("one/s.json", "one, new");
    watched.hears("s.json", Some("one, new"));
    watched.place.link("next", "two/s.json");
    watched.place.rename("next", "s.json");
    watched.hears("s.json", Some("two"));
    watched.catches_up();
    watched.place.write("one/s.json", "nobody's");
    watched.hears_nothing_else();
    watched.catches_up();
    watched.place.write("two/s.json", "two, new");
    watched.hears("s.json", Some("two, new"));
}

/// SPEC 13.5: the layout of a mounted ConfigMap. The file is a link through `..data`, which is a
/// link that is swapped.
#[test]
fn the_swap_of_a_mounted_config_is_followed() {
    let place = Place::new();
    let version = |place: &Place, number: u32| {
        place.folder(&format!("etc/..v{number}"));
        place.write(&format!("etc/..v{number}/s.json"), &number.to_string());
    };
    version(&place, 0);
    place.link("etc/..data", "..v0");
    place.link("etc/s.json", "..data/s.json");
    let watched = Watched::new(place, &["etc/s.json"]);
    for number in 1..6 {
        version(&watched.place, number);
        watched.place.link("etc/..data_tmp", &format!("..v{number}"));
        watched.place.rename("etc/..data_tmp", "etc/..data");
        watched.place.remove_folder(&format!("etc/..v{}", number - 1));
        watched.hears("etc/s.json", Some(&number.to_string()));
    }
}

/// SPEC 13.5: by an absolute target, a relative one, and one that climbs.
#[test]
fn a_folder_that_is_a_link_is_followed_wherever_it_leads() {
    let place = Place::new();
    for folder in ["one", "two/deep", "three"] {
        place.folder(folder);
        place.write(&format!("{folder}/s.json"), folder);
    }
    place.link("a", "one");
    let watched = Watched::new(place, &["a/s.json"]);
    let absolute = watched.place.at("two/deep");
    let targets = [absolute.to_str().unwrap(), "./two/../three/.", "one"];
    for (target, folder) in targets.into_iter().zip(["two/deep", "three", "one"]) {
        watched.place.link("next", target);
        watched.place.rename("next", "a");
        watched.hears("a/s.json", Some(folder));
        watched.place.write(&format!("{folder}/s.json"), target);
        watched.hears("a/s.json", Some(target));
        watched.place.write(&format!("{folder}/s.json"), folder);
        watched.hears("a/s.json", Some(folder));
    }
}

/// SPEC 13.5: a link to nothing, whose end appears, goes, and appears.
#[test]
fn the_missing_end_of_a_link_is_waited_for() {
    let place = Place::new();
    place.link("s.json", "a/b/s.json");
    let watched = Watched::new(place, &["s.json"]);
    for text in ["one", "two"] {
        watched.place.folder("a/b");
        watched.place.write("a/b/s.json", text);
        watched.hears("s.json", Some(text));
        watched.place.remove_folder("a");
        watched.hears("s.json", None);
    }
}

/// SPEC 13.5: a folder becomes a link, and the link a folder.
#[test]
fn a_folder_that_becomes_a_link_is_followed() {
    let place = Place::new();
    place.folder("a");
    place.write("a/s.json", "folder");
    let watched = Watched::new(place, &["a/s.json"]);
    watched.place.rename("a", "b");
    watched.place.link("a", "b");
    watched.hears("a/s.json", Some("folder"));
    watched.place.write("b/s.json", "link");
    watched.hears("a/s.json", Some("link"));
    watched.place.remove("a");
    watched.place.rename("b", "a");
    watched.catches_up();
    watched.place.write("a/s.json", "folder again");
    watched.hears("a/s.json", Some("folder again"));
}

/// SPEC 13.5: links that lead to each other lead nowhere until one of them is another.
#[test]
fn links_in_a_circle_are_left_when_it_opens() {
    let place = Place::new();
    place.link("s.json", "t.json");
    place.link("t.json", "s.json");
    let watched = Watched::new(place, &["s.json"]);
    watched.place.remove("t.json");
    watched.place.write("t.json", "new");
    watched.hears("s.json", Some("new"));
}

/// SPEC 13.5: two declared files by two ways to one folder are both told.
#[test]
fn one_file_by_two_ways_is_told_by_both() {
    let place = Place::new();
    place.folder("a");
    place.write("a/s.json", "old");
    place.link("b", "a");
    let watched = Watched::new(place, &["a/s.json", "b/s.json"]);
    watched.place.write("a/s.json", "new");
    let told = watched.told.recv_timeout(HANG).unwrap();
    assert_eq!(told, BTreeSet::from(["a/s.json", "b/s.json"].map(|file| watched.place.at(file))));
}
