//! Tools that run only as tasks (revision 2025-11-25), which are not spoken here: what nobody can call is not listed.

use std::sync::atomic::Ordering;

use serde::Deserialize;
use serde_json::Value;
use trunkline_pool::catalog::{Catalog, Item, ListKind, Skipped};

use super::link::Link;

/// Why such a tool is left out.
const REASON: &str = "it runs only as a task, which is not supported";

impl Link {
    /// Looks in the answer to the handshake whether calls of tools can be tasks. Where they cannot, what a tool says of
    /// tasks counts for nothing, and it is called like any other.
    pub(super) fn note_tasks(&self, answer: &[u8]) {
        let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
        let declared = answer.pointer("/result/capabilities/tasks/requests/tools/call");
        self.has_tasks.store(declared.is_some_and(Value::is_object), Ordering::Relaxed);
    }

    /// Takes the tools out that the server would refuse to run otherwise.
    pub(super) fn leave_out_tasks(&self, catalog: &mut Catalog) {
        if !self.has_tasks.load(Ordering::Relaxed) {
            return;
        }
        let (refused, tools): (Vec<_>, Vec<_>) =
            std::mem::take(&mut catalog.tools).into_iter().partition(is_only_a_task);
        catalog.tools = tools;
        for Item { name, .. } in refused {
            tracing::warn!(server = %self.server, tool = %name, reason = REASON, "a tool is left out");
            let skipped = Skipped {
                list: ListKind::Tools,
                name: Some(name.to_string()),
                reason: REASON.into(),
            };
            catalog.skipped.push(skipped);
        }
    }
}

fn is_only_a_task(tool: &Item) -> bool {
    #[derive(Deserialize)]
    struct Tool {
        #[serde(default)]
        execution: Value,
    }
    let tool = serde_json::from_str::<Tool>(&tool.definition);
    tool.is_ok_and(|tool| tool.execution["taskSupport"] == "required")
}
