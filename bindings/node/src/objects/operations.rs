//! Written from core/pool/src/interface/operations; do not edit.
//!
//! `UPDATE_REFERENCE=1 cargo test -p trunkline-pool --test reference` writes it anew.

use napi_derive::napi;
use trunkline::{
    AcquireOptions, ConfigureOptions, DrainOptions, GateLists, LoadOptions, ReloadOptions,
    ServerSpec, Servers, SignInOptions, SourceName, StatusOptions, Switch, WorkspaceTrust,
    roots_from_json,
};

use crate::runtime::environment::Promise;
use crate::runtime::failure::{Result, thrown};
use crate::runtime::json_text::{JsonText, duration, list_text, numbered};
use crate::objects::lease::{NativeLease, ended};
use crate::objects::pool::NativePool;
use crate::runtime::reply::Settled;
use crate::objects::session::NativeSession;

#[napi]
impl NativePool {
    /// `acquire`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn acquire(
        &self,
        server: String,
        config: String,
        session: String,
        options: String,
        number: Option<f64>,
    ) -> Result<Promise> {
        let config = ServerSpec::from_json(&server, &config).map_err(thrown)?;
        let options = AcquireOptions::from_json(&options).map_err(thrown)?;
        self.run(number, |pool| async move { pool.acquire(&server, &config, &session, &options).await }, self.lent())
    }

    /// `restart`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn restart(
        &self,
        server: String,
        index: Option<u32>,
        number: Option<f64>,
    ) -> Result<Promise> {
        self.run(number, |pool| async move { pool.restart(&server, index).await }, Settled::report)
    }

    /// `accept_tool`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn accept_tool(
        &self,
        server: String,
        tool: String,
        digest: String,
        number: Option<f64>,
    ) -> Result<Promise> {
        self.run(number, |pool| async move { pool.accept_tool(&server, &tool, &digest).await }, |()| Settled::Nothing)
    }

    /// `set_roots`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn set_roots(&self, roots: String, number: Option<f64>) -> Result<Promise> {
        let roots = roots_from_json(&roots).map_err(thrown)?;
        self.run(number, |pool| async move { pool.set_roots(&roots).await }, |()| Settled::Nothing)
    }

    /// `set_gates`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn set_gates(&self, gates: String) -> Result<String> {
        let gates = GateLists::from_json(&gates).map_err(thrown)?;
        self.pool().set_gates(gates).map(|report| report.to_string()).map_err(thrown)
    }

    /// `explain`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn explain(&self, name: String) -> Result<String> {
        self.pool().explain(&name).map(|report| report.to_string()).map_err(thrown)
    }

    /// `status`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn status(&self, options: String) -> Result<String> {
        let options = StatusOptions::from_json(&options).map_err(thrown)?;
        Ok(self.pool().status_with(&options).to_string())
    }

    /// `metrics`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn metrics(&self, options: String) -> Result<String> {
        let options = StatusOptions::from_json(&options).map_err(thrown)?;
        self.pool().metrics(&options).map_err(thrown)
    }

    /// `drain_all`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn drain_all(&self, options: String, number: Option<f64>) -> Result<Promise> {
        let options = DrainOptions::from_json(&options).map_err(thrown)?;
        self.run(number, |pool| async move { pool.drain_all(&options).await }, Settled::report)
    }

    /// `reconcile`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn reconcile(&self, servers: String, number: Option<f64>) -> Result<Promise> {
        let servers = Servers::from_json(&servers).map_err(thrown)?;
        self.run(number, |pool| async move { pool.reconcile(servers).await }, Settled::report)
    }

    /// `load`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn load(&self, path: String, options: String, number: Option<f64>) -> Result<Promise> {
        let options = LoadOptions::from_json(&options).map_err(thrown)?;
        self.run(number, |pool| async move { pool.load(path, &options).await }, Settled::report)
    }

    /// `set_source`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn set_source(&self, source: String, settings: Option<String>) -> Result<String> {
        let source = source.parse::<SourceName>().map_err(thrown)?;
        self.pool().set_source(&source, settings.as_deref()).map(|report| report.to_string()).map_err(thrown)
    }

    /// `switch_source`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn switch_source(&self, source: String, on: bool) -> Result<String> {
        let source = source.parse::<SourceName>().map_err(thrown)?;
        let to = if on { Switch::On } else { Switch::Off };
        self.pool().switch_source(&source, to).map(|report| report.to_string()).map_err(thrown)
    }

    /// `add_server`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn add_server(&self, server: String, config: String) -> Result<String> {
        let config = ServerSpec::from_json(&server, &config).map_err(thrown)?;
        self.pool().add_server(&server, &config).map(|report| report.to_string()).map_err(thrown)
    }

    /// `remove_server`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn remove_server(&self, server: String) -> Result<String> {
        self.pool().remove_server(&server).map(|report| report.to_string()).map_err(thrown)
    }

    /// `set_trusted`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn set_trusted(&self, trusted: bool, number: Option<f64>) -> Result<Promise> {
        let trusted = if trusted { WorkspaceTrust::Trusted } else { WorkspaceTrust::Untrusted };
        self.run(number, |pool| pool.set_trusted(trusted), Settled::report)
    }

    /// `reload`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn reload(&self, options: String, number: Option<f64>) -> Result<Promise> {
        let options = ReloadOptions::from_json(&options).map_err(thrown)?;
        self.run(number, |pool| async move { pool.reload(&options).await }, Settled::report)
    }

    /// `approvals`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn approvals(&self, number: Option<f64>) -> Result<Promise> {
        self.run(number, |pool| async move { pool.approvals().await }, Settled::report)
    }

    /// `approve`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn approve(&self, server: String, hash: String, number: Option<f64>) -> Result<Promise> {
        self.run(number, |pool| async move { pool.approve(&server, &hash).await }, Settled::report)
    }

    /// `reject`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn reject(&self, server: String, hash: String, number: Option<f64>) -> Result<Promise> {
        self.run(number, |pool| async move { pool.reject(&server, &hash).await }, Settled::report)
    }

    /// `forget`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn forget(&self, server: String, number: Option<f64>) -> Result<Promise> {
        self.run(number, |pool| async move { pool.forget(&server).await }, Settled::report)
    }

    /// `settled`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn settled(&self, timeout_ms: Option<f64>, number: Option<f64>) -> Result<Promise> {
        let timeout = timeout_ms.map(duration);
        self.run(number, |pool| async move { pool.settled(timeout).await }, Settled::report)
    }

    /// `sign_in`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn sign_in(&self, server: String, options: String, number: Option<f64>) -> Result<Promise> {
        let options = SignInOptions::from_json(&options).map_err(thrown)?;
        self.run(number, |pool| async move { pool.sign_in(&server, &options).await }, Settled::report)
    }

    /// `finish_sign_in`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn finish_sign_in(&self, redirect_url: String, number: Option<f64>) -> Result<Promise> {
        self.run(number, |pool| async move { pool.finish_sign_in(&redirect_url).await }, Settled::report)
    }

    /// `sign_out`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn sign_out(&self, server: String, number: Option<f64>) -> Result<Promise> {
        self.run(number, |pool| async move { pool.sign_out(&server).await }, Settled::report)
    }
}

#[napi]
impl NativeSession {
    /// `acquire`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn acquire(
        &self,
        server: String,
        config: Option<String>,
        options: String,
        number: Option<f64>,
    ) -> Result<Promise> {
        let config = config.map(|config| ServerSpec::from_json(&server, &config));
        let config = config.transpose().map_err(thrown)?;
        let options = AcquireOptions::from_json(&options).map_err(thrown)?;
        self.run(number, |session| async move { session.acquire(&server, config.as_ref(), &options).await }, self.lent())
    }

    /// `started`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn started(&self, number: Option<f64>) -> Result<Promise> {
        self.run(number, |session| async move { session.started().await }, Settled::report)
    }

    /// `refresh`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn refresh(&self, server: String, number: Option<f64>) -> Result<Promise> {
        self.run(number, |session| async move { session.refresh(&server).await }, |()| Settled::Nothing)
    }

    /// `listed`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn listed(&self, server: Option<String>, number: Option<f64>) -> Result<Promise> {
        self.run(number, |session| async move { session.listed(server.as_deref()).await }, |()| Settled::Nothing)
    }

    /// `introduction`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn introduction(&self, server: String) -> Result<Option<JsonText>> {
        self.session().introduction(&server).map(|said| said.map(JsonText::said)).map_err(thrown)
    }

    /// `tools`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn tools(&self, known: Option<String>) -> Result<Option<JsonText>> {
        self.session().tools().map(|list| numbered(&list, known.as_deref())).map_err(thrown)
    }

    /// `prompts`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn prompts(&self, known: Option<String>) -> Result<Option<JsonText>> {
        self.session().prompts().map(|list| numbered(&list, known.as_deref())).map_err(thrown)
    }

    /// `resources`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn resources(&self, known: Option<String>) -> Result<Option<JsonText>> {
        self.session().resources().map(|list| numbered(&list, known.as_deref())).map_err(thrown)
    }

    /// `resource_templates`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn resource_templates(&self, known: Option<String>) -> Result<Option<JsonText>> {
        self.session().resource_templates().map(|list| numbered(&list, known.as_deref())).map_err(thrown)
    }

    /// `configure`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn configure(&self, options: String) -> Result<()> {
        let options = ConfigureOptions::from_json(&options).map_err(thrown)?;
        self.session().configure(options).map_err(thrown)
    }

    /// `explain`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn explain(&self, name: String) -> Result<String> {
        self.session().explain(&name).map(|report| report.to_string()).map_err(thrown)
    }

    /// `disable`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn disable(&self, server: String) -> Result<()> {
        self.session().disable(&server).map_err(thrown)
    }

    /// `enable`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn enable(&self, server: String) -> Result<()> {
        self.session().enable(&server).map_err(thrown)
    }

    /// `call_tool`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn call_tool(
        &self,
        tool: String,
        arguments: String,
        options: Option<String>,
        number: Option<f64>,
    ) -> Result<Promise> {
        self.send(options, number, |session, options, reply| {
            session.start_call_tool(&tool, &arguments, options, ended(reply))
        })
    }

    /// `request`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn request(
        &self,
        server: String,
        method: String,
        params: String,
        options: Option<String>,
        number: Option<f64>,
    ) -> Result<Promise> {
        self.send(options, number, |session, options, reply| {
            session.start_request(&server, &method, &params, options, ended(reply))
        })
    }

    /// `read_resource`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn read_resource(
        &self,
        server: String,
        uri: String,
        options: Option<String>,
        number: Option<f64>,
    ) -> Result<Promise> {
        self.send(options, number, |session, options, reply| {
            session.start_read_resource(&server, &uri, options, ended(reply))
        })
    }

    /// `get_prompt`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn get_prompt(
        &self,
        server: String,
        name: String,
        arguments: String,
        options: Option<String>,
        number: Option<f64>,
    ) -> Result<Promise> {
        self.send(options, number, |session, options, reply| {
            session.start_get_prompt(&server, &name, &arguments, options, ended(reply))
        })
    }

    /// `complete`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn complete(
        &self,
        server: String,
        params: String,
        options: Option<String>,
        number: Option<f64>,
    ) -> Result<Promise> {
        self.send(options, number, |session, options, reply| {
            session.start_complete(&server, &params, options, ended(reply))
        })
    }
}

#[napi]
impl NativeLease {
    /// `introduction`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn introduction(&self) -> Result<Option<JsonText>> {
        Ok(self.lease().introduction().map(JsonText::said))
    }

    /// `tools`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn tools(&self) -> Result<JsonText> {
        self.lease().tools().map(|listed| list_text(&listed)).map_err(thrown)
    }

    /// `call_tool`, with texts for what is more than a number.
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

    /// `request`, with texts for what is more than a number.
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

    /// `read_resource`, with texts for what is more than a number.
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

    /// `get_prompt`, with texts for what is more than a number.
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

    /// `complete`, with texts for what is more than a number.
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

    /// `subscribe_resource`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn subscribe_resource(&self, uri: String, number: Option<f64>) -> Result<Promise> {
        self.run(number, |held| async move { held.lease.subscribe_resource(&uri).await }, |()| Settled::Nothing)
    }

    /// `unsubscribe_resource`, with texts for what is more than a number.
    #[napi(catch_unwind)]
    pub fn unsubscribe_resource(&self, uri: String, number: Option<f64>) -> Result<Promise> {
        self.run(number, |held| async move { held.lease.unsubscribe_resource(&uri).await }, |()| Settled::Nothing)
    }
}
