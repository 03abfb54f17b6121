//! A save that fails, or is killed, at each of its system calls in turn.

use std::collections::BTreeMap;

use super::*;
use crate::score;

/// The calls that a save can make: of files, and no others, since a program cannot live without
/// memory.
const CALLS: &str = "?open,?openat,?mkdir,?mkdirat,?stat,?lstat,?statx,?newfstatat,?fstat,?read,?pread64,?readv,?write,?pwrite64,\
    ?writev,?fsync,?fdatasync,?rename,?renameat,?renameat2,?unlink,?unlinkat,?link,?linkat,?flock,?close,?lseek,?fcntl,?chmod,\
    ?fchmod,?ftruncate,?fallocate,?access,?faccessat,?readlink,?readlinkat";

/// What a disk, a limit or a right can say.
const ERRORS: [(&str, i64); 5] =
    [("ENOSPC", 28), ("EIO", 5), ("EROFS", 30), ("EMFILE", 24), ("EACCES", 13)];

/// Paths that nobody has: looking at them tells where a save begins and ends.
const MARKS: [&str; 2] = ["/trunkline-a-save-begins", "/trunkline-a-save-ends"];

const TEST: &str = "faults::a_save_that_fails_or_is_killed_leaves_the_old_file_or_the_new";

/// Saves into another file that come first.
const OTHER_SAVES: usize = 12;

/// One call of a save: its name, and how many of that name its thread had made by then.
type Call = (String, usize);

/// Saves one decision between two marks, and tells what came of it.
fn save(given: &Value) {
    let path = Path::new(given.as_str().unwrap());
    // Strace counts the calls of each thread: what is to strike the save is beyond what the other
    // threads make.
    let elsewhere = path.parent().and_then(Path::parent).unwrap().join("other/approvals.json");
    let other = open(&elsewhere);
    for number in 0..OTHER_SAVES {
        decide(&other, &number.to_string(), Approved).unwrap();
    }
    let approvals = open(path);
    let _ = std::fs::metadata(MARKS[0]);
    let decided = decide(&approvals, "new", Approved);
    let _ = std::fs::metadata(MARKS[1]);
    let told = match decided {
        Ok(_) => json!({ "in_force": standing(&approvals, "new").is_some() }),
        Err(error) => json!({
            "code": error.code() as i32,
            "errno": error.detail().get("errno"),
            "path": error.detail().get("path"),
            "in_force": approvals.standing(&root(), "new", identity("c").hash).is_ok_and(|it| it.is_some()),
        }),
    };
    println!("told {told}");
}

/// A folder as it is before a save.
#[derive(Clone, Copy, Debug)]
enum Before {
    Nothing,
    AFile,
}

struct Run {
    folder: Home,
    /// What the save told; nothing when it was killed.
    told: Option<Value>,
    trace: String,
}

/// Runs a save under strace, with these of its options.
fn run(before: Before, options: &[String]) -> Run {
    let folder = Home::new();
    if let Before::AFile = before {
        decide(&open(&folder.file()), "old", Rejected).unwrap();
    }
    let trace = folder.0.join("trace");
    let mut strace = Command::new("strace");
    strace.arg("-f").arg("-o").arg(&trace).arg("-e").arg(format!("trace={CALLS}"));
    strace.args(options).arg(this_program());
    // Without what makes the others look for more: libraries of the build, and colours.
    strace.env_remove("LD_LIBRARY_PATH").env_remove("TERM");
    let output = again(strace, TEST, &json!(folder.file())).output().expect("strace is installed");
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let told = output.lines().find_map(|line| line.split_once("told ").map(|(_, told)| told));
    let told = told.map(|told| serde_json::from_str(told).unwrap());
    let trace = std::fs::read_to_string(trace).unwrap();
    Run { folder, told, trace }
}

/// The calls between the marks.
fn calls(trace: &str) -> Vec<Call> {
    let lines = || trace.lines().filter_map(|line| line.split_once(char::is_whitespace));
    let saver = lines().find(|(_, call)| call.contains(MARKS[0])).expect("it began").0;
    let mut made: BTreeMap<(bool, &str), usize> = BTreeMap::new();
    let (mut out, mut is_within) = (Vec::new(), false);
    for (thread, call) in lines() {
        let Some((name, _)) = call.trim_start().split_once('(') else { continue };
        let is_saver = thread == saver;
        let count = made.entry((is_saver, name)).or_default();
        *count += 1;
        if is_saver {
            is_within &= !call.contains(MARKS[1]);
            if is_within {
                out.push((name.to_owned(), *count));
            }
            is_within |= call.contains(MARKS[0]);
        }
    }
    for (name, number) in &out {
        let others = made.get(&(false, name.as_str())).copied().unwrap_or_default();
        assert!(
            others < *number,
            "other threads make {others} {name}, the save has number {number}"
        );
    }
    out
}

/// Whether the fault was within the save.
fn has_struck(trace: &str) -> bool {
    let after = trace.split_once(MARKS[0]).map_or("", |(_, after)| after);
    let within = after.split_once(MARKS[1]).map_or(after, |(within, _)| within);
    within.contains("(INJECTED)") || within.contains("SIGKILL")
}

/// The file is whole: what was there before is in it, and the new decision is or is not.
fn is_new(run: &Run, before: Before, what: &str) -> bool {
    let approvals = open(&run.folder.file());
    let warnings = warnings(&approvals);
    let old = standing(&approvals, "old");
    let expected = if let Before::AFile = before { Some(Rejected) } else { None };
    assert_eq!(old, expected, "{what}");
    assert_eq!(*warnings.lock().unwrap(), Vec::<String>::new(), "{what}");
    let is_new = standing(&approvals, "new").is_some();
    // And the next save goes well, whatever was left.
    decide(&approvals, "next", Approved).unwrap();
    assert_eq!(standing(&open(&run.folder.file()), "next"), Some(Approved), "{what}");
    is_new
}

fn fail(before: Before, (name, number): &Call, (error, errno): (&str, i64)) {
    let what = format!("{error} at {name} {number} with {before:?} before");
    let run = run(before, &["-e".into(), format!("inject={name}:error={error}:when={number}")]);
    assert!(has_struck(&run.trace), "{what}: {}", run.trace);
    let told = run.told.clone().unwrap_or_else(|| panic!("{what}: it died"));
    let is_new = is_new(&run, before, &what);
    assert_eq!(told["in_force"], json!(is_new), "{what}: {told}");
    if !is_new {
        assert_eq!((&told["code"], &told["errno"]), (&json!(26), &json!(errno)), "{what}");
        assert!(told["path"].is_string(), "{what}");
    }
}

fn kill(before: Before, (name, number): &Call) {
    let what = format!("killed at {name} {number} with {before:?} before");
    let run = run(before, &["-e".into(), format!("inject={name}:signal=SIGKILL:when={number}")]);
    assert!(has_struck(&run.trace), "{what}: {}", run.trace);
    assert!(run.told.is_none(), "{what}: it lives");
    is_new(&run, before, &what);
}

/// SPEC 12.6, 12.8, S-13, I-23: after a kill or an error at any system call of a save the file is
/// the old or the new one. What was told to have failed is not in force and is not in the file;
/// what was told to be kept is there.
#[test]
fn a_save_that_fails_or_is_killed_leaves_the_old_file_or_the_new() {
    if let Some(given) = given() {
        return save(&given);
    }
    let befores: &[Before] =
        if is_full() { &[Before::AFile, Before::Nothing] } else { &[Before::AFile] };
    for before in befores {
        let first = run(*before, &[]);
        assert!(is_new(&first, *before, "nothing"));
        let calls = calls(&first.trace);
        for needed in ["fsync", "flock", "write"] {
            assert!(calls.iter().any(|(name, _)| name == needed), "{needed}: {calls:?}");
        }
        for (index, call) in calls.iter().enumerate() {
            // One error of each call in the short form; each error has its turn.
            let errors = if is_full() { &ERRORS[..] } else { &ERRORS[index % 5..][..1] };
            for error in errors {
                fail(*before, call, *error);
            }
            kill(*before, call);
            score::done("approvals/faults", errors.len() as u64 + 1);
        }
    }
}
