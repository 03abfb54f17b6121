//! The native half of `Lease`.

use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;

use napi::bindgen_prelude::ToNapiValue;
use napi_derive::napi;
use trunkline::{CallOptions, CallResult, Lease, Operation, Pool, Session};

use crate::runtime::environment::{Environment, Promise};
use crate::runtime::failure::Result;
use crate::runtime::pending::Owner;
use crate::runtime::reply::{Reply, Settled};

/// A lease and what it needs to stay usable.
pub struct Held {
    /// The lease.
    pub lease: Lease,
    /// Its session, which would close when the host's own handle is collected. `None` where the
    /// lease keeps it by itself.
    pub _session: Option<Session>,
    /// Its pool.
    pub pool: Arc<Pool>,
}

impl Held {
    /// A lease on its way to JavaScript.
    pub fn lent(self) -> Settled {
        Settled::Object(Box::new(|environment| {
            let lease = NativeLease { environment: environment.clone(), held: Arc::new(self) };
            // SAFETY: this runs on the JavaScript thread of the environment.
            unsafe { NativeLease::to_napi_value(environment.env(), lease) }
        }))
    }
}

/// A lease. Its finaliser releases it, if the host did not.
#[napi]
pub struct NativeLease {
    environment: Rc<Environment>,
    held: Arc<Held>,
}

impl NativeLease {
    /// The lease.
    pub(crate) fn lease(&self) -> &Lease {
        &self.held.lease
    }

    /// Starts what is sent to the server as it is asked for.
    pub(crate) fn send(
        &self,
        options: Option<String>,
        number: Option<f64>,
        start: impl FnOnce(&Lease, &CallOptions, Reply) -> Operation,
    ) -> Result<Promise> {
        let options = self.environment.call_options(options, number)?;
        let owner = Owner::Shared(self.held.clone());
        self.environment.promise(number, owner, |reply| {
            let call = start(&self.held.lease, &options, reply);
            self.environment.await_answer(&call, &options);
            call
        })
    }

    /// A promise of what the core does.
    pub(crate) fn run<F, T>(
        &self,
        number: Option<f64>,
        request: impl FnOnce(Arc<Held>) -> F,
        settle: impl FnOnce(T) -> Settled + Send + 'static,
    ) -> Result<Promise>
    where
        F: Future<Output = trunkline::Result<T>> + Send + 'static,
        T: Send + 'static,
    {
        self.environment.run(number, &self.held.pool, request(self.held.clone()), settle)
    }
}

/// What settles the promise of a request.
pub fn ended(reply: Reply) -> impl FnOnce(trunkline::Result<CallResult>) + Send + 'static {
    move |result| reply.send(result.map(Settled::Call))
}

#[napi]
impl NativeLease {
    /// The server's name.
    #[napi(catch_unwind)]
    pub fn server(&self) -> String {
        self.held.lease.server().to_owned()
    }

    /// The entry's index.
    #[napi(catch_unwind)]
    pub fn entry_index(&self) -> u32 {
        self.held.lease.entry_index()
    }

    /// The incarnation of the connection.
    #[napi(catch_unwind)]
    pub fn generation(&self) -> u32 {
        self.held.lease.generation()
    }

    /// The state of the entry, as in `status`; `closed` once this lease can be used no more.
    #[napi(catch_unwind)]
    pub fn state(&self) -> String {
        self.held.lease.state().as_str().to_owned()
    }

    /// Gives the hold up.
    #[napi(catch_unwind)]
    pub fn release(&self) {
        self.held.lease.release();
    }
}
