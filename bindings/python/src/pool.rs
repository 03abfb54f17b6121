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

use crate::delivery::{Operation, Payload, sink};
use crate::desk::Desk;
use crate::failure::{OrRaise, constructed, guarded};
use crate::fork::Owned;
use crate::interpreter::released;
use crate::lease::HeldLease;
use crate::options::EntryIndex;
use crate::session::Session;
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

    /// Starts what ends with a report, which is handed over as JSON text.
    fn start_report<F, R>(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        request: impl FnOnce(trunkline::Pool) -> F,
    ) -> PyResult<Py<Operation>>
    where
        F: Future<Output = trunkline::Result<R>> + Send + 'static,
        R: ToString,
    {
        self.start(to, token, |pool| {
            let report = request(pool);
            async move { report.await.map(|report| Payload::Text(report.to_string())) }
        })
    }

    /// What changes the configuration at once: the report as JSON text. Others may run Python meanwhile.
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

    /// Starts acquiring a server for a session by its id.
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
            let options = AcquireOptions::from_json(options).or_raise(to.py())?;
            let spec = ServerSpec::from_json(&server, config).or_raise(to.py())?;
            self.start(to, token, |pool| async move {
                let lease = pool.acquire(&server, &spec, &session, &options).await?;
                Ok(Payload::Lease(HeldLease { lease, pool }))
            })
        })
    }

    /// Starts making these servers the pool's own.
    fn reconcile(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        servers: &str,
    ) -> PyResult<Py<Operation>> {
        guarded(|| {
            let servers = Servers::from_json(servers).or_raise(to.py())?;
            self.start_report(to, token, |pool| async move { pool.reconcile(servers).await })
        })
    }

    /// Starts replacing the connections of a server.
    fn restart(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        server: String,
        index: Option<EntryIndex>,
    ) -> PyResult<Py<Operation>> {
        let index = index.map(|EntryIndex(index)| index);
        self.start_report(to, token, |pool| async move { pool.restart(&server, index).await })
    }

    /// Starts accepting the definition of a tool.
    fn accept_tool(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        server: String,
        tool: String,
        digest: String,
    ) -> PyResult<Py<Operation>> {
        self.start(to, token, |pool| async move {
            pool.accept_tool(&server, &tool, &digest).await.map(|()| Payload::Nothing)
        })
    }

    /// Starts replacing the folders that servers are told of; they are a JSON text.
    fn set_roots(&self, to: &Bound<'_, PyAny>, token: u64, roots: &str) -> PyResult<Py<Operation>> {
        guarded(|| {
            let roots = roots_from_json(roots).or_raise(to.py())?;
            self.start(to, token, |pool| async move {
                pool.set_roots(&roots).await.map(|()| Payload::Nothing)
            })
        })
    }

    /// Replaces the lists of servers that may run; they are a JSON text, and so is the report.
    fn set_gates(&self, py: Python<'_>, gates: &str) -> PyResult<String> {
        self.reported(py, |pool| pool.set_gates(GateLists::from_json(gates)?))
    }

    /// Starts reading a settings file into the source that its place implies.
    fn load(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        path: PathBuf,
        options: &str,
    ) -> PyResult<Py<Operation>> {
        guarded(|| {
            let options = LoadOptions::from_json(options).or_raise(to.py())?;
            self.start_report(to, token, |pool| async move { pool.load(path, &options).await })
        })
    }

    /// Replaces a source by the text of settings, or removes it.
    fn set_source(&self, py: Python<'_>, source: &str, settings: Option<&str>) -> PyResult<String> {
        self.reported(py, |pool| pool.set_source(&source.parse::<SourceName>()?, settings))
    }

    /// Switches a source, or every source of a scope, on or off.
    fn switch_source(&self, py: Python<'_>, source: &str, on: bool) -> PyResult<String> {
        let to = if on { Switch::On } else { Switch::Off };
        self.reported(py, |pool| pool.switch_source(&source.parse::<SourceName>()?, to))
    }

    /// Adds a server to the run-time source.
    fn add_server(&self, py: Python<'_>, server: &str, config: &str) -> PyResult<String> {
        self.reported(py, |pool| pool.add_server(server, &ServerSpec::from_json(server, config)?))
    }

    /// Takes a server out of the run-time source.
    fn remove_server(&self, py: Python<'_>, server: &str) -> PyResult<String> {
        self.reported(py, |pool| pool.remove_server(server))
    }

    /// Starts to say whether the workspace is trusted.
    fn set_trusted(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        trusted: bool,
    ) -> PyResult<Py<Operation>> {
        let trust = if trusted { WorkspaceTrust::Trusted } else { WorkspaceTrust::Untrusted };
        self.start_report(to, token, |pool| pool.set_trusted(trust))
    }

    /// Starts reading every loaded file again.
    fn reload(&self, to: &Bound<'_, PyAny>, token: u64, options: &str) -> PyResult<Py<Operation>> {
        guarded(|| {
            let options = ReloadOptions::from_json(options).or_raise(to.py())?;
            self.start_report(to, token, |pool| async move { pool.reload(&options).await })
        })
    }

    /// Starts looking up what waits for approval, and what was decided.
    fn approvals(&self, to: &Bound<'_, PyAny>, token: u64) -> PyResult<Py<Operation>> {
        self.start_report(to, token, |pool| async move { pool.approvals().await })
    }

    /// Starts to approve the configuration with that hash.
    fn approve(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        server: String,
        hash: String,
    ) -> PyResult<Py<Operation>> {
        self.start_report(to, token, |pool| async move { pool.approve(&server, &hash).await })
    }

    /// Starts to reject the configuration with that hash.
    fn reject(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        server: String,
        hash: String,
    ) -> PyResult<Py<Operation>> {
        self.start_report(to, token, |pool| async move { pool.reject(&server, &hash).await })
    }

    /// Starts to forget what was decided about a server.
    fn forget(&self, to: &Bound<'_, PyAny>, token: u64, server: String) -> PyResult<Py<Operation>> {
        self.start_report(to, token, |pool| async move { pool.forget(&server).await })
    }

    /// Starts waiting until nothing that configuration caused is under way.
    fn settled(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        timeout_ms: Option<u64>,
    ) -> PyResult<Py<Operation>> {
        let timeout = timeout_ms.map(Duration::from_millis);
        self.start_report(to, token, |pool| async move { pool.settled(timeout).await })
    }

    /// Starts to sign in to a remote server.
    fn sign_in(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        server: String,
        options: &str,
    ) -> PyResult<Py<Operation>> {
        guarded(|| {
            let options = SignInOptions::from_json(options).or_raise(to.py())?;
            self.start_report(
                to,
                token,
                |pool| async move { pool.sign_in(&server, &options).await },
            )
        })
    }

    /// Starts to end a sign-in.
    fn finish_sign_in(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        redirect_url: String,
    ) -> PyResult<Py<Operation>> {
        self.start_report(to, token, |pool| async move { pool.finish_sign_in(&redirect_url).await })
    }

    /// Starts to forget what was signed in.
    fn sign_out(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        server: String,
    ) -> PyResult<Py<Operation>> {
        self.start_report(to, token, |pool| async move { pool.sign_out(&server).await })
    }

    /// Why a server or a tool is there, or is not, as JSON text.
    fn explain(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        self.reported(py, |pool| pool.explain(name))
    }

    /// The whole pool as JSON text.
    fn status(&self, py: Python<'_>, options: &str) -> PyResult<String> {
        self.reported(py, |pool| Ok(pool.status_with(&StatusOptions::from_json(options)?)))
    }

    /// What the status counts, as a collector reads it.
    fn metrics(&self, py: Python<'_>, options: &str) -> PyResult<String> {
        self.reported(py, |pool| pool.metrics(&StatusOptions::from_json(options)?))
    }

    /// Events of the whole pool.
    fn subscribe(&self, py: Python<'_>, kinds: u64) -> PyResult<Py<Subscription>> {
        let pool = self.0.here()?;
        guarded(|| Py::new(py, Subscription::new(pool.subscribe(EventMask(kinds)).or_raise(py)?)))
    }

    /// Starts ending everything.
    fn drain_all(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        options: &str,
    ) -> PyResult<Py<Operation>> {
        guarded(|| {
            let options = DrainOptions::from_json(options).or_raise(to.py())?;
            self.start_report(to, token, |pool| async move { pool.drain_all(&options).await })
        })
    }

    /// Starts the drain with the defaults that also ends every subscription.
    fn close(&self, to: &Bound<'_, PyAny>, token: u64) -> PyResult<Py<Operation>> {
        self.start(to, token, |pool| {
            // It begins here, whether or not somebody is there to wait for it.
            let closing = pool.close();
            async move { closing.await.map(|()| Payload::Nothing) }
        })
    }
}
