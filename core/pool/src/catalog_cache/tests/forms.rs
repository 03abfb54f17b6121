//! The text of a kept catalog, and each reason for which one is none.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::catalog::{CacheScope, Catalog, ListKind};

const NOW: u64 = 1_800_000_000_000;

fn key() -> CacheKey {
    key_of("s")
}

fn key_of(server: &str) -> CacheKey {
    CacheKey::new(server, &WrittenHash::literal(&spec(json!({ "command": "c" }))), ASKER)
}

/// One of each list, a tool that is only a task, and definitions that nobody would write.
fn catalog() -> Arc<Catalog> {
    let page = "{\"tools\":[{ \"x\":[1.50,  18446744073709551616],\"inputSchema\":{\"type\":\"object\"},\"name\":\"a\\u0041\"},\
        {\"name\":\"task\",\"inputSchema\":{},\"description\":\"\u{2028}\\\"}],\\n\"}],\"prompts\":[{\"name\":\"p\"}],\
        \"resources\":[{\"uri\":\"u:1\",\"name\":\"r\"}],\"resourceTemplates\":[{\"uriTemplate\":\"u:{n}\",\"name\":\"t\"}]}";
    let mut catalog = Catalog::default();
    for list in ListKind::ALL {
        catalog.add_page(list, page).unwrap();
    }
    catalog.finish();
    assert!(catalog.skipped.is_empty() && catalog.tools.len() == 2);
    catalog.tasks.insert("task".into());
    Arc::new(catalog)
}

fn listing() -> ListingTerms {
    ListingTerms { server_version: "1.2".into(), ..ListingTerms::default() }
}

fn fresh_for(time: Duration) -> ListingTerms {
    ListingTerms { fresh_for: Some(time), ..listing() }
}

fn kept() -> Kept {
    Kept::of(&catalog(), &listing(), NOW).unwrap()
}

/// The text with something of what its digest covers changed, and the digest of that: what a
/// program of the user's own could write.
fn forged(from: &str, to: &str) -> String {
    let text = kept().to_text(&key()).unwrap();
    let (_, lists) = text.split_once("\"kept\":").unwrap();
    let lists = lists.strip_suffix("}\n").unwrap().replacen(from, to, 1);
    assert!(!text.contains(&lists), "{from} is there");
    sealed(&lists)
}

/// A text with these lists, and the digest of them.
fn sealed(lists: &str) -> String {
    let digest = crate::base::text::hex(&super::super::write::digest(&key(), lists));
    format!("{{\"v\":1,\"digest\":\"{digest}\",\"kept\":{lists}}}")
}

fn parsed(text: &str) -> Option<Kept> {
    Kept::parse(&key(), text.as_bytes(), NOW)
}

/// SPEC 14.2: what is read is what was written, byte for byte.
#[test]
fn a_catalog_comes_back_as_it_was() {
    let text = kept().to_text(&key()).unwrap();
    assert_eq!(parsed(&text), Some(kept()));
    assert_eq!(parsed(&text).unwrap().catalog(), &catalog());
    assert_eq!(parsed(&forged("1.2", "1.3")).unwrap().catalog(), &catalog());
}

/// SPEC 14.2, S-47: an empty catalog is not kept, nor one that is for somebody alone.
#[test]
fn what_is_empty_or_private_is_not_kept() {
    assert_eq!(Kept::of(&Arc::default(), &listing(), NOW), None);
    let mut skipped = Catalog::default();
    skipped.add_page(ListKind::Tools, r#"{"tools":[1]}"#).unwrap();
    assert_eq!(Kept::of(&Arc::new(skipped), &listing(), NOW), None);
    let private = ListingTerms { scope: CacheScope::Private, ..listing() };
    assert_eq!(Kept::of(&catalog(), &private, NOW), None);
    // A text that says so of itself is not read, no matter who wrote it.
    for said in ["private", "whatever"] {
        let scope = format!("\"cacheScope\":\"{said}\",\"tasks\"");
        assert_eq!(parsed(&forged("\"tasks\"", &scope)), None, "{said}");
    }
    assert!(parsed(&forged("\"tasks\"", "\"cacheScope\":\"public\",\"tasks\"")).is_some());
    let empty = r#"{"listed_at_ms":1800000000000,"server_version":"","tasks":[],"tools":[],"prompts":[],"resources":[],"resourceTemplates":[]}"#;
    assert_eq!(parsed(&sealed(empty)), None);
    assert!(
        parsed(&sealed(&empty.replace("\"prompts\":[", "\"prompts\":[{\"name\":\"p\"}"))).is_some()
    );
    assert_eq!(parsed(&forged("\"tools\":[", "\"other\":[")), None);
}

/// SPEC 14.2: 30 days, and not one moment before it was listed.
#[test]
fn a_catalog_counts_for_thirty_days() {
    let text = kept().to_text(&key()).unwrap();
    let month = 30 * 24 * 3600 * 1000;
    let at = |now| Kept::parse(&key(), text.as_bytes(), now).is_some();
    assert_eq!(
        [at(NOW - 1), at(NOW), at(NOW + month - 1), at(NOW + month)],
        [false, true, true, false]
    );
    assert!(!at(0) && !at(u64::MAX));
}

/// SPEC 14.2, 7.8: no longer than the server holds it for fresh, and never longer than 30 days.
#[test]
fn a_catalog_counts_for_as_long_as_it_is_fresh() {
    let text = |time| Some(Kept::of(&catalog(), &fresh_for(time), NOW)?.to_text(&key()).unwrap());
    let minute = text(Duration::from_secs(60)).unwrap();
    let at = |text: &str, now| Kept::parse(&key(), text.as_bytes(), now).is_some();
    assert!(at(&minute, NOW + 59_999) && !at(&minute, NOW + 60_000));
    assert_eq!(text(Duration::ZERO), None);
    for long in [Duration::MAX, KEPT_FOR * 2, KEPT_FOR] {
        let long = text(long).unwrap();
        let month = KEPT_FOR.as_millis() as u64;
        assert!(at(&long, NOW + month - 1) && !at(&long, NOW + month));
        // Read back it is the same, so that it is not written again and again.
        assert_eq!(parsed(&long), Kept::of(&catalog(), &fresh_for(KEPT_FOR), NOW));
    }
    assert_eq!(parsed(&forged("\"tasks\"", "\"ttlMs\":0,\"tasks\"")), None);
}

/// SPEC 14.2: what a later or an earlier version wrote, and what was written for another key, is
/// none.
#[test]
fn another_version_or_key_is_none() {
    let text = kept().to_text(&key()).unwrap();
    assert_eq!(Kept::parse(&key_of("t"), text.as_bytes(), NOW), None);
    for version in ["0", "2", "4294967296", "\"1\"", "1.0", "null"] {
        let other = text.replacen("\"v\":1", &format!("\"v\":{version}"), 1);
        assert_eq!(parsed(&other), None, "{version}");
    }
    assert_eq!(parsed(&text.replacen("{\"v\"", "{\"w\":1,\"v\"", 1)), None);
}

/// S-12: what is in a file is taken by the rules for what a server sends; what would be left out
/// there spoils it here.
#[test]
fn a_file_is_believed_no_more_than_a_server() {
    let name = |name: &str| forged("\"name\":\"p\"", &format!("\"name\":\"{name}\""));
    assert!(parsed(&name("q")).is_some());
    for hostile in ["", "\\u001b[2J", "\\u202e", "\\ud800", &"x".repeat(257)] {
        assert_eq!(parsed(&name(hostile)), None, "{hostile}");
    }
    for (from, to) in [
        ("\"inputSchema\":{}", "\"inputSchema\":7"),
        ("\"inputSchema\":{}", "\"inputSchema\":{},\"inputSchema\":{}"),
        ("\"tasks\":[\"task\"]", "\"tasks\":[\"other\"]"),
        ("\"tasks\":[\"task\"]", "\"tasks\":7"),
        ("\"tasks\"", "\"nextCursor\":\"2\",\"tasks\""),
        ("\"listed_at_ms\":1", "\"listed_at_ms\":-1"),
        ("\"listed_at_ms\":1", "\"listed_at_ms\":1,\"listed_at_ms\":1"),
        ("{\"name\":\"p\"}", "{\"name\":\"p\"},{\"name\":\"p\",\"title\":\"t\"}"),
        ("{\"name\":\"p\"}", &format!("{}{}", "[".repeat(5000), "]".repeat(5000))),
    ] {
        assert_eq!(parsed(&forged(from, to)), None, "{from} as {to}");
    }
}

/// S-12: a text that is longer than any file that is read is not written, and not read.
#[test]
fn what_is_too_long_is_not_kept() {
    let mut catalog = Catalog::default();
    for tool in 0..40 {
        let long = "x".repeat(30_000);
        let page = json!({ "tools": [{ "name": format!("t{tool}"), "inputSchema": {}, "description": long }] });
        catalog.add_page(ListKind::Tools, &page.to_string()).unwrap();
    }
    catalog.finish();
    assert_eq!(Kept::of(&Arc::new(catalog), &listing(), NOW).unwrap().to_text(&key()), None);
    let text = kept().to_text(&key()).unwrap();
    let long = |bytes: usize| parsed(&format!("{text}{}", " ".repeat(bytes - text.len())));
    assert!(long(TEXT_BYTES_MAX).is_some() && long(TEXT_BYTES_MAX + 1).is_none());
    let version = ListingTerms { server_version: "\u{1f980}".repeat(1 << 20), ..listing() };
    assert!(Kept::of(&self::catalog(), &version, NOW).unwrap().to_text(&key()).is_some());
}

/// S-12: cut at each length, and with each byte another one, a text is the same catalog or none.
#[test]
fn what_is_damaged_is_none() {
    let text = kept().to_text(&key()).unwrap().into_bytes();
    let is_sound = |bytes: &[u8], what: &str| {
        if let Some(read) = Kept::parse(&key(), bytes, NOW) {
            assert_eq!(read, kept(), "{what}");
        }
    };
    for length in 0..text.len() - 1 {
        assert_eq!(Kept::parse(&key(), &text[..length], NOW), None, "cut at {length}");
    }
    for place in 0..text.len() {
        for other in [0, b' ', b'"', b'0', b'}', 0xff]
            .into_iter()
            .chain((0..8).map(|bit| text[place] ^ 1 << bit))
        {
            let mut damaged = text.clone();
            damaged[place] = other;
            is_sound(&damaged, &format!("{other} at {place}"));
        }
        let mut without = text.clone();
        without.remove(place);
        is_sound(&without, &format!("without {place}"));
    }
}

/// SPEC 14.2, 7.6: a tool that is held back is in no kept list, and what the server says of how it
/// runs neither.
#[test]
fn of_a_tool_that_is_held_back_nothing_is_kept() {
    let mut held_back = (*catalog()).clone();
    held_back.tools.retain(|tool| &*tool.name != "task");
    let kept = Kept::of(&Arc::new(held_back), &listing(), NOW).unwrap();
    let read = parsed(&kept.to_text(&key()).unwrap()).unwrap();
    assert!(read.catalog().tasks.is_empty() && read.catalog().tools.len() == 1);
    assert!(!kept.is_worth_writing_over(&read));
}

/// SPEC 14.2: what a server lists again is written again when it is another, or half of the old
/// one's time is over.
#[test]
fn the_same_is_not_written_again() {
    let month = KEPT_FOR.as_millis() as u64;
    let at = |now| Kept::of(&catalog(), &listing(), now).unwrap();
    let is_written = |now| at(now).is_worth_writing_over(&kept());
    assert_eq!(
        [NOW - 1, NOW, NOW + month / 2 - 1, NOW + month / 2].map(is_written),
        [false, false, false, true]
    );
    let mut other = Catalog::clone(&catalog());
    other.prompts.clear();
    let other = Kept::of(&Arc::new(other), &listing(), NOW).unwrap();
    assert!(other.is_worth_writing_over(&kept()));
    // Of two processes the one that listed later has the word.
    assert!(!other.is_worth_writing_over(&at(NOW + 1)));
    let minute = Kept::of(&catalog(), &fresh_for(Duration::from_secs(60)), NOW).unwrap();
    assert!(minute.is_worth_writing_over(&kept()) && kept().is_worth_writing_over(&minute));
    let later = |ms| Kept::of(&catalog(), &fresh_for(Duration::from_secs(60)), NOW + ms).unwrap();
    assert!(
        !later(29_999).is_worth_writing_over(&minute)
            && later(30_000).is_worth_writing_over(&minute)
    );
    let mut skipped = Catalog::clone(&catalog());
    skipped.add_page(ListKind::Tools, r#"{"tools":[1]}"#).unwrap();
    let skipped = Kept::of(&Arc::new(skipped), &listing(), NOW).unwrap();
    assert!(!skipped.is_worth_writing_over(&kept()));
}
