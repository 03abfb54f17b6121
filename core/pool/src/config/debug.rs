//! `Debug` that can be logged: what may be a secret by its position is never printed (S-48).

use std::fmt;

use super::{RemoteSpec, ServerSpec, StdioSpec, Transport};
use crate::base::text::escaped;

/// What stands for a secret.
const REDACTED: &str = "[redacted]";

impl fmt::Debug for ServerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerSpec")
            .field("transport", &self.transport)
            .field("call_timeout", &self.call_timeout)
            .field("connect_timeout", &self.connect_timeout)
            .field("reconnect", &self.reconnect)
            .field("share", &self.share)
            .field("start", &self.start)
            .field("era", &self.era)
            .field("filter", &self.filter)
            .field("disabled", &self.disabled)
            .field("oauth", &names(self.oauth.keys()))
            .field("unknown", &names(self.unknown.keys()))
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Transport::Stdio(stdio) => stdio.fmt(f),
            Transport::Remote(remote) => remote.fmt(f),
            Transport::Host(host) => host.fmt(f),
        }
    }
}

impl fmt::Debug for StdioSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StdioSpec")
            .field("command", &escaped(&self.command))
            .field("args", &format_args!("{} {REDACTED}", self.args.len()))
            .field("cwd", &self.cwd.as_deref().map(escaped))
            .field("env", &names(self.env.keys()))
            .field("unset_env", &names(&self.unset_env))
            .field("inherit_env", &names(&self.inherit_env))
            .finish()
    }
}

impl fmt::Debug for RemoteSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // User, password, path and query of an address can all be secrets.
        f.debug_struct("RemoteSpec")
            .field("kind", &self.kind)
            .field("url", &REDACTED)
            .field("headers", &names(self.headers.keys()))
            .field("socket_path", &self.socket_path.as_deref().map(escaped))
            .finish()
    }
}

fn names<'a>(names: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    names.into_iter().map(|name| escaped(name)).collect()
}
