//! Sessions follow what is configured: each by a plan of its own, which says what it lets go and
//! what it asks for.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use trunkline_pool::gates::Shuts;
use trunkline_pool::plan::plan;
use trunkline_pool::state::PoolInput;

use super::{DesiredServer, NewDemand, ServerDemand};
use crate::driver::server_config::{ConfigOwner, ResolvedServer};
use crate::session::lease::HoldId;
use crate::session::session_core::SessionCore;

/// Lets sessions follow the pool's configuration. All of them let go what they no longer want
/// before any asks for something new. So the old makes room for the new (SPEC 9.5).
pub(crate) fn follow_together(sessions: &[Arc<SessionCore>]) {
    let added = |session: &Arc<SessionCore>| {
        session.let_go().into_iter().map(|added| (session.clone(), added)).collect::<Vec<_>>()
    };
    let mut added: Vec<(Arc<SessionCore>, NewDemand)> = sessions.iter().flat_map(added).collect();
    // What is always loaded is asked for first, and so begins first, also where there is no room
    // for all.
    added.sort_by_cached_key(|(session, added)| session.turn(&added.server, &added.configured));
    // What is kept of the others is at hand before the machine is busy with starts.
    let _shown_first = sessions.first().map(|session| session.driver.catalogs.showing());
    ask_for_all(&added);
    sessions.iter().for_each(|session| session.show_kept());
    sessions.iter().for_each(|session| session.warn_of_unknown_servers());
}

/// Asks for what sessions of one pool want besides. What a newer change let go meanwhile is not
/// asked for.
pub(crate) fn ask_for_all(added: &[(Arc<SessionCore>, NewDemand)]) {
    let is_wanted = |(session, added): &&(Arc<SessionCore>, NewDemand)| session.still_wants(added);
    let added: Vec<_> = added.iter().filter(is_wanted).collect();
    let Some((first, _)) = added.first() else { return };
    let wishes = added.iter().map(|(session, added)| session.wish(added)).collect();
    let tickets = first.driver.want(wishes);
    for ((session, added), ticket) in added.iter().zip(tickets) {
        session.wished(added, ticket);
        session.note_age(&added.server, (ConfigOwner::Pool, &added.configured));
    }
}

impl SessionCore {
    /// Wants what the pool has configured now, as far as the session's options go.
    ///
    /// It decides under the lock and from the newest source. So of two at once each leaves the
    /// newest state. It is done without the lock, since an answer may call the host.
    pub(crate) fn follow(self: &Arc<Self>) {
        follow_together(std::slice::from_ref(self));
    }

    /// Lets go what it no longer wants; what it wants besides, which is to be asked for.
    fn let_go(self: &Arc<Self>) -> Vec<NewDemand> {
        let (gone, new) = self.carry_out_plan();
        self.end_demands(&gone);
        new
    }

    /// Wants were taken from the list: their questions are taken back, and what came of them goes.
    pub(crate) fn end_demands(self: &Arc<Self>, gone: &[ServerDemand]) {
        for ticket in gone.iter().filter_map(ServerDemand::open_ticket) {
            self.driver.step(PoolInput::CancelAcquire { ticket });
        }
        let unwanted: Vec<HoldId> = gone.iter().filter_map(ServerDemand::hold).collect();
        let over: Vec<u64> = gone.iter().map(|want| want.born.0).collect();
        self.review_holds(&unwanted, &over);
        self.settled.notify_waiters();
    }

    /// Brings the list of wants up to date: those that are over, and those that are to be asked
    /// for.
    fn carry_out_plan(&self) -> (Vec<ServerDemand>, Vec<NewDemand>) {
        let mut wants = self.wants();
        if wants.closed {
            return Default::default();
        }
        wants.servers.retain(|_, want| !want.is_over());
        let mut desired = self.desired();
        let (ends, begins) = {
            let current = wants.servers.iter().map(|(name, want)| (&**name, want.holding(name)));
            let next = desired.iter().map(|(name, new)| (&**name, new.holding(name)));
            let (current, next) = (current.collect(), next.collect());
            let plan = plan(&current, &next);
            let owned = |names: Vec<&str>| names.into_iter().map(Box::from).collect::<Vec<_>>();
            (owned(plan.ends()), owned(plan.begins()))
        };
        let gone = ends.iter().filter_map(|name| wants.servers.remove(name)).collect();
        let mut new = Vec::new();
        for name in begins {
            let Some(one) = desired.remove(&name) else { continue };
            let (id, configured, lazy) = (wants.next(), one.configured.clone(), one.lazy);
            wants.servers.insert(name.clone(), ServerDemand::new(id, one));
            if !lazy {
                new.push(NewDemand { server: name, configured, want: id });
            }
        }
        // What stays is asked for, and seen, by the newest from now on.
        for (name, one) in desired {
            if let Some(want) = wants.servers.get_mut(&name) {
                want.configured = one.configured.clone();
                want.seen_by = (one.configured, one.options);
            }
        }
        (gone, new)
    }

    /// What it should want now: servers of the pool that it names, and that neither it nor a gate
    /// keeps out.
    fn desired(&self) -> BTreeMap<Box<str>, DesiredServer> {
        let options = self.options();
        let mut servers = self.servers();
        servers.retain(|(name, configured)| {
            options.servers.names(name) && !configured.spec.disabled && !self.has_disabled(name)
        });
        let candidates = servers.iter().map(|(name, configured)| configured.candidate(name));
        let admitted = self.driver.admitted(candidates);
        let row =
            |((name, configured), shuts): ((Box<str>, Arc<ResolvedServer>), Option<Shuts>)| {
                let (shuts, lazy) = (shuts?, self.is_lazy(&configured));
                Some((name, DesiredServer { configured, options: options.clone(), shuts, lazy }))
            };
        servers.into_iter().zip(admitted).filter_map(row).collect()
    }
}
