//! One request whom several want to end: the answer, the cancel, the deadline and the loss.

use std::sync::Arc;
use std::time::{Duration, Instant};

use shuttle::future::block_on;
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::thread;
use trunkline_pool::in_flight::Flight;
use trunkline_pool::state::SessionId;

use super::{Clock, InFlight, InputOutcome, Purpose, RefusedRequest, Waiter};
use crate::client::state::next_round::NextRound;
use crate::schedules::check;
use crate::{Error, ErrorCode};

type Answers = Arc<AtomicUsize>;

fn waiter(answers: &Answers) -> Waiter {
    let answers = answers.clone();
    let done = move |_| _ = answers.fetch_add(1, Ordering::SeqCst);
    let again = NextRound::of("tools/call", "{}", None);
    Waiter {
        done: Box::new(done),
        progress: None,
        attempts: None,
        again,
        under_way: Vec::new(),
        takes_input_requests: false,
    }
}

fn answer(waiter: Waiter) {
    (waiter.done)(Err(Error::new(ErrorCode::Cancelled, "ended")));
}

/// Registers a call that is overdue from the beginning; one that is refused is answered at once.
fn register(calls: &InFlight, answers: &Answers) -> u64 {
    let id = calls.new_id();
    let clock = Clock::new(Duration::ZERO, Duration::ZERO, None, Instant::now());
    let flight = Flight::new(Purpose::Call, Some(SessionId(1)), clock, waiter(answers));
    if let Err(RefusedRequest::Limit(waiter) | RefusedRequest::Ended(waiter)) =
        calls.register(id, flight)
    {
        answer(waiter);
    }
    id
}

/// I-17: the first to come answers it, and nobody else does; a waiter for quiet then sees it.
#[test]
fn a_request_is_answered_once() {
    check(|| {
        let (calls, answers) = (Arc::new(InFlight::new(8)), Answers::default());
        let id = register(&calls, &answers);
        let with = |end: fn(&InFlight, u64, &Answers)| {
            let (calls, answers) = (calls.clone(), answers.clone());
            thread::spawn(move || end(&calls, id, &answers))
        };
        let ways = [
            with(|calls, id, _| calls.take(id).into_iter().for_each(|it| answer(it.payload))),
            with(|calls, id, _| {
                calls.give_up_call(id).into_iter().for_each(|(_, it)| answer(it.payload));
            }),
            with(|calls, _, _| {
                let (overdue, _) = calls.expire(Instant::now());
                overdue.into_iter().for_each(|it| answer(it.flight.payload));
            }),
            with(|calls, _, answers| _ = register(calls, answers)),
            with(|calls, _, _| {
                calls.end().into_iter().for_each(|(_, it)| answer(it.payload));
            }),
        ];
        block_on(calls.quiet());
        ways.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(calls.count(), 0);
        assert_eq!(answers.load(Ordering::SeqCst), 2);
    });
}

/// A call whose server asks for input goes on under another id; a cancel by the first one finds it
/// at any moment.
#[test]
fn a_cancel_finds_a_call_in_its_next_round() {
    check(|| {
        let (calls, answers) = (Arc::new(InFlight::new(8)), Answers::default());
        let id = register(&calls, &answers);
        let server = calls.clone();
        let asking = thread::spawn(move || {
            let next = server.new_id();
            match server.turn(id, next, 3) {
                InputOutcome::Gone => {}
                InputOutcome::Refused(_) => panic!("it may have another round"),
                InputOutcome::Next { hold, .. } => server.go_on(hold),
            }
        });
        let cancelled = calls.give_up_call(id);
        cancelled.into_iter().for_each(|(_, flight)| answer(flight.payload));
        assert_eq!((calls.count(), answers.load(Ordering::SeqCst)), (0, 1));
        asking.join().unwrap();
    });
}

/// Progress that comes while a request ends is handed to it or dropped; it holds up nobody, and
/// nothing of the request stays.
#[test]
fn progress_does_not_keep_a_request() {
    check(|| {
        let (calls, answers) = (Arc::new(InFlight::new(8)), Answers::default());
        let id = register(&calls, &answers);
        let told = Answers::default();
        if let Some(flight) = calls.lock().flight_mut(id) {
            let told = told.clone();
            let count = move |_: &str| _ = told.fetch_add(1, Ordering::SeqCst);
            flight.payload.progress = Some(Box::new(count));
        }
        let server = calls.clone();
        let telling = thread::spawn(move || {
            let tell = || server.progress(id, |progress| progress("{}"));
            [tell(), tell()].iter().filter(|&&found| found).count()
        });
        let taken = calls.take(id).unwrap();
        let heard = telling.join().unwrap();
        assert_eq!(told.load(Ordering::SeqCst), heard);
        assert_eq!(Arc::strong_count(&told), 1 + usize::from(taken.payload.progress.is_some()));
        answer(taken.payload);
        assert_eq!((calls.count(), answers.load(Ordering::SeqCst)), (0, 1));
    });
}
