//! Requests of served clients on their way to servers.

use std::sync::Arc;

use serde::Deserialize;
use tokio::task::AbortHandle;
use trunkline_pool::bridge::{BridgeInput, CallId, CallNeeds};
use trunkline_pool::options::{CallOptions, ProgressReceiver, RelayedCall};

use super::client::PoolClient;
use crate::client::CallResult;
use crate::session::call::operation::Operation;
use crate::{Error, ErrorCode, Lease, Result};

/// A request that is under way.
pub(super) struct RunningCall {
    server: Arc<str>,
    stage: CallStage,
}

enum CallStage {
    /// It begins on this thread.
    Begins,
    /// It waits for its server, or it is a subscription.
    Waits(AbortHandle),
    /// It was sent.
    Sent(Operation),
}

impl RunningCall {
    pub(super) fn is_of(&self, server: &str) -> bool {
        *self.server == *server
    }

    /// Whether it has only begun.
    pub(super) fn begins(&self) -> bool {
        matches!(self.stage, CallStage::Begins)
    }

    /// Nobody waits for it any more.
    pub(super) fn cancel(self) {
        match self.stage {
            CallStage::Begins => {}
            CallStage::Waits(task) => task.abort(),
            CallStage::Sent(operation) => operation.cancel(),
        }
    }
}

/// One request, as the bridge has it.
struct RelayedRequest {
    call: CallId,
    method: String,
    params: String,
    needs: CallNeeds,
}

impl PoolClient {
    /// Sends a request; at once where its server is held.
    pub(super) fn start_call(
        &self,
        call: CallId,
        server: &str,
        method: &str,
        params: &str,
        needs: CallNeeds,
    ) {
        let server: Arc<str> = server.into();
        let (method, params) = (method.to_owned(), params.to_owned());
        let request = RelayedRequest { call, method, params, needs };
        self.keep_call(call, RunningCall { server: server.clone(), stage: CallStage::Begins });
        match self.leases.held(&server) {
            Some(lease) => self.send(&server, &lease, request),
            None => {
                let (client, holds) = (self.me.clone(), server.clone());
                self.wait(call, &server, async move {
                    let Some(client) = client.upgrade() else { return };
                    match client.leases.lease(&client.session, &holds).await {
                        Ok(lease) => client.send(&holds, &lease, request),
                        Err(error) => client.call_ended(call, Err(&error)),
                    }
                });
            }
        }
    }

    /// Lets a call wait in a task of its own.
    fn wait(
        &self,
        call: CallId,
        server: &Arc<str>,
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        let task = self.driver.spawn(work).abort_handle();
        self.begun_to_wait(
            call,
            RunningCall { server: server.clone(), stage: CallStage::Waits(task) },
        );
    }

    fn send(&self, server: &Arc<str>, lease: &Lease, request: RelayedRequest) {
        let RelayedRequest { call, method, params, needs } = request;
        let client = self.me.clone();
        let done = move |result: Result<CallResult>| {
            let Some(client) = client.upgrade() else { return };
            let result = result.as_ref().map(CallResult::json);
            client.call_ended(call, result);
        };
        let options = self.options(call, needs);
        let operation = if method == "tools/call" {
            match tool_of(&params) {
                Ok(tool) => lease.start_call_tool(&tool, &params, &options, done),
                Err(error) => return self.call_ended(call, Err(&error)),
            }
        } else {
            lease.start_request(&method, &params, &options, done)
        };
        let stage = CallStage::Sent(operation.clone());
        if !self.go_on(call, RunningCall { server: server.clone(), stage }) {
            // It has ended, or it was cancelled before its operation was known.
            operation.cancel();
        }
    }

    fn options(&self, call: CallId, needs: CallNeeds) -> CallOptions {
        let client = self.me.clone();
        let progress = needs.progress.then(|| {
            ProgressReceiver::new(move |params| {
                if let Some(client) = client.upgrade() {
                    client.input(BridgeInput::Progress { call, params });
                }
            })
        });
        let mut options = CallOptions::default();
        options.relayed = Some(RelayedCall {
            progress,
            capabilities: needs.capabilities,
            log_level: needs.log_level,
            takes_input_requests: needs.relays_input,
        });
        options
    }

    pub(super) fn subscribe(&self, call: CallId, server: &str, uri: String) {
        let server: Arc<str> = server.into();
        self.keep_call(call, RunningCall { server: server.clone(), stage: CallStage::Begins });
        let (client, holds) = (self.me.clone(), server.clone());
        self.wait(call, &server, async move {
            let Some(client) = client.upgrade() else { return };
            let subscribed = match client.leases.lease(&client.session, &holds).await {
                Ok(lease) => lease.subscribe_resource(&uri).await,
                Err(error) => Err(error),
            };
            client.call_ended(call, subscribed.as_ref().map(|()| "{}"));
        });
    }

    pub(super) fn unsubscribe(&self, server: &str, uri: String) {
        let Some(lease) = self.leases.held(server) else { return };
        self.driver.spawn(async move {
            if let Err(error) = lease.unsubscribe_resource(&uri).await {
                tracing::debug!(%error, "the end of a subscription was not told");
            }
        });
    }
}

/// The tool that a call names.
///
/// # Errors
/// `invalid_argument` where it names none.
fn tool_of(params: &str) -> Result<String> {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    let named = serde_json::from_str::<Named>(params).map_err(|error| {
        let message = format!("the call names no tool: {error}");
        Error::new(ErrorCode::InvalidArgument, message).with_detail("path", "name")
    })?;
    Ok(named.name)
}
