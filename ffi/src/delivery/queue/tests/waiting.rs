//! Threads that wait for a queue without a descriptor.

use std::thread;

use super::*;

fn code(waited: Result<()>) -> Option<ErrorCode> {
    waited.err().map(|error| error.code())
}

fn bring(queue: &Arc<Queue>, objects: &Arc<Objects>, tag: u64) {
    queue.register().unwrap();
    queue.push_done(tag, Ok(Value::Nothing), &objects.leases);
}

/// SPEC 16.1, 16.2
#[test]
fn a_wait_without_time_only_looks() {
    let (queue, objects) = (Queue::new().unwrap(), Objects::new().unwrap());
    assert_eq!(code(queue.wait(Some(Duration::ZERO))), Some(ErrorCode::Timeout));
    bring(&queue, &objects, 1);
    assert_eq!(code(queue.wait(Some(Duration::ZERO))), None);
    assert_eq!(code(queue.wait(None)), None, "it is still there");
    assert_eq!(queue.drain(9, |_, _| ()), 1);
    assert_eq!(code(queue.wait(Some(Duration::ZERO))), Some(ErrorCode::Timeout));
}

/// SPEC 16.2: the time runs out, and not before.
#[test]
fn a_wait_ends_when_its_time_is_over() {
    let (queue, began) = (Queue::new().unwrap(), Instant::now());
    let limit = Duration::from_millis(40);
    let error = queue.wait(Some(limit)).unwrap_err();
    assert_eq!((error.code(), error.detail()["limit_ms"].as_u64()), (ErrorCode::Timeout, Some(40)));
    assert!(began.elapsed() >= limit);
}

/// SPEC 16.2: each result wakes those who wait, and one of them takes it.
#[test]
fn what_comes_wakes_those_who_wait() {
    let (queue, objects) = (Queue::new().unwrap(), Objects::new().unwrap());
    let waiting = [(); 3].map(|()| {
        let queue = queue.clone();
        thread::spawn(move || {
            let mut taken = 0;
            while queue.wait(None).is_ok() {
                taken += queue.drain(1, |_, _| ());
            }
            taken
        })
    });
    (0..60).for_each(|tag| bring(&queue, &objects, tag));
    while queue.lock().owed > 0 {
        thread::yield_now();
    }
    queue.close();
    let taken: usize = waiting.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!(taken, 60);
}

/// SPEC 16.2: nobody is left waiting for a queue that is over, and nothing goes into it.
#[test]
fn a_close_ends_every_wait_and_refuses_what_comes() {
    let (queue, objects) = (Queue::new().unwrap(), Objects::new().unwrap());
    let waiting = [None, Some(Duration::from_secs(600))].map(|limit| {
        let queue = queue.clone();
        thread::spawn(move || code(queue.wait(limit)))
    });
    bring(&queue, &objects, 1);
    queue.drain(9, |_, _| ());
    queue.close();
    queue.close();
    for thread in waiting {
        // One that came before the close may have seen the result.
        assert!(matches!(thread.join().unwrap(), None | Some(ErrorCode::Closed)));
    }
    assert_eq!(code(queue.wait(None)), Some(ErrorCode::Closed));
    assert_eq!(code(queue.register()), Some(ErrorCode::Closed));
    assert_eq!(code(queue.check_open()), Some(ErrorCode::Closed));
}
