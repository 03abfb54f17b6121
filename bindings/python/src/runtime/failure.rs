//! Errors as exceptions, and panics as errors.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::{IntoPyObjectExt, intern};
use serde_json::Value;
use trunkline::interface::{Dialect, ERRORS, ErrorRow};
use trunkline::{Error, ErrorCode, panics};

use crate::runtime::interpreter::{let_go, uncollected};

/// The exception of an error: an instance of a class of `trunkline._errors`.
///
/// It is made without a line of Python. An interpreter that ends has other threads end in the
/// middle of Python code. Before CPython 3.14 that is an unwind, which must meet no frame of Rust;
/// and at that end many a thread is told that its call is over.
pub fn exception(py: Python<'_>, error: &Error) -> PyErr {
    match uncollected(py, || instance(py, error)) {
        Ok(value) => PyErr::from_value(value),
        Err(failure) => failure,
    }
}

fn instance<'py>(py: Python<'py>, error: &Error) -> PyResult<Bound<'py, PyAny>> {
    let class = class_of(py, error.code())?;
    // Not by calling the class, whose `__init__` is Python.
    let code = error.code();
    let message = &*Dialect::Python.message(code, error.message());
    let hint = error.hint().map(|hint| Dialect::Python.hint(code, hint, error.detail()));
    let mut detail = error.detail().clone();
    Dialect::Python.spell_detail(code, &mut detail);
    let value = class.call_method1(intern!(py, "__new__"), (&class, message))?;
    value.setattr(intern!(py, "args"), (message,))?;
    value.setattr(intern!(py, "code"), code.name())?;
    value.setattr(intern!(py, "message"), message)?;
    value.setattr(intern!(py, "server"), error.server())?;
    value.setattr(intern!(py, "session"), error.session())?;
    value.setattr(intern!(py, "retryable"), error.is_retryable())?;
    value.setattr(intern!(py, "outcome"), error.outcome().map(|outcome| outcome.as_str()))?;
    value.setattr(intern!(py, "hint"), hint.as_deref())?;
    if let Some(hint) = hint {
        // What `add_note` adds (PEP 678): tracebacks show it, from Python 3.11 on.
        value.setattr(intern!(py, "__notes__"), [format!("hint: {hint}")])?;
    }
    value.setattr(intern!(py, "_detail_text"), Value::Object(detail).to_string())?;
    value.setattr(intern!(py, "_arguments_text"), error.arguments())?;
    if let Some(cause) = error.cause() {
        value.setattr(intern!(py, "__cause__"), instance(py, cause)?)?;
    }
    Ok(value)
}

/// The class for a code.
fn class_of(py: Python<'_>, code: ErrorCode) -> PyResult<Bound<'_, PyAny>> {
    static CLASSES: PyOnceLock<Vec<(ErrorCode, Py<PyAny>)>> = PyOnceLock::new();
    let classes = CLASSES.get_or_try_init(py, || {
        let module = py.import("trunkline._errors")?;
        let class = |row: &ErrorRow| Ok((row.code, module.getattr(row.python_class)?.unbind()));
        ERRORS.iter().map(class).collect::<PyResult<_>>()
    })?;
    let found = classes.iter().find(|(known, _)| *known == code);
    let (_, class) = found.ok_or_else(|| PyRuntimeError::new_err(code.name()))?;
    Ok(class.bind(py).clone())
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
}

/// Lets panics inside a guard be seen in its error alone; others are reported as before.
pub fn quiet_guarded_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        panics::report_without_values(|| GUARDS.get() > 0);
    });
}

/// Runs what a method does while the collector waits; a panic becomes `InternalError` with the
/// place.
pub fn guarded<T: Simple>(run: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    Python::attach(|py| constructed(py, run))
}

/// Like [`guarded`], for constructors. PyO3 makes the object after this returns, so the package
/// calls constructors through `construct`, which has a guard of its own.
pub fn constructed<T>(py: Python<'_>, run: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let_go(py);
    uncollected(py, || {
        GUARDS.set(GUARDS.get() + 1);
        let outcome = catch_unwind(AssertUnwindSafe(run));
        GUARDS.set(GUARDS.get() - 1);
        let outcome = outcome.unwrap_or_else(|payload| Err(exception(py, &fault(payload))));
        // An exception is made when it is first looked at.
        outcome.inspect_err(|error| {
            error.value(py);
        })
    })
}

/// Return types of [`guarded`] whose conversion to Python allocates nothing that the collector
/// watches.
pub trait Simple {}

macro_rules! simple {
    ($($what:ty),*) => { $(impl Simple for $what {})* };
}

simple!((), bool, u8, i32, String, &str);
impl<T: Simple> Simple for Option<T> {}

impl<T> Simple for Py<T> {}

/// The value as Python has it, for the way out of [`guarded`].
pub fn made<'py, T: IntoPyObject<'py>>(py: Python<'py>, value: T) -> PyResult<Py<PyAny>> {
    value.into_py_any(py)
}

fn fault(payload: Box<dyn Any + Send>) -> Error {
    let error = panics::last()
        .unwrap_or_else(|| Error::new(ErrorCode::Internal, "panicked: nobody noted where"));
    // The payload's own destructor may panic as well; there is nothing more to say then.
    let _ = catch_unwind(AssertUnwindSafe(move || drop(payload)));
    error
}
