//! The result of a call, undecoded.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::failure::guarded;

/// What a server answered, as it was received.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct CallResult(pub trunkline::CallResult);

#[pymethods]
impl CallResult {
    /// What is to be decoded, with whole characters alone: the text of the whole result, or without its long strings, with those, and with
    /// the text of a list of where each belongs.
    fn received<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Some(apart) = guarded(|| Ok(self.0.apart()))? else {
            return Ok(PyString::new(py, &self.0.text()).into_any());
        };
        let strings = apart.strings.iter().map(|string| PyString::new(py, string));
        let strings = PyList::new(py, strings)?;
        (apart.rest(), strings, apart.places).into_bound_py_any(py)
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
