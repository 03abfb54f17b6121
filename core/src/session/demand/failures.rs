//! Wants that failed, and what ends that: other credentials, a decision that can be read, a
//! restart, or the server, which is there for somebody after all.
//!
//! A failed want waits for what ends its failure. A retry in the background would start a broken
//! server for ever, at moments that nobody knows.

use std::sync::Arc;

use trunkline_pool::config::Share;
use trunkline_pool::state::{EntryState, PoolInput};

use super::follow::follow_together;
use super::{DemandState, ServerDemand};
use crate::auth::Credentials;
use crate::driver::server_config::{ConfigOwner, ResolvedServer};
use crate::driver::{ConnectionKey, EntryCell};
use crate::runtime::deadline::Deadline;
use crate::session::lease::lease_state::LeaseState;
use crate::session::registry::SessionRegistry;
use crate::session::session_core::SessionCore;
use crate::{ErrorCode, Result};

impl SessionCore {
    fn lets_in(&self, credentials: &Arc<Credentials>, server: &str, it: &ResolvedServer) -> bool {
        self.context.has(credentials, &server.into(), (it.spec(), it.authority.author()))
    }

    /// A want that failed for want of these credentials is over, so that its server is asked for
    /// anew.
    pub(crate) fn want_again(&self, credentials: &Arc<Credentials>) {
        let lacked = |server: &str, want: &ServerDemand| {
            matches!(&want.state, DemandState::Failed(error) if error.code() == ErrorCode::AuthRequired)
                && self.lets_in(credentials, server, &want.configured)
        };
        self.end_failed(lacked);
    }

    /// A want that failed because it could not be read what is decided of its server is over, so
    /// that it is asked for anew.
    pub(crate) fn want_the_undecided(&self) {
        let undecided = |want: &ServerDemand| {
            matches!(&want.state, DemandState::Failed(error) if error.code() == ErrorCode::Store)
                && want.configured.authority.warrant().is_some()
        };
        self.end_failed(|_, want| undecided(want));
    }

    /// A server was connected to: wants of it by that connection that failed are over, so that it
    /// is asked for anew. Who waits looks again, since what a session holds connected is ready.
    pub(crate) fn want_what_came(sessions: &[Arc<Self>], cell: &EntryCell) {
        want_anew(sessions, &cell.server, |session, configured| session.is_by(configured, cell));
        sessions.iter().for_each(|session| session.settled.notify_waiters());
    }

    /// These wants that failed are over; whether there were some. They stay in the list until the
    /// next plan, which asks for them anew: who looks meanwhile finds what is still to come.
    pub(crate) fn end_failed(&self, which: impl Fn(&str, &ServerDemand) -> bool) -> bool {
        let (mut ended, mut tickets) = (false, Vec::new());
        for (server, want) in &mut self.wants().servers {
            if want.has_failed() && which(server, want) {
                tickets.extend(want.open_ticket());
                (want.state, want.ticket) = (DemandState::Over, None);
                ended = true;
            }
        }
        for ticket in tickets {
            self.driver.step(PoolInput::CancelAcquire { ticket });
        }
        ended
    }

    /// A server that failed is tried once more for a caller that waits for it by name, whatever is
    /// remembered of it (SPEC 3.2, 8.1).
    pub(crate) async fn try_afresh(self: &Arc<Self>, name: &str, deadline: Deadline) -> Result<()> {
        let Some((origin, configured)) = self.failed_now(name) else { return Ok(()) };
        let hold = self.acquire(name, (origin, &configured), deadline).await?;
        // What came of the earlier question is over, whether or not anybody has noted that yet.
        if self.end_failed(|server, _| server == name) {
            self.follow();
        }
        // Without this hold the connection may end before the session's own wish has it. `ready`
        // tells what else comes of that.
        let _ = deadline.before(&self.driver.runtime, self.until_answered(name)).await;
        drop(hold);
        Ok(())
    }

    /// Waits until the session's own request for the server has an answer.
    pub(crate) async fn until_answered(&self, name: &str) {
        loop {
            let settled = self.settled.notified();
            let mut settled = std::pin::pin!(settled);
            // Registered before the look, so that nothing is missed between the look and the wait.
            settled.as_mut().enable();
            let is_to_come = self.wants().servers.get(name).is_some_and(ServerDemand::is_to_come);
            if !is_to_come || self.check().is_err() {
                return;
            }
            settled.await;
        }
    }

    /// By what a server would be asked for that the session has, or wants, and that has failed.
    fn failed_now(&self, name: &str) -> Option<(ConfigOwner, Arc<ResolvedServer>)> {
        let is_down = |held: &LeaseState| {
            let state = held.cell().load().slot.state;
            matches!(state, EntryState::Failed | EntryState::AuthRequired)
        };
        let wants = self.wants();
        if let Some(want) = wants.servers.get(name) {
            let held = want.hold().and_then(|hold| self.holds.held(hold));
            let has_failed = want.has_failed() || held.is_some_and(|held| is_down(&held));
            let is_asked_for = has_failed && want.lazy.is_none();
            return is_asked_for.then(|| (ConfigOwner::Pool, want.configured.clone()));
        }
        drop(wants);
        let held =
            self.holds.lease_on(name).filter(|held| held.check().is_ok() && is_down(held))?;
        Some((held.origin, self.spec(name, held.origin).ok()?))
    }

    /// Whether that is the connection that the session has, or would have, by a configuration.
    fn is_by(&self, configured: &ResolvedServer, cell: &EntryCell) -> bool {
        let owner = (configured.share == Share::Session).then_some(self.recipient.number);
        let fingerprint = configured.fingerprint(self.offered, &self.context);
        let identity = (fingerprint, owner, configured.authority.id());
        let of = |key: &ConnectionKey| (key.fingerprint, key.owner, key.authority.id());
        self.driver.is_key(cell.key, |key| of(key) == identity)
    }

    /// The servers whose wants failed.
    pub(crate) fn failed_wants(&self) -> Vec<Box<str>> {
        let wants = self.wants();
        let failed = wants.servers.iter().filter(|(_, want)| want.has_failed());
        failed.map(|(name, _)| name.clone()).collect()
    }

    /// Whether the session holds a server that is connected, by whichever configuration.
    pub(crate) fn has_connected(&self, server: &str) -> bool {
        self.holds.lease_on(server).is_some_and(|held| held.is_connected())
    }
}

impl SessionRegistry {
    /// Starts a server in the sessions that want it and failed to get it, but for what has an
    /// entry: that is restarted.
    pub(crate) fn start_what_failed(&self, server: &str) {
        let entries = self.driver.entries().into_iter();
        let cells: Vec<_> =
            entries.map(|(_, cell)| cell).filter(|cell| &*cell.server == server).collect();
        let sessions = self.live_sessions();
        let cores: Vec<_> = sessions.iter().map(|session| session.core().clone()).collect();
        want_anew(&cores, server, |session, configured| {
            !cells.iter().any(|cell| session.is_by(configured, cell))
        });
    }
}

/// Has those sessions ask anew for a server whose want of it failed, and is by what is one of
/// these.
fn want_anew(
    sessions: &[Arc<SessionCore>],
    server: &str,
    which: impl Fn(&SessionCore, &ResolvedServer) -> bool,
) {
    let ends = |session: &&Arc<SessionCore>| {
        session.end_failed(|name, want| name == server && which(session, &want.configured))
    };
    let ended: Vec<_> = sessions.iter().filter(ends).cloned().collect();
    follow_together(&ended);
}
