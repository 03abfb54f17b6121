//! What requests are told by, after OpenTelemetry's conventions for MCP.
//!
//! Rust, Python and Node have the names from here.

use serde_json::{Value, json};

use super::node_name;

/// The name of what tells: of tracers and meters.
pub const SCOPE: &str = "trunkline";

/// The method of a request.
pub const METHOD: &str = "mcp.method.name";

/// What a request does, and the one word of it that there is.
pub const OPERATION: (&str, &str) = ("gen_ai.operation.name", "execute_tool");

/// The tool that is called.
pub const TOOL: &str = "gen_ai.tool.name";

/// The prompt that is asked for.
pub const PROMPT: &str = "gen_ai.prompt.name";

/// The resource that is read, without what is secret of its address.
pub const RESOURCE: &str = "mcp.resource.uri";

/// The revision that a connection speaks.
pub const REVISION: &str = "mcp.protocol.version";

/// What carries messages.
pub const TRANSPORT: &str = "network.transport";

/// What is spoken over it.
pub const PROTOCOL: &str = "network.protocol.name";

/// What went wrong.
pub const ERROR: &str = "error.type";

/// The code of a JSON-RPC error.
pub const STATUS_CODE: &str = "rpc.response.status_code";

/// What went wrong, where a tool says so in its result.
pub const TOOL_ERROR: &str = "tool_error";

/// In place of a method that durations do not tell apart.
pub const OTHER: &str = "_OTHER";

/// A histogram of seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DurationRow {
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub description: &'static str,
}

/// How long requests take.
pub const OPERATIONS: DurationRow = DurationRow {
    name: "mcp.client.operation.duration",
    description: "How long requests to MCP servers take, from the call to its answer.",
};

/// How long connections last.
pub const SESSIONS: DurationRow = DurationRow {
    name: "mcp.client.session.duration",
    description: "How long connections to MCP servers last.",
};

/// The bounds of both, in seconds.
pub const BOUNDS: [f64; 14] =
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// An operation of sessions and leases that is a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestRow {
    /// The operation.
    pub name: &'static str,
    /// The method of its request, which durations tell apart; none where the caller names it.
    pub method: Option<&'static str>,
    /// The attribute that its subject is.
    pub attribute: Option<&'static str>,
    /// Whether the subject is in the name of its span too.
    pub is_named: bool,
}

/// All of them.
pub const REQUESTS: [RequestRow; 5] = [
    row("call_tool", Some("tools/call"), Some(TOOL), true),
    row("get_prompt", Some("prompts/get"), Some(PROMPT), true),
    row("read_resource", Some("resources/read"), Some(RESOURCE), false),
    row("complete", Some("completion/complete"), None, false),
    row("request", None, None, false),
];

const fn row(
    name: &'static str,
    method: Option<&'static str>,
    attribute: Option<&'static str>,
    is_named: bool,
) -> RequestRow {
    RequestRow { name, method, attribute, is_named }
}

/// How durations name a method. What a host calls others is its own affair, and may be anything.
pub fn counted_method(method: &str) -> &'static str {
    let mut known = REQUESTS.iter().filter_map(|row| row.method);
    known.find(|known| *known == method).unwrap_or(OTHER)
}

/// What the adapters of the bindings read.
pub(super) fn to_json() -> Value {
    let request = |row: &RequestRow| {
        let RequestRow { name, method, attribute, is_named } = row;
        json!({ "python": name, "node": node_name(name), "method": method, "attribute": attribute, "is_named": is_named })
    };
    json!({
        "scope": SCOPE,
        "method": METHOD,
        "operation": [OPERATION.0, OPERATION.1],
        "error": ERROR,
        "status_code": STATUS_CODE,
        "tool_error": TOOL_ERROR,
        "other": OTHER,
        "duration": { "name": OPERATIONS.name, "description": OPERATIONS.description, "bounds": BOUNDS },
        "requests": REQUESTS.iter().map(request).collect::<Vec<_>>(),
    })
}
