//! A session: one conversation in a host.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;
use trunkline_pool::config::ServerSpec;
use trunkline_pool::options::{AcquireOptions, ConfigureOptions, SessionOptions};
use trunkline_pool::shapes::ToolFormat;

use super::lease::Lease;
use crate::Result;
use crate::driver::folders;
use crate::events::{EventMask, Subscription};
use crate::session::call::list_wait::PATIENCE;
use crate::session::call::prepared::not_connected;
use crate::session::session_core::{SessionCore, SessionHandle};
use crate::session::view::list::{List, ShapedTools};

/// One conversation: its holds on servers, and its view of their tools. Cheap to clone; all clones
/// are one session.
///
/// Usable from any thread. It closes when its last clone and its last lease are dropped.
#[derive(Clone)]
pub struct Session(Arc<SessionHandle>);

impl Session {
    /// One of its handles.
    pub(super) fn of(handle: Arc<SessionHandle>) -> Session {
        Session(handle)
    }

    pub(crate) fn core(&self) -> &Arc<SessionCore> {
        self.0.core()
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.core().recipient.id
    }

    /// An explicit lease on a server, waiting until it is connected. With `spec`, the server is
    /// first put into the session's own source, where it stays.
    ///
    /// With `origin` the configuration counts as one of `project` or `workspace`: it needs approval
    /// and trust as a file of those does.
    ///
    /// Dropping the future gives the hold up: a server that nobody else waits for goes straight to
    /// drain.
    ///
    /// # Errors
    /// `not_admitted` (`detail.reason`: `removed`, `not_configured`, `excluded`, `not_allowed`,
    /// `disabled`, `pending_approval`), `invalid_config`, `timeout` (`detail.which` is `connect`)
    /// at the end of this wait, the error of the attempt (`spawn_failed`, `exited`, `protocol`,
    /// `timeout`, …), `limit`, `closing`, `closed`, `forked`.
    pub async fn acquire(
        &self,
        server: &str,
        spec: Option<&ServerSpec>,
        options: &AcquireOptions,
    ) -> Result<Lease> {
        let leased = self.leased(server, spec, options).await;
        leased.map_err(|error| self.core().as_replaced(server, error))
    }

    /// Waits until every server that the session wants is ready or has failed; with `server`, for
    /// that one, whose failure is the error. Without `timeout` the servers' own connect time-outs
    /// bound it. Each begins with the server's turn (`start_parallel`). A `server` that failed is
    /// tried once more, whatever is remembered of it; one that was lost and is on its way back is
    /// waited for, with a name and without. Without a name nothing is tried anew, and no failure is
    /// the error: what failed stands in the status, in [`started`](Self::started) and in the log.
    ///
    /// # Errors
    /// `timeout` with `detail.servers`, `not_admitted` or `invalid_config` for a server that cannot
    /// run, `invalid_argument` for one that the session does not want, `closed`, `forked`.
    pub async fn ready(&self, server: Option<&str>, timeout: Option<Duration>) -> Result<()> {
        self.core().check()?;
        if let Some(server) = server {
            self.core().learn_again(server);
        }
        let ready = self.core().ready(server, timeout).await;
        ready.map_err(|error| match server {
            Some(server) => self.core().as_replaced(server, error),
            None => error,
        })
    }

    /// The tools of its view, in an order that a host's prompt cache survives: a first list is by
    /// exposed name. Within the session, listed tools keep their places, whatever goes or comes
    /// back; new ones come after them.
    ///
    /// # Errors
    /// `closed`, `forked`.
    pub fn tools(&self) -> Result<List> {
        Ok(self.core().view()?.tools.clone())
    }

    /// The tools of its view in the shape in which a model API takes them, in the order and with
    /// the number of [`tools`](Self::tools).
    ///
    /// Schemas are as the servers sent them, but for what the API refuses
    /// ([`shapes`](crate::shapes)).
    ///
    /// # Errors
    /// `closed`, `forked`.
    pub fn tools_for(&self, shape: ToolFormat) -> Result<ShapedTools> {
        let view = self.core().view()?;
        Ok(view.shaped.tools(shape, &view.tools))
    }

    /// The prompts of its view.
    ///
    /// # Errors
    /// `closed`, `forked`.
    pub fn prompts(&self) -> Result<List> {
        Ok(self.core().view()?.prompts.clone())
    }

    /// The resources of its view.
    ///
    /// # Errors
    /// `closed`, `forked`.
    pub fn resources(&self) -> Result<List> {
        Ok(self.core().view()?.resources.clone())
    }

    /// The resource templates of its view.
    ///
    /// # Errors
    /// `closed`, `forked`.
    pub fn resource_templates(&self) -> Result<List> {
        Ok(self.core().view()?.resource_templates.clone())
    }

    /// Events of this session; they end with it.
    ///
    /// # Errors
    /// `closed`, `forked`.
    pub fn subscribe(&self, kinds: EventMask) -> Result<Subscription> {
        let core = self.core();
        core.check()?;
        let status = || core.parts().status();
        let subscriber = core.driver.hub.subscribe(kinds, Some(core.recipient.number), status)?;
        let (hub, runtime) = (core.driver.hub.clone(), core.driver.runtime.clone());
        let subscription = Subscription { hub, runtime, subscriber };
        // A close that came between did not see it, and would never end it.
        core.check()?;
        Ok(subscription)
    }

    /// Ends it: its calls are cancelled, its holds go now, or after `keep_for` (the session's
    /// option by default). Repeating it does nothing.
    pub fn close(&self, keep_for: Option<Duration>) {
        self.core().close(keep_for);
    }

    /// Changes what it sees and wants, at once and without touching a connection: filters, marks,
    /// and the list of wanted servers. What `change` does not name stays. Events tell what is
    /// different; equal options change nothing.
    ///
    /// Other `roots` are told to the servers of its own connections, whose lists are then asked for
    /// again; a connection that it shares is left as it is, with the warning `roots_not_shared`.
    ///
    /// # Errors
    /// `invalid_argument` with `detail.path` (`roots[0]`) for a root that is no folder, with
    /// nothing changed; `closed`, `forked`.
    pub fn configure(&self, change: ConfigureOptions) -> Result<()> {
        let core = self.core();
        core.check()?;
        let roots = change.roots.as_deref();
        let roots = roots.map(|roots| folders(&core.driver.workspace, roots)).transpose()?;
        let tells = roots.is_some();
        {
            let mut options = core.options_mut();
            if let Some(roots) = roots {
                core.roots.store(Arc::new(roots));
            }
            let mut new = SessionOptions::clone(&options);
            new.configure(change);
            *options = Arc::new(new);
        }
        core.follow();
        if tells {
            core.driver.session_roots_changed(&**core);
        }
        Ok(())
    }

    /// Takes a server away from this session alone: its tools, prompts and resources go, calls of
    /// them are refused with the reason `disabled`, and the session holds it no longer. Calls under
    /// way finish. Leases on it stay, of no use until [`enable`](Self::enable). Repeating it does
    /// nothing.
    ///
    /// # Errors
    /// `not_admitted` for a server that neither the pool nor the session knows, `closed`, `forked`.
    pub fn disable(&self, server: &str) -> Result<()> {
        let core = self.core();
        core.check()?;
        core.check_known(server)?;
        if core.disabled().insert(server.into()) {
            core.follow();
        }
        Ok(())
    }

    /// Undoes [`disable`](Self::disable): the server is acquired again for whatever held it, in the
    /// background. Its return is told as its going was; resource subscriptions are to be made anew.
    /// Repeating it does nothing.
    ///
    /// # Errors
    /// Those of [`disable`](Self::disable).
    pub fn enable(&self, server: &str) -> Result<()> {
        let core = self.core();
        core.check()?;
        if core.disabled().remove(server) {
            core.follow();
            return Ok(());
        }
        core.check_known(server)
    }

    /// Has the lists of a server read anew, for servers that announce nothing, and waits until what
    /// came of it is in force. The server is acquired for that: one that sleeps or is on its way
    /// back is connected to first.
    ///
    /// Each list stands by itself: one that cannot be had is a `warning` event, and keeps its last
    /// state. Dropping the future leaves the listing as it is.
    ///
    /// # Errors
    /// Those of [`acquire`](Self::acquire); why no list could be had; `unavailable` when the
    /// connection was lost meanwhile.
    pub async fn refresh(&self, server: &str) -> Result<()> {
        let core = self.core();
        let lease = self.acquire(server, None, &AcquireOptions::default()).await?;
        let (cell, driver) = (lease.cell(), &core.driver);
        let published = cell.load_full();
        let refreshed = async {
            if published.connection.is_none() {
                return Err(not_connected(&published));
            }
            match driver.list_anew(&cell, published.slot.generation).await {
                Some(listed) => listed,
                None => Err(not_connected(&cell.load_full())),
            }
        };
        let refreshed = tokio::select! {
            biased;
            refreshed = refreshed => refreshed,
            () = core.until_closed() => Err(core.closed()),
        };
        refreshed.map_err(|error| core.named(server, error))
    }

    /// Waits until no list of the session's servers, or of this one, is being read or owed, and all
    /// are in force; at most 5 s. A server that announced another list before a result is heard to
    /// the end: [`tools`](Self::tools) has it then.
    ///
    /// Most often it does not wait at all. Dropping the future leaves nothing.
    ///
    /// # Errors
    /// `closed`, `forked`.
    pub async fn listed(&self, server: Option<&str>) -> Result<()> {
        let core = self.core();
        core.check()?;
        // What cannot be waited for to its end is there as far as it is.
        let waited = timeout(PATIENCE, core.until_listed(server));
        tokio::select! {
            biased;
            _ = waited => Ok(()),
            () = core.until_closed() => Err(core.closed()),
        }
    }

    /// Waits until each server that the session wants is ready, has failed or sleeps, at most the
    /// pool's `start_gate_ms` from the session's opening; then says how each of them stands. A
    /// server that is slow or fails is no error.
    ///
    /// `{v, servers: {name: {state, deferred?, error?}}}` with the state `ready`, `failed`,
    /// `waiting` (for its server, for one that was lost to come back, or for room in the pool) or
    /// `asleep` (it runs for calls only). `deferred` is there while it waits or sleeps: how many
    /// tools are listed of what is kept. `error` says why it failed, why there is no room, or how
    /// the last start of one that sleeps ended. What the session does not want is not in it:
    /// [`explain`](Self::explain) says why.
    ///
    /// Events tell what comes later. Once the gate has passed this never waits;
    /// [`ready`](Self::ready) waits for all, or for one. Dropping the future leaves nothing.
    ///
    /// # Errors
    /// `closed`, `forked`.
    pub async fn started(&self) -> Result<Value> {
        self.core().check()?;
        self.core().started().await
    }

    /// The same as [`Pool::explain`](crate::Pool::explain) for this session: its own servers, what
    /// it holds, switches off and filters.
    ///
    /// Of a tool that is there it has `shapes` too, with a member for each [`ToolFormat`] in which
    /// something of its arguments is another:
    /// `{renamed?: {the name there: the server's own}, left_out?: [{path, reason}]}`. `path` is the
    /// JSON pointer of what the shape leaves out of the tool's schema. `left_out: [{path, reason}]`
    /// are members of its definition that are of a type that is not theirs: they count as absent,
    /// and the definition has them as the server wrote them.
    ///
    /// # Errors
    /// `closed`, `forked`.
    pub fn explain(&self, name: &str) -> Result<Value> {
        self.core().explain(name)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use trunkline_pool::options::PoolOptions;

    use super::*;
    use crate::driver::server_config::{ConfigOwner, ResolvedServer};
    use crate::{ErrorCode, Pool};

    /// SPEC 3.5.
    #[tokio::test]
    async fn what_a_closed_session_brought_is_closed_and_not_unknown() {
        let pool = Pool::new(PoolOptions::from_json(r#"{"cache":"off"}"#).unwrap()).unwrap();
        let session = pool.session(SessionOptions::new("a")).unwrap();
        let spec = ServerSpec::from_value("s", &json!({ "command": "true" })).unwrap();
        let configured = ResolvedServer::new(Arc::new(spec), &pool.driver().options);
        session.core().put_own("s", configured);
        assert!(session.core().spec("s", ConfigOwner::Session).is_ok());
        let unknown = session.core().either_spec("t").err().unwrap();
        assert_eq!(unknown.code(), ErrorCode::NotAdmitted);
        session.close(None);
        let error = session.core().spec("s", ConfigOwner::Session).err().unwrap();
        assert_eq!((error.code(), error.session()), (ErrorCode::Closed, Some("a")));
    }
}
