//! A session, as Python holds it.

use std::future::Future;
use std::time::Duration;

use pyo3::prelude::*;
use trunkline::{
    AcquireOptions, CallOptions, ConfigureOptions, Error, ErrorCode, EventMask, ServerSpec,
    ToolFormat,
};

use crate::objects::host_servers::Provided;
use crate::objects::lease::HeldLease;
use crate::objects::rows::{GivenList, rows};
use crate::objects::subscription::Subscription;
use crate::runtime::delivery::{Operation, Sink, begun, ended, sink};
use crate::runtime::failure::{OrRaise, guarded, made};
use crate::runtime::fork::Owned;
use crate::runtime::interpreter::released;
use crate::runtime::options::{CallText, Text};
use crate::runtime::payload::Payload;

/// A session and the pool that it is of.
#[derive(Clone)]
struct SessionAndPool {
    session: trunkline::Session,
    pool: trunkline::Pool,
}

/// One conversation. Dropped, it is closed.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct Session(Owned<SessionAndPool>);

impl Session {
    fn start<F>(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        request: impl FnOnce(SessionAndPool) -> F,
    ) -> PyResult<Py<Operation>>
    where
        F: Future<Output = trunkline::Result<Payload>> + Send + 'static,
    {
        let open = self.0.here()?;
        guarded(|| {
            let sink = sink(to, token)?;
            let future = request(open.clone());
            Operation::new(to.py(), open.pool.start(future, move |outcome| sink.put(outcome)))
        })
    }

    /// Starts what is sent to the server as it is asked for.
    fn send(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        options: CallText,
        start: impl FnOnce(&trunkline::Session, &CallOptions, Sink) -> trunkline::Operation,
    ) -> PyResult<Py<Operation>> {
        let open = self.0.here()?;
        guarded(|| {
            let options = options.parse(to)?;
            let operation = start(&open.session, &options, sink(to, token)?);
            begun(to, operation, &options)
        })
    }

    /// What changes the session at once. Others may run Python meanwhile.
    fn changed(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&trunkline::Session) -> trunkline::Result<()> + Send,
    ) -> PyResult<()> {
        let session = &self.0.here()?.session;
        guarded(|| released(py, || change(session)).or_raise(py))
    }

    /// What is known of the session: the report as JSON text.
    fn reported<R: ToString>(
        &self,
        py: Python<'_>,
        look: impl FnOnce(&trunkline::Session) -> trunkline::Result<R> + Send,
    ) -> PyResult<String> {
        let session = &self.0.here()?.session;
        guarded(|| released(py, || look(session).map(|report| report.to_string())).or_raise(py))
    }
}

impl Session {
    /// To hand to Python.
    pub fn new(session: trunkline::Session, pool: trunkline::Pool) -> Self {
        Session(Owned::new(SessionAndPool { session, pool }))
    }
}

#[pymethods]
impl Session {
    /// Raises `ForkedError` where it was made before a fork, by the parent process.
    fn check_process(&self) -> PyResult<()> {
        self.0.here()?;
        Ok(())
    }

    /// Its id.
    fn id(&self) -> PyResult<&str> {
        Ok(self.0.here()?.session.id())
    }

    // <operations session> Written from core/pool/src/interface/operations; do not edit.
    /// Starts `acquire`.
    #[rustfmt::skip]
    fn acquire(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        server: String,
        config: Option<&str>,
        options: &str,
    ) -> PyResult<Py<Operation>> {
        guarded(|| {
            let config = config.map(|config| ServerSpec::from_json(&server, config));
            let config = config.transpose().or_raise(to.py())?;
            let options = AcquireOptions::from_json(options).or_raise(to.py())?;
            self.start(to, token, |open| async move {
                let lease = open.session.acquire(&server, config.as_ref(), &options).await?;
                Ok(HeldLease { lease, pool: open.pool }.lent())
            })
        })
    }

    /// Starts `started`.
    #[rustfmt::skip]
    fn started(&self, to: &Bound<'_, PyAny>, token: u64) -> PyResult<Py<Operation>> {
        self.start(to, token, |open| async move { open.session.started().await.map(Payload::report) })
    }

    /// Starts `ready`.
    #[rustfmt::skip]
    fn ready(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        server: Option<String>,
        timeout_ms: Option<u64>,
    ) -> PyResult<Py<Operation>> {
        let timeout = timeout_ms.map(Duration::from_millis);
        self.start(to, token, |open| async move { open.session.ready(server.as_deref(), timeout).await.map(|()| Payload::Nothing) })
    }

    /// Starts `refresh`.
    #[rustfmt::skip]
    fn refresh(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        server: String,
    ) -> PyResult<Py<Operation>> {
        self.start(to, token, |open| async move { open.session.refresh(&server).await.map(|()| Payload::Nothing) })
    }

    /// Starts `listed`.
    #[rustfmt::skip]
    fn listed(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        server: Option<String>,
    ) -> PyResult<Py<Operation>> {
        self.start(to, token, |open| async move { open.session.listed(server.as_deref()).await.map(|()| Payload::Nothing) })
    }

    /// Does `configure`.
    #[rustfmt::skip]
    fn configure(&self, py: Python<'_>, options: &str) -> PyResult<()> {
        self.changed(py, |session| {
            let options = ConfigureOptions::from_json(options)?;
            session.configure(options)
        })
    }

    /// What `explain` gives, as a text.
    #[rustfmt::skip]
    fn explain(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        self.reported(py, |session| session.explain(name))
    }

    /// Does `disable`.
    #[rustfmt::skip]
    fn disable(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = Text::server)] server: Text,
    ) -> PyResult<()> {
        self.changed(py, |session| session.disable(&server))
    }

    /// Does `enable`.
    #[rustfmt::skip]
    fn enable(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = Text::server)] server: Text,
    ) -> PyResult<()> {
        self.changed(py, |session| session.enable(&server))
    }

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
        self.send(to, token, options, |session, options, sink| {
            session.start_call_tool(tool, arguments, options, ended(sink))
        })
    }

    /// Starts `request`.
    #[rustfmt::skip]
    fn request(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        server: &str,
        method: &str,
        params: &str,
        options: CallText,
    ) -> PyResult<Py<Operation>> {
        self.send(to, token, options, |session, options, sink| {
            session.start_request(server, method, params, options, ended(sink))
        })
    }

    /// Starts `read_resource`.
    #[rustfmt::skip]
    fn read_resource(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        server: &str,
        uri: &str,
        options: CallText,
    ) -> PyResult<Py<Operation>> {
        self.send(to, token, options, |session, options, sink| {
            session.start_read_resource(server, uri, options, ended(sink))
        })
    }

    /// Starts `get_prompt`.
    #[rustfmt::skip]
    fn get_prompt(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        server: &str,
        name: &str,
        arguments: &str,
        options: CallText,
    ) -> PyResult<Py<Operation>> {
        self.send(to, token, options, |session, options, sink| {
            session.start_get_prompt(server, name, arguments, options, ended(sink))
        })
    }

    /// Starts `complete`.
    #[rustfmt::skip]
    fn complete(
        &self,
        to: &Bound<'_, PyAny>,
        token: u64,
        server: &str,
        params: &str,
        options: CallText,
    ) -> PyResult<Py<Operation>> {
        self.send(to, token, options, |session, options, sink| {
            session.start_complete(server, params, options, ended(sink))
        })
    }
    // </operations session>

    /// What a server said of itself, as JSON text; nothing of one that was not connected to.
    fn introduction(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = Text::server)] server: Text,
    ) -> PyResult<Option<String>> {
        let session = &self.0.here()?.session;
        guarded(|| {
            let said = session.introduction(&server).or_raise(py)?;
            Ok(said.map(|said| said.json().to_owned()))
        })
    }

    /// One of the four lists of its view: its rows, its number, and itself. Of a list that has the
    /// items of `known` there are no rows.
    fn list(
        &self,
        py: Python<'_>,
        kind: &str,
        known: Option<&Bound<'_, GivenList>>,
    ) -> PyResult<Py<PyAny>> {
        let session = &self.0.here()?.session;
        guarded(|| {
            let listed = match kind {
                "tools" => session.tools(),
                "prompts" => session.prompts(),
                "resources" => session.resources(),
                "resource_templates" => session.resource_templates(),
                _ => Err(Error::new(ErrorCode::InvalidArgument, "no such list")),
            };
            let listed = listed.or_raise(py)?;
            let revision = listed.revision();
            if known.is_some_and(|known| known.get().0.has_same_items(&listed)) {
                return made(py, (py.None(), revision, known));
            }
            made(py, (rows(&listed), revision, Py::new(py, GivenList(listed))?))
        })
    }

    /// The tools of its view in the shape of a model API, as JSON text, and the number of that
    /// list. Of the list with the number `known` there is no text.
    fn tools_for(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = shape)] shape: Text,
        known: Option<u64>,
    ) -> PyResult<Py<PyAny>> {
        let session = &self.0.here()?.session;
        guarded(|| {
            let shape = ToolFormat::from_word(&shape).or_raise(py)?;
            if known.is_some() && known == Some(session.tools().or_raise(py)?.revision()) {
                return made(py, (py.None(), known));
            }
            let tools = session.tools_for(shape).or_raise(py)?;
            made(py, (tools.json(), tools.revision()))
        })
    }

    /// Provides a server of the host's own to it.
    fn provide(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = Text::server)] server: Text,
        receive: Py<PyAny>,
        closed: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let session = &self.0.here()?.session;
        let provided = Provided::new(receive, closed);
        guarded(|| released(py, || session.provide(&server, provided)).or_raise(py))
    }

    /// Events of this session.
    fn subscribe(&self, py: Python<'_>, kinds: u64) -> PyResult<Py<Subscription>> {
        let session = &self.0.here()?.session;
        guarded(|| {
            Py::new(py, Subscription::new(session.subscribe(EventMask(kinds)).or_raise(py)?))
        })
    }

    /// Ends it.
    fn close(&self, keep_for_ms: Option<u64>) -> PyResult<()> {
        let session = &self.0.here()?.session;
        guarded(|| {
            session.close(keep_for_ms.map(Duration::from_millis));
            Ok(())
        })
    }
}

fn shape(given: &Bound<'_, PyAny>) -> PyResult<Text> {
    Text::read(given, "shape")
}
