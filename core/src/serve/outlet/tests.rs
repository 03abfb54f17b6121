//! What an outlet keeps, drops and ends.

use std::task::{Context, Poll, Waker};

use super::*;

const BOUNDS: OutletBounds =
    OutletBounds { ends_with_last: true, unsent_bytes_max: 10, replay_bytes_max: 0 };

fn frame(text: &str) -> OutletItem {
    OutletItem::Frame { text: text.into(), last: false, status: 200, droppable: false }
}

fn progress(text: &str) -> OutletItem {
    OutletItem::Frame { text: text.into(), last: false, status: 200, droppable: true }
}

fn last(text: &str) -> OutletItem {
    OutletItem::Frame { text: text.into(), last: true, status: 200, droppable: false }
}

/// What a reader gets now: the texts, and how the stream ended if it did.
fn read(outbox: &mut FrameOutbox) -> (Vec<String>, Option<StreamEnd>) {
    let mut texts = Vec::new();
    loop {
        match outbox.poll_next(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(frame)) => texts.push(frame.text.to_string()),
            Poll::Ready(Err(end)) => return (texts, Some(end)),
            Poll::Pending => return (texts, None),
        }
    }
}

/// What is sent, what arrives, and the end. SERVING A6.3: progress is dropped first, then the
/// stream.
#[test]
fn a_slow_client_loses_progress_first_then_its_stream() {
    use StreamEnd::{Finished, Overflowed};
    type Row = (&'static str, Vec<OutletItem>, &'static [&'static str], Option<StreamEnd>);
    let rows: Vec<Row> = vec![
        ("in order", vec![frame("one"), progress("two")], &["one", "two"], None),
        ("the end", vec![frame("one"), last("two")], &["one", "two"], Some(Finished)),
        ("nothing after the end", vec![last("one"), frame("two")], &["one"], Some(Finished)),
        ("new progress is dropped", vec![frame("12345678"), progress("123")], &["12345678"], None),
        (
            "old progress makes way",
            vec![progress("12345"), frame("123"), frame("1234")],
            &["123", "1234"],
            None,
        ),
        ("too much", vec![frame("12345678"), frame("123")], &[], Some(Overflowed)),
        ("one of any size", vec![frame("12345678901234")], &["12345678901234"], None),
        (
            "the result passes",
            vec![frame("12345678"), last("1234")],
            &["12345678", "1234"],
            Some(Finished),
        ),
    ];
    for (name, sent, wanted, end) in rows {
        let (outlet, mut outbox) = Outlet::new(StreamId(1), BOUNDS);
        sent.into_iter().for_each(|outgoing| outlet.send(outgoing));
        assert_eq!(
            read(&mut outbox),
            (wanted.iter().map(|text| text.to_string()).collect(), end),
            "{name}"
        );
        assert_eq!(outlet.is_open(), end.is_none(), "{name}");
    }
}

/// A connection of lines answers many requests.
#[test]
fn a_connection_goes_on_after_a_last_frame() {
    let bounds = OutletBounds { ends_with_last: false, ..BOUNDS };
    let (outlet, mut outbox) = Outlet::new(StreamId(1), bounds);
    outlet.send(last("one"));
    outlet.send(last("two"));
    assert_eq!(read(&mut outbox), (vec!["one".into(), "two".into()], None));
    outlet.send(OutletItem::Close);
    assert_eq!(read(&mut outbox), (vec![], Some(StreamEnd::Finished)));
}

/// SERVING A3.4: a stream is read again from a frame on, and its first reader ends.
#[test]
fn a_stream_resumes_behind_the_frame_that_its_client_saw() {
    let bounds = OutletBounds { replay_bytes_max: 100, ..BOUNDS };
    let (outlet, mut first) = Outlet::new(StreamId(1), bounds);
    outlet.send(frame("one"));
    outlet.send(frame("two"));
    assert_eq!(read(&mut first).0, ["one", "two"]);
    outlet.send(last("three"));
    let mut again = outlet.resume(Some(0));
    assert_eq!(read(&mut first), (vec![], Some(StreamEnd::Replaced)));
    assert_eq!(read(&mut again), (vec!["two".into(), "three".into()], Some(StreamEnd::Finished)));
    assert_eq!(read(&mut outlet.resume(None)).0, ["one", "two", "three"]);
}

/// SERVING A3.5: above the bound progress goes first and the oldest next, never the result.
#[test]
fn the_replay_is_bounded_and_keeps_the_result() {
    let bounds = OutletBounds { replay_bytes_max: 8, unsent_bytes_max: 100, ends_with_last: true };
    let (outlet, mut outbox) = Outlet::new(StreamId(1), bounds);
    for outgoing in [frame("aaaa"), progress("bb"), frame("cccc"), last("dddddddddd")] {
        outlet.send(outgoing);
        let mut context = Context::from_waker(Waker::noop());
        assert!(outbox.poll_next(&mut context).is_ready());
    }
    assert_eq!(outlet.bytes(), 10);
    assert_eq!(read(&mut outlet.resume(None)).0, ["dddddddddd"]);
}

/// SERVING A3.4: a client that comes back to the stream of unasked messages misses nothing.
#[test]
fn a_new_stream_takes_what_the_one_before_did_not_bring() {
    let bounds =
        OutletBounds { ends_with_last: false, unsent_bytes_max: 100, replay_bytes_max: 100 };
    let (old, mut reader) = Outlet::new(StreamId(1), bounds);
    let (new, mut outbox) = Outlet::new(StreamId(2), bounds);
    old.send(frame("seen"));
    old.send(frame("lost"));
    assert_eq!(read(&mut reader).0, ["seen", "lost"]);
    old.send(frame("unsent"));
    new.take_over(&old, 0);
    assert_eq!(read(&mut reader), (vec![], Some(StreamEnd::Replaced)));
    assert_eq!(read(&mut outbox), (vec!["lost".into(), "unsent".into()], None));
}

/// A3.4: a client that goes leaves its result to be asked for again.
#[test]
fn a_reader_that_closes_an_old_stream_ends_nothing() {
    let bounds = OutletBounds { replay_bytes_max: 100, ..BOUNDS };
    let (outlet, first) = Outlet::new(StreamId(1), bounds);
    let mut second = outlet.resume(None);
    first.close();
    outlet.send(frame("one"));
    assert_eq!(read(&mut second), (vec!["one".into()], None));
    second.close();
    assert!(!outlet.is_open());
}

/// SERVING A2.5: JSON or events is chosen by the first thing that is sent.
#[test]
fn the_first_answer_says_what_kind_it_is() {
    let rows = [
        (OutletItem::Accepted, "Status(Accepted)"),
        (
            OutletItem::Refused { status: 400, text: None },
            "Status(Refused { status: 400, text: None })",
        ),
        (frame("one"), "Stream"),
        (OutletItem::Close, "Ended(Finished)"),
    ];
    for (sent, wanted) in rows {
        let (outlet, mut outbox) = Outlet::new(StreamId(1), BOUNDS);
        let mut context = Context::from_waker(Waker::noop());
        assert!(outbox.poll_first(&mut context).is_pending());
        outlet.send(sent);
        let Poll::Ready(first) = outbox.poll_first(&mut context) else { panic!("{wanted}") };
        assert_eq!(format!("{first:?}"), wanted);
    }
    let (outlet, mut outbox) = Outlet::new(StreamId(1), BOUNDS);
    outlet.send(last("all"));
    let first = outbox.poll_first(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(first, Poll::Ready(FirstAnswer::Whole(frame)) if &*frame.text == "all"));
}
