//! A lease, as Python holds it.

use std::future::Future;
use std::sync::Arc;

use pyo3::prelude::*;
use trunkline::CallOptions;

use crate::objects::rows::rows;
use crate::runtime::delivery::{Operation, Sink, begun, ended, sink};
use crate::runtime::failure::{OrRaise, guarded, made};
use crate::runtime::fork::Owned;
use crate::runtime::options::CallText;
use crate::runtime::payload::Payload;

/// A lease, with the pool that runs its longer requests.
pub struct HeldLease {
    /// The hold.
    pub lease: trunkline::Lease,
    /// The pool.
    pub pool: trunkline::Pool,
}

impl HeldLease {
    /// A lease on its way to Python.
    pub fn lent(self) -> Payload {
        Payload::Object(Box::new(|py| Ok(Py::new(py, Lease::new(self))?.into_any())))
    }
}

/// A session's hold on a server. Dropped, it is released.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct Lease(Owned<Arc<HeldLease>>);

impl Lease {
    /// To hand to Python.
    fn new(held: HeldLease) -> Self {
        Lease(Owned::new(Arc::new(held)))
    }

    /// Starts what is sent to the server as it is asked for.
    fn send(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        options: CallText,
        start: impl FnOnce(&trunkline::Lease, &CallOptions, Sink) -> trunkline::Operation,
    ) -> PyResult<Py<Operation>> {
        let held = self.0.here()?;
        guarded(|| {
            let options = options.parse(to)?;
            let operation = start(&held.lease, &options, sink(to, token)?);
            begun(to, operation, &options)
        })
    }

    /// Starts what the library has only as a future.
    fn start<F>(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        begin: impl FnOnce(Arc<HeldLease>) -> F,
    ) -> PyResult<Py<Operation>>
    where
        F: Future<Output = trunkline::Result<Payload>> + Send + 'static,
    {
        let held = self.0.here()?;
        guarded(|| {
            let sink = sink(to, token)?;
            let future = begin(Arc::clone(held));
            Operation::new(to.py(), held.pool.start(future, move |outcome| sink.put(outcome)))
        })
    }
}

#[pymethods]
impl Lease {
    /// Raises `ForkedError` where it was made before a fork, by the parent process.
    fn check_process(&self) -> PyResult<()> {
        self.0.here()?;
        Ok(())
    }

    /// The server's name.
    fn server(&self) -> PyResult<&str> {
        Ok(self.0.here()?.lease.server())
    }

    /// The entry's index.
    fn entry_index(&self) -> PyResult<u32> {
        Ok(self.0.here()?.lease.entry_index())
    }

    /// The incarnation of the connection.
    fn generation(&self) -> PyResult<u32> {
        Ok(self.0.here()?.lease.generation())
    }

    /// The word for the entry's state; `closed` once the lease can be used no more.
    fn state(&self) -> PyResult<&'static str> {
        Ok(self.0.here()?.lease.state().as_str())
    }

    /// What the server said of itself, as JSON text; nothing before it was connected to.
    fn introduction(&self) -> PyResult<Option<String>> {
        let held = self.0.here()?;
        guarded(|| Ok(held.lease.introduction().map(|said| said.json().to_owned())))
    }

    /// The tools of the server in the session's view.
    fn tools(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let held = self.0.here()?;
        guarded(|| made(py, rows(&held.lease.tools().or_raise(py)?)))
    }

    // <operations lease> Written from core/pool/src/interface/operations; do not edit.
    /// Starts `call_tool`.
    #[rustfmt::skip]
    fn call_tool(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        tool: &str,
        arguments: &str,
        options: CallText,
    ) -> PyResult<Py<Operation>> {
        self.send(to, token, options, |lease, options, sink| {
            lease.start_call_tool(tool, arguments, options, ended(sink))
        })
    }

    /// Starts `request`.
    #[rustfmt::skip]
    fn request(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        method: &str,
        params: &str,
        options: CallText,
    ) -> PyResult<Py<Operation>> {
        self.send(to, token, options, |lease, options, sink| {
            lease.start_request(method, params, options, ended(sink))
        })
    }

    /// Starts `read_resource`.
    #[rustfmt::skip]
    fn read_resource(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        uri: &str,
        options: CallText,
    ) -> PyResult<Py<Operation>> {
        self.send(to, token, options, |lease, options, sink| {
            lease.start_read_resource(uri, options, ended(sink))
        })
    }

    /// Starts `get_prompt`.
    #[rustfmt::skip]
    fn get_prompt(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        name: &str,
        arguments: &str,
        options: CallText,
    ) -> PyResult<Py<Operation>> {
        self.send(to, token, options, |lease, options, sink| {
            lease.start_get_prompt(name, arguments, options, ended(sink))
        })
    }

    /// Starts `complete`.
    #[rustfmt::skip]
    fn complete(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        params: &str,
        options: CallText,
    ) -> PyResult<Py<Operation>> {
        self.send(to, token, options, |lease, options, sink| {
            lease.start_complete(params, options, ended(sink))
        })
    }

    /// Starts `subscribe_resource`.
    #[rustfmt::skip]
    fn subscribe_resource(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        uri: String,
    ) -> PyResult<Py<Operation>> {
        self.start(to, token, |held| async move { held.lease.subscribe_resource(&uri).await.map(|()| Payload::Nothing) })
    }

    /// Starts `unsubscribe_resource`.
    #[rustfmt::skip]
    fn unsubscribe_resource(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        uri: String,
    ) -> PyResult<Py<Operation>> {
        self.start(to, token, |held| async move { held.lease.unsubscribe_resource(&uri).await.map(|()| Payload::Nothing) })
    }
    // </operations lease>

    /// Gives the hold up. Repeating it does nothing.
    fn release(&self) -> PyResult<()> {
        let held = self.0.here()?;
        guarded(|| {
            held.lease.release();
            Ok(())
        })
    }
}
