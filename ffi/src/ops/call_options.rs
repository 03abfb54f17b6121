//! The options of a call.

use std::mem::{offset_of, size_of};
use std::time::Duration;

use trunkline::{CallOptions, Error, ErrorCode, Operation, Progress, Result, Retry, ToolFormat};

use crate::abi::raw;
use crate::abi::types::CallOptionsStruct;
use crate::delivery::completion::Completion;

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
            unsafe { raw::write_optional(self.out_call, number) };
        }
        operation
    }
}

/// The options of a call; NULL is all defaults.
///
/// # Safety
/// `options` is NULL or points to as many bytes as its `struct_size` says, and `meta_json` is as of
/// [`raw::text`].
pub(crate) unsafe fn call_options(options: *const CallOptionsStruct) -> Result<CallSettings> {
    if options.is_null() {
        let options = CallOptions::default();
        return Ok(CallSettings { options, out_call: std::ptr::null_mut() });
    }
    // SAFETY: `struct_size` is the first field of every version.
    let size = unsafe { options.cast::<usize>().read_unaligned() };
    if !(size_of::<CallOptionsStruct>()..=STRUCT_SIZE_MAX).contains(&size) {
        let message = format!("struct_size is {size}, which no version of the struct has");
        return Err(raw::invalid("options.struct_size", message));
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
    typed.progress = match raw::switch(known.progress, "progress")? {
        false => Progress::Off,
        true => Progress::On,
    };
    typed.retry = match known.retry {
        0 => Retry::Never,
        1 => Retry::NotSent,
        2 => Retry::Safe,
        other => return Err(raw::invalid("retry", format!("retry is {other}, not 0, 1 or 2"))),
    };
    typed.wait = raw::switch(known.wait, "wait")?;
    typed.shape = match known.shape {
        0 => None,
        number => Some(shape(number)?),
    };
    typed.unlisted = raw::switch(known.unlisted, "unlisted")?;
    // SAFETY: as the function's own.
    let meta = unsafe { raw::optional_text(known.meta_json, "options.meta_json") }?;
    typed.meta = meta.map(str::to_owned);
    Ok(CallSettings { options: typed, out_call: known.out_call })
}

/// The shape of a number, which is its place among all of them, from 1.
fn shape(number: u32) -> Result<ToolFormat> {
    let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    place.and_then(|place| ToolFormat::ALL.get(place)).copied().ok_or_else(|| {
        raw::invalid("shape", format!("shape is {number}, not 0 to {}", ToolFormat::ALL.len()))
    })
}

fn milliseconds(value: u64) -> Option<Duration> {
    (value != 0).then(|| Duration::from_millis(value))
}

/// A size above this is a mistake of the caller: no options struct will ever come near it.
const STRUCT_SIZE_MAX: usize = 4096;

// The size is found by its place, before anything else is known of the struct.
const _: () = assert!(offset_of!(CallOptionsStruct, struct_size) == 0);
