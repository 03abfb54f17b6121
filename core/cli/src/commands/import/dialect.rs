//! How each product writes a server, for files that are made for it. Reading is the library's part,
//! and the test reads back what is written.

use trunkline::settings::{Format, Unit};
use trunkline_pool::expand::PREDEFINED;

/// How a product writes a server. What is `None` it has no field for.
#[derive(Clone, Copy)]
pub(super) struct Dialect {
    /// The field of the transport, where it is always written, and its words for stdio, http, sse
    /// and websocket.
    pub(super) kind: Option<(&'static str, [Option<&'static str>; 4])>,
    pub(super) command: &'static str,
    /// Whether that holds the arguments too.
    pub(super) is_line: bool,
    pub(super) env: &'static str,
    pub(super) cwd: Option<&'static str>,
    /// The field of the address, by the transport: http, sse, websocket, and one that is found out.
    pub(super) urls: [Option<&'static str>; 4],
    pub(super) headers: Option<&'static str>,
    pub(super) call_time: Option<(&'static str, Unit)>,
    pub(super) connect_time: Option<(&'static str, Unit)>,
    pub(super) include: Option<&'static str>,
    pub(super) exclude: Option<&'static str>,
    /// The field that switches it off, and the value that does.
    pub(super) off: Option<(&'static str, bool)>,
    pub(super) env_file: Option<&'static str>,
    pub(super) inherited: Option<&'static str>,
    /// How it writes the host's variables between `${` and `}`.
    pub(super) variables: Spelling,
}

/// How a product names the host's variables.
#[derive(Clone, Copy)]
pub(super) enum Spelling {
    /// It is not known to take one form and no other, so that it is left as it was.
    Any,
    /// `NAME` and `NAME:-default`.
    Bare,
    /// `env:NAME`.
    Prefixed,
    /// It has none.
    Never,
}

impl Spelling {
    /// A variable as it stands there, by its name with and without a prefix.
    pub(super) fn of(self, name: &str, of_env: &str) -> Option<String> {
        let (plain, has_default) = match name.split_once(":-") {
            Some((plain, _)) => (plain, true),
            None => (name, false),
        };
        let is_of_env = !PREDEFINED.contains(&plain);
        match self {
            Spelling::Any => Some(name.to_owned()),
            Spelling::Bare => is_of_env.then(|| of_env.to_owned()),
            Spelling::Prefixed if !is_of_env => Some(name.to_owned()),
            Spelling::Prefixed => (!has_default).then(|| format!("env:{of_env}")),
            Spelling::Never => None,
        }
    }
}

const URL: Option<&str> = Some("url");

const PLAIN: Dialect = Dialect {
    kind: None,
    command: "command",
    is_line: false,
    env: "env",
    cwd: None,
    urls: [URL, URL, None, URL],
    headers: Some("headers"),
    call_time: None,
    connect_time: None,
    include: None,
    exclude: None,
    off: None,
    env_file: None,
    inherited: None,
    variables: Spelling::Any,
};

const CWD: Option<&str> = Some("cwd");
const DISABLED: Option<(&str, bool)> = Some(("disabled", true));
const ENABLED: Option<(&str, bool)> = Some(("enabled", false));

const fn kinds(
    field: &'static str,
    stdio: &'static str,
    http: &'static str,
    websocket: Option<&'static str>,
) -> Option<(&'static str, [Option<&'static str>; 4])> {
    Some((field, [Some(stdio), Some(http), Some("sse"), websocket]))
}

const GEMINI: Dialect = Dialect {
    cwd: CWD,
    urls: [Some("httpUrl"), None, Some("tcp"), URL],
    call_time: Some(("timeout", Unit::Milliseconds)),
    include: Some("includeTools"),
    exclude: Some("excludeTools"),
    ..PLAIN
};

/// That of a product. The pool's own form has everything and needs none.
pub(super) fn dialect(format: Format) -> Option<Dialect> {
    Some(match format {
        Format::ClaudeCode => Dialect {
            kind: kinds("type", "stdio", "http", Some("ws")),
            urls: [URL, URL, URL, URL],
            call_time: Some(("timeout", Unit::Milliseconds)),
            variables: Spelling::Bare,
            ..PLAIN
        },
        Format::ClaudeDesktop => {
            Dialect { urls: [None; 4], headers: None, variables: Spelling::Never, ..PLAIN }
        }
        Format::VsCode => Dialect {
            kind: kinds("type", "stdio", "http", None),
            cwd: CWD,
            env_file: Some("envFile"),
            variables: Spelling::Prefixed,
            ..PLAIN
        },
        Format::Cursor => {
            Dialect { env_file: Some("envFile"), variables: Spelling::Prefixed, ..PLAIN }
        }
        Format::Windsurf => Dialect {
            urls: [Some("serverUrl"), Some("serverUrl"), None, Some("serverUrl")],
            exclude: Some("disabledTools"),
            off: DISABLED,
            ..PLAIN
        },
        Format::Codex => Dialect {
            cwd: CWD,
            urls: [URL, None, None, URL],
            headers: Some("http_headers"),
            call_time: Some(("tool_timeout_sec", Unit::Seconds)),
            connect_time: Some(("startup_timeout_sec", Unit::Seconds)),
            include: Some("enabled_tools"),
            exclude: Some("disabled_tools"),
            off: ENABLED,
            inherited: Some("env_vars"),
            ..PLAIN
        },
        Format::Gemini => GEMINI,
        Format::Qwen => {
            Dialect { connect_time: Some(("discoveryTimeoutMs", Unit::Milliseconds)), ..GEMINI }
        }
        format => return of_editors(format).or_else(|| of_programs(format)),
    })
}

fn of_editors(format: Format) -> Option<Dialect> {
    Some(match format {
        Format::Cline => Dialect {
            kind: kinds("type", "stdio", "streamableHttp", None),
            cwd: CWD,
            call_time: Some(("timeout", Unit::Seconds)),
            off: DISABLED,
            ..PLAIN
        },
        Format::Roo => Dialect {
            kind: kinds("type", "stdio", "streamable-http", None),
            cwd: CWD,
            call_time: Some(("timeout", Unit::Seconds)),
            exclude: Some("disabledTools"),
            off: DISABLED,
            ..PLAIN
        },
        Format::Kiro => Dialect { exclude: Some("disabledTools"), off: DISABLED, ..PLAIN },
        Format::Copilot => {
            Dialect { kind: kinds("type", "local", "http", None), include: Some("tools"), ..PLAIN }
        }
        Format::Opencode => Dialect {
            kind: Some(("type", [Some("local"), Some("remote"), None, None])),
            is_line: true,
            env: "environment",
            urls: [URL, None, None, URL],
            connect_time: Some(("timeout", Unit::Milliseconds)),
            off: ENABLED,
            ..PLAIN
        },
        Format::Zed => {
            Dialect { call_time: Some(("timeout", Unit::Seconds)), off: ENABLED, ..PLAIN }
        }
        _ => return None,
    })
}

fn of_programs(format: Format) -> Option<Dialect> {
    Some(match format {
        Format::Goose => Dialect {
            kind: kinds("type", "stdio", "streamable_http", None),
            command: "cmd",
            env: "envs",
            urls: [Some("uri"), Some("uri"), None, Some("uri")],
            call_time: Some(("timeout", Unit::Seconds)),
            include: Some("available_tools"),
            off: ENABLED,
            ..PLAIN
        },
        Format::Continue => Dialect {
            kind: kinds("type", "stdio", "streamable-http", None),
            cwd: CWD,
            connect_time: Some(("connectionTimeout", Unit::Milliseconds)),
            ..PLAIN
        },
        Format::FastMcp => Dialect {
            kind: kinds("transport", "stdio", "http", None),
            cwd: CWD,
            call_time: Some(("timeout", Unit::Milliseconds)),
            ..PLAIN
        },
        Format::Mcporter => Dialect {
            urls: [Some("baseUrl"), Some("baseUrl"), None, Some("baseUrl")],
            include: Some("allowedTools"),
            exclude: Some("blockedTools"),
            ..PLAIN
        },
        Format::McpHub => {
            Dialect { cwd: CWD, exclude: Some("disabled_tools"), off: DISABLED, ..PLAIN }
        }
        Format::McpProxy => Dialect {
            kind: kinds("protocol", "stdio", "http", None),
            cwd: Some("working_dir"),
            off: ENABLED,
            connect_time: Some(("init_timeout", Unit::DurationText)),
            ..PLAIN
        },
        // The pool's own form, and what is known later.
        _ => return None,
    })
}
