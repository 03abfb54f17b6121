//! Errors on their way to JavaScript: one JSON text, from which `lib/errors.cjs` makes a
//! `TrunklineError`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use serde_json::Value;
use trunkline::interface::Dialect;
use trunkline::{Error, ErrorCode, panics};

/// The `code` of a thrown JavaScript error whose message is the text of [`text`].
const MARK: &str = "TRUNKLINE";

/// What an exported function throws.
pub type Thrown = napi::Error<&'static str>;

/// What an exported function returns.
pub type Result<T> = std::result::Result<T, Thrown>;

/// The error as JSON text, as JavaScript spells it. It holds the call's arguments, which are for
/// the caller alone.
pub fn text(error: &Error) -> String {
    let mut value = error.to_json();
    Dialect::Node.spell_error(&mut value);
    if let Some(arguments) = error.arguments() {
        value["arguments"] = Value::from(arguments);
    }
    value.to_string()
}

/// An error of the library as a JavaScript exception.
pub fn thrown(error: Error) -> Thrown {
    napi::Error::new(MARK, text(&error))
}

/// A failure of Node-API itself.
pub fn of_node(error: napi::Error) -> Thrown {
    thrown(internal(format!("node-api: {}", error.reason)))
}

/// A fault of the library.
pub fn internal(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::Internal, message)
}

/// Has panics noted, and no value in their words printed.
pub fn note_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        panics::report_without_values(|| false);
    });
}

/// Runs what Node or libuv calls by pointer, where unwinding would be undefined; none when it
/// panicked, which is nobody's error any more.
pub fn contained<T>(work: impl FnOnce() -> T) -> Option<T> {
    let outcome = catch_unwind(AssertUnwindSafe(work));
    outcome.inspect_err(|_| drop(panics::last())).ok()
}
