//! The threads that run callbacks: what they may wait for, which signals reach them, and when a
//! close returns.

#[cfg(target_os = "linux")]
mod denied;

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use trunkline_ffi::*;

fn text(text: &str) -> Str {
    Str { ptr: text.as_ptr().cast(), len: text.len() }
}

/// A pool with a session.
struct Host {
    pool: *mut PoolObject,
    session: u64,
}

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

    /// Starts an acquire; its end, and the end of `user_data`, are told to these functions.
    ///
    /// # Safety
    /// `user_data` is what the functions take.
    unsafe fn start(
        &self,
        config: &str,
        done: unsafe extern "C" fn(*mut c_void, *mut Item),
        user_data: *mut c_void,
        destroy: DestroyFn,
        op: *mut u64,
    ) {
        // SAFETY: the pool is live, and the rest is the caller's.
        let status = unsafe {
            trunkline_session_acquire_start(
                self.pool,
                self.session,
                text("s"),
                text(config),
                text(""),
                Some(done),
                user_data,
                destroy,
                op,
                null_mut(),
            )
        };
        assert_eq!(status, Status::Ok);
    }

    /// Subscribes to everything.
    ///
    /// # Safety
    /// `user_data` is what the functions take.
    unsafe fn subscribe(
        &self,
        callback: unsafe extern "C" fn(*mut c_void, u32, Str),
        user_data: *mut c_void,
        destroy: DestroyFn,
    ) -> u64 {
        let mut subscription = 0;
        // SAFETY: the pool is live, and the rest is the caller's.
        let status = unsafe {
            let (every, none) = (TRUNKLINE_EVERY_EVENT, null_mut());
            let (out, err) = (&mut subscription, null_mut());
            trunkline_pool_subscribe(
                self.pool,
                every,
                Some(callback),
                user_data,
                destroy,
                out,
                none,
                err,
            )
        };
        assert_eq!(status, Status::Ok);
        subscription
    }

    /// Starts a program that never answers, which is an event.
    fn cause_event(&self) {
        // SAFETY: the callback takes no user data.
        unsafe { self.start(SILENT, ignore_item, null_mut(), None, null_mut()) };
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // SAFETY: the pool is this host's own.
        unsafe { trunkline_pool_free(self.pool) };
    }
}

const SILENT: &str = r#"{"command":"sleep","args":["60"]}"#;

/// A number that callbacks count up.
#[derive(Default)]
struct Tally(Mutex<usize>, Condvar);

impl Tally {
    fn up(&self) {
        *self.0.lock().unwrap() += 1;
        self.1.notify_all();
    }

    /// Whether it reached the number before a wait that is too long for any machine was over.
    fn reaches(&self, number: usize) -> bool {
        let count = self.0.lock().unwrap();
        let hang = Duration::from_secs(90);
        !self.1.wait_timeout_while(count, hang, |count| *count < number).unwrap().1.timed_out()
    }
}

unsafe extern "C" fn ignore_item(_: *mut c_void, _: *mut Item) {}

/// Where the events and the ends of one test's subscriptions are counted.
#[derive(Default)]
struct Counts {
    events: Tally,
    destroyed: Tally,
}

unsafe extern "C" fn count_event(counts: *mut c_void, _event: u32, _json: Str) {
    // SAFETY: the test passed its counts.
    unsafe { &*counts.cast::<Counts>() }.events.up();
}

unsafe extern "C" fn count_destroyed(counts: *mut c_void) {
    // SAFETY: the test passed its counts.
    unsafe { &*counts.cast::<Counts>() }.destroyed.up();
}

/// SPEC 16.2: the time that the servers took is not taken from the callbacks.
#[test]
fn a_close_that_was_late_still_waits_for_the_last_callbacks() {
    const SUBSCRIPTIONS: usize = 50;
    let (host, counts) = (Host::new(), Counts::default());
    let user_data = std::ptr::from_ref(&counts).cast_mut().cast();
    // SAFETY: the counts outlive the subscriptions: the close below waits for them.
    unsafe {
        for _ in 0..SUBSCRIPTIONS {
            host.subscribe(count_event, user_data, Some(count_destroyed));
        }
        host.start(SILENT, ignore_item, null_mut(), None, null_mut());
        assert!(counts.events.reaches(SUBSCRIPTIONS));
        assert_eq!(trunkline_pool_close(host.pool, 0, null_mut()), Status::Ok);
    }
    assert_eq!(*counts.destroyed.0.lock().unwrap(), SUBSCRIPTIONS);
}

/// One of two subscriptions, of two pools, whose callbacks end one another.
struct Side {
    pool: *mut PoolObject,
    other: AtomicU64,
    entered: *const Tally,
    ended: *const Tally,
}

unsafe extern "C" fn close_other(user_data: *mut c_void, _event: u32, _json: Str) {
    // SAFETY: the test passed a side, which outlives the subscriptions.
    unsafe {
        let side = &*user_data.cast::<Side>();
        (*side.entered).up();
        if (*side.entered).reaches(2) {
            trunkline_subscription_close(side.pool, side.other.load(Ordering::SeqCst), null_mut());
        }
    }
}

unsafe extern "C" fn note_side_ended(user_data: *mut c_void) {
    // SAFETY: the test passed a side.
    unsafe { (*(*user_data.cast::<Side>()).ended).up() };
}

/// I-18: neither waits for ever, though no single pool knows of both waits.
#[test]
fn callbacks_of_two_pools_may_unsubscribe_one_another() {
    let hosts = [Host::new(), Host::new()];
    let (entered, ended) = (Tally::default(), Tally::default());
    let side = |host: &Host| Side {
        pool: host.pool,
        other: AtomicU64::new(0),
        entered: &entered,
        ended: &ended,
    };
    let sides = [side(&hosts[1]), side(&hosts[0])];
    for (index, host) in hosts.iter().enumerate() {
        let user_data = std::ptr::from_ref(&sides[index]).cast_mut().cast();
        // SAFETY: the sides outlive the subscriptions: the test waits for both ends, or fails.
        let subscription = unsafe { host.subscribe(close_other, user_data, Some(note_side_ended)) };
        sides[1 - index].other.store(subscription, Ordering::SeqCst);
    }
    hosts.iter().for_each(Host::cause_event);
    if !ended.reaches(2) {
        // The callbacks still use what this test has.
        eprintln!("the callbacks wait for one another");
        std::process::abort();
    }
}

/// What the callbacks of a test saw of their threads' signal masks.
#[derive(Default)]
struct Masks {
    entered: Tally,
    seen: Mutex<Vec<(bool, bool)>>,
    destroyed: Tally,
}

impl Masks {
    /// Notes whether SIGTERM is blocked on this thread, and whether SIGSEGV is.
    fn note(&self) {
        // SAFETY: a mask of zeros is one; the call writes the thread's own.
        let blocked = unsafe {
            let mut mask = std::mem::zeroed();
            libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &mut mask);
            [libc::SIGTERM, libc::SIGSEGV].map(|signal| libc::sigismember(&mask, signal) == 1)
        };
        self.seen.lock().unwrap().push(blocked.into());
    }
}

unsafe extern "C" fn note_mask_of_completion(user_data: *mut c_void, _item: *mut Item) {
    // SAFETY: the test passed its masks.
    let masks = unsafe { &*user_data.cast::<Masks>() };
    masks.entered.up();
    // So that every callback has a thread of its own.
    masks.entered.reaches(4);
    masks.note();
}

unsafe extern "C" fn note_mask_of_event(user_data: *mut c_void, _event: u32, _json: Str) {
    // SAFETY: the test passed its masks.
    unsafe { &*user_data.cast::<Masks>() }.note();
}

unsafe extern "C" fn note_masks_destroyed(user_data: *mut c_void) {
    // SAFETY: the test passed its masks.
    unsafe { &*user_data.cast::<Masks>() }.destroyed.up();
}

/// I-22: the host's signals are not for threads of the library, but a fault of its own code in a
/// callback is.
#[test]
fn a_callback_runs_with_signals_blocked_but_for_faults() {
    let (host, masks) = (Host::new(), Masks::default());
    let user_data = std::ptr::from_ref(&masks).cast_mut().cast();
    // SAFETY: the masks outlive the callbacks: the test waits for every end.
    unsafe {
        host.subscribe(note_mask_of_event, user_data, Some(note_masks_destroyed));
        host.cause_event();
        for _ in 0..4 {
            let destroy = Some(note_masks_destroyed as unsafe extern "C" fn(*mut c_void));
            host.start(UNKNOWN, note_mask_of_completion, user_data, destroy, null_mut());
        }
        assert_eq!(trunkline_pool_close(host.pool, TRUNKLINE_DEFAULT, null_mut()), Status::Ok);
    }
    assert!(masks.destroyed.reaches(5));
    let seen = masks.seen.lock().unwrap();
    assert!(seen.len() > 4 && seen.iter().all(|seen| *seen == (true, false)), "{seen:?}");
}

unsafe extern "C" fn note_mask_of_frame(user_data: *mut c_void, _connection: u64, _frame: Str) {
    // SAFETY: the test passed its masks.
    let masks = unsafe { &*user_data.cast::<Masks>() };
    masks.note();
    masks.entered.up();
}

unsafe extern "C" fn note_mask_of_closed(user_data: *mut c_void, _connection: u64) {
    // SAFETY: the test passed its masks.
    unsafe { &*user_data.cast::<Masks>() }.note();
}

/// I-22: as of every other callback.
#[test]
fn a_provided_server_runs_with_signals_blocked_but_for_faults() {
    let (host, masks) = (Host::new(), Masks::default());
    let user_data = std::ptr::from_ref(&masks).cast_mut().cast();
    // SAFETY: the masks outlive the functions: the test waits for the end.
    unsafe {
        let provided = trunkline_session_provide(
            host.pool,
            host.session,
            text("s"),
            Some(note_mask_of_frame),
            Some(note_mask_of_closed),
            user_data,
            Some(note_masks_destroyed),
            null_mut(),
        );
        assert_eq!(provided, Status::Ok);
        host.start(UNKNOWN, ignore_item, null_mut(), None, null_mut());
        assert!(masks.entered.reaches(1));
    }
    drop(host);
    assert!(masks.destroyed.reaches(1));
    let seen = masks.seen.lock().unwrap();
    assert!(seen.len() > 1 && seen.iter().all(|seen| *seen == (true, false)), "{seen:?}");
}

/// A provided server that ends while an operation of another pool is under way.
#[derive(Default)]
struct Ending {
    asked: Tally,
    other_ended: Tally,
    /// Whether the other operation had ended meanwhile.
    seen: Mutex<Vec<bool>>,
    destroyed: Tally,
}

unsafe extern "C" fn note_asked(user_data: *mut c_void, _connection: u64, _frame: Str) {
    // SAFETY: the test passed its ending.
    unsafe { &*user_data.cast::<Ending>() }.asked.up();
}

unsafe extern "C" fn note_other_ended(user_data: *mut c_void, _item: *mut Item) {
    // SAFETY: the test passed its ending.
    unsafe { &*user_data.cast::<Ending>() }.other_ended.up();
}

unsafe extern "C" fn wait_for_other(user_data: *mut c_void) {
    // SAFETY: the test passed its ending.
    let ending = unsafe { &*user_data.cast::<Ending>() };
    let in_time = ending.other_ended.reaches(1);
    ending.seen.lock().unwrap().push(in_time);
    ending.destroyed.up();
}

/// A pool is closed and freed, or freed alone, while it has the provided server.
fn end_a_provided_server(is_closed: bool) {
    let (host, other, ending) = (Host::new(), Host::new(), Ending::default());
    let user_data = std::ptr::from_ref(&ending).cast_mut().cast();
    // SAFETY: the ending outlives the functions: this waits for the end.
    unsafe {
        let (pool, session, err) = (host.pool, host.session, null_mut());
        let receive = Some(note_asked as unsafe extern "C" fn(*mut c_void, u64, Str));
        let destroy = Some(wait_for_other as unsafe extern "C" fn(*mut c_void));
        let (name, closed) = (text("s"), None);
        let provided = trunkline_session_provide(
            pool, session, name, receive, closed, user_data, destroy, err,
        );
        assert_eq!(provided, Status::Ok);
        host.start(UNKNOWN, ignore_item, null_mut(), None, null_mut());
        assert!(ending.asked.reaches(1));
        if is_closed {
            assert_eq!(trunkline_pool_close(host.pool, 0, null_mut()), Status::Ok);
        }
        drop(host);
        other.start(UNKNOWN, note_other_ended, user_data, None, null_mut());
    }
    assert!(ending.destroyed.reaches(1));
    assert_eq!(*ending.seen.lock().unwrap(), [true]);
}

/// I-18, SPEC 16.2: whichever thread lets go of a provided server, the I/O thread or one of the
/// host's, its end holds up nobody.
#[test]
fn the_end_of_a_provided_server_may_block() {
    end_a_provided_server(false);
    end_a_provided_server(true);
}

/// No configuration: a server that the pool does not know.
const UNKNOWN: &str = "";
