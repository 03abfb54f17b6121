//! What a server may ask and tell: a message without `jsonrpc` is one where its method is one of
//! these (SPEC 18.1).

/// The methods of all revisions.
const METHODS: &[&str] = &[
    "ping",
    "roots/list",
    "sampling/createMessage",
    "elicitation/create",
    "tasks/get",
    "tasks/result",
    "tasks/list",
    "tasks/cancel",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/message",
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
    "notifications/subscriptions/acknowledged",
    "notifications/elicitation/complete",
    "notifications/tasks/status",
];

/// Whether the table has it.
pub(super) fn is_known(method: &str) -> bool {
    METHODS.contains(&method)
}
