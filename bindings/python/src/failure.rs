//! Errors as exceptions, and panics as errors.

use std::any::Any;
use std::borrow::Cow;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use pyo3::{ffi, intern};
use serde_json::{Map, Value};
use trunkline::interface::{ERRORS, ErrorRow, Names, python_name, spelled, spelled_path};
use trunkline::{Error, ErrorCode, panics};

/// The exception of an error: an instance of a class of `trunkline._errors`.
///
/// It is made without a line of Python. An interpreter that ends has other threads end in the middle of Python code, before CPython 3.14
/// by an unwind that no frame of Rust may be in the way of; and at that end many a thread is told that its call is over.
pub fn exception(py: Python<'_>, error: &Error) -> PyErr {
    match instance(py, error) {
        Ok(value) => PyErr::from_value(value),
        Err(failure) => failure,
    }
}

fn instance<'py>(py: Python<'py>, error: &Error) -> PyResult<Bound<'py, PyAny>> {
    let class = class_of(py, error.code())?;
    // Not by calling the class, whose `__init__` is Python.
    let message = &*in_python(error.message(), error.code().names() == Names::Options);
    let hint = error.hint().map(|hint| in_python(hint, hints_at_options(error)));
    let value = class.call_method1(intern!(py, "__new__"), (&class, message))?;
    value.setattr(intern!(py, "args"), (message,))?;
    value.setattr(intern!(py, "code"), error.code().name())?;
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
    value.setattr(intern!(py, "_detail_text"), Value::Object(detail(error)).to_string())?;
    value.setattr(intern!(py, "_arguments_text"), error.arguments())?;
    if let Some(cause) = error.cause() {
        value.setattr(intern!(py, "__cause__"), instance(py, cause)?)?;
    }
    Ok(value)
}

/// Its particulars, with the option that they name as Python spells it.
fn detail(error: &Error) -> Map<String, Value> {
    let mut detail = error.detail().clone();
    let named: &[&str] = match error.code() {
        ErrorCode::InvalidArgument => &["path"],
        ErrorCode::UnknownOption => &["option", "nearest"],
        _ => &[],
    };
    for member in named {
        if let Some(Value::String(path)) = detail.get_mut(*member) {
            *path = spelled_path(path, |name| python_name(name).to_owned());
        }
    }
    detail
}

/// Whether its hint names options: what is nearest to no option is the name of a server or a tool.
fn hints_at_options(error: &Error) -> bool {
    let is_near = error.detail().contains_key("nearest");
    error.code().names() != Names::Files && (!is_near || error.code() == ErrorCode::UnknownOption)
}

/// A text of an error, with its options as Python spells them where it names any.
fn in_python(text: &str, has_options: bool) -> Cow<'_, str> {
    match text.contains("_ms") && has_options {
        true => spelled(text, |name| python_name(name).to_owned()).into(),
        false => text.into(),
    }
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

/// Runs it; a panic becomes `InternalError` with the place.
pub fn guarded<T>(run: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    GUARDS.set(GUARDS.get() + 1);
    let outcome = catch_unwind(AssertUnwindSafe(run));
    GUARDS.set(GUARDS.get() - 1);
    outcome.unwrap_or_else(|payload| Err(Python::attach(|py| exception(py, &fault(payload)))))
}

/// Calls a function of Python.
///
/// An interpreter that ends meanwhile has other threads than its own end there, before CPython 3.14 by an unwind, which would run destructors that are
/// not to run then, and abort the process: instead a thread waits here for the end of the process, as it does from 3.14 on.
pub fn call_python(function: &Bound<'_, PyAny>, arguments: Bound<'_, PyTuple>) -> PyResult<()> {
    unsafe extern "C-unwind" {
        fn PyObject_CallObject(
            function: *mut ffi::PyObject,
            arguments: *mut ffi::PyObject,
        ) -> *mut ffi::PyObject;
    }
    struct Stays;
    impl Drop for Stays {
        fn drop(&mut self) {
            loop {
                std::thread::park();
            }
        }
    }
    let (py, arguments) = (function.py(), arguments.into_ptr());
    let stays = Stays;
    // SAFETY: both live through the call, on a thread that is attached. An unwind ends in `stays`, the only thing here with a destructor.
    let returned = unsafe { PyObject_CallObject(function.as_ptr(), arguments) };
    std::mem::forget(stays);
    // SAFETY: this is the reference that `into_ptr` gave out.
    drop(unsafe { Bound::from_owned_ptr(py, arguments) });
    // SAFETY: the reference is new, or there is none and an exception is set.
    unsafe { Bound::from_owned_ptr_or_err(py, returned) }.map(drop)
}

fn fault(payload: Box<dyn Any + Send>) -> Error {
    let error = panics::last()
        .unwrap_or_else(|| Error::new(ErrorCode::Internal, "panicked: nobody noted where"));
    // The payload's own destructor may panic as well; there is nothing more to say then.
    let _ = catch_unwind(AssertUnwindSafe(move || drop(payload)));
    error
}
