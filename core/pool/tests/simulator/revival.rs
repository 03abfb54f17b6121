//! Quiet attempts, written a second time: when what failed is tried again unasked (SPEC 8.1, 8.2).

use std::time::Duration;

use trunkline_pool::state::{EntryState, EntryStatus, Moment, Situation, Ticket};
use trunkline_pool::{Error, ErrorCode};

use crate::model::{Cause, Model, Told};
use crate::rules::Step;
use crate::setup::Setup;

macro_rules! check {
    ($condition:expr, $($words:tt)+) => {
        if !$condition {
            return Err(format!($($words)+));
        }
    };
}

/// The quiet attempts of one entry.
#[derive(Clone, Debug, Default)]
pub struct Revival {
    /// How many were due since the last forgiveness.
    tried: usize,
    /// When the next one is.
    at: Option<Moment>,
}

impl Revival {
    pub fn forgive(&mut self) {
        self.tried = 0;
    }

    /// SPEC 8.1, 8.2: what failed, and may be well without anybody's doing, is tried once more when
    /// its time has come.
    pub fn expect(
        &mut self,
        step: &Step<'_>,
        row: &EntryStatus,
        was: Option<&EntryStatus>,
        setup: &Setup,
    ) -> Result<(), String> {
        let rests = |row: &EntryStatus| {
            let is_over = matches!(row.situation, Situation::Failed | Situation::FailedEnding);
            row.state == EntryState::Failed && is_over
        };
        if !rests(row) {
            return Ok(());
        }
        let has_room = !matches!(step.cause, Cause::Timeout);
        let before = self.at.filter(|at| was.is_some_and(rests) && (has_room || *at > step.now));
        if before.is_some() {
            check!(row.due_at == before, "due at {:?}, not {before:?}: {row:?}", row.due_at);
            return Ok(());
        }
        let reconnect = setup.reconnect_of(row.key);
        let is_loop = row.error.as_ref().is_some_and(|it| it.code() == ErrorCode::CrashLoop);
        let delay = match reconnect.revive.last() {
            None => {
                check!(row.due_at.is_none(), "tried again unasked: {row:?}");
                return Ok(());
            }
            Some(_) if is_loop => Duration::from_secs(300),
            Some(last) => {
                self.tried += 1;
                *reconnect.revive.get(self.tried - 1).unwrap_or(last)
            }
        };
        let (from, due) = (step.now.after(delay), row.due_at.unwrap_or_default());
        let until = from.after(delay / 4 + Duration::from_nanos(1));
        check!(from <= due && due <= until, "due at {due:?}, not in {from:?}..{until:?}: {row:?}");
        self.at = row.due_at;
        Ok(())
    }
}

/// A wish is told that its server failed: it is open, and there is a server that failed so.
pub fn is_postponed(model: &mut Model, ticket: Ticket, error: &Error) -> Result<(), String> {
    let is_wish = model.may_wait(ticket) && model.wishes.contains(&ticket);
    check!(is_wish, "{ticket:?} postponed: {error:?}");
    let has_failed = |told: &Told| {
        told.slot.as_ref().is_some_and(|slot| {
            slot.state == EntryState::Failed && slot.error.as_ref() == Some(error)
        })
    };
    let is_true = model.entries.values().any(has_failed);
    check!(is_true, "{ticket:?} hears {error:?}, but nothing failed with it");
    model.failed.insert(ticket);
    Ok(())
}
