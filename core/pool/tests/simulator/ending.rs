//! The end of a pool, written a second time (SPEC 9.7): who is told to end and how urgently, when
//! the drains are answered, and that the answer is true.

use std::collections::BTreeSet;
use std::time::Duration;

use trunkline_pool::state::{
    CloseExit, CloseMode, ConnectionId, DrainMode, DrainReport, Effect, EntryId, Moment, PoolInput,
    PoolState,
};

use crate::model::Cause;
use crate::rules::Step;
use crate::world::{Stage, World};

/// What is known of the end.
#[derive(Clone, Debug, Default)]
pub struct Ending {
    /// The earliest deadline of the drains that came while the first was waited for.
    deadline: Option<Moment>,
    /// One of them does not let calls finish.
    is_forced: bool,
    killed_at: Option<Moment>,
    is_answered: bool,
    clean: u32,
    forced: u32,
}

/// From the kill to the answer, whatever is left.
const KILL_GRACE: Duration = Duration::from_millis(200);

macro_rules! check {
    ($condition:expr, $($words:tt)+) => {
        if !$condition {
            return Err(format!($($words)+));
        }
    };
}

impl Ending {
    /// Holds a step of a draining pool against the rules.
    pub fn check(
        &mut self,
        step: &Step<'_>,
        effects: &[Effect],
        pool: &PoolState,
        world: &World,
    ) -> Result<(), String> {
        if let Cause::Input(input) = step.cause {
            self.note(input, step.current);
        }
        let Some(deadline) = self.deadline else {
            return Ok(());
        };
        let is_over = step.now >= deadline && matches!(step.cause, Cause::Timeout);
        if is_over && !self.is_answered {
            self.killed_at.get_or_insert(step.now);
        }
        self.everything_ends(pool, world)?;
        let spent = self.killed_at.is_some_and(|at| step.now >= at.after(KILL_GRACE));
        let spent = spent && matches!(step.cause, Cause::Timeout);
        let is_empty = pool.entries().next().is_none();
        for effect in effects {
            let Effect::Drained { report, .. } = effect else { continue };
            let in_time = is_empty || spent || self.is_answered;
            check!(in_time, "answered at {:?}, before its time: {report:?}", step.now);
            self.is_true(report, pool)?;
        }
        let answered = effects.iter().any(|effect| matches!(effect, Effect::Drained { .. }));
        self.is_answered |= answered;
        let owed = is_empty || spent;
        check!(self.is_answered || !owed, "no answer at {:?}", step.now);
        let wakes = self.killed_at.map_or(deadline, |at| at.after(KILL_GRACE));
        let next = pool.next_deadline();
        let is_awake = self.is_answered || next.is_some_and(|next| next <= wakes);
        check!(is_awake, "the next look is at {next:?}, not at {wakes:?}");
        Ok(())
    }

    fn note(&mut self, input: &PoolInput, current: Option<bool>) {
        match input {
            PoolInput::Drain { how, deadline, .. } if !self.is_answered => {
                let set = self.deadline.map_or(*deadline, |set| set.min(*deadline));
                if self.killed_at.is_none() {
                    self.deadline = Some(set);
                }
                self.is_forced |= *how == DrainMode::Force;
            }
            PoolInput::Closed { exit, .. } if self.deadline.is_some() && current == Some(true) => {
                match exit {
                    CloseExit::Clean | CloseExit::Unbegun => self.clean += 1,
                    CloseExit::Forced => self.forced += 1,
                }
            }
            PoolInput::ConnectFailed { .. } if self.deadline.is_some() && current == Some(true) => {
                self.clean += 1;
            }
            _ => {}
        }
    }

    /// Whatever stands was told to end, as urgently as the drain has become.
    fn everything_ends(&self, pool: &PoolState, world: &World) -> Result<(), String> {
        for row in pool.entries() {
            let Some(generation) = row.living else { continue };
            let connection = ConnectionId { entry: row.entry, generation };
            let Some(real) = world.connections.get(&connection) else { continue };
            let lost = real.stage == Stage::Dying || real.stage == Stage::Gone;
            let told = real.closing;
            check!(lost || told.is_some(), "{connection} was never told to end");
            if self.killed_at.is_some() && !self.is_answered {
                check!(told == Some(CloseMode::Kill), "{connection} is not killed, but {told:?}");
            }
            let patient = matches!(told, Some(CloseMode::Graceful { .. }));
            check!(!patient || !self.is_forced, "{connection} is left its time by force");
        }
        Ok(())
    }

    fn is_true(&self, report: &DrainReport, pool: &PoolState) -> Result<(), String> {
        let counted = (report.drained, report.forced);
        let real = (self.clean, self.forced);
        check!(counted == real, "{counted:?} ended by the report, really {real:?}");
        let named: BTreeSet<EntryId> = report.errors.iter().map(|(entry, _)| *entry).collect();
        let left: BTreeSet<EntryId> = pool.entries().map(|row| row.entry).collect();
        check!(named == left, "{named:?} are left by the report, really {left:?}");
        Ok(())
    }
}
