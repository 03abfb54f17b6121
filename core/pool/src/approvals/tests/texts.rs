//! Texts that are books, and those that are not.

use serde_json::{Value, json};

use super::{identity, root};
use crate::approvals::{Book, Decision, Unreadable};
use crate::base::random::Random;

/// A book of three decisions.
fn book() -> Book {
    let mut book = Book::default();
    for (number, server) in ["a", "b", "__proto__"].into_iter().enumerate() {
        let decision = if number == 1 { Decision::Rejected } else { Decision::Approved };
        let what = identity("c", &[server]);
        book.decide(&root("/p"), server, &what, (decision, number as u64), None).unwrap();
    }
    book
}

/// The text of that book with something else in it.
fn changed(change: impl FnOnce(&mut Value)) -> String {
    let mut value: Value = serde_json::from_str(&book().to_text()).unwrap();
    change(&mut value);
    value.to_string()
}

/// SPEC 12.6: what is written is read again, whatever the order of members and the white space.
#[test]
fn a_book_comes_back_as_it_was() {
    let text = book().to_text();
    assert_eq!(Book::parse(text.as_bytes()), Ok(book()));
    let value: Value = serde_json::from_str(&text).unwrap();
    let pretty = serde_json::to_string_pretty(&value).unwrap();
    assert_eq!(Book::parse(pretty.as_bytes()), Ok(book()));
    let empty = Book::default();
    assert_eq!(Book::parse(empty.to_text().as_bytes()), Ok(empty));
}

/// SPEC 12.6, S-12, S-15: what could be read in two ways, or what nothing here writes, is no book:
/// nobody is approved by it.
#[test]
fn a_text_that_is_not_wholly_understood_is_damaged() {
    let text = book().to_text();
    let hash = identity("c", &["a"]).hash.to_string();
    let deep = "[".repeat(65) + &"]".repeat(65);
    let damaged = [
        String::new(),
        "null".into(),
        "[]".into(),
        "{}".into(),
        "{\"v\":1}".into(),
        format!("\u{feff}{text}"),
        format!("{text}{text}"),
        text[..text.len() - 1].to_owned(),
        text.replacen("\"v\":1", "\"v\":1,\"v\":1", 1),
        text.replacen(
            "\"decision\":\"rejected\"",
            "\"decision\":\"rejected\",\"decision\":\"approved\"",
            1,
        ),
        text.replacen("\"decision\"", "\"Decision\"", 1),
        text.replacen("rejected", "Approved", 1),
        text.replacen("rejected", "approved ", 1),
        text.replacen("rejected", "\\ud800", 1),
        text.replacen("v1:", "v2:", 1),
        text.replacen("v1:", "", 1),
        text.replace(&hash, &hash.to_uppercase()),
        text.replace(&hash, &hash[..19]),
        changed(|book| book["v"] = json!("1")),
        changed(|book| book["v"] = json!(1.0)),
        changed(|book| book["v"] = json!(0)),
        changed(|book| book["v"] = json!(-1)),
        changed(|book| book["serial"] = json!(2)),
        changed(|book| book["serial"] = json!(1e300)),
        changed(|book| book["more"] = json!(true)),
        changed(|book| book["approve_all"] = json!(true)),
        changed(|book| book["decisions"] = json!({})),
        changed(|book| book["decisions"][0]["root"] = json!(null)),
        changed(|book| book["decisions"][0]["root"] = json!("")),
        changed(|book| book["decisions"][0]["server"] = json!(["a"])),
        changed(|book| book["decisions"][0]["at_ms"] = json!(-1)),
        changed(|book| book["decisions"][0]["serial"] = json!(2)),
        changed(|book| book["decisions"][0]["more"] = json!(1)),
        changed(|book| book["decisions"][2]["fields"] = json!(["args"])),
        changed(|book| book["decisions"][2]["fields"] = json!({ "args": 1 })),
        changed(|book| book["decisions"][2]["fields"] = serde_json::from_str(&deep).unwrap()),
        changed(|book| {
            let mut again = book["decisions"][0].clone();
            again["serial"] = json!(4);
            again["decision"] = json!("rejected");
            book["decisions"].as_array_mut().unwrap().push(again);
            book["serial"] = json!(4);
        }),
        changed(|book| {
            let first = book["decisions"][0].as_object_mut().unwrap();
            first.shift_remove("serial");
        }),
        format!("{}{text}", " ".repeat(1 << 20)),
    ];
    for text in damaged {
        let shown: String = text.chars().take(300).collect();
        assert_eq!(Book::parse(text.as_bytes()), Err(Unreadable::Damaged), "{shown}");
    }
    assert_eq!(Book::parse(b"\xff\xfe"), Err(Unreadable::Damaged));
}

/// S-12: what a later version wrote is told from what is damaged.
#[test]
fn a_later_version_is_not_damaged() {
    let later = changed(|book| *book = json!({ "v": 3, "sets": [] }));
    assert_eq!(Book::parse(later.as_bytes()), Err(Unreadable::Later));
    let twice = "{\"v\":3,\"v\":1,\"serial\":0,\"decisions\":[]}";
    assert_eq!(Book::parse(twice.as_bytes()), Err(Unreadable::Damaged));
}

/// SPEC 12.6, S-12, S-15: of 4,000 changed texts, each that is a book says the same to another
/// reader of JSON. No text approves what the book did not.
#[test]
fn no_damage_approves_anything() {
    let mut random = Random::new(77);
    let text = book().to_text();
    let pieces = ["rejected", "\"", "{", "}", "[", "]", ",", ":", "v1:", "1", "\\u0061", " "];
    let mut books = 0;
    for _ in 0..4_000 {
        let mut bytes = text.clone().into_bytes();
        let at = random.below(bytes.len());
        let piece = random.pick(&pieces).as_bytes();
        let end = (at + random.below(12)).min(bytes.len());
        bytes.splice(at..end, piece.iter().copied());
        let Ok(parsed) = Book::parse(&bytes) else { continue };
        books += 1;
        let other: Value = serde_json::from_slice(&bytes).unwrap();
        let written: Value = serde_json::from_str(&parsed.to_text()).unwrap();
        assert_eq!(written, other, "{}", String::from_utf8_lossy(&bytes));
        for record in &parsed.records {
            let known = book().standing(&record.root, &record.server, record.hash);
            let is_as_before =
                known.is_some_and(|known| known.decision == record.standing.decision);
            let is_rejected = record.standing.decision == Decision::Rejected;
            // What is about another root, name or hash approves nothing that anybody has.
            assert!(is_as_before || is_rejected || known.is_none(), "{:?}", record.server);
        }
    }
    assert!((100..3_900).contains(&books), "{books}");
}
