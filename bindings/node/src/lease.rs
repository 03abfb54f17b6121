//! The native half of `Lease`.

use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;

use napi_derive::napi;
use trunkline::{CallResult, Lease, Pool};

use crate::environment::{Environment, Promise};
use crate::failure::{Result, thrown};
use crate::reply::Settled;
use crate::session::{JsonText, call_options, list_text};

/// A lease. Its finaliser releases it, if the host did not.
#[napi]
pub struct NativeLease {
    environment: Rc<Environment>,
    pool: Arc<Pool>,
    lease: Arc<Lease>,
}

impl NativeLease {
    /// Wraps a lease.
    pub fn new(environment: Rc<Environment>, pool: Arc<Pool>, lease: Lease) -> NativeLease {
        NativeLease { environment, pool, lease: Arc::new(lease) }
    }

    fn call(
        &self,
        number: Option<f64>,
        future: impl Future<Output = trunkline::Result<CallResult>> + Send + 'static,
    ) -> Result<Promise> {
        self.environment.run(number, &self.pool, future, Settled::Call)
    }

    fn act(
        &self,
        number: Option<f64>,
        future: impl Future<Output = trunkline::Result<()>> + Send + 'static,
    ) -> Result<Promise> {
        self.environment.run(number, &self.pool, future, |()| Settled::Nothing)
    }
}

#[napi]
impl NativeLease {
    /// The server's name.
    #[napi(catch_unwind)]
    pub fn server(&self) -> String {
        self.lease.server().to_owned()
    }

    /// The entry's index.
    #[napi(catch_unwind)]
    pub fn entry_index(&self) -> u32 {
        self.lease.entry_index()
    }

    /// The incarnation of the connection.
    #[napi(catch_unwind)]
    pub fn generation(&self) -> u32 {
        self.lease.generation()
    }

    /// The state of the entry, as in `status`.
    #[napi(catch_unwind)]
    pub fn state(&self) -> String {
        self.lease.state().as_str().to_owned()
    }

    /// The tools of this server in the session's view, as JSON text.
    #[napi(catch_unwind)]
    pub fn tools(&self) -> Result<JsonText> {
        self.lease.tools().map(|listed| list_text(&listed)).map_err(thrown)
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
        let options = call_options(options)?;
        self.environment.promise(number, |reply| {
            self.lease.start_call_tool(&tool, &arguments, &options, move |result| {
                reply.send(result.map(Settled::Call));
            })
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
        let options = call_options(options)?;
        self.environment.promise(number, |reply| {
            self.lease.start_request(&method, &params, &options, move |result| {
                reply.send(result.map(Settled::Call));
            })
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
        let (lease, options) = (self.lease.clone(), call_options(options)?);
        self.call(number, async move { lease.read_resource(&uri, &options).await })
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
        let (lease, options) = (self.lease.clone(), call_options(options)?);
        self.call(number, async move { lease.get_prompt(&name, &arguments, &options).await })
    }

    /// Asks for completions; `params` is the text of the request's params object.
    #[napi(catch_unwind)]
    pub fn complete(
        &self,
        params: String,
        options: Option<String>,
        number: Option<f64>,
    ) -> Result<Promise> {
        let (lease, options) = (self.lease.clone(), call_options(options)?);
        self.call(number, async move { lease.complete(&params, &options).await })
    }

    /// Subscribes the session to updates of a resource.
    #[napi(catch_unwind)]
    pub fn subscribe_resource(&self, uri: String, number: Option<f64>) -> Result<Promise> {
        let lease = self.lease.clone();
        self.act(number, async move { lease.subscribe_resource(&uri).await })
    }

    /// The counterpart of `subscribe_resource`.
    #[napi(catch_unwind)]
    pub fn unsubscribe_resource(&self, uri: String, number: Option<f64>) -> Result<Promise> {
        let lease = self.lease.clone();
        self.act(number, async move { lease.unsubscribe_resource(&uri).await })
    }

    /// Gives the hold up.
    #[napi(catch_unwind)]
    pub fn release(&self) {
        self.lease.release();
    }
}
