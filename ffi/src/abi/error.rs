//! Error objects and their accessors.

use std::sync::OnceLock;

use trunkline::{Error, Outcome};

use crate::abi::panic_guard::guarded;
use crate::abi::types::{Status, Str};

/// Why something failed. The host owns what it was given through an `err` parameter or a queue's
/// item, and frees it with `trunkline_error_free`. Any thread may read it, several at a time. Texts
/// and causes that its functions give are good until it is freed. No message, detail or hint ever
/// holds an environment value, a header, a token or an argument.
pub struct ErrorObject {
    error: Error,
    detail: OnceLock<String>,
    json: OnceLock<String>,
    cause: OnceLock<Option<Box<ErrorObject>>>,
}

impl ErrorObject {
    pub(crate) fn new(error: Error) -> ErrorObject {
        let (detail, json, cause) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        ErrorObject { error, detail, json, cause }
    }

    /// The pointer that the host will free.
    pub(crate) fn into_raw(self) -> *mut ErrorObject {
        Box::into_raw(Box::new(self))
    }
}

/// Reads one text of an error; the empty text when there is no error.
///
/// # Safety
/// `error` is NULL or an error that is not freed while the text is in use.
unsafe fn read<'a>(
    error: *const ErrorObject,
    part: impl FnOnce(&'a ErrorObject) -> Option<&'a str>,
) -> Str {
    // SAFETY: as the function's own.
    let error = unsafe { error.as_ref() };
    guarded(Str::EMPTY, || error.and_then(part).map_or(Str::EMPTY, Str::of))
}

/// The status number of an error. Of NULL: `TRUNKLINE_STATUS_OK`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_error_code(error: *const ErrorObject) -> Status {
    // SAFETY: the caller passes NULL or an error that it has not freed.
    let error = unsafe { error.as_ref() };
    guarded(Status::Internal, || error.map_or(Status::Ok, |error| error.error.code().into()))
}

/// The stable name of the error's code, such as `tool_not_found`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_error_name(error: *const ErrorObject) -> Str {
    // SAFETY: the caller passes NULL or an error that it has not freed.
    unsafe { read(error, |error| Some(error.error.code().name())) }
}

/// What went wrong, in a sentence for people.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_error_message(error: *const ErrorObject) -> Str {
    // SAFETY: the caller passes NULL or an error that it has not freed.
    unsafe { read(error, |error| Some(error.error.message())) }
}

/// The server that it is about; empty when it is about none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_error_server(error: *const ErrorObject) -> Str {
    // SAFETY: the caller passes NULL or an error that it has not freed.
    unsafe { read(error, |error| error.error.server()) }
}

/// The session that it is about; empty when it is about none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_error_session(error: *const ErrorObject) -> Str {
    // SAFETY: the caller passes NULL or an error that it has not freed.
    unsafe { read(error, |error| error.error.session()) }
}

/// Whether the same operation may succeed later without a change by the user.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_error_retryable(error: *const ErrorObject) -> bool {
    // SAFETY: the caller passes NULL or an error that it has not freed.
    let error = unsafe { error.as_ref() };
    guarded(false, || error.is_some_and(|error| error.error.is_retryable()))
}

/// For calls: `not_sent` (the server has not seen it) or `unknown` (it may have run). Empty
/// otherwise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_error_outcome(error: *const ErrorObject) -> Str {
    // SAFETY: the caller passes NULL or an error that it has not freed.
    unsafe { read(error, |error| error.error.outcome().map(Outcome::as_str)) }
}

/// Particulars for programs: the text of a JSON object, `{}` when there are none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_error_detail(error: *const ErrorObject) -> Str {
    let detail = |error: &ErrorObject| {
        serde_json::to_string(error.error.detail()).unwrap_or_else(|_| "{}".to_owned())
    };
    // SAFETY: the caller passes NULL or an error that it has not freed.
    unsafe { read(error, |error| Some(error.detail.get_or_init(|| detail(error)))) }
}

/// What the user can do about it: what the error says itself, else the advice of its reason or its
/// code. Empty for no error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_error_hint(error: *const ErrorObject) -> Str {
    // SAFETY: the caller passes NULL or an error that it has not freed.
    unsafe { read(error, |error| error.error.hint()) }
}

/// The arguments of the tool's call that was interrupted (`TRUNKLINE_STATUS_CALL_INTERRUPTED`), as
/// JSON text, for the caller alone: they are in no other text of the error. Empty for every other
/// error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_error_arguments(error: *const ErrorObject) -> Str {
    // SAFETY: the caller passes NULL or an error that it has not freed.
    unsafe { read(error, |error| error.error.arguments()) }
}

/// Everything but the arguments as the text of one JSON object: `{code, number, message, retryable,
/// server?, session?, outcome?, hint?, cause?, detail}`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_error_json(error: *const ErrorObject) -> Str {
    let json = |error: &ErrorObject| error.error.to_json().to_string();
    // SAFETY: the caller passes NULL or an error that it has not freed.
    unsafe { read(error, |error| Some(error.json.get_or_init(|| json(error)))) }
}

/// The error that led to this one; NULL when there is none. It belongs to this one: do not free it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_error_cause(error: *const ErrorObject) -> *const ErrorObject {
    let cause = |error: &ErrorObject| {
        error.error.cause().map(|cause| Box::new(ErrorObject::new(cause.clone())))
    };
    // SAFETY: the caller passes NULL or an error that it has not freed.
    let error = unsafe { error.as_ref() };
    guarded(std::ptr::null(), || {
        error
            .and_then(|error| error.cause.get_or_init(|| cause(error)).as_deref())
            .map_or(std::ptr::null(), std::ptr::from_ref)
    })
}

/// Frees an error, and its causes with it. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_error_free(error: *mut ErrorObject) {
    if !error.is_null() {
        // SAFETY: it came from `into_raw`, and the caller gives it up.
        let error = unsafe { Box::from_raw(error) };
        guarded((), || drop(error));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::guard::prepare_process;

    /// SPEC 16.2, I-18: the text of a part is made when it is asked for, and has no place for an
    /// error.
    #[test]
    fn a_part_that_panics_is_empty_and_its_error_stays_readable() {
        prepare_process();
        let error = ErrorObject::new(Error::new(trunkline::ErrorCode::Closed, "over")).into_raw();
        // SAFETY: it came from `into_raw` and is freed last.
        unsafe {
            let part = read(error, |_| panic!("amid the text"));
            assert_eq!((part.len, part.ptr), (0, Str::EMPTY.ptr));
            assert_eq!(trunkline_error_message(error).len, "over".len());
            trunkline_error_free(error);
        }
    }
}
