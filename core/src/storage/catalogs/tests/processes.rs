//! Many hosts, one folder.

use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::*;

/// What this process was given, when it is one of those that a test starts.
const GIVEN: &str = "TRUNKLINE_TEST_CATALOGS";

/// Servers whose catalogs all processes write.
const SERVERS: usize = 4;

/// Whether the long forms are asked for.
fn is_full() -> bool {
    std::env::var("TRUNKLINE_STRESS").is_ok_and(|form| form == "full")
}

fn given() -> Option<Value> {
    Some(serde_json::from_str(&std::env::var(GIVEN).ok()?).unwrap())
}

/// This program, which runs that test again with what it is given.
fn again(test: &str, given: &Value) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let (_, module) = module_path!().split_once("::").unwrap();
    let name = format!("{module}::{test}");
    command.args(["--exact", &name, "--nocapture", "--test-threads=1"]);
    command.env(GIVEN, given.to_string()).stdout(Stdio::null());
    command
}

fn servers() -> impl Iterator<Item = CacheKey> {
    (0..SERVERS).map(|number| key(&number.to_string()))
}

/// A catalog is of one writer and one round: each of its tools says the same.
fn check_whole(known: &CatalogLookup, what: &str) {
    let catalog = match known {
        CatalogLookup::Catalog(catalog) => catalog,
        CatalogLookup::Unknown => return,
        CatalogLookup::Nothing => panic!("{what}: an empty one was listed"),
    };
    assert_eq!(catalog.tools.len(), 100, "{what}");
    let text = |definition: &str| {
        let tool: Value = serde_json::from_str(definition).unwrap();
        tool["description"].as_str().unwrap().to_owned()
    };
    let first = text(&catalog.tools[0].definition);
    assert!(catalog.tools.iter().all(|tool| text(&tool.definition) == first), "{what}: torn");
}

/// One host: it writes what it lists, and looks at what the others wrote, as a new pool does.
fn host(given: &Value) {
    let folder = PathBuf::from(given["folder"].as_str().unwrap());
    let writer = Opened::at(&folder);
    for round in 0..given["rounds"].as_u64().unwrap() {
        for key in servers() {
            let text = format!("{} {round} {}", std::process::id(), "x".repeat(200));
            let listed = catalog_of(100, &text);
            writer.catalogs.keep(&key, &listed, &ListingTerms::default());
            check_whole(&Opened::at(&folder).looked_up(&key), "while all write");
            assert_eq!(writer.catalogs.known(&key), CatalogLookup::Catalog(listed));
        }
        writer.settle();
    }
    // So many may be at it that one gives up waiting for its turn; nothing else goes wrong.
    let warnings = writer.warnings();
    assert!(warnings.iter().all(|warning| warning.contains("locked")), "{warnings:?}");
}

/// Reads as new pools do. What is there once is there from then on, no matter who writes or dies.
fn read_until(folder: &Place, is_over: &AtomicBool) {
    let mut there = [false; SERVERS];
    while !is_over.load(Ordering::Acquire) {
        for (key, there) in servers().zip(&mut there) {
            let known = folder.found(&key);
            check_whole(&known, "amid kills");
            let is_there = matches!(known, CatalogLookup::Catalog(_));
            assert!(is_there || !*there, "it was there before");
            *there = is_there;
        }
    }
}

/// Each at another moment: after it has seen so many files come.
fn kill_amid_writes(folder: &Place, process: &mut Child, files: usize) {
    let written = || folder.file(&key("0")).metadata().and_then(|it| it.modified()).ok();
    let (mut seen, mut last) = (0, written());
    let begun = std::time::Instant::now();
    while seen <= files && begun.elapsed() < HANG && process.try_wait().unwrap().is_none() {
        let newest = written();
        seen += usize::from(newest != last);
        last = newest;
        std::thread::yield_now();
    }
    process.kill().unwrap();
    process.wait().unwrap();
}

/// SPEC 14.2, S-12: many processes write at once, and some are killed amid it: a reader finds a
/// whole catalog, from the first one on, and nothing of the dead is left after the next write.
#[test]
fn many_processes_write_at_once_and_some_are_killed() {
    if let Some(given) = given() {
        return host(&given);
    }
    let folder = Place::new();
    let (count, rounds) = if is_full() { (100, 10) } else { (8, 6) };
    let given = json!({ "folder": folder.cache(), "rounds": rounds });
    let start =
        |_| again("many_processes_write_at_once_and_some_are_killed", &given).spawn().unwrap();
    let started: Vec<Child> = (0..count).map(start).collect();
    let (mut doomed, mut others): (Vec<_>, Vec<_>) =
        started.into_iter().enumerate().partition(|(number, _)| number % 4 == 0);
    let is_over = AtomicBool::new(false);
    let ended: Vec<_> = std::thread::scope(|scope| {
        scope.spawn(|| read_until(&folder, &is_over));
        for (number, process) in &mut doomed {
            kill_amid_writes(&folder, process, *number);
        }
        let ended = others.iter_mut().map(|(_, process)| process.wait().unwrap()).collect();
        is_over.store(true, Ordering::Release);
        ended
    });
    assert!(ended.iter().all(|status| status.success()), "{ended:?}");
    let last = folder.open();
    for key in servers() {
        assert!(matches!(last.looked_up(&key), CatalogLookup::Catalog(_)));
        last.keep(&key, &catalog_of(100, "the last"));
        assert_eq!(folder.found(&key), CatalogLookup::Catalog(catalog_of(100, "the last")));
    }
    let mut names: Vec<String> = servers().map(|key| key.digits() + ".json").collect();
    names.sort();
    assert_eq!(folder.names(), names);
    assert_eq!(last.warnings(), Vec::<String>::new());
}

/// What the child prints when it has checked everything.
#[cfg(target_os = "linux")]
const CHECKED: &str = "the full disk was seen";

/// SPEC 14.2: on a disk that takes nothing more the old catalog stays whole, the pool knows the new
/// one, and hears of it once.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_old_catalog() {
    if let Some(given) = given() {
        let opened = Opened::at(Path::new(given["folder"].as_str().unwrap()));
        for text in ["two", "three"] {
            opened.keep(&key("s"), &catalog(text));
            assert_eq!(opened.catalogs.known(&key("s")), CatalogLookup::Catalog(catalog(text)));
        }
        assert_eq!(opened.warnings().len(), 1, "{:?}", opened.warnings());
        println!("{CHECKED}");
        return;
    }
    let folder = Place::new();
    folder.open().keep(&key("s"), &catalog("one"));
    let given = json!({ "folder": folder.cache() });
    let child = again("a_full_disk_leaves_the_old_catalog", &given);
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "trap '' XFSZ && ulimit -f 0 && exec \"$0\" \"$@\""])
        .arg(child.get_program());
    let output = limited.args(child.get_args()).env(GIVEN, given.to_string()).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    // A child that ran no test ends well too.
    assert!(output.status.success() && printed.contains(CHECKED), "{output:?}");
    assert_eq!(folder.found(&key("s")), CatalogLookup::Catalog(catalog("one")));
    assert_eq!(folder.names(), [key("s").digits() + ".json"]);
}

/// Another process that writes and has the lock: any other writer has looked already, and waits.
struct Writing<'a> {
    folder: &'a Place,
    _lock: crate::platform::FileLock,
}

impl Writing<'_> {
    fn begin(folder: &Place) -> Writing<'_> {
        let lock = crate::storage::lock_now(&disk::shared_file(&folder.cache())).unwrap();
        std::fs::remove_file(folder.cache().join("catalogs.turn")).unwrap();
        Writing { folder, _lock: lock }
    }

    /// Until somebody waits for the lock.
    fn is_waited_for(&self) {
        while !self.folder.cache().join("catalogs.turn").exists() {
            std::thread::yield_now();
        }
    }
}

/// SPEC 14.2: a process that was stopped amid a write holds up no look of another that would write
/// as well.
#[test]
fn a_write_that_waits_for_its_turn_holds_up_no_look() {
    let folder = Place::new();
    let opened = folder.open();
    opened.keep(&key("s"), &catalog("one"));
    let writing = Writing::begin(&folder);
    let other = folder.open();
    other.catalogs.keep(&key("t"), &catalog("two"), &ListingTerms::default());
    writing.is_waited_for();
    assert_eq!(other.looked_up(&key("s")), CatalogLookup::Catalog(catalog("one")));
    assert_eq!(other.warnings(), Vec::<String>::new(), "the write waits still");
    drop(writing);
    other.settle();
    assert_eq!(folder.found(&key("t")), CatalogLookup::Catalog(catalog("two")));
}

/// SPEC 14.2: of two processes the one that listed later is kept, also where the other writes last.
#[test]
fn a_list_that_waited_for_its_turn_takes_no_place_from_a_later_one() {
    let folder = Place::new();
    let (key, now) = (key("s"), now_ms());
    let keep = |opened: &Opened, text: &str, listed_at_ms| {
        let lists = catalog(text);
        let listing = (&ListingTerms::default(), listed_at_ms);
        opened.catalogs.keep_without_held(&key, (&lists, &lists), listing);
    };
    let opened = folder.open();
    keep(&opened, "one", now - 2000);
    opened.settle();
    let writing = Writing::begin(&folder);
    keep(&opened, "two", now - 1000);
    writing.is_waited_for();
    let three = Kept::of(&catalog("three"), &ListingTerms::default(), now).unwrap();
    std::fs::write(folder.file(&key), three.to_text(&key).unwrap()).unwrap();
    drop(writing);
    opened.settle();
    assert_eq!(folder.found(&key), CatalogLookup::Catalog(catalog("three")));
}

/// SPEC 14.2: what a server lists while the writer waits is written as it was last.
#[test]
fn of_lists_that_wait_to_be_written_the_newest_is() {
    let folder = Place::new();
    let opened = folder.open();
    opened.keep(&key("s"), &catalog("one"));
    let writing = Writing::begin(&folder);
    opened.catalogs.keep(&key("t"), &catalog("one"), &ListingTerms::default());
    writing.is_waited_for();
    for text in ["two", "three"] {
        opened.catalogs.keep(&key("s"), &catalog(text), &ListingTerms::default());
    }
    drop(writing);
    opened.settle();
    assert_eq!(folder.found(&key("s")), CatalogLookup::Catalog(catalog("three")));
}
