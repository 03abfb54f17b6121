//! The native half of `Lease`.

use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;

use napi_derive::napi;
use trunkline::{CallResult, Lease, Pool, Session};

use crate::environment::{Environment, Promise};
use crate::failure::{Result, thrown};
use crate::pending::Owner;
use crate::reply::Settled;
use crate::session::{JsonText, list_text};

/// A lease and what it needs to stay usable.
pub struct Held {
    /// The lease.
    pub lease: Lease,
    /// Its session, which would close when the host's own handle is collected. `None` where the lease keeps it by itself.
    pub session: Option<Session>,
    /// Its pool.
    pub pool: Arc<Pool>,
}

/// A lease. Its finaliser releases it, if the host did not.
#[napi]
pub struct NativeLease {
    environment: Rc<Environment>,
    held: Arc<Held>,
}

impl NativeLease {
    /// Wraps a lease.
    pub fn new(environment: Rc<Environment>, held: Held) -> NativeLease {
        NativeLease { environment, held: Arc::new(held) }
    }

    fn call(
        &self,
        number: Option<f64>,
        future: impl Future<Output = trunkline::Result<CallResult>> + Send + 'static,
    ) -> Result<Promise> {
        self.environment.run(number, &self.held.pool, future, Settled::Call)
    }

    fn act(
        &self,
        number: Option<f64>,
        future: impl Future<Output = trunkline::Result<()>> + Send + 'static,
    ) -> Result<Promise> {
        self.environment.run(number, &self.held.pool, future, |()| Settled::Nothing)
    }
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

    /// The tools of this server in the session's view, as JSON text.
    #[napi(catch_unwind)]
    pub fn tools(&self) -> Result<JsonText> {
        self.held.lease.tools().map(|listed| list_text(&listed)).map_err(thrown)
    }

    /// Calls a tool by the server's own name; `arguments` is the text of a JSON object.
    #[napi(catch_unwind)]
    pub fn call_tool(
        &self,
        tool: String,
        arguments: String,
        options: Option<String>,
        number: Option<f64>,
    ) -> Result<Promise> {
        let options = self.environment.call_options(options, number)?;
        let owner = Owner::Lease(self.held.clone());
        self.environment.promise(number, owner, |reply| {
            let call =
                self.held.lease.start_call_tool(&tool, &arguments, &options, move |result| {
                    reply.send(result.map(Settled::Call));
                });
            self.environment.await_answer(&call, &options);
            call
        })
    }

    /// Any other request; `params` is the text of a JSON object.
    #[napi(catch_unwind)]
    pub fn request(
        &self,
        method: String,
        params: String,
        options: Option<String>,
        number: Option<f64>,
    ) -> Result<Promise> {
        let options = self.environment.call_options(options, number)?;
        let owner = Owner::Lease(self.held.clone());
        self.environment.promise(number, owner, |reply| {
            let call = self.held.lease.start_request(&method, &params, &options, move |result| {
                reply.send(result.map(Settled::Call));
            });
            self.environment.await_answer(&call, &options);
            call
        })
    }

    /// Reads a resource.
    #[napi(catch_unwind)]
    pub fn read_resource(
        &self,
        uri: String,
        options: Option<String>,
        number: Option<f64>,
    ) -> Result<Promise> {
        let (held, options) = (self.held.clone(), self.environment.call_options(options, number)?);
        self.call(number, async move { held.lease.read_resource(&uri, &options).await })
    }

    /// Gets a prompt; `arguments` is the text of a JSON object.
    #[napi(catch_unwind)]
    pub fn get_prompt(
        &self,
        name: String,
        arguments: String,
        options: Option<String>,
        number: Option<f64>,
    ) -> Result<Promise> {
        let (held, options) = (self.held.clone(), self.environment.call_options(options, number)?);
        self.call(number, async move { held.lease.get_prompt(&name, &arguments, &options).await })
    }

    /// Asks for completions; `params` is the text of the request's params object.
    #[napi(catch_unwind)]
    pub fn complete(
        &self,
        params: String,
        options: Option<String>,
        number: Option<f64>,
    ) -> Result<Promise> {
        let (held, options) = (self.held.clone(), self.environment.call_options(options, number)?);
        self.call(number, async move { held.lease.complete(&params, &options).await })
    }

    /// Subscribes the session to updates of a resource.
    #[napi(catch_unwind)]
    pub fn subscribe_resource(&self, uri: String, number: Option<f64>) -> Result<Promise> {
        let held = self.held.clone();
        self.act(number, async move { held.lease.subscribe_resource(&uri).await })
    }

    /// The counterpart of `subscribe_resource`.
    #[napi(catch_unwind)]
    pub fn unsubscribe_resource(&self, uri: String, number: Option<f64>) -> Result<Promise> {
        let held = self.held.clone();
        self.act(number, async move { held.lease.unsubscribe_resource(&uri).await })
    }

    /// Gives the hold up.
    #[napi(catch_unwind)]
    pub fn release(&self) {
        self.held.lease.release();
    }
}
