//! What is logged, for hosts without a subscriber (SPEC 16.7). One process has one reader, so the
//! parts follow one another.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use trunkline::{ErrorCode, LogFeed};

/// A reader, and how often it was woken.
fn reader(level: &str) -> (LogFeed, Arc<AtomicUsize>) {
    let woken = Arc::new(AtomicUsize::new(0));
    let ours = woken.clone();
    let count = move || {
        ours.fetch_add(1, Ordering::SeqCst);
    };
    (LogFeed::start(level, count).unwrap(), woken)
}

fn records(feed: &LogFeed) -> Vec<Value> {
    let texts = feed.take(usize::MAX);
    texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect()
}

fn say(number: u64) {
    tracing::info!(target: "trunkline::place", number, "said");
}

#[test]
fn what_is_logged_is_read_in_batches_by_one_reader() {
    rig::alone!();
    let refused = LogFeed::start("loud", || {}).err().unwrap();
    assert_eq!(
        (refused.code(), &refused.detail()["path"]),
        (ErrorCode::InvalidArgument, &json!("level"))
    );

    records_are_what_was_said_from_the_level_on();
    who_reads_is_woken_once_for_all_that_waits();
    what_there_is_no_room_for_is_counted_where_it_is_missing();
    another_reader_takes_the_place_of_the_first();
}

fn records_are_what_was_said_from_the_level_on() {
    say(0);
    let (feed, _) = reader("info");
    tracing::debug!(target: "trunkline::place", "too quiet");
    tracing::error!(target: "another_crate", "not ours");
    let error = "a\nb";
    tracing::warn!(target: "trunkline_pool::place::in_it", text = "t", yes = true, less = -1_i64, %error, list = ?[1], "said");
    let mut told = records(&feed);
    assert!(told[0]["time_ms"].take().as_u64().unwrap() > 1_600_000_000_000);
    let fields = json!({ "text": "t", "yes": true, "less": -1, "error": error, "list": "[1]" });
    let record = json!({ "time_ms": null, "level": "warn", "logger": "trunkline.pool.place.in_it", "message": "said", "fields": fields });
    assert_eq!(told, [record]);
}

fn who_reads_is_woken_once_for_all_that_waits() {
    let (feed, woken) = reader("trace");
    (0..100).for_each(say);
    assert_eq!(woken.load(Ordering::SeqCst), 1);
    assert_eq!(feed.take(30).len(), 30);
    say(100);
    assert_eq!(woken.load(Ordering::SeqCst), 1);
    assert_eq!(records(&feed).len(), 71);
    say(101);
    assert_eq!(woken.load(Ordering::SeqCst), 2);
}

fn what_there_is_no_room_for_is_counted_where_it_is_missing() {
    const ROOM: u64 = 4096;
    let (feed, _) = reader("info");
    (0..ROOM + 7).for_each(say);
    // There is room again, but not before it was told what is missing.
    assert_eq!(feed.take(100).len(), 100);
    say(ROOM + 7);
    let told = records(&feed);
    let (lost, kept) = told.split_last().unwrap();
    assert_eq!((lost["level"].as_str(), &lost["fields"]), (Some("warn"), &json!({ "dropped": 8 })));
    let numbers: Vec<u64> =
        kept.iter().map(|row| row["fields"]["number"].as_u64().unwrap()).collect();
    assert!(numbers.iter().copied().eq(100..ROOM));
    say(1);
    assert_eq!(records(&feed)[0]["fields"]["number"], 1);
}

fn another_reader_takes_the_place_of_the_first() {
    let (first, woken) = reader("info");
    say(1);
    let (second, _) = reader("info");
    // It is woken for its end, and has what was said before.
    assert_eq!(woken.load(Ordering::SeqCst), 2);
    say(2);
    assert!(!first.is_ended());
    assert_eq!(records(&first).len(), 1);
    assert!(first.is_ended());
    first.end();
    drop(first);
    assert_eq!(records(&second)[0]["fields"]["number"], 2);
    second.end();
    say(3);
    assert!(second.is_ended() && records(&second).is_empty());
}
