//! Restarts, written a second time (SPEC 9.1): what must be reported of each entry, and that the
//! answer comes once, with the last of them.

use std::collections::{BTreeMap, BTreeSet};

use trunkline_pool::state::{
    Effect, EntryId, EntryState, EntryStatus, PoolInput, PoolState, RestartRefusal, RestartReport,
    Situation, Ticket,
};

use crate::chance::Chance;
use crate::model::Cause;
use crate::rules::Step;

/// What is known of restarts.
#[derive(Clone, Debug, Default)]
pub struct Restarts {
    /// Entries of an old configuration.
    outdated: BTreeSet<EntryId>,
    /// What each open restart came to so far, by entry; nothing yet: `None`.
    open: BTreeMap<Ticket, BTreeMap<EntryId, Option<Outcome>>>,
}

/// What becomes of one entry in a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Done,
    InFlight,
    Superseded,
    NotAdmitted,
    Closing,
    /// The attempt failed, or there is no room for it.
    Failed,
}

macro_rules! check {
    ($condition:expr, $($words:tt)+) => {
        if !$condition {
            return Err(format!($($words)+));
        }
    };
}

/// Somebody edits the configuration: it is another for some of what lives, and for some the same
/// again.
pub fn edit(pool: &PoolState, chance: &mut Chance) -> PoolInput {
    let (mut outdated, mut current) = (Vec::new(), Vec::new());
    for row in pool.entries() {
        match chance.below(4) {
            0 | 1 => outdated.push(row.entry),
            2 => current.push(row.entry),
            _ => {}
        }
    }
    PoolInput::Reconfigure { outdated, current }
}

impl Restarts {
    /// Holds a step against the rule.
    pub fn check(
        &mut self,
        step: &Step<'_>,
        effects: &[Effect],
        pool: &PoolState,
    ) -> Result<(), String> {
        let lives = |row: &EntryStatus| row.situation != Situation::Ending;
        let rows: BTreeMap<EntryId, EntryStatus> =
            pool.entries().filter(lives).map(|row| (row.entry, row)).collect();
        if let Cause::Input(PoolInput::Reconfigure { outdated, current }) = step.cause {
            self.outdated.retain(|entry| !current.contains(entry));
            let lived = |entry: &&EntryId| step.before.get(*entry).is_some_and(lives);
            self.outdated.extend(outdated.iter().filter(lived));
        }
        self.settle(step, &rows)?;
        self.begin(step, effects, &rows);
        self.outdated.retain(|entry| rows.contains_key(entry));
        for effect in effects {
            if let Effect::Restarted { ticket, reports } = effect {
                self.is_true(*ticket, reports)?;
            }
        }
        let owed = self.open.iter().find(|(_, entries)| entries.values().all(Option::is_some));
        check!(owed.is_none(), "nothing is left to wait for, but no answer: {owed:?}");
        Ok(())
    }

    /// What the step made of the restarts under way.
    fn settle(
        &mut self,
        step: &Step<'_>,
        rows: &BTreeMap<EntryId, EntryStatus>,
    ) -> Result<(), String> {
        let outdated = &self.outdated;
        for (entry, outcome) in self.open.values_mut().flatten().filter(|(_, o)| o.is_none()) {
            let superseded = |row: &EntryStatus| outdated.contains(entry) && is_unwanted(row);
            *outcome = match (rows.get(entry), step.cause) {
                (Some(row), _) if begins(row) => {
                    check!(!superseded(row), "restarted for nobody: {row:?}");
                    None
                }
                (Some(row), _) if row.connected_at.is_some() => Some(Outcome::Done),
                (Some(_), _) => Some(Outcome::Failed),
                // It came up for nobody, and without a drain delay.
                (None, Cause::Input(PoolInput::Connected { .. })) => Some(Outcome::Done),
                (
                    None,
                    Cause::Input(PoolInput::ConnectFailed { .. } | PoolInput::Closed { .. }),
                ) => Some(Outcome::Failed),
                (None, Cause::Input(PoolInput::SetGates { .. })) => Some(Outcome::NotAdmitted),
                (None, Cause::Input(PoolInput::Drain { .. })) => Some(Outcome::Closing),
                (None, Cause::Input(_) | Cause::Timeout) => {
                    check!(outdated.contains(entry), "the restart of {entry:?} ends for nothing");
                    Some(Outcome::Superseded)
                }
            };
        }
        Ok(())
    }

    /// A restart is asked for.
    fn begin(
        &mut self,
        step: &Step<'_>,
        effects: &[Effect],
        rows: &BTreeMap<EntryId, EntryStatus>,
    ) {
        let Cause::Input(PoolInput::Restart { ticket, server, index }) = step.cause else { return };
        let refused = |effect: &Effect| matches!(effect, Effect::Refuse { ticket: other, .. } if other == ticket);
        if effects.iter().any(refused) {
            return;
        }
        let asked = |was: &&EntryStatus| {
            was.server == *server
                && was.situation != Situation::Ending
                && index.is_none_or(|index| index == was.index)
        };
        let outcome = |was: &EntryStatus| match was.state {
            EntryState::Spawning => Some(Outcome::InFlight),
            _ if self.outdated.contains(&was.entry) && is_unwanted(was) => {
                Some(Outcome::Superseded)
            }
            _ if rows.get(&was.entry).is_some_and(begins) => None,
            _ => Some(Outcome::Failed),
        };
        let entries = step.before.values().filter(asked).map(|was| (was.entry, outcome(was)));
        let entries = entries.collect();
        self.open.insert(*ticket, entries);
    }

    fn is_true(&mut self, ticket: Ticket, reports: &[RestartReport]) -> Result<(), String> {
        let expected = self.open.remove(&ticket);
        let told = reports.iter().map(|report| (report.entry, Some(outcome_of(report)))).collect();
        check!(expected.as_ref() == Some(&told), "{told:?} reported, really {expected:?}");
        Ok(())
    }
}

fn begins(row: &EntryStatus) -> bool {
    matches!(row.situation, Situation::Queued | Situation::Replacing | Situation::Connecting)
}

fn is_unwanted(row: &EntryStatus) -> bool {
    row.refs == 0 && row.waiters == 0
}

fn outcome_of(report: &RestartReport) -> Outcome {
    match &report.result {
        Ok(_) => Outcome::Done,
        Err(RestartRefusal::InFlight) => Outcome::InFlight,
        Err(RestartRefusal::Superseded) => Outcome::Superseded,
        Err(RestartRefusal::NotAdmitted) => Outcome::NotAdmitted,
        Err(RestartRefusal::Closing) => Outcome::Closing,
        Err(_) => Outcome::Failed,
    }
}
