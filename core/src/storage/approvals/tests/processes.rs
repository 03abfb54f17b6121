//! Two hosts, one file.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use trunkline_pool::approvals::Book;

use super::*;
use crate::score;

/// Decisions of each process; the long form is what the specification says.
fn writes() -> u64 {
    if is_full() { 1_000 } else { 100 }
}

/// The server that only one of them decides about.
fn own(who: &str) -> String {
    format!("own-{who}")
}

/// One of the many configurations that a server has had.
fn nth(number: u64) -> Identity {
    identity(&number.to_string())
}

/// What one process decides: of every two configurations one is of its own server, one is the
/// other's too.
fn write(given: &Value) {
    let approvals = open(Path::new(given["path"].as_str().unwrap()));
    let who = given["who"].as_str().unwrap();
    let about_shared = if who == "a" { Approved } else { Rejected };
    for number in 0..given["writes"].as_u64().unwrap() {
        let (server, decision) = match number % 2 {
            0 => (own(who), Approved),
            // Nobody saw what the other decided, whichever comes first.
            _ => ("shared".to_owned(), about_shared),
        };
        approvals.decide(&root(), &server, &nth(number), decision, None).unwrap();
    }
}

/// Reads the file as it is until both are done; how often it did.
fn read_whole(path: &Path, is_over: &AtomicBool, reads: &AtomicU64) {
    let mut last = 0;
    while !is_over.load(Ordering::Acquire) {
        let Ok(bytes) = std::fs::read(path) else { continue };
        let book = Book::parse(&bytes).unwrap_or_else(|why| panic!("torn: {why:?}"));
        let count = book.of_root(&root()).count();
        assert!(count >= last, "{count} decisions after {last}");
        last = count;
        reads.fetch_add(1, Ordering::Relaxed);
    }
}

/// SPEC 12.6, 12.7, S-13, I-24: two processes decide at once. No decision is lost, a rejection wins
/// over the other's approval, and a reader of the file never sees half of it.
#[test]
fn two_processes_lose_nothing_and_a_rejection_wins() {
    if let Some(given) = given() {
        return write(&given);
    }
    let folder = Home::new();
    let test = "processes::two_processes_lose_nothing_and_a_rejection_wins";
    let start = |who: &str| {
        let given = json!({ "who": who, "path": folder.file(), "writes": writes() });
        let mut command = again(Command::new(this_program()), test, &given);
        command.stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    let (is_over, reads) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let mut both = [start("a"), start("b")];
        scope.spawn(|| read_whole(&folder.file(), &is_over, &reads));
        let ended = both.each_mut().map(|process| process.wait().unwrap());
        is_over.store(true, Ordering::Release);
        assert!(ended.iter().all(|status| status.success()), "{ended:?}");
    });
    assert!(reads.into_inner() > 0);
    let approvals = open(&folder.file());
    let book = approvals.book().unwrap();
    let decision = |server: &str, number| {
        book.standing(&root(), server, nth(number).hash).map(|standing| standing.decision)
    };
    for number in 0..writes() {
        match number % 2 {
            0 => {
                for who in ["a", "b"] {
                    assert_eq!(decision(&own(who), number), Some(Approved), "{who} {number}");
                }
            }
            _ => assert_eq!(decision("shared", number), Some(Rejected), "{number}"),
        }
    }
    assert_eq!(book.of_root(&root()).count() as u64, writes() / 2 * 3);
    score::done("approvals/writes", 2 * writes());
}
