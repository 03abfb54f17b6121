"""The reports and the status, a class for each. Each is a ``dict`` as well, with the JSON that every language has.

A member that is absent is None as an attribute. Times are seconds as attributes; the dict has them as ``..._ms``. An attribute
whose name is a word of Python ends with ``_``. Members may be added in later versions.
"""

from __future__ import annotations

from ._records import Record, record
from ._status import AuthNeed as AuthNeed
from ._status import BudgetStatus as BudgetStatus
from ._status import EntryStatus as EntryStatus
from ._status import ErrorCount as ErrorCount
from ._status import ListCounts as ListCounts
from ._status import QuarantinedTool as QuarantinedTool
from ._status import ServerStatus as ServerStatus
from ._status import ServerUsage as ServerUsage
from ._status import SessionUsage as SessionUsage
from ._status import SkippedItem as SkippedItem
from ._status import Status as Status
from ._status import Totals as Totals
from ._status import UnlistedList as UnlistedList

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    _Approval = Literal["not_required", "pending", "approved", "rejected"]


def report(name: str, value: Any) -> Any:
    """The JSON object as one of the class with that name."""
    return record(globals()[name], value)


class ErrorReport(Record):
    """An error inside a report, as ``TrunklineError`` has it."""

    code: str
    number: int
    message: str
    retryable: bool
    server: str | None
    session: str | None
    outcome: Literal["not_sent", "unknown"] | None
    hint: str | None
    cause: ErrorReport | None
    detail: dict[str, Any]


class Origin(Record):
    """Where an entry of settings stands."""

    source: str
    file: str | None
    line: int | None


class ServerReport(Record):
    """What became of one server. ``action`` says what was done."""

    action: str
    source: str | None
    reason: str | None
    error: ErrorReport | None


class UnknownMember(Record):
    """A member of a server's configuration that no rule knows. It has no effect."""

    kind: str
    server: str
    path: str
    nearest: str | None


class ReconcileReport(Record):
    """What a ``reconcile`` did."""

    v: int
    servers: dict[str, ServerReport]
    findings: list[UnknownMember] | None


class GateRow(Record):
    """Whether one server may run now."""

    admitted: bool
    reason: str | None


class GateReport(Record):
    """The servers about which ``set_gates`` changed something."""

    v: int
    servers: dict[str, GateRow]


class Finding(Record):
    """A place of settings that has no effect, or that is read otherwise than it is written."""

    kind: str
    path: str
    line: int
    column: int
    server: str | None
    what: str | None
    source: str | None


class SourceReport(Record):
    """What a change of sources, trust or decisions did."""

    v: int
    source: str | None
    servers: dict[str, ServerReport]
    findings: list[Finding] | None


class UnreadSource(Record):
    """A file that cannot be read."""

    source: str
    error: ErrorReport


class RestartRow(Record):
    """What became of one entry. ``duration`` is there when it was restarted, else ``reason``."""

    entry_index: int | None
    restarted: bool
    duration: float | None
    reason: str | None
    error: ErrorReport | None


class RestartReport(Record):
    """What a ``restart`` did."""

    v: int
    entries: list[RestartRow]


class ReloadReport(SourceReport):
    """What a ``reload`` did, and the files that cannot be read."""

    errors: list[UnreadSource]
    reconnected: dict[str, list[RestartRow]] | None


class RuntimeReport(Record):
    """What ``add_server`` or ``remove_server`` did."""

    v: int
    server: str
    result: Literal["added", "replaced", "unchanged", "refused", "removed", "not_present"]
    reason: str | None
    findings: list[UnknownMember] | None


class ForgetReport(SourceReport):
    """What a ``forget`` did; ``forgotten`` counts the decisions."""

    forgotten: int


class ApprovalRequest(Record):
    """A server that waits for approval. Show people ``escaped``, never ``exact``: ``docs/guide/approvals.md``."""

    server: str
    hash: str
    origin: dict[str, Any]
    transport: str
    exact: dict[str, Any]
    escaped: dict[str, Any]
    env: list[str]
    unset_env: list[str]
    inherit_env: list[str]
    env_file: str | None
    headers: list[str]
    takes: list[dict[str, Any]]
    oauth: dict[str, Any] | None
    inputs: list[dict[str, Any]]
    hides: Origin | None
    replaced: dict[str, Any] | None
    risks: list[dict[str, Any]]
    changes: dict[str, Any] | None


class Decision(Record):
    """A decision about a server. ``at`` is in seconds since 1970."""

    server: str
    hash: str
    decision: Literal["approved", "rejected"]
    at: float


class Approvals(Record):
    """The requests that wait for approval, and the decisions for this workspace."""

    v: int
    root: str
    requests: list[ApprovalRequest]
    decisions: list[Decision]


class SettledServer(Record):
    """How one server stands that a source names."""

    state: Literal["ready", "failed", "refused", "waiting", "off"]
    source: str
    file: str | None
    reason: str | None
    error: ErrorReport | None


class SettledReport(Record):
    """How every server stands that a source names."""

    v: int
    servers: dict[str, SettledServer]


class StartedServer(Record):
    """How one server stands that a session wants. ``deferred`` counts the kept tools that are listed."""

    state: Literal["ready", "failed", "waiting", "asleep"]
    deferred: int | None
    error: ErrorReport | None


class StartedReport(Record):
    """How every server stands that a session wants."""

    v: int
    servers: dict[str, StartedServer]


class Deciding(Record):
    """The place of settings that decides."""

    source: str
    file: str | None
    line: int | None
    list: str | None


class WaitingEntry(Origin):
    """An entry that would take a server's place, and may not run."""

    reason: str
    approval_state: _Approval


class Explanation(Record):
    """Why a server or a tool is there, or is not, and what helps."""

    v: int
    name: str
    kind: Literal["server", "tool"]
    server: str | None
    available: bool
    reason: str | None
    message: str
    from_: Deciding | None
    waiting: list[WaitingEntry] | None
    hides: Origin | None
    remedy: str | None
    unmatched: list[dict[str, Any]] | None
    shapes: dict[str, Any] | None
    left_out: list[dict[str, Any]] | None


class DrainError(Record):
    """What went wrong at the end of one entry."""

    server: str | None
    entry_index: int | None
    error: ErrorReport


class DrainReport(Record):
    """What a drain did."""

    v: int
    drained: int
    forced: int
    errors: list[DrainError]


class SignInReport(Record):
    """The address that a person has to visit, and for how many seconds."""

    v: int
    server: str
    url: str
    expires_in: float


class FinishSignInReport(Record):
    """The end of a sign-in. ``stored`` says whether a file of tokens has it."""

    v: int
    server: str
    stored: bool | None
    error: ErrorReport | None


class SignOutReport(Record):
    """Whether there was something to forget."""

    v: int
    server: str
    signed_out: bool


class Introduction(Record):
    """What a server said of itself: unverified, in the protocol's spelling, without the secrets that it has of the host."""

    protocol_version: str
    server_info: dict[str, Any]
    capabilities: dict[str, Any]
    instructions: str | None


class ToolDifference(Record):
    """What is different about a tool that is kept back: digests, and excerpts of its members."""

    from_: str | None
    to: str
    fields: dict[str, Any] | None


class RefusedServer(Record):
    """A server that the budget or a limit refused."""

    server: str
    transport: str
    reason: str
    age: float | None


class DetectedFile(Record):
    """A settings file of a product."""

    path: str
    format: str
    scope: Literal["user", "project", "workspace", "managed"]


class DetectedFiles(Record):
    """The settings files that exist."""

    v: int
    files: list[DetectedFile]


class Snapshot(Record):
    """What a stream of events continues."""

    v: int
    seq: int
    status: Status
