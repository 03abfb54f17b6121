"""The blocking API: the same names as the asyncio one, for threads.

Waiting releases the GIL and answers Ctrl-C, which cancels the operation.
"""

from __future__ import annotations

import json
import threading
import time
from os import fspath

from . import _trunkline
from ._errors import TimeoutError, leaving, told
from ._options import arguments_text, config_text, encode, mask, milliseconds, roots_text
from ._results import CallResult, Event
from ._shared import EVENT_BATCH, LeaseBase, PoolBase, SessionBase
from ._waits import CancelScope, block, block_call, carry_out, scopes_here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from os import PathLike
    from typing import Any

__all__ = ["CancelScope", "EventStream", "Lease", "Pool", "Session"]


class Pool(PoolBase):
    """The connections of one workspace, shared by its sessions.

    The constructor takes the pool's options by name and returns at once. Close it with ``with`` or ``close()``; a
    pool that is forgotten is closed in the background, and at the interpreter's exit.

    ``handlers`` are functions of a ``ServerRequest`` that answer what servers ask of sessions without a handler of their own, by
    name: ``sampling``, ``sampling_tools``, ``elicitation``, ``elicitation_url``. An answer is the result as a dict; ``Refusal`` is
    raised for an error. Each request has a thread of its own, so a handler may block. ``logging`` is a function of each ``log`` event; all
    have one thread, which is none of the requests'. Coroutine functions are refused.
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

    def close(self) -> None:
        """Drains with the defaults, then ends every stream of events. A second close waits for the first.

        To cancel it ends the wait alone: the close goes on.
        """
        try:
            # It begins whatever is cancelled.
            carry_out(scopes_here(), None, self._native.close)
        except BaseException:
            self._close_unwatched()
            raise
        self._closed()

    def session(self, id: str, **options: Any) -> Session:
        """Opens a session. Returns at once; the servers that it wants start in the background."""
        return Session(self, id, options)

    def acquire(
        self, server: str, config: Mapping[str, Any] | str, *, session: str, **options: Any
    ) -> Lease:
        """A lease for the session of that id, which is opened if need be."""
        text = config_text(config)
        return Lease(self, block(self._native.acquire, server, text, session, encode("acquire", options)))

    def reconcile(self, servers: Mapping[str, Any] | str) -> dict[str, Any]:
        """Makes these servers the pool's own: starts what is new, releases what is gone, leaves equal ones alone. Members that
        no rule knows are ``findings`` of the report, each with the ``nearest`` known one.

        To cancel it does not take back a change that was begun.
        """
        return _reported(self._native.reconcile, config_text(servers, "servers"))

    def restart(self, server: str, index: int | None = None) -> Any:
        """Replaces the connections of a server's entries, or of the one with that index. One report per entry, with the
        reason when it was not restarted: `in_flight`, `disabled`, `auth_required`, `not_admitted`, `budget_would_exceed`,
        `superseded` (the server is configured otherwise now), `failed` or `closing`."""
        return json.loads(block(self._native.restart, server, index))

    def accept_tool(self, server: str, tool: str, digest: str) -> None:
        """Accepts the definition of a tool that is kept back, of a server that needed approval in later processes too.

        ``digest`` is ``difference["to"]`` of the ``tool_quarantined`` event, or of the status: what is accepted is what was shown.
        """
        block(self._native.accept_tool, server, tool, digest)

    def set_roots(self, roots: Sequence[str | PathLike[str]]) -> None:
        """Replaces the folders that servers are told of: absolute, or relative to the workspace.

        Servers that can be told are told so, and the lists of every connection are asked for again, in the background. Equal
        folders do nothing; one that is no folder is refused, with nothing changed. Changes are made in the order of the calls. A
        file system that does not answer keeps this waiting and the changes after it, and nothing else. To cancel it
        does not take back a change that was begun.
        """
        block(self._native.set_roots, roots_text(roots))

    def load(self, path: str | PathLike[str], **options: Any) -> dict[str, Any]:
        """Reads a settings file into the source that its place implies; its servers start in the sessions that want them.

        A file inside of the workspace is a source ``workspace``, its ``.mcp.json`` ``project``, and its servers wait for approval; one
        outside is ``user``. Options: ``watch`` reads it again whenever it changes, and lets it be missing at first; ``source`` is
        another scope; ``format`` the product by whose rules it is read.
        """
        return _reported(self._native.load, fspath(path), encode("load", options))

    def set_trusted(self, trusted: bool) -> dict[str, Any]:
        """Says whether the workspace is trusted. What needs trust and has it no more ends at once.

        Files that were not read without it are read before anything of them starts. Of several calls the
        last that was made holds, whichever of their files take how long.
        """
        return _reported(self._native.set_trusted, trusted)

    def reload(self, **options: Any) -> dict[str, Any]:
        """Reads every loaded file again and looks everything up anew; ``reconnect="all"``, or names, has servers connected anew."""
        return _reported(self._native.reload, encode("reload", options))

    def approvals(self) -> dict[str, Any]:
        """What waits for approval, in ``requests``, and what was decided for this workspace, in ``decisions``."""
        return _reported(self._native.approvals)

    def approve(self, server: str, hash: str) -> dict[str, Any]:
        """Lets the configuration run whose request with that hash was shown; it starts in the sessions that want it.

        Raises ``NotAdmittedError`` with the code ``stale_approval`` when the server is configured otherwise by now.
        """
        return _reported(self._native.approve, server, hash)

    def reject(self, server: str, hash: str) -> dict[str, Any]:
        """Keeps the configuration with that hash from running, which ends at once if it runs; nobody is asked again."""
        return _reported(self._native.reject, server, hash)

    def forget(self, server: str) -> dict[str, Any]:
        """Forgets every decision about a server, so that it waits for approval again; ``forgotten`` counts them."""
        return _reported(self._native.forget, server)

    def settled(self, *, timeout: float | None = None) -> dict[str, Any]:
        """Waits until nothing that configuration caused is under way, and says how each server of a source stands.

        ``state`` is ``ready``, ``failed``, ``refused``, ``waiting`` or ``off``. After ``timeout`` seconds it raises ``TimeoutError``.
        """
        limit = None if timeout is None else milliseconds(timeout, "timeout")
        return _reported(self._native.settled, limit)

    def sign_in(self, server: str, **options: Any) -> dict[str, Any]:
        """Begins to sign in to a remote server: a person has to visit ``url`` of what comes back.

        What they are redirected to goes to ``finish_sign_in``. Nothing is opened, and no port is listened on. Options:
        ``redirect_uri`` (required, here or in the server's ``oauth``), ``client_metadata_url``, ``client_name``.
        """
        text = encode("sign_in", options)
        return _reported(self._native.sign_in, server, text)

    def finish_sign_in(self, redirect_url: str) -> dict[str, Any]:
        """Ends a sign-in with the whole address that the person was redirected to; the server comes to those who want it.

        With a file of ``tokens``, ``stored`` says whether it is in there, and ``error`` why it is not.
        """
        return _reported(self._native.finish_sign_in, redirect_url)

    def sign_out(self, server: str) -> dict[str, Any]:
        """Forgets what was signed in for a server, and a sign-in that is under way."""
        return _reported(self._native.sign_out, server)

    def drain_all(self, **options: Any) -> dict[str, Any]:
        """Ends everything, one-way. Options: ``force`` interrupts calls at once; ``timeout`` in seconds, 10 by default."""
        return _reported(self._native.drain_all, encode("drain", options))

    def events(self, *, kinds: str | Iterable[str] | None = None) -> EventStream:
        """Events of the pool and its sessions, from now on; ``kinds`` are their types, all by default."""
        return EventStream(self, self._native.subscribe(mask(kinds)))


def _reported(start: Callable[..., _trunkline.Operation], *args: Any) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(block(start, *args))
    return report


def _called(start: Callable[..., _trunkline.Operation], options: Mapping[str, Any], held: list[str], *named: str) -> CallResult:
    """A call whose last argument is what is held: nothing holds it once it ends, for the traceback of an error keeps all frames."""
    return CallResult(block_call(start, options, *named, held.pop()))


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

    def acquire(
        self, server: str, config: Mapping[str, Any] | str | None = None, **options: Any
    ) -> Lease:
        """An explicit lease. With ``config`` the server is first put into the session's own source.

        Options: ``timeout`` in seconds; ``log_level`` (how grave log messages of the server have to be for the session to hear them),
        ``origin``.
        """
        text = None if config is None else config_text(config)
        return Lease(self, block(self._native.acquire, server, text, encode("acquire", options)))

    def started(self) -> dict[str, Any]:
        """Waits until each server that the session wants is ready, has failed or sleeps, at most for the pool's ``start_gate``.

        The gate counts from the opening. Says how each of them stands: ``{"v": 1, "servers": {name: {"state": ..., ...}}}``, with the
        state ``ready``, ``failed`` (with ``error``), ``waiting`` or ``asleep`` (both with ``deferred``, the number of tools that are listed
        of what is kept). A server that is slow or fails raises nothing; events tell what comes later.
        """
        return _reported(self._native.started)

    def ready(self, server: str | None = None, *, timeout: float | None = None) -> None:
        """Waits until each server that the session wants is ready, has failed or sleeps; or for one, whose failure it raises.

        One that sleeps is listed and runs for calls only. A named one that failed is tried once more. Without a name none is, and no failure is raised: what
        failed stands in the status, in ``started()`` and in the log.
        """
        limit = None if timeout is None else milliseconds(timeout, "timeout")
        block(self._native.ready, server, limit)

    def refresh(self, server: str) -> None:
        """Has the lists of a server read anew, for servers that announce nothing; what came of it is in force then.

        The server is acquired for that: one that sleeps, or is on its way back, is connected to first. Raises why no list could be had; one
        that fails alone keeps its last state, and a ``warning`` says so.
        """
        block(self._native.refresh, server)

    def listed(self, server: str | None = None) -> None:
        """Waits until no list of the session's servers, or of this one, is being read or has to be, at most 5 s.

        A server that announced another list before a result is heard to the end: ``tools`` has it then. Most often it does not wait.
        """
        block(self._native.listed, server)

    def call_tool(self, tool: str, arguments: Any = None, **options: Any) -> CallResult:
        """Calls a tool by its exposed name."""
        held = [arguments_text(arguments)]
        del arguments
        return _called(self._native.call_tool, options, held, tool)

    def events(self, *, kinds: str | Iterable[str] | None = None) -> EventStream:
        """Events of this session, from now on; ``kinds`` are their types, all by default."""
        return EventStream(self, self._native.subscribe(mask(kinds)))


class Lease(LeaseBase):
    """A session's hold on a server. It is released by ``release()``, by ``with``, or when forgotten."""

    def call_tool(self, tool: str, arguments: Any = None, **options: Any) -> CallResult:
        """Calls a tool by the server's own name.

        Options: ``timeout`` and ``idle_timeout`` in seconds, ``progress`` (a callable that gets each ``progress`` event
        on this thread, before the result, where a coroutine function is refused; ``True`` leaves them to the session's streams),
        ``meta`` (the ``_meta`` of the request; a ``progressToken`` in it does not go out: the library has its own), ``wait`` (for a
        server that is reconnecting), ``retry`` (``"never"``, ``"not_sent"`` or ``"safe"``), ``shape`` (the one of
        ``tools_for`` that a model was given the tool in: arguments that have other names there go to the server under its own).
        """
        held = [arguments_text(arguments)]
        del arguments
        return _called(self._native.call_tool, options, held, tool)

    def request(
        self, method: str, params: Mapping[str, Any] | None = None, **options: Any
    ) -> CallResult:
        """Sends any other request, and gives its result undecoded.

        Calls of tools and subscriptions have methods of their own, and are an `InvalidArgumentError` here.
        """
        held = [arguments_text(params)]
        del params
        return _called(self._native.request, options, held, method)

    def read_resource(self, uri: str, **options: Any) -> CallResult:
        """Reads a resource."""
        return CallResult(block_call(self._native.read_resource, options, uri))

    def get_prompt(self, name: str, arguments: Any = None, **options: Any) -> CallResult:
        """Gets a prompt."""
        held = [arguments_text(arguments)]
        del arguments
        return _called(self._native.get_prompt, options, held, name)

    def complete(self, params: Mapping[str, Any], **options: Any) -> CallResult:
        """Asks for completions, with the params of the request."""
        held = [arguments_text(params)]
        del params
        return _called(self._native.complete, options, held)

    def subscribe_resource(self, uri: str) -> None:
        """Subscribes the session to updates of a resource, which come as ``resource_updated`` events.

        Of a modern server they are also of a part of it, by the ``uri`` of the whole.
        Counted, by whichever lease of the session: each needs its ``unsubscribe_resource``.
        """
        block(self._native.subscribe_resource, uri)

    def unsubscribe_resource(self, uri: str) -> None:
        """The counterpart of ``subscribe_resource``: with the last the session gets no more updates."""
        block(self._native.unsubscribe_resource, uri)


class EventStream:
    """A stream of events: ``for``, or ``next(timeout=…)``. It ends when what it listens to is closed.

    A bounded number of events waits in it; what does not fit is counted in one ``lagged`` event. One thread at a time
    waits for its next event.
    """

    def __init__(self, owner: object, native: _trunkline.Subscription) -> None:
        self._owner = owner  # Keeps the pool.
        self._native = native
        self._reading = threading.Lock()
        #: What its reader has taken and not given yet; whoever closes it leaves it alone.
        self._taken: list[str] = []
        self._closed = False
        native.wake_threads()

    @property
    def snapshot(self) -> dict[str, Any]:
        """What the stream continues: ``{v, seq, status}``."""
        snapshot: dict[str, Any] = json.loads(self._native.snapshot())
        return snapshot

    def __iter__(self) -> EventStream:
        return self

    def __next__(self) -> Event:
        return self.next()

    def next(self, timeout: float | None = None) -> Event:
        """The next event. Raises ``TimeoutError`` after so many seconds, and ``StopIteration`` at the end."""
        if timeout is not None:
            milliseconds(timeout, "timeout")
        if not self._reading.acquire(blocking=False):
            raise RuntimeError("another thread waits for the next event of this stream")
        try:
            return self._next(timeout)
        finally:
            self._reading.release()

    def _next(self, timeout: float | None) -> Event:
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
        return Event(self._taken.pop())

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
