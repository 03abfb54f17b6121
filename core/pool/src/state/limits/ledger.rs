//! What is counted: process slots, places in the budget, and who waits for either.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::base::ids::{EntryId, KeyId, Moment, ServerId, Ticket};
use crate::state::entry::BudgetPlace;
use crate::state::session::ask::Ask;

/// The process slots (SPEC 9.6).
///
/// An entry keeps its slot from its first attempt until nothing of it is left, also while it is
/// away. So a loss never costs it its place. A failed one has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::state) struct Slots {
    pub(in crate::state) used: u32,
    /// Those of entries that are over: they come back for certain.
    pub(in crate::state) leaving: u32,
    /// Who waits for one, in order of arrival.
    pub(in crate::state) waiting: BTreeMap<u64, EntryId>,
    pub(in crate::state) next_turn: u64,
}

/// How many have what of a place: entries of a name, or names of the pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::state) struct Places {
    pub(in crate::state) held: u32,
    pub(in crate::state) live: u32,
    pub(in crate::state) staying: u32,
}

impl Places {
    /// One of those that are counted has changed.
    pub(in crate::state) fn change(&mut self, before: BudgetPlace, after: BudgetPlace) {
        let one = |count: &mut u32, before, after| {
            *count = *count + u32::from(after) - u32::from(before);
        };
        one(&mut self.held, before.held, after.held);
        one(&mut self.live, before.live, after.live);
        one(&mut self.staying, before.staying, after.staying);
    }

    /// What they have together.
    pub(in crate::state) fn together(&self) -> BudgetPlace {
        BudgetPlace { held: self.held > 0, live: self.live > 0, staying: self.staying > 0 }
    }
}

/// A refusal, as `status` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetRefusal {
    /// The server.
    pub server: ServerId,
    /// Why, as a stable word.
    pub reason: &'static str,
    /// When it was refused last.
    pub at: Moment,
}

/// What is kept of the budget from step to step.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::state) struct BudgetBook {
    pub(in crate::state) names: Places,
    /// The warning was given, and the figure has not been low enough since.
    pub(in crate::state) warned: bool,
    pub(in crate::state) refusals: VecDeque<BudgetRefusal>,
}

/// The names that wait for room.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::state) struct Queue {
    /// By order of arrival.
    pub(in crate::state) names: BTreeMap<u64, ServerId>,
    /// Those of them that nobody was told of.
    pub(in crate::state) untold: BTreeSet<u64>,
    pub(in crate::state) next_turn: u64,
}

/// The wishes for one name that wait.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::state) struct Wishes {
    pub(in crate::state) turn: u64,
    /// Never empty.
    pub(in crate::state) asks: BTreeMap<(KeyId, Ticket), Ask>,
}
