//! Operations through the ABI, without a server: each ends exactly once, whatever happens to it.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use trunkline_ffi::*;

fn text(text: &str) -> Str {
    Str { ptr: text.as_ptr().cast(), len: text.len() }
}

/// A pool with a session; closed and freed when it is dropped.
struct Host {
    pool: *mut PoolObject,
    session: u64,
}

// SAFETY: every function of the ABI may be called from any thread.
unsafe impl Send for Host {}
// SAFETY: as above.
unsafe impl Sync for Host {}

impl Host {
    fn new() -> Host {
        let (mut pool, mut session) = (null_mut(), 0);
        // SAFETY: the pointers are to locals.
        unsafe {
            assert_eq!(trunkline_pool_new(text(""), &mut pool, null_mut()), Status::Ok);
            let opened =
                trunkline_session_open(pool, text(r#"{"id":"a"}"#), &mut session, null_mut());
            assert_eq!(opened, Status::Ok);
        }
        Host { pool, session }
    }

    /// Starts an acquire of a program that does not answer until it is cancelled.
    fn start_silent(&self, log: &Ends) -> (Status, u64) {
        let mut op = 0;
        // SAFETY: the log outlives the operation: every test waits for its ends.
        let status = unsafe {
            trunkline_session_acquire_start(
                self.pool,
                self.session,
                text("silent"),
                text(r#"{"command":"sleep","args":["60"]}"#),
                text(""),
                Some(note_done),
                std::ptr::from_ref(log).cast_mut().cast(),
                Some(note_destroyed),
                &mut op,
                null_mut(),
            )
        };
        (status, op)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // SAFETY: the pool is this host's own.
        unsafe { trunkline_pool_free(self.pool) };
    }
}

/// What the callbacks of one test left.
#[derive(Default)]
struct Ends {
    done: AtomicUsize,
    statuses: Mutex<Vec<Status>>,
    destroyed: Mutex<usize>,
    changed: Condvar,
}

impl Ends {
    fn wait_destroyed(&self, count: usize) {
        let guard = self.destroyed.lock().unwrap();
        let (guard, waited) = self
            .changed
            .wait_timeout_while(guard, Duration::from_secs(60), |destroyed| *destroyed < count)
            .unwrap();
        assert!(!waited.timed_out(), "{} of {count}", *guard);
    }
}

unsafe extern "C" fn note_done(user_data: *mut c_void, item: *mut Item) {
    // SAFETY: the test passed its log, and the library a live item.
    let (ends, item) = unsafe { (&*user_data.cast::<Ends>(), &*item) };
    ends.statuses.lock().unwrap().push(item.status);
    ends.done.fetch_add(1, Ordering::SeqCst);
}

unsafe extern "C" fn note_destroyed(user_data: *mut c_void) {
    // SAFETY: the test passed its log.
    let ends = unsafe { &*user_data.cast::<Ends>() };
    *ends.destroyed.lock().unwrap() += 1;
    ends.changed.notify_all();
}

/// I-17, SPEC 3.4
#[test]
fn operations_that_eight_threads_start_and_cancel_end_once_each() {
    const THREADS: usize = 8;
    const EACH: usize = 40;
    let (host, ends) = (Host::new(), Ends::default());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..EACH {
                    let (status, op) = host.start_silent(&ends);
                    assert_eq!(status, Status::Ok);
                    // SAFETY: the pool is live.
                    let cancel = || unsafe { trunkline_op_cancel(host.pool, op, null_mut()) };
                    assert_eq!((cancel(), cancel()), (Status::Ok, Status::Ok));
                }
            });
        }
    });
    ends.wait_destroyed(THREADS * EACH);
    assert_eq!(ends.done.load(Ordering::SeqCst), THREADS * EACH);
    assert!(ends.statuses.lock().unwrap().iter().all(|status| *status == Status::Cancelled));
}

/// I-19, I-17
#[test]
fn what_is_under_way_when_the_pool_is_freed_ends_with_closed() {
    let (host, ends) = (Host::new(), Ends::default());
    for _ in 0..20 {
        assert_eq!(host.start_silent(&ends).0, Status::Ok);
    }
    drop(host);
    ends.wait_destroyed(20);
    assert_eq!(*ends.statuses.lock().unwrap(), [Status::Closed; 20]);
}

/// SPEC 16.2: the user data is destroyed once, before the function returns, when nothing was
/// started.
#[test]
fn a_refused_start_destroys_what_it_was_given_and_calls_nothing() {
    let (host, ends) = (Host::new(), Ends::default());
    // SAFETY: the pool is live.
    let closed =
        unsafe { trunkline_session_close(host.pool, host.session, TRUNKLINE_DEFAULT, null_mut()) };
    assert_eq!(closed, Status::Ok);
    let (status, op) = host.start_silent(&ends);
    assert_eq!((status, op), (Status::BadHandle, 0));
    assert_eq!(*ends.destroyed.lock().unwrap(), 1);
    assert_eq!(ends.done.load(Ordering::SeqCst), 0);
}

/// How a function fails, and the outcome that its error has.
fn failure(call: impl FnOnce(*mut *mut ErrorObject) -> Status) -> (Status, String) {
    let mut error = null_mut();
    let status = call(&mut error);
    // SAFETY: the error is live until it is freed, and its text is read before.
    unsafe {
        let Str { ptr, len } = trunkline_error_outcome(error);
        let bytes = if len == 0 { &[] } else { std::slice::from_raw_parts(ptr.cast::<u8>(), len) };
        let outcome = String::from_utf8(bytes.to_vec()).unwrap();
        trunkline_error_free(error);
        (status, outcome)
    }
}

/// SPEC 5.12: in every form, and whatever is wrong. What sends nothing has no outcome.
#[test]
fn a_call_that_is_refused_was_not_sent() {
    let host = Host::new();
    let (pool, session) = (host.pool, host.session);
    let (t, odd) = (text("t"), Str { ptr: c"\xff".as_ptr(), len: 1 });
    let (mut buf, no_buf, no_op, nobody) = (null_mut(), null_mut(), null_mut(), null_mut());
    let (lease, done): (_, DoneFn) = (5, Some(note_done));
    // SAFETY: the pool is live, and the other pointers are NULL, to a local or to a constant.
    let failures = unsafe {
        [
            failure(|e| trunkline_lease_call_tool(pool, lease, odd, t, null(), &mut buf, e)),
            failure(|e| trunkline_lease_request(pool, lease, t, t, null(), no_buf, e)),
            failure(|e| {
                let options = null();
                trunkline_lease_request_start(
                    pool, lease, t, t, options, done, nobody, None, no_op, e,
                )
            }),
            failure(|e| {
                let queue = null_mut();
                trunkline_session_call_tool_enqueue(pool, session, t, t, null(), queue, 0, no_op, e)
            }),
            failure(|e| trunkline_lease_subscribe_resource(pool, lease, t, e)),
        ]
    };
    let expected = [
        (Status::InvalidArgument, "not_sent"),
        (Status::InvalidArgument, "not_sent"),
        (Status::BadHandle, "not_sent"),
        (Status::InvalidArgument, "not_sent"),
        (Status::BadHandle, ""),
    ];
    assert_eq!(failures, expected.map(|(status, outcome)| (status, outcome.to_owned())));
}

/// S-46, SPEC 16.2: 50,000 made-up handles reach every kind of function and harm nothing.
#[test]
fn made_up_handles_are_refused_by_every_function() {
    let host = Host::new();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..50_000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // Some differ from a live one in a single bit.
        let made_up = if round % 2 == 0 { state } else { host.session ^ 1 << (state % 64) };
        let (pool, mut buf, none) = (host.pool, null_mut(), null_mut());
        // SAFETY: the pool is live, and the pointers are to locals.
        let status = unsafe {
            match round % 7 {
                0 => trunkline_session_tools(pool, made_up, &mut buf, none),
                1 => trunkline_session_close(pool, made_up, 0, none),
                2 => trunkline_lease_release(pool, made_up, none),
                3 => trunkline_lease_describe(pool, made_up, &mut buf, none),
                4 => trunkline_op_cancel(pool, made_up, none),
                5 => trunkline_subscription_close(pool, made_up, none),
                _ => {
                    let tool = text("t");
                    trunkline_lease_call_tool(pool, made_up, tool, tool, null(), &mut buf, none)
                }
            }
        };
        assert!(status == Status::BadHandle && buf.is_null(), "{made_up:#x}: {status:?}");
    }
    let mut buf = null_mut();
    // SAFETY: the session is still live.
    unsafe {
        let status = trunkline_session_tools(host.pool, host.session, &mut buf, null_mut());
        assert_eq!(status, Status::Ok);
        trunkline_buf_free(buf);
    }
}
