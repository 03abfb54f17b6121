//! Servers that the host itself provides, whose code is Python's.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use trunkline::HostServer;

use crate::runtime::failure::{OrRaise, guarded};
use crate::runtime::fork::Owned;
use crate::runtime::interpreter::{call_python, leave, report, uncollected};
use crate::runtime::options::Text;

/// The server's end of a connection with a server that the host provides.
#[pyclass(frozen, module = "trunkline")]
pub struct HostConnection(Owned<trunkline::HostConnection>);

#[pymethods]
impl HostConnection {
    /// A number that no other connection of the process has or had.
    #[getter]
    fn id(&self) -> PyResult<u64> {
        Ok(self.0.here()?.id())
    }

    fn __repr__(&self) -> PyResult<String> {
        guarded(|| Ok(format!("<HostConnection {}>", self.0.here()?.id())))
    }

    /// Sends one JSON-RPC message of the server. Never blocks, and may be called from any thread.
    ///
    /// Raises ``LimitError`` while too many messages wait to be read, ``ClosedError`` once the
    /// connection is over.
    fn send(&self, py: Python<'_>, #[pyo3(from_py_with = frame)] frame: Text) -> PyResult<()> {
        let connection = self.0.here()?;
        guarded(|| connection.send(&frame).or_raise(py))
    }

    /// Ends the connection from the server's side. What was sent before still counts.
    fn close(&self) -> PyResult<()> {
        let connection = self.0.here()?;
        guarded(|| {
            connection.close();
            Ok(())
        })
    }
}

/// The functions of Python that are a server.
pub struct Provided {
    /// There until this is dropped.
    receive: Option<Py<PyAny>>,
    closed: Option<Py<PyAny>>,
}

impl Drop for Provided {
    fn drop(&mut self) {
        leave(self.receive.take().into_iter().chain(self.closed.take()));
    }
}

impl Provided {
    /// Of these functions. Each is called with the connection first.
    pub fn new(receive: Py<PyAny>, closed: Option<Py<PyAny>>) -> Provided {
        Provided { receive: Some(receive), closed }
    }
}

impl HostServer for Provided {
    fn receive(&self, connection: &trunkline::HostConnection, frame: &str) {
        let Some(receive) = &self.receive else { return };
        // An interpreter that ends takes no part any more, and the pool of it ends as well.
        let called = Python::try_attach(|py| {
            let end = HostConnection(Owned::new(connection.clone()));
            uncollected(py, || call(receive.bind(py), (end, frame).into_pyobject(py)))
        });
        if called != Some(true) {
            connection.close();
        }
    }

    fn closed(&self, connection: &trunkline::HostConnection) {
        let Some(closed) = &self.closed else { return };
        Python::try_attach(|py| {
            let end = HostConnection(Owned::new(connection.clone()));
            uncollected(py, || call(closed.bind(py), (end,).into_pyobject(py)))
        });
    }
}

/// Whether it returned; what it raised is reported.
fn call(function: &Bound<'_, PyAny>, arguments: PyResult<Bound<'_, PyTuple>>) -> bool {
    let called = arguments.and_then(|arguments| call_python(function, arguments));
    called.map_err(|error| report(error, function)).is_ok()
}

fn frame(given: &Bound<'_, PyAny>) -> PyResult<Text> {
    Text::read(given, "frame")
}
