"""A class for each kind of event. Written from core/pool/src/interface; do not edit.

``isinstance(event, ToolsChanged)`` tells a kind, and so does ``event.kind == "tools_changed"``; type checkers know its
members from there on. A member that is absent is None. Times are seconds; the mapping has them as ``..._ms``.
"""

from __future__ import annotations

from ._results import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from .reports import ApprovalRequest, ErrorReport, Finding, RefusedServer, ServerReport, ToolDifference


class StatusChanged(Event):
    """An entry changed its visible state; ``from`` is absent for a new one."""

    __slots__ = ()
    from_: Literal["spawning", "active", "draining", "reconnecting", "auth_required", "failed", "closed"] | None
    to: Literal["spawning", "active", "draining", "reconnecting", "auth_required", "failed", "closed"]
    reason: Literal["acquire", "connected", "connect_failed", "held", "released", "drain_delay", "idle_cap", "unwanted", "lost", "attempts_used_up", "crash_loop", "unstable", "credentials", "auth_required", "restart", "superseded", "drain_all", "gate", "budget_exhausted", "limit"]

    if TYPE_CHECKING:

        @property
        def type(self) -> Literal["status_changed"]: ...

        @property
        def kind(self) -> Literal["status_changed"]: ...


class ToolsChanged(Event):
    """Tools of the session's view came, went or changed; what the session gives up itself, by the
    release of a lease, is not told."""

    __slots__ = ()
    added: list[str]
    removed: list[str]
    changed: list[str]
    revision: int

    if TYPE_CHECKING:

        @property
        def type(self) -> Literal["tools_changed"]: ...

        @property
        def kind(self) -> Literal["tools_changed"]: ...


class PromptsChanged(Event):
    """Prompts of the session's view came, went or changed."""

    __slots__ = ()
    added: list[str]
    removed: list[str]
    changed: list[str]
    revision: int

    if TYPE_CHECKING:

        @property
        def type(self) -> Literal["prompts_changed"]: ...

        @property
        def kind(self) -> Literal["prompts_changed"]: ...


class ResourcesChanged(Event):
    """Resources or resource templates came, went or changed."""

    __slots__ = ()
    added: list[str]
    removed: list[str]
    changed: list[str]
    revision: int

    if TYPE_CHECKING:

        @property
        def type(self) -> Literal["resources_changed"]: ...

        @property
        def kind(self) -> Literal["resources_changed"]: ...


class ResourceUpdated(Event):
    """A resource that the session subscribed to was updated; of a modern server also a part of it,
    by the ``uri`` of the whole."""

    __slots__ = ()
    uri: str

    if TYPE_CHECKING:

        @property
        def type(self) -> Literal["resource_updated"]: ...

        @property
        def kind(self) -> Literal["resource_updated"]: ...


class Disconnected(Event):
    """A held connection was lost; ``error`` says by what, such as the exit status of its process,
    where the pool did not end it."""

    __slots__ = ()
    reason: Literal["transport_closed", "transport_error", "keepalive", "session_lost", "restart", "gate", "config", "shutdown"]
    error: ErrorReport | None

    if TYPE_CHECKING:

        @property
        def type(self) -> Literal["disconnected"]: ...

        @property
        def kind(self) -> Literal["disconnected"]: ...


class Reconnected(Event):
    """A held connection is back."""

    __slots__ = ()
    attempts: int
    downtime: float

    if TYPE_CHECKING:

        @property
        def type(self) -> Literal["reconnected"]: ...

        @property
        def kind(self) -> Literal["reconnected"]: ...


class Failed(Event):
    """A held connection is gone until somebody asks for it."""

    __slots__ = ()
    error: ErrorReport

    if TYPE_CHECKING:

        @property
        def type(self) -> Literal["failed"]: ...

        @property
        def kind(self) -> Literal["failed"]: ...


class Progress(Event):
    """Progress of a call that asked for it."""

    __slots__ = ()
    call: int
    progress: float
    total: float | None
    message: str | None

    if TYPE_CHECKING:

        @property
        def type(self) -> Literal["progress"]: ...

        @property
        def kind(self) -> Literal["progress"]: ...


class Log(Event):
    """A log message of a server."""

    __slots__ = ()
    level: str
    logger: str | None
    data: Any

    if TYPE_CHECKING:

        @property
        def type(self) -> Literal["log"]: ...

        @property
        def kind(self) -> Literal["log"]: ...


class Stderr(Event):
    """A line that a server wrote to its stderr, escaped."""

    __slots__ = ()
    line: str

    if TYPE_CHECKING:

        @property
        def type(self) -> Literal["stderr"]: ...

        @property
        def kind(self) -> Literal["stderr"]: ...


class ApprovalNeeded(Event):
    """Which servers wait for approval, whenever that set changed."""

    __slots__ = ()
    requests: list[ApprovalRequest]

    if TYPE_CHECKING:

        @property
        def type(self) -> Literal["approval_needed"]: ...

        @property
        def kind(self) -> Literal["approval_needed"]: ...


class AuthRequired(Event):
    """A server wants credentials."""

    __slots__ = ()
    url: str | None
    missing: Literal["token", "scope", "permission"] | None
    resource_metadata: str | None

    if TYPE_CHECKING:

        @property
        def type(self) -> Literal["auth_required"]: ...

        @property
        def kind(self) -> Literal["auth_required"]: ...


class BudgetWarning(Event):
    """The budget of servers is nearly used up; told to every session."""

    __slots__ = ()
    live: int
    reserved: int
    budget: int
    ratio: float
    mode: Literal["off", "warn", "enforce"]

    if TYPE_CHECKING:

        @property
        def type(self) -> Literal["budget_warning"]: ...

        @property
        def kind(self) -> Literal["budget_warning"]: ...


class RefusedBatch(Event):
    """Servers that one pass refused; told to every session."""

    __slots__ = ()
    mode: Literal["off", "warn", "enforce"]
    budget: int
    live: int
    reserved: int
    refused: list[RefusedServer]

    if TYPE_CHECKING:

        @property
        def type(self) -> Literal["refused_batch"]: ...

        @property
        def kind(self) -> Literal["refused_batch"]: ...


class SourceChanged(Event):
    """A source of configuration changed; one that is not accepted keeps its last good state;
    ``findings`` says what of it has no effect, if anything."""

    __slots__ = ()
    source: str
    accepted: bool
    findings: list[Finding] | None

    if TYPE_CHECKING:

        @property
        def type(self) -> Literal["source_changed"]: ...

        @property
        def kind(self) -> Literal["source_changed"]: ...


class SourceError(Event):
    """A source of configuration cannot be read; its last good state stays."""

    __slots__ = ()
    source: str
    path: str | None
    line: int | None
    message: str

    if TYPE_CHECKING:

        @property
        def type(self) -> Literal["source_error"]: ...

        @property
        def kind(self) -> Literal["source_error"]: ...


class Reconciled(Event):
    """A reconcile that changed something ended; per server what happened and why."""

    __slots__ = ()
    servers: dict[str, ServerReport]

    if TYPE_CHECKING:

        @property
        def type(self) -> Literal["reconciled"]: ...

        @property
        def kind(self) -> Literal["reconciled"]: ...


class ToolQuarantined(Event):
    """A changed tool waits to be accepted."""

    __slots__ = ()
    tool: str
    difference: ToolDifference

    if TYPE_CHECKING:

        @property
        def type(self) -> Literal["tool_quarantined"]: ...

        @property
        def kind(self) -> Literal["tool_quarantined"]: ...


class ServerReady(Event):
    """A server of the session became ready; ``left`` names those still under way."""

    __slots__ = ()
    left: list[str]

    if TYPE_CHECKING:

        @property
        def type(self) -> Literal["server_ready"]: ...

        @property
        def kind(self) -> Literal["server_ready"]: ...


class Warning(Event):
    """A fact that the operator should know."""

    __slots__ = ()
    code: Literal["request_declined", "roots_not_shared", "approvals", "polled", "cache", "tokens", "list_failed", "nothing_listed", "token_type", "subscription", "exit", "filter"]
    message: str

    if TYPE_CHECKING:

        @property
        def type(self) -> Literal["warning"]: ...

        @property
        def kind(self) -> Literal["warning"]: ...


class ElicitationCompleted(Event):
    """A server says that what it asked the session to have opened, by ``elicitation_url`` or in an
    error, is over; a call that waits for it can be repeated."""

    __slots__ = ()
    elicitation_id: str

    if TYPE_CHECKING:

        @property
        def type(self) -> Literal["elicitation_completed"]: ...

        @property
        def kind(self) -> Literal["elicitation_completed"]: ...


class Lagged(Event):
    """The subscriber was too slow for as many events, or for as long ones, and so many were
    dropped."""

    __slots__ = ()
    missed: int

    if TYPE_CHECKING:

        @property
        def type(self) -> Literal["lagged"]: ...

        @property
        def kind(self) -> Literal["lagged"]: ...


#: Any event.
AnyEvent = (
    StatusChanged
    | ToolsChanged
    | PromptsChanged
    | ResourcesChanged
    | ResourceUpdated
    | Disconnected
    | Reconnected
    | Failed
    | Progress
    | Log
    | Stderr
    | ApprovalNeeded
    | AuthRequired
    | BudgetWarning
    | RefusedBatch
    | SourceChanged
    | SourceError
    | Reconciled
    | ToolQuarantined
    | ServerReady
    | Warning
    | ElicitationCompleted
    | Lagged
)

#: The class of each kind.
KINDS: dict[str, type[Event]] = {
    "status_changed": StatusChanged,
    "tools_changed": ToolsChanged,
    "prompts_changed": PromptsChanged,
    "resources_changed": ResourcesChanged,
    "resource_updated": ResourceUpdated,
    "disconnected": Disconnected,
    "reconnected": Reconnected,
    "failed": Failed,
    "progress": Progress,
    "log": Log,
    "stderr": Stderr,
    "approval_needed": ApprovalNeeded,
    "auth_required": AuthRequired,
    "budget_warning": BudgetWarning,
    "refused_batch": RefusedBatch,
    "source_changed": SourceChanged,
    "source_error": SourceError,
    "reconciled": Reconciled,
    "tool_quarantined": ToolQuarantined,
    "server_ready": ServerReady,
    "warning": Warning,
    "elicitation_completed": ElicitationCompleted,
    "lagged": Lagged,
}
