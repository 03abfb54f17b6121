//! A thread of the host that gets no further threads.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr::{from_ref, null_mut};

use trunkline_ffi::*;

use super::{Host, Tally, ignore_item, text};

thread_local! {
    /// Whether this thread gets no more.
    static DENIED: Cell<bool> = const { Cell::new(false) };
}

type Body = extern "C" fn(*mut c_void) -> *mut c_void;

type Create = unsafe extern "C" fn(
    *mut libc::pthread_t,
    *const libc::pthread_attr_t,
    Body,
    *mut c_void,
) -> c_int;

/// In place of the system's, for all of this process.
///
/// # Safety
/// As of the system's.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    body: Body,
    given: *mut c_void,
) -> c_int {
    if DENIED.get() {
        return libc::EAGAIN;
    }
    // SAFETY: the name ends with a zero.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, c"pthread_create".as_ptr()) };
    assert!(!found.is_null());
    // SAFETY: this is what the system has under that name.
    let create: Create = unsafe { std::mem::transmute::<*mut c_void, Create>(found) };
    // SAFETY: the caller's promises are handed on.
    unsafe { create(thread, attributes, body, given) }
}

/// A program that is not there, which the log says.
const MISSING: &str = "/no/such/program-of-this-test";

/// What one callback hears of the log.
#[derive(Default)]
struct Told {
    /// Of the program.
    starts: Tally,
    destroyed: Tally,
}

impl Told {
    fn user_data(&self) -> *mut c_void {
        from_ref(self).cast_mut().cast()
    }

    /// Has the log told to this one, from now on.
    fn begin(&self, level: &str) -> (Status, *mut LogsObject) {
        let mut logs = null_mut();
        // SAFETY: each test waits for the end of what it began.
        let status = unsafe {
            let (callback, destroy) = (Some(note_starts as _), Some(note_destroyed as _));
            let (user_data, out) = (self.user_data(), &mut logs);
            trunkline_logs_new(text(level), callback, user_data, destroy, out, null_mut())
        };
        (status, logs)
    }
}

unsafe extern "C" fn note_starts(told: *mut c_void, records: Str) {
    // SAFETY: the test passed it, and the text is there for this call.
    let (told, records) = unsafe {
        (&*told.cast::<Told>(), std::slice::from_raw_parts(records.ptr.cast(), records.len))
    };
    let records = std::str::from_utf8(records).unwrap();
    if records.contains(MISSING) {
        told.starts.up();
    }
}

unsafe extern "C" fn note_destroyed(told: *mut c_void) {
    // SAFETY: the test passed it.
    unsafe { &*told.cast::<Told>() }.destroyed.up();
}

/// SPEC 16.2, 16.7: what fails changes nothing.
#[test]
fn a_callback_of_the_log_that_gets_no_thread_takes_nobodys_place() {
    let (first, second) = (Told::default(), Told::default());
    let (status, logs) = first.begin("debug");
    assert_eq!(status, Status::Ok);
    DENIED.set(true);
    let refused = second.begin("error");
    DENIED.set(false);
    assert_eq!(refused, (Status::Limit, null_mut()));
    assert_eq!(second.begin("loud"), (Status::InvalidArgument, null_mut()));
    assert_eq!(*second.destroyed.0.lock().unwrap(), 2);
    let (host, config) = (Host::new(), format!(r#"{{"command":"{MISSING}"}}"#));
    // SAFETY: the function takes no user data.
    unsafe { host.start(&config, ignore_item, null_mut(), None, null_mut()) };
    assert!(first.starts.reaches(1));
    assert_eq!(*first.destroyed.0.lock().unwrap(), 0);
    // SAFETY: it is given up.
    unsafe { trunkline_logs_free(logs) };
    assert_eq!(*first.destroyed.0.lock().unwrap(), 1);
}
