"""The blocking API: the same names as the asyncio one, for threads.

Waiting releases the GIL and answers Ctrl-C, which cancels the operation.
"""

from __future__ import annotations

import threading
import time
from os import fspath

from . import _trunkline
from ._errors import TimeoutError, leaving, told
from ._options import arguments_text, config_text, encode, mask, milliseconds, roots_text
from ._results import CallResult, CompletionResult, PromptResult, ResourceResult, Result, event_of
from ._shared import EVENT_BATCH, LeaseBase, PoolBase, SessionBase, report
from ._waits import CancelScope, block, block_call, carry_out, scopes_here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from os import PathLike
    from typing import Any, TypeVar

    from typing_extensions import Unpack

    from .events import AnyEvent
    from .reports import (
        Approvals,
        DrainReport,
        FinishSignInReport,
        ForgetReport,
        ReconcileReport,
        ReloadReport,
        RestartReport,
        SettledReport,
        SignInReport,
        SignOutReport,
        Snapshot,
        SourceReport,
        StartedReport,
    )
    from .types import (
        AcquireOptions,
        CallOptions,
        DrainOptions,
        EventKind,
        LoadOptions,
        ReloadOptions,
        SessionOptions,
        SignInOptions,
    )

    _R = TypeVar("_R", bound=Result)

__all__ = ["CancelScope", "EventStream", "Lease", "Pool", "Session"]


class Pool(PoolBase):
    """The connections of one workspace, shared by its sessions.

    The constructor takes the pool's options by name and returns at once. Close it with ``with`` or ``close()``; a
    pool that is forgotten is closed in the background, and at the interpreter's exit.

    ``handlers`` are functions of a ``ServerRequest`` that answer what servers ask of sessions without a handler of their own, by
    name: ``sampling``, ``sampling_tools``, ``elicitation``, ``elicitation_url``. An answer is the result as a dict; ``Refusal`` is
    raised for an error. Each request has a thread of its own, so a handler may block. ``logging`` is a function of each ``log`` event; all
    have one thread, which is not one of the requests'. Coroutine functions are refused.
    ``credentials`` gives the token of a remote server that refuses what it was sent: as a ``str``, as
    ``{"token": ..., "expires_in": seconds}``, or None for none. ``inputs`` and ``secrets`` give the text that settings ask for, or
    None for none; ``entries`` what becomes of an entry of settings: None to keep it, ``{"drop": True}`` or
    ``{"configuration": {...}}``.
    """

    _on_loop = False

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *exception: object) -> None:
        with leaving(exception):
            self.close()

    def close(self, **options: Unpack[DrainOptions]) -> None:
        """Drains, then ends every stream of events.

        With ``force``, calls under way are interrupted at once. Otherwise they may finish for ``timeout`` seconds, or the pool's
        ``close_timeout``. A second close waits for the first, and hurries it. To cancel it ends the wait alone: the close goes on.
        """
        given = encode("drain", options)
        try:
            # It begins whatever is cancelled.
            carry_out(scopes_here(), None, self._native.close, given)
        except BaseException:
            self._close_unwatched()
            raise
        self._closed()

    def session(self, id: str, **options: Unpack[SessionOptions]) -> Session:
        """Opens a session. Returns at once; the servers that it wants start in the background."""
        return Session(self, id, options)

    # <operations pool> Written from core/pool/src/interface/operations; do not edit.
    def acquire(
        self, server: str, config: Mapping[str, Any] | str, *, session: str, **options: Unpack[AcquireOptions]
    ) -> Lease:
        """A lease on a server by its configuration, for a session by its id. It opens the session if
        need be, puts the server into the session's own source, and waits until it is connected.

        ``config``: what the settings of one server have (``{"command": ...}``). ``session``: its
        id. Options: ``timeout``, ``origin`` and ``log_level``, as ``docs/reference/options.md`` has
        them; times are in seconds. Gives the lease; ``Lease.release`` gives it up.

        Errors: those of ``Session.acquire``.
        """
        return Lease(self, block(self._native.acquire, server, config_text(config), session, encode("acquire", options)))

    def restart(self, server: str, index: int | None = None) -> RestartReport:
        """Replaces the connections of a server's entries, or of one of them, and waits for the new
        ones.

        ``index``: of the one entry; all of the server's without one. Gives a report with
        ``{entry_index, restarted, duration_ms | reason}`` for each entry; the reason is
        ``in_flight``, ``disabled``, ``auth_required``, ``not_admitted``, ``budget_would_exceed``,
        ``superseded`` (the server is configured otherwise now, or no more), ``failed`` or
        ``closing``.
        """
        report: RestartReport = _reported("RestartReport", self._native.restart, server, index)
        return report

    def accept_tool(self, server: str, tool: str, digest: str) -> None:
        """Accepts the definition of a tool that is kept back. From then on it is listed and can be
        called in every session, and, of a server that needed approval, in later processes.
        Accepting again does nothing.

        ``tool``: the server's own name. ``digest``: ``difference.to`` of the ``tool_quarantined``
        event, or of the status, so that what is accepted is what was shown.

        Errors: ``stale_approval`` when the tool has changed again since, ``tool_not_found`` when
        the server lists no tool of that name now, ``invalid_argument`` (also for a server that the
        pool never saw).
        """
        block(self._native.accept_tool, server, tool, digest)

    def set_roots(self, roots: Sequence[str | PathLike[str]]) -> None:
        """Replaces the folders that servers are told of, and waits until they are looked at. Servers
        that can be told are told so, and the lists of every connection are asked for again, in the
        background. Folders that are equal to those before do nothing. Changes are made in the order
        of the calls. A file system that does not answer delays this change and later ones, and
        nothing else. A cancellation takes no begun change back.

        ``roots``: absolute, or relative to the workspace, as the option ``roots`` of the pool.

        Errors: ``invalid_argument`` (with ``detail.path``, ``roots[0]``) for one that is not a
        folder, with nothing changed.
        """
        block(self._native.set_roots, roots_text(roots))

    def drain_all(self, **options: Unpack[DrainOptions]) -> DrainReport:
        """Ends every connection, one-way: later acquires, reconciles and restarts are refused as
        ``closing``. With ``force``, calls under way are interrupted at once; otherwise they may
        finish until the time is over. A cancellation ends the wait alone: the drain goes on.

        Options: ``force`` and ``timeout``, as ``docs/reference/options.md`` has them; times are in
        seconds. Gives the report, ``{v, drained, forced, errors: [{server, entry_index, error}]}``.
        """
        report: DrainReport = _reported("DrainReport", self._native.drain_all, encode("drain", options))
        return report

    def reconcile(self, servers: Mapping[str, Any] | str) -> ReconcileReport:
        """Makes these servers the pool's run-time source, and waits until that is done. New servers
        start in the sessions that want them; removed ones are released; equal ones stay untouched.
        A cancellation takes no begun change back.

        ``servers``: with or without a ``mcpServers`` around them. Gives the report, ``{v, servers:
        {name: {action, error?}}, findings?}``, with the members that no rule knows as ``[{kind,
        server, path, nearest?}]``.

        Errors: ``invalid_config`` when it is not an object of servers (a server that is wrong
        spoils itself alone, in the report).
        """
        report: ReconcileReport = _reported("ReconcileReport", self._native.reconcile, config_text(servers, "servers"))
        return report

    def load(self, path: str | PathLike[str], **options: Unpack[LoadOptions]) -> SourceReport:
        """Reads a settings file into the source that its place implies, and waits until that is done.
        Inside of the workspace that is ``workspace``, or ``project`` for its ``.mcp.json``;
        outside, what the file is known as (``detect``), else ``user``. Servers of the project and
        the workspace wait for approval (``Pool.approve``). A cancellation takes no begun work back.

        ``path``: absolute, or relative to the process's folder. Options: ``watch``, ``source`` and
        ``format``, as ``docs/reference/options.md`` has them. Gives the report, ``{v, source,
        servers: {name: {action, source?, reason?, error?}}, findings}``. ``findings`` says what of
        the text is without effect: ``[{kind, path, line, column, server?, what?}]``.

        Errors: ``invalid_config`` (with ``detail.source``, and ``detail.line`` where the text does
        not parse) when the file cannot be read, with nothing changed.
        """
        report: SourceReport = _reported("SourceReport", self._native.load, fspath(path), encode("load", options))
        return report

    def set_trusted(self, trusted: bool) -> SourceReport:
        """Sets whether the workspace is trusted. A server that loses its trust ends at once; one that
        has it again starts or waits for approval. Files that were not read without trust are read
        first. Of several calls the last one made holds, no matter how long their files take. A
        cancellation takes no begun work back.

        Gives the report of ``Pool.approve``.
        """
        report: SourceReport = _reported("SourceReport", self._native.set_trusted, trusted)
        return report

    def reload(self, **options: Unpack[ReloadOptions]) -> ReloadReport:
        """Reads every loaded file again, and waits until that is done. It looks up anew variables,
        programs, decisions about servers, and questions without an answer. A file that cannot be
        read keeps what it had. Files of sources that need trust are not read in a workspace that is
        not trusted. The event ``reconciled`` that follows says what became of a ``waiting`` server.
        A cancellation takes no begun work back.

        Options: ``reconnect``, as ``docs/reference/options.md`` has it. Gives ``{v, servers,
        errors: [{source, error}], findings, reconnected?}``. ``findings`` are those of every file
        that was read, as of ``Pool.load``, each with its ``source``. ``reconnected`` is there when
        that was asked for: by server the rows of ``Pool.restart``, or one with an ``error`` where
        it could not be begun.
        """
        report: ReloadReport = _reported("ReloadReport", self._native.reload, encode("reload", options))
        return report

    def approvals(self) -> Approvals:
        """Lists what waits for approval and what was decided for this workspace. It reads and follows
        decisions that another process took meanwhile.

        Gives ``{v, root, requests, decisions: [{server, hash, decision, at_ms}]}``. A request says
        what would run, with ``server`` and ``hash``. Show ``escaped`` to decision makers, as it is;
        ``exact`` and the file of ``origin`` hold what the settings hold, control characters and
        all, and are not for a terminal.

        Errors: ``store`` when the decisions cannot be read.
        """
        report: Approvals = _reported("Approvals", self._native.approvals)
        return report

    def approve(self, server: str, hash: str) -> SourceReport:
        """Approves the configuration whose request with that hash was shown. Once the decision is
        kept, the server starts in the sessions that want it. A rejection by another host that this
        one did not see stays in force, and the report says so. A cancellation takes no begun work
        back.

        ``hash``: of the request, so that what is decided is what was shown. Gives the report, ``{v,
        servers: {name: {action, source?, reason?, error?}}}``.

        Errors: ``stale_approval`` when the configuration is another by now, ``store`` when it
        cannot be kept, and is not in force then, ``invalid_argument`` (also for a server that needs
        no approval, or a text that is no hash).
        """
        report: SourceReport = _reported("SourceReport", self._native.approve, server, hash)
        return report

    def reject(self, server: str, hash: str) -> SourceReport:
        """Rejects the configuration with that hash: a running server ends, and nobody is asked about
        it again. A cancellation takes no begun work back.

        ``hash``: of the request, so that what is decided is what was shown. Gives the report of
        ``Pool.approve``.

        Errors: those of ``Pool.approve``.
        """
        report: SourceReport = _reported("SourceReport", self._native.reject, server, hash)
        return report

    def forget(self, server: str) -> ForgetReport:
        """Forgets every decision about a server of this workspace, so that it waits for approval
        again. A cancellation takes no begun work back.

        Gives ``{v, forgotten, servers}``; ``forgotten`` counts the decisions.

        Errors: ``store`` when that cannot be kept.
        """
        report: ForgetReport = _reported("ForgetReport", self._native.forget, server)
        return report

    def settled(self, *, timeout: float | None = None) -> SettledReport:
        """Waits until nothing that configuration caused is under way: no question to the host, no
        connect. Says how every server stands that a source names.

        ``timeout``: by default as long as it takes: handlers have their time, connects theirs from
        their turn on, and a file system that does not answer none. Gives ``{v, servers: {name:
        {state, source, reason?, error?, file?}}}`` with the state ``ready``, ``failed``,
        ``refused``, ``waiting`` or ``off``.

        Errors: ``timeout`` (with ``detail.servers``).
        """
        report: SettledReport = _reported("SettledReport", self._native.settled, None if timeout is None else milliseconds(timeout, "timeout"))
        return report

    def sign_in(self, server: str, **options: Unpack[SignInOptions]) -> SignInReport:
        """Begins to sign in to a remote server, and waits for the address that a person has to visit.
        What they are redirected to goes to ``Pool.finish_sign_in``. A sign-in to the same server
        that is under way is over with it. The library opens no browser and listens on no port. What
        the server's own ``oauth`` says goes before the options.

        Options: ``redirect_uri``, ``client_metadata_url`` and ``client_name``, as
        ``docs/reference/options.md`` has them. Gives ``{v, server, url, expires_in_ms}``.

        Errors: ``protocol`` when the server or an authorization server breaks a rule
        (``detail.refused``), ``auth_required`` when there is nothing to sign in to,
        ``invalid_argument`` (also for a server that the pool does not know, or without a redirect).
        """
        report: SignInReport = _reported("SignInReport", self._native.sign_in, server, encode("sign_in", options))
        return report

    def finish_sign_in(self, redirect_url: str) -> FinishSignInReport:
        """Ends a sign-in with the whole address that the person was redirected to, and waits for the
        token. The server is then connected to for those who hold or want it.

        Gives ``{v, server}``, and with a file of ``tokens`` ``stored`` and, where that is false,
        ``error``.

        Errors: ``protocol`` (``detail.refused``), ``auth_required`` when the person or the
        authorization server refused, ``invalid_argument`` (also when it belongs to no sign-in that
        is under way).
        """
        report: FinishSignInReport = _reported("FinishSignInReport", self._native.finish_sign_in, redirect_url)
        return report

    def sign_out(self, server: str) -> SignOutReport:
        """Forgets what was signed in for a server, and a sign-in that is under way.

        Gives ``{v, server, signed_out}``.

        Errors: ``store`` when it is forgotten here and still in the file of ``tokens``,
        ``invalid_argument`` (also for a server that the pool does not know).
        """
        report: SignOutReport = _reported("SignOutReport", self._native.sign_out, server)
        return report
    # </operations pool>

    def events(self, *, kinds: EventKind | Iterable[EventKind] | None = None) -> EventStream:
        """Events of the pool and its sessions, from now on; ``kinds`` are their types, all by default."""
        return EventStream(self, self._native.subscribe(mask(kinds)))


def _reported(name: str, start: Callable[..., _trunkline.Operation], *args: Any) -> Any:
    return report(name, block(start, *args))


def _called(
    kind: type[_R],
    start: Callable[..., _trunkline.Operation],
    options: CallOptions,
    held: list[str],
    *named: str,
) -> _R:
    """A call whose last argument is what is held: nothing holds it once it ends, for the traceback of an error keeps all frames."""
    return kind(block_call(start, options, *named, held.pop()))


class Session(SessionBase):
    """One conversation: its holds on servers, and its view of their tools. It may have ``handlers`` of its own."""

    _on_loop = False

    def __enter__(self) -> Session:
        try:
            self.started()
        except BaseException:  # Nobody has it who could close it.
            self.close()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        with leaving(exception):
            self.close()

    # <operations session> Written from core/pool/src/interface/operations; do not edit.
    def acquire(
        self, server: str, config: Mapping[str, Any] | str | None = None, **options: Unpack[AcquireOptions]
    ) -> Lease:
        """An explicit lease on a server, once it is connected. Every acquire gives a lease of its own.

        ``config``: none for a server that the pool knows; otherwise what the settings of one server
        have, which is first put into the session's own source. Options: ``timeout``, ``origin`` and
        ``log_level``, as ``docs/reference/options.md`` has them; times are in seconds. Gives the
        lease; ``Lease.release`` gives it up.
        """
        return Lease(self, block(self._native.acquire, server, None if config is None else config_text(config), encode("acquire", options)))

    def started(self) -> StartedReport:
        """Waits until each server that the session wants is ready, has failed or sleeps, and says how
        each of them stands. The wait ends ``start_gate`` of the pool after the session's opening. A
        slow or failed server is no error; events tell what comes later.

        Gives ``{v, servers: {name: {state, deferred?, error?}}}`` with the state ``ready``,
        ``failed``, ``waiting`` or ``asleep``; ``deferred`` is there while it waits or sleeps, and
        counts the tools that are listed of what is kept.
        """
        report: StartedReport = _reported("StartedReport", self._native.started)
        return report

    def ready(self, server: str | None = None, *, timeout: float | None = None) -> None:
        """Waits until every server that the session wants is ready, has failed or sleeps. One that
        sleeps is listed and runs for calls only; its last start may have failed, which
        ``Session.started`` says.

        ``server``: none waits for all servers: it retries none, and a failed server is no error;
        the status, ``Session.started`` and the log have it. Otherwise it waits for that server
        alone, and retries it once if it failed; its failure is the error. ``timeout``: by default
        no limit but those of the connects.

        Errors: those of ``Session.acquire``.
        """
        block(self._native.ready, server, None if timeout is None else milliseconds(timeout, "timeout"))

    def refresh(self, server: str) -> None:
        """Reads the lists of a server anew, for servers that announce nothing, and waits until they
        are in force. The call acquires the server: it first connects to a sleeping or lost one. A
        list that fails alone keeps its last state, and a ``warning`` says so.

        Errors: those of ``Session.acquire``, ``unavailable`` when the connection was lost
        meanwhile, or why no list could be had.
        """
        block(self._native.refresh, server)

    def listed(self, server: str | None = None) -> None:
        """Waits until no list of the session's servers is being read or owed, at most 5 s. A list that
        a server announced before a result is then among the session's. Most often it does not wait.

        ``server``: none for all; otherwise this one alone.
        """
        block(self._native.listed, server)

    def call_tool(
        self, tool: str, arguments: Any = None, **options: Unpack[CallOptions]
    ) -> CallResult:
        """Calls a tool of the session's view by its exposed name (``mcp__server__tool``).

        ``arguments``: as of ``Lease.call_tool``. Options: ``timeout``, ``idle_timeout``, ``retry``,
        ``wait``, ``progress``, ``shape``, ``unlisted`` and ``meta``, as
        ``docs/reference/options.md`` has them; times are in seconds. Gives what ``Lease.call_tool``
        gives.

        Errors: those of ``Lease.call_tool``.
        """
        held = [arguments_text(arguments)]
        del arguments
        return _called(CallResult, self._native.call_tool, options, held, tool)

    def request(
        self, server: str, method: str, params: Mapping[str, Any] | None = None, **options: Unpack[CallOptions]
    ) -> Result:
        """Sends any other request of the protocol to a server, as ``Lease.request``. The server is
        acquired for that: one that sleeps is connected to first, within the request's time.

        ``params``: as of ``Lease.request``. Options: ``timeout``, ``idle_timeout``, ``retry``,
        ``wait``, ``progress``, ``shape``, ``unlisted`` and ``meta``, as
        ``docs/reference/options.md`` has them; times are in seconds. Gives what ``Lease.request``
        gives.

        Errors: those of ``Lease.request``, ``not_admitted`` and the others of ``Session.acquire``,
        with nothing sent.
        """
        held = [arguments_text(params)]
        del params
        return _called(Result, self._native.request, options, held, server, method)

    def read_resource(
        self, server: str, uri: str, **options: Unpack[CallOptions]
    ) -> ResourceResult:
        """Reads a resource of a server, text or base64, as of ``Session.request``.

        Options: ``timeout``, ``idle_timeout``, ``retry``, ``wait``, ``progress``, ``shape``,
        ``unlisted`` and ``meta``, as ``docs/reference/options.md`` has them; times are in seconds.
        Gives the result.

        Errors: those of ``Session.request``.
        """
        return ResourceResult(block_call(self._native.read_resource, options, server, uri))

    def get_prompt(
        self, server: str, name: str, arguments: Any = None, **options: Unpack[CallOptions]
    ) -> PromptResult:
        """Gets a prompt of a server, filled in with its arguments, as of ``Session.request``.

        ``name``: the server's own name. Options: ``timeout``, ``idle_timeout``, ``retry``,
        ``wait``, ``progress``, ``shape``, ``unlisted`` and ``meta``, as
        ``docs/reference/options.md`` has them; times are in seconds. Gives the result.

        Errors: those of ``Session.request``.
        """
        held = [arguments_text(arguments)]
        del arguments
        return _called(PromptResult, self._native.get_prompt, options, held, server, name)

    def complete(
        self, server: str, params: Mapping[str, Any], **options: Unpack[CallOptions]
    ) -> CompletionResult:
        """Asks a server for completions of an argument of a prompt or resource template, as of
        ``Session.request``.

        ``params``: those of the request. Options: ``timeout``, ``idle_timeout``, ``retry``,
        ``wait``, ``progress``, ``shape``, ``unlisted`` and ``meta``, as
        ``docs/reference/options.md`` has them; times are in seconds. Gives the result.

        Errors: those of ``Session.request``.
        """
        held = [arguments_text(params)]
        del params
        return _called(CompletionResult, self._native.complete, options, held, server)
    # </operations session>

    def events(self, *, kinds: EventKind | Iterable[EventKind] | None = None) -> EventStream:
        """Events of this session, from now on; ``kinds`` are their types, all by default."""
        return EventStream(self, self._native.subscribe(mask(kinds)))


class Lease(LeaseBase):
    """A session's hold on a server. It is released by ``release()``, by ``with``, or when forgotten."""

    # <operations lease> Written from core/pool/src/interface/operations; do not edit.
    def call_tool(
        self, tool: str, arguments: Any = None, **options: Unpack[CallOptions]
    ) -> CallResult:
        """Calls a tool by the server's own name. An error of a call that may have reached the server
        has an ``outcome``, and the arguments. In asyncio, cancelling the task cancels the call.
        ``progress`` is a callable that gets each ``progress`` event before the result, in asyncio
        also an ``async`` one, and on the loop; ``True`` leaves them to the session's streams. A
        ``progressToken`` in ``meta`` does not go out: the library has its own.

        ``arguments``: an object; none for ``{}``. Options: ``timeout``, ``idle_timeout``,
        ``retry``, ``wait``, ``progress``, ``shape``, ``unlisted`` and ``meta``, as
        ``docs/reference/options.md`` has them; times are in seconds. Gives the result exactly as
        the server sent it, which may say that the tool failed (``isError``).
        """
        held = [arguments_text(arguments)]
        del arguments
        return _called(CallResult, self._native.call_tool, options, held, tool)

    def request(
        self, method: str, params: Mapping[str, Any] | None = None, **options: Unpack[CallOptions]
    ) -> Result:
        """Sends any other request of the protocol, and gives its result undecoded. The common ones and
        their parameters: ``resources/read`` ``{"uri"}``, ``prompts/get`` ``{"name",
        "arguments"?}``, ``completion/complete`` ``{"ref", "argument", "context"?}``,
        ``logging/setLevel`` ``{"level"}``.

        ``params``: an object; none for ``{}``. Options: ``timeout``, ``idle_timeout``, ``retry``,
        ``wait``, ``progress``, ``shape``, ``unlisted`` and ``meta``, as
        ``docs/reference/options.md`` has them; times are in seconds. Gives the result exactly as
        the server sent it.

        Errors: those of ``Lease.call_tool``, ``invalid_argument`` for ``initialize``, for calls of
        tools and for subscriptions, which have functions of their own, and for a prompt that the
        view does not have.
        """
        held = [arguments_text(params)]
        del params
        return _called(Result, self._native.request, options, held, method)

    def read_resource(self, uri: str, **options: Unpack[CallOptions]) -> ResourceResult:
        """Reads a resource, text or base64.

        Options: ``timeout``, ``idle_timeout``, ``retry``, ``wait``, ``progress``, ``shape``,
        ``unlisted`` and ``meta``, as ``docs/reference/options.md`` has them; times are in seconds.
        Gives the result.

        Errors: those of ``Lease.request``.
        """
        return ResourceResult(block_call(self._native.read_resource, options, uri))

    def get_prompt(
        self, name: str, arguments: Any = None, **options: Unpack[CallOptions]
    ) -> PromptResult:
        """Gets a prompt, filled in with its arguments.

        Options: ``timeout``, ``idle_timeout``, ``retry``, ``wait``, ``progress``, ``shape``,
        ``unlisted`` and ``meta``, as ``docs/reference/options.md`` has them; times are in seconds.
        Gives the result.

        Errors: those of ``Lease.request``.
        """
        held = [arguments_text(arguments)]
        del arguments
        return _called(PromptResult, self._native.get_prompt, options, held, name)

    def complete(
        self, params: Mapping[str, Any], **options: Unpack[CallOptions]
    ) -> CompletionResult:
        """Asks for completions of an argument of a prompt or resource template, with the params of the
        request.

        Options: ``timeout``, ``idle_timeout``, ``retry``, ``wait``, ``progress``, ``shape``,
        ``unlisted`` and ``meta``, as ``docs/reference/options.md`` has them; times are in seconds.
        Gives the result.

        Errors: those of ``Lease.request``.
        """
        held = [arguments_text(params)]
        del params
        return _called(CompletionResult, self._native.complete, options, held)

    def subscribe_resource(self, uri: str) -> None:
        """Subscribes the session to updates of a resource. They come as ``resource_updated`` events. A
        modern server also sends those of a part, by the ``uri`` of the whole. All leases of the
        session share one count: each subscription needs its ``Lease.unsubscribe_resource``.

        Errors: those of ``Lease.request``.
        """
        block(self._native.subscribe_resource, uri)

    def unsubscribe_resource(self, uri: str) -> None:
        """The counterpart of ``Lease.subscribe_resource``: with the last the session gets no more
        updates. Without any it does nothing.

        Errors: those of ``Lease.request``.
        """
        block(self._native.unsubscribe_resource, uri)
    # </operations lease>


class EventStream:
    """A stream of events: ``for``, or ``next(timeout=…)``. It ends when what it listens to is closed.

    A bounded number of events waits in it; what does not fit is counted in one ``lagged`` event. One thread at a time
    waits for its next event.
    """

    def __init__(self, owner: object, native: _trunkline.Subscription) -> None:
        self._owner = owner  # Keeps the pool.
        self._native = native
        self._reading = threading.Lock()
        #: What its reader has taken and not given yet; a close leaves it alone.
        self._taken: list[str] = []
        self._closed = False
        native.wake_threads()

    @property
    def snapshot(self) -> Snapshot:
        """What the stream continues: ``{v, seq, status}``."""
        snapshot: Snapshot = report("Snapshot", self._native.snapshot())
        return snapshot

    def __repr__(self) -> str:
        return f"<EventStream of {self._owner!r}{', closed' if self._closed else ''}>"

    def __iter__(self) -> EventStream:
        return self

    def __next__(self) -> AnyEvent:
        return self.next()

    def next(self, timeout: float | None = None) -> AnyEvent:
        """The next event. Raises ``TimeoutError`` after so many seconds, and ``StopIteration`` at the end."""
        if timeout is not None:
            milliseconds(timeout, "timeout")
        if not self._reading.acquire(blocking=False):
            raise RuntimeError("another thread waits for the next event of this stream")
        try:
            return self._next(timeout)
        finally:
            self._reading.release()

    def _next(self, timeout: float | None) -> AnyEvent:
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._taken or self._closed:
            # Before the look, so that nothing can come between the two.
            ended = self._native.ended()
            self._taken = self._native.take(EVENT_BATCH)
            if self._taken and not self._closed:
                self._taken.reverse()
            elif ended or self._closed:
                self._taken = []
                raise StopIteration
            elif deadline is None:
                self._native.wait(None)
            elif time.monotonic() >= deadline:
                raise _late(timeout)
            else:
                self._native.wait(max(0.0, deadline - time.monotonic()))
        return event_of(self._taken.pop())

    def close(self) -> None:
        """Unsubscribes; a thread that waits sees the end, and nothing that came before. Repeating it does nothing."""
        self._closed = True
        self._native.close()

    def __enter__(self) -> EventStream:
        return self

    def __exit__(self, *exception: object) -> None:
        with leaving(exception):
            self.close()


def _late(timeout: float | None) -> TimeoutError:
    error = told(TimeoutError(f"no event within {timeout} s"), "timeout", {"which": "total"})
    error.retryable = True
    return error
