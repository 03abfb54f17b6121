//! The budget: how many servers run, counted by name (SPEC 9.5).
//!
//! A name has a *place* in the budget while any entry of it is spawning, active, draining,
//! reconnecting or dying. It is *live* when something of it runs that has been connected, or that
//! is dying; otherwise it only has its place *reserved*: it is connecting, or waits for its next
//! attempt. It is *leaving* when all that has a place is dying or over. The place then comes back
//! for certain, unless somebody asks for the name again.
//!
//! Everything here is derived from the entries; `invariants` counts again.

use super::ledger::{BudgetRefusal, Places};
use crate::base::ids::ServerId;
use crate::options::{Budget, BudgetMode};
use crate::state::PoolState;
use crate::state::effect::Effect;
use crate::state::report::notice::{Audience, Notice};
use crate::state::terms::Usage;

/// Refusals that are kept for `status`: as many as somebody would read, one per server and reason.
const REFUSALS_MAX: usize = 32;

impl PoolState {
    /// How much of the budget is taken; counted without a budget too.
    pub fn budget_usage(&self) -> Usage {
        let Places { held, live, .. } = self.budget.names;
        Usage { live, reserved: held.saturating_sub(live) }
    }

    /// The last refusals, oldest first.
    pub fn refusals(&self) -> impl Iterator<Item = &BudgetRefusal> + '_ {
        self.budget.refusals.iter()
    }

    /// Whether a server that does not run would be refused for the budget now, or waits for room.
    pub fn is_beyond_budget(&self, server: ServerId) -> bool {
        !self.has_budget(server) || self.names.get(server).is_some_and(|name| name.wishes.is_some())
    }

    /// Whether no further name can have a place.
    pub fn is_budget_used_up(&self) -> bool {
        self.budget.names.held >= self.budget_limit()
    }

    /// The limit, where there is one that is kept; the most that there can be otherwise.
    pub(in crate::state) fn budget_limit(&self) -> u32 {
        match self.options.budget {
            Some(Budget { limit, mode: BudgetMode::Enforce }) => limit,
            Some(_) | None => u32::MAX,
        }
    }

    /// Whether a server has a place, or can have one now.
    pub(in crate::state) fn has_budget(&self, server: ServerId) -> bool {
        !self.is_budget_used_up() || self.names.get(server).is_some_and(|name| name.places.held > 0)
    }

    /// Names whose place comes back for certain.
    pub(in crate::state) fn leaving(&self) -> u32 {
        let Places { held, staying, .. } = self.budget.names;
        held.saturating_sub(staying)
    }

    /// Keeps a refusal for `status`.
    pub(in crate::state) fn note_refusal(&mut self, server: ServerId, reason: &'static str) {
        let at = self.now;
        let refusals = &mut self.budget.refusals;
        refusals.retain(|old| (old.server, old.reason) != (server, reason));
        if refusals.len() == REFUSALS_MAX {
            refusals.pop_front();
        }
        refusals.push_back(BudgetRefusal { server, reason, at });
    }

    /// Warns once when most of the budget is taken, and is ready to warn again when little of it
    /// is.
    pub(in crate::state) fn warn_of_budget(&mut self, out: &mut Vec<Effect>) {
        let Some(budget) = self.options.budget.filter(|budget| budget.mode != BudgetMode::Off)
        else {
            return;
        };
        let (held, limit) = (u64::from(self.budget.names.held), u64::from(budget.limit));
        if held == 0 || held * 8 < limit * 3 {
            self.budget.warned = false;
        } else if !self.budget.warned && held * 4 >= limit * 3 {
            self.budget.warned = true;
            let notice = Notice::BudgetWarning { budget, usage: self.budget_usage() };
            out.push(Effect::Notify { audience: Audience::Everybody, notice });
        }
    }
}
