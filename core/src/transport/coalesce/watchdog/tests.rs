//! What a thread holds back that is at something else.

use std::io::Read;

use super::*;
use crate::platform::write_pair;
use crate::transport::coalesce::BatchGuard;
use crate::transport::{FrameKind, FrameWriter};

const HANG: Duration = Duration::from_secs(90);

fn until(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < HANG, "it never came");
        thread::sleep(LOOK);
    }
}

/// As many turns as it takes, which came that long after one another, until there is one.
fn first(watch: &Arc<Watch>, apart: Duration) -> bool {
    let begun = Instant::now();
    (0..=TURNS_BEFORE).any(|number| watch.begin(|| begun + apart * number))
}

/// A host that makes two calls at a time has no thread for that.
#[test]
fn nobody_looks_before_batches_come_one_after_the_other() {
    let watch = Arc::new(Watch::default());
    assert!(!first(&watch, 2 * QUICK) && !first(&watch, 2 * QUICK));
    assert!(matches!(watch.lock().looking, WatchdogState::No { .. }), "{watch:?}");
    until(|| first(&watch, QUICK));
    watch.end();
}

/// SPEC 5.11: a thread that is at something else for long delays no request for as long.
#[tokio::test]
async fn what_a_busy_thread_holds_is_written_by_who_looks() {
    let (pipe, mut read) = write_pair();
    let writer = Arc::new(FrameWriter::new(pipe));
    let watch = Arc::new(Watch::default());
    until(|| first(&watch, QUICK));
    let turn = BatchGuard::of(watch.clone());
    for id in 1..=2 {
        let sent = writer.send(format!("{id}\n").as_bytes(), FrameKind::Request(id));
        // The thread looks whenever it does, also between the two of a slow machine.
        assert_eq!(sent, crate::transport::WriteOutcome::Queued);
        until(|| {
            let mut text = [0; 2];
            read.read(&mut text).is_ok_and(|count| text[..count] == *format!("{id}\n").as_bytes())
        });
    }
    drop(turn);
    until(|| matches!(watch.lock().looking, WatchdogState::No { .. }));
}

/// What was held and written since the look before is no affair of the next one.
#[tokio::test]
async fn what_is_held_at_two_looks_in_a_row_is_written_at_the_second() {
    let writer = Arc::new(FrameWriter::new(write_pair().0));
    let watch = Watch::default();
    let looks = || match watch.look() {
        WatchdogStep::Next(held) => held.len(),
        WatchdogStep::Over => panic!("it was to look on"),
    };
    watch.holds(writer.clone());
    assert_eq!(looks(), 0);
    watch.holds(writer.clone());
    assert_eq!(looks(), 2);
    watch.holds(writer.clone());
    assert_eq!(looks(), 0);
    watch.written();
    watch.holds(writer.clone());
    assert_eq!((looks(), looks(), looks()), (0, 1, 0));
}

#[test]
fn it_looks_on_until_no_turn_was_there_for_a_while() {
    let watch = Arc::new(Watch::default());
    let is_over = || matches!(watch.look(), WatchdogStep::Over);
    assert!(!is_over());
    assert!(watch.begin(|| panic!("no clock is asked where somebody looks")));
    assert!((0..=QUIET_LOOKS).all(|_| !is_over()), "a turn is under way");
    watch.end();
    assert!((0..QUIET_LOOKS).all(|_| !is_over()));
    assert!(is_over());
    assert!(!watch.begin(Instant::now), "nobody looks any more");
}
