//! Waiting until what a session wants is there, or is known to have failed.
//!
//! Without a name it tries nothing anew and fails for no server: one broken server must keep no
//! other away. With a name it makes a fresh attempt and returns its error.

use std::sync::Arc;
use std::time::Duration;

use trunkline_pool::state::EntryState;

use super::{DemandSet, DemandState, ServerDemand};
use crate::driver::server_config::ConfigOwner;
use crate::runtime::deadline::Deadline;
use crate::session::call::prepared::not_connected;
use crate::session::lease::lease_state::{LeaseState, LeaseStatus, disabled};
use crate::session::session_core::SessionCore;
use crate::{Error, ErrorCode, Result};

impl SessionCore {
    /// See [`Session::ready`](crate::Session::ready).
    pub(crate) async fn ready(
        self: &Arc<Self>,
        server: Option<&str>,
        timeout: Option<Duration>,
    ) -> Result<()> {
        let deadline = Deadline::after(timeout);
        if let Some(server) = server {
            self.try_afresh(server, deadline).await?;
        }
        loop {
            let settled = self.settled.notified();
            let mut settled = std::pin::pin!(settled);
            // Registered before the look, so that nothing is missed between the look and the wait.
            settled.as_mut().enable();
            self.check()?;
            let pending = match self.unsettled(server)? {
                None => return Ok(()),
                Some(pending) => pending,
            };
            deadline.before(&self.driver.runtime, settled).await.map_err(|error| {
                error.with_session(&*self.recipient.id).with_detail("servers", pending)
            })?;
        }
    }

    /// The servers that are not settled; `None` when all that are asked for are.
    pub(crate) fn unsettled(&self, server: Option<&str>) -> Result<Option<Vec<String>>> {
        let wants = self.wants();
        let Some(name) = server else {
            let mut pending = self.pending(&wants);
            let returns = |(_, want): &(_, &ServerDemand)| self.returns(want);
            let returning = wants.servers.iter().filter(returns);
            pending.extend(returning.map(|(name, _)| name.to_string()));
            pending.sort();
            return Ok((!pending.is_empty()).then_some(pending));
        };
        match wants.servers.get(name).map(|want| &want.state) {
            Some(_) if self.has_connected(name) => Ok(None),
            Some(DemandState::Pending | DemandState::Looking | DemandState::Over) => {
                Ok(Some(vec![name.to_owned()]))
            }
            Some(DemandState::Ready(hold)) => match self.holds.held(*hold) {
                Some(held) => self.unsettled_by(name, &held),
                None => Ok(None),
            },
            Some(DemandState::Asleep(_)) => Ok(None),
            Some(DemandState::Failed(error) | DemandState::Waiting(error)) => {
                Err(error.clone().with_session(&*self.recipient.id))
            }
            None => match self.holds.lease_on(name).map(|held| (held.standing(), held)) {
                _ if self.has_disabled(name) => Err(self.named(name, disabled())),
                None if self.config.awaits_the_host(name) => Ok(Some(vec![name.to_owned()])),
                None => {
                    let configured = self.spec(name, ConfigOwner::Pool);
                    let gate = self.gate_by(name, configured.as_deref().ok());
                    gate.check().map_err(|error| self.named(name, error))?;
                    match configured {
                        Ok(configured) => self.check_switched_on(name, &configured)?,
                        Err(error) if error.code() == ErrorCode::InvalidConfig => {
                            return Err(error);
                        }
                        Err(_) => {}
                    }
                    Err(self.unwanted(name))
                }
                Some((LeaseStatus::Returning, _)) => Ok(Some(vec![name.to_owned()])),
                Some((_, held)) => {
                    held.check().map_err(|error| self.named(name, error))?;
                    self.unsettled_by(name, &held)
                }
            },
        }
    }

    /// The same of a server that is held: how its connection is now, and not how it was when it was
    /// asked for.
    fn unsettled_by(&self, name: &str, held: &LeaseState) -> Result<Option<Vec<String>>> {
        let published = held.cell().load_full();
        match published.slot.state {
            EntryState::Spawning | EntryState::Reconnecting => Ok(Some(vec![name.to_owned()])),
            EntryState::Failed | EntryState::AuthRequired => {
                let error = published.slot.error.clone();
                Err(self.named(name, error.unwrap_or_else(|| not_connected(&published))))
            }
            _ => Ok(None),
        }
    }

    /// Whether a want has its server, which is on its way back.
    fn returns(&self, want: &ServerDemand) -> bool {
        let held = want.hold().and_then(|hold| self.holds.held(hold));
        let state = held.map(|held| held.cell().load().slot.state);
        matches!(state, Some(EntryState::Spawning | EntryState::Reconnecting))
    }

    /// The servers that are wanted and not settled. What the session holds connected is, whatever
    /// has come of its want.
    pub(crate) fn pending(&self, wants: &DemandSet) -> Vec<String> {
        let awaited = wants.servers.iter().filter(|(_, want)| want.is_awaited());
        let awaited: Vec<&str> = awaited.map(|(name, _)| &**name).collect();
        if awaited.is_empty() {
            return Vec::new();
        }
        let held = self.holds.newest();
        let is_pending = |name: &&str| !held.get(*name).is_some_and(|held| held.is_connected());
        awaited.into_iter().filter(is_pending).map(str::to_owned).collect()
    }

    fn unwanted(&self, name: &str) -> Error {
        let message = "the session does not want a server of that name";
        let error = Error::new(ErrorCode::InvalidArgument, message)
            .with_detail("path", "server")
            .with_hint("name it in `servers` of the session, or acquire it");
        self.named(name, error)
    }
}
