//! The names of spans, metrics and their attributes, after OpenTelemetry's conventions for MCP.
//!
//! Rust, Python and Node have the names from here.

use serde_json::{Value, json};

use super::node_name;

/// The name of the tracer and of the meter.
pub const SCOPE: &str = "trunkline";

/// The method of a request.
pub const METHOD: &str = "mcp.method.name";

/// The attribute of what a request does, and its only value.
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

/// An address without the places in which secrets stand: user, password, query and fragment. Where
/// a password may go on behind the host, nothing of it is left but the scheme.
pub fn plain_address(uri: &str) -> String {
    let is_end = ['?', '#'];
    let has_host = |(scheme, _): &(&str, &str)| !scheme.contains(['/', '?', '#']);
    let Some((scheme, rest)) = uri.split_once("//").filter(has_host) else {
        let plain = uri.split(is_end).next().unwrap_or_default();
        return match plain.split_once(':') {
            Some((scheme, rest)) if rest.contains('@') => format!("{scheme}:"),
            _ => plain.to_owned(),
        };
    };
    let (authority, behind) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let user = authority.rsplit_once('@');
    let host = user.map_or(authority, |(_, host)| host);
    // Behind a named user another `@` stands in a path, or it is the one that ends the user.
    if may_be_user(host, behind) || (user.is_some() && behind.contains('@')) {
        return format!("{scheme}//");
    }
    let path = behind.split(is_end).next().unwrap_or_default();
    format!("{scheme}//{host}{path}")
}

/// Whether that is a user and the beginning of a password with a sign in it that ends a host: some
/// write them as they are.
fn may_be_user(authority: &str, behind: &str) -> bool {
    let Some((_, port)) = authority.rsplit_once(':').filter(|_| !authority.ends_with(']')) else {
        return false;
    };
    behind.contains('@') || !port.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S-48: no user and no password of an address, also where it is none that the rules allow.
    #[test]
    fn an_address_is_told_without_what_may_be_secret() {
        for (uri, told) in [
            ("https://user:secret@h:80/a?b#c", "https://h:80/a"),
            ("https://h/a/@b", "https://h/a/@b"),
            ("https://[::1]:80/a", "https://[::1]:80/a"),
            ("file:///a@b", "file:///a@b"),
            ("db://admin:se/cret@h/t", "db://"),
            ("db://admin:se#cret@h/t", "db://"),
            ("db://admin:se?cret@h/t", "db://"),
            ("db://admin:1/cret@h/t", "db://"),
            ("db://me@corp:se/cret@h/t", "db://"),
            ("db://admin:se@cr/et@h/t", "db://"),
            ("db://me@corp:1/cret", "db://corp:1/cret"),
            ("https://h:80/@b", "https://"),
            ("urn:a", "urn:a"),
            ("urn:a?key=s//b", "urn:a"),
            ("urn:a#s//b", "urn:a"),
            ("db:admin:secret@h/t", "db:"),
            ("a@b", "a@b"),
        ] {
            assert_eq!(plain_address(uri), told, "{uri}");
        }
    }
}
