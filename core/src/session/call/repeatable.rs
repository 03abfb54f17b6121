//! Which calls may outlive a connection, and which may be made twice (SPEC 5.7, 5.8).

use serde::Deserialize;
use trunkline_pool::lenient::{kinds, lenient};
use trunkline_pool::options::{CallOptions, Retry};
use trunkline_pool::state::EntryState;

use crate::driver::EntrySnapshot;

/// Whether a call with these options may outlive a connection.
pub(crate) fn lasts(options: &CallOptions) -> bool {
    options.wait || options.retry != Retry::Never
}

/// Whether an entry in this state is connected, or will be without anybody asking for it.
pub(crate) fn comes_back(state: EntryState) -> bool {
    !matches!(state, EntryState::Failed | EntryState::Closed | EntryState::AuthRequired)
}

/// Whether the definition of a called tool says that a repetition changes nothing.
pub(crate) fn is_declared_safe(tool: Option<&str>, published: &EntrySnapshot) -> bool {
    let definition = tool.and_then(|tool| published.slot.catalog.tool(tool));
    definition.is_some_and(|item| declares_safe(&item.definition))
}

/// Whether a tool's definition declares it read-only or idempotent; what cannot be read declares
/// nothing.
fn declares_safe(definition: &str) -> bool {
    #[derive(Deserialize)]
    struct Definition {
        annotations: Hints,
    }
    #[derive(Deserialize)]
    struct Hints {
        #[serde(rename = "readOnlyHint")]
        read_only: Option<bool>,
        #[serde(rename = "idempotentHint")]
        idempotent: Option<bool>,
    }
    // No more is read into it than is written: a hint of another type declares nothing.
    let definition = serde_json::from_str::<Definition>(&lenient(definition, &kinds::TOOL_CLAIMS));
    definition.is_ok_and(|Definition { annotations: Hints { read_only, idempotent } }| {
        read_only == Some(true) || idempotent == Some(true)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 5.7.
    #[test]
    fn only_a_hint_that_is_true_declares_a_tool_safe() {
        for safe in [
            r#"{"name":"t","annotations":{"readOnlyHint":true}}"#,
            r#"{"name":"t","annotations":{"title":"T","idempotentHint":true,"readOnlyHint":false}}"#,
            r#"{"name":"t","annotations":{"idempotentHint":true,"readOnlyHint":null}}"#,
            r#"{"name":"t","annotations":{"readOnlyHint":true,"idempotentHint":7,"title":{}}}"#,
        ] {
            assert!(declares_safe(safe), "{safe}");
        }
        for unsafe_one in [
            r#"{"name":"t"}"#,
            r#"{"name":"t","annotations":null}"#,
            r#"{"name":"t","annotations":{}}"#,
            r#"{"name":"t","annotations":[]}"#,
            r#"{"name":"t","annotations":{"readOnlyHint":"true"}}"#,
            r#"{"name":"t","annotations":{"readOnlyHint":1,"idempotentHint":"True"}}"#,
            r#"{"name":"t","annotations":"readOnlyHint"}"#,
            r#"{"name":"t","readOnlyHint":true}"#,
            r#"{"name":"t","annotations":{"destructiveHint":false}}"#,
        ] {
            assert!(!declares_safe(unsafe_one), "{unsafe_one}");
        }
    }
}
