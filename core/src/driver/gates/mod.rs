//! The gates in force: of names, by the lists, and of keys, by what is decided of their
//! configurations.

pub(crate) mod approvers;
pub(crate) mod authority;
pub(crate) mod gate_index;
pub(crate) mod tool_acceptance;

use std::sync::Arc;

use trunkline_pool::gates::{Facts, Gates, JoinedLists, Shuts};
use trunkline_pool::state::{EntryState, Gate, KeyId, Moment, PoolInput, ServerId};

use self::authority::{Authority, Candidate, Warrant};
use self::gate_index::ShutName;
use super::{ConnectionKey, Core, Driver};
use crate::ErrorCode;

impl Core {
    /// Sets the gates of the names and keys that came since: nothing is asked of a server before
    /// (SPEC 11.5, S-04).
    pub(in crate::driver) fn judge_what_is_new(&mut self, now: Moment) {
        let known = self.gated.shuts.len();
        let unjudged = self.interner.take_unjudged();
        if known == self.interner.names() && unjudged.is_empty() {
            return;
        }
        let mut names = self.decided(known);
        self.gated.shuts.resize(self.interner.names(), ShutName::default());
        names.retain(|(_, gate)| *gate != Gate::Open);
        let keys = self.judged(unjudged);
        if !(names.is_empty() && keys.is_empty()) {
            self.run(|state, effects| {
                state.step(now, PoolInput::SetGates { names, keys }, effects)
            });
        }
    }

    /// One less keeps a key. What it stood for comes out with the last, to be dropped once no lock
    /// is held; its gate goes with it.
    #[must_use]
    pub(in crate::driver) fn release_key(
        &mut self,
        now: impl FnOnce() -> Moment,
        key: KeyId,
    ) -> Option<ConnectionKey> {
        let keyed = self.interner.release(key);
        if keyed.is_some() && self.state.key_gate(key) != Gate::Open {
            let keys = vec![key];
            self.run(|state, effects| state.step(now(), PoolInput::ForgetKeys { keys }, effects));
        }
        keyed
    }

    /// What the lists say of the names from this number on.
    fn decided(&self, from: usize) -> Vec<(ServerId, Gate)> {
        let places = from..self.interner.names();
        let servers = places.map(|place| ServerId(u32::try_from(place).unwrap_or(u32::MAX)));
        let decide = |server| {
            let facts = Facts::of_name(self.interner.describe(server).0);
            (server, self.gated.gates.decide(&facts))
        };
        servers.map(decide).collect()
    }

    /// What is decided of these keys, as far as it is another than before; those that are shut by
    /// it are counted.
    fn judged(&mut self, keys: Vec<KeyId>) -> Vec<(KeyId, Gate)> {
        let mut others = Vec::new();
        for key in keys {
            let Some(keyed) = self.interner.keyed(key) else { continue };
            let gate = keyed.authority.gate();
            if gate != self.state.key_gate(key) {
                others.push((key, gate));
                self.count_shut(key, gate);
            }
        }
        others
    }

    fn count_shut(&mut self, key: KeyId, gate: Gate) {
        let Some(keyed) = self.interner.keyed(key).filter(|_| gate != Gate::Open) else { return };
        let server = self.interner.known_server(&keyed.name);
        let shuts = server.and_then(|server| self.gated.shuts.get_mut(server.0 as usize));
        if let (Some(shuts), Some(warrant)) = (shuts, keyed.authority.id()) {
            shuts.count(warrant);
        }
    }
}

impl Driver {
    /// The gates that are in force now.
    pub(crate) fn gates(&self) -> Arc<Gates> {
        self.core().gated.gates.clone()
    }

    /// Of each server, unless it is shut out now, how often it was.
    pub(crate) fn admitted<'a>(
        &self,
        servers: impl Iterator<Item = Candidate<'a>>,
    ) -> Vec<Option<Shuts>> {
        let mut core = self.core();
        let servers: Vec<_> = servers.map(|one| (core.interner.server(one.name), one)).collect();
        core.judge_what_is_new(self.now());
        let shuts = |(server, one): (ServerId, Candidate<'_>)| match core
            .state
            .gate(server)
            .and(one.authority.gate())
        {
            Gate::Open => Some(core.gated.shuts.get(server.0 as usize)?.shuts(one.authority.id())),
            Gate::Shut(_) => None,
        };
        servers.into_iter().map(shuts).collect()
    }

    /// Other lists are in force. What is no longer admitted ends at once. `lists` is asked under
    /// the mutex, so that of two changes at once the last word is the newest.
    pub(crate) fn set_gates(self: &Arc<Self>, lists: impl FnOnce() -> JoinedLists) {
        let mut core = self.core();
        if !Arc::make_mut(&mut core.gated.gates).replace(lists()) {
            return;
        }
        let mut names = core.decided(0);
        names.truncate(core.gated.shuts.len());
        names.retain(|(server, gate)| *gate != core.state.gate(*server));
        for (server, _) in names.iter().filter(|(_, gate)| *gate != Gate::Open) {
            core.gated.shuts[server.0 as usize].times += 1;
        }
        self.run(core, PoolInput::SetGates { names, keys: Vec::new() });
    }

    /// Something was decided anew: every warrant is asked again. What is no longer admitted ends at
    /// once.
    pub(crate) fn review_keys(self: &Arc<Self>) {
        let mut core = self.core();
        let warranted =
            core.interner.rows().filter(|(_, keyed)| keyed.authority.warrant().is_some());
        let keys = warranted.map(|(key, _)| key).collect();
        let keys = core.judged(keys);
        if !keys.is_empty() {
            self.run(core, PoolInput::SetGates { names: Vec::new(), keys });
        }
    }

    /// What was given up because it could not be read what is decided of it is tried again, for
    /// those who still hold it.
    pub(crate) fn restart_undecided(self: &Arc<Self>) {
        for (row, cell) in self.entries() {
            let is_undecided =
                row.error.as_ref().is_some_and(|error| error.code() == ErrorCode::Store);
            if row.state == EntryState::Failed && is_undecided && self.warrant(cell.key).is_some() {
                let (server, index) = (row.server, Some(row.index));
                self.ask(|ticket, _| PoolInput::Restart { ticket, server, index }, Box::new(drop));
            }
        }
    }

    /// The warrant that a key runs by; nothing for the host's own.
    pub(in crate::driver) fn warrant(&self, key: KeyId) -> Option<Arc<dyn Warrant>> {
        self.core().interner.keyed(key)?.authority.warrant().cloned()
    }

    /// Whether what a key stands for is so.
    pub(crate) fn is_key(&self, key: KeyId, is_so: impl FnOnce(&ConnectionKey) -> bool) -> bool {
        self.core().interner.keyed(key).is_some_and(is_so)
    }

    /// On whose word a key's connections are made.
    pub(crate) fn authority(&self, key: KeyId) -> Authority {
        self.warrant(key).map_or(Authority::Host, Authority::Warrant)
    }

    /// Its warrant refused a key at the last moment. Whether it does so still, which shuts the key:
    /// what was decided meanwhile counts.
    pub(in crate::driver) fn shut_key(self: &Arc<Self>, key: KeyId) -> bool {
        let mut core = self.core();
        let keys = core.judged(vec![key]);
        let gate = keys.first().map_or_else(|| core.state.key_gate(key), |(_, gate)| *gate);
        if !keys.is_empty() {
            self.run(core, PoolInput::SetGates { names: Vec::new(), keys });
        }
        gate != Gate::Open
    }
}
