//! Decisions, one after another.

use super::{identity, root};
use crate::approvals::book::RECORDS_MAX;
use crate::approvals::{Book, Decided, Decision, Identity, Standing};
use crate::base::random::Random;

use Decision::{Approved, Rejected};

/// Who decides having seen what stands.
fn decide(book: &mut Book, server: &str, identity: &Identity, decision: Decision) -> Decided {
    let seen = book.standing(&root("/p"), server, identity.hash);
    book.decide(&root("/p"), server, identity, (decision, 7), seen).unwrap()
}

fn standing(book: &Book, server: &str, identity: &Identity) -> Option<Decision> {
    book.standing(&root("/p"), server, identity.hash).map(|standing| standing.decision)
}

/// SPEC 12.1, S-01: a decision is of one root, one name and one hash; without one a server is
/// pending.
#[test]
fn a_decision_is_of_one_root_name_and_hash() {
    let (one, other) = (identity("a", &[]), identity("b", &[]));
    let mut book = Book::default();
    assert_eq!(standing(&book, "s", &one), None);
    decide(&mut book, "s", &one, Approved);
    assert_eq!(standing(&book, "s", &one), Some(Approved));
    assert_eq!(standing(&book, "s", &other), None);
    assert_eq!(standing(&book, "S", &one), None);
    assert_eq!(book.standing(&root("/p/"), "s", one.hash), None);
    assert_eq!(book.standing(&root("/q"), "s", one.hash), None);
    for name in ["__proto__", "constructor", "prototype", "hasOwnProperty", "toString", "valueOf"] {
        decide(&mut book, name, &one, Rejected);
        assert_eq!(standing(&book, name, &one), Some(Rejected), "{name}");
        assert_eq!(Book::parse(book.to_text().as_bytes()), Ok(book.clone()));
    }
}

/// SPEC 12.4: what comes back as it was finds its decision, both ways.
#[test]
fn a_configuration_that_comes_back_keeps_its_decision() {
    let (one, two) = (identity("a", &[]), identity("b", &[]));
    let mut book = Book::default();
    decide(&mut book, "s", &one, Approved);
    decide(&mut book, "s", &two, Rejected);
    assert_eq!(standing(&book, "s", &one), Some(Approved));
    assert_eq!(standing(&book, "s", &two), Some(Rejected));
}

/// SPEC 12.3: a rejection stands until somebody who sees it decides anew.
#[test]
fn who_sees_a_rejection_can_decide_anew() {
    let one = identity("a", &[]);
    let mut book = Book::default();
    decide(&mut book, "s", &one, Rejected);
    assert_eq!(decide(&mut book, "s", &one, Approved).standing.decision, Approved);
    assert_eq!(standing(&book, "s", &one), Some(Approved));
}

/// SPEC 12.7, S-13: an approval by who did not see a rejection gives way to it, in either order; so
/// it does to a rejection that came after the one that was seen.
#[test]
fn a_rejection_wins_over_a_concurrent_approval() {
    let one = identity("a", &[]);
    let place = root("/p");
    let mut first = Book::default();
    let rejected = first.decide(&place, "s", &one, (Rejected, 1), None).unwrap().standing;
    let approved = first.decide(&place, "s", &one, (Approved, 2), None).unwrap();
    assert_eq!(approved, Decided { standing: rejected, dropped: 0, unkept: 0 });
    assert_eq!(standing(&first, "s", &one), Some(Rejected));

    let mut last = Book::default();
    last.decide(&place, "s", &one, (Approved, 1), None).unwrap();
    last.decide(&place, "s", &one, (Rejected, 2), None).unwrap();
    assert_eq!(standing(&last, "s", &one), Some(Rejected));

    let seen: Option<Standing> = last.standing(&place, "s", one.hash);
    assert_eq!(last.forget(&place, "s"), 1);
    last.decide(&place, "s", &one, (Rejected, 2), None).unwrap();
    last.decide(&place, "s", &one, (Approved, 3), seen).unwrap();
    assert_eq!(standing(&last, "s", &one), Some(Rejected));
}

/// SPEC 12.7: what is forgotten is pending, with every configuration that the name had, and nothing
/// else is.
#[test]
fn what_is_forgotten_is_pending_again() {
    let (one, two) = (identity("a", &[]), identity("b", &[]));
    let mut book = Book::default();
    decide(&mut book, "s", &one, Approved);
    decide(&mut book, "s", &two, Rejected);
    decide(&mut book, "t", &one, Approved);
    assert_eq!(book.forget(&root("/q"), "s"), 0);
    assert_eq!(book.forget(&root("/p"), "s"), 2);
    assert_eq!(book.forget(&root("/p"), "s"), 0);
    assert_eq!((standing(&book, "s", &one), standing(&book, "s", &two)), (None, None));
    assert_eq!(standing(&book, "t", &one), Some(Approved));
}

/// SPEC 12.6: a decision whose file has the digests of no field is read as one that has none, and
/// written so.
#[test]
fn digests_of_no_field_are_none() {
    let mut book = Book::default();
    decide(&mut book, "s", &identity("a", &[]), Approved);
    let mut value: serde_json::Value = serde_json::from_str(&book.to_text()).unwrap();
    value["decisions"][0]["fields"] = serde_json::json!({});
    let book = Book::parse(value.to_string().as_bytes()).unwrap();
    assert_eq!(Book::parse(book.to_text().as_bytes()), Ok(book));
}

/// S-12: a book is bounded. The oldest approvals make room, and no rejection ever does.
#[test]
fn the_oldest_approvals_make_room_and_no_rejection_does() {
    let one = identity("a", &[]);
    let mut book = Book::default();
    decide(&mut book, "rejected", &one, Rejected);
    decide(&mut book, "0", &one, Approved);
    // The others as the file would have them: many saves are not what this is about.
    for number in 1..RECORDS_MAX - 1 {
        let (mut record, serial) = (book.records[1].clone(), book.serial + 1);
        record.server = number.to_string();
        record.standing.serial = serial;
        record.digests = Default::default();
        book.records.push(record);
        book.serial = serial;
    }
    assert_eq!(decide(&mut book, "new", &one, Approved).dropped, 1);
    assert_eq!(standing(&book, "0", &one), None);
    assert_eq!(standing(&book, "rejected", &one), Some(Rejected));
    assert_eq!(standing(&book, "1", &one), Some(Approved));
    assert!(book.to_text().len() <= Book::BYTES_MAX);
    assert_eq!(Book::parse(book.to_text().as_bytes()), Ok(book.clone()));
    // One that is long takes the place of many.
    let long = root(&format!("/{}", "x".repeat(900_000)));
    assert!(book.decide(&long, "s", &one, (Rejected, 1), None).unwrap().dropped > 1000);
    assert_eq!(standing(&book, "rejected", &one), Some(Rejected));
    assert!(book.to_text().len() <= Book::BYTES_MAX);
}

/// S-12: without an approval that could go, another decision is refused, and nothing is changed.
#[test]
fn a_book_that_is_full_of_rejections_refuses_another_decision() {
    let one = identity("a", &[]);
    let long = root(&format!("/{}", "x".repeat(100_000)));
    let mut book = Book::default();
    for number in 0..10 {
        book.decide(&long, &format!("{number}"), &one, (Rejected, 1), None).unwrap();
    }
    let before = book.clone();
    for decision in [Approved, Rejected] {
        let error = book.decide(&long, "more", &one, (decision, 1), None).unwrap_err();
        assert_eq!(error.code(), crate::ErrorCode::Store);
        assert_eq!(book, before);
    }
}

/// SPEC 12.1, 12.3, 12.7, S-13: 200 seeds of two hosts that decide, look and forget: what is in
/// force is what a table of rules says.
#[test]
fn random_decisions_of_two_hosts_follow_the_rules() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let identities = [identity("a", &[]), identity("b", &[])];
        let mut book = Book::default();
        // What each host saw last, and what must stand.
        let mut seen = [[None; 2]; 2];
        let mut expected = [None; 2];
        for at in 0..60 {
            let (host, which) = (random.below(2), random.below(2));
            let hash = identities[which].hash;
            match random.below(5) {
                0 => seen[host][which] = book.standing(&root("/p"), "s", hash),
                1 if random.one_in(3) => {
                    book.forget(&root("/p"), "s");
                    expected = [None; 2];
                }
                choice => {
                    let decision = if choice % 2 == 0 { Approved } else { Rejected };
                    let stood = book.standing(&root("/p"), "s", hash);
                    let seen = seen[host][which];
                    let decided = book
                        .decide(&root("/p"), "s", &identities[which], (decision, at), seen)
                        .unwrap();
                    let gives_way = expected[which] == Some(Rejected) && stood != seen;
                    if !gives_way {
                        expected[which] = Some(decision);
                    }
                    assert_eq!(Some(decided.standing.decision), expected[which], "seed {seed}");
                }
            }
            for (identity, expected) in identities.iter().zip(expected) {
                assert_eq!(standing(&book, "s", identity), expected, "seed {seed}");
            }
            assert_eq!(Book::parse(book.to_text().as_bytes()).as_ref(), Ok(&book), "seed {seed}");
        }
    }
}
