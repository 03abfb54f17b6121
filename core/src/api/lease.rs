//! A lease: a session's hold on a server, and the calls through it.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use tokio::sync::oneshot;
use trunkline_pool::options::CallOptions;
use trunkline_pool::state::EntryState;
use trunkline_pool::text::escaped;

use super::session::Session;
use super::session_requests::{prompt_params, uri_params};
use crate::client::{CallResult, Callee};
use crate::driver::server_config::{ConfigOwner, ResolvedServer};
use crate::driver::{Asker, Asking, EntryCell, LeaseGuard, SessionPort};
use crate::session::call;
use crate::session::call::operation::Operation;
use crate::session::call::prepared::not_connected;
use crate::session::lease::lease_state::{DISABLED, LeaseState, LeaseStatus};
use crate::session::lease::{HoldId, HoldKind};
use crate::session::session_core::SessionCore;
use crate::session::view::list::ListedItem;
use crate::session::view::no_tool::tool_not_found;
use crate::{Error, ErrorCode, Outcome, Result};

/// A hold on a server. It keeps its session open. Dropping it releases it.
///
/// Usable from any thread. Calls under way are not cancelled by the release of their lease: they
/// finish within the drain.
pub struct Lease {
    held: Arc<LeaseState>,
    hold: HoldId,
    /// A lease keeps its session open.
    open: Session,
}

impl Lease {
    /// The lease of a hold that was granted; none (and the hold is given up) when the session has
    /// disabled the server meanwhile, or has another configuration of it.
    pub(super) fn new(
        open: Session,
        hold: LeaseGuard,
        origin: ConfigOwner,
        configured: &Arc<ResolvedServer>,
    ) -> Result<Option<Lease>> {
        let session = open.core();
        let added = session.add_hold(hold, (HoldKind::Lease, origin), configured);
        let (hold, held) = match added {
            Ok(added) => {
                let held = added.finish(session);
                session.settled.notify_waiters();
                held
            }
            Err(refused) => {
                drop(refused);
                session.check()?;
                return Ok(None);
            }
        };
        Ok(Some(Lease { held, hold, open }))
    }

    fn session(&self) -> &Arc<SessionCore> {
        self.open.core()
    }

    /// The entry that is held, or was last.
    pub(super) fn cell(&self) -> Arc<EntryCell> {
        self.held.cell()
    }

    /// The server's name.
    pub fn server(&self) -> &str {
        &self.held.server
    }

    /// The entry's index: per server name, stable, never reused.
    pub fn entry_index(&self) -> u32 {
        self.held.cell().index
    }

    /// The incarnation of the connection; grows with each reconnect.
    pub fn generation(&self) -> u32 {
        self.held.cell().load().slot.generation.0
    }

    /// The state of the entry, as far as it can be used through this lease: one that is released,
    /// revoked or disabled is closed, whatever others have of the entry.
    pub fn state(&self) -> EntryState {
        match self.held.standing() {
            _ if self.session().is_closed() => EntryState::Closed,
            LeaseStatus::Held => self.held.cell().load().slot.state,
            LeaseStatus::Returning => EntryState::Spawning,
            LeaseStatus::Failed => EntryState::Failed,
            LeaseStatus::Released | LeaseStatus::Revoked | LeaseStatus::Disabled => {
                EntryState::Closed
            }
        }
    }

    /// The tools of this server in the session's view, in its order.
    ///
    /// # Errors
    /// `closed` once released, `forked`.
    pub fn tools(&self) -> Result<Arc<[ListedItem]>> {
        self.check()?;
        Ok(self.session().tools_of(&self.held))
    }

    /// Calls a tool by the server's own name; `arguments` is a JSON object (empty = `{}`).
    ///
    /// Dropping the future cancels the call: the server is told, and its answer is dropped.
    ///
    /// # Errors
    /// `closed` (lease, session or pool), `invalid_argument`, `tool_not_found`, `unavailable`
    /// (reconnecting; nothing was sent), `timeout`, `call_interrupted` (with its outcome),
    /// `server_error`, `limit`, `forked`. A tool that reports an error itself is a result.
    pub async fn call_tool(
        &self,
        tool: &str,
        arguments: &str,
        options: &CallOptions,
    ) -> Result<CallResult> {
        let options = &read_elsewhere(options);
        finished(|sent| {
            self.start(Callee::Tool(tool), arguments, options, |result| sent.end(result))
        })
        .await
    }

    /// [`call_tool`](Self::call_tool) without a future: `done` gets the result exactly once, on a
    /// thread of the library, in [`Operation::read_here`], or, when nothing could be sent, on this
    /// thread before the function returns. It must not block.
    pub fn start_call_tool(
        &self,
        tool: &str,
        arguments: &str,
        options: &CallOptions,
        done: impl FnOnce(Result<CallResult>) + Send + 'static,
    ) -> Operation {
        self.start(Callee::Tool(tool), arguments, options, done)
    }

    /// Any other request: `method` and the text of its params object.
    ///
    /// `logging/setLevel` is the same for servers of both eras: where the protocol has no such
    /// request any more it is answered here, and the level goes out with the session's later
    /// requests to the server, for as long as the session holds it.
    ///
    /// # Errors
    /// Those of [`call_tool`](Self::call_tool), and `invalid_argument` for what has a rule of its
    /// own: `initialize`, `tools/call`, subscriptions (which are counted), `prompts/get` of a
    /// prompt that the session does not see, and params in which a member is there twice.
    pub async fn request(
        &self,
        method: &str,
        params: &str,
        options: &CallOptions,
    ) -> Result<CallResult> {
        let options = &read_elsewhere(options);
        finished(|sent| self.start_request(method, params, options, |result| sent.end(result)))
            .await
    }

    /// [`request`](Self::request) without a future.
    pub fn start_request(
        &self,
        method: &str,
        params: &str,
        options: &CallOptions,
        done: impl FnOnce(Result<CallResult>) + Send + 'static,
    ) -> Operation {
        if let Err(error) = self.may_send(method, params) {
            done(Err(error.with_outcome(Outcome::NotSent)));
            return Operation::ended();
        }
        self.start(Callee::Method(method), params, options, done)
    }

    /// Whether a request may go out as it is. What a session counts or does not see is not to be
    /// had past it (SPEC 6.1, 7.7, S-46).
    fn may_send(&self, method: &str, params: &str) -> Result<()> {
        let refused = |message: String, path: &str| {
            let error = Error::new(ErrorCode::InvalidArgument, message).with_detail("path", path);
            error.with_server(self.server())
        };
        if method.is_empty() || NOT_AS_IT_IS.contains(&method) {
            let message = format!("the method `{}` cannot be sent as it is", method.escape_debug());
            return Err(refused(message, "method"));
        }
        if method != "prompts/get" {
            return Ok(());
        }
        // A lease that is of no use says why, not that it has no prompt.
        self.check()?;
        match serde_json::from_str::<NamedParams>(params) {
            Ok(NamedParams { name: Some(name) }) if !self.held.view().admits(&name) => {
                let message = format!("this session's view has no prompt \"{}\"", escaped(&name));
                Err(refused(message, "name").with_hint("read the session's prompts again"))
            }
            // The server could take another of two names than the one that was looked at.
            Err(error) if error.is_data() => {
                Err(refused(format!("the prompt cannot be told: {error}"), "params"))
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// Those of [`request`](Self::request).
    pub async fn read_resource(&self, uri: &str, options: &CallOptions) -> Result<CallResult> {
        let options = &read_elsewhere(options);
        finished(|sent| self.start_read_resource(uri, options, |result| sent.end(result))).await
    }

    /// [`read_resource`](Self::read_resource) without a future.
    pub fn start_read_resource(
        &self,
        uri: &str,
        options: &CallOptions,
        done: impl FnOnce(Result<CallResult>) + Send + 'static,
    ) -> Operation {
        self.start_request("resources/read", &uri_params(uri), options, done)
    }

    /// Gets a prompt; `arguments` is the text of a JSON object.
    ///
    /// # Errors
    /// Those of [`request`](Self::request), and `invalid_argument` for a prompt that the session
    /// does not see.
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: &str,
        options: &CallOptions,
    ) -> Result<CallResult> {
        let options = &read_elsewhere(options);
        finished(|sent| self.start_get_prompt(name, arguments, options, |result| sent.end(result)))
            .await
    }

    /// [`get_prompt`](Self::get_prompt) without a future.
    pub fn start_get_prompt(
        &self,
        name: &str,
        arguments: &str,
        options: &CallOptions,
        done: impl FnOnce(Result<CallResult>) + Send + 'static,
    ) -> Operation {
        match self.check().and_then(|()| prompt_params(name, arguments)) {
            Ok(params) => self.start_request("prompts/get", &params, options, done),
            Err(error) => {
                done(Err(error.with_outcome(Outcome::NotSent)));
                Operation::ended()
            }
        }
    }

    /// Asks for completions; `params` is the text of the request's params object.
    ///
    /// # Errors
    /// Those of [`request`](Self::request).
    pub async fn complete(&self, params: &str, options: &CallOptions) -> Result<CallResult> {
        self.request("completion/complete", params, options).await
    }

    /// [`complete`](Self::complete) without a future.
    pub fn start_complete(
        &self,
        params: &str,
        options: &CallOptions,
        done: impl FnOnce(Result<CallResult>) + Send + 'static,
    ) -> Operation {
        self.start_request("completion/complete", params, options, done)
    }

    /// Subscribes the session to updates of a resource. Counted, by whichever lease of the session:
    /// each needs its [`unsubscribe_resource`](Self::unsubscribe_resource), and the server hears of
    /// the first of all sessions alone (SPEC 7.7).
    ///
    /// A server may announce an update of a part, by the URI of that part. A modern server names
    /// the subscription, and the session hears of this resource; a legacy one names this very URI.
    ///
    /// Dropping the future, or the end of the session, takes the subscription back.
    ///
    /// # Errors
    /// Those of [`request`](Self::request), and `unavailable` when the session gave up the resource
    /// or its server meanwhile; it is not subscribed then.
    pub async fn subscribe_resource(&self, uri: &str) -> Result<()> {
        self.check()?;
        let cell = self.held.cell();
        let published = cell.load_full();
        if published.connection.is_none() {
            return Err(self.named(not_connected(&published)));
        }
        // Dropped after what undoes it: the next one to tell the server sees that nobody wants it.
        let mut told = std::pin::pin!(self.tell_demand(&cell, uri));
        let session: Arc<dyn SessionPort> = self.session().clone();
        let asking = Some(cell.resources.want(uri, &session));
        let mut undo = GiveUp { lease: self, cell: cell.clone(), uri, asking };
        told.as_mut().await?;
        // A release that came between did not see it.
        self.check()?;
        undo.keep()
    }

    /// The counterpart of [`subscribe_resource`](Self::subscribe_resource), of one that is still
    /// under way too: with the last the session gets no more updates, and the server hears of the
    /// last of all sessions alone. Without any it does nothing.
    ///
    /// Dropping the future takes nothing back: the subscription has ended.
    ///
    /// # Errors
    /// Those of [`request`](Self::request).
    pub async fn unsubscribe_resource(&self, uri: &str) -> Result<()> {
        self.check()?;
        let cell = self.held.cell();
        cell.resources.unwant(uri, self.session().recipient.number);
        self.session().driver.hub.settle();
        if cell.resources.is_wanted(uri) {
            return Ok(());
        }
        let told = tokio::select! {
            told = self.session().driver.tell_end(&cell, uri) => told,
            () = self.session().until_closed() => Err(self.session().closed()),
        };
        told.map_err(|error| self.named(error))
    }

    async fn tell_demand(&self, cell: &Arc<EntryCell>, uri: &str) -> Result<()> {
        let driver = &self.session().driver;
        let told = tokio::select! {
            told = cell.tell_demand(&driver.options, uri, Asker::Host(&driver.runtime)) => told,
            () = self.session().until_closed() => Err(self.session().closed()),
        };
        told.map_err(|error| self.named(error))
    }

    fn named(&self, error: Error) -> Error {
        error.with_server(self.server()).with_session(&*self.session().recipient.id)
    }

    /// Gives the hold up. Calls under way go on. Repeating it does nothing.
    pub fn release(&self) {
        // In a forked child the hold, and the holder of its lock, are the parent's.
        let forked = self.session().driver.runtime.is_forked();
        if !forked && self.held.stand(LeaseStatus::Released) {
            self.session().release_hold(self.hold);
        }
    }

    fn start(
        &self,
        callee: Callee<'_>,
        arguments: &str,
        options: &CallOptions,
        done: impl FnOnce(Result<CallResult>) + Send + 'static,
    ) -> Operation {
        let observer = &self.session().driver.observer;
        let spec = || Some(self.held.cell().spec.clone());
        let (arguments, options, request) = observer.request((callee, arguments), options, spec);
        let (arguments, options, done) = (&*arguments, &*options, request.ending(done));
        match self.check() {
            Ok(()) => call::start(self.session(), &self.held, callee, arguments, options, done),
            Err(error) => {
                let error = match callee {
                    // To a caller of its tools a disabled server is like one whose tools are all
                    // hidden.
                    Callee::Tool(tool) if self.held.standing() == LeaseStatus::Disabled => {
                        let error = tool_not_found(tool, DISABLED);
                        self.named(self.session().explained(self.server(), error))
                    }
                    Callee::Tool(_) | Callee::Method(_) => error,
                };
                done(Err(error.with_outcome(Outcome::NotSent)));
                Operation::ended()
            }
        }
    }

    /// Whether the lease can still be used.
    fn check(&self) -> Result<()> {
        self.session().driver.check_process()?;
        let error = match self.held.check() {
            Ok(()) if !self.session().is_closed() => return Ok(()),
            Ok(()) => Error::new(ErrorCode::Closed, "the session is closed"),
            Err(error) => error,
        };
        Err(error.with_server(self.server()).with_session(&*self.session().recipient.id))
    }
}

/// Requests that have a rule of their own.
const NOT_AS_IT_IS: [&str; 5] = [
    "initialize",
    "tools/call",
    "resources/subscribe",
    "resources/unsubscribe",
    "subscriptions/listen",
];

/// The params of what is asked for by name.
#[derive(Deserialize)]
struct NamedParams {
    name: Option<String>,
}

/// Takes back what was asked for, unless that is kept, and has the server told.
struct GiveUp<'a> {
    lease: &'a Lease,
    cell: Arc<EntryCell>,
    uri: &'a str,
    asking: Option<Asking>,
}

impl GiveUp<'_> {
    /// The session is subscribed.
    ///
    /// # Errors
    /// `unavailable` when it is not, for what it wanted was taken away meanwhile.
    fn keep(&mut self) -> Result<()> {
        let session = self.lease.session().recipient.number;
        let is_kept = |asking: &Asking| self.cell.resources.is_kept(self.uri, session, asking);
        if self.asking.as_ref().is_some_and(is_kept) {
            self.asking = None;
            return Ok(());
        }
        let message = "the session gave up the resource or its server meanwhile";
        Err(self.lease.named(Error::new(ErrorCode::Unavailable, message)))
    }
}

impl Drop for GiveUp<'_> {
    fn drop(&mut self) {
        let session = self.lease.session();
        let Some(asking) = self.asking.take() else { return };
        if !session.driver.runtime.is_forked() {
            self.cell.resources.give_up(self.uri, session.recipient.number, &asking);
            session.driver.tell_demand_later(&self.cell, vec![self.uri.into()]);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.release();
    }
}

/// A future waits on no thread: nobody would read where it was started.
pub(super) fn read_elsewhere(options: &CallOptions) -> Cow<'_, CallOptions> {
    let mut options = Cow::Borrowed(options);
    if options.reads_here {
        options.to_mut().reads_here = false;
    }
    options
}

/// A call as a future: dropping it cancels the call. `start` is given the end of the call.
pub(super) async fn finished<S>(start: S) -> Result<CallResult>
where
    S: FnOnce(ResultSender) -> Operation,
{
    let (send, receive) = oneshot::channel();
    let mut cancel = OperationGuard(Some(start(ResultSender(send))));
    let result = receive.await;
    cancel.0 = None;
    result.unwrap_or_else(|_| Err(Error::new(ErrorCode::Internal, "the call was lost")))
}

/// Where a future's call ends. Nobody listens any more when the future was dropped.
pub(super) struct ResultSender(oneshot::Sender<Result<CallResult>>);

impl ResultSender {
    pub(super) fn end(self, result: Result<CallResult>) {
        let _ = self.0.send(result);
    }
}

/// Cancels when it is dropped with its operation.
struct OperationGuard(Option<Operation>);

impl Drop for OperationGuard {
    fn drop(&mut self) {
        if let Some(operation) = &self.0 {
            operation.cancel();
        }
    }
}
