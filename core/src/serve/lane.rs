//! The seam between the lanes, which carry frames, and the endpoint, which answers them.
//!
//! A lane knows who a client is and how frames travel. It reads of a message only its era. The
//! endpoint implements [`Clients`] and [`Served`]; its answers go to an [`Outlet`].

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use trunkline_pool::bridge::McpHeaders;

use super::outlet::{Outlet, StreamId};

/// The endpoint, as the lanes see it.
pub(crate) trait Clients: Send + Sync + 'static {
    /// A client of its own for one legacy session or one connection of lines.
    ///
    /// A dropped future opens nothing. The lane calls [`Served::close`] on what it got.
    fn legacy<'a>(
        &'a self,
        path: &'a ServedPath,
        who: &'a Principal,
        lane: LaneKind,
    ) -> OpenedClient<'a>;

    /// The client that all modern requests of a principal at a path share, in one kind of lane.
    ///
    /// A dropped future opens nothing. The lane never closes it.
    fn modern<'a>(
        &'a self,
        path: &'a ServedPath,
        who: &'a Principal,
        lane: LaneKind,
    ) -> OpenedClient<'a>;

    /// Whether requests are taken; `/readyz` answers it.
    fn is_ready(&self) -> bool;

    /// The text of `/metrics`, in Prometheus's format.
    fn metrics(&self) -> String;
}

/// A client that is being opened: the endpoint may ask its host first.
pub(crate) type OpenedClient<'a> =
    Pin<Box<dyn Future<Output = Result<Arc<dyn Served>, LaneError>> + Send + 'a>>;

/// One client of the endpoint. No method blocks or waits.
pub(crate) trait Served: Send + Sync {
    /// Takes one JSON-RPC message, or a batch. What answers it goes to the outlet.
    ///
    /// A refusal with a status, or `OutletItem::Accepted`, is sent before this returns: later the
    /// status of an event stream may have left.
    fn message(&self, text: &str, headers: Option<&McpHeaders>, outlet: Outlet);

    /// From here on, messages that belong to no request go to this outlet. It replaces the last.
    fn stream(&self, outlet: Outlet);

    /// The client let go of a stream. In the modern era this cancels its request.
    fn stream_closed(&self, stream: StreamId);

    /// The session or connection is over.
    fn close(&self);
}

/// Who a client is: the owner of its limits and of its sessions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Principal {
    pub kind: PrincipalKind,
    /// The name of a token, or the number of a user.
    pub name: Arc<str>,
    /// The profile that comes with a token. One in the path must be the same.
    pub profile: Option<Arc<str>>,
}

/// How a principal is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PrincipalKind {
    /// By a token of the file.
    Token,
    /// By the user that the system names for a socket's peer.
    #[cfg(unix)]
    User,
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            PrincipalKind::Token => write!(f, "token:{}", self.name),
            #[cfg(unix)]
            PrincipalKind::User => write!(f, "uid:{}", self.name),
        }
    }
}

/// What a path serves: `/mcp`, `/mcp/<server>`, and both below `/profiles/<name>`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct ServedPath {
    pub profile: Option<Arc<str>>,
    /// The one server of a transparent path; all of them without.
    pub server: Option<Arc<str>>,
}

impl ServedPath {
    /// Reads the path of a URL; `None` when nothing is served there.
    pub(crate) fn parse(path: &str) -> Option<ServedPath> {
        let mut parts = path.strip_prefix('/')?.split('/');
        let mut part = parts.next()?;
        let mut profile = None;
        if part == "profiles" {
            profile = Some(decoded(parts.next()?)?);
            part = parts.next()?;
        }
        let server = parts.next().map(decoded);
        match (part, server, parts.next()) {
            ("mcp", None, None) => Some(ServedPath { profile, server: None }),
            ("mcp", Some(Some(server)), None) => Some(ServedPath { profile, server: Some(server) }),
            _ => None,
        }
    }
}

/// One segment with its `%` escapes resolved. It is never empty.
fn decoded(segment: &str) -> Option<Arc<str>> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let Some((&first, others)) = rest.split_first() {
        rest = others;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    let text = String::from_utf8(bytes).ok()?;
    (!text.is_empty()).then(|| text.into())
}

/// How frames travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LaneKind {
    Http,
    /// One message a line.
    Lines,
}

/// Why a client cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LaneError {
    /// The status over HTTP: 403, 404, 429 or 503.
    pub status: u16,
    /// The code of the JSON-RPC error.
    pub code: i32,
    pub message: String,
}

#[cfg(test)]
mod tests {
    use super::ServedPath;

    /// SPEC 19.3: the path, then the profile and the server that it names; `-` names nothing.
    const PATHS: &[(&str, Option<(&str, &str)>)] = &[
        ("/mcp", Some(("-", "-"))),
        ("/mcp/git", Some(("-", "git"))),
        ("/mcp/my%20server", Some(("-", "my server"))),
        ("/mcp/a%2Fb", Some(("-", "a/b"))),
        ("/profiles/work/mcp", Some(("work", "-"))),
        ("/profiles/work/mcp/git", Some(("work", "git"))),
        ("/profiles/mcp", None),
        ("/profiles//mcp", None),
        ("/mcp/", None),
        ("/mcp/git/", None),
        ("/mcp/git/x", None),
        ("/mcp/%", None),
        ("/mcp/%+1", None),
        ("/mcp/%ff", None),
        ("/MCP", None),
        ("//mcp", None),
        ("mcp", None),
        ("/", None),
        ("", None),
    ];

    #[test]
    fn a_path_names_a_profile_and_a_server() {
        for (path, wanted) in PATHS {
            let found = ServedPath::parse(path);
            let found = found.as_ref().map(|ServedPath { profile, server }| {
                (profile.as_deref().unwrap_or("-"), server.as_deref().unwrap_or("-"))
            });
            assert_eq!(found, *wanted, "{path}");
        }
    }
}
