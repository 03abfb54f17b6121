//! What the pool says of itself, held against what it told and what exists.

use std::collections::{BTreeMap, BTreeSet};

use trunkline_pool::state::{ConnectionId, EntryState, PoolState, ServerId, Situation, Ticket};

use crate::model::Model;
use crate::setup::Setup;
use crate::world::World;

macro_rules! check {
    ($condition:expr, $($words:tt)+) => {
        if !$condition {
            return Err(format!($($words)+));
        }
    };
}

impl Model {
    /// What the pool says of itself is what it told.
    pub fn agrees_with(
        &self,
        pool: &PoolState,
        setup: &Setup,
        world: &World,
    ) -> Result<(), String> {
        let holds = self.holds();
        let mut keys = BTreeSet::new();
        let mut waiters = 0;
        let mut names: BTreeMap<ServerId, u32> = BTreeMap::new();
        for row in pool.entries() {
            let told = self.entries.get(&row.entry).ok_or("an entry that was never published")?;
            let slot = told.slot.as_ref().ok_or("an entry without a slot")?;
            let over = row.situation == Situation::Ending;
            let state = if over { EntryState::Closed } else { row.state };
            check!(told.shown == Some(row.state), "shown {:?}, is {row:?}", told.shown);
            check!(slot.state == state && slot.generation == row.generation, "{slot:?}, {row:?}");
            check!(slot.error == row.error, "{slot:?} of {row:?}");
            let holders = holds.get(&row.entry).map_or(0, BTreeSet::len);
            check!(holders == row.refs as usize, "{holders} holders of {row:?}");
            waiters += row.waiters as usize;
            if let Some(generation) = row.living {
                let connection = ConnectionId { entry: row.entry, generation };
                check!(world.connections.contains_key(&connection), "{connection} never was");
            }
            if row.connected_at.is_some() {
                let connection = ConnectionId { entry: row.entry, generation: row.generation };
                let stands = world.connections.get(&connection).is_some_and(|real| real.heard_up);
                check!(stands, "{connection} does not stand, but {row:?}");
            }
            if !over {
                check!(keys.insert(row.key), "two entries of {:?}", row.key);
                *names.entry(row.server).or_default() += 1;
            }
        }
        let most = names.values().max().copied().unwrap_or(0);
        check!(most <= setup.options.limits.entries_per_name, "{most} entries of one name");
        let asked = self.acquires.len() - self.waiting.len();
        check!(waiters == asked, "{waiters} wait, {asked} asked");
        let begun = |(ticket, _): &(&Ticket, _)| !self.waiting.contains_key(ticket);
        for (ticket, asked) in self.acquires.iter().filter(begun) {
            check!(keys.contains(&asked.key), "{ticket:?} waits for {asked:?}, which is not there");
        }
        let gone = holds.keys().find(|entry| pool.entry(**entry).is_none());
        check!(gone.is_none(), "{gone:?} is held, but gone");
        let processes = world.processes(setup);
        check!(processes <= setup.options.limits.processes, "{processes} processes");
        check!(processes <= pool.processes(), "{processes} processes, {} known", pool.processes());
        Ok(())
    }
}
