"""The asyncio API. Every object can be used from any task of any event loop."""

from __future__ import annotations

import json
import weakref
from asyncio import CancelledError, get_running_loop
from contextlib import suppress
from os import fspath

from . import _trunkline
from ._bridge import bridge_of, next_token, submit, submit_call
from ._errors import leaving
from ._hosted import on_loop
from ._options import arguments_text, config_text, encode, mask, milliseconds, roots_text
from ._results import CallResult, Event
from ._shared import EVENT_BATCH, LeaseBase, PoolBase, SessionBase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable, Coroutine, Generator, Iterable, Mapping, Sequence
    from os import PathLike
    from types import TracebackType
    from typing import Any

    from ._bridge import LoopBridge
    from ._trunkline import HostConnection


class Pool(PoolBase):
    """The connections of one workspace, shared by its sessions.

    The constructor takes the pool's options by name and returns at once. Close it with ``async with`` or
    ``aclose()``; a pool that is forgotten is closed in the background, and at the interpreter's exit.

    ``handlers`` are functions of a ``ServerRequest``, plain or ``async``, that answer what servers ask of sessions without a
    handler of their own, by name: ``sampling``, ``sampling_tools``, ``elicitation``, ``elicitation_url``. An answer is the
    result as a dict; ``Refusal`` is raised for an error. ``logging`` is a function of each ``log`` event, plain or ``async``,
    which is told one after another. ``credentials`` gives the token of a remote server that refuses what it was sent: as a ``str``,
    as ``{"token": ..., "expires_in": seconds}``, or None for none. ``inputs`` and ``secrets`` give the text that settings ask for,
    or None for none; ``entries`` what becomes of an entry of settings: None to keep it, ``{"drop": True}`` or
    ``{"configuration": {...}}``. They run on the loop.
    """

    _on_loop = True

    async def __aenter__(self) -> Pool:
        return self

    async def __aexit__(self, *exception: object) -> None:
        with leaving(exception):
            await self.aclose()

    async def aclose(self) -> None:
        """Drains with the defaults, then ends every stream of events. A second close waits for the first.

        To cancel it ends the wait alone: the close goes on.
        """
        try:
            await submit(self._native.close)
        except (CancelledError, GeneratorExit):
            self._close_unwatched()
            raise
        self._closed()

    def session(self, id: str, **options: Any) -> Session:
        """Opens a session. Returns at once; the servers that it wants start in the background."""
        return Session(self, id, options)

    def acquire(
        self, server: str, config: Mapping[str, Any] | str, *, session: str, **options: Any
    ) -> Acquiring:
        """A lease for the session of that id, which is opened if need be."""
        start = self._native.acquire, server, config_text(config), session, encode("acquire", options)
        return Acquiring(_acquire(self, *start))

    async def reconcile(self, servers: Mapping[str, Any] | str) -> dict[str, Any]:
        """Makes these servers the pool's own: starts what is new, releases what is gone, leaves equal ones alone. Members that
        no rule knows are ``findings`` of the report, each with the ``nearest`` known one.

        To cancel it does not take back a change that was begun.
        """
        return await _reported(self._native.reconcile, config_text(servers, "servers"))

    async def restart(self, server: str, index: int | None = None) -> Any:
        """Replaces the connections of a server's entries, or of the one with that index. One report per entry, with the
        reason when it was not restarted: `in_flight`, `disabled`, `auth_required`, `not_admitted`, `budget_would_exceed`,
        `superseded` (the server is configured otherwise now), `failed` or `closing`."""
        return json.loads(await submit(self._native.restart, server, index))

    async def accept_tool(self, server: str, tool: str, digest: str) -> None:
        """Accepts the definition of a tool that is kept back, of a server that needed approval in later processes too.

        ``digest`` is ``difference["to"]`` of the ``tool_quarantined`` event, or of the status: what is accepted is what was shown.
        """
        await submit(self._native.accept_tool, server, tool, digest)

    async def set_roots(self, roots: Sequence[str | PathLike[str]]) -> None:
        """Replaces the folders that servers are told of: absolute, or relative to the workspace.

        Servers that can be told are told so, and the lists of every connection are asked for again, in the background. Equal
        folders do nothing; one that is no folder is refused, with nothing changed. Changes are made in the order of the calls. A
        file system that does not answer keeps this waiting and the changes after it, and nothing else, not the loop either.
        To cancel it does not take back a change that was begun.
        """
        await submit(self._native.set_roots, roots_text(roots))

    async def load(self, path: str | PathLike[str], **options: Any) -> dict[str, Any]:
        """Reads a settings file into the source that its place implies; its servers start in the sessions that want them.

        A file inside of the workspace is a source ``workspace``, its ``.mcp.json`` ``project``, and its servers wait for approval; one
        outside is ``user``. Options: ``watch`` reads it again whenever it changes, and lets it be missing at first; ``source`` is
        another scope; ``format`` the product by whose rules it is read.
        """
        return await _reported(self._native.load, fspath(path), encode("load", options))

    async def set_trusted(self, trusted: bool) -> dict[str, Any]:
        """Says whether the workspace is trusted. What needs trust and has it no more ends at once.

        Files that were not read without it are read before anything of them starts. Of several calls the
        last that was made holds, whichever of their files take how long.
        """
        return await _reported(self._native.set_trusted, trusted)

    async def reload(self, **options: Any) -> dict[str, Any]:
        """Reads every loaded file again and looks everything up anew; ``reconnect="all"``, or names, has servers connected anew."""
        return await _reported(self._native.reload, encode("reload", options))

    async def approvals(self) -> dict[str, Any]:
        """What waits for approval, in ``requests``, and what was decided for this workspace, in ``decisions``."""
        return await _reported(self._native.approvals)

    async def approve(self, server: str, hash: str) -> dict[str, Any]:
        """Lets the configuration run whose request with that hash was shown; it starts in the sessions that want it.

        Raises ``NotAdmittedError`` with the code ``stale_approval`` when the server is configured otherwise by now.
        """
        return await _reported(self._native.approve, server, hash)

    async def reject(self, server: str, hash: str) -> dict[str, Any]:
        """Keeps the configuration with that hash from running, which ends at once if it runs; nobody is asked again."""
        return await _reported(self._native.reject, server, hash)

    async def forget(self, server: str) -> dict[str, Any]:
        """Forgets every decision about a server, so that it waits for approval again; ``forgotten`` counts them."""
        return await _reported(self._native.forget, server)

    async def settled(self, *, timeout: float | None = None) -> dict[str, Any]:
        """Waits until nothing that configuration caused is under way, and says how each server of a source stands.

        ``state`` is ``ready``, ``failed``, ``refused``, ``waiting`` or ``off``. After ``timeout`` seconds it raises ``TimeoutError``.
        """
        limit = None if timeout is None else milliseconds(timeout, "timeout")
        return await _reported(self._native.settled, limit)

    async def sign_in(self, server: str, **options: Any) -> dict[str, Any]:
        """Begins to sign in to a remote server: a person has to visit ``url`` of what comes back.

        What they are redirected to goes to ``finish_sign_in``. Nothing is opened, and no port is listened on. Options:
        ``redirect_uri`` (required, here or in the server's ``oauth``), ``client_metadata_url``, ``client_name``.
        """
        text = encode("sign_in", options)
        return await _reported(self._native.sign_in, server, text)

    async def finish_sign_in(self, redirect_url: str) -> dict[str, Any]:
        """Ends a sign-in with the whole address that the person was redirected to; the server comes to those who want it.

        With a file of ``tokens``, ``stored`` says whether it is in there, and ``error`` why it is not.
        """
        return await _reported(self._native.finish_sign_in, redirect_url)

    async def sign_out(self, server: str) -> dict[str, Any]:
        """Forgets what was signed in for a server, and a sign-in that is under way."""
        return await _reported(self._native.sign_out, server)

    async def drain_all(self, **options: Any) -> dict[str, Any]:
        """Ends everything, one-way. Options: ``force`` interrupts calls at once; ``timeout`` in seconds, 10 by default."""
        return await _reported(self._native.drain_all, encode("drain", options))

    def events(self, *, kinds: str | Iterable[str] | None = None) -> EventStream:
        """Events of the pool and its sessions, from now on; ``kinds`` are their types, all by default."""
        return EventStream(self, self._native.subscribe(mask(kinds)))


async def _reported(start: Callable[..., Any], *args: Any) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(await submit(start, *args))
    return report


class Session(SessionBase):
    """One conversation: its holds on servers, and its view of their tools. It may have ``handlers`` of its own."""

    _on_loop = True

    async def __aenter__(self) -> Session:
        try:
            await self.started()
        except BaseException:  # Nobody has it who could close it.
            self.close()
            raise
        return self

    async def __aexit__(self, *exception: object) -> None:
        with leaving(exception):
            self.close()

    async def aclose(self, *, keep_for: float | None = None) -> None:
        """The same as ``close()``."""
        self.close(keep_for=keep_for)

    def acquire(
        self, server: str, config: Mapping[str, Any] | str | None = None, **options: Any
    ) -> Acquiring:
        """An explicit lease: ``await`` it, or use it in ``async with``, which releases it.

        With ``config`` the server is first put into the session's own source. Options: ``timeout`` in seconds; ``log_level`` (how grave log
        messages of the server have to be for the session to hear them), ``origin``.
        """
        text = None if config is None else config_text(config)
        return Acquiring(_acquire(self, self._native.acquire, server, text, encode("acquire", options)))

    async def started(self) -> dict[str, Any]:
        """Waits until each server that the session wants is ready, has failed or sleeps, at most for the pool's ``start_gate``.

        The gate counts from the opening. Says how each of them stands: ``{"v": 1, "servers": {name: {"state": ..., ...}}}``, with the
        state ``ready``, ``failed`` (with ``error``), ``waiting`` or ``asleep`` (both with ``deferred``, the number of tools that are listed
        of what is kept). A server that is slow or fails raises nothing; events tell what comes later.
        """
        return await _reported(self._native.started)

    async def ready(self, server: str | None = None, *, timeout: float | None = None) -> None:
        """Waits until each server that the session wants is ready, has failed or sleeps; or for one, whose failure it raises.

        One that sleeps is listed and runs for calls only. A named one that failed is tried once more. Without a name none is, and no failure is raised: what
        failed stands in the status, in ``started()`` and in the log.
        """
        limit = None if timeout is None else milliseconds(timeout, "timeout")
        await submit(self._native.ready, server, limit)

    async def refresh(self, server: str) -> None:
        """Has the lists of a server read anew, for servers that announce nothing; what came of it is in force then.

        The server is acquired for that: one that sleeps, or is on its way back, is connected to first. Raises why no list could be had; one
        that fails alone keeps its last state, and a ``warning`` says so.
        """
        await submit(self._native.refresh, server)

    async def listed(self, server: str | None = None) -> None:
        """Waits until no list of the session's servers, or of this one, is being read or has to be, at most 5 s.

        A server that announced another list before a result is heard to the end: ``tools`` has it then. Most often it does not wait.
        """
        await submit(self._native.listed, server)

    def provide(
        self,
        server: str,
        receive: Callable[[HostConnection, str], object],
        closed: Callable[[HostConnection], object] | None = None,
    ) -> None:
        """Provides a server of the host's own to this session alone, for ``acquire``; it is never shared.

        ``receive(connection, frame)`` gets each message of the pool, the text of one JSON-RPC message, and answers by
        ``connection.send(text)``, then or later; ``closed(connection)`` is told last. A coroutine function runs as a task of
        the running loop and in this context, one for each message, begun in their order; what it raises is logged, and the close of
        the loop ends what is under way there. A plain function runs on a
        thread of the connection's own and may block; what it raises is reported as unraisable, and so is that it gives back
        something to be awaited. In both cases it ends the connection. A server that is lost is connected anew, with another
        connection. Providing a name again replaces it for acquires to come.
        """
        super().provide(server, *on_loop(receive, closed))

    async def call_tool(self, tool: str, arguments: Any = None, **options: Any) -> CallResult:
        """Calls a tool by its exposed name. Cancelling the task cancels the call."""
        call = submit_call(self._native.call_tool, options, tool, arguments_text(arguments))
        del arguments  # The traceback of an error keeps this frame.
        return CallResult(await call)

    def events(self, *, kinds: str | Iterable[str] | None = None) -> EventStream:
        """Events of this session, from now on; ``kinds`` are their types, all by default."""
        return EventStream(self, self._native.subscribe(mask(kinds)))


class Lease(LeaseBase):
    """A session's hold on a server. It is released by ``release()``, by ``with`` or ``async with``, or when forgotten."""

    async def __aenter__(self) -> Lease:
        return self

    async def __aexit__(self, *exception: object) -> None:
        with leaving(exception):
            self.release()

    async def call_tool(self, tool: str, arguments: Any = None, **options: Any) -> CallResult:
        """Calls a tool by the server's own name. Cancelling the task cancels the call.

        Options: ``timeout`` and ``idle_timeout`` in seconds, ``progress`` (a callable, plain or ``async``, that gets each
        ``progress`` event on the loop, before the result; ``True`` leaves them to the session's streams), ``meta`` (the ``_meta`` of
        the request; a ``progressToken`` in it does not go out: the library has its own), ``wait`` (for a server that is
        reconnecting), ``retry`` (``"never"``, ``"not_sent"`` or ``"safe"``), ``shape`` (the one of
        ``tools_for`` that a model was given the tool in: arguments that have other names there go to the server under its own).
        """
        call = submit_call(self._native.call_tool, options, tool, arguments_text(arguments))
        del arguments  # The traceback of an error keeps this frame.
        return CallResult(await call)

    async def request(
        self, method: str, params: Mapping[str, Any] | None = None, **options: Any
    ) -> CallResult:
        """Sends any other request, and gives its result undecoded.

        Calls of tools and subscriptions have methods of their own, and are an `InvalidArgumentError` here.
        """
        call = submit_call(self._native.request, options, method, arguments_text(params))
        del params
        return CallResult(await call)

    async def read_resource(self, uri: str, **options: Any) -> CallResult:
        """Reads a resource."""
        return CallResult(await submit_call(self._native.read_resource, options, uri))

    async def get_prompt(self, name: str, arguments: Any = None, **options: Any) -> CallResult:
        """Gets a prompt."""
        call = submit_call(self._native.get_prompt, options, name, arguments_text(arguments))
        del arguments
        return CallResult(await call)

    async def complete(self, params: Mapping[str, Any], **options: Any) -> CallResult:
        """Asks for completions, with the params of the request."""
        call = submit_call(self._native.complete, options, arguments_text(params))
        del params
        return CallResult(await call)

    async def subscribe_resource(self, uri: str) -> None:
        """Subscribes the session to updates of a resource, which come as ``resource_updated`` events.

        Of a modern server they are also of a part of it, by the ``uri`` of the whole.
        Counted, by whichever lease of the session: each needs its ``unsubscribe_resource``.
        """
        await submit(self._native.subscribe_resource, uri)

    async def unsubscribe_resource(self, uri: str) -> None:
        """The counterpart of ``subscribe_resource``: with the last the session gets no more updates."""
        await submit(self._native.unsubscribe_resource, uri)


async def _acquire(owner: object, start: Callable[..., Any], *args: Any) -> Lease:
    return Lease(owner, await submit(start, *args))


class Acquiring:
    """An acquire that has not begun: a coroutine that is an asynchronous context manager as well.

    Cancelling it gives the hold up.
    """

    __slots__ = ("_coroutine", "_lease")

    def __init__(self, coroutine: Coroutine[Any, Any, Lease]) -> None:
        self._coroutine = coroutine
        self._lease: Lease | None = None

    def __await__(self) -> Generator[Any, Any, Lease]:
        return self._coroutine.__await__()

    async def __aenter__(self) -> Lease:
        self._lease = await self._coroutine
        return self._lease

    async def __aexit__(self, *exception: object) -> None:
        if self._lease is not None:
            with leaving(exception):
                self._lease.release()

    # What makes it a coroutine for `asyncio.create_task`.

    def send(self, value: Any) -> Any:
        """Of the coroutine."""
        return self._coroutine.send(value)

    def throw(
        self, kind: Any, value: Any = None, traceback: TracebackType | None = None
    ) -> Any:
        """Of the coroutine."""
        if value is None and traceback is None:
            return self._coroutine.throw(kind)
        return self._coroutine.throw(kind, value, traceback)

    def close(self) -> None:
        """Of the coroutine."""
        self._coroutine.close()


class EventStream:
    """A stream of events: ``async for``. It ends when what it listens to is closed.

    A bounded number of events waits in it; what does not fit is counted in one ``lagged`` event. One task at a time waits
    for its next event.
    """

    def __init__(self, owner: object, native: _trunkline.Subscription) -> None:
        self._owner = owner  # Keeps the pool.
        self._native = native
        self._token = next_token()
        # Weak, since the loop alone keeps it.
        self._bridge: weakref.ref[LoopBridge] | None = None
        self._waiting = False
        #: What its reader has taken and not given yet; whoever closes it leaves it alone.
        self._taken: list[str] = []
        self._closed = False

    @property
    def snapshot(self) -> dict[str, Any]:
        """What the stream continues: ``{v, seq, status}``."""
        snapshot: dict[str, Any] = json.loads(self._native.snapshot())
        return snapshot

    def __aiter__(self) -> EventStream:
        return self

    async def __anext__(self) -> Event:
        while not self._taken or self._closed:
            # Before the look, so that nothing can come between the two.
            ended = self._native.ended()
            self._taken = self._native.take(EVENT_BATCH)
            if self._taken and not self._closed:
                self._taken.reverse()
            elif ended or self._closed:
                self._taken = []
                raise StopAsyncIteration
            else:
                await self._wait()
        return Event(self._taken.pop())

    async def _wait(self) -> None:
        if self._waiting:
            raise RuntimeError("another task waits for the next event of this stream")
        loop = get_running_loop()
        bridge = bridge_of(loop)
        future = loop.create_future()
        pending = bridge.pending
        pending[self._token] = future
        self._waiting = True
        try:
            if self._bridge is None or self._bridge() is not bridge:
                self._native.wake_loop(bridge, self._token)
                self._bridge = weakref.ref(bridge)
            del bridge
            # A close on another thread has found the future, or is seen here.
            if not self._native.ended():
                await future
        finally:
            self._waiting = False
            if pending.get(self._token) is future:
                del pending[self._token]

    def close(self) -> None:
        """Unsubscribes; a task that waits sees the end, and nothing that came before. Repeating it does nothing."""
        self._closed = True
        self._native.close()
        bridge = None if self._bridge is None else self._bridge()
        if bridge is not None:
            future = bridge.pending.pop(self._token, None)
            if future is not None and not future.done():
                with suppress(RuntimeError):  # Its loop is closed, and the task with it.
                    future.get_loop().call_soon_threadsafe(_end, future)

    async def __aenter__(self) -> EventStream:
        return self

    async def __aexit__(self, *exception: object) -> None:
        with leaving(exception):
            self.close()


def _end(future: Future[None]) -> None:
    if not future.done():
        future.set_result(None)
