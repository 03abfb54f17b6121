//! The bound of the whole folder.

use std::time::SystemTime;

use super::*;

fn write(disk: &Disk, name: &str, text: &str) {
    let kept = Kept::of(&catalog(text), &ListingTerms::default(), now_ms()).unwrap();
    disk.write(&[(key(name), Write::Keep(kept))]).unwrap();
}

fn disk(folder: &Place, files_max: usize, bytes_max: u64) -> Disk {
    let mut disk = folder.disk();
    (disk.files_max, disk.bytes_max) = (files_max, bytes_max);
    disk
}

/// Makes a file so old.
fn age(path: &Path, seconds: u64) {
    let at = SystemTime::now() - Duration::from_secs(seconds);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
}

/// SPEC 14.2: of more files than there may be the oldest go, and room is made for some that come.
#[test]
fn of_too_many_files_the_oldest_go() {
    let folder = Place::new();
    let disk = disk(&folder, 8, u64::MAX);
    for number in 0..8 {
        let name = number.to_string();
        write(&disk, &name, "x");
        age(&folder.file(&key(&name)), 1000 - number);
    }
    assert_eq!(folder.names().len(), 8);
    write(&disk, "8", "x");
    let mut left: Vec<String> =
        (3..=8).map(|number| key(&number.to_string()).digits() + ".json").collect();
    left.sort();
    assert_eq!(folder.names(), left);
}

/// SPEC 14.2: all files together have a bound, whatever each of them has.
#[test]
fn of_too_many_bytes_the_oldest_go() {
    let folder = Place::new();
    let disk = disk(&folder, 100, 100_000);
    for number in 0..30 {
        let name = number.to_string();
        write(&disk, &name, &"x".repeat(5_000));
        age(&folder.file(&key(&name)), 1000 - number);
        let sizes = folder.names().into_iter().map(|name| folder.cache().join(name).metadata());
        assert!(sizes.map(|metadata| metadata.unwrap().len()).sum::<u64>() <= 100_000);
    }
    assert!(folder.file(&key("29")).exists() && !folder.file(&key("0")).exists());
}

/// SPEC 14.2: what counts no more goes, and what a process that died was writing. What is called
/// otherwise is not ours.
#[test]
fn what_is_over_goes_and_what_is_not_ours_stays() {
    let folder = Place::new();
    let disk = disk(&folder, 100, u64::MAX);
    write(&disk, "old", "x");
    write(&disk, "young", "x");
    age(&folder.file(&key("old")), 31 * 24 * 3600);
    age(&folder.file(&key("young")), 29 * 24 * 3600);
    let torn = folder.cache().join(key("torn").digits() + ".json.new");
    let theirs = ["notes.json", "0123.json", "README", ".json"];
    std::fs::write(&torn, "{").unwrap();
    for name in theirs {
        std::fs::write(folder.cache().join(name), "x").unwrap();
        age(&folder.cache().join(name), 400 * 24 * 3600);
    }
    write(&disk, "new", "x");
    assert!(!torn.exists() && !folder.file(&key("old")).exists());
    assert!(folder.file(&key("young")).exists() && folder.file(&key("new")).exists());
    assert!(theirs.iter().all(|name| folder.cache().join(name).exists()));
}

/// I-26: files of a time to come, which a clock that was set back leaves, go before what is written
/// by it; those of long ago go by themselves.
#[test]
fn a_clock_that_was_set_back_does_not_cost_what_is_new() {
    let folder = Place::new();
    let disk = disk(&folder, 8, u64::MAX);
    for number in 0..8 {
        let name = number.to_string();
        write(&disk, &name, "x");
        let ahead = SystemTime::now() + Duration::from_secs(365 * 24 * 3600 + number);
        let file = std::fs::File::options().write(true).open(folder.file(&key(&name))).unwrap();
        file.set_modified(ahead).unwrap();
    }
    write(&disk, "new", "x");
    assert!(folder.file(&key("new")).exists(), "{:?}", folder.names());
    assert!(folder.names().len() <= 8);
    // The clock goes forth again.
    for name in folder.names() {
        age(&folder.cache().join(name), 400 * 24 * 3600);
    }
    write(&disk, "newest", "x");
    assert_eq!(folder.names(), [key("newest").digits() + ".json"]);
}
