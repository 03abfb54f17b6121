//! What the library logs, for a callback of the host.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use trunkline::{LogFeed, Result, start_callback_thread};

use crate::abi::error::ErrorObject;
use crate::abi::guard::{check_fork, forks, guard, in_callback, prepare_process};
use crate::abi::raw;
use crate::abi::types::{DestroyFn, LogFn, Status, Str};
use crate::abi::user_data::UserData;
use crate::delivery::signal::Signal;
use crate::handles::callback_tracker::no_thread;

/// What the library logs, while it is told to a callback.
pub struct LogsObject {
    forks: u32,
    feed: Arc<LogFeed>,
    signal: Arc<Signal>,
}

/// Has what the library logs told to `callback`, in batches, on a thread of its own, from `level`
/// on: `error`, `warn`, `info`, `debug` or `trace`. 4096 records wait for it at most, and one says
/// how many were dropped. Nothing is logged without it. It needs no pool, and outlives pools.
///
/// One callback of the process has the records: another `trunkline_logs_new` takes its place, and
/// the one before is told what was logged until then. One that fails takes nobody's place.
///
/// `out`: free it with `trunkline_logs_free`. It is written before the first call of `callback`.
///
/// Errors: `INVALID_ARGUMENT`, `LIMIT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_logs_new(
    level: Str,
    callback: LogFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out: *mut *mut LogsObject,
    err: *mut *mut ErrorObject,
) -> Status {
    let user_data = UserData::new(user_data, destroy);
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            prepare_process();
            if callback.is_none() {
                return Err(raw::invalid("callback", "callback is NULL"));
            }
            let (level, out) = (raw::text(level, "level")?, raw::out(out, "out")?);
            start(level, callback, user_data, |logs| out.write(Box::into_raw(Box::new(logs))))
        })
    }
}

/// Ends it, once the callback was told what was logged so far. When it returns, no callback runs or
/// will, and `destroy` has been called; from inside the callback it returns at once, and that
/// callback is the last one. NULL is fine. In a forked child the parent's is left alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_logs_free(logs: *mut LogsObject) {
    // SAFETY: the caller passes NULL or what `trunkline_logs_new` gave, and gives it up.
    unsafe {
        guard(std::ptr::null_mut(), || {
            if logs.is_null() || check_fork((*logs).forks).is_err() {
                return Ok(());
            }
            let LogsObject { feed, signal, .. } = *Box::from_raw(logs);
            feed.end();
            if signal.is_current() {
                signal.stop();
            }
            signal.wait_until_finished();
            Ok(())
        });
    }
}

/// Records that the host is told at once.
const BATCH: usize = 256;

/// Nothing is told before `give` has returned.
fn start(
    level: &str,
    callback: LogFn,
    user_data: UserData,
    give: impl FnOnce(LogsObject),
) -> Result<()> {
    let signal = Arc::new(Signal::default());
    let (given, is_given) = sync_channel::<(Arc<LogFeed>, UserData)>(1);
    let our_signal = signal.clone();
    let body = move || {
        // Nothing comes where the log could not be had, or the host is gone.
        let Ok((feed, user_data)) = is_given.recv() else { return };
        our_signal.begin();
        tell(&feed, &our_signal, callback, &user_data);
        drop(user_data);
        our_signal.finish();
    };
    // Before the feed, which takes the place of another.
    start_callback_thread("trunkline-logs", body).map_err(no_thread)?;
    let woken = signal.clone();
    let feed = Arc::new(LogFeed::start(level, move || woken.wake())?);
    give(LogsObject { forks: forks(), feed: feed.clone(), signal });
    let _ = given.send((feed, user_data));
    Ok(())
}

/// Tells what comes until the feed has ended, or its callback has ended it.
fn tell(feed: &LogFeed, signal: &Signal, callback: LogFn, user_data: &UserData) {
    let Some(callback) = callback else { return };
    while !feed.is_ended() {
        let records = feed.take(BATCH);
        if records.is_empty() {
            signal.wait_until_woken();
            continue;
        }
        let text = format!("[{}]", records.join(","));
        // SAFETY: the host gave the function for this pointer, and the text outlives the call.
        in_callback(|| unsafe { callback(user_data.pointer, Str::of(&text)) });
        if signal.is_stopped() {
            break;
        }
    }
}
