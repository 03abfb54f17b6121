//! A session: one conversation in a host.

use std::sync::Arc;
use std::time::Duration;

use trunkline_pool::config::ServerSpec;
use trunkline_pool::options::{AcquireOptions, CallOptions};

use super::event::{EventMask, Subscription};
use super::lease::{CallResult, Lease, Listed};
use super::operation::Operation;
use super::pool::unwritten;
use crate::Result;

/// One conversation: its holds on servers, and its view of their tools. Cheap to clone; all clones are one session.
///
/// Dropping the last clone closes it.
#[derive(Clone)]
pub struct Session(());

impl Session {
    /// Its id.
    pub fn id(&self) -> &str {
        ""
    }

    /// An explicit lease on a server, waiting until it is connected. With `spec`, the server is first put into the
    /// session's own source.
    ///
    /// Dropping the future gives the hold up.
    pub async fn acquire(
        &self,
        server: &str,
        spec: Option<&ServerSpec>,
        options: &AcquireOptions,
    ) -> Result<Lease> {
        let _ = (server, spec, options);
        Err(unwritten())
    }

    /// Waits until every server that the session wants is ready or has failed; with `server`, for that one, whose failure is the error.
    pub async fn ready(&self, server: Option<&str>, timeout: Option<Duration>) -> Result<()> {
        let _ = (server, timeout);
        Err(unwritten())
    }

    /// The tools of its view, by exposed name.
    pub fn tools(&self) -> Result<Arc<[Listed]>> {
        Err(unwritten())
    }

    /// The prompts of its view.
    pub fn prompts(&self) -> Result<Arc<[Listed]>> {
        Err(unwritten())
    }

    /// The resources of its view.
    pub fn resources(&self) -> Result<Arc<[Listed]>> {
        Err(unwritten())
    }

    /// The resource templates of its view.
    pub fn resource_templates(&self) -> Result<Arc<[Listed]>> {
        Err(unwritten())
    }

    /// Calls a tool by its exposed name; `arguments` is the text of a JSON object (empty = `{}`).
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

    /// [`call_tool`](Self::call_tool) without a future: `done` gets the result exactly once, on a thread of the library.
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

    /// Events of this session.
    pub fn subscribe(&self, kinds: EventMask) -> Result<Subscription> {
        let _ = kinds;
        Err(unwritten())
    }

    /// Ends it: its calls are cancelled, its holds go now, or after `keep_for` (the session's option by default).
    pub fn close(&self, keep_for: Option<Duration>) {
        let _ = keep_for;
    }
}
