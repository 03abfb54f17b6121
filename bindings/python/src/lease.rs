//! A lease, as Python holds it.

use std::future::Future;
use std::sync::Arc;

use pyo3::prelude::*;
use trunkline::CallOptions;

use crate::delivery::{Operation, Payload, begun, sink};
use crate::failure::{OrRaise, guarded};
use crate::fork::Owned;
use crate::options::CallText;
use crate::session::{Row, rows};

/// A lease, with the pool that runs its longer requests.
pub struct HeldLease {
    /// The hold.
    pub lease: trunkline::Lease,
    /// The pool.
    pub pool: trunkline::Pool,
}

/// A session's hold on a server. Dropped, it is released.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct Lease(Owned<Arc<HeldLease>>);

impl Lease {
    /// To hand to Python.
    pub fn new(held: HeldLease) -> Self {
        Lease(Owned::new(Arc::new(held)))
    }

    /// Starts a request that the library has only as a future.
    fn start<F>(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        options: Option<CallText>,
        request: impl FnOnce(Arc<HeldLease>, CallOptions) -> F,
    ) -> PyResult<Operation>
    where
        F: Future<Output = trunkline::Result<Payload>> + Send + 'static,
    {
        let held = self.0.here()?;
        guarded(|| {
            let options = options.map(|options| options.parse(to)).transpose()?.unwrap_or_default();
            let sink = sink(to, token)?;
            let future = request(Arc::clone(held), options);
            Ok(Operation::new(held.pool.start(future, move |outcome| sink.put(outcome))))
        })
    }
}

#[pymethods]
impl Lease {
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

    /// The tools of the server in the session's view.
    fn tools(&self, py: Python<'_>) -> PyResult<Vec<Row>> {
        let held = self.0.here()?;
        guarded(|| rows(&held.lease.tools().or_raise(py)?))
    }

    /// Starts a call of a tool.
    fn call_tool(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        tool: &str,
        arguments: &str,
        options: CallText,
    ) -> PyResult<Operation> {
        let held = self.0.here()?;
        guarded(|| {
            let options = options.parse(to)?;
            let sink = sink(to, token)?;
            let done = move |outcome: trunkline::Result<_>| sink.put(outcome.map(Payload::Call));
            let operation = held.lease.start_call_tool(tool, arguments, &options, done);
            begun(to, operation, &options)
        })
    }

    /// Starts any other request.
    fn request(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        method: &str,
        params: &str,
        options: CallText,
    ) -> PyResult<Operation> {
        let held = self.0.here()?;
        guarded(|| {
            let options = options.parse(to)?;
            let sink = sink(to, token)?;
            let done = move |outcome: trunkline::Result<_>| sink.put(outcome.map(Payload::Call));
            let operation = held.lease.start_request(method, params, &options, done);
            begun(to, operation, &options)
        })
    }

    /// Starts reading a resource.
    fn read_resource(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        uri: String,
        options: CallText,
    ) -> PyResult<Operation> {
        self.start(to, token, Some(options), |held, options| async move {
            held.lease.read_resource(&uri, &options).await.map(Payload::Call)
        })
    }

    /// Starts getting a prompt.
    fn get_prompt(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        name: String,
        arguments: String,
        options: CallText,
    ) -> PyResult<Operation> {
        self.start(to, token, Some(options), |held, options| async move {
            held.lease.get_prompt(&name, &arguments, &options).await.map(Payload::Call)
        })
    }

    /// Starts asking for completions.
    fn complete(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        params: String,
        options: CallText,
    ) -> PyResult<Operation> {
        self.start(to, token, Some(options), |held, options| async move {
            held.lease.complete(&params, &options).await.map(Payload::Call)
        })
    }

    /// Starts subscribing the session to updates of a resource.
    fn subscribe_resource(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        uri: String,
    ) -> PyResult<Operation> {
        self.start(to, token, None, |held, _| async move {
            held.lease.subscribe_resource(&uri).await.map(|()| Payload::Nothing)
        })
    }

    /// Starts the counterpart of it.
    fn unsubscribe_resource(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        uri: String,
    ) -> PyResult<Operation> {
        self.start(to, token, None, |held, _| async move {
            held.lease.unsubscribe_resource(&uri).await.map(|()| Payload::Nothing)
        })
    }

    /// Gives the hold up. Repeating it does nothing.
    fn release(&self) -> PyResult<()> {
        let held = self.0.here()?;
        guarded(|| {
            held.lease.release();
            Ok(())
        })
    }
}
