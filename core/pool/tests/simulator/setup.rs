//! What a run is made of: options and sizes, drawn anew for each seed. A trivial configuration is
//! no evidence.

use std::sync::{Arc, LazyLock};

use trunkline_pool::config::Share;
use trunkline_pool::config::{Fingerprint, ServerSpec};
use trunkline_pool::options::{Budget, BudgetMode, OnToolChange, PoolOptions, Reconnect};
use trunkline_pool::state::{
    Ask, Configuration, Family, KeyId, PoolInput, ServerId, SessionId, Ticket,
};

use crate::chance::Chance;

/// The sizes and habits of one run.
#[derive(Clone, Debug)]
pub struct Setup {
    pub options: PoolOptions,
    pub keys: u32,
    pub names: u32,
    pub sessions: usize,
    /// Percent of moves in which the world does something.
    pub busy: u64,
    /// Percent of attempts that fail.
    pub failing: u64,
    /// Percent of the world's moves on a standing connection that lose it.
    pub losing: u64,
    /// Percent of events that are delivered again later.
    pub repeating: u64,
    /// Percent of commands that restart.
    pub restarting: u64,
    /// Percent of moves in which time passes.
    pub hasty: u64,
    /// Percent of runs' commands that drain the pool, in tenths.
    pub draining: u64,
    /// Percent of commands that set a gate.
    pub gating: u64,
    /// Whether some connections are not shared.
    pub own: bool,
    /// How the lost connections of some keys come back, where that is not the pool's way.
    pub reconnects: Vec<Option<Arc<Reconnect>>>,
    /// What becomes of changed tools, of one key after the other.
    pub on_tool_change: Vec<OnToolChange>,
}

impl Setup {
    pub fn draw(chance: &mut Chance) -> Setup {
        let mut options = PoolOptions::default();
        options.drain_delay = chance.millis(&[0, 10, 1_000, 30_000]);
        options.idle_cap = chance.millis(&[0, 5, 1_500, 20_000, 300_000]);
        options.reconnect = draw_reconnect(chance);
        options.limits.processes = chance.pick(&[0, 1, 1, 2, 2, 3, 1024]);
        options.limits.entries_per_name = chance.pick(&[1, 2, 256]);
        let mut setup = Setup {
            options,
            keys: chance.pick(&[1, 1, 2, 2, 3, 4, 6]),
            names: 1 + chance.below(3) as u32,
            sessions: 1 + chance.below(5) as usize,
            busy: chance.pick(&[20, 45, 70]),
            failing: chance.pick(&[0, 20, 70]),
            losing: chance.pick(&[0, 15, 60]),
            repeating: chance.pick(&[0, 10, 40]),
            restarting: chance.pick(&[0, 5, 5]),
            hasty: chance.pick(&[5, 20, 40]),
            draining: chance.pick(&[0, 0, 5, 30]),
            gating: chance.pick(&[0, 0, 0, 0, 3, 10]),
            own: false,
            reconnects: vec![None],
            on_tool_change: Vec::new(),
        };
        let policies = [OnToolChange::Notify, OnToolChange::Quarantine];
        let policies = (0..1 + chance.below(3)).map(|_| chance.pick(&policies));
        setup.on_tool_change = policies.collect();
        if chance.percent(35) {
            let mode = chance.pick(&[
                BudgetMode::Enforce,
                BudgetMode::Enforce,
                BudgetMode::Warn,
                BudgetMode::Off,
            ]);
            setup.options.budget =
                Some(Budget { limit: chance.pick(&[0, 1, 1, 1, 2, 2, 3]), mode });
        }
        match chance.below(100) {
            0..40 => setup.crowd(chance),
            40..52 => setup.fall_ill(chance),
            _ => setup.own = chance.percent(50),
        }
        if chance.percent(30) {
            let own =
                |chance: &mut Chance| chance.percent(60).then(|| draw_reconnect(chance).into());
            setup.reconnects = (0..3).map(|_| own(chance)).collect();
        }
        setup
    }

    /// Failed entries that ask for a process slot while others are leaving theirs: rare unless it
    /// is wanted.
    fn crowd(&mut self, chance: &mut Chance) {
        self.options.budget = None;
        self.gating = 0;
        self.options.limits.processes = 1;
        self.options.limits.entries_per_name = 256;
        self.options.drain_delay = chance.millis(&[0, 10]);
        self.options.reconnect.local_delays.truncate(chance.below(2) as usize);
        self.options.reconnect.breaker_losses = 5;
        self.keys = chance.pick(&[2, 2, 4]);
        self.sessions = 4;
        self.failing = 20;
        self.losing = 60;
        self.repeating = 60;
        self.restarting = 10;
        self.draining = 0;
        self.busy = 45;
        self.hasty = 5;
    }

    /// Servers that are lost again and again, held all the while, and restarted by hand: what was
    /// forgiven and what was not shows only after several losses.
    fn fall_ill(&mut self, chance: &mut Chance) {
        self.options.drain_delay = chance.millis(&[1_000, 30_000]);
        self.options.idle_cap = chance.millis(&[300_000]);
        let reconnect = &mut self.options.reconnect;
        let count = 1 + chance.below(3);
        reconnect.local_delays = (0..count).map(|_| chance.millis(&[0, 20])).collect();
        reconnect.remote_delays = reconnect.local_delays.clone();
        reconnect.breaker_losses = chance.pick(&[1, 2, 5]);
        reconnect.breaker_window = chance.millis(&[30_000, 300_000]);
        reconnect.healthy_after = chance.millis(&[100, 30_000]);
        self.options.limits.processes = 1024;
        self.keys = chance.pick(&[1, 2]);
        self.sessions = 3;
        self.failing = chance.pick(&[10, 30]);
        self.losing = 60;
        self.draining = chance.pick(&[0, 30]);
        self.busy = 70;
        self.restarting = chance.pick(&[5, 20]);
        self.hasty = 20;
    }

    pub fn server_of(&self, key: KeyId) -> ServerId {
        ServerId(key.0 % self.names)
    }

    /// Keys of one name that differ by four are one configuration.
    pub fn fingerprint_of(&self, key: KeyId) -> Fingerprint {
        static FINGERPRINTS: LazyLock<Vec<Fingerprint>> = LazyLock::new(|| {
            let print = |number| {
                let spec = serde_json::json!({ "command": format!("{number}") });
                let spec = ServerSpec::from_value("s", &spec).expect("it is a configuration");
                spec.fingerprint("pool", &[])
            };
            (0..4).map(print).collect()
        });
        FINGERPRINTS[key.0 as usize % FINGERPRINTS.len()]
    }

    /// What the accepted definitions of a key belong to.
    pub fn configuration_of(&self, key: KeyId) -> Configuration {
        let (server, fingerprint) = (self.server_of(key), self.fingerprint_of(key));
        Configuration { server, fingerprint, on_tool_change: self.policy_of(key) }
    }

    fn policy_of(&self, key: KeyId) -> OnToolChange {
        self.on_tool_change[key.0 as usize % self.on_tool_change.len()]
    }

    /// Two keys of three are local, so that both families meet in most runs.
    pub fn family_of(&self, key: KeyId) -> Family {
        if key.0 % 3 == 2 { Family::Remote } else { Family::Local }
    }

    pub fn ask(&self, ticket: Ticket, session: SessionId, key: KeyId) -> Ask {
        let (server, family) = (self.server_of(key), self.family_of(key));
        let (fingerprint, share) = (self.fingerprint_of(key), self.share_of(key));
        let reconnect = self.reconnects[key.0 as usize % self.reconnects.len()].clone();
        let on_tool_change = self.policy_of(key);
        Ask { ticket, session, key, server, fingerprint, on_tool_change, family, share, reconnect }
    }

    /// The same as one input.
    pub fn acquire(&self, ticket: Ticket, session: SessionId, key: KeyId) -> PoolInput {
        PoolInput::Acquire(self.ask(ticket, session, key))
    }

    /// How the lost connection of a key comes back.
    pub fn reconnect_of(&self, key: KeyId) -> &Reconnect {
        let own = &self.reconnects[key.0 as usize % self.reconnects.len()];
        own.as_deref().unwrap_or(&self.options.reconnect)
    }

    /// Of the keys, every second is a session's own where there are such.
    pub fn share_of(&self, key: KeyId) -> Share {
        if self.own && key.0 % 2 == 1 { Share::Session } else { Share::Pool }
    }
}

fn draw_reconnect(chance: &mut Chance) -> Reconnect {
    let mut reconnect = Reconnect::default();
    let count = chance.below(4);
    reconnect.local_delays = (0..count).map(|_| chance.millis(&[0, 20, 5_000])).collect();
    let count = chance.below(4);
    reconnect.remote_delays = (0..count).map(|_| chance.millis(&[0, 50, 1_000, 4_000])).collect();
    reconnect.breaker_losses = chance.pick(&[0, 1, 2, 5]);
    reconnect.breaker_window = chance.millis(&[0, 200, 30_000]);
    reconnect.healthy_after = chance.millis(&[0, 100, 30_000]);
    let count = chance.below(4);
    reconnect.revive = (0..count).map(|_| chance.millis(&[200, 1_000, 60_000])).collect();
    reconnect
}
