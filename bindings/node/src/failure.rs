//! Errors on their way to JavaScript: one JSON text, from which `lib/errors.cjs` makes a `TrunklineError`.

use std::cell::RefCell;
use std::sync::Once;

use serde_json::Value;
use trunkline::{Error, ErrorCode, panics};

/// The `code` of a thrown JavaScript error whose message is the text of [`text`].
const MARK: &str = "TRUNKLINE";

/// What an exported function throws.
pub type Thrown = napi::Error<&'static str>;

/// What an exported function returns.
pub type Result<T> = std::result::Result<T, Thrown>;

/// The error as JSON text. It holds the call's arguments, which are for the caller alone.
pub fn text(error: &Error) -> String {
    let mut value = error.to_json();
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

thread_local! {
    /// The last panic of this thread, until somebody asks: what may be said of it, and where it was.
    static PANIC: RefCell<Option<(Option<&'static str>, String)>> = const { RefCell::new(None) };
}

/// Has panics noted, and no value in their words printed.
pub fn note_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        panics::report_without_values(|panic| {
            let place = panic.location().map(ToString::to_string).unwrap_or_default();
            let said = Some((panics::words(panic.payload()), place));
            // A thread that ends may have no place for it.
            let _ = PANIC.try_with(|last| last.replace(said));
            false
        });
    });
}

/// The error of the panic that this thread came out of last, once. What Node-API makes of a panic has its words, with their values.
pub fn panicked() -> Option<Error> {
    let (words, place) = PANIC.take()?;
    let words = words.unwrap_or("its place says where");
    Some(internal(format!("panicked: {words}")).with_detail("place", place))
}
