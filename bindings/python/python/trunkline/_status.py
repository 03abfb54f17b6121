"""The status of a pool, a class for each of its objects: ``docs/guide/status.md`` has the meaning of each member."""

from __future__ import annotations

from ._records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from .reports import ErrorReport, Origin, RefusedServer, ToolDifference, WaitingEntry

    _Approval = Literal["not_required", "pending", "approved", "rejected"]
    _EntryState = Literal["spawning", "active", "draining", "reconnecting", "auth_required", "failed", "closed"]
    _Scope = Literal["user", "project", "workspace", "managed", "session", "launch", "extension", "runtime"]


class Totals(Record):
    """Counts of a pool."""

    servers: int
    connected: int
    connecting: int
    failed: int
    skipped: int
    entries: int
    sessions: int
    sessions_kept: int


class BudgetStatus(Record):
    """The budget, and what of it is taken."""

    limit: int | None
    mode: Literal["off", "warn", "enforce"]
    live: int
    reserved: int


class ErrorCount(Record):
    """How many calls ended with an error of that code."""

    code: str
    count: int


class SessionUsage(Record):
    """The calls of one open session."""

    session: str
    calls: int
    in_flight: int
    errors: list[ErrorCount]
    bytes_sent: int
    bytes_received: int


class ServerUsage(Record):
    """The calls of one server since the pool began."""

    errors: list[ErrorCount]
    bytes_sent: int
    bytes_received: int
    durations: list[dict[str, Any]]


class ListCounts(Record):
    """How much a server listed."""

    tools: int
    prompts: int
    resources: int
    resource_templates: int
    skipped: int
    quarantined: int


class QuarantinedTool(Record):
    """A tool that is kept back because it changed."""

    tool: str
    difference: ToolDifference


class SkippedItem(Record):
    """An item of a list that had to be left out."""

    list: str
    name: str | None
    reason: str


class UnlistedList(Record):
    """A list that could not be read."""

    list: str
    error: ErrorReport


class AuthNeed(Record):
    """What a server wants of a person or of the host."""

    missing: Literal["token", "scope", "permission"] | None
    url: str | None
    scope: str | None
    resource_metadata: str | None


class EntryStatus(Record):
    """One connection of a server."""

    entry_index: int
    refs: int
    state: _EntryState
    generation: int
    uptime: float | None
    calls: int
    errors: int
    in_flight: int
    losses: int
    pid: int | None
    era: str | None
    protocol_version: str | None
    server_name: str | None
    server_version: str | None
    server_info: dict[str, Any] | None
    capabilities: dict[str, Any] | None
    instructions: str | None
    unlisted: list[UnlistedList] | None
    noise: list[str] | None
    ignored: dict[str, int] | None
    stderr: list[str] | None


class ServerStatus(Record):
    """One server of a pool: ``docs/guide/status.md`` has the meaning of each member."""

    configured: bool
    admitted: bool
    reason: str | None
    state: Literal["connected", "connecting", "disconnected"]
    scope: Literal["workspace", "session"]
    origin: _Scope
    source: str | None
    file: str | None
    line: int | None
    transport: str | None
    era: str | None
    approval_state: _Approval
    waiting: list[WaitingEntry]
    hides: Origin | None
    content: Literal["not_pinned"] | None
    auth_required: bool
    auth_need: AuthNeed | None
    disabled_by: list[str]
    pid_count: int
    entry_count: int
    memory_bytes: int | None
    cpu: float | None
    counts: ListCounts
    skipped: list[SkippedItem]
    quarantined: list[QuarantinedTool]
    usage: ServerUsage | None
    error_code: str | None
    last_error: ErrorReport | None
    hint: str | None
    entries: list[EntryStatus]


class Status(Record):
    """The whole pool. In a forked child it has ``v`` and ``error`` alone."""

    v: int
    initialized: bool
    scope: str
    discovery: Literal["not_started", "in_progress", "completed"]
    closing: bool
    totals: Totals
    processes: int
    supervision: str
    budget: BudgetStatus
    refusals: list[RefusedServer]
    sessions: list[str]
    usage: list[SessionUsage]
    servers: dict[str, ServerStatus]
    error: ErrorReport | None
