//! Events of the whole workspace: told once, to everybody (SPEC 9.5).

use serde_json::{Value, json};
use trunkline_pool::interface::EventKind;
use trunkline_pool::interface::words;
use trunkline_pool::options::Budget;
use trunkline_pool::state::{BudgetRefusal, Notice, ServerId, Usage};

use super::{Core, Driver};

impl Driver {
    /// Delivers a notice to every subscriber of the pool and of its sessions.
    pub(super) fn tell_everybody(&self, notice: &Notice) {
        match notice {
            Notice::BudgetWarning { budget, usage } => {
                let mut fields = figures(*budget, *usage).to_vec();
                fields.push(("ratio", WARNING_RATIO.into()));
                self.hub.publish_to_all(EventKind::BudgetWarning, &fields);
            }
            Notice::RefusedBatch { budget, usage, refused } => {
                let mut fields = figures(*budget, *usage).to_vec();
                fields.push(("refused", self.refused(refused)));
                self.hub.publish_to_all(EventKind::RefusedBatch, &fields);
            }
            other => {
                tracing::error!(?other, "a notice for everybody that this version does not know")
            }
        }
    }

    /// The budget, as `status` shows it.
    pub(crate) fn budget(&self) -> Value {
        let Usage { live, reserved } = self.core().state.budget_usage();
        let budget = self.options.budget;
        json!({
            "limit": budget.map(|budget| budget.limit),
            "mode": budget.map_or(words::budget_mode::OFF, |budget| budget.mode.as_str()),
            "live": live,
            "reserved": reserved,
        })
    }

    /// Whether a server that does not run would be refused for the budget now, or waits for room.
    pub(crate) fn is_beyond_budget(&self, server: &str) -> bool {
        let core = self.core();
        match core.interner.known_server(server) {
            Some(server) => core.state.is_beyond_budget(server),
            None => core.state.is_budget_used_up(),
        }
    }

    /// The last refusals, newest first, as `status` shows them.
    pub(crate) fn refusals(&self) -> Value {
        let core = self.core();
        let now = self.now();
        let row = |refusal: &BudgetRefusal| {
            let mut row = core.refusal(refusal.server, refusal.reason);
            row["age_ms"] = (now.0.saturating_sub(refusal.at.0) / 1_000_000).into();
            row
        };
        let mut rows: Vec<Value> = core.state.refusals().map(row).collect();
        rows.reverse();
        rows.into()
    }

    fn refused(&self, servers: &[ServerId]) -> Value {
        let core = self.core();
        let row = |server: &ServerId| core.refusal(*server, BUDGET_EXHAUSTED);
        servers.iter().map(row).collect()
    }
}

impl Core {
    fn refusal(&self, server: ServerId, reason: &str) -> Value {
        let (name, transport) = self.interner.describe(server);
        json!({ "server": name, "transport": transport, "reason": reason })
    }
}

/// The share of the budget at which the warning is given, as the reducer has it.
const WARNING_RATIO: f64 = 0.75;

/// The reason of every row of a `refused_batch`.
const BUDGET_EXHAUSTED: &str = "budget_exhausted";

fn figures(budget: Budget, usage: Usage) -> [(&'static str, Value); 4] {
    [
        ("mode", budget.mode.as_str().into()),
        ("budget", budget.limit.into()),
        ("live", usage.live.into()),
        ("reserved", usage.reserved.into()),
    ]
}
