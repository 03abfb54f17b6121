//! What reads and writes the host's pointers. Objects are found by `PoolObject::of` and
//! `QueueObject::of`, the options of a call by `call_options`.
//!
//! Every function here is unsafe for the same reason: a pointer that is not NULL must be what the
//! header says it is, for as long as the header says.

use std::ptr::NonNull;
use std::time::Duration;

use trunkline::{Error, ErrorCode, Result};

use crate::abi::types::{Str, TRUNKLINE_DEFAULT};

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
