//! Break before make, written a second time (SPEC 13.1): the first attempt of an entry begins only
//! when nothing is left of what it replaces.

use std::collections::BTreeSet;

use trunkline_pool::state::{Effect, EntryId, PoolInput, Situation};

use crate::model::{Cause, Model};
use crate::rules::Step;
use crate::setup::Setup;
use crate::world::World;

/// Entries of an old configuration, also those that are over.
#[derive(Clone, Debug, Default)]
pub struct Replaced {
    outdated: BTreeSet<EntryId>,
}

impl Replaced {
    /// Holds a step against the rule.
    pub fn check(
        &mut self,
        step: &Step<'_>,
        effects: &[Effect],
        setup: &Setup,
        (model, world): (&Model, &World),
    ) -> Result<(), String> {
        if let Cause::Input(PoolInput::Reconfigure { outdated, current }) = step.cause {
            // What is over stays old, whatever comes back.
            let ends = |entry: &EntryId| {
                let was = step.before.get(entry);
                was.is_some_and(|row| row.situation == Situation::Ending)
            };
            self.outdated.retain(|entry| !current.contains(entry) || ends(entry));
            self.outdated.extend(outdated);
        }
        for effect in effects {
            let Effect::Connect { connection, key, .. } = effect else { continue };
            if connection.generation.0 > 1 {
                continue;
            }
            let server = setup.server_of(*key);
            for (other, real) in &world.connections {
                let entry = other.entry;
                let concerns = entry != connection.entry && setup.server_of(real.key) == server;
                let is_there = !real.heard_gone && self.outdated.contains(&entry);
                // A waiter for it has an open acquire of its key.
                let awaited = model.acquires.values().any(|asked| asked.key == real.key);
                if concerns && is_there && !awaited && !step.held.contains_key(&entry) {
                    return Err(format!("{connection} begins before {other} has ended"));
                }
            }
        }
        Ok(())
    }
}
