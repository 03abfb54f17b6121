"""The types of options, for annotations. Written from core/pool/src/interface; do not edit.

A function that passes options on takes them as ``**options: Unpack[CallOptions]``. Times are seconds; None stands for
the default of an option.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict

from ._handlers import ServerRequest
from .events import Log, Progress

#: Names or patterns; one text alone is none.
Names = list[str] | tuple[str, ...] | set[str] | frozenset[str]


class _Described(TypedDict, total=False):
    description: str


class OpenAIFunction(_Described):
    """The function of an ``OpenAITool``."""

    name: str
    parameters: dict[str, Any]


class OpenAITool(TypedDict):
    """A tool as ``tools_for("openai")`` gives it."""

    type: Literal["function"]
    function: OpenAIFunction


class OpenAIResponsesTool(_Described):
    """A tool as ``tools_for("openai_responses")`` gives it."""

    type: Literal["function"]
    name: str
    parameters: dict[str, Any]
    strict: bool


class AnthropicTool(_Described):
    """A tool as ``tools_for("anthropic")`` gives it."""

    name: str
    input_schema: dict[str, Any]


class GeminiTool(_Described):
    """A tool as ``tools_for("gemini")`` gives it."""

    name: str
    parametersJsonSchema: dict[str, Any]


#: The shapes of model APIs.
ToolShape = Literal["mcp", "openai", "openai_responses", "anthropic", "gemini", "any"]

#: The kinds of events.
EventKind = Literal["status_changed", "tools_changed", "prompts_changed", "resources_changed", "resource_updated", "disconnected", "reconnected", "failed", "progress", "log", "stderr", "approval_needed", "auth_required", "budget_warning", "refused_batch", "source_changed", "source_error", "reconciled", "tool_quarantined", "server_ready", "warning", "elicitation_completed", "lagged"]

#: How grave log messages are.
LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


class SessionHandlers(TypedDict, total=False):
    """Functions that answer a session's servers, plain or ``async``."""

    sampling: Callable[[ServerRequest], Any]
    sampling_tools: Callable[[ServerRequest], Any]
    elicitation: Callable[[ServerRequest], Any]
    elicitation_url: Callable[[ServerRequest], Any]
    credentials: Callable[[ServerRequest], Any]
    logging: Callable[[Log], object]


class PoolHandlers(TypedDict, total=False):
    """Functions that answer servers, and questions of settings, plain or ``async``."""

    sampling: Callable[[ServerRequest], Any]
    sampling_tools: Callable[[ServerRequest], Any]
    elicitation: Callable[[ServerRequest], Any]
    elicitation_url: Callable[[ServerRequest], Any]
    credentials: Callable[[ServerRequest], Any]
    inputs: Callable[[ServerRequest], Any]
    secrets: Callable[[ServerRequest], Any]
    entries: Callable[[ServerRequest], Any]
    logging: Callable[[Log], object]


class DelaysOptions(TypedDict, total=False):
    """Members of ``delays``."""

    local: Sequence[float] | None
    remote: Sequence[float] | None


class BreakerOptions(TypedDict, total=False):
    """Members of ``breaker``."""

    losses: int | None
    """More losses than this within the window open the breaker. By default 5."""
    window: float | None
    """The window. By default 30."""


class ReconnectOptions(TypedDict, total=False):
    """Members of ``reconnect``."""

    delays: DelaysOptions | None
    """Waits before each attempt: ``local`` for stdio and websocket, ``remote`` for http, sse and
    host. By default {'local':[0,5,5,5],'remote':[0,1,2,4,8,16]}."""
    breaker: BreakerOptions | None
    """When a server that is lost again and again is given up."""
    healthy_after: float | None
    """Health that forgives earlier attempts. By default 30."""
    revive: Sequence[float] | None
    """Waits before each quiet attempt of a server that has failed and is still wanted; the last
    repeats, ``[]`` is no such attempt. By default [60,120,240,300]."""


class BudgetOptions(TypedDict, total=False):
    """Members of ``budget``."""

    limit: int | None
    """Names of servers that may run at one time; needed by the modes that act on it. By default
    none."""
    mode: Literal["off", "warn", "enforce"] | None
    """Whether the pool only warns of the limit, or keeps it. By default warn with a limit, else
    off."""


class LimitsOptions(TypedDict, total=False):
    """Members of ``limits``."""

    processes: int | None
    """Server processes in all. By default 1024."""
    entries_per_name: int | None
    """Entries of one server name. By default 256."""
    in_flight_per_session: int | None
    """Calls in flight of one session. By default 1024."""
    in_flight_per_entry: int | None
    """Calls in flight on one entry. By default 4096."""
    frame_bytes: int | None
    """One message of a server. By default 67108864."""
    stderr_bytes: int | None
    """The newest bytes of a server's stderr that the pool keeps. By default 65536."""
    event_backlog: int | None
    """Events that wait for one subscriber; together they have 16 MiB, or 1 KiB for each where that
    is more; one event alone always fits. By default 1024."""


class ClientInfoOptions(TypedDict, total=False):
    """Members of ``client_info``."""

    name: str | None
    """The name, for programs; required."""
    title: str | None
    """The name, for people. By default none."""
    version: str | None
    """The version; required."""
    icons: Sequence[Mapping[str, Any]] | None
    """Icons as the protocol has them: ``src``, an address of ``https``, ``http`` or ``data``,
    ``mimeType``, ``sizes``, and ``theme``, ``light`` or ``dark``. By default []."""
    website: str | None
    """The address of the host's site. By default none."""


class PoolOptions(TypedDict, total=False):
    """Options of a pool."""

    workspace: str | PathLike[str] | None
    """The workspace folder. By default the current directory."""
    trusted: bool | None
    """Whether the workspace is trusted; without trust only servers of ``untrusted_sources`` may
    start. By default False."""
    untrusted_sources: Collection[Literal["extension", "user", "managed", "session", "launch", "runtime"]] | None
    """Scopes whose servers may start without trust; those inside of the workspace never may. By
    default ['launch','session','runtime']."""
    workers: int | None
    """Threads of the internal runtime; one setting per process. By default 1."""
    shared_transports: Collection[Literal["stdio", "http", "sse", "websocket"]] | None
    """Transports whose connections sessions share; ``[]`` switches sharing off. By default
    ['stdio','websocket']."""
    drain_delay: float | None
    """From the last release of a server to its close. By default 30."""
    idle_cap: float | None
    """From first becoming idle to the close, whatever comes and goes between. By default 300."""
    exit_grace: float | None
    """From the close of stdin to SIGTERM. By default 1."""
    kill_grace: float | None
    """From SIGTERM to SIGKILL. By default 1."""
    connect_timeout: float | None
    """Connecting and listing together. By default 30 for stdio, 5 for remote."""
    call_timeout: float | None
    """A call in all. By default 600."""
    call_idle_timeout: float | None
    """A call without progress. By default 300, or the call's time in all if that is less."""
    handler_timeout: float | None
    """The time that a handler of the host has for its answer. By default 600."""
    keepalive: float | None
    """The silence of a server before the library asks whether it lives, and the least age of stale
    lists before it reads them again; 0 does neither. By default 30."""
    keepalive_misses: int | None
    """Missed answers in a row that count as loss. By default 3."""
    reconnect: ReconnectOptions | None
    """How lost connections come back."""
    budget: BudgetOptions | None
    """How many servers may run, by name."""
    limits: LimitsOptions | None
    """Bounds, each with a typed refusal."""
    start_gate: float | None
    """How long ``started`` of a session waits for its servers, from its opening. By default
    0.25."""
    close_timeout: float | None
    """When a close or a drain interrupts and kills what is left, unless it has a time of its own.
    By default 10."""
    start: Literal["eager", "lazy"] | None
    """Whether servers start with the session or, ``lazy``, at the first call of one of their tools;
    such a server stops after its last call. By default eager."""
    start_parallel: int | None
    """Servers that connect at one time; those with ``always_load`` go first. By default two for
    each core, and at least 4."""
    cache: str | PathLike[str] | None
    """Where the pool keeps the last lists of servers for the next process: ``on`` is
    ``trunkline/catalogs`` in the platform's cache folder, ``off`` is nowhere, anything else is the
    whole path of a folder; ``TRUNKLINE_HOME`` moves the default. By default on."""
    approvals: str | PathLike[str] | None
    """Where decisions about servers are kept: ``memory``, or the whole path of a file;
    ``TRUNKLINE_HOME`` moves the default. By default ``trunkline/approvals.json`` in the platform's
    state folder."""
    commands: bool | None
    """Whether commands in the values of settings (``!cmd``) run; those of the project and the
    workspace never do. By default False."""
    tokens: str | PathLike[str] | None
    """Where sign-ins are kept: ``memory``, or the whole path of a file; a host that keeps them has
    the handler ``credentials``. By default memory."""
    status_file: str | PathLike[str] | None
    """The whole path of a file that the status is written to each second, for ``trunkline status
    --host`` and for other programs of the same user; it goes when the pool closes. By default
    none."""
    allowed: Names | None
    """Patterns of the servers that may run (``*`` any characters, ``?`` one); ``[]`` is none. By
    default everything."""
    excluded: Names | None
    """Patterns of the servers that may not run, whatever else admits them. By default []."""
    launch_allowed: Names | None
    """The upper bound that nothing at run time can widen. By default everything."""
    inherit_env: Names | None
    """Names or patterns of host variables that every server inherits. By default []."""
    roots: Sequence[str | PathLike[str]] | None
    """The folders that servers are told of. By default the workspace."""
    name_style: Literal["mcp__server__tool", "server__tool", "none"] | None
    """The style of the names that a model sees; ``none`` is the tool's own name, where one server
    alone has it. By default mcp__server__tool."""
    reserved_names: Names | None
    """Exposed names that the host keeps for itself. By default []."""
    on_tool_change: Literal["notify", "quarantine"] | None
    """How the pool treats a tool with a changed definition: announced, or hidden and refused until
    the host accepts it. By default ``quarantine`` for servers that need approval, else
    ``notify``."""
    client_info: ClientInfoOptions | None
    """Who the host is: servers learn it at the handshake, and in the modern era from each request;
    it is no part of a connection's identity. By default the library's own name and version."""
    nothing_listed: Literal["warn", "error"] | None
    """How the pool treats a server that lists nothing: connected with a warning, or refused. By
    default warn."""
    handlers: PoolHandlers | SessionHandlers | None
    """Handlers for sessions without their own: they answer servers; ``credentials`` gives tokens;
    ``inputs``, ``secrets`` and ``entries`` answer questions of settings. By default none."""


class SessionOptions(TypedDict, total=False):
    """Options of a session."""

    servers: Literal["all"] | Names | None
    """The servers that the session wants without asking. By default all."""
    include: Mapping[str, Names] | None
    """Per server, the tools and prompts that the session sees, by their own or exposed names;
    ``[]`` is none. By default everything."""
    exclude: Mapping[str, Names] | None
    """Per server, the tools and prompts that it does not see, by their own or exposed names; wins.
    By default {}."""
    trust: Mapping[str, bool] | None
    """Per server, the trust mark on the session's own copy of its tools. By default {}."""
    always_load: Mapping[str, Names] | None
    """Per server, the tools that are marked always-load on the session's own copy, by their own or
    exposed names. By default {}."""
    follow: bool | None
    """Whether it follows the pool's configuration, or keeps the servers that it was opened with. By
    default True."""
    keep_for: float | None
    """How long its holds stay after a close. By default 0."""
    roots: Sequence[str | PathLike[str]] | None
    """Further folders that servers are told of, where the connection is the session's own. By
    default []."""
    log_level: Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] | None
    """The least level of log messages that the session receives; a server that sessions share gets
    the lowest of theirs, and each receives its own level and above; a session without a level
    receives what the server sends by default, whatever the others ask for. By default the server's
    own."""
    handlers: SessionHandlers | None
    """Handlers of the session: ``sampling``, ``sampling_tools``, ``elicitation`` and
    ``elicitation_url`` answer servers; ``credentials`` gives tokens for remote servers; ``logging``
    gets log messages. By default the pool's."""


class ConfigureOptions(TypedDict, total=False):
    """Options of ``configure``; what is absent stays."""

    servers: Literal["all"] | Names | None
    """The servers that the session wants without asking. By default all."""
    include: Mapping[str, Names] | None
    """Per server, the tools and prompts that the session sees, by their own or exposed names;
    ``[]`` is none. By default everything."""
    exclude: Mapping[str, Names] | None
    """Per server, the tools and prompts that it does not see, by their own or exposed names; wins.
    By default {}."""
    trust: Mapping[str, bool] | None
    """Per server, the trust mark on the session's own copy of its tools. By default {}."""
    always_load: Mapping[str, Names] | None
    """Per server, the tools that are marked always-load on the session's own copy, by their own or
    exposed names. By default {}."""
    roots: Sequence[str | PathLike[str]] | None
    """Further folders that servers are told of, where the connection is the session's own. By
    default []."""


class CallOptions(TypedDict, total=False):
    """Options of one call."""

    timeout: float | None
    """The call in all. By default the server's, or the pool's."""
    idle_timeout: float | None
    """The call without progress. By default the server's, or the pool's."""
    retry: Literal["never", "not_sent", "safe"] | None
    """What is sent again after a loss, within the call's time: what was never sent, or also a tool
    that a trusted server declares read-only or idempotent; and nothing before a server that asked
    to be left alone has time for it. By default never."""
    wait: bool | None
    """Whether the call waits while the server is reconnecting, at most for its time in all. By
    default False."""
    progress: bool | Callable[[Progress], object] | None
    """Whether progress is asked for and delivered. By default False."""
    shape: Literal["mcp", "openai", "openai_responses", "anthropic", "gemini", "any"] | None
    """The shape in which the model got the tool; arguments with other names there reach the server
    under its own names. By default mcp."""
    unlisted: bool | None
    """Whether a tool that the server does not list is asked of the server all the same, by the
    server's own name; never one that a filter, a gate or a quarantine keeps from the session. By
    default False."""
    meta: Mapping[str, Any] | None
    """``_meta`` of the request; ``traceparent``, ``tracestate`` and ``baggage`` in it must be as
    W3C defines them. By default none."""


class AcquireOptions(TypedDict, total=False):
    """Options of an ``acquire``."""

    timeout: float | None
    """How long the acquire waits. By default the connection's own."""
    origin: Literal["session", "project", "workspace"] | None
    """The scope that a configuration given with the acquire counts as; that of ``project`` and
    ``workspace`` needs approval. By default session."""
    log_level: Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] | None
    """The least level of this server's log messages that the session hears, until another acquire
    names another level. By default the session's."""


class DrainOptions(TypedDict, total=False):
    """Options of ``drain_all``, ``close`` and ``aclose``."""

    force: bool | None
    """Whether calls are interrupted at once. By default False."""
    timeout: float | None
    """When what is left is killed. By default the pool's ``close_timeout``."""


class SignInOptions(TypedDict, total=False):
    """Options of ``sign_in``."""

    redirect_uri: str | None
    """Where the authorization server sends the person back to; one of the two is required. By
    default the server's ``oauth.redirect_uri``."""
    client_metadata_url: str | None
    """The address of the document that says who the client is, where the authorization server takes
    one. By default none."""
    client_name: str | None
    """The name by which the client is registered. By default trunkline."""


class GatesOptions(TypedDict, total=False):
    """Options of ``set_gates``; what is absent is not kept."""

    allowed: Names | None
    """Patterns of the servers that may run (``*`` any characters, ``?`` one); ``[]`` is none. By
    default everything."""
    excluded: Names | None
    """Patterns of the servers that may not run, whatever else admits them. By default []."""
    pending: Names | None
    """Patterns of the servers that wait for approval. By default []."""


class LoadOptions(TypedDict, total=False):
    """Options of ``load``."""

    watch: bool | None
    """Whether the file is read again when it changes, comes or goes. By default False."""
    source: Literal["extension", "user", "project", "workspace", "managed", "session", "launch"] | None
    """The scope of the source; a file inside of the workspace may only be of ``project``,
    ``workspace`` or ``launch``. By default by the place of the file."""
    format: Literal["trunkline", "claude-code", "claude-desktop", "vscode", "cursor", "windsurf", "codex", "gemini", "qwen", "cline", "roo", "kiro", "copilot-cli", "opencode", "zed", "goose", "continue", "fastmcp", "mcporter", "mcp-hub", "mcpproxy"] | None
    """The product whose rules the file follows: a word of docs/reference/settings.md. By default by
    name and content."""


class ReloadOptions(TypedDict, total=False):
    """Options of ``reload``."""

    reconnect: Literal["all"] | Names | None
    """The servers whose connections are made anew, all or these. By default []."""


class StatusOptions(TypedDict, total=False):
    """Options of ``status`` and ``metrics``."""

    processes: bool | None
    """Whether memory and processor time of the servers' processes are looked up, for which the
    table of all processes is read; on Linux alone. By default False."""
