//! Results on their way to Python.

use std::sync::Arc;

use pyo3::prelude::*;
use trunkline::ProgressFeed;

use crate::runtime::result::CallResult;

/// Makes an object of Python, once, under the lock of the interpreter.
pub type MakeObject = Box<dyn FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send>;

/// A result on its way to Python.
pub enum Payload {
    /// Of a call.
    Call(trunkline::CallResult),
    /// What makes an object of it.
    Object(MakeObject),
    /// JSON text.
    Text(String),
    /// Progress of a call that goes on: what waits in its feed.
    Progress(Arc<ProgressFeed>),
    /// Nothing but the end itself, or a wake-up.
    Nothing,
}

impl Payload {
    /// A report as JSON text.
    pub fn report(report: serde_json::Value) -> Payload {
        Payload::Text(report.to_string())
    }

    /// The object of Python.
    pub fn into_python(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(match self {
            Payload::Call(result) => Py::new(py, CallResult(result))?.into_any(),
            Payload::Object(make) => make(py)?,
            Payload::Text(text) => text.into_pyobject(py)?.into_any().unbind(),
            Payload::Progress(feed) => feed.take().into_pyobject(py)?.into_any().unbind(),
            Payload::Nothing => py.None(),
        })
    }
}
