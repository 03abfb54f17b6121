//! The gates in force, and the names that they have been set for.

use std::sync::Arc;

use trunkline_pool::gates::{Facts, GateLists, Gates, JoinedLists, LaunchBound};
use trunkline_pool::options::PoolOptions;
use trunkline_pool::state::{Gate, Input, Moment, ServerId};

use super::{Core, Driver};

/// The gates, and what they were for the names that the reducer has them of.
pub(super) struct Gated {
    gates: Arc<Gates>,
    /// By the number of the name.
    shuts: Vec<Shuts>,
}

/// How often a server was shut out so far. What was asked for under another number is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shuts(u64);

impl Gated {
    pub(super) fn new(options: &PoolOptions) -> Gated {
        let bound = LaunchBound::new(options.launch_allowed.clone());
        let (allowed, excluded) = (options.allowed.clone(), options.excluded.clone());
        let lists = GateLists::new(allowed, excluded, Vec::new());
        Gated { gates: Arc::new(Gates::new(bound, lists)), shuts: Vec::new() }
    }
}

impl Core {
    /// Sets the gates of the names that came since: nothing is asked of a server before (SPEC 11.5, S-04).
    pub(super) fn gate_new_names(&mut self, now: Moment) {
        let known = self.gated.shuts.len();
        if known == self.interner.names() {
            return;
        }
        let mut gates = self.decided(known);
        self.gated.shuts.resize(self.interner.names(), Shuts::default());
        gates.retain(|(_, gate)| *gate != Gate::Open);
        if !gates.is_empty() {
            self.run(|state, effects| state.step(now, Input::SetGates { gates }, effects));
        }
    }

    /// What the gates say of the names from this number on.
    fn decided(&self, from: usize) -> Vec<(ServerId, Gate)> {
        let places = from..self.interner.names();
        let servers = places.map(|place| ServerId(u32::try_from(place).unwrap_or(u32::MAX)));
        let decide = |server| {
            let facts = Facts::of_name(self.interner.describe(server).0);
            (server, self.gated.gates.decide(&facts))
        };
        servers.map(decide).collect()
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
        servers: impl Iterator<Item = &'a str>,
    ) -> Vec<Option<Shuts>> {
        let mut core = self.core();
        let servers: Vec<ServerId> = servers.map(|name| core.interner.server(name)).collect();
        core.gate_new_names(self.now());
        let shuts = |server: ServerId| match core.state.gate(server) {
            Gate::Open => core.gated.shuts.get(server.0 as usize).copied(),
            Gate::Shut(_) => None,
        };
        servers.into_iter().map(shuts).collect()
    }

    /// Other lists are in force. What is no longer admitted ends at once.
    pub(crate) fn set_gates(self: &Arc<Self>, lists: impl Into<JoinedLists>) {
        let mut core = self.core();
        if !Arc::make_mut(&mut core.gated.gates).replace(lists) {
            return;
        }
        let mut gates = core.decided(0);
        gates.truncate(core.gated.shuts.len());
        gates.retain(|(server, gate)| *gate != core.state.gate(*server));
        for (server, _) in gates.iter().filter(|(_, gate)| *gate != Gate::Open) {
            core.gated.shuts[server.0 as usize].0 += 1;
        }
        self.run(core, Input::SetGates { gates });
    }
}
