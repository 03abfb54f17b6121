//! A pool, as Python holds it.

use std::future::Future;

use pyo3::prelude::*;
use trunkline::{
    AcquireOptions, DrainOptions, EventMask, GateLists, PoolOptions, Servers, SessionOptions,
    SignInOptions, roots_from_json,
};

use crate::delivery::{Operation, Payload, sink};
use crate::desk::Desk;
use crate::failure::{OrRaise, guarded};
use crate::fork::Owned;
use crate::lease::HeldLease;
use crate::session::{Session, server_spec};
use crate::subscription::Subscription;

/// The connections of one workspace. Dropped, it closes in the background.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct Pool(Owned<trunkline::Pool>);

impl Pool {
    fn start<F>(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        request: impl FnOnce(trunkline::Pool) -> F,
    ) -> PyResult<Operation>
    where
        F: Future<Output = trunkline::Result<Payload>> + Send + 'static,
    {
        let pool = self.0.here()?;
        let sink = sink(to, token)?;
        guarded(|| {
            let future = request(pool.clone());
            Ok(Operation::new(pool.start(future, move |outcome| sink.put(outcome))))
        })
    }
}

#[pymethods]
impl Pool {
    #[new]
    #[pyo3(signature = (options, desk=None))]
    fn new(py: Python<'_>, options: &str, desk: Option<&Bound<'_, Desk>>) -> PyResult<Self> {
        guarded(|| {
            let mut options = PoolOptions::from_json(options).or_raise(py)?;
            options.handlers = Desk::handlers(desk)?;
            Ok(Pool(Owned::new(trunkline::Pool::new(options).or_raise(py)?)))
        })
    }

    /// Opens a session.
    #[pyo3(signature = (options, desk=None))]
    fn session(
        &self,
        py: Python<'_>,
        options: &str,
        desk: Option<&Bound<'_, Desk>>,
    ) -> PyResult<Session> {
        let pool = self.0.here()?;
        guarded(|| {
            let mut options = SessionOptions::from_json(options).or_raise(py)?;
            options.handlers = Desk::handlers(desk)?;
            Ok(Session::new(pool.session(options).or_raise(py)?, pool.clone()))
        })
    }

    /// Starts acquiring a server for a session by its id.
    fn acquire(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        server: String,
        config: &str,
        session: String,
        options: &str,
    ) -> PyResult<Operation> {
        guarded(|| {
            let options = AcquireOptions::from_json(options).or_raise(to.py())?;
            let spec = server_spec(&server, config).or_raise(to.py())?;
            self.start(to, token, |pool| async move {
                let lease = pool.acquire(&server, &spec, &session, &options).await?;
                Ok(Payload::Lease(HeldLease { lease, pool }))
            })
        })
    }

    /// Starts making these servers the pool's own.
    fn reconcile(&self, to: &Bound<'_, PyAny>, token: u64, servers: &str) -> PyResult<Operation> {
        guarded(|| {
            let servers = Servers::from_json(servers).or_raise(to.py())?;
            self.start(to, token, |pool| async move {
                pool.reconcile(servers).await.map(|report| Payload::Text(report.to_string()))
            })
        })
    }

    /// Starts replacing the connections of a server.
    fn restart(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        server: String,
        index: Option<u32>,
    ) -> PyResult<Operation> {
        self.start(to, token, |pool| async move {
            pool.restart(&server, index).await.map(|report| Payload::Text(report.to_string()))
        })
    }

    /// Starts accepting the definition of a tool.
    fn accept_tool(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        server: String,
        tool: String,
        digest: String,
    ) -> PyResult<Operation> {
        self.start(to, token, |pool| async move {
            pool.accept_tool(&server, &tool, &digest).await.map(|()| Payload::Nothing)
        })
    }

    /// Starts replacing the folders that servers are told of; they are a JSON text.
    fn set_roots(&self, to: &Bound<'_, PyAny>, token: u64, roots: &str) -> PyResult<Operation> {
        guarded(|| {
            let roots = roots_from_json(roots).or_raise(to.py())?;
            self.start(to, token, |pool| async move {
                pool.set_roots(&roots).await.map(|()| Payload::Nothing)
            })
        })
    }

    /// Replaces the lists of servers that may run; they are a JSON text, and so is the report.
    fn set_gates(&self, py: Python<'_>, gates: &str) -> PyResult<String> {
        let pool = self.0.here()?;
        guarded(|| {
            let lists = GateLists::from_json(gates).or_raise(py)?;
            py.detach(|| pool.set_gates(lists)).map(|report| report.to_string()).or_raise(py)
        })
    }

    /// Starts to sign in to a remote server.
    fn sign_in(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        server: String,
        options: &str,
    ) -> PyResult<Operation> {
        guarded(|| {
            let options = SignInOptions::from_json(options).or_raise(to.py())?;
            self.start(to, token, |pool| async move {
                let begun = pool.sign_in(&server, &options).await;
                begun.map(|begun| Payload::Text(begun.to_string()))
            })
        })
    }

    /// Starts to end a sign-in.
    fn finish_sign_in(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        redirect_url: String,
    ) -> PyResult<Operation> {
        self.start(to, token, |pool| async move {
            let finished = pool.finish_sign_in(&redirect_url).await;
            finished.map(|finished| Payload::Text(finished.to_string()))
        })
    }

    /// Starts to forget what was signed in.
    fn sign_out(&self, to: &Bound<'_, PyAny>, token: u64, server: String) -> PyResult<Operation> {
        self.start(to, token, |pool| async move {
            pool.sign_out(&server).await.map(|report| Payload::Text(report.to_string()))
        })
    }

    /// The whole pool as JSON text.
    fn status(&self) -> PyResult<String> {
        let pool = self.0.here()?;
        guarded(|| Ok(pool.status().to_string()))
    }

    /// Events of the whole pool.
    fn subscribe(&self, py: Python<'_>, kinds: u64) -> PyResult<Subscription> {
        let pool = self.0.here()?;
        guarded(|| pool.subscribe(EventMask(kinds)).or_raise(py).map(Subscription::new))
    }

    /// Starts ending everything.
    fn drain_all(&self, to: &Bound<'_, PyAny>, token: u64, options: &str) -> PyResult<Operation> {
        guarded(|| {
            let options = DrainOptions::from_json(options).or_raise(to.py())?;
            self.start(to, token, |pool| async move {
                pool.drain_all(&options).await.map(|report| Payload::Text(report.to_string()))
            })
        })
    }

    /// Starts the drain with the defaults that also ends every subscription.
    fn close(&self, to: &Bound<'_, PyAny>, token: u64) -> PyResult<Operation> {
        self.start(to, token, |pool| async move { pool.close().await.map(|()| Payload::Nothing) })
    }
}
