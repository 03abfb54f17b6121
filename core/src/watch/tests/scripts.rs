//! Random edits: whatever is done to a tree of folders and links, a reader in the callbacks knows
//! the last state of every file.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::*;

/// The files that are declared, in folders and behind links that come and go.
const FILES: [&str; 6] =
    ["s.json", "a/s.json", "a/b/s.json", "l/s.json", "l/b/s.json", "a/link.json"];

/// A small generator: the same seed, the same script.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }

    fn choose<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }
}

/// What the one that was told has read.
type Seen = Arc<Mutex<BTreeMap<PathBuf, Option<String>>>>;

fn read(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// One edit. Many come to nothing, since what they need is not there.
fn edit(place: &Place, dice: &mut Dice, number: usize) {
    let folders = ["a", "a/b", "c", "c/b", "away"];
    let text = number.to_string();
    let file = place.at(dice.choose(&FILES));
    let _ = match dice.roll(10) {
        0 | 1 => fs::write(file, text),
        2 => {
            let next = file.with_extension("tmp");
            fs::write(&next, text).and_then(|()| fs::rename(next, file))
        }
        3 => fs::rename(&file, file.with_extension("bak")).and_then(|()| fs::write(file, text)),
        4 => fs::remove_file(file),
        5 | 6 => fs::create_dir_all(place.at(dice.choose(&folders))),
        7 => {
            let (from, to) = (dice.choose(&folders), dice.choose(&folders));
            fs::rename(place.at(from), place.at(to))
        }
        8 => fs::remove_dir_all(place.at(dice.choose(&folders))),
        _ => {
            let (link, target) =
                [("l", "a"), ("l", "c"), ("a/link.json", "../c/s.json")][dice.roll(3)];
            let next = place.at("next-link");
            let linked = std::os::unix::fs::symlink(target, &next);
            linked.and_then(|()| fs::rename(&next, place.at(link))).inspect_err(|_| {
                let _ = fs::remove_file(&next);
            })
        }
    };
}

fn run(seed: u64) {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let place = Place::new();
    let seen = Seen::default();
    let reader = seen.clone();
    let options = WatchOptions { debounce: Duration::from_millis(2), ..WatchOptions::default() };
    let watcher = Watcher::new(options, move |changed| {
        for path in changed {
            let text = read(&path);
            reader.lock().unwrap().insert(path, text);
        }
    });
    let watcher = watcher.unwrap();
    for number in 0..dice.roll(20) {
        edit(&place, &mut dice, number);
    }
    let files: BTreeSet<PathBuf> = FILES.iter().map(|file| place.at(file)).collect();
    watcher.set_files(files.clone());
    for path in &files {
        let text = read(path);
        seen.lock().unwrap().entry(path.clone()).or_insert(text);
    }
    for number in 100..100 + dice.roll(40) {
        edit(&place, &mut dice, number);
        if dice.roll(4) == 0 {
            std::thread::park_timeout(Duration::from_micros(dice.roll(8000) as u64));
        }
    }
    let begun = std::time::Instant::now();
    loop {
        let stale = |path: &&PathBuf| seen.lock().unwrap()[*path] != read(path);
        let Some(path) = files.iter().find(stale) else { break };
        assert!(begun.elapsed() < HANG, "seed {seed}: {} was never told", path.display());
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

/// SPEC 13.5: after the last edit of a script a callback comes after which reading shows the final
/// state of each file.
#[test]
fn the_last_edit_of_every_script_is_told() {
    (1..=200).for_each(run);
}
