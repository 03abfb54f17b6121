//! How long each target has been searched since something was last found in it: kept from run to
//! run, and shown on the page.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::machine::{Machine, write};
use crate::run::Stop;
use crate::scoreboard::grouped;

/// What came of a search.
#[derive(Debug, PartialEq)]
pub enum Came {
    Nothing(Searched),
    /// An input that breaks the target.
    Found,
}

/// How much was searched.
#[derive(Debug, Default, PartialEq)]
pub struct Searched {
    pub processor: Duration,
    pub inputs: u64,
    /// What all inputs together reach.
    pub edges: u64,
    /// The places of the program in which that is counted: another number, another program.
    pub counters: u64,
}

/// The most that searches reached since the last finding, and by what program.
#[derive(Debug, PartialEq)]
pub struct Reached {
    pub edges: u64,
    pub counters: u64,
}

impl Reached {
    fn of(kept: &Map<String, Value>, target: &str) -> Option<Reached> {
        let of = |key: &str| kept.get(target)?[key].as_u64();
        Some(Reached { edges: of("edges")?, counters: of("counters").unwrap_or(0) })
    }
}

/// Adds what came to what is kept, and writes the page anew; what was reached before. Several
/// searches may do so at a time.
pub fn note(machine: &Machine, target: &str, came: &Came) -> Result<Option<Reached>, Stop> {
    let path = machine.target.join("xtask/searched.lock");
    let lock = locked(&path);
    let lock = lock.map_err(|error| Stop::Failed(format!("{}: {error}", path.display())))?;
    let mut kept = read(&machine.root)?;
    let before = Reached::of(&kept, target);
    add(&mut kept, target, came, &machine.commit());
    let text = serde_json::to_string_pretty(&kept).unwrap_or_default();
    write(&machine.root.join(KEPT), &(text + "\n"))?;
    let page = machine.root.join(PAGE);
    write(&page, &shown(&text_of(&page)?, &kept)?)?;
    drop(lock);
    Ok(before)
}

/// How long each target was searched since something was last found in it, in seconds of processor
/// time.
pub fn seconds(machine: &Machine) -> Result<BTreeMap<String, u64>, Stop> {
    let kept = read(&machine.root)?;
    let of = |kept: &Value| kept["processor_ms"].as_u64().unwrap_or(0) / 1_000;
    Ok(kept.iter().map(|(target, kept)| (target.clone(), of(kept))).collect())
}

/// A file that one process at a time has open; closing it is enough.
fn locked(path: &Path) -> std::io::Result<File> {
    let file = File::create(path)?;
    // SAFETY: the descriptor is open throughout the call.
    match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) } {
        0 => Ok(file),
        _ => Err(std::io::Error::last_os_error()),
    }
}

fn read(root: &Path) -> Result<Map<String, Value>, Stop> {
    let path = root.join(KEPT);
    let text = text_of(&path)?;
    serde_json::from_str(&text)
        .map_err(|error| Stop::Failed(format!("{}: {error}", path.display())))
}

fn text_of(path: &Path) -> Result<String, Stop> {
    std::fs::read_to_string(path)
        .map_err(|error| Stop::Failed(format!("{}: {error}", path.display())))
}

/// Whatever was searched before a finding counts no more, nor does what is searched of the very
/// commit of the finding. Of one program the most edges count, whatever a later search came to;
/// those of another program say nothing of this one's.
fn add(kept: &mut Map<String, Value>, target: &str, came: &Came, commit: &str) {
    let Came::Nothing(searched) = came else {
        kept.insert(target.to_owned(), json!({ "found": commit }));
        return;
    };
    let before = kept.get(target).cloned().unwrap_or_default();
    if before["found"].as_str().is_some_and(|found| is_same_program(found, commit)) {
        return;
    }
    let of = |key: &str| before[key].as_u64().unwrap_or(0);
    let is_same = before["counters"].as_u64() == Some(searched.counters);
    let since = before["since"].as_str().unwrap_or(commit);
    let mut sum = json!({
        "processor_ms": of("processor_ms") + searched.processor.as_millis() as u64,
        "inputs": of("inputs") + searched.inputs,
        "edges": if is_same { searched.edges.max(of("edges")) } else { searched.edges },
        "counters": searched.counters,
        "since": since,
        "until": commit,
    });
    if let Some(found) = before["found"].as_str() {
        sum["found"] = found.into();
    }
    kept.insert(target.to_owned(), sum);
}

/// Whether two runs were of one program: a commit with a star stands for any change of it.
fn is_same_program(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|written| written.split(',').next());
    one == other && one.is_some_and(|name| !name.ends_with('*'))
}

/// The page with the table of these.
fn shown(page: &str, kept: &Map<String, Value>) -> Result<String, Stop> {
    let (before, rest) = page
        .split_once(HEAD)
        .ok_or_else(|| Stop::Failed(format!("{PAGE} has no table of what was searched")))?;
    let behind = rest.find("\n\n").map_or("\n", |end| &rest[end..]);
    let mut table = String::from(HEAD);
    for (target, kept) in kept {
        let number = |key: &str| kept[key].as_u64().unwrap_or(0);
        let commit = |key: &str| kept[key].as_str().unwrap_or("-").to_owned();
        let seconds = number("processor_ms") / 1_000;
        let (goal, inputs, edges) = (grouped(GOAL_SECONDS), number("inputs"), number("edges"));
        let _ = write!(
            table,
            "\n| `{target}` | {} of {goal} s | {} | {} | {} | {} | {} |",
            grouped(seconds),
            grouped(inputs),
            grouped(edges),
            commit("since"),
            commit("until"),
            commit("found"),
        );
    }
    Ok(format!("{before}{table}{behind}"))
}

/// What is kept, by the names of the targets.
const KEPT: &str = "docs/evidence/fuzz.json";
const PAGE: &str = "docs/internals/fuzz.md";

/// Processor time that each target is to be searched for since the last finding (SECURITY row 15).
pub const GOAL_SECONDS: u64 = 3_600;

const HEAD: &str = "\
| Target | Processor time | Inputs | Edges reached | Since | Until | Last finding |
| --- | --- | --- | --- | --- | --- | --- |";

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing(seconds: u64, inputs: u64, edges: u64) -> Came {
        let processor = Duration::from_secs(seconds);
        Came::Nothing(Searched { processor, inputs, edges, counters: 70 })
    }

    #[test]
    fn searches_add_up_until_something_is_found() {
        let mut kept = Map::new();
        add(&mut kept, "json", &nothing(3, 10, 7), "a, 2026-01-01");
        add(&mut kept, "json", &nothing(4, 20, 9), "b, 2026-01-02");
        let both = json!({
            "processor_ms": 7_000, "inputs": 30, "edges": 9, "counters": 70,
            "since": "a, 2026-01-01", "until": "b, 2026-01-02",
        });
        assert_eq!(kept["json"], both);
        add(&mut kept, "json", &Came::Found, "c, 2026-01-03");
        add(&mut kept, "json", &nothing(9, 9, 9), "c, 2026-01-04");
        assert_eq!(kept["json"], json!({ "found": "c, 2026-01-03" }), "it is not mended there");
        add(&mut kept, "json", &nothing(1, 2, 3), "d, 2026-01-04");
        let anew = json!({
            "processor_ms": 1_000, "inputs": 2, "edges": 3, "counters": 70,
            "since": "d, 2026-01-04", "until": "d, 2026-01-04", "found": "c, 2026-01-03",
        });
        assert_eq!(kept["json"], anew);
    }

    #[test]
    fn the_most_edges_of_one_program_are_kept() {
        let mut kept = Map::new();
        let mut edges_after = |edges, counters| {
            let searched = Searched { edges, counters, ..Searched::default() };
            add(&mut kept, "json", &Came::Nothing(searched), "a, 2026-01-01");
            Reached::of(&kept, "json").unwrap().edges
        };
        assert_eq!([edges_after(9, 70), edges_after(3, 70), edges_after(11, 70)], [9, 9, 11]);
        assert_eq!(edges_after(5, 71), 5);
        // What was written before the program was noted is of another one.
        kept["json"].as_object_mut().unwrap().remove("counters");
        assert_eq!(Reached::of(&kept, "json"), Some(Reached { edges: 5, counters: 0 }));
        assert_eq!(Reached::of(&kept, "abi"), None);
    }

    #[test]
    fn the_table_alone_is_written_anew() {
        let mut kept = Map::new();
        add(&mut kept, "json", &nothing(4_000, 1_234, 9), "a, 2026-01-01");
        let row = "| `json` | 4,000 of 3,600 s | 1,234 | 9 | a, 2026-01-01 | a, 2026-01-01 | - |";
        let before = format!("# A\n\n{HEAD}\n| old |\n\nB\n");
        assert_eq!(shown(&before, &kept).unwrap(), format!("# A\n\n{HEAD}\n{row}\n\nB\n"));
        assert!(shown("# A\n", &kept).is_err());
    }

    /// Each target stands in the table, with what is kept of it.
    #[test]
    fn the_page_is_made_of_what_is_kept() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
        let kept = read(root).unwrap();
        let page = text_of(&root.join(PAGE)).unwrap();
        assert_eq!(shown(&page, &kept).unwrap(), page);
        let corpus = std::fs::read_dir(root.join("tests/fuzz/corpus")).unwrap();
        let mut targets: Vec<_> =
            corpus.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        let mut named: Vec<_> = kept.keys().cloned().collect();
        targets.sort();
        named.sort();
        assert_eq!(named, targets);
    }
}
