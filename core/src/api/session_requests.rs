//! Requests of a session to a server by its name, other than calls of tools.

use std::time::Instant;

use serde_json::{Value, json};
use trunkline_pool::options::{AcquireOptions, CallOptions};

use super::lease::{finished, read_elsewhere};
use super::session::Session;
use crate::client::CallResult;
use crate::session::call::operation::{self, Operation};
use crate::session::call::params;
use crate::{Outcome, Result};

impl Session {
    /// Sends any request but calls of tools and subscriptions to a server: by a lease of its own,
    /// which lasts as long as the request. A server that sleeps or is on its way back is waited for
    /// within the request's time.
    ///
    /// Dropping the future cancels the request.
    ///
    /// # Errors
    /// Those of [`acquire`](Self::acquire), with nothing sent, and those of
    /// [`Lease::request`](crate::Lease::request).
    pub async fn request(
        &self,
        server: &str,
        method: &str,
        params: &str,
        options: &CallOptions,
    ) -> Result<CallResult> {
        finished(|sent| {
            self.start_request(server, method, params, options, |result| sent.end(result))
        })
        .await
    }

    /// [`request`](Self::request) without a future: `done` gets the result exactly once, on a
    /// thread of the library. It must not block.
    pub fn start_request(
        &self,
        server: &str,
        method: &str,
        params: &str,
        options: &CallOptions,
        done: impl FnOnce(Result<CallResult>) + Send + 'static,
    ) -> Operation {
        let (session, began) = (self.clone(), Instant::now());
        let (server, method, params) = (server.to_owned(), method.to_owned(), params.to_owned());
        let mut options = read_elsewhere(options).into_owned();
        let sent = async move {
            let mut acquire = AcquireOptions::default();
            acquire.timeout = options.timeout;
            let lease = session.acquire(&server, None, &acquire).await;
            let lease = lease
                .map_err(|error| error.with_session(session.id()).with_outcome(Outcome::NotSent))?;
            // The wait for the server took its part of the time.
            options.timeout = options.timeout.map(|all| all.saturating_sub(began.elapsed()));
            lease.request(&method, &params, &options).await
        };
        operation::start(&self.core().driver, sent, done)
    }

    /// Reads a resource of a server.
    ///
    /// # Errors
    /// Those of [`request`](Self::request).
    pub async fn read_resource(
        &self,
        server: &str,
        uri: &str,
        options: &CallOptions,
    ) -> Result<CallResult> {
        self.request(server, "resources/read", &uri_params(uri), options).await
    }

    /// [`read_resource`](Self::read_resource) without a future.
    pub fn start_read_resource(
        &self,
        server: &str,
        uri: &str,
        options: &CallOptions,
        done: impl FnOnce(Result<CallResult>) + Send + 'static,
    ) -> Operation {
        self.start_request(server, "resources/read", &uri_params(uri), options, done)
    }

    /// Gets a prompt of a server; `arguments` is the text of a JSON object.
    ///
    /// # Errors
    /// Those of [`request`](Self::request).
    pub async fn get_prompt(
        &self,
        server: &str,
        name: &str,
        arguments: &str,
        options: &CallOptions,
    ) -> Result<CallResult> {
        let params = prompt_params(name, arguments).map_err(not_sent)?;
        self.request(server, "prompts/get", &params, options).await
    }

    /// [`get_prompt`](Self::get_prompt) without a future.
    pub fn start_get_prompt(
        &self,
        server: &str,
        name: &str,
        arguments: &str,
        options: &CallOptions,
        done: impl FnOnce(Result<CallResult>) + Send + 'static,
    ) -> Operation {
        match prompt_params(name, arguments) {
            Ok(params) => self.start_request(server, "prompts/get", &params, options, done),
            Err(error) => {
                done(Err(not_sent(error)));
                Operation::ended()
            }
        }
    }

    /// Asks a server for completions; `params` is the text of the request's params object.
    ///
    /// # Errors
    /// Those of [`request`](Self::request).
    pub async fn complete(
        &self,
        server: &str,
        params: &str,
        options: &CallOptions,
    ) -> Result<CallResult> {
        self.request(server, "completion/complete", params, options).await
    }

    /// [`complete`](Self::complete) without a future.
    pub fn start_complete(
        &self,
        server: &str,
        params: &str,
        options: &CallOptions,
        done: impl FnOnce(Result<CallResult>) + Send + 'static,
    ) -> Operation {
        self.start_request(server, "completion/complete", params, options, done)
    }
}

fn not_sent(error: crate::Error) -> crate::Error {
    error.with_outcome(Outcome::NotSent)
}

/// The params of `resources/read`.
pub(super) fn uri_params(uri: &str) -> String {
    json!({ "uri": uri }).to_string()
}

/// The params of `prompts/get`.
///
/// # Errors
/// `invalid_argument` for arguments that are no object.
pub(super) fn prompt_params(name: &str, arguments: &str) -> Result<String> {
    let arguments = params::object("arguments", arguments)?;
    Ok(format!(r#"{{"name":{},"arguments":{arguments}}}"#, Value::from(name)))
}
