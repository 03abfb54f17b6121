//! A lease: a session's hold on a server, and the calls through it.

use std::sync::Arc;

use serde_json::value::RawValue;
use trunkline_pool::options::CallOptions;
use trunkline_pool::state::EntryState;

use super::operation::Operation;
use super::pool::unwritten;
use crate::Result;

/// A hold on a server. Dropping it releases it.
pub struct Lease(());

/// A listed tool, prompt, resource or resource template.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Listed {
    /// Tools: the exposed name. Others: the server's own name, or URI.
    pub name: Arc<str>,
    /// The server.
    pub server: Arc<str>,
    /// The server's own name, or URI.
    pub own_name: Arc<str>,
    /// The definition, as the server sent it.
    pub definition: Arc<str>,
}

impl Listed {
    /// `{"name", "server", "own_name", "definition"}` as JSON text, the definition unchanged.
    pub fn to_json(&self) -> String {
        String::new()
    }
}

/// The result of a call: JSON text exactly as the server sent it.
#[derive(Clone, Debug)]
pub struct CallResult(Arc<str>);

impl CallResult {
    /// The whole result.
    pub fn json(&self) -> &str {
        &self.0
    }

    /// Whether the tool reports an error (`isError`).
    pub fn is_error(&self) -> bool {
        false
    }

    /// One member of the result, as received.
    pub fn member(&self, name: &str) -> Option<Box<RawValue>> {
        let _ = name;
        None
    }
}

impl Lease {
    /// The server's name.
    pub fn server(&self) -> &str {
        ""
    }

    /// The entry's index: per server name, stable, never reused.
    pub fn entry_index(&self) -> u32 {
        0
    }

    /// The incarnation of the connection; grows with each reconnect.
    pub fn generation(&self) -> u32 {
        0
    }

    /// The state of the entry.
    pub fn state(&self) -> EntryState {
        EntryState::Closed
    }

    /// The tools of this server in the session's view.
    pub fn tools(&self) -> Result<Arc<[Listed]>> {
        Err(unwritten())
    }

    /// Calls a tool by the server's own name; `arguments` is the text of a JSON object (empty = `{}`).
    ///
    /// Dropping the future cancels the call.
    pub async fn call_tool(
        &self,
        tool: &str,
        arguments: &str,
        options: &CallOptions,
    ) -> Result<CallResult> {
        let _ = (tool, arguments, options);
        Err(unwritten())
    }

    /// [`call_tool`](Self::call_tool) without a future: `done` gets the result exactly once, on a thread of the library, or, when
    /// nothing could be sent, on this one before the function returns. It must not block.
    pub fn start_call_tool(
        &self,
        tool: &str,
        arguments: &str,
        options: &CallOptions,
        done: impl FnOnce(Result<CallResult>) + Send + 'static,
    ) -> Operation {
        let _ = (tool, arguments, options, done);
        unimplemented!()
    }

    /// Any other request: `method` and the text of its params object.
    ///
    /// # Errors
    /// `invalid_argument` for `initialize` and the methods that have a function of their own: `tools/call`.
    pub async fn request(
        &self,
        method: &str,
        params: &str,
        options: &CallOptions,
    ) -> Result<CallResult> {
        let _ = (method, params, options);
        Err(unwritten())
    }

    /// [`request`](Self::request) without a future.
    pub fn start_request(
        &self,
        method: &str,
        params: &str,
        options: &CallOptions,
        done: impl FnOnce(Result<CallResult>) + Send + 'static,
    ) -> Operation {
        let _ = (method, params, options, done);
        unimplemented!()
    }

    /// Reads a resource.
    pub async fn read_resource(&self, uri: &str, options: &CallOptions) -> Result<CallResult> {
        let _ = (uri, options);
        Err(unwritten())
    }

    /// Gets a prompt; `arguments` is the text of a JSON object.
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: &str,
        options: &CallOptions,
    ) -> Result<CallResult> {
        let _ = (name, arguments, options);
        Err(unwritten())
    }

    /// Asks for completions; `params` is the text of the request's params object.
    pub async fn complete(&self, params: &str, options: &CallOptions) -> Result<CallResult> {
        let _ = (params, options);
        Err(unwritten())
    }

    /// Subscribes the session to updates of a resource; counted, so that the server hears of the first alone (SPEC 7.7).
    pub async fn subscribe_resource(&self, uri: &str) -> Result<()> {
        let _ = uri;
        Err(unwritten())
    }

    /// The counterpart of [`subscribe_resource`](Self::subscribe_resource).
    pub async fn unsubscribe_resource(&self, uri: &str) -> Result<()> {
        let _ = uri;
        Err(unwritten())
    }

    /// Gives the hold up. Calls in flight go on. Repeating it does nothing.
    pub fn release(&self) {}
}
