//! The native half of `Pool`.

use std::rc::Rc;
use std::sync::Arc;

use napi_derive::napi;
use trunkline::{DrainOptions, Lease, Pool, SessionOptions};

use crate::objects::handler_queue::NativeDesk;
use crate::objects::lease::Held;
use crate::objects::session::NativeSession;
use crate::objects::subscription::NativeSubscription;
use crate::runtime::environment::{Environment, Promise};
use crate::runtime::failure::{Result, thrown};
use crate::runtime::reply::Settled;

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

    /// A promise of what the core does.
    pub(crate) fn run<F, T>(
        &self,
        number: Option<f64>,
        request: impl FnOnce(Arc<Pool>) -> F,
        settle: impl FnOnce(T) -> Settled + Send + 'static,
    ) -> Result<Promise>
    where
        F: Future<Output = trunkline::Result<T>> + Send + 'static,
        T: Send + 'static,
    {
        self.environment.run(number, &self.pool, request(self.pool.clone()), settle)
    }

    /// What becomes of a lease.
    pub(crate) fn lent(&self) -> impl FnOnce(Lease) -> Settled + Send + use<> {
        let pool = self.pool.clone();
        |lease| Held { lease, _session: None, pool }.lent()
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

    /// Subscribes to the kinds of event with these numbers.
    #[napi(catch_unwind)]
    pub fn subscribe(&self, kinds: Vec<u32>) -> Result<NativeSubscription> {
        let mask = NativeSubscription::mask(&kinds);
        let subscription = self.pool.subscribe(mask).map_err(thrown)?;
        Ok(NativeSubscription::new(&self.environment, subscription))
    }

    /// Drains, then ends the subscriptions.
    #[napi(catch_unwind)]
    pub fn close(&self, options: String) -> Result<Promise> {
        let options = DrainOptions::from_json(&options).map_err(thrown)?;
        self.environment.run(None, &self.pool, self.pool.close_with(options), |()| Settled::Nothing)
    }
}
