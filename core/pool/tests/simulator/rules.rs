//! The timing rules, written a second time: when an idle entry closes (SPEC 3.6, 3.7) and when a lost one is tried again, or given up
//! (SPEC 8.1, 8.2). The pool's deadlines must be exactly these.

use std::collections::BTreeMap;
use std::time::Duration;

use trunkline_pool::ErrorCode;
use trunkline_pool::config::Share;
use trunkline_pool::options::BudgetMode;
use trunkline_pool::state::{
    Ask, Effect, EntryId, EntryState, EntryStatus, Family, LossReason, Moment, PoolInput,
    PoolState, Situation, Ticket,
};

use crate::budget::{self, Books};
use crate::model::{Cause, Holds, is_current};
use crate::revival::Revival;
use crate::setup::Setup;
use crate::unbegun;
use crate::world::connection_of;

/// What one entry has been through.
#[derive(Clone, Debug, Default)]
struct Past {
    held_since: Option<Moment>,
    window: Option<Moment>,
    idle_since: Option<Moment>,
    why: Why,
    used: usize,
    came_back: bool,
    at_once: bool,
    losses: Vec<Moment>,
    revival: Revival,
    retry_from: Option<(Moment, Moment)>,
    /// The credentials that the last attempt began with.
    tried: u64,
    /// When this step began there were others.
    has_others: bool,
    /// When it was left without credentials and without holders.
    forsaken: Option<Moment>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Why {
    #[default]
    First,
    Retry,
    Fresh,
    Revive,
    Restart,
}

/// One step, and how things were before it.
pub struct Step<'a> {
    pub cause: &'a Cause<'a>,
    pub now: Moment,
    pub before: &'a BTreeMap<EntryId, EntryStatus>,
    /// For an event, whether it was about what the pool knew.
    pub current: Option<bool>,
    pub held_before: &'a Holds,
    pub held: &'a Holds,
}

/// The past of every entry.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    past: BTreeMap<EntryId, Past>,
    /// How often the credentials of each entry changed.
    credentials: BTreeMap<EntryId, u64>,
}

macro_rules! check {
    ($condition:expr, $($words:tt)+) => {
        if !$condition {
            return Err(format!($($words)+));
        }
    };
}

fn is_up(row: &EntryStatus) -> bool {
    row.connected_at.is_some()
}

/// What went wrong with a server is told until it connects again (SPEC 9.4).
fn expect_no_error(
    row: &EntryStatus,
    was: Option<&EntryStatus>,
    pool: &PoolState,
) -> Result<(), String> {
    let is_back = is_up(row) && !was.is_some_and(is_up);
    // A limit that others of its name wait for stays one.
    let is_past = |error: &trunkline_pool::Error| error.code() != ErrorCode::Limit;
    let left = pool.last_error(row.server).filter(|error| is_back && is_past(error));
    check!(left.is_none(), "{row:?} connected, and {left:?} is its last error");
    Ok(())
}

impl Rules {
    /// Compares what a step made of every entry with the rules.
    pub fn check(
        &mut self,
        step: &Step<'_>,
        pool: &PoolState,
        setup: &Setup,
    ) -> Result<(), String> {
        let before = self.credentials.clone();
        if let Cause::Input(PoolInput::CredentialsChanged { entries }) = step.cause
            && !pool.is_closing()
        {
            entries.iter().for_each(|id| *self.credentials.entry(*id).or_default() += 1);
        }
        for row in pool.entries().filter(|row| row.situation != Situation::Ending) {
            let past = self.past.entry(row.entry).or_default();
            let was = step.before.get(&row.entry);
            let of = |counts: &BTreeMap<_, _>| counts.get(&row.entry).copied().unwrap_or(0);
            let has_others = past.tried < of(&before);
            past.note_credentials(step, &row, was, of(&self.credentials));
            past.expect_kept(&row, setup)?;
            past.has_others = has_others;
            past.has_reason(step.cause, &row, was)?;
            past.note_holds(step, &row, was, setup);
            past.note_cause(step.cause, &row, was);
            past.expect_outcome(step, &row, was, setup)?;
            past.revival.expect(step, &row, was, setup)?;
            past.expect_idle_deadline(step.now, &row, setup)?;
            expect_no_error(&row, was, pool)?;
        }
        self.past.retain(|entry, _| pool.entry(*entry).is_some());
        self.credentials.retain(|entry, _| pool.entry(*entry).is_some());
        Ok(())
    }

    /// Whether there are credentials that an entry was not tried with.
    fn has_others(&self, row: &EntryStatus) -> bool {
        let newest = self.credentials.get(&row.entry).copied().unwrap_or(0);
        self.past.get(&row.entry).is_some_and(|past| past.tried < newest)
    }
}

impl Past {
    /// An attempt takes the newest credentials; without an attempt there is nothing to wait for but somebody who asks.
    fn note_credentials(
        &mut self,
        step: &Step<'_>,
        row: &EntryStatus,
        was: Option<&EntryStatus>,
        newest: u64,
    ) {
        let attempts = row.situation == Situation::Connecting;
        if attempts && was.is_none_or(|was| was.living != row.living) {
            self.tried = newest;
        }
        let idles = |row: &EntryStatus| row.state == EntryState::AuthRequired && row.refs == 0;
        match was.is_some_and(idles) {
            _ if !idles(row) => self.forsaken = None,
            true => {}
            false => self.forsaken = Some(step.now),
        }
    }

    /// SPEC 3.2, 8.4: what lacks credentials is tried with others, or because somebody wants a restart.
    fn has_reason(
        &self,
        cause: &Cause<'_>,
        row: &EntryStatus,
        was: Option<&EntryStatus>,
    ) -> Result<(), String> {
        let lacked = was.is_some_and(|was| was.state == EntryState::AuthRequired);
        let news = matches!(cause, Cause::Input(PoolInput::CredentialsChanged { entries }) if entries.contains(&row.entry));
        let asked = matches!(cause, Cause::Input(PoolInput::Restart { .. }));
        let tried = lacked && row.state != EntryState::AuthRequired;
        check!(!tried || self.has_others || news || asked, "tried for no reason: {row:?}");
        Ok(())
    }

    /// SPEC 3.2: it stays for the idle cap, to answer a caller that asks again.
    fn expect_kept(&self, row: &EntryStatus, setup: &Setup) -> Result<(), String> {
        if row.state != EntryState::AuthRequired {
            return Ok(());
        }
        let until = self.forsaken.map(|since| since.after(setup.options.idle_cap));
        check!(row.due_at == until, "without credentials until {until:?}: {row:?}");
        Ok(())
    }

    fn note_holds(
        &mut self,
        step: &Step<'_>,
        row: &EntryStatus,
        was: Option<&EntryStatus>,
        setup: &Setup,
    ) {
        let now = step.now;
        let was_held = step.held_before.contains_key(&row.entry);
        let held = step.held.contains_key(&row.entry);
        let was_up = was.is_some_and(is_up);
        if held && !was_held {
            self.held_since = Some(now);
            self.idle_since = None;
        }
        if was_held && !held {
            let since = self.held_since.take().unwrap_or(now);
            if now >= since.after(setup.options.drain_delay) {
                self.window = None;
            }
        }
        if was_up && !is_up(row) {
            self.idle_since = None;
            if row.situation == Situation::Replacing {
                self.window = None;
            }
        }
        if is_up(row) && !held && (was_held || !was_up) {
            self.idle_since = Some(now);
            self.window.get_or_insert(now);
        }
    }

    fn note_cause(&mut self, cause: &Cause<'_>, row: &EntryStatus, was: Option<&EntryStatus>) {
        use Situation::{
            Backoff, BackoffEnding, Connecting, Failed, FailedEnding, Queued, Replacing,
            Unauthorized,
        };
        let Some(was) = was else {
            self.why = Why::First;
            return;
        };
        let begins = matches!(row.situation, Queued | Replacing | Connecting);
        let is_restart = matches!(cause, Cause::Input(PoolInput::Restart { server, index, .. })
            if *server == row.server && index.is_none_or(|index| index == row.index));
        // A restart that is in flight, shared or superseded begins nothing.
        if !begins || (is_restart && row.generation <= was.generation) {
            return;
        }
        if is_restart {
            self.why = Why::Restart;
            self.forgive();
            self.losses.clear();
        } else if matches!(was.situation, Backoff | BackoffEnding) {
            self.why = Why::Retry;
        } else if matches!(was.situation, Failed | FailedEnding | Unauthorized) {
            let by_time = matches!(cause, Cause::Timeout);
            self.why = if by_time { Why::Revive } else { Why::Fresh };
        }
    }

    fn expect_outcome(
        &mut self,
        step: &Step<'_>,
        row: &EntryStatus,
        was: Option<&EntryStatus>,
        setup: &Setup,
    ) -> Result<(), String> {
        let now = step.now;
        let Some(was) = was else { return Ok(()) };
        let waits = |row: &EntryStatus| {
            matches!(row.situation, Situation::Backoff | Situation::BackoffEnding)
        };
        if let Some((from, until)) = self.retry_from.filter(|_| waits(was) && waits(row)) {
            let due = row.due_at.unwrap_or_default();
            check!(from <= due && due <= until, "due at {due:?}, not in {from:?}..{until:?}");
        }
        let Cause::Input(input) = step.cause else { return Ok(()) };
        let about_it = connection_of(input).is_some_and(|of| of.entry == row.entry);
        if !about_it || step.current != Some(true) {
            return Ok(());
        }
        if !is_up(was) && is_up(row) {
            match self.why {
                Why::First => {}
                Why::Retry | Why::Fresh | Why::Revive => self.came_back = true,
                Why::Restart => self.came_back = false,
            }
        }
        if is_up(was) && !is_up(row) {
            return self.expect_loss(now, input, row, was, setup);
        }
        if unbegun::is_it(input, was) {
            return unbegun::leaves(row, was);
        }
        let failed = matches!(input, PoolInput::ConnectFailed { .. } | PoolInput::Closed { .. });
        if failed && was.situation == Situation::Connecting {
            let code = error_code(input);
            if code == Some(ErrorCode::AuthRequired) {
                let again =
                    row.situation == Situation::Connecting && row.generation > was.generation;
                let right =
                    if self.has_others { again } else { row.state == EntryState::AuthRequired };
                check!(right, "without credentials, others: {}: {row:?}", self.has_others);
                return Ok(());
            }
            match self.why {
                Why::First => {
                    let waits = row.state == EntryState::Failed && row.waiters > 0;
                    check!(waits, "a first failure left {row:?}");
                }
                Why::Retry => return self.expect_schedule(now, row, setup, false, code),
                Why::Fresh | Why::Revive | Why::Restart => {
                    check!(row.state == EntryState::Failed, "after a failed attempt {row:?}");
                }
            }
        }
        Ok(())
    }

    fn expect_loss(
        &mut self,
        now: Moment,
        input: &PoolInput,
        row: &EntryStatus,
        was: &EntryStatus,
        setup: &Setup,
    ) -> Result<(), String> {
        self.lose(now, was, setup);
        let bound = setup.reconnect_of(row.key).breaker_losses as usize;
        let broken = self.losses.len() > bound;
        let is_auth = error_code(input) == Some(ErrorCode::AuthRequired);
        let by_session =
            matches!(input, PoolInput::Disconnected { reason: LossReason::SessionLost, .. });
        if by_session && !broken && !is_auth && !std::mem::replace(&mut self.at_once, true) {
            check!(row.due_at == Some(now), "not at once after a lost session: {row:?}");
            self.retry_from = Some((now, now));
            return Ok(());
        }
        if is_auth && self.has_others && !broken {
            check!(row.due_at == Some(now), "not at once with other credentials: {row:?}");
            self.retry_from = Some((now, now));
            return Ok(());
        }
        let is_lack = is_auth && !self.has_others;
        self.expect_schedule(now, row, setup, broken && !is_lack, error_code(input))
    }

    fn lose(&mut self, now: Moment, was: &EntryStatus, setup: &Setup) {
        let reconnect = setup.reconnect_of(was.key);
        let since = was.connected_at.unwrap_or(now);
        if now >= since.after(reconnect.healthy_after) {
            self.forgive();
        }
        self.losses.push(now);
        self.losses.retain(|loss| loss.after(reconnect.breaker_window) >= now);
    }

    fn forgive(&mut self) {
        self.used = 0;
        self.came_back = false;
        self.at_once = false;
        self.revival.forgive();
    }

    fn expect_schedule(
        &mut self,
        now: Moment,
        row: &EntryStatus,
        setup: &Setup,
        broken: bool,
        code: Option<ErrorCode>,
    ) -> Result<(), String> {
        self.retry_from = None;
        if code == Some(ErrorCode::AuthRequired) && !self.has_others {
            check!(row.state == EntryState::AuthRequired, "without credentials {row:?}");
            return Ok(());
        }
        let remote = setup.family_of(row.key) == Family::Remote;
        let reconnect = setup.reconnect_of(row.key);
        let delays = if remote { &reconnect.remote_delays } else { &reconnect.local_delays };
        if broken {
            let is_loop = row.error.as_ref().is_some_and(|it| it.code() == ErrorCode::CrashLoop);
            check!(row.state == EntryState::Failed && is_loop, "breaker, but {row:?}");
        } else if let Some(delay) = delays.get(self.used) {
            self.used += 1;
            let most = match remote {
                true if delay.is_zero() => Duration::from_millis(250),
                true => *delay / 4 + Duration::from_nanos(1),
                false => Duration::ZERO,
            };
            let (from, until) = (now.after(*delay), now.after(*delay).after(most));
            let due = row.due_at.unwrap_or_default();
            check!(
                from <= due && due <= until,
                "due at {due:?}, not in {from:?}..{until:?}: {row:?}"
            );
            self.retry_from = Some((from, until));
        } else {
            check!(row.state == EntryState::Failed, "attempts used up, but {row:?}");
            let is_unstable = row.error.as_ref().is_some_and(|it| it.code() == ErrorCode::Unstable);
            check!(is_unstable == self.came_back, "came back: {}, but {row:?}", self.came_back);
        }
        Ok(())
    }

    fn expect_idle_deadline(
        &self,
        now: Moment,
        row: &EntryStatus,
        setup: &Setup,
    ) -> Result<(), String> {
        if !is_up(row) {
            return Ok(());
        }
        let own = setup.share_of(row.key) == Share::Session;
        check!(!own || row.refs > 0, "a session's own connection stays for nobody: {row:?}");
        let expected = self.idle_since.map(|idle| {
            let capped = self.window.unwrap_or(idle).after(setup.options.idle_cap);
            idle.after(setup.options.drain_delay).min(capped)
        });
        check!(row.due_at == expected, "closes at {:?}, not {expected:?}: {row:?}", row.due_at);
        check!(
            expected.is_none_or(|at| at > now || row.refs > 0 || at > Moment(0)),
            "late: {row:?}"
        );
        Ok(())
    }
}

fn error_code(input: &PoolInput) -> Option<ErrorCode> {
    match input {
        PoolInput::ConnectFailed { error, .. } | PoolInput::Disconnected { error, .. } => {
            Some(error.code())
        }
        _ => None,
    }
}

/// A refusal has a reason: what was asked cannot be had, or the caller no longer wants it.
pub fn refusals_are_just(
    step: &Step<'_>,
    effects: &[Effect],
    processes: u32,
    setup: &Setup,
    (waiting, books, rules): (&BTreeMap<Ticket, Ask>, &Books, &Rules),
) -> Result<(), String> {
    for effect in effects {
        let Effect::Refuse { ticket: refused, error } = effect else { continue };
        // Time answers an acquire only with the failure of what it waited for, which the model checks.
        let Cause::Input(input) = step.cause else { continue };
        let wish = match input {
            PoolInput::Want { asks } => asks.iter().find(|ask| ask.ticket == *refused),
            _ => waiting.get(refused),
        };
        let just = match (error.code(), input) {
            // A caller that cancels takes nothing from the others who wait.
            (ErrorCode::Cancelled, PoolInput::CancelAcquire { ticket }) => ticket == refused,
            (ErrorCode::Closed, PoolInput::CloseSession { .. } | PoolInput::Acquire(_)) => true,
            (ErrorCode::Closing, PoolInput::Drain { .. } | PoolInput::Restart { .. }) => true,
            (ErrorCode::Closing, PoolInput::Acquire(_) | PoolInput::Want { .. }) => true,
            (ErrorCode::Closed, PoolInput::Want { .. }) => true,
            (ErrorCode::BudgetExhausted, PoolInput::Acquire(Ask { server, .. })) => {
                let budget = setup.options.budget.filter(|b| b.mode == BudgetMode::Enforce);
                let full = budget.is_some_and(|budget| books.names.len() == budget.limit as usize);
                full && !books.names.contains(server)
            }
            (ErrorCode::NotAdmitted, PoolInput::SetGates { names, keys }) => {
                budget::is_reason_of(names, keys, error)
            }
            (ErrorCode::NotAdmitted, PoolInput::Acquire(ask)) => books.refuses(ask, error),
            (ErrorCode::NotAdmitted, _) => wish.is_some_and(|ask| books.refuses(ask, error)),
            (ErrorCode::AuthRequired, _) if wish.is_some() => step.before.values().any(|row| {
                wish.is_some_and(|ask| row.key == ask.key)
                    && row.error.as_ref() == Some(error)
                    && !rules.has_others(row)
            }),
            // The model knows which.
            (_, PoolInput::AcceptTool { .. }) => true,
            (ErrorCode::Limit, PoolInput::Acquire(Ask { key, server, family, .. })) => {
                let limits = &setup.options.limits;
                let living = || step.before.values().filter(|r| r.situation != Situation::Ending);
                let idles =
                    |row: &&&EntryStatus| row.state == EntryState::AuthRequired && row.refs == 0;
                let of_name = living().filter(|row| row.server == *server);
                let of_name = of_name.filter(|row| !idles(&row)).count() as u32;
                let full = *family == Family::Local && processes >= limits.processes;
                match living().find(|row| row.key == *key) {
                    None => full || of_name >= limits.entries_per_name,
                    Some(row) => {
                        let over = [Situation::Failed, Situation::Unauthorized];
                        full && over.contains(&row.situation)
                    }
                }
            }
            (_, PoolInput::Acquire(Ask { key, .. })) => step.before.values().any(|row| {
                row.key == *key
                    && row.state == EntryState::AuthRequired
                    && row.error.as_ref() == Some(error)
                    && !rules.has_others(row)
            }),
            (_, event) => connection_of(event).is_some(),
        };
        check!(just, "{error:?} is no answer to {input:?}");
    }
    Ok(())
}

/// Whether an input is about what the pool knew before the step; `None` for a command.
pub fn was_current(pool: &PoolState, cause: &Cause<'_>) -> Option<bool> {
    match cause {
        Cause::Input(input) if connection_of(input).is_some() => Some(is_current(pool, input)),
        _ => None,
    }
}
