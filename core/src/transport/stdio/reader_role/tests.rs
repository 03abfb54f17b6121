//! What a waiter does with the stream of a pipe that the test writes to.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::task::{JoinHandle, yield_now};

use super::*;
use crate::platform::read_pair;
use crate::transport::{BoxFuture, DisconnectCause, MayHaveRun, ServerLine, Via};
use crate::{Error, Result};

const REQUEST: u64 = 7;
const ANSWER: &str = r#"{"answer":7}"#;
/// Of a frame, in bytes.
const LIMIT: usize = 24;
const HANG: Duration = Duration::from_secs(90);

type Hook = Box<dyn Fn(&Waiting) + Send + Sync>;

/// What is in flight, and how many answers came.
#[derive(Default)]
struct Waiting {
    in_flight: Mutex<Vec<u64>>,
    answers: Arc<AtomicUsize>,
    /// What is done when something was heard, when it was said that nobody waits, and when an
    /// answer is told.
    on_heard: Option<Hook>,
    on_quiet: Option<Hook>,
    on_answer: Option<Arc<dyn Fn() + Send + Sync>>,
}

impl Waiting {
    fn of(in_flight: &[u64]) -> Waiting {
        Waiting { in_flight: Mutex::new(in_flight.to_vec()), ..Waiting::default() }
    }

    fn answers(&self) -> usize {
        self.answers.load(Ordering::SeqCst)
    }
}

impl Inbound for Waiting {
    fn heard(&self) {
        self.on_heard.iter().for_each(|on_heard| on_heard(self));
    }
    fn busy(&self, _: Duration) {}
    fn take(&self, _: ServerLine<'_>, _: Via) -> Result<()> {
        unreachable!("a waiter takes its answer alone")
    }
    fn take_last(&self, _: ServerLine<'_>) -> Result<()> {
        unreachable!("a waiter leaves the end to the task")
    }
    fn take_answer(&self, request: u64, frame: &[u8]) -> Option<UndeliveredAnswer> {
        let mut in_flight = self.in_flight.lock().unwrap();
        let is_its = frame == ANSWER.as_bytes() && in_flight.contains(&request);
        is_its.then(|| {
            in_flight.retain(|id| *id != request);
            let (answers, on_answer) = (self.answers.clone(), self.on_answer.clone());
            UndeliveredAnswer::new(move || {
                on_answer.iter().for_each(|on_answer| on_answer());
                answers.fetch_add(1, Ordering::SeqCst);
            })
        })
    }
    fn awaited(&self) -> usize {
        let awaited = self.in_flight.lock().unwrap().len();
        self.on_quiet.iter().filter(|_| awaited == 0).for_each(|on_quiet| on_quiet(self));
        awaited
    }
    fn deadline(&self, request: u64) -> Option<Instant> {
        self.in_flight.lock().unwrap().contains(&request).then(|| Instant::now() + HANG)
    }
    fn awaits(&self, _: u64) -> bool {
        unreachable!("a pipe has no responses of its own")
    }
    fn given_up_at(&self) -> Option<tokio::time::Instant> {
        unreachable!("a pipe asks for no time")
    }
    fn wants_handshake(&self) -> BoxFuture<'static, bool> {
        unreachable!("a pipe has no responses of its own")
    }
    fn refuse(&self, _: u64, _: Error, _: MayHaveRun) {}
    fn gap(&self) {}
    fn deaf(&self) {}
    fn stderr(&self, _: &str) {}
    fn lost(self: Arc<Self>, _: DisconnectCause) -> BoxFuture<'static, ()> {
        unreachable!("a waiter tells of no loss")
    }
}

/// Lent after one wait, which there was, and never looked after.
fn output() -> Arc<Output> {
    let output = Arc::new(Output::new(Lending { waits: 1, gap: 2 * HANG, look: 2 * HANG }));
    output.read_here(REQUEST, &Waiting::of(&[REQUEST]));
    output
}

/// What a task does.
async fn lend(
    output: &Output,
    pipe: ReadPipe,
    frames: FrameReader,
    inbound: &Waiting,
) -> io::Result<(ReadPipe, FrameReader)> {
    match output.offer(pipe, frames, inbound) {
        Offered::Kept(pipe, frames) => Ok((pipe, frames)),
        Offered::Lent => {
            let OutputStream { pipe, frames, .. } = output.returned().await;
            Ok((pipe.take_back()?, frames))
        }
    }
}

/// A stream that its task has lent, and the server's end of it.
struct Lent {
    output: Arc<Output>,
    task: JoinHandle<io::Result<(ReadPipe, FrameReader)>>,
    server: File,
}

impl Lent {
    async fn new() -> Lent {
        Lent::with(LIMIT).await
    }

    /// With frames of so many bytes at most.
    async fn with(limit: usize) -> Lent {
        let (output, (pipe, server)) = (output(), read_pair());
        let mut frames = FrameReader::new(limit);
        // The start of a stream is the task's.
        frames.room().extend_from_slice(b"{}\n");
        frames.next_line();
        let lends = output.clone();
        let lends = async move { lend(&lends, pipe, frames, &Waiting::default()).await };
        let lent = Lent { output, task: tokio::spawn(lends), server };
        assert!(!lent.is_back().await);
        lent
    }

    async fn is_back(&self) -> bool {
        // This thread is the runtime's only one: the task goes on as far as it can.
        yield_now().await;
        yield_now().await;
        self.task.is_finished()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.server.write_all(bytes).unwrap();
    }

    /// What comes back: the pipe, and what was read and not taken.
    async fn back(self) -> (ReadPipe, Vec<u8>, File) {
        let (pipe, frames) = self.task.await.unwrap().unwrap();
        let left = frames.unread().to_vec();
        (pipe, left, self.server)
    }
}

#[tokio::test]
async fn answers_are_taken_and_the_stream_stays_for_the_next_who_waits() {
    let mut lent = Lent::new().await;
    for _ in 0..3 {
        lent.write(format!("{ANSWER}\r\n").as_bytes());
        let inbound = Waiting::of(&[REQUEST]);
        lent.output.read_here(REQUEST, &inbound);
        assert_eq!(inbound.answers(), 1);
        assert!(!lent.is_back().await);
    }
    lent.output.recall();
    assert!(lent.is_back().await);
    assert_eq!(lent.back().await.1, b"");
}

#[tokio::test]
async fn a_call_that_ended_before_does_not_wait() {
    let mut lent = Lent::new().await;
    lent.output.read_here(REQUEST, &Waiting::default());
    assert!(!lent.is_back().await, "it was silent for nobody");
    lent.write(format!("{ANSWER}\n").as_bytes());
    let inbound = Waiting::of(&[REQUEST]);
    lent.output.read_here(REQUEST, &inbound);
    assert_eq!(inbound.answers(), 1);
}

#[tokio::test]
async fn who_has_its_answer_leaves_the_stream_to_the_task_when_others_wait() {
    let mut lent = Lent::new().await;
    lent.write(format!("{ANSWER}\n").as_bytes());
    let inbound = Waiting::of(&[REQUEST, REQUEST + 1]);
    lent.output.read_here(REQUEST, &inbound);
    assert_eq!(inbound.answers(), 1);
    assert!(lent.is_back().await);
}

#[tokio::test]
async fn whatever_is_no_answer_is_left_to_the_task_as_it_came() {
    let behind = format!("{ANSWER}\n{{\"half\":");
    let other = format!("{{\"other\":1}}\n{ANSWER}\n");
    for (writes, answers, left) in [
        ("", 0, ""),
        ("\n", 0, "\n"),
        ("noise\n", 0, "noise\n"),
        ("{\"answer\"", 0, "{\"answer\""),
        (&*behind, 1, "{\"half\":"),
        (&*other, 0, &*other),
        (
            "{\"answer\": above the limit of this test\n",
            0,
            "{\"answer\": above the limit of this test\n",
        ),
    ] {
        let mut lent = Lent::new().await;
        lent.write(writes.as_bytes());
        let inbound = Waiting::of(&[REQUEST]);
        lent.output.read_here(REQUEST, &inbound);
        assert_eq!(inbound.answers(), answers, "{writes:?}");
        assert!(lent.is_back().await, "{writes:?}");
        let (_, back, _) = lent.back().await;
        assert_eq!(String::from_utf8(back).unwrap(), left, "{writes:?}");
    }
}

/// However fast it comes: the deadlines of the call are kept elsewhere, and its thread must see
/// them.
#[tokio::test]
async fn an_answer_that_does_not_end_is_left_to_the_task() {
    const PARTS_MAX: usize = 1_000_000;
    let mut lent = Lent::with(usize::MAX).await;
    lent.write(b"{");
    let (parts, server) = (Arc::new(AtomicUsize::new(0)), lent.server.try_clone().unwrap());
    let written = parts.clone();
    // The next part is there before it is waited for.
    let on_heard = move |_: &Waiting| {
        if written.fetch_add(1, Ordering::SeqCst) < PARTS_MAX {
            (&server).write_all(b"{").unwrap();
        }
    };
    let inbound = Waiting { on_heard: Some(Box::new(on_heard)), ..Waiting::of(&[REQUEST]) };
    lent.output.read_here(REQUEST, &inbound);
    assert!(parts.load(Ordering::SeqCst) < PARTS_MAX, "it was read to its end");
    assert!(lent.is_back().await);
}

/// A request that begins between the look of the task and its lending finds nothing to recall.
#[tokio::test]
async fn a_task_that_lends_looks_afterwards_whether_somebody_waits() {
    let (output, (pipe, _server)) = (output(), read_pair());
    let recalls = output.clone();
    let on_quiet = move |waiting: &Waiting| {
        waiting.in_flight.lock().unwrap().push(REQUEST);
        recalls.recall();
    };
    let inbound = Waiting { on_quiet: Some(Box::new(on_quiet)), ..Waiting::default() };
    let lending = lend(&output, pipe, FrameReader::new(LIMIT), &inbound);
    let lent = tokio::time::timeout(HANG, lending).await.expect("it has the stream again");
    assert!(lent.is_ok());
    assert!(inbound.awaited() > 0);
}

/// What a host does on an answer may be a call that waits for the next one.
#[tokio::test]
async fn whoever_is_told_of_an_answer_finds_the_stream_for_others() {
    let mut lent = Lent::new().await;
    lent.write(format!("{ANSWER}\n").as_bytes());
    let server = Arc::new(lent.server.try_clone().unwrap());
    let (output, inner) = (lent.output.clone(), Arc::new(AtomicUsize::new(0)));
    let answered = inner.clone();
    let on_answer = move || {
        (&*server).write_all(format!("{ANSWER}\n").as_bytes()).unwrap();
        let next = Waiting::of(&[REQUEST]);
        output.read_here(REQUEST, &next);
        answered.store(next.answers(), Ordering::SeqCst);
    };
    let inbound = Waiting { on_answer: Some(Arc::new(on_answer)), ..Waiting::of(&[REQUEST]) };
    lent.output.read_here(REQUEST, &inbound);
    assert_eq!((inbound.answers(), inner.load(Ordering::SeqCst)), (1, 1));
}

/// The task wants it at once, as when the server's process has ended: it does not wait until nobody
/// reads.
#[tokio::test]
async fn what_is_called_in_comes_from_whoever_reads_next() {
    let (output, (pipe, mut server)) = (output(), read_pair());
    let mut frames = FrameReader::new(LIMIT);
    frames.room().extend_from_slice(b"{}\n");
    frames.next_line();
    assert!(matches!(output.offer(pipe, frames, &Waiting::default()), Offered::Lent));
    server.write_all(format!("{ANSWER}\n").as_bytes()).unwrap();
    let calls_in = output.clone();
    let on_heard = move |_: &Waiting| {
        assert!(calls_in.step(ReaderRole::call_in).is_none(), "the waiter has it");
    };
    let inbound = Waiting { on_heard: Some(Box::new(on_heard)), ..Waiting::of(&[REQUEST]) };
    output.read_here(REQUEST, &inbound);
    assert_eq!(inbound.answers(), 1);
    let back = tokio::time::timeout(HANG, output.returned()).await;
    assert!(back.expect("it was told").frames.is_empty());
}

#[tokio::test]
async fn the_end_of_the_stream_is_the_task_s() {
    let lent = Lent::new().await;
    let Lent { output, task, server } = lent;
    drop(server);
    output.read_here(REQUEST, &Waiting::of(&[REQUEST]));
    let (pipe, mut frames) = task.await.unwrap().unwrap();
    assert_eq!(pipe.read(&mut frames).await.unwrap(), 0);
}

#[tokio::test]
async fn a_stream_is_closed_once_by_whoever_has_it_last() {
    let (pipe, _, mut server) = {
        let lent = Lent::new().await;
        lent.output.recall();
        lent.back().await
    };
    server.write_all(b"x").unwrap();
    drop(pipe);
    assert_eq!(server.write(b"x").unwrap_err().kind(), io::ErrorKind::BrokenPipe);

    let Lent { output, task, mut server } = Lent::new().await;
    task.abort();
    assert!(task.await.is_err());
    server.write_all(b"x").unwrap();
    output.recall();
    drop(output);
    assert_eq!(server.write(b"x").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
}

/// An event loop, and the loans that it heard are over.
fn event_loop() -> (EventLoop, std::sync::mpsc::Receiver<u64>) {
    let (send, over) = std::sync::mpsc::channel();
    let tell = move |loan| {
        let _ = send.send(loan);
    };
    (EventLoop::new(tell), over)
}

fn new_loan(read_by: AnswerReader) -> LentOutput {
    match read_by {
        AnswerReader::NewLoan(loan) => loan,
        AnswerReader::Loan(_) | AnswerReader::Library => panic!("no new loan"),
    }
}

/// DESIGN 6.
#[tokio::test]
async fn a_loop_reads_one_answer_after_another_without_waiting() {
    let ((its, over), mut lent) = (event_loop(), Lent::new().await);
    let loan = new_loan(lent.output.lend_to(&its, REQUEST, &Waiting::of(&[REQUEST])));
    for _ in 0..3 {
        let inbound = Waiting::of(&[REQUEST]);
        let again = lent.output.lend_to(&its, REQUEST, &inbound);
        assert!(matches!(again, AnswerReader::Loan(number) if number == loan.number()));
        assert!(lent.output.read_ready(REQUEST, &inbound), "there is nothing yet");
        lent.write(ANSWER.as_bytes());
        assert!(lent.output.read_ready(REQUEST, &inbound), "half of it");
        assert_eq!(inbound.answers(), 0);
        lent.write(b"\n");
        assert!(lent.output.read_ready(REQUEST, &inbound));
        assert_eq!(inbound.answers(), 1);
        assert!(!lent.is_back().await);
    }
    assert!(over.try_recv().is_err());
    lent.output.recall();
    assert_eq!(lent.back().await.1, b"");
    assert_eq!(over.try_iter().collect::<Vec<_>>(), [loan.number()]);
}

#[tokio::test]
async fn a_loop_leaves_whatever_is_no_answer_to_the_task_as_it_came() {
    let behind = format!("{ANSWER}\n{{\"half\":");
    let other = format!("{{\"other\":1}}\n{ANSWER}\n");
    for (writes, answers, left) in [
        ("noise\n", 0, "noise\n"),
        ("{\"answer\": above the limit", 0, "{\"answer\": above the limit"),
        (&*behind, 1, "{\"half\":"),
        (&*other, 0, &*other),
    ] {
        let ((its, over), mut lent) = (event_loop(), Lent::new().await);
        let inbound = Waiting::of(&[REQUEST]);
        let loan = new_loan(lent.output.lend_to(&its, REQUEST, &inbound));
        lent.write(writes.as_bytes());
        assert!(!lent.output.read_ready(REQUEST, &inbound), "{writes:?}");
        assert!(!lent.output.read_ready(REQUEST, &inbound), "nothing is on loan");
        assert_eq!(inbound.answers(), answers, "{writes:?}");
        let (_, back, _) = lent.back().await;
        assert_eq!(String::from_utf8(back).unwrap(), left);
        assert_eq!(over.try_iter().collect::<Vec<_>>(), [loan.number()]);
    }
}

/// Whether it was cancelled, or its time was over: what comes then is nobody's whom the loop knows.
#[tokio::test]
async fn a_loop_whose_call_has_ended_leaves_what_comes_to_the_task() {
    let ((its, _over), mut lent) = (event_loop(), Lent::new().await);
    let _loan = new_loan(lent.output.lend_to(&its, REQUEST, &Waiting::of(&[REQUEST])));
    lent.write(format!("{ANSWER}\n").as_bytes());
    assert!(!lent.output.read_ready(REQUEST, &Waiting::default()));
    let (pipe, left, _server) = lent.back().await;
    assert_eq!(left, b"", "it was not even read");
    let mut frames = FrameReader::new(LIMIT);
    assert_eq!(pipe.read(&mut frames).await.unwrap(), ANSWER.len() + 1);
}

#[tokio::test]
async fn a_second_call_in_flight_takes_the_stream_from_a_loop() {
    let ((its, _over), lent) = (event_loop(), Lent::new().await);
    let _loan = new_loan(lent.output.lend_to(&its, REQUEST, &Waiting::of(&[REQUEST])));
    let both = Waiting::of(&[REQUEST, REQUEST + 1]);
    assert!(matches!(lent.output.lend_to(&its, REQUEST + 1, &both), AnswerReader::Library));
    assert!(lent.is_back().await);
    assert!(!lent.output.read_ready(REQUEST + 1, &both));
}

/// It was refused, since another is in flight and no more may be.
#[tokio::test]
async fn a_call_that_is_over_takes_no_loan_from_the_one_in_flight() {
    let ((its, _over), mut lent) = (event_loop(), Lent::new().await);
    let inbound = Waiting::of(&[REQUEST]);
    let _loan = new_loan(lent.output.lend_to(&its, REQUEST, &inbound));
    assert!(matches!(lent.output.lend_to(&its, REQUEST + 1, &inbound), AnswerReader::Library));
    lent.write(format!("{ANSWER}\n").as_bytes());
    assert!(lent.output.read_ready(REQUEST, &inbound));
    assert_eq!(inbound.answers(), 1);
}

/// While the loop has the stream nobody can recall it.
#[tokio::test]
async fn a_loop_that_read_a_part_looks_afterwards_whether_somebody_else_waits() {
    for ends in [false, true] {
        let ((its, _over), mut lent) = (event_loop(), Lent::new().await);
        let output = lent.output.clone();
        // Another request begins, and the loop's own may end.
        let on_heard = move |waiting: &Waiting| {
            let mut in_flight = waiting.in_flight.lock().unwrap();
            in_flight.push(REQUEST + 1);
            in_flight.retain(|id| !ends || *id != REQUEST);
            output.recall();
        };
        let inbound = Waiting { on_heard: Some(Box::new(on_heard)), ..Waiting::of(&[REQUEST]) };
        let _loan = new_loan(lent.output.lend_to(&its, REQUEST, &inbound));
        lent.write(b"{\"half");
        assert!(lent.output.read_ready(REQUEST, &inbound));
        assert!(lent.is_back().await, "{ends}");
        assert_eq!(lent.back().await.1, b"{\"half");
    }
}

/// Two loops of one process may share a connection: each hears of its own loan.
#[tokio::test]
async fn another_loop_takes_the_place_of_the_first() {
    let ((first, first_over), (second, second_over)) = (event_loop(), event_loop());
    let (lent, inbound) = (Lent::new().await, Waiting::of(&[REQUEST]));
    let of_first = new_loan(lent.output.lend_to(&first, REQUEST, &inbound));
    let of_second = new_loan(lent.output.lend_to(&second, REQUEST, &inbound));
    assert_eq!(first_over.try_iter().collect::<Vec<_>>(), [of_first.number()]);
    let Lent { output, task, .. } = lent;
    task.abort();
    assert!(task.await.is_err());
    output.recall();
    drop(output);
    assert_eq!(second_over.try_iter().collect::<Vec<_>>(), [of_second.number()]);
}

#[tokio::test]
async fn a_loop_leaves_the_end_of_the_stream_to_the_task() {
    let (its, _over) = event_loop();
    let Lent { output, task, server } = Lent::new().await;
    let inbound = Waiting::of(&[REQUEST]);
    let _loan = new_loan(output.lend_to(&its, REQUEST, &inbound));
    drop(server);
    assert!(!output.read_ready(REQUEST, &inbound));
    let (pipe, mut frames) = task.await.unwrap().unwrap();
    assert_eq!(pipe.read(&mut frames).await.unwrap(), 0);
}
