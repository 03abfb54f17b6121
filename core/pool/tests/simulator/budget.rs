//! The budget and the gates, written a second time (SPEC 9.5, DESIGN 3 (4) and (10)): who has a
//! place, who waits for one, when everybody is warned, and which refusals are announced.
//!
//! Places are counted from what the world has and from the states that were told, not from what the
//! pool counts.

use std::collections::{BTreeMap, BTreeSet};

use trunkline_pool::Error;
use trunkline_pool::options::{Budget, BudgetMode};
use trunkline_pool::state::{
    Ask, Audience, Effect, EntryState, EntryStatus, Family, Gate, GateReason, KeyId, Notice,
    PoolInput, PoolState, ServerId, Situation, Usage,
};

use crate::model::{Cause, Model};
use crate::setup::Setup;
use crate::world::World;

/// What is known of the budget.
#[derive(Clone, Debug, Default)]
pub struct Books {
    gates: BTreeMap<ServerId, Gate>,
    /// Of the keys that were not forgotten since.
    key_gates: BTreeMap<KeyId, Gate>,
    /// Names that have a place.
    pub names: BTreeSet<ServerId>,
    /// Names that everybody knows to be refused.
    told: BTreeSet<ServerId>,
    /// The warning was given.
    is_warned: bool,
}

/// Whether somebody hears this error because of these gates: what is shut now was open, so that the
/// reason is one of theirs.
pub fn is_reason_of(names: &[(ServerId, Gate)], keys: &[(KeyId, Gate)], error: &Error) -> bool {
    let gates = names.iter().map(|(_, gate)| gate);
    let mut gates = gates.chain(keys.iter().map(|(_, gate)| gate));
    gates.any(|gate| gate.check().is_err_and(|why| why == *error))
}

macro_rules! check {
    ($condition:expr, $($words:tt)+) => {
        if !$condition {
            return Err(format!($($words)+));
        }
    };
}

impl Books {
    pub fn is_admitted(&self, server: ServerId, key: KeyId) -> bool {
        self.why_not(server, key).is_none()
    }

    /// Why the gates refuse a key: of its name's reason and its own, the first in the order of SPEC
    /// 11.6.
    pub fn why_not(&self, server: ServerId, key: KeyId) -> Option<GateReason> {
        let reason = |gate: Option<&Gate>| match gate {
            Some(Gate::Shut(why)) => Some(*why),
            Some(Gate::Open) | None => None,
        };
        let both = [reason(self.gates.get(&server)), reason(self.key_gates.get(&key))];
        let order = [GateReason::Untrusted, GateReason::Excluded, GateReason::Rejected];
        order.into_iter().find(|why| both.contains(&Some(*why)))
    }

    /// Whether the gates refuse what was asked for, with this error.
    pub fn refuses(&self, ask: &Ask, error: &Error) -> bool {
        let why = self.why_not(ask.server, ask.key);
        why.is_some_and(|why| error.detail().get("reason") == Some(&why.as_str().into()))
    }

    /// What an input says of the gates.
    fn heed(&mut self, cause: &Cause<'_>) {
        match cause {
            Cause::Input(PoolInput::SetGates { names, keys }) => {
                self.gates.extend(names.iter().copied());
                self.key_gates.extend(keys.iter().copied());
            }
            Cause::Input(PoolInput::ForgetKeys { keys }) => {
                self.key_gates.retain(|key, _| !keys.contains(key));
            }
            Cause::Input(_) | Cause::Timeout => {}
        }
    }

    /// Holds a step against the rules.
    pub fn check(
        &mut self,
        cause: &Cause<'_>,
        effects: &[Effect],
        (pool, setup): (&PoolState, &Setup),
        (model, world): (&mut Model, &World),
    ) -> Result<(), String> {
        self.heed(cause);
        self.follow(cause, effects, setup, model)?;
        let (usage, leaving) = self.count_places(pool, setup, model, world);
        let said = pool.budget_usage();
        check!(said == usage, "{said:?} of the budget are taken, really {usage:?}");
        for row in pool.entries().filter(|row| row.situation != Situation::Ending) {
            check!(self.is_admitted(row.server, row.key), "not admitted, but there: {row:?}");
        }
        // A wish whose key has an entry that lives has begun.
        model.waiting.retain(|_, ask| !is_begun(pool, ask));
        let names = &self.names;
        let held = u32::try_from(names.len()).unwrap_or(u32::MAX);
        let kept = setup.options.budget.filter(|budget| budget.mode == BudgetMode::Enforce);
        let is_over = kept.is_some_and(|budget| held > budget.limit);
        check!(!is_over, "{names:?} run, {kept:?}");
        let is_full = kept.is_some_and(|budget| held == budget.limit);
        let beyond = |ask: &Ask| is_full && !names.contains(&ask.server);
        for ask in model.waiting.values() {
            let waits = beyond(ask) || is_at_limit(pool, setup, ask);
            let admitted = self.is_admitted(ask.server, ask.key);
            check!(waits && admitted, "{ask:?} waits beside {names:?}");
        }
        let waits = model.waiting.values().filter(|ask| beyond(ask)).map(|ask| ask.server);
        let waits: BTreeSet<ServerId> = waits.collect();
        let Some(budget) = setup.options.budget else { return Ok(()) };
        self.everybody_is_told(budget, usage, effects, model)?;
        let untold = waits.difference(&self.told).count();
        check!(untold <= leaving, "{untold} names wait untold for {leaving} that leave");
        Ok(())
    }

    /// Takes note of who waits, and of what begins.
    fn follow(
        &self,
        cause: &Cause<'_>,
        effects: &[Effect],
        setup: &Setup,
        model: &mut Model,
    ) -> Result<(), String> {
        for effect in effects {
            match effect {
                Effect::Connect { connection, key, .. } => {
                    let server = setup.server_of(*key);
                    check!(self.is_admitted(server, *key), "{connection} begins without admission");
                }
                Effect::Defer { ticket, .. } => {
                    let Cause::Input(PoolInput::Want { asks }) = cause else {
                        return Err(format!("{ticket:?} is deferred, but no wish"));
                    };
                    let ask = asks.iter().find(|ask| ask.ticket == *ticket);
                    let ask = ask.ok_or_else(|| format!("{ticket:?} is deferred unasked"))?;
                    let again = model.waiting.insert(*ticket, ask.clone()).is_some();
                    check!(!again, "{ticket:?} is deferred twice");
                }
                Effect::Grant { ticket, .. } | Effect::Refuse { ticket, .. } => {
                    model.waiting.remove(ticket);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Finds the names that have a place: how many of them are live or not, and how many leave.
    fn count_places(
        &mut self,
        pool: &PoolState,
        setup: &Setup,
        model: &Model,
        world: &World,
    ) -> (Usage, usize) {
        use EntryState::{Active, Draining, Reconnecting, Spawning};
        let (mut staying, mut live) = (BTreeSet::new(), BTreeSet::new());
        for row in pool.entries() {
            let told = model.entries.get(&row.entry).and_then(|told| told.slot.as_ref());
            let shown = told.map(|slot| slot.state);
            if matches!(shown, Some(Spawning | Active | Draining | Reconnecting)) {
                staying.insert(row.server);
            }
            // What is tried quietly has a place, and is shown as failed.
            let tries = [Situation::Queued, Situation::Replacing, Situation::Connecting];
            if shown == Some(EntryState::Failed) && tries.contains(&row.situation) {
                staying.insert(row.server);
            }
        }
        self.names = staying.clone();
        // A connection is there for the pool until it hears that it is not.
        for real in world.connections.values().filter(|real| !real.heard_gone) {
            let server = setup.server_of(real.key);
            self.names.insert(server);
            if real.heard_connected || real.closing.is_some() {
                live.insert(server);
            }
        }
        let count = |names: &BTreeSet<ServerId>| u32::try_from(names.len()).unwrap_or(u32::MAX);
        let reserved = count(&self.names) - count(&live);
        (Usage { live: count(&live), reserved }, self.names.len() - staying.len())
    }

    /// Everybody hears of each refused name once, in one event, and of the budget when it is nearly
    /// taken.
    fn everybody_is_told(
        &mut self,
        budget: Budget,
        usage: Usage,
        effects: &[Effect],
        model: &Model,
    ) -> Result<(), String> {
        let waits: BTreeSet<ServerId> = model.waiting.values().map(|ask| ask.server).collect();
        let (mut warnings, mut batches) = (0, 0);
        let mut told_now = BTreeSet::new();
        for effect in effects {
            let Effect::Notify { audience: Audience::Everybody, notice } = effect else { continue };
            let (of, figures) = match notice {
                Notice::BudgetWarning { budget, usage } => {
                    warnings += 1;
                    (budget, usage)
                }
                Notice::RefusedBatch { budget, usage, refused } => {
                    batches += 1;
                    told_now.extend(refused.iter().copied());
                    check!(told_now.len() == refused.len(), "twice in {notice:?}");
                    (budget, usage)
                }
                other => return Err(format!("told to everybody: {other:?}")),
            };
            check!((*of, *figures) == (budget, usage), "{notice:?}, really {usage:?}");
        }
        check!(batches <= 1, "{batches} events of refusals in one step");
        check!(told_now.is_subset(&waits), "{told_now:?} are told of, {waits:?} wait");
        // Who no longer waits is news when it waits again.
        self.told.retain(|server| waits.contains(server));
        let again: Vec<_> = told_now.intersection(&self.told).collect();
        check!(again.is_empty(), "{again:?} are told of again");
        self.told.extend(told_now);
        let held = usage.live + usage.reserved;
        let share = f64::from(held) / f64::from(budget.limit);
        if held == 0 || share < 0.375 {
            self.is_warned = false;
        }
        let is_high = budget.mode != BudgetMode::Off && held > 0 && share >= 0.75;
        let due = is_high && !self.is_warned;
        check!(warnings == u32::from(due), "{warnings} warnings at {held} of {}", budget.limit);
        self.is_warned |= due;
        Ok(())
    }
}

/// Whether what was wished for is there, or under way.
fn is_begun(pool: &PoolState, ask: &Ask) -> bool {
    let over = [Situation::Ending, Situation::Failed, Situation::Unauthorized];
    pool.entries().any(|row| row.key == ask.key && !over.contains(&row.situation))
}

/// Whether a limit has no room for what is wished for (SPEC 9.6).
fn is_at_limit(pool: &PoolState, setup: &Setup, ask: &Ask) -> bool {
    let limits = &setup.options.limits;
    let idles = |row: &EntryStatus| row.state == EntryState::AuthRequired && row.refs == 0;
    let living = || pool.entries().filter(|row| row.situation != Situation::Ending);
    let of_name = living().filter(|row| row.server == ask.server);
    let of_name = u32::try_from(of_name.count()).unwrap_or(u32::MAX);
    let is_new = living().all(|row| row.key != ask.key);
    let makes_way = living().any(|row| row.server == ask.server && idles(&row));
    let is_full = ask.family == Family::Local && pool.processes() >= limits.processes;
    is_full || (is_new && of_name >= limits.entries_per_name && !makes_way)
}
