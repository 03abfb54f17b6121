//! The behaviour suite through Rust: every case of `tests/behaviour`, reported under its name.
//!
//! The cases cite the rows of the specification; `docs/internals/behaviour.md` is their format.

mod handlers;
mod pools;
mod processes;
mod provided;
mod record;
mod remotes;
mod sources;
mod steps;
mod views;
mod visits;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use trunkline_pool::json::plain;

/// Cases that run at the same time: they wait more than they compute.
const WORKERS: usize = 6;

fn main() {
    let filters: Vec<String> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let cases = cases(&filters);
    if std::env::args().any(|arg| arg == "--list") {
        cases.iter().for_each(|case| println!("{}: test", name(case)));
        return;
    }
    println!("\nrunning {} cases", cases.len());
    let failures = run(&cases);
    let (failed, passed) = (failures.len(), cases.len() - failures.len());
    for (case, why) in &failures {
        println!("\n---- {case} ----\n{why}");
    }
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    println!("\ntest result: {verdict}. {passed} passed; {failed} failed; 0 ignored");
    std::process::exit(i32::from(failed > 0));
}

fn run(cases: &[Value]) -> Vec<(String, String)> {
    let testserver = rig::testserver();
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = run_case(case, testserver);
            println!("test {} ... {}", name(case), if outcome.is_ok() { "ok" } else { "FAILED" });
            if let Err(why) = outcome {
                failures.lock().unwrap().push((name(case), why));
            }
        }
    };
    std::thread::scope(|scope| (0..WORKERS).for_each(|_| drop(scope.spawn(work))));
    failures.into_inner().unwrap()
}

fn run_case(case: &Value, testserver: &Path) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let run = || runtime.block_on(steps::run_case(case, testserver));
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) {
        Ok(outcome) => outcome,
        Err(_) => Err("the case panicked".to_string()),
    }
}

fn cases(filters: &[String]) -> Vec<Value> {
    let given = std::env::var_os("TRUNKLINE_BEHAVIOUR").map(PathBuf::from);
    let folder =
        given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/behaviour"));
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        match plain(&std::fs::read_to_string(&file).unwrap()).unwrap() {
            Value::Array(several) => cases.extend(several),
            one => cases.push(one),
        }
    }
    let is_wanted =
        |case: &Value| filters.is_empty() || filters.iter().any(|f| name(case).contains(f));
    cases.retain(is_wanted);
    assert!(!cases.is_empty(), "no case in {}", folder.display());
    cases
}

fn name(case: &Value) -> String {
    case["name"].as_str().unwrap_or("a case without a name").to_string()
}
