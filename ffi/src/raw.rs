//! The one place that reads and writes the host's pointers.
//!
//! Every function here is unsafe for the same reason: a pointer that is not NULL must be what the
//! header says it is, for as long as the header says.

use std::mem::{offset_of, size_of};
use std::ptr::NonNull;
use std::time::Duration;

use trunkline::{CallOptions, Error, ErrorCode, Operation, Progress, Result, Retry, Shape};

use crate::completion::Completion;
use crate::guard::check_fork;
use crate::pool::PoolObject;
use crate::queue::{Queue, QueueObject};
use crate::types::{CallOptionsStruct, Str, TRUNKLINE_DEFAULT};

/// The `invalid_argument` error of a parameter or member.
pub(crate) fn invalid(path: &str, message: impl Into<String>) -> Error {
    Error::new(ErrorCode::InvalidArgument, message).with_detail("path", path)
}

/// The host's text.
///
/// # Safety
/// `text.ptr` is NULL or points to `text.len` bytes that stay unchanged while the result is in use.
pub(crate) unsafe fn text<'a>(text: Str, path: &str) -> Result<&'a str> {
    if text.len == 0 {
        return Ok("");
    }
    if text.ptr.is_null() {
        return Err(invalid(path, format!("{path} is NULL with a length")));
    }
    if text.len > isize::MAX as usize {
        return Err(invalid(path, format!("{path} is longer than memory can be")));
    }
    // SAFETY: not NULL, of a possible length, and readable, says the caller.
    let bytes = unsafe { std::slice::from_raw_parts(text.ptr.cast::<u8>(), text.len) };
    std::str::from_utf8(bytes).map_err(|error| {
        invalid(path, format!("{path} is not UTF-8")).with_detail("offset", error.valid_up_to())
    })
}

/// [`text`], and the empty text is none.
///
/// # Safety
/// As of [`text`].
pub(crate) unsafe fn optional_text<'a>(text: Str, path: &str) -> Result<Option<&'a str>> {
    // SAFETY: as the function's own.
    let text = unsafe { self::text(text, path) }?;
    Ok((!text.is_empty()).then_some(text))
}

/// A place for a result, which must be there.
pub(crate) fn out<T>(place: *mut T, path: &str) -> Result<Out<T>> {
    match NonNull::new(place) {
        Some(place) => Ok(Out(place)),
        None => Err(invalid(path, format!("{path} is NULL"))),
    }
}

/// A place for a result that is not NULL.
pub(crate) struct Out<T>(NonNull<T>);

impl<T> Out<T> {
    /// Writes the result.
    ///
    /// # Safety
    /// The host's pointer may be written.
    pub(crate) unsafe fn write(self, value: T) {
        // SAFETY: not NULL, and writable, says the caller.
        unsafe { self.0.write(value) }
    }
}

/// Writes a result that the host may not want.
///
/// # Safety
/// `place` is NULL or may be written.
pub(crate) unsafe fn write_optional<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: not NULL, and writable, says the caller.
        unsafe { place.write(value) }
    }
}

/// The host's pool, if it belongs to this process.
///
/// # Safety
/// `pool` is NULL or a pool that is not freed while the result is in use.
pub(crate) unsafe fn pool<'a>(pool: *const PoolObject) -> Result<&'a PoolObject> {
    // SAFETY: as the function's own.
    let pool = unsafe { pool.as_ref() }.ok_or_else(|| invalid("pool", "pool is NULL"))?;
    check_fork(pool.forks)?;
    Ok(pool)
}

/// The host's queue, if it belongs to this process.
///
/// # Safety
/// `queue` is NULL or a queue that is not freed while the result is in use.
pub(crate) unsafe fn queue<'a>(queue: *const QueueObject) -> Result<&'a std::sync::Arc<Queue>> {
    // SAFETY: as the function's own.
    let queue = unsafe { queue.as_ref() }.ok_or_else(|| invalid("queue", "queue is NULL"))?;
    check_fork(queue.forks)?;
    Ok(&queue.queue)
}

/// The options of a call, and where its number goes.
pub(crate) struct CallSettings {
    options: CallOptions,
    out_call: *mut u64,
}

impl CallSettings {
    /// The options of a call that ends there.
    pub(crate) fn options(&self, completion: &Completion) -> CallOptions {
        let mut options = self.options.clone();
        options.reads_here = completion.is_waited_for();
        options
    }

    /// Tells the host the number of the call that was started, and passes the operation on.
    ///
    /// # Safety
    /// The host's options are still as they were when they were read.
    pub(crate) unsafe fn tell_number(&self, operation: Operation) -> Operation {
        if let Some(number) = operation.call_number() {
            // SAFETY: NULL or writable, says the caller.
            unsafe { write_optional(self.out_call, number) };
        }
        operation
    }
}

/// The options of a call; NULL is all defaults.
///
/// # Safety
/// `options` is NULL or points to as many bytes as its `struct_size` says, and `meta_json` is as of
/// [`text`].
pub(crate) unsafe fn call_options(options: *const CallOptionsStruct) -> Result<CallSettings> {
    if options.is_null() {
        let options = CallOptions::default();
        return Ok(CallSettings { options, out_call: std::ptr::null_mut() });
    }
    // SAFETY: `struct_size` is the first field of every version.
    let size = unsafe { options.cast::<usize>().read_unaligned() };
    if !(size_of::<CallOptionsStruct>()..=STRUCT_SIZE_MAX).contains(&size) {
        let message = format!("struct_size is {size}, which no version of the struct has");
        return Err(invalid("options.struct_size", message));
    }
    // SAFETY: the caller vouches for `struct_size` bytes, which are at least those of the struct.
    let known = unsafe { options.read_unaligned() };
    // SAFETY: the caller vouches for `struct_size` bytes.
    let bytes = unsafe { std::slice::from_raw_parts(options.cast::<u8>(), size) };
    if bytes[size_of::<CallOptionsStruct>()..].iter().any(|byte| *byte != 0) {
        let message = "a field is set that this version of the library does not know";
        return Err(Error::new(ErrorCode::UnknownOption, message)
            .with_detail("option", size_of::<CallOptionsStruct>())
            .with_detail("path", "options"));
    }
    let (timeout, idle) = (milliseconds(known.timeout_ms), milliseconds(known.idle_timeout_ms));
    let mut typed = CallOptions::default().with_times(timeout, idle)?;
    // The paths are the options' names in all languages.
    typed.progress = match switch(known.progress, "progress")? {
        false => Progress::Off,
        true => Progress::On,
    };
    typed.retry = match known.retry {
        0 => Retry::Never,
        1 => Retry::NotSent,
        2 => Retry::Safe,
        other => return Err(invalid("retry", format!("retry is {other}, not 0, 1 or 2"))),
    };
    typed.wait = switch(known.wait, "wait")?;
    typed.shape = match known.shape {
        0 => None,
        number => Some(shape(number)?),
    };
    typed.unlisted = switch(known.unlisted, "unlisted")?;
    // SAFETY: as the function's own.
    let meta = unsafe { optional_text(known.meta_json, "options.meta_json") }?;
    typed.meta = meta.map(str::to_owned);
    Ok(CallSettings { options: typed, out_call: known.out_call })
}

/// The shape of a number, which is its place among all of them, from 1.
fn shape(number: u32) -> Result<Shape> {
    let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    place.and_then(|place| Shape::ALL.get(place)).copied().ok_or_else(|| {
        invalid("shape", format!("shape is {number}, not 0 to {}", Shape::ALL.len()))
    })
}

/// A number of the host that stands for off or on.
pub(crate) fn switch(value: u32, path: &str) -> Result<bool> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(invalid(path, format!("{path} is {other}, not 0 or 1"))),
    }
}

/// A time of the host, unless it leaves it to the library.
pub(crate) fn optional_time(milliseconds: u64) -> Option<Duration> {
    (milliseconds != TRUNKLINE_DEFAULT).then(|| Duration::from_millis(milliseconds))
}

fn milliseconds(value: u64) -> Option<Duration> {
    (value != 0).then(|| Duration::from_millis(value))
}

/// A size above this is a mistake of the caller: no options struct will ever come near it.
const STRUCT_SIZE_MAX: usize = 4096;

// The size is found by its place, before anything else is known of the struct.
const _: () = assert!(offset_of!(CallOptionsStruct, struct_size) == 0);
