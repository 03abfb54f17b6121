//! The native half of `Session`.

use std::rc::Rc;
use std::sync::Arc;

use napi_derive::napi;
use trunkline::{CallOptions, Lease, Operation, Pool, Session, ToolFormat};

use crate::objects::host_servers::NativeProvided;
use crate::objects::lease::Held;
use crate::objects::subscription::NativeSubscription;
use crate::runtime::environment::{Environment, Promise};
use crate::runtime::failure::{Result, thrown};
use crate::runtime::json_text::{JsonText, duration, shaped};
use crate::runtime::pending::Owner;
use crate::runtime::reply::{Reply, Settled};

/// A session. Its finaliser closes it, if the host did not.
#[napi]
pub struct NativeSession {
    environment: Rc<Environment>,
    pool: Arc<Pool>,
    session: Session,
}

impl NativeSession {
    /// Wraps a session.
    pub fn new(environment: Rc<Environment>, pool: Arc<Pool>, session: Session) -> NativeSession {
        NativeSession { environment, pool, session }
    }

    /// The session.
    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// A promise of what the core does.
    pub(crate) fn run<F, T>(
        &self,
        number: Option<f64>,
        request: impl FnOnce(Session) -> F,
        settle: impl FnOnce(T) -> Settled + Send + 'static,
    ) -> Result<Promise>
    where
        F: Future<Output = trunkline::Result<T>> + Send + 'static,
        T: Send + 'static,
    {
        self.environment.run(number, &self.pool, request(self.session.clone()), settle)
    }

    /// Starts what is sent to a server as it is asked for.
    pub(crate) fn send(
        &self,
        options: Option<String>,
        number: Option<f64>,
        start: impl FnOnce(&Session, &CallOptions, Reply) -> Operation,
    ) -> Result<Promise> {
        let options = self.environment.call_options(options, number)?;
        let owner = Owner::Session(self.session.clone());
        self.environment.promise(number, owner, |reply| {
            let call = start(&self.session, &options, reply);
            self.environment.await_answer(&call, &options);
            call
        })
    }

    /// What becomes of a lease.
    pub(crate) fn lent(&self) -> impl FnOnce(Lease) -> Settled + Send + use<> {
        let (_session, pool) = (Some(self.session.clone()), self.pool.clone());
        |lease| Held { lease, _session, pool }.lent()
    }
}

#[napi]
impl NativeSession {
    /// Waits for one server, or for all that the session wants.
    #[napi(catch_unwind)]
    pub fn ready(
        &self,
        server: Option<String>,
        timeout_ms: Option<f64>,
        number: Option<f64>,
    ) -> Result<Promise> {
        let timeout = timeout_ms.map(duration);
        let session = self.session.clone();
        let future = async move { session.ready(server.as_deref(), timeout).await };
        self.environment.run(number, &self.pool, future, |()| Settled::Nothing)
    }

    /// The tools of its view in the shape of a model API, as JSON text; nothing where JavaScript
    /// knows them by their mark.
    #[napi(catch_unwind)]
    pub fn tools_for(&self, shape: String, known: Option<String>) -> Result<Option<JsonText>> {
        let shape = ToolFormat::from_word(&shape).map_err(thrown)?;
        let tools = self.session.tools_for(shape).map_err(thrown)?;
        Ok(shaped(&tools, known.as_deref()))
    }

    /// Provides a server of the host's own to it.
    #[napi(catch_unwind)]
    pub fn provide(&self, server: String) -> Result<NativeProvided> {
        let (native, provided) = NativeProvided::new(&self.environment);
        self.session.provide(&server, provided).map_err(thrown)?;
        Ok(native)
    }

    /// Subscribes to the kinds of event with these numbers.
    #[napi(catch_unwind)]
    pub fn subscribe(&self, kinds: Vec<u32>) -> Result<NativeSubscription> {
        let mask = NativeSubscription::mask(&kinds);
        let subscription = self.session.subscribe(mask).map_err(thrown)?;
        Ok(NativeSubscription::new(&self.environment, subscription))
    }

    /// Ends it; its holds go after `keep_for_ms`, by default as its options say.
    #[napi(catch_unwind)]
    pub fn close(&self, keep_for_ms: Option<f64>) {
        let keep_for = keep_for_ms.map(duration);
        self.session.close(keep_for);
    }
}
