//! What stays accepted with an approval.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{identity, root};
use crate::approvals::tools::TOOLS_BYTES_MAX;
use crate::approvals::{Book, Decision, Standing, ToolDigests, Unkept, Unreadable};

fn digests(tools: &[(&str, u8)]) -> ToolDigests {
    tools.iter().map(|(name, digest)| (Arc::from(*name), [*digest; 32])).collect()
}

fn names(names: &[&str]) -> BTreeSet<Arc<str>> {
    names.iter().map(|name| Arc::from(*name)).collect()
}

/// A book in which a server is approved.
fn approved(server: &str) -> Book {
    let mut book = Book::default();
    decide(&mut book, server, Decision::Approved);
    book
}

fn decide(book: &mut Book, server: &str, decision: Decision) -> Standing {
    let seen = book.standing(&root("/p"), server, identity("c", &[]).hash);
    let at = (decision, 0);
    book.decide(&root("/p"), server, &identity("c", &[]), at, seen).unwrap().standing
}

/// Keeps these, by whatever approval stands.
fn keep(book: &mut Book, server: &str, tools: &ToolDigests, accepted: &[&str]) -> Unkept {
    let (root, hash) = (root("/p"), identity("c", &[]).hash);
    let by = book.standing(&root, server, hash).unwrap();
    book.keep_tools((&root, server, hash), by, tools, &names(accepted))
}

fn kept(book: &Book, server: &str) -> Option<ToolDigests> {
    let tools = book.accepted_tools(&root("/p"), server, identity("c", &[]).hash);
    tools.map(|(_, tools)| (*tools).clone())
}

/// SPEC 7.6: a definition that was kept first stays until the host accepts another; what is new
/// joins it.
#[test]
fn what_was_accepted_first_stays_until_another_is_accepted() {
    let mut book = approved("s");
    assert_eq!(kept(&book, "s"), Some(digests(&[])));
    assert_eq!(keep(&mut book, "s", &digests(&[("a", 1)]), &[]), Unkept::default());
    keep(&mut book, "s", &digests(&[("a", 2), ("b", 2)]), &[]);
    assert_eq!(kept(&book, "s"), Some(digests(&[("a", 1), ("b", 2)])));
    keep(&mut book, "s", &digests(&[("a", 3)]), &["a"]);
    assert_eq!(kept(&book, "s"), Some(digests(&[("a", 3), ("b", 2)])));
    assert_eq!(kept(&book, "t"), None);
}

/// SPEC 7.6, 12.4: what was accepted goes with the approval, whichever way that goes, and with
/// another configuration there is nothing.
#[test]
fn what_was_accepted_goes_with_the_approval() {
    let mut book = approved("s");
    let first = decide(&mut book, "s", Decision::Approved);
    keep(&mut book, "s", &digests(&[("a", 1)]), &[]);
    assert_eq!(decide(&mut book, "s", Decision::Approved), first);
    assert_eq!(kept(&book, "s"), Some(digests(&[("a", 1)])));
    assert_eq!(book.accepted_tools(&root("/p"), "s", identity("d", &[]).hash), None);
    decide(&mut book, "s", Decision::Rejected);
    assert_eq!(kept(&book, "s"), None);
    decide(&mut book, "s", Decision::Approved);
    assert_eq!(kept(&book, "s"), Some(digests(&[])));
    // A save that comes late is of an approval that stands no longer.
    let (root, hash) = (root("/p"), identity("c", &[]).hash);
    book.keep_tools((&root, "s", hash), first, &digests(&[("a", 1)]), &names(&[]));
    assert_eq!(kept(&book, "s"), Some(digests(&[])));
    keep(&mut book, "s", &digests(&[("a", 1)]), &[]);
    book.forget(&root, "s");
    assert_eq!(kept(&book, "s"), None);
}

/// SPEC 7.6, 12.6: they come back as they were. A text of the form before has none, and one that
/// claims to be of it and has some is damaged.
#[test]
fn accepted_tools_come_back_as_they_were() {
    let mut book = approved("s");
    let before = book.to_text();
    keep(&mut book, "s", &digests(&[("a", 1), ("\u{1}\"", 2)]), &[]);
    let text = book.to_text();
    assert_eq!(Book::parse(text.as_bytes()), Ok(book));
    let version = |text: &str| serde_json::from_str::<Value>(text).unwrap()["v"].clone();
    assert_eq!((version(&before), version(&text)), (json!(1), json!(2)));
    assert_eq!(kept(&Book::parse(before.as_bytes()).unwrap(), "s"), Some(digests(&[])));
    let damaged = [
        text.replacen("\"v\":2", "\"v\":1", 1),
        text.replacen("\"a\":\"01", "\"a\":\"zz", 1),
        text.replacen("\"a\":\"01", "\"a\":\"0101", 1),
        text.replacen("\"tools\":{", "\"tools\":{\"a\":1,", 1),
        text.replacen("\"tools\":{", "\"tools\":{},\"tools\":{", 1),
    ];
    for text in damaged {
        assert_eq!(Book::parse(text.as_bytes()), Err(Unreadable::Damaged), "{text}");
    }
}

/// SPEC 7.6, S-12: what is kept of one server is bounded, and makes room before a decision does,
/// the oldest first.
#[test]
fn accepted_tools_are_bounded_and_make_room_for_decisions() {
    let many: ToolDigests =
        (0..10_000).map(|number| (format!("{number:08}").into(), [1; 32])).collect();
    let mut book = Book::default();
    for server in 0..10 {
        decide(&mut book, &server.to_string(), Decision::Approved);
        let unkept = keep(&mut book, &server.to_string(), &many, &[]);
        assert_eq!(unkept.tools, 10_000 - kept(&book, &server.to_string()).unwrap().len());
        assert!(book.to_text().len() <= Book::BYTES_MAX);
    }
    let length = |server: &str| kept(&book, server).unwrap().len();
    assert_eq!(length("9"), TOOLS_BYTES_MAX / (8 + 2 + 64 + 4));
    // Of ten, seven fit beside their decisions.
    assert_eq!((length("2"), length("3") > 0), (0, true));
    assert_eq!(Book::parse(book.to_text().as_bytes()), Ok(book.clone()));
    let long = root(&format!("/{}", "x".repeat(900_000)));
    let at = (Decision::Rejected, 0);
    let decided = book.decide(&long, "s", &identity("c", &[]), at, None).unwrap();
    assert_eq!(decided.dropped, 0);
    assert!(decided.unkept > 0);
    assert_eq!(book.of_root(&root("/p")).count(), 10);
}
