//! Tools that run only as tasks (revision 2025-11-25), which are not spoken here.
//!
//! Such a tool stays in the list, because a view is what the server lists. A call of it is refused
//! with the reason `left_out`.

use std::sync::atomic::Ordering;

use serde::Deserialize;
use serde_json::Value;
use trunkline_pool::catalog::{Catalog, Item};
use trunkline_pool::lenient::{kinds, lenient};

use crate::client::connection::Link;

impl Link {
    /// Looks in the answer to the handshake whether calls of tools can be tasks. Where they cannot,
    /// what a tool says of tasks counts for nothing, and it is called like any other.
    pub(in crate::client) fn note_tasks(&self, answer: &Value) {
        let declared = answer.pointer("/capabilities/tasks/requests/tools/call");
        self.has_tasks.store(declared.is_some_and(Value::is_object), Ordering::Relaxed);
    }

    /// Marks the tools that the server would refuse to run otherwise.
    pub(in crate::client) fn mark_tasks(&self, catalog: &mut Catalog) {
        if self.has_tasks.load(Ordering::Relaxed) {
            let tasks = catalog.tools.iter().filter(|tool| is_only_a_task(tool));
            catalog.tasks = tasks.map(|tool| tool.name.clone()).collect();
        }
    }
}

fn is_only_a_task(tool: &Item) -> bool {
    #[derive(Deserialize)]
    struct Tool {
        execution: Execution,
    }
    #[derive(Deserialize)]
    struct Execution {
        #[serde(rename = "taskSupport")]
        task_support: String,
    }
    let tool = serde_json::from_str::<Tool>(&lenient(&tool.definition, &kinds::TOOL_CLAIMS));
    tool.is_ok_and(|tool| tool.execution.task_support == "required")
}
