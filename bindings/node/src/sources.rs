//! The part of the native `Pool` that configures it: sources, trust and approvals.

use std::path::PathBuf;
use std::time::Duration;

use napi_derive::napi;
use trunkline::{LoadOptions, ReloadOptions, ServerSpec, SourceName, Switch, WorkspaceTrust};

use crate::environment::Promise;
use crate::failure::{Result, thrown};
use crate::pool::NativePool;

#[napi]
impl NativePool {
    /// Reads a settings file into the source that its place implies; the options are a JSON text.
    #[napi(catch_unwind)]
    pub fn load(&self, path: String, options: String, number: Option<f64>) -> Result<Promise> {
        let options = LoadOptions::from_json(&options).map_err(thrown)?;
        self.report(number, |pool| async move { pool.load(PathBuf::from(path), &options).await })
    }

    /// Replaces a source by the text of settings, or removes it.
    #[napi(catch_unwind)]
    pub fn set_source(&self, source: String, settings: Option<String>) -> Result<String> {
        let source = named(&source)?;
        let report = self.pool().set_source(&source, settings.as_deref());
        report.map(|report| report.to_string()).map_err(thrown)
    }

    /// Switches a source, or every source of a scope, on or off.
    #[napi(catch_unwind)]
    pub fn switch_source(&self, source: String, on: bool) -> Result<String> {
        let to = if on { Switch::On } else { Switch::Off };
        let report = self.pool().switch_source(&named(&source)?, to);
        report.map(|report| report.to_string()).map_err(thrown)
    }

    /// Adds a server to the run-time source; its configuration is a JSON text.
    #[napi(catch_unwind)]
    pub fn add_server(&self, server: String, config: String) -> Result<String> {
        let spec = ServerSpec::from_json(&server, &config);
        let report = self.pool().add_server(&server, &spec.map_err(thrown)?);
        report.map(|report| report.to_string()).map_err(thrown)
    }

    /// Takes a server out of the run-time source.
    #[napi(catch_unwind)]
    pub fn remove_server(&self, server: String) -> Result<String> {
        let report = self.pool().remove_server(&server);
        report.map(|report| report.to_string()).map_err(thrown)
    }

    /// Says whether the workspace is trusted.
    #[napi(catch_unwind)]
    pub fn set_trusted(&self, trusted: bool, number: Option<f64>) -> Result<Promise> {
        let trust = if trusted { WorkspaceTrust::Trusted } else { WorkspaceTrust::Untrusted };
        self.report(number, |pool| pool.set_trusted(trust))
    }

    /// Why a server or a tool is there, or is not, as JSON text.
    #[napi(catch_unwind)]
    pub fn explain(&self, name: String) -> Result<String> {
        self.pool().explain(&name).map(|why| why.to_string()).map_err(thrown)
    }

    /// Reads every loaded file again; the options are a JSON text.
    #[napi(catch_unwind)]
    pub fn reload(&self, options: String, number: Option<f64>) -> Result<Promise> {
        let options = ReloadOptions::from_json(&options).map_err(thrown)?;
        self.report(number, |pool| async move { pool.reload(&options).await })
    }

    /// What waits for approval, and what was decided.
    #[napi(catch_unwind)]
    pub fn approvals(&self, number: Option<f64>) -> Result<Promise> {
        self.report(number, |pool| async move { pool.approvals().await })
    }

    /// Approves the configuration with that hash.
    #[napi(catch_unwind)]
    pub fn approve(&self, server: String, hash: String, number: Option<f64>) -> Result<Promise> {
        self.report(number, |pool| async move { pool.approve(&server, &hash).await })
    }

    /// Rejects the configuration with that hash.
    #[napi(catch_unwind)]
    pub fn reject(&self, server: String, hash: String, number: Option<f64>) -> Result<Promise> {
        self.report(number, |pool| async move { pool.reject(&server, &hash).await })
    }

    /// Forgets what was decided about a server.
    #[napi(catch_unwind)]
    pub fn forget(&self, server: String, number: Option<f64>) -> Result<Promise> {
        self.report(number, |pool| async move { pool.forget(&server).await })
    }

    /// Waits until nothing that configuration caused is under way.
    #[napi(catch_unwind)]
    pub fn settled(&self, timeout_ms: Option<f64>, number: Option<f64>) -> Result<Promise> {
        let timeout = timeout_ms.map(|timeout| Duration::from_millis(timeout as u64));
        self.report(number, |pool| async move { pool.settled(timeout).await })
    }
}

fn named(source: &str) -> Result<SourceName> {
    source.parse::<SourceName>().map_err(thrown)
}
