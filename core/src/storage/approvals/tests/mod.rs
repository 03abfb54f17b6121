//! Decisions in a file: what others put there, what becomes of it when a save fails, and two hosts
//! at once.

mod attacks;
#[cfg(target_os = "linux")]
mod faults;
mod places;
mod processes;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use trunkline_pool::approvals::{
    Book, Candidate, CandidateLaunch, Decided, Decision, Identity, ProjectRoot,
};
use trunkline_pool::config::ServerSpec;

use super::Approvals;
use crate::folder::Folder;
use crate::{ErrorCode, Result};

use Decision::{Approved, Rejected};

/// A folder for one test, which goes with it.
struct Home(Folder);

impl Home {
    fn new() -> Home {
        Home(Folder::new())
    }

    fn file(&self) -> PathBuf {
        self.0.join("trunkline/approvals.json")
    }

    /// What is beside the file whose name begins so.
    fn beside(&self, start: &str) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.file().parent().unwrap()).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths
            .filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(start))
            .collect()
    }
}

fn open(path: &Path) -> Approvals {
    Approvals::open(path.to_str()).unwrap()
}

fn root() -> ProjectRoot {
    ProjectRoot::of_canonical("/project")
}

fn identity(command: &str) -> Identity {
    let spec = ServerSpec::from_value("s", &json!({ "command": command })).unwrap();
    let shown = CandidateLaunch::of(&spec, Some("/bin/x".into())).unwrap();
    Candidate::of_spec(&spec, &shown).identity()
}

/// Who decides about the one configuration of a name without having seen anything.
fn decide(approvals: &Approvals, server: &str, decision: Decision) -> Result<Decided> {
    approvals.decide(&root(), server, &identity("c"), decision, None)
}

fn standing(approvals: &Approvals, server: &str) -> Option<Decision> {
    let standing = approvals.standing(&root(), server, identity("c").hash).unwrap();
    standing.map(|standing| standing.decision)
}

/// What such a store tells while nobody waits for it.
fn warnings(approvals: &Approvals) -> Arc<Mutex<Vec<String>>> {
    let warnings = Arc::new(Mutex::new(Vec::new()));
    let told = warnings.clone();
    approvals.on_warning(move |message| told.lock().unwrap().push(message.to_owned()));
    warnings
}

/// What a test that runs again in a process of its own is given.
const GIVEN: &str = "TRUNKLINE_TEST_APPROVALS";

/// The same test in a process of its own, which finds `given`.
fn again(program: Command, test: &str, given: &Value) -> Command {
    let mut again = program;
    let (_, module) = module_path!().split_once("::").unwrap();
    let name = format!("{module}::{test}");
    again.args(["--exact", &name, "--nocapture", "--test-threads=1"]).env(GIVEN, given.to_string());
    again
}

fn this_program() -> PathBuf {
    std::env::current_exe().unwrap()
}

/// What this process was given, when it is one of those.
fn given() -> Option<Value> {
    Some(serde_json::from_str(&std::env::var(GIVEN).ok()?).unwrap())
}

/// Whether the long forms are asked for.
fn is_full() -> bool {
    std::env::var("TRUNKLINE_STRESS").is_ok_and(|form| form == "full")
}

/// SPEC 12.1, 12.3, 12.4, 12.6, S-12: decisions outlive who took them, in a file of this user
/// alone.
#[test]
fn decisions_come_back_from_the_file() {
    let folder = Home::new();
    let first = open(&folder.file());
    assert_eq!(standing(&first, "s"), None);
    assert!(!folder.0.join("trunkline").exists(), "asking makes nothing");
    decide(&first, "s", Approved).unwrap();
    decide(&first, "t", Rejected).unwrap();
    let second = open(&folder.file());
    assert_eq!((standing(&second, "s"), standing(&second, "t")), (Some(Approved), Some(Rejected)));
    assert_eq!(second.forget(&root(), "s").unwrap(), 1);
    assert_eq!(standing(&open(&folder.file()), "s"), None);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode(&folder.file()), 0o600);
        assert_eq!(mode(&folder.0.join("trunkline")), 0o700);
    }
}

/// SPEC 12.7: what is forgotten without a file makes none.
#[test]
fn forgetting_nothing_makes_no_file() {
    let folder = Home::new();
    assert_eq!(open(&folder.file()).forget(&root(), "s").unwrap(), 0);
    assert!(!folder.0.join("trunkline").exists());
}

/// SPEC 12.7: with the file what was in it is gone, and what is forgotten then is not in force here
/// either.
#[test]
fn what_is_forgotten_without_a_file_is_known_no_more() {
    let folder = Home::new();
    let approvals = open(&folder.file());
    decide(&approvals, "s", Approved).unwrap();
    std::fs::remove_file(folder.file()).unwrap();
    assert_eq!(approvals.forget(&root(), "s").unwrap(), 0);
    assert_eq!(standing(&approvals, "s"), None);
    assert!(!folder.file().exists());
}

/// SPEC 12.1, 12.7: the memory has the same rules, and no file.
#[test]
fn decisions_can_be_of_one_host_alone() {
    let approvals = Approvals::open(Some("memory")).unwrap();
    decide(&approvals, "s", Rejected).unwrap();
    assert_eq!(decide(&approvals, "s", Approved).unwrap().standing.decision, Rejected);
    assert_eq!(standing(&approvals, "s"), Some(Rejected));
    assert!(!approvals.reread_if_changed().unwrap());
    let other = Approvals::open(Some("memory")).unwrap();
    assert_eq!(standing(&other, "s"), None);
    assert_eq!(approvals.forget(&root(), "s").unwrap(), 1);
    assert_eq!(standing(&approvals, "s"), None);
}

/// SPEC 12.3, 12.7, S-13: a rejection of another host is known after a look, and wins over an
/// approval that knew nothing of it.
#[test]
fn a_rejection_of_another_host_stops_this_one() {
    let folder = Home::new();
    let (here, there) = (open(&folder.file()), open(&folder.file()));
    decide(&here, "s", Approved).unwrap();
    assert!(there.reread_if_changed().unwrap());
    // As often as two saves fall into one tick of the file system's clock.
    for _ in 0..20 {
        assert_eq!(standing(&there, "s"), Some(Approved));
        decide(&here, "s", Rejected).unwrap();
        assert_eq!(standing(&there, "s"), Some(Approved), "not looked yet");
        assert!(there.reread_if_changed().unwrap());
        assert_eq!(standing(&there, "s"), Some(Rejected));
        assert!(!there.reread_if_changed().unwrap());
        assert_eq!(decide(&there, "s", Approved).unwrap().standing.decision, Rejected);
        let seen = there.standing(&root(), "s", identity("c").hash).unwrap();
        here.decide(&root(), "s", &identity("c"), Approved, seen).unwrap();
        assert!(there.reread_if_changed().unwrap());
    }
}

/// SPEC 12.8: a decision that cannot be kept is not in force, and who took it hears why.
#[test]
fn a_decision_that_cannot_be_kept_is_not_in_force() {
    let folder = Home::new();
    std::fs::write(folder.0.join("trunkline"), "no folder").unwrap();
    let approvals = open(&folder.file());
    for decision in [Approved, Rejected] {
        let error = decide(&approvals, "s", decision).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Store);
        assert!(error.detail().contains_key("errno") && error.detail().contains_key("path"));
    }
    std::fs::remove_file(folder.0.join("trunkline")).unwrap();
    assert_eq!(standing(&approvals, "s"), None);
    decide(&approvals, "s", Approved).unwrap();
    assert_eq!(standing(&approvals, "s"), Some(Approved));
}

/// SPEC 12.6, I-07: who waits for a lock that is never let go does so for a bounded time, and is
/// told.
#[test]
fn a_lock_that_is_never_let_go_is_an_error() {
    let folder = Home::new();
    let approvals = open(&folder.file());
    decide(&approvals, "s", Approved).unwrap();
    let lock = folder.file().with_file_name("approvals.json.lock");
    let held = crate::platform::try_lock(&lock).unwrap().unwrap();
    let error = decide(&approvals, "s", Rejected).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Store);
    assert_eq!(standing(&approvals, "s"), Some(Approved));
    drop(held);
    decide(&approvals, "s", Rejected).unwrap();
}
