//! What runs Python inside of a native call.
//!
//! An interpreter that ends has other threads than its own end where they stand in Python code,
//! before CPython 3.14 by an unwind. In frames of Rust that would run destructors without the GIL,
//! and abort the process. So finalizers do not run by the way: CPython's collector, which calls
//! them wherever something is made, waits until a native call is over. What threads of the library
//! let go of waits for a thread of Python. Where Python has to run, [`staying`] is below it.
//!
//! The collector is switched off and on for the whole interpreter, and by the thread that runs
//! Python: no other sees it, since a native call that lets others run Python switches it on before.

use std::cell::Cell;
use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

unsafe extern "C-unwind" {
    fn PyObject_CallObject(
        function: *mut ffi::PyObject,
        arguments: *mut ffi::PyObject,
    ) -> *mut ffi::PyObject;
    fn PyErr_CheckSignals() -> c_int;
    fn PyErr_WriteUnraisable(object: *mut ffi::PyObject);
    fn Py_DecRef(object: *mut ffi::PyObject);
}

thread_local! {
    /// Whether this thread switched the collector off, and has to switch it on again.
    static WAITS: Cell<bool> = const { Cell::new(false) };
}

/// Whether the collector waits for this thread, until this is dropped: then as before. It is made
/// and dropped on an attached thread.
struct Collector {
    waited: bool,
}

impl Collector {
    fn new(_: Python<'_>, waits: bool) -> Collector {
        let waited = WAITS.get();
        Collector::switch(waits);
        Collector { waited }
    }

    fn switch(waits: bool) {
        if waits && !WAITS.get() {
            // SAFETY: the thread is attached, as `new` was shown.
            WAITS.set(unsafe { ffi::PyGC_Disable() } == 1);
        } else if !waits && WAITS.replace(false) {
            // SAFETY: as above.
            unsafe { ffi::PyGC_Enable() };
        }
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        Collector::switch(self.waited);
    }
}

/// Runs it while the collector waits.
pub fn uncollected<T>(py: Python<'_>, run: impl FnOnce() -> T) -> T {
    let _waits = Collector::new(py, true);
    run()
}

/// Runs it without the GIL: other threads run Python, and the collector with it.
pub fn released<T: Send>(py: Python<'_>, run: impl FnOnce() -> T + Send) -> T {
    let _runs = Collector::new(py, false);
    py.detach(run)
}

/// Lets handlers of signals run, on the main thread; what one raised.
pub fn check_signals(py: Python<'_>) -> PyResult<()> {
    // SAFETY: the thread is attached.
    match staying(py, || unsafe { PyErr_CheckSignals() }) {
        0 => Ok(()),
        _ => Err(PyErr::fetch(py)),
    }
}

/// Calls a function of Python.
pub fn call_python(function: &Bound<'_, PyAny>, arguments: Bound<'_, PyTuple>) -> PyResult<()> {
    let py = function.py();
    // SAFETY: both live through the call, on a thread that is attached.
    let returned =
        staying(py, || unsafe { PyObject_CallObject(function.as_ptr(), arguments.as_ptr()) });
    // SAFETY: the reference is new, or there is none and an exception is set.
    unsafe { Bound::from_owned_ptr_or_err(py, returned) }.map(drop)
}

/// Reports an exception that no caller can catch, through `sys.unraisablehook`.
pub fn report(error: PyErr, raised_by: &Bound<'_, PyAny>) {
    error.restore(raised_by.py());
    // SAFETY: it lives through the call, on a thread that is attached and has an exception set.
    staying(raised_by.py(), || unsafe { PyErr_WriteUnraisable(raised_by.as_ptr()) });
}

/// An object of one of the package's classes, which Rust alone constructs: its `__init__` does not
/// run, which may be Python's.
pub fn construct(class: &Bound<'_, PyType>, arguments: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let of = class.as_type_ptr();
    // SAFETY: the class lives through the call. What stands in that slot has this type, or is null.
    let new: Option<ffi::newfunc> =
        unsafe { std::mem::transmute(ffi::PyType_GetSlot(of, ffi::Py_tp_new)) };
    let new = new.ok_or_else(|| PyTypeError::new_err("the class has no constructor"))?;
    // SAFETY: class and arguments live through the call, on a thread that is attached.
    let made = unsafe { new(of, arguments.as_ptr(), ptr::null_mut()) };
    // SAFETY: the reference is new, or there is none and an exception is set.
    unsafe { Bound::from_owned_ptr_or_err(class.py(), made) }.map(Bound::unbind)
}

/// What threads of the library let go of.
static LEFT: Mutex<Vec<Py<PyAny>>> = Mutex::new(Vec::new());

/// Whether something is there, so that a call need not look.
static HAS_LEFT: AtomicBool = AtomicBool::new(false);

/// Leaves objects of Python to the next thread that calls. A host that never calls again keeps them
/// until its process ends.
pub fn leave(objects: impl IntoIterator<Item = Py<PyAny>>) {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner).extend(objects);
    HAS_LEFT.store(true, Ordering::Release);
}

/// Lets go of what was left here: their finalizers run.
pub fn let_go(py: Python<'_>) {
    if !HAS_LEFT.load(Ordering::Relaxed) || !HAS_LEFT.swap(false, Ordering::Acquire) {
        return;
    }
    let left = match LEFT.try_lock() {
        Ok(mut left) => std::mem::take(&mut *left),
        // Somebody leaves more, or did when this process was forked: for the next call.
        Err(_) => return HAS_LEFT.store(true, Ordering::Relaxed),
    };
    for object in left.into_iter().map(Py::into_ptr) {
        // SAFETY: the thread is attached; this is the reference that `into_ptr` gave out.
        staying(py, || unsafe { Py_DecRef(object) });
    }
}

/// Runs a call that may execute Python code; the closure must own nothing with a destructor. A
/// thread that the interpreter ends in there waits here for the end of the process, as in CPython
/// 3.14.
fn staying<T>(py: Python<'_>, run: impl FnOnce() -> T) -> T {
    struct Stays;
    impl Drop for Stays {
        fn drop(&mut self) {
            loop {
                std::thread::park();
            }
        }
    }
    let _runs = Collector::new(py, false);
    let stays = Stays;
    let returned = run();
    std::mem::forget(stays);
    returned
}
