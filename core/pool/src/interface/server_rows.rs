//! The options of one server.

use super::option_rows::{CONNECT_TIMEOUT, DAY, RECONNECT, START};
use super::options::OptionKind::*;
use super::options::{OptionRow, also, duration, row};

pub(super) const SERVER: &[OptionRow] = &[
    also(
        &["type", "transportType"],
        row(
            "transport",
            Word(&["stdio", "http", "sse", "websocket"]),
            "by the other fields",
            "the transport; also `local`, `streamable-http`, `streamableHttp`, `streamable_http`, `remote`, `ws`",
        ),
    ),
    row("command", Text, "", "the program of a stdio server"),
    row("args", Texts, "[]", "its arguments"),
    row("cwd", Text, "the workspace", "its working directory"),
    row(
        "env",
        TextMap,
        "{}",
        "its own environment; null unsets a variable of the base environment",
    ),
    also(
        &["inheritEnv"],
        row("inherit_env", Texts, "[]", "names or patterns of host variables that it inherits"),
    ),
    also(
        &["serverUrl", "httpUrl", "tcp"],
        row(
            "url",
            Text,
            "",
            "the address of a remote server; `httpUrl` implies http, `tcp` websocket",
        ),
    ),
    row("headers", TextMap, "{}", "HTTP headers of a remote server"),
    also(
        &["socketPath"],
        row(
            "socket_path",
            Text,
            "",
            "the Unix socket over which `url` is reached: an absolute path, or `@` and a name of Linux",
        ),
    ),
    also(
        &["timeout", "callTimeoutMs"],
        row("call_timeout_ms", duration(1, 7 * DAY), "the pool's", "a call in all"),
    ),
    also(
        &["callIdleTimeoutMs"],
        row("call_idle_timeout_ms", duration(1, 7 * DAY), "the pool's", "a call without progress"),
    ),
    also(
        &["connectTimeoutMs", "discoveryTimeoutMs"],
        row("connect_timeout_ms", CONNECT_TIMEOUT, "the pool's", "connecting and listing together"),
    ),
    also(
        &["includeTools"],
        row(
            "include",
            Texts,
            "everything",
            "the tools and prompts that sessions see, by their own or exposed names; `[]` is none",
        ),
    ),
    also(
        &["excludeTools", "disabledTools"],
        row(
            "exclude",
            Texts,
            "[]",
            "the tools and prompts that sessions do not see, by their own or exposed names; wins",
        ),
    ),
    row(
        "share",
        Word(&["pool", "session"]),
        "by transport",
        "whether sessions share its connection",
    ),
    row(
        "era",
        Word(&["auto", "legacy", "modern"]),
        "auto",
        "the protocol family that is spoken: `auto` finds out, `legacy` opens with `initialize`, `modern` never does",
    ),
    also(
        &["auth"],
        row(
            "oauth",
            AnyObject,
            "{}",
            "OAuth fields, in snake_case or camelCase; docs/guide/auth.md lists them",
        ),
    ),
    also(&["oauthScopes"], row("oauth_scopes", Texts, "[]", "OAuth scopes, beside `oauth`")),
    also(
        &["authProviderType"],
        row(
            "provider_type",
            Text,
            "",
            "where credentials come from; part of the identity, without effect yet",
        ),
    ),
    also(
        &["targetAudience"],
        row(
            "target_audience",
            Text,
            "",
            "the audience of a service account's token; part of the identity, without effect yet",
        ),
    ),
    also(
        &["targetServiceAccount"],
        row(
            "target_service_account",
            Text,
            "",
            "the service account to act as; part of the identity, without effect yet",
        ),
    ),
    row("disabled", Bool, "false", "whether the server is switched off; `enabled` is its opposite"),
    row("enabled", Bool, "true", "the opposite of `disabled`"),
    row("trust", Bool, "false", "the trust mark of its tools"),
    also(
        &["alwaysLoad", "alwaysLoadTools"],
        row(
            "always_load",
            Texts,
            "[]",
            "its tools that are marked always-load, by their own or exposed names",
        ),
    ),
    row("description", Text, "", "what it is, for people"),
    row("start", Word(START), "the pool's", "when it starts"),
    row(
        "reconnect",
        Object(RECONNECT),
        "",
        "how its lost connection comes back; what is left out is the pool's",
    ),
];
