//! What is known of each product.

use super::format::Container::{Bare, List, Map};
use super::format::Meaning::*;
use super::format::{
    Container, FORMATS, FieldRow, Format, FormatRow, Meaning, NullEnv, Unit, Variables,
};
use super::syntax::Syntax;

const SERVERS: &[Container] = &[Map(&["mcpServers"])];

/// Members of `oauth` that Claude Code has, without effect here.
pub(super) const OAUTH_WITHOUT_EFFECT: &[&str] = &["callbackPort", "authServerMetadataUrl"];

/// What most products have.
const PLAIN: FormatRow = FormatRow {
    name: "",
    title: "",
    syntax: Syntax::Json,
    containers: SERVERS,
    fields: &[],
    root: &[],
    holds_more: false,
    marks: &[],
    own_types: &[],
    variables: Variables::Dollar,
    bare_url: None,
    null_env: NullEnv::Unsets,
    number_env: false,
};

const fn field(name: &'static str, meaning: Meaning) -> FieldRow {
    FieldRow { name, meaning }
}

const fn call_time(name: &'static str, unit: Unit) -> FieldRow {
    field(name, Time("call_timeout_ms", unit))
}

const fn connect_time(name: &'static str, unit: Unit) -> FieldRow {
    field(name, Time("connect_timeout_ms", unit))
}

impl Format {
    /// Its row of the table.
    pub fn row(self) -> &'static FormatRow {
        match self {
            Format::Trunkline => &TRUNKLINE,
            Format::ClaudeCode => &CLAUDE_CODE,
            Format::ClaudeDesktop => &CLAUDE_DESKTOP,
            Format::VsCode => &VS_CODE,
            Format::Cursor => &CURSOR,
            Format::Windsurf => &WINDSURF,
            Format::Codex => &CODEX,
            Format::Gemini => &GEMINI,
            Format::Qwen => &QWEN,
            Format::Cline => &CLINE,
            Format::Roo => &ROO,
            Format::Kiro => &KIRO,
            Format::Copilot => &COPILOT,
            Format::Opencode => &OPENCODE,
            Format::Zed => &ZED,
            Format::Goose => &GOOSE,
            Format::Continue => &CONTINUE,
            Format::FastMcp => &FASTMCP,
            Format::Mcporter => &MCPORTER,
            Format::McpHub => &MCP_HUB,
            Format::McpProxy => &MCPPROXY,
        }
    }

    /// Its word, as in `detect` and in options.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The format of that word.
    pub fn of_name(name: &str) -> Option<Format> {
        FORMATS.iter().copied().find(|format| format.name() == name)
    }
}

const TRUNKLINE: FormatRow = FormatRow {
    name: "trunkline",
    title: "trunkline",
    containers: &[Map(&["mcpServers"]), Bare],
    fields: &[field("env_file", EnvFile)],
    marks: &["env_file", "connect_timeout_ms", "call_timeout_ms", "call_idle_timeout_ms"],
    ..PLAIN
};

const CLAUDE_CODE: FormatRow = FormatRow {
    name: "claude-code",
    title: "Claude Code",
    fields: &[
        call_time("timeout", Unit::Milliseconds),
        field("alwaysLoad", AlwaysLoad),
        // A `.mcp.json` may be in the portable form that other products share.
        field("tools", As("include")),
        field("headersHelper", NoEffect),
    ],
    root: &[
        "projects",
        "disabledMcpjsonServers",
        "enabledMcpjsonServers",
        "enableAllProjectMcpServers",
    ],
    marks: &["headersHelper"],
    own_types: &["sdk"],
    ..PLAIN
};

const CLAUDE_DESKTOP: FormatRow =
    FormatRow { name: "claude-desktop", title: "Claude Desktop", holds_more: true, ..PLAIN };

const VS_CODE: FormatRow = FormatRow {
    name: "vscode",
    title: "VS Code",
    containers: &[Map(&["servers"])],
    fields: &[
        field("url", SocketAddress),
        field("envFile", EnvFile),
        field("sandboxEnabled", NoEffect),
        field("dev", NoEffect),
        field("version", NoEffect),
        field("gallery", NoEffect),
    ],
    root: &["inputs", "sandbox"],
    number_env: true,
    ..PLAIN
};

const CURSOR: FormatRow = FormatRow {
    name: "cursor",
    title: "Cursor",
    fields: &[field("envFile", EnvFile)],
    marks: &["envFile"],
    ..PLAIN
};

const WINDSURF: FormatRow = FormatRow { name: "windsurf", title: "Windsurf", ..PLAIN };

const CODEX: FormatRow = FormatRow {
    name: "codex",
    title: "Codex",
    syntax: Syntax::Toml,
    containers: &[Map(&["mcp_servers"])],
    fields: &[
        field("env_vars", Inherited),
        field("bearer_token_env_var", BearerVariable),
        field(
            "bearer_token",
            Refused("must not stand in the file; `bearer_token_env_var` names a variable"),
        ),
        field("http_headers", As("headers")),
        field("env_http_headers", HeaderVariables),
        connect_time("startup_timeout_sec", Unit::Seconds),
        connect_time("startup_timeout_ms", Unit::Milliseconds),
        call_time("tool_timeout_sec", Unit::Seconds),
        field("enabled_tools", As("include")),
        field("disabled_tools", As("exclude")),
        field("default_tools_approval_mode", Approval),
        field("tools", ToolModes),
        field("scopes", As("oauth_scopes")),
        field("oauth_resource", NoEffect),
        field("required", NoEffect),
        field("supports_parallel_tool_calls", NoEffect),
    ],
    holds_more: true,
    bare_url: Some("http"),
    ..PLAIN
};

const GEMINI: FormatRow = FormatRow {
    name: "gemini",
    title: "Gemini CLI",
    fields: &[call_time("timeout", Unit::Milliseconds)],
    root: &["mcp"],
    holds_more: true,
    marks: &["httpUrl", "tcp", "includeTools", "excludeTools", "authProviderType", "trust"],
    ..PLAIN
};

const QWEN: FormatRow = FormatRow {
    name: "qwen",
    title: "Qwen Code",
    fields: &[
        call_time("timeout", Unit::Milliseconds),
        connect_time("discoveryTimeoutMs", Unit::Milliseconds),
    ],
    root: &["mcp"],
    holds_more: true,
    marks: &["discoveryTimeoutMs", "alwaysLoadTools"],
    own_types: &["sdk"],
    ..PLAIN
};

const CLINE: FormatRow = FormatRow {
    name: "cline",
    title: "Cline",
    fields: &[
        field("transport", Nested),
        call_time("timeout", Unit::Seconds),
        field("oauthClient", As("oauth")),
        field("metadata", NoEffect),
    ],
    marks: &["transportType", "oauthClient", "autoApprove"],
    ..PLAIN
};

const ROO: FormatRow = FormatRow {
    name: "roo",
    title: "Roo Code",
    fields: &[call_time("timeout", Unit::Seconds), field("watchPaths", NoEffect)],
    marks: &["alwaysAllow", "watchPaths"],
    ..PLAIN
};

const KIRO: FormatRow = FormatRow { name: "kiro", title: "Kiro", ..PLAIN };

const COPILOT: FormatRow = FormatRow {
    name: "copilot-cli",
    title: "Copilot CLI",
    fields: &[field("tools", As("include"))],
    marks: &["tools"],
    ..PLAIN
};

const OPENCODE: FormatRow = FormatRow {
    name: "opencode",
    title: "opencode",
    containers: &[Map(&["mcp", "servers"]), Map(&["mcp"])],
    fields: &[
        field("command", CommandLine),
        field("environment", As("env")),
        field("timeout", Times),
    ],
    holds_more: true,
    variables: Variables::Braces,
    ..PLAIN
};

const ZED: FormatRow = FormatRow {
    name: "zed",
    title: "Zed",
    containers: &[Map(&["context_servers"])],
    fields: &[
        field("command", Nested),
        call_time("timeout", Unit::Seconds),
        field("source", NoEffect),
        field("remote", NoEffect),
        field("settings", NoEffect),
    ],
    holds_more: true,
    ..PLAIN
};

const GOOSE: FormatRow = FormatRow {
    name: "goose",
    title: "Goose",
    syntax: Syntax::Yaml,
    containers: &[Map(&["extensions"])],
    fields: &[
        field("cmd", As("command")),
        field("envs", As("env")),
        field("env_keys", SecretNames),
        field("uri", As("url")),
        field("available_tools", ToolsUnlessEmpty),
        call_time("timeout", Unit::Seconds),
        field("name", NoEffect),
        field("display_name", NoEffect),
        field("bundled", NoEffect),
    ],
    holds_more: true,
    own_types: &["builtin", "platform", "frontend", "inline_python"],
    ..PLAIN
};

const CONTINUE: FormatRow = FormatRow {
    name: "continue",
    title: "Continue",
    syntax: Syntax::Yaml,
    containers: &[List(&["mcpServers"]), Map(&["mcpServers"])],
    fields: &[
        field("name", Name),
        field("apiKey", Bearer),
        field("requestOptions", RequestOptions),
        connect_time("connectionTimeout", Unit::Milliseconds),
    ],
    holds_more: true,
    variables: Variables::Secrets,
    ..PLAIN
};

const FASTMCP: FormatRow = FormatRow {
    name: "fastmcp",
    title: "FastMCP",
    containers: &[Map(&["mcpServers"]), Bare],
    fields: &[
        field("auth", Bearer),
        call_time("timeout", Unit::Milliseconds),
        field("keep_alive", NoEffect),
        field("include_tags", NoEffect),
        field("exclude_tags", NoEffect),
    ],
    marks: &["keep_alive", "include_tags", "exclude_tags"],
    ..PLAIN
};

const MCPORTER: FormatRow = FormatRow {
    name: "mcporter",
    title: "mcporter",
    fields: &[
        field("baseUrl", As("url")),
        field("bearerTokenEnv", BearerVariable),
        field("allowedTools", As("include")),
        field("blockedTools", As("exclude")),
        field("lifecycle", NoEffect),
    ],
    root: &["imports"],
    marks: &["baseUrl", "bearerTokenEnv", "lifecycle", "allowedTools", "blockedTools"],
    variables: Variables::EnvWord,
    ..PLAIN
};

const MCP_HUB: FormatRow = FormatRow {
    name: "mcp-hub",
    title: "MCP Hub",
    fields: &[field("dev", NoEffect), field("disabled_tools", As("exclude"))],
    root: &["nativeMCPServers"],
    marks: &["dev", "disabled_tools"],
    null_env: NullEnv::Inherits,
    ..PLAIN
};

const MCPPROXY: FormatRow = FormatRow {
    name: "mcpproxy",
    title: "MCPProxy",
    containers: &[List(&["mcpServers"])],
    fields: &[
        field("name", Name),
        field("protocol", As("transport")),
        field("working_dir", As("cwd")),
        field("quarantined", Quarantine),
        connect_time("init_timeout", Unit::DurationText),
    ],
    holds_more: true,
    ..PLAIN
};
