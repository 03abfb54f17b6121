//! The native half of the Python package: few flat classes, no policy.
//!
//! Threads of the library never run Python code and never hold a Python object: they put results
//! under a number into a queue (`delivery`), and Python takes them out on a thread of its own.
//!
//! Only a loop holds its bridge. So a loop that is closed or forgotten takes its bridge along,
//! without a hook and without a table that grows.

mod objects;
mod runtime;

/// Everything that the Python layer uses.
#[pyo3::pymodule]
mod _trunkline {
    use std::collections::HashMap;

    use pyo3::exceptions::{PyKeyError, PyValueError};
    use pyo3::prelude::*;
    use pyo3::types::{PyTuple, PyType};
    use serde_json::value::RawValue;
    use trunkline::{Error, ErrorCode, Outcome};

    use crate::runtime::failure::{guarded, made};
    use crate::runtime::interpreter::released;

    #[pymodule_export]
    use crate::objects::command_line::CommandLine;
    #[pymodule_export]
    use crate::objects::handler_queue::Desk;
    #[pymodule_export]
    use crate::objects::host_servers::HostConnection;
    #[pymodule_export]
    use crate::objects::lease::Lease;
    #[pymodule_export]
    use crate::objects::logs::Logs;
    #[pymodule_export]
    use crate::objects::pool::Pool;
    #[pymodule_export]
    use crate::objects::rows::GivenList;
    #[pymodule_export]
    use crate::objects::session::Session;
    #[pymodule_export]
    use crate::objects::subscription::Subscription;
    #[pymodule_export]
    use crate::runtime::delivery::{Bridge, Operation, Waiter};
    #[pymodule_export]
    use crate::runtime::result::CallResult;

    /// The version of the library.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// The registry of errors, events, options and names of telemetry, as JSON text.
    #[pyfunction]
    fn interface() -> PyResult<String> {
        guarded(|| Ok(trunkline::interface::to_json().to_string()))
    }

    /// What an error of that code advises where nothing more exact is known.
    #[pyfunction]
    fn advice(code: &str) -> PyResult<&'static str> {
        guarded(|| Ok(code_of(code)?.row().advice))
    }

    /// The one of the names that was probably meant, as the library finds it.
    #[pyfunction]
    fn nearest(wanted: &str, names: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        guarded(|| {
            let names: Vec<String> = names.extract()?;
            let error = Error::new(ErrorCode::UnknownOption, wanted);
            let error = error.with_nearest(wanted, names.iter().map(String::as_str));
            Ok(error.detail().get("nearest").and_then(|near| near.as_str()).map(str::to_owned))
        })
    }

    fn code_of(name: &str) -> PyResult<ErrorCode> {
        ErrorCode::from_name(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }

    /// An address as telemetry shows it.
    #[pyfunction]
    fn plain_address(uri: &str) -> PyResult<String> {
        guarded(|| Ok(trunkline::interface::telemetry::plain_address(uri)))
    }

    /// An object of a class of this module, or of one below it without a constructor of its own;
    /// its `__init__` does not run.
    #[pyfunction]
    fn construct(
        class_: &Bound<'_, PyType>,
        arguments: &Bound<'_, PyTuple>,
    ) -> PyResult<Py<PyAny>> {
        guarded(|| crate::runtime::interpreter::construct(class_, arguments))
    }

    /// How the options of one scope are called, as JSON text.
    #[pyfunction]
    fn option_names(scope: &str) -> PyResult<String> {
        guarded(|| {
            let found = trunkline::interface::SCOPES.iter().find(|known| known.name() == scope);
            let scope = *found.ok_or_else(|| PyKeyError::new_err(scope.to_owned()))?;
            Ok(trunkline::interface::names_to_json(scope).to_string())
        })
    }

    /// The types of events, each with its bit in a mask.
    #[pyfunction]
    fn event_bits(py: Python<'_>) -> PyResult<Py<PyAny>> {
        let bits = trunkline::interface::EVENTS.iter().map(|row| (row.name, row.kind.bit()));
        guarded(|| made(py, bits.collect::<HashMap<_, _>>()))
    }

    /// The capability tags of this version.
    #[pyfunction]
    fn features(py: Python<'_>) -> PyResult<Py<PyAny>> {
        guarded(|| made(py, trunkline::Pool::features()))
    }

    /// The elements of a JSON array, each as its own text.
    #[pyfunction]
    fn elements(py: Python<'_>, text: &str) -> PyResult<Py<PyAny>> {
        guarded(|| {
            let elements: Vec<&RawValue> = serde_json::from_str(text)
                .map_err(|error| PyValueError::new_err(error.to_string()))?;
            made(py, elements.into_iter().map(RawValue::get).collect::<Vec<_>>())
        })
    }

    /// The settings files of products that exist, as JSON text.
    #[pyfunction]
    fn detect(py: Python<'_>, workspace: std::path::PathBuf) -> PyResult<String> {
        let files = || trunkline::settings::files_to_json(&trunkline::detect(workspace));
        guarded(|| Ok(released(py, files).to_string()))
    }

    /// Panics inside the guard, so that a test sees what a fault of the library looks like: with
    /// words of its own, or with values in them.
    #[pyfunction]
    #[pyo3(signature = (value=None))]
    fn _panic(value: Option<&str>) -> PyResult<()> {
        guarded(|| match value {
            Some(value) => panic!("asked to, with {value}"),
            None => panic!("asked to"),
        })
    }

    /// The exception of an error of that code which has every part, so that a test sees what
    /// becomes of them.
    #[pyfunction]
    #[pyo3(signature = (code, arguments=None))]
    fn _exception(py: Python<'_>, code: &str, arguments: Option<&str>) -> PyResult<Py<PyAny>> {
        let code = code_of(code)?;
        let cause = Error::new(ErrorCode::Exited, "the process ended").with_detail("status", 3);
        let mut error = Error::new(code, "the connection was lost")
            .with_server("s")
            .with_session("a")
            .with_outcome(Outcome::Unknown)
            .with_hint("look")
            .with_detail("generation", 2)
            .with_cause(cause);
        if let Some(arguments) = arguments {
            error = error.with_arguments(arguments.into());
        }
        Ok(crate::runtime::failure::exception(py, &error).into_value(py).into_any())
    }

    #[pymodule_init]
    fn start(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::runtime::fork::watch()?;
        crate::runtime::failure::quiet_guarded_panics();
        Ok(())
    }
}
