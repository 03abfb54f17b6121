//! The native half of `Pool`.

use std::rc::Rc;
use std::sync::Arc;

use napi_derive::napi;
use trunkline::{
    AcquireOptions, DrainOptions, GateLists, Pool, ServerSpec, Servers, SessionOptions,
    SignInOptions, StatusOptions, roots_from_json,
};

use crate::desk::NativeDesk;
use crate::environment::{Environment, Promise};
use crate::failure::{Result, thrown};
use crate::lease::Held;
use crate::reply::Settled;
use crate::session::NativeSession;
use crate::subscription::NativeSubscription;

/// A pool. Its finaliser closes it in the background, if nothing else of it is left.
#[napi]
pub struct NativePool {
    environment: Rc<Environment>,
    pool: Arc<Pool>,
}

impl NativePool {
    /// Wraps a pool.
    pub fn new(environment: Rc<Environment>, pool: Arc<Pool>) -> NativePool {
        NativePool { environment, pool }
    }

    /// The pool.
    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// A promise of a report as JSON text.
    pub(crate) fn report<F, R>(
        &self,
        number: Option<f64>,
        request: impl FnOnce(Arc<Pool>) -> F,
    ) -> Result<Promise>
    where
        F: Future<Output = trunkline::Result<R>> + Send + 'static,
        R: ToString + Send + 'static,
    {
        let future = request(self.pool.clone());
        self.environment.run(number, &self.pool, future, |report| Settled::Text(report.to_string()))
    }
}

#[napi]
impl NativePool {
    /// Opens a session; the options are a JSON text.
    #[napi(catch_unwind)]
    pub fn session(&self, options: String, desk: Option<&NativeDesk>) -> Result<NativeSession> {
        let mut options = SessionOptions::from_json(&options).map_err(thrown)?;
        options.handlers = NativeDesk::handlers(desk);
        let session = self.pool.session(options).map_err(thrown)?;
        Ok(NativeSession::new(self.environment.clone(), self.pool.clone(), session))
    }

    /// A lease for a session by its id; the server's configuration and the options are JSON texts.
    #[napi(catch_unwind)]
    pub fn acquire(
        &self,
        server: String,
        config: String,
        session: String,
        options: String,
        number: Option<f64>,
    ) -> Result<Promise> {
        let spec = ServerSpec::from_json(&server, &config);
        let spec = spec.map_err(thrown)?;
        let options = AcquireOptions::from_json(&options).map_err(thrown)?;
        let (pool, lender) = (self.pool.clone(), self.pool.clone());
        let future = async move { pool.acquire(&server, &spec, &session, &options).await };
        self.environment.run(number, &self.pool, future, |lease| {
            Settled::Lease(Box::new(Held { lease, session: None, pool: lender }))
        })
    }

    /// Replaces the run-time source; the servers are a JSON text.
    #[napi(catch_unwind)]
    pub fn reconcile(&self, servers: String, number: Option<f64>) -> Result<Promise> {
        let servers = Servers::from_json(&servers).map_err(thrown)?;
        self.report(number, |pool| async move { pool.reconcile(servers).await })
    }

    /// Replaces the connections of a server.
    #[napi(catch_unwind)]
    pub fn restart(
        &self,
        server: String,
        index: Option<u32>,
        number: Option<f64>,
    ) -> Result<Promise> {
        self.report(number, |pool| async move { pool.restart(&server, index).await })
    }

    /// Accepts the definition of a tool.
    #[napi(catch_unwind)]
    pub fn accept_tool(
        &self,
        server: String,
        tool: String,
        digest: String,
        number: Option<f64>,
    ) -> Result<Promise> {
        let pool = self.pool.clone();
        let future = async move { pool.accept_tool(&server, &tool, &digest).await };
        self.environment.run(number, &self.pool, future, |()| Settled::Nothing)
    }

    /// Replaces the folders that servers are told of; they are a JSON text.
    #[napi(catch_unwind)]
    pub fn set_roots(&self, roots: String, number: Option<f64>) -> Result<Promise> {
        let roots = roots_from_json(&roots).map_err(thrown)?;
        let pool = self.pool.clone();
        let future = async move { pool.set_roots(&roots).await };
        self.environment.run(number, &self.pool, future, |()| Settled::Nothing)
    }

    /// Replaces the lists of servers that may run; they are a JSON text, and so is the report.
    #[napi(catch_unwind)]
    pub fn set_gates(&self, gates: String) -> Result<String> {
        let lists = GateLists::from_json(&gates).map_err(thrown)?;
        self.pool.set_gates(lists).map(|report| report.to_string()).map_err(thrown)
    }

    /// Begins a sign-in; the options are a JSON text.
    #[napi(catch_unwind)]
    pub fn sign_in(&self, server: String, options: String, number: Option<f64>) -> Result<Promise> {
        let options = SignInOptions::from_json(&options).map_err(thrown)?;
        self.report(number, |pool| async move { pool.sign_in(&server, &options).await })
    }

    /// Ends a sign-in.
    #[napi(catch_unwind)]
    pub fn finish_sign_in(&self, redirect_url: String, number: Option<f64>) -> Result<Promise> {
        self.report(number, |pool| async move { pool.finish_sign_in(&redirect_url).await })
    }

    /// Forgets what was signed in.
    #[napi(catch_unwind)]
    pub fn sign_out(&self, server: String, number: Option<f64>) -> Result<Promise> {
        self.report(number, |pool| async move { pool.sign_out(&server).await })
    }

    /// The whole pool as JSON text; the options are one too.
    #[napi(catch_unwind)]
    pub fn status(&self, options: String) -> Result<String> {
        let options = StatusOptions::from_json(&options).map_err(thrown)?;
        Ok(self.pool.status_with(&options).to_string())
    }

    /// What the status counts, as a collector reads it; the options are a JSON text.
    #[napi(catch_unwind)]
    pub fn metrics(&self, options: String) -> Result<String> {
        let options = StatusOptions::from_json(&options).map_err(thrown)?;
        self.pool.metrics(&options).map_err(thrown)
    }

    /// Subscribes to the kinds of event with these numbers.
    #[napi(catch_unwind)]
    pub fn subscribe(&self, kinds: Vec<u32>) -> Result<NativeSubscription> {
        let mask = NativeSubscription::mask(&kinds);
        let subscription = self.pool.subscribe(mask).map_err(thrown)?;
        Ok(NativeSubscription::new(&self.environment, subscription))
    }

    /// Ends everything; the options are a JSON text.
    #[napi(catch_unwind)]
    pub fn drain_all(&self, options: String, number: Option<f64>) -> Result<Promise> {
        let options = DrainOptions::from_json(&options).map_err(thrown)?;
        self.report(number, |pool| async move { pool.drain_all(&options).await })
    }

    /// Drains with the defaults, then ends the subscriptions.
    #[napi(catch_unwind)]
    pub fn close(&self) -> Result<Promise> {
        self.environment.run(None, &self.pool, self.pool.close(), |()| Settled::Nothing)
    }
}
