//! A pool, as Python holds it.

use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use pyo3::prelude::*;
use trunkline::{
    AcquireOptions, DrainOptions, EventMask, GateLists, LoadOptions, PoolOptions, ReloadOptions,
    ServerSpec, Servers, SessionOptions, SignInOptions, SourceName, StatusOptions, Switch,
    WorkspaceTrust, roots_from_json,
};

use crate::objects::handler_queue::Desk;
use crate::objects::lease::HeldLease;
use crate::objects::session::Session;
use crate::objects::subscription::Subscription;
use crate::runtime::delivery::{Operation, sink};
use crate::runtime::failure::{OrRaise, constructed, guarded};
use crate::runtime::fork::Owned;
use crate::runtime::interpreter::released;
use crate::runtime::options::EntryIndex;
use crate::runtime::payload::Payload;

/// The connections of one workspace. Dropped, it closes in the background.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct Pool(Owned<trunkline::Pool>);

impl Pool {
    fn start<F>(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        request: impl FnOnce(trunkline::Pool) -> F,
    ) -> PyResult<Py<Operation>>
    where
        F: Future<Output = trunkline::Result<Payload>> + Send + 'static,
    {
        let pool = self.0.here()?;
        let sink = sink(to, token)?;
        guarded(|| {
            let future = request(pool.clone());
            Operation::new(to.py(), pool.start(future, move |outcome| sink.put(outcome)))
        })
    }

    /// What changes the configuration at once: the report as JSON text. Others may run Python
    /// meanwhile.
    fn reported<R: ToString>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&trunkline::Pool) -> trunkline::Result<R> + Send,
    ) -> PyResult<String> {
        let pool = self.0.here()?;
        guarded(|| released(py, || change(pool).map(|report| report.to_string())).or_raise(py))
    }
}

#[pymethods]
impl Pool {
    #[new]
    #[pyo3(signature = (options, desk=None))]
    fn new(py: Python<'_>, options: &str, desk: Option<&Bound<'_, Desk>>) -> PyResult<Self> {
        constructed(py, || {
            let mut options = PoolOptions::from_json(options).or_raise(py)?;
            options.handlers = Desk::handlers(desk)?;
            // It looks at folders and files, as a session does.
            let pool = released(py, || trunkline::Pool::new(options)).or_raise(py)?;
            Ok(Pool(Owned::new(pool)))
        })
    }

    /// Raises `ForkedError` where it was made before a fork, by the parent process.
    fn check_process(&self) -> PyResult<()> {
        self.0.here()?;
        Ok(())
    }

    /// Opens a session.
    #[pyo3(signature = (options, desk=None))]
    fn session(
        &self,
        py: Python<'_>,
        options: &str,
        desk: Option<&Bound<'_, Desk>>,
    ) -> PyResult<Py<Session>> {
        let pool = self.0.here()?;
        guarded(|| {
            let mut options = SessionOptions::from_json(options).or_raise(py)?;
            options.handlers = Desk::handlers(desk)?;
            let session = released(py, || pool.session(options)).or_raise(py)?;
            Py::new(py, Session::new(session, pool.clone()))
        })
    }

    // <operations pool> Written from core/pool/src/interface/operations; do not edit.
    /// Starts `acquire`.
    #[rustfmt::skip]
    fn acquire(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        server: String,
        config: &str,
        session: String,
        options: &str,
    ) -> PyResult<Py<Operation>> {
        guarded(|| {
            let config = ServerSpec::from_json(&server, config).or_raise(to.py())?;
            let options = AcquireOptions::from_json(options).or_raise(to.py())?;
            self.start(to, token, |pool| async move {
                let lease = pool.acquire(&server, &config, &session, &options).await?;
                Ok(HeldLease { lease, pool }.lent())
            })
        })
    }

    /// Starts `restart`.
    #[rustfmt::skip]
    fn restart(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        server: String,
        index: Option<EntryIndex>,
    ) -> PyResult<Py<Operation>> {
        let index = index.map(|EntryIndex(index)| index);
        self.start(to, token, |pool| async move { pool.restart(&server, index).await.map(Payload::report) })
    }

    /// Starts `accept_tool`.
    #[rustfmt::skip]
    fn accept_tool(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        server: String,
        tool: String,
        digest: String,
    ) -> PyResult<Py<Operation>> {
        self.start(to, token, |pool| async move { pool.accept_tool(&server, &tool, &digest).await.map(|()| Payload::Nothing) })
    }

    /// Starts `set_roots`.
    #[rustfmt::skip]
    fn set_roots(&self, to: &Bound<'_, PyAny>, token: u64, roots: &str) -> PyResult<Py<Operation>> {
        guarded(|| {
            let roots = roots_from_json(roots).or_raise(to.py())?;
            self.start(to, token, |pool| async move { pool.set_roots(&roots).await.map(|()| Payload::Nothing) })
        })
    }

    /// What `set_gates` gives, as a text.
    #[rustfmt::skip]
    fn set_gates(&self, py: Python<'_>, gates: &str) -> PyResult<String> {
        self.reported(py, |pool| {
            let gates = GateLists::from_json(gates)?;
            pool.set_gates(gates)
        })
    }

    /// What `explain` gives, as a text.
    #[rustfmt::skip]
    fn explain(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        self.reported(py, |pool| pool.explain(name))
    }

    /// What `status` gives, as a text.
    #[rustfmt::skip]
    fn status(&self, py: Python<'_>, options: &str) -> PyResult<String> {
        self.reported(py, |pool| {
            let options = StatusOptions::from_json(options)?;
            Ok(pool.status_with(&options))
        })
    }

    /// What `metrics` gives, as a text.
    #[rustfmt::skip]
    fn metrics(&self, py: Python<'_>, options: &str) -> PyResult<String> {
        self.reported(py, |pool| {
            let options = StatusOptions::from_json(options)?;
            pool.metrics(&options)
        })
    }

    /// Starts `drain_all`.
    #[rustfmt::skip]
    fn drain_all(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        options: &str,
    ) -> PyResult<Py<Operation>> {
        guarded(|| {
            let options = DrainOptions::from_json(options).or_raise(to.py())?;
            self.start(to, token, |pool| async move { pool.drain_all(&options).await.map(Payload::report) })
        })
    }

    /// Starts `reconcile`.
    #[rustfmt::skip]
    fn reconcile(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        servers: &str,
    ) -> PyResult<Py<Operation>> {
        guarded(|| {
            let servers = Servers::from_json(servers).or_raise(to.py())?;
            self.start(to, token, |pool| async move { pool.reconcile(servers).await.map(Payload::report) })
        })
    }

    /// Starts `load`.
    #[rustfmt::skip]
    fn load(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        path: PathBuf,
        options: &str,
    ) -> PyResult<Py<Operation>> {
        guarded(|| {
            let options = LoadOptions::from_json(options).or_raise(to.py())?;
            self.start(to, token, |pool| async move { pool.load(path, &options).await.map(Payload::report) })
        })
    }

    /// What `set_source` gives, as a text.
    #[rustfmt::skip]
    fn set_source(&self, py: Python<'_>, source: &str, settings: Option<&str>) -> PyResult<String> {
        self.reported(py, |pool| {
            let source = source.parse::<SourceName>()?;
            pool.set_source(&source, settings)
        })
    }

    /// What `switch_source` gives, as a text.
    #[rustfmt::skip]
    fn switch_source(&self, py: Python<'_>, source: &str, on: bool) -> PyResult<String> {
        self.reported(py, |pool| {
            let source = source.parse::<SourceName>()?;
            let to = if on { Switch::On } else { Switch::Off };
            pool.switch_source(&source, to)
        })
    }

    /// What `add_server` gives, as a text.
    #[rustfmt::skip]
    fn add_server(&self, py: Python<'_>, server: &str, config: &str) -> PyResult<String> {
        self.reported(py, |pool| {
            let config = ServerSpec::from_json(server, config)?;
            pool.add_server(server, &config)
        })
    }

    /// What `remove_server` gives, as a text.
    #[rustfmt::skip]
    fn remove_server(&self, py: Python<'_>, server: &str) -> PyResult<String> {
        self.reported(py, |pool| pool.remove_server(server))
    }

    /// Starts `set_trusted`.
    #[rustfmt::skip]
    fn set_trusted(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        trusted: bool,
    ) -> PyResult<Py<Operation>> {
        let trusted = if trusted { WorkspaceTrust::Trusted } else { WorkspaceTrust::Untrusted };
        self.start(to, token, |pool| {
            let ends = pool.set_trusted(trusted);
            async move { ends.await.map(Payload::report) }
        })
    }

    /// Starts `reload`.
    #[rustfmt::skip]
    fn reload(&self, to: &Bound<'_, PyAny>, token: u64, options: &str) -> PyResult<Py<Operation>> {
        guarded(|| {
            let options = ReloadOptions::from_json(options).or_raise(to.py())?;
            self.start(to, token, |pool| async move { pool.reload(&options).await.map(Payload::report) })
        })
    }

    /// Starts `approvals`.
    #[rustfmt::skip]
    fn approvals(&self, to: &Bound<'_, PyAny>, token: u64) -> PyResult<Py<Operation>> {
        self.start(to, token, |pool| async move { pool.approvals().await.map(Payload::report) })
    }

    /// Starts `approve`.
    #[rustfmt::skip]
    fn approve(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        server: String,
        hash: String,
    ) -> PyResult<Py<Operation>> {
        self.start(to, token, |pool| async move { pool.approve(&server, &hash).await.map(Payload::report) })
    }

    /// Starts `reject`.
    #[rustfmt::skip]
    fn reject(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        server: String,
        hash: String,
    ) -> PyResult<Py<Operation>> {
        self.start(to, token, |pool| async move { pool.reject(&server, &hash).await.map(Payload::report) })
    }

    /// Starts `forget`.
    #[rustfmt::skip]
    fn forget(&self, to: &Bound<'_, PyAny>, token: u64, server: String) -> PyResult<Py<Operation>> {
        self.start(to, token, |pool| async move { pool.forget(&server).await.map(Payload::report) })
    }

    /// Starts `settled`.
    #[rustfmt::skip]
    fn settled(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        timeout_ms: Option<u64>,
    ) -> PyResult<Py<Operation>> {
        let timeout = timeout_ms.map(Duration::from_millis);
        self.start(to, token, |pool| async move { pool.settled(timeout).await.map(Payload::report) })
    }

    /// Starts `sign_in`.
    #[rustfmt::skip]
    fn sign_in(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        server: String,
        options: &str,
    ) -> PyResult<Py<Operation>> {
        guarded(|| {
            let options = SignInOptions::from_json(options).or_raise(to.py())?;
            self.start(to, token, |pool| async move { pool.sign_in(&server, &options).await.map(Payload::report) })
        })
    }

    /// Starts `finish_sign_in`.
    #[rustfmt::skip]
    fn finish_sign_in(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        redirect_url: String,
    ) -> PyResult<Py<Operation>> {
        self.start(to, token, |pool| async move { pool.finish_sign_in(&redirect_url).await.map(Payload::report) })
    }

    /// Starts `sign_out`.
    #[rustfmt::skip]
    fn sign_out(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        server: String,
    ) -> PyResult<Py<Operation>> {
        self.start(to, token, |pool| async move { pool.sign_out(&server).await.map(Payload::report) })
    }
    // </operations pool>

    /// Events of the whole pool.
    fn subscribe(&self, py: Python<'_>, kinds: u64) -> PyResult<Py<Subscription>> {
        let pool = self.0.here()?;
        guarded(|| Py::new(py, Subscription::new(pool.subscribe(EventMask(kinds)).or_raise(py)?)))
    }

    /// Starts the drain that also ends every subscription.
    fn close(&self, to: &Bound<'_, PyAny>, token: u64, options: &str) -> PyResult<Py<Operation>> {
        guarded(|| {
            let options = DrainOptions::from_json(options).or_raise(to.py())?;
            self.start(to, token, |pool| {
                // It begins here, whether or not somebody is there to wait for it.
                let closing = pool.close_with(options);
                async move { closing.await.map(|()| Payload::Nothing) }
            })
        })
    }
}
