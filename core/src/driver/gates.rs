//! The gates in force, and the names that they have been set for.

use std::sync::Arc;

use trunkline_pool::gates::{GateLists, Gates, LaunchBound};
use trunkline_pool::options::PoolOptions;
use trunkline_pool::state::{Gate, Input, Moment, ServerId};

use super::{Core, Driver, Interner};

/// The gates, and how many names the reducer has them of.
pub(super) struct Gated {
    gates: Arc<Gates>,
    names: usize,
}

impl Gated {
    pub(super) fn new(options: &PoolOptions) -> Gated {
        let bound = LaunchBound::new(options.launch_allowed.clone());
        let (allowed, excluded) = (options.allowed.clone(), options.excluded.clone());
        let lists = GateLists::new(allowed, excluded, Vec::new());
        Gated { gates: Arc::new(Gates::new(bound, lists)), names: 0 }
    }

    /// What the gates say of these names.
    fn decide(&self, interner: &Interner, names: std::ops::Range<usize>) -> Vec<(ServerId, Gate)> {
        let servers = names.map(|place| ServerId(u32::try_from(place).unwrap_or(u32::MAX)));
        servers.map(|server| (server, self.gates.decide(interner.describe(server).0))).collect()
    }
}

impl Core {
    /// Sets the gates of the names that came since: nothing is asked of a server before (SPEC 11.5, S-04).
    pub(super) fn gate_new_names(&mut self, now: Moment) {
        let names = self.interner.names();
        let new = std::mem::replace(&mut self.gated.names, names)..names;
        if new.is_empty() {
            return;
        }
        let mut gates = self.gated.decide(&self.interner, new);
        gates.retain(|(_, gate)| *gate != Gate::Open);
        if !gates.is_empty() {
            self.run(|state, effects| state.step(now, Input::SetGates { gates }, effects));
        }
    }
}

impl Driver {
    /// The gates that are in force now.
    pub(crate) fn gates(&self) -> Arc<Gates> {
        self.core().gated.gates.clone()
    }

    /// Other lists are in force. What is no longer admitted ends at once. Whether they were others.
    pub(crate) fn set_gates(self: &Arc<Self>, lists: GateLists) -> bool {
        let mut core = self.core();
        if !Arc::make_mut(&mut core.gated.gates).replace(lists) {
            return false;
        }
        let mut gates = core.gated.decide(&core.interner, 0..core.gated.names);
        gates.retain(|(server, gate)| *gate != core.state.gate(*server));
        self.run(core, Input::SetGates { gates });
        true
    }
}
