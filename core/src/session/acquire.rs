//! Asking the pool for a hold on a server.

use std::sync::Arc;

use tokio::sync::oneshot;
use trunkline_pool::catalog_cache::CacheKey;
use trunkline_pool::config::Share;
use trunkline_pool::state::{Ask, Family, PoolInput, Ticket};

use super::session_core::SessionCore;
use crate::driver::server_config::{ConfigOwner, ResolvedServer};
use crate::driver::{
    Acquired, Driver, Interner, KeyRequest, LeaseGuard, StartPriority, TicketCallback, TicketReply,
};
use crate::runtime::deadline::Deadline;
use crate::{Error, ErrorCode, Result};

impl SessionCore {
    /// Asks the pool for a hold; `answer` gets it, or the error, exactly once.
    pub(crate) fn ask_for(
        &self,
        name: &str,
        (origin, configured): (ConfigOwner, &Arc<ResolvedServer>),
        answer: impl FnOnce(Result<LeaseGuard>) + Send + 'static,
    ) -> Ticket {
        let question = self.question(name, configured);
        let ticket = self.driver.ask(
            |ticket, interner| PoolInput::Acquire(question(ticket, interner)),
            answer_with(name, answer),
        );
        self.note_age(name, (origin, configured));
        ticket
    }

    /// What the pool is asked for a hold.
    pub(crate) fn question<'a>(
        &'a self,
        name: &'a str,
        configured: &'a ResolvedServer,
    ) -> impl FnOnce(Ticket, &mut Interner) -> Ask + 'a {
        let (session, offered, context) = (self.recipient.number, self.offered, &self.context);
        let on_tool_change = configured.authority.on_tool_change(&self.driver.options);
        let (share, turn) = (configured.share, self.turn(name, configured));
        let owner = (share == Share::Session).then_some(session);
        let family = match configured.spec.transport_name() {
            "stdio" | "websocket" => Family::Local,
            _ => Family::Remote,
        };
        let fingerprint = configured.fingerprint(offered, context);
        let judged_as = configured.authority.judged_as(fingerprint);
        move |ticket, interner| {
            let wanted = KeyRequest {
                spec: &configured.spec,
                host: configured.host.as_ref(),
                fingerprint,
                offered,
                owner,
                context,
                authority: &configured.authority,
                written: configured.kept_by(),
                turn,
            };
            let (server, key) = interner.key(name, &wanted);
            let reconnect = configured.reconnect.clone();
            Ask {
                ticket,
                session,
                key,
                server,
                fingerprint: judged_as,
                on_tool_change,
                family,
                share,
                reconnect,
            }
        }
    }

    /// What the catalog of a server is kept by, for this session; nothing of a server that the host
    /// provides.
    pub(crate) fn cache_key(&self, name: &str, configured: &ResolvedServer) -> Option<CacheKey> {
        let (server, offered) = ((name, &*configured.spec), self.offered);
        let written = configured.kept_by()?;
        Some(self.driver.cache_key(server, &written, offered, &self.context))
    }

    /// When the server has its turn to connect, as far as this session has a say.
    pub(crate) fn turn(&self, name: &str, configured: &ResolvedServer) -> StartPriority {
        let options = self.options_mut();
        StartPriority::of(options.always_load.get(name).unwrap_or(&configured.spec().always_load))
    }

    /// A host that gives credentials may have some now for a server that was left without: what it
    /// is asked for by name, it is asked to let in once more (SPEC 3.2).
    fn note_new_credentials(&self, name: &str, configured: &ResolvedServer) {
        if !self.context.has_source() {
            return;
        }
        let author = configured.authority.author();
        let credentials = self.context.of(&name.into(), configured.spec(), author);
        if let Some(credentials) = credentials.filter(|credentials| credentials.take_wanting()) {
            self.driver.credentials_changed(&credentials);
        }
    }

    /// A hold that was asked for. Dropping the future gives it up.
    pub(crate) async fn acquire(
        self: &Arc<Self>,
        name: &str,
        asked: (ConfigOwner, &Arc<ResolvedServer>),
        deadline: Deadline,
    ) -> Result<LeaseGuard> {
        self.note_new_credentials(name, asked.1);
        let mut hold = self.granted(name, asked, deadline).await?;
        // The pool hears of a loss once the exit of the process is known. The hold keeps the entry
        // until then, so that it comes back.
        while hold.cell.is_lost() {
            let told = deadline.before(&self.driver.runtime, hold.cell.until_told_of_loss()).await;
            told.map_err(|error| self.named(name, error))?;
            hold = self.granted(name, asked, deadline).await?;
        }
        Ok(hold)
    }

    /// What the pool grants, as far as it has heard.
    async fn granted(
        self: &Arc<Self>,
        name: &str,
        (origin, configured): (ConfigOwner, &Arc<ResolvedServer>),
        deadline: Deadline,
    ) -> Result<LeaseGuard> {
        let acquired = self.driver.acquire(self.question(name, configured), || {
            let (send, receive) = oneshot::channel();
            // A hold that nobody waits for is dropped here, and so released.
            (answer_with(name, move |result| drop(send.send(result))), receive)
        });
        self.note_age(name, (origin, configured));
        match acquired {
            Acquired::Granted(hold) => Ok(hold),
            Acquired::Asked(ticket, receive) => {
                let result = self.wait_for(ticket, receive, deadline).await;
                result.map_err(|error| self.named(name, error))
            }
        }
    }

    /// The answer to an acquire that was not granted at once. Dropping the future takes the
    /// question back.
    async fn wait_for(
        &self,
        ticket: Ticket,
        receive: oneshot::Receiver<Result<LeaseGuard>>,
        deadline: Deadline,
    ) -> Result<LeaseGuard> {
        let waiting = CancelAcquire { driver: &self.driver, ticket: Some(ticket) };
        let result = deadline.before(&self.driver.runtime, receive).await?;
        waiting.over();
        let dead = |_| Err(Error::new(ErrorCode::Internal, "the pool gave no answer"));
        result.unwrap_or_else(dead)
    }
}

/// The answer to an acquire as a result, exactly once.
pub(crate) fn answer_with(
    name: &str,
    answer: impl FnOnce(Result<LeaseGuard>) + Send + 'static,
) -> TicketCallback {
    let server = Box::<str>::from(name);
    Box::new(move |answered| match answered {
        TicketReply::Granted(hold) => answer(Ok(hold)),
        TicketReply::Refused(error) => answer(Err(error.with_server(&*server))),
        TicketReply::Restarted(_) | TicketReply::ToolAccepted | TicketReply::Drained(_) => {
            answer(Err(Error::new(ErrorCode::Internal, "the answer to another question")));
        }
    })
}

/// Takes the question back when the asker is dropped.
struct CancelAcquire<'a> {
    driver: &'a Arc<Driver>,
    ticket: Option<Ticket>,
}

impl CancelAcquire<'_> {
    fn over(mut self) {
        self.ticket = None;
    }
}

impl Drop for CancelAcquire<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take().filter(|_| !self.driver.runtime.is_forked()) {
            self.driver.step(PoolInput::CancelAcquire { ticket });
        }
    }
}
