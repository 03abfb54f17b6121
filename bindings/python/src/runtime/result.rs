//! The result of a call, undecoded.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::runtime::failure::{guarded, made};

/// What a server answered, as it was received.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct CallResult(pub trunkline::CallResult);

#[pymethods]
impl CallResult {
    /// What is to be decoded, with whole characters alone: the text of the whole result, or without
    /// its long strings, with those, and with the text of a list of where each belongs.
    fn received(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        guarded(|| {
            let Some(apart) = self.0.apart() else { return made(py, self.0.text()) };
            let strings = apart.strings.iter().map(|string| PyString::new(py, string));
            let strings = PyList::new(py, strings)?;
            made(py, (apart.rest(), strings, apart.places))
        })
    }

    /// The whole result as received.
    fn raw<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.json().as_bytes())
    }

    /// Whether the tool reports an error.
    #[pyo3(name = "is_error")]
    fn reports_error(&self) -> PyResult<bool> {
        guarded(|| Ok(self.0.is_error()))
    }
}
