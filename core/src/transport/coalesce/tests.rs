//! What is held back of a pipe that the test reads from.

use std::fs::File;
use std::io::{ErrorKind, Read};

use super::*;
use crate::platform::write_pair;
use crate::transport::{FrameKind, FrameWriter, WriteOutcome};

const FOR_EVER: Duration = Duration::MAX;
const HANG: Duration = Duration::from_secs(90);

fn pair() -> (Arc<FrameWriter>, File) {
    let (pipe, read) = write_pair();
    (Arc::new(FrameWriter::new(pipe)), read)
}

fn request(writer: &Arc<FrameWriter>, id: u64) -> WriteOutcome {
    writer.send(format!("{id}\n").as_bytes(), FrameKind::Request(id))
}

/// What is in the pipe now.
fn written(mut read: &File) -> String {
    let mut text = Vec::new();
    match read.read_to_end(&mut text) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
    }
    String::from_utf8(text).unwrap()
}

/// SPEC 5.11: requests that are sent in a row are held, and written at the end, in order; after it
/// each is written at once.
#[tokio::test]
async fn requests_are_written_at_the_end_in_order() {
    let ((writer, read), (other, other_read)) = (pair(), pair());
    let joined = WriteBatch::begin_for(FOR_EVER);
    assert_eq!(request(&writer, 1), WriteOutcome::Queued);
    assert_eq!(request(&other, 2), WriteOutcome::Queued);
    drop(WriteBatch::begin_for(Duration::ZERO));
    assert_eq!(request(&writer, 3), WriteOutcome::Queued);
    assert_eq!((written(&read), written(&other_read)), (String::new(), String::new()));
    drop(joined);
    assert_eq!((written(&read).as_str(), written(&other_read).as_str()), ("1\n3\n", "2\n"));
    assert_eq!(request(&writer, 4), WriteOutcome::Written);
    assert_eq!(written(&read), "4\n");
}

/// A thread that holds requests back and then does something else keeps nobody waiting but itself.
#[tokio::test]
async fn whatever_else_is_sent_writes_them_first() {
    let (writer, read) = pair();
    let joined = WriteBatch::begin_for(FOR_EVER);
    request(&writer, 1);
    let elsewhere = writer.clone();
    let sent = std::thread::spawn(move || request(&elsewhere, 2)).join().unwrap();
    assert_eq!((sent, written(&read).as_str()), (WriteOutcome::Written, "1\n2\n"));
    let elsewhere = writer.clone();
    let also_joined = move || {
        let _joined = WriteBatch::begin_for(FOR_EVER);
        request(&elsewhere, 2);
        request(&elsewhere, 3)
    };
    request(&writer, 1);
    assert_eq!(std::thread::spawn(also_joined).join().unwrap(), WriteOutcome::Queued);
    assert_eq!(written(&read), "1\n2\n3\n", "two threads never hold back together");
    request(&writer, 3);
    assert_eq!(writer.send(b"told\n", FrameKind::Notification), WriteOutcome::Written);
    request(&writer, 4);
    assert_eq!(writer.send(b"reply\n", FrameKind::Reply), WriteOutcome::Written);
    assert_eq!(written(&read), "3\ntold\n4\nreply\n");
    drop(joined);
    assert_eq!(written(&read), "");
}

/// SPEC 5.6: a request that was taken back while it was held was provably not sent.
#[tokio::test]
async fn what_is_taken_back_is_never_written() {
    let (writer, read) = pair();
    let joined = WriteBatch::begin_for(FOR_EVER);
    (1..=3).for_each(|id| assert_eq!(request(&writer, id), WriteOutcome::Queued));
    assert!(writer.withdraw(2));
    assert_eq!(writer.unsent(), [1, 3].into());
    drop(joined);
    assert!(!writer.withdraw(3), "it was written");
    assert_eq!(written(&read), "1\n3\n");
}

#[tokio::test]
async fn no_more_is_held_than_a_pipe_takes_in_one_piece_and_no_longer_than_its_time() {
    let (writer, read) = pair();
    let joined = WriteBatch::begin_for(FOR_EVER);
    let half = [b"x".repeat(BYTES / 2 - 1), b"\n".to_vec()].concat();
    for id in 1..=3 {
        assert_eq!(written(&read), "");
        assert_eq!(writer.send(&half, FrameKind::Request(id)), WriteOutcome::Queued);
    }
    assert_eq!(written(&read).len(), BYTES, "the third wrote the first two");
    let large = [b"y".repeat(BYTES), b"\n".to_vec()].concat();
    assert_eq!(writer.send(&large, FrameKind::Request(4)), WriteOutcome::Written);
    assert_eq!(written(&read).len(), half.len() + large.len(), "one that is larger is not held");
    drop(joined);
    let joined = WriteBatch::begin_for(Duration::ZERO);
    request(&writer, 5);
    std::thread::sleep(Duration::from_millis(1));
    assert_eq!(written(&read), "");
    request(&writer, 6);
    assert_eq!(written(&read), "5\n", "its time was over");
    drop(joined);
    assert_eq!(written(&read), "6\n");
}

/// SPEC 5.11: what a full pipe does not take is the writer task's, with whatever comes behind it.
#[tokio::test]
async fn a_full_pipe_leaves_the_rest_to_the_writer_task() {
    let (writer, read) = pair();
    let mut filled = 0;
    while writer.send(&[b'.'; 512], FrameKind::Notification) == WriteOutcome::Written {
        filled += 512;
    }
    // The one that did not fit waits; it goes out first.
    filled += 512;
    let draining = tokio::spawn({
        let writer = writer.clone();
        async move { writer.drain().await }
    });
    let mut text = String::new();
    let joined = WriteBatch::begin_for(FOR_EVER);
    (1..=3).for_each(|id| assert_eq!(request(&writer, id), WriteOutcome::Queued));
    drop(joined);
    let all = async {
        while text.len() < filled + "1\n2\n3\n".len() {
            text += &written(&read);
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(HANG, all).await.unwrap();
    assert_eq!(&text[filled..], "1\n2\n3\n");
    let joined = WriteBatch::begin_for(FOR_EVER);
    (4..=5).for_each(|id| assert_eq!(request(&writer, id), WriteOutcome::Queued));
    let mut rest = Vec::new();
    // Filled behind the back of the writer.
    writer.fill();
    drop(joined);
    let all = async {
        while !rest.ends_with(b"4\n5\n") {
            rest.extend(written(&read).into_bytes());
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(HANG, all).await.unwrap();
    writer.close();
    tokio::time::timeout(HANG, draining).await.unwrap().unwrap().unwrap();
}

/// SPEC 5.6: nobody reads any more; what was held was not sent, and the connection learns of it.
#[tokio::test]
async fn a_pipe_that_nobody_reads_gives_back_what_was_held() {
    let (writer, read) = pair();
    let joined = WriteBatch::begin_for(FOR_EVER);
    (1..=2).for_each(|id| assert_eq!(request(&writer, id), WriteOutcome::Queued));
    drop(read);
    drop(joined);
    assert_eq!(request(&writer, 3), WriteOutcome::Closed);
    let broken = tokio::time::timeout(HANG, writer.drain()).await.unwrap();
    assert_eq!(broken.unwrap_err().kind(), ErrorKind::BrokenPipe);
    assert_eq!(writer.stop(), [1, 2]);
}

/// What was given back at the stop is not written at the end.
#[tokio::test]
async fn what_was_stopped_is_not_written() {
    let (writer, read) = pair();
    let joined = WriteBatch::begin_for(FOR_EVER);
    (1..=2).for_each(|id| assert_eq!(request(&writer, id), WriteOutcome::Queued));
    assert_eq!(writer.stop(), [1, 2]);
    assert_eq!(request(&writer, 3), WriteOutcome::Closed);
    drop(joined);
    writer.close();
    assert_eq!(written(&read), "");
}

/// A thread that waits for the library waits for what it held back, too.
#[tokio::test]
async fn a_thread_that_waits_writes_what_it_holds() {
    let (writer, read) = pair();
    let joined = WriteBatch::begin_for(FOR_EVER);
    (1..=2).for_each(|id| assert_eq!(request(&writer, id), WriteOutcome::Queued));
    assert_eq!(written(&read), "");
    write_held();
    assert_eq!(written(&read), "1\n2\n");
    request(&writer, 3);
    assert_eq!(written(&read), "", "it goes on holding back");
    drop(joined);
    assert_eq!(written(&read), "3\n");
    write_held();
}

fn turn() -> BatchGuard {
    let watch = Arc::new(Watch::default());
    watch.look();
    assert!(watch.begin(Instant::now));
    BatchGuard::of(watch)
}

/// SPEC 5.11: what the tasks send that a batch of answers woke is written at the end of its turn,
/// in order, once each had the thread.
#[tokio::test]
async fn a_turn_ends_behind_the_tasks_that_its_answers_woke() {
    let (writer, read) = pair();
    let sends = |id| {
        let (writer, (wake, woken)) = (writer.clone(), tokio::sync::oneshot::channel::<()>());
        (wake, tokio::spawn(async move { woken.await.map(|()| request(&writer, id)) }))
    };
    let (wakes, tasks): (Vec<_>, Vec<_>) = (1..=3).map(sends).unzip();
    tokio::task::yield_now().await;
    let turn = turn();
    wakes.into_iter().for_each(|wake| wake.send(()).unwrap());
    let probe = tokio::spawn({
        let read = read.try_clone().unwrap();
        async move { written(&read) }
    });
    turn.end_behind_others().await;
    assert_eq!(written(&read), "1\n2\n3\n");
    assert_eq!(probe.await.unwrap(), "", "it was written before all had the thread");
    for task in tasks {
        assert_eq!(task.await.unwrap(), Ok(WriteOutcome::Queued));
    }
    assert_eq!(request(&writer, 4), WriteOutcome::Written);
}

/// Two connections that are read by one thread.
#[tokio::test]
async fn a_turn_amid_another_holds_nothing_beyond_the_first_end() {
    let (writer, read) = pair();
    let (first, second) = (turn(), turn());
    assert_eq!(request(&writer, 1), WriteOutcome::Queued);
    drop(first);
    assert_eq!(written(&read), "1\n");
    assert_eq!(request(&writer, 2), WriteOutcome::Queued);
    drop(second);
    assert_eq!(written(&read), "2\n");
    assert_eq!(request(&writer, 3), WriteOutcome::Written);
}

/// SPEC 16.3: a child that was forked amid a turn holds nothing back, and writes nothing of its
/// parent's.
#[tokio::test]
async fn a_forked_child_has_no_part_in_the_turn_of_its_parent() {
    let (writer, read) = pair();
    let turn = turn();
    assert_eq!(request(&writer, 1), WriteOutcome::Queued);
    let fork = |joining: &RefCell<Option<Joining>>| {
        joining.borrow_mut().as_mut().unwrap().fork_generation += 1;
    };
    JOINING.with(fork);
    let (of_child, read_of_child) = pair();
    assert_eq!(request(&of_child, 2), WriteOutcome::Written);
    assert_eq!((written(&read_of_child).as_str(), written(&read).as_str()), ("2\n", ""));
    drop(turn);
    assert_eq!(request(&of_child, 3), WriteOutcome::Written);
}

/// SPEC 5.11: after several results taken together requests are left to the writer task, which is
/// told, and writes them in order; after one that came alone they are written at once, behind
/// those. Other threads write for themselves.
#[tokio::test]
async fn requests_that_follow_several_results_are_left_to_the_writer_task() {
    let ((writer, read), (other, other_read)) = (pair(), pair());
    took_results(1);
    assert_eq!(request(&writer, 1), WriteOutcome::Written);
    took_results(2);
    assert_eq!(request(&writer, 2), WriteOutcome::Queued);
    assert_eq!(request(&writer, 3), WriteOutcome::Queued);
    assert_eq!(written(&read), "1\n");
    let elsewhere = move || (request(&other, 9), other);
    let (sent, _other) = std::thread::spawn(elsewhere).join().unwrap();
    assert_eq!((sent, written(&other_read).as_str()), (WriteOutcome::Written, "9\n"));
    took_results(0);
    assert_eq!(request(&writer, 4), WriteOutcome::Queued, "nothing is written past them");
    let writing = tokio::spawn({
        let writer = writer.clone();
        async move { writer.drain().await }
    });
    let all = async {
        let mut all = String::new();
        while all.len() < "2\n3\n4\n".len() {
            tokio::task::yield_now().await;
            all += &written(&read);
        }
        all
    };
    assert_eq!(tokio::time::timeout(HANG, all).await.unwrap(), "2\n3\n4\n");
    assert_eq!(request(&writer, 5), WriteOutcome::Written);
    writer.close();
    writing.await.unwrap().unwrap();
}

/// SPEC 5.6: a request that was taken back while it was left was provably not sent; one that is
/// larger than what is joined is not left.
#[tokio::test]
async fn what_is_left_can_be_taken_back() {
    let (writer, read) = pair();
    took_results(2);
    let large = [b"y".repeat(BYTES), b"\n".to_vec()].concat();
    assert_eq!(writer.send(&large, FrameKind::Request(1)), WriteOutcome::Written);
    assert_eq!(request(&writer, 2), WriteOutcome::Queued);
    assert!(writer.withdraw(2));
    assert_eq!(request(&writer, 3), WriteOutcome::Queued);
    assert_eq!(writer.stop(), [3]);
    assert_eq!(written(&read).len(), large.len());
    took_results(0);
}
