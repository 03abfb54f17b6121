//! Errors as exceptions, and panics as errors.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use trunkline::{Error, ErrorCode};

/// The exception of an error: an instance of a class of `trunkline._errors`.
pub fn exception(py: Python<'_>, error: &Error) -> PyErr {
    static BUILD: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let text = error.to_json().to_string();
    let built = BUILD
        .import(py, "trunkline._errors", "from_json")
        .and_then(|build| build.call1((text, error.arguments())));
    match built {
        Ok(value) => PyErr::from_value(value),
        Err(failure) => failure,
    }
}

/// [`exception`] for the `?` operator, on a thread that runs Python.
pub trait OrRaise<T> {
    /// The value, or the exception of the error.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for trunkline::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| exception(py, &error))
    }
}

thread_local! {
    /// How many guards this thread is inside of.
    static GUARDS: Cell<u32> = const { Cell::new(0) };
    /// Where the panic happened that a guard is about to catch.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Lets panics inside a guard be seen in its error alone; others are reported as before.
pub fn quiet_guarded_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if GUARDS.get() == 0 {
                before(panic);
            } else {
                PLACE.set(panic.location().map(|place| place.to_string()));
            }
        }));
    });
}

/// Runs it; a panic becomes `InternalError` with the place.
pub fn guarded<T>(run: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    GUARDS.set(GUARDS.get() + 1);
    let outcome = catch_unwind(AssertUnwindSafe(run));
    GUARDS.set(GUARDS.get() - 1);
    outcome.unwrap_or_else(|payload| Err(Python::attach(|py| exception(py, &fault(payload)))))
}

fn fault(payload: Box<dyn Any + Send>) -> Error {
    let message = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (None, Some(text)) => text.clone(),
        (None, None) => "no message".to_owned(),
    };
    // The payload's own destructor may panic as well; there is nothing more to say then.
    let _ = catch_unwind(AssertUnwindSafe(move || drop(payload)));
    let error = Error::new(ErrorCode::Internal, format!("panicked: {message}"));
    match PLACE.take() {
        Some(place) => error.with_detail("place", place),
        None => error,
    }
}
