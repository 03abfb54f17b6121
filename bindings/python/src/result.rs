//! The result of a call, undecoded.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::failure::guarded;

/// What a server answered, as it was received.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct CallResult(pub trunkline::CallResult);

#[pymethods]
impl CallResult {
    /// The whole result as text, for `json.loads`, with whole characters alone.
    fn text<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        PyString::new(py, &self.0.text())
    }

    /// The whole result as received.
    fn raw<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.json().as_bytes())
    }

    /// Whether the tool reports an error.
    fn is_error(&self) -> PyResult<bool> {
        guarded(|| Ok(self.0.is_error()))
    }
}
