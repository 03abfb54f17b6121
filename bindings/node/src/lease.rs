//! The native half of `Lease`.

use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;

use napi_derive::napi;
use trunkline::{CallOptions, CallResult, Lease, Operation, Pool, Session};

use crate::environment::{Environment, Promise};
use crate::failure::{Result, thrown};
use crate::pending::Owner;
use crate::reply::{Reply, Settled};
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

    /// Starts what is sent to the server as it is asked for.
    fn send(
        &self,
        options: Option<String>,
        number: Option<f64>,
        start: impl FnOnce(&Lease, &CallOptions, Reply) -> Operation,
    ) -> Result<Promise> {
        let options = self.environment.call_options(options, number)?;
        let owner = Owner::Lease(self.held.clone());
        self.environment.promise(number, owner, |reply| {
            let call = start(&self.held.lease, &options, reply);
            self.environment.await_answer(&call, &options);
            call
        })
    }

    fn act(
        &self,
        number: Option<f64>,
        future: impl Future<Output = trunkline::Result<()>> + Send + 'static,
    ) -> Result<Promise> {
        self.environment.run(number, &self.held.pool, future, |()| Settled::Nothing)
    }
}

/// What settles the promise of a request.
fn ended(reply: Reply) -> impl FnOnce(trunkline::Result<CallResult>) + Send + 'static {
    move |result| reply.send(result.map(Settled::Call))
}

#[napi]
impl NativeLease {
    /// The server's name.
    #[napi(catch_unwind)]
    pub fn server(&self) -> String {
        self.held.lease.server().to_owned()
    }

    /// What the server said of itself, as JSON text; nothing before it was connected to.
    #[napi(catch_unwind)]
    pub fn introduction(&self) -> Option<JsonText> {
        self.held.lease.introduction().map(|said| JsonText(said.json().to_owned()))
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
        self.send(options, number, |lease, options, reply| {
            lease.start_call_tool(&tool, &arguments, options, ended(reply))
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
        self.send(options, number, |lease, options, reply| {
            lease.start_request(&method, &params, options, ended(reply))
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
        self.send(options, number, |lease, options, reply| {
            lease.start_read_resource(&uri, options, ended(reply))
        })
    }

    /// Gets a prompt.
    #[napi(catch_unwind)]
    pub fn get_prompt(
        &self,
        name: String,
        arguments: String,
        options: Option<String>,
        number: Option<f64>,
    ) -> Result<Promise> {
        self.send(options, number, |lease, options, reply| {
            lease.start_get_prompt(&name, &arguments, options, ended(reply))
        })
    }

    /// Asks for completions.
    #[napi(catch_unwind)]
    pub fn complete(
        &self,
        params: String,
        options: Option<String>,
        number: Option<f64>,
    ) -> Result<Promise> {
        self.send(options, number, |lease, options, reply| {
            lease.start_complete(&params, options, ended(reply))
        })
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
