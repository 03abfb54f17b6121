//! Calls of tools by the names that a session shows.

#[cfg(test)]
mod tests;

use trunkline_pool::options::CallOptions;

use super::lease::{finished, read_elsewhere};
use super::session::Session;
use crate::client::{CallResult, Callee};
use crate::session::call;
use crate::session::call::awaited_lists::AwaitedLists;
use crate::session::call::list_wait;
use crate::session::call::operation::Operation;
use crate::session::call::waiting;
use crate::session::view::snapshot::VisibleServer;
use crate::{Outcome, Result};

impl Session {
    /// Calls a tool by its exposed name; `arguments` is the text of a JSON object (empty = `{}`).
    ///
    /// Dropping the future cancels the call: the server is told, and its answer is dropped.
    ///
    /// # Errors
    /// Those of [`Lease::call_tool`](crate::Lease::call_tool).
    pub async fn call_tool(
        &self,
        tool: &str,
        arguments: &str,
        options: &CallOptions,
    ) -> Result<CallResult> {
        let options = &read_elsewhere(options);
        finished(|sent| self.start_call_tool(tool, arguments, options, |result| sent.end(result)))
            .await
    }

    /// [`call_tool`](Self::call_tool) without a future: `done` gets the result exactly once, on a
    /// thread of the library or in [`Operation::read_here`]. When nothing could be sent, it gets it
    /// on this thread before the function returns. It must not block.
    pub fn start_call_tool(
        &self,
        tool: &str,
        arguments: &str,
        options: &CallOptions,
        done: impl FnOnce(Result<CallResult>) + Send + 'static,
    ) -> Operation {
        let core = self.core();
        let view = core.view();
        let resolved = match &view {
            Ok(view) => view.resolve(tool, || core.no_such_tool(view, tool)),
            Err(error) => Err(error.clone()),
        };
        let spec = || resolved.as_ref().ok().map(|(seeing, _)| seeing.spec());
        let called = (Callee::Tool(tool), arguments);
        let (arguments, options, request) = core.driver.observer.request(called, options, spec);
        let (arguments, options, done) = (&*arguments, &*options, request.ending(done));
        match resolved {
            Ok((VisibleServer::Held(held), own)) if !held.for_calls => {
                call::start(core, held, Callee::Tool(own), arguments, options, done)
            }
            Ok((seeing, own)) => {
                waiting::start(core, (seeing, tool, own), arguments, options, Box::new(done))
            }
            Err(error) => {
                let error = match error.server().map(str::to_owned) {
                    Some(server) => core.explained(&server, error),
                    None => error,
                };
                let error = error.with_session(self.id()).with_outcome(Outcome::NotSent);
                let owed =
                    view.as_ref().ok().and_then(|view| AwaitedLists::by_name(core, view, &error));
                if let Some(owed) = owed {
                    let owed = (owed, tool);
                    return list_wait::start(core, owed, arguments, options, Box::new(done));
                }
                done(Err(error));
                Operation::ended()
            }
        }
    }
}
