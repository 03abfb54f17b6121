//! The options themselves.

use super::client_rows::{CLIENT_INFO, LEASE_LOG_LEVEL, SESSION_LOG_LEVEL};
use super::options::OptionKind::{self, *};
use super::options::{OptionRow, duration, integer, row};

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
pub(super) const DAY: u64 = 24 * HOUR;

const TRANSPORTS: &[&str] = &["stdio", "http", "sse", "websocket"];

const UNTRUSTED_SOURCES: &[&str] =
    &["extension", "user", "managed", "session", "launch", "runtime"];

const ORIGINS: &[&str] = &["session", "project", "workspace"];

pub(super) const POOL: &[OptionRow] = &[
    row("workspace", Text, "the current directory", "the workspace folder"),
    row(
        "trusted",
        Bool,
        "false",
        "whether the workspace is trusted; without trust only servers of `untrusted_sources` may start",
    ),
    row(
        "untrusted_sources",
        Words(UNTRUSTED_SOURCES),
        r#"["launch","session","runtime"]"#,
        "scopes whose servers may start without trust; those inside of the workspace never may",
    ),
    row(
        "workers",
        integer(1, 64, "threads"),
        "1",
        "threads of the internal runtime; one setting per process",
    ),
    row(
        "shared_transports",
        Words(TRANSPORTS),
        r#"["stdio","websocket"]"#,
        "transports whose connections sessions share; `[]` switches sharing off",
    ),
    row(
        "drain_delay_ms",
        duration(0, DAY),
        "30000",
        "from the last release of a server to its close",
    ),
    row(
        "idle_cap_ms",
        duration(0, DAY),
        "300000",
        "from first becoming idle to the close, whatever comes and goes between",
    ),
    row("exit_grace_ms", duration(0, 10 * MINUTE), "1000", "from the close of stdin to SIGTERM"),
    row("kill_grace_ms", duration(0, 10 * MINUTE), "1000", "from SIGTERM to SIGKILL"),
    row(
        "connect_timeout_ms",
        CONNECT_TIMEOUT,
        "30000 for stdio, 5000 for remote",
        "connecting and listing together",
    ),
    row("call_timeout_ms", duration(1, 7 * DAY), "600000", "a call in all"),
    row(
        "call_idle_timeout_ms",
        duration(1, 7 * DAY),
        "300000, or the call's time in all if that is less",
        "a call without progress",
    ),
    row(
        "handler_timeout_ms",
        duration(1, DAY),
        "600000",
        "the time that a handler of the host has for its answer",
    ),
    row(
        "keepalive_ms",
        duration(0, DAY),
        "30000",
        "the silence of a server before the library asks whether it lives, and the least age of stale lists before it reads them again; 0 does neither",
    ),
    row("keepalive_misses", integer(1, 100, ""), "3", "missed answers in a row that count as loss"),
    row("reconnect", Object(RECONNECT), "", "how lost connections come back"),
    row("budget", Object(BUDGET), "", "how many servers may run, by name"),
    row("limits", Object(LIMITS), "", "bounds, each with a typed refusal"),
    row(
        "start_gate_ms",
        duration(0, 10 * MINUTE),
        "250",
        "how long `started` of a session waits for its servers, from its opening",
    ),
    row(
        "close_timeout_ms",
        duration(0, HOUR),
        "10000",
        "when a close or a drain interrupts and kills what is left, unless it has a time of its own",
    ),
    row(
        "start",
        Word(START),
        "eager",
        "whether servers start with the session or, `lazy`, at the first call of one of their tools; such a server stops after its last call",
    ),
    row(
        "start_parallel",
        integer(1, 1024, "servers"),
        "two for each core, and at least 4",
        "servers that connect at one time; those with `always_load` go first",
    ),
    row(
        "cache",
        Text,
        "on",
        "where the pool keeps the last lists of servers for the next process: `on` is `trunkline/catalogs` in the platform's cache folder, `off` is nowhere, anything else is the whole path of a folder; `TRUNKLINE_HOME` moves the default",
    ),
    row(
        "approvals",
        Text,
        "`trunkline/approvals.json` in the platform's state folder",
        "where decisions about servers are kept: `memory`, or the whole path of a file; `TRUNKLINE_HOME` moves the default",
    ),
    row(
        "commands",
        Bool,
        "false",
        "whether commands in the values of settings (`!cmd`) run; those of the project and the workspace never do",
    ),
    row(
        "tokens",
        Text,
        "memory",
        "where sign-ins are kept: `memory`, or the whole path of a file; a host that keeps them has the handler `credentials`",
    ),
    row(
        "status_file",
        Text,
        "none",
        "the whole path of a file that the status is written to each second, for `trunkline status --host` and for other programs of the same user; it goes when the pool closes",
    ),
    ALLOWED,
    EXCLUDED,
    row(
        "launch_allowed",
        Texts,
        "everything",
        "the upper bound that nothing at run time can widen",
    ),
    row(
        "inherit_env",
        Texts,
        "[]",
        "names or patterns of host variables that every server inherits",
    ),
    row("roots", Texts, "the workspace", "the folders that servers are told of"),
    row(
        "name_style",
        Word(&["mcp__server__tool", "server__tool", "none"]),
        "mcp__server__tool",
        "the style of the names that a model sees; `none` is the tool's own name, where one server alone has it",
    ),
    row("reserved_names", Texts, "[]", "exposed names that the host keeps for itself"),
    row(
        "on_tool_change",
        Word(&["notify", "quarantine"]),
        "`quarantine` for servers that need approval, else `notify`",
        "how the pool treats a tool with a changed definition: announced, or hidden and refused until the host accepts it",
    ),
    CLIENT_INFO,
    row(
        "nothing_listed",
        Word(&["warn", "error"]),
        "warn",
        "how the pool treats a server that lists nothing: connected with a warning, or refused",
    ),
    row(
        "handlers",
        Handlers,
        "none",
        "handlers for sessions without their own: they answer servers; `credentials` gives tokens; `inputs`, `secrets` and `entries` answer questions of settings",
    ),
];

/// When servers start.
pub(super) const START: &[&str] = &["eager", "lazy"];

pub(super) const RECONNECT: &[OptionRow] = &[
    row(
        "delays_ms",
        DurationLists(&["local", "remote"]),
        r#"{"local":[0,5000,5000,5000],"remote":[0,1000,2000,4000,8000,16000]}"#,
        "waits before each attempt: `local` for stdio and websocket, `remote` for http, sse and host",
    ),
    row("breaker", Object(BREAKER), "", "when a server that is lost again and again is given up"),
    row("healthy_after_ms", duration(0, DAY), "30000", "health that forgives earlier attempts"),
    row(
        "revive_ms",
        Durations { min: 100 },
        "[60000,120000,240000,300000]",
        "waits before each quiet attempt of a server that has failed and is still wanted; the last repeats, `[]` is no such attempt",
    ),
];

const BREAKER: &[OptionRow] = &[
    row(
        "losses",
        integer(1, 1_000, ""),
        "5",
        "more losses than this within the window open the breaker",
    ),
    row("window_ms", duration(1, DAY), "30000", "the window"),
];

const BUDGET: &[OptionRow] = &[
    row(
        "limit",
        integer(0, 65_536, "servers"),
        "none",
        "names of servers that may run at one time; needed by the modes that act on it",
    ),
    row(
        "mode",
        Word(&["off", "warn", "enforce"]),
        "warn with a limit, else off",
        "whether the pool only warns of the limit, or keeps it",
    ),
];

const LIMITS: &[OptionRow] = &[
    row("processes", integer(1, 65_536, "processes"), "1024", "server processes in all"),
    row("entries_per_name", integer(1, 65_536, "entries"), "256", "entries of one server name"),
    row(
        "in_flight_per_session",
        integer(1, 1 << 20, "calls"),
        "1024",
        "calls in flight of one session",
    ),
    row(
        "in_flight_per_entry",
        integer(1, 1 << 20, "calls"),
        "4096",
        "calls in flight on one entry",
    ),
    row("frame_bytes", integer(1 << 10, 1 << 30, "bytes"), "67108864", "one message of a server"),
    row(
        "stderr_bytes",
        integer(0, 1 << 26, "bytes"),
        "65536",
        "the newest bytes of a server's stderr that the pool keeps",
    ),
    row(
        "event_backlog",
        integer(1, 1 << 20, "events"),
        "1024",
        "events that wait for one subscriber; together they have 16 MiB, or 1 KiB for each where that is more; one event alone always fits",
    ),
];

pub(super) const SESSION: &[OptionRow] = &[
    row("id", Text, "", "the id; no live session has it; required"),
    SERVERS,
    INCLUDE,
    EXCLUDE,
    TRUST,
    ALWAYS_LOAD,
    row(
        "follow",
        Bool,
        "true",
        "whether it follows the pool's configuration, or keeps the servers that it was opened with",
    ),
    row("keep_for_ms", duration(0, DAY), "0", "how long its holds stay after a close"),
    SESSION_ROOTS,
    SESSION_LOG_LEVEL,
    row(
        "handlers",
        Handlers,
        "the pool's",
        "handlers of the session: `sampling`, `sampling_tools`, `elicitation` and `elicitation_url` answer servers; `credentials` gives tokens for remote servers; `logging` gets log messages",
    ),
];

/// Each replaces what was; what is absent stays.
pub(super) const CONFIGURE: &[OptionRow] =
    &[SERVERS, INCLUDE, EXCLUDE, TRUST, ALWAYS_LOAD, SESSION_ROOTS];

const SERVERS: OptionRow =
    row("servers", AllOrNames, "all", "the servers that the session wants without asking");

const INCLUDE: OptionRow = row(
    "include",
    PatternsByServer,
    "everything",
    "per server, the tools and prompts that the session sees, by their own or exposed names; `[]` is none",
);

const EXCLUDE: OptionRow = row(
    "exclude",
    PatternsByServer,
    "{}",
    "per server, the tools and prompts that it does not see, by their own or exposed names; wins",
);

const TRUST: OptionRow = row(
    "trust",
    BoolByServer,
    "{}",
    "per server, the trust mark on the session's own copy of its tools",
);

const ALWAYS_LOAD: OptionRow = row(
    "always_load",
    PatternsByServer,
    "{}",
    "per server, the tools that are marked always-load on the session's own copy, by their own or exposed names",
);

const SESSION_ROOTS: OptionRow = row(
    "roots",
    Texts,
    "[]",
    "further folders that servers are told of, where the connection is the session's own",
);

pub(super) const CALL: &[OptionRow] = &[
    row("timeout_ms", duration(1, 7 * DAY), "the server's, or the pool's", "the call in all"),
    row(
        "idle_timeout_ms",
        duration(1, 7 * DAY),
        "the server's, or the pool's",
        "the call without progress",
    ),
    row(
        "retry",
        Word(&["never", "not_sent", "safe"]),
        "never",
        "what is sent again after a loss, within the call's time: what was never sent, or also a tool that a trusted server \
         declares read-only or idempotent; and nothing before a server that asked to be left alone has time for it",
    ),
    row(
        "wait",
        Bool,
        "false",
        "whether the call waits while the server is reconnecting, at most for its time in all",
    ),
    row("progress", Bool, "false", "whether progress is asked for and delivered"),
    row(
        "shape",
        Word(&["mcp", "openai", "openai_responses", "anthropic", "gemini", "any"]),
        "mcp",
        "the shape in which the model got the tool; arguments with other names there reach the server under its own names",
    ),
    row(
        "unlisted",
        Bool,
        "false",
        "whether a tool that the server does not list is asked of the server all the same, by the server's own name; never one that \
         a filter, a gate or a quarantine keeps from the session",
    ),
    row(
        "meta",
        AnyObject,
        "none",
        "`_meta` of the request; `traceparent`, `tracestate` and `baggage` in it must be as W3C defines them",
    ),
];

pub(super) const ACQUIRE: &[OptionRow] = &[
    row("timeout_ms", duration(1, 7 * DAY), "the connection's own", "how long the acquire waits"),
    row(
        "origin",
        Word(ORIGINS),
        "session",
        "the scope that a configuration given with the acquire counts as; that of `project` and `workspace` needs approval",
    ),
    LEASE_LOG_LEVEL,
];

pub(super) const DRAIN: &[OptionRow] = &[
    row("force", Bool, "false", "whether calls are interrupted at once"),
    row(
        "timeout_ms",
        duration(0, HOUR),
        "the pool's `close_timeout_ms`",
        "when what is left is killed",
    ),
];

pub(super) const LOAD: &[OptionRow] = &[
    row("watch", Bool, "false", "whether the file is read again when it changes, comes or goes"),
    row(
        "source",
        Word(FILE_SOURCES),
        "by the place of the file",
        "the scope of the source; a file inside of the workspace may only be of `project`, `workspace` or `launch`",
    ),
    row(
        "format",
        Word(FORMATS),
        "by name and content",
        "the product whose rules the file follows: a word of docs/reference/settings.md",
    ),
];

const FORMATS: &[&str] = &[
    "trunkline",
    "claude-code",
    "claude-desktop",
    "vscode",
    "cursor",
    "windsurf",
    "codex",
    "gemini",
    "qwen",
    "cline",
    "roo",
    "kiro",
    "copilot-cli",
    "opencode",
    "zed",
    "goose",
    "continue",
    "fastmcp",
    "mcporter",
    "mcp-hub",
    "mcpproxy",
];

const FILE_SOURCES: &[&str] =
    &["extension", "user", "project", "workspace", "managed", "session", "launch"];

pub(super) const RELOAD: &[OptionRow] = &[row(
    "reconnect",
    AllOrNames,
    "[]",
    "the servers whose connections are made anew, all or these",
)];

pub(super) const STATUS: &[OptionRow] = &[row(
    "processes",
    Bool,
    "false",
    "whether memory and processor time of the servers' processes are looked up, for which the table of all processes is read; on Linux alone",
)];

pub(super) const GATES: &[OptionRow] = &[
    ALLOWED,
    EXCLUDED,
    row("pending", Texts, "[]", "patterns of the servers that wait for approval"),
];

const ALLOWED: OptionRow = row(
    "allowed",
    Texts,
    "everything",
    "patterns of the servers that may run (`*` any characters, `?` one); `[]` is none",
);

const EXCLUDED: OptionRow = row(
    "excluded",
    Texts,
    "[]",
    "patterns of the servers that may not run, whatever else admits them",
);

/// What the server's own `oauth` says goes first.
pub(super) const SIGN_IN: &[OptionRow] = &[
    row(
        "redirect_uri",
        Text,
        "the server's `oauth.redirect_uri`",
        "where the authorization server sends the person back to; one of the two is required",
    ),
    row(
        "client_metadata_url",
        Text,
        "none",
        "the address of the document that says who the client is, where the authorization server takes one",
    ),
    row("client_name", Text, "trunkline", "the name by which the client is registered"),
];

/// SPEC 4.2: 100 ms to 300 s.
pub(super) const CONNECT_TIMEOUT: OptionKind = duration(100, 300 * SECOND);
