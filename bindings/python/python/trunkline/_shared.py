"""What the asyncio API and the blocking one have in common: everything that does not wait."""

from __future__ import annotations

import json
import logging
import threading
import weakref
from contextlib import suppress
from os import fspath

from . import _exit, _trunkline
from ._audience import check_plain, check_taken
from ._errors import TrunklineError, leaving, not_begun
from ._hosted import Provided
from ._options import config_text, encode, is_on, mask, milliseconds
from ._results import Event, List, ListedItem, decoded_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from os import PathLike
    from typing import Any, Literal

    from ._desks import LoopDesk, ThreadDesk
    from ._hosted import _Store
    from ._trunkline import HostConnection

    #: The desks of a pool.
    _Desks = weakref.WeakKeyDictionary[LoopDesk | ThreadDesk, None]

    _State = Literal[
        "spawning", "active", "draining", "reconnecting", "auth_required", "failed", "closed"
    ]

#: Events taken from a stream in one pass: few enough that a consumer that stops early drops little.
EVENT_BATCH = 64


def features() -> list[str]:
    """The capability tags of this version."""
    return _trunkline.features()


def detect(workspace: str | PathLike[str] = "") -> dict[str, Any]:
    """The settings files of products that exist for this user and a workspace, the current directory by default.

    ``{"v": 1, "files": [{"path": …, "format": …, "scope": …}]}``, in the order of ``docs/reference/settings.md``; the scope is
    ``user``, ``project``, ``workspace`` or ``managed``. Some fifty paths are looked up; nothing is opened.
    """
    files: dict[str, Any] = json.loads(_trunkline.detect(fspath(workspace)))
    return files


class EventCallback:
    """A callback on events, on a daemon thread of its own. It ends with ``close()``, or with what it listens to."""

    def __init__(
        self, subscription: _trunkline.Subscription, callback: Callable[[Event], object]
    ) -> None:
        check_plain(callback, "callback")
        self._subscription = subscription
        self._closed = False
        subscription.wake_threads()
        self._thread = threading.Thread(
            target=_run, args=(self, subscription, callback), name="trunkline-events", daemon=True
        )
        _exit.start_thread(self._thread, self._stop)

    def close(self) -> None:
        """Unsubscribes. The callback never runs after this returned.

        It waits for a callback that runs now. From inside the callback it returns at once, and so it does inside of another one that this
        one waits for, in a ``close`` of its own: neither would ever return.
        """
        self._stop()
        _exit.join_thread(self._thread)

    def _stop(self) -> None:
        self._closed = True
        self._subscription.close()

    def __enter__(self) -> EventCallback:
        return self

    def __exit__(self, *exception: object) -> None:
        with leaving(exception):
            self.close()


def _run(
    handle: EventCallback,
    subscription: _trunkline.Subscription,
    callback: Callable[[Event], object],
) -> None:
    try:
        while not handle._closed:
            batch = subscription.take(EVENT_BATCH)
            for text in batch:
                if handle._closed:
                    return
                try:
                    check_taken(callback(Event(text)))
                except BaseException:  # Nobody is behind this thread, and other events are before it.
                    logging.getLogger("trunkline").exception("an event callback failed")
            if not batch:
                if subscription.ended():
                    return
                subscription.wait_asleep()
    finally:
        _exit.forget_thread(threading.current_thread())


def _desk_of(owner: PoolBase | SessionBase, options: dict[str, Any], desks: _Desks) -> LoopDesk | ThreadDesk | None:
    """Takes the handlers out of the options of a pool or session; they end with it, and with the pool, whose ``desks`` get theirs."""
    handlers = options.pop("handlers", None)
    if handlers is None:
        return None
    from ._desks import LoopDesk, ThreadDesk

    desk = LoopDesk(handlers) if owner._on_loop else ThreadDesk(handlers)
    desk.serve(owner)
    desks[desk] = None
    return desk


class PoolBase:
    """A pool: the connections of one workspace."""

    _on_loop: bool

    def __init__(self, **options: Any) -> None:
        #: Its own desk and those of its sessions, which all end with it. A desk comes here before its session is opened, so one that a
        #: close does not find belongs to a session that is refused.
        self._desks: _Desks = weakref.WeakKeyDictionary()
        desk = _desk_of(self, options, self._desks)
        try:
            native = None if desk is None else desk.native
            self._native = _trunkline.construct(_trunkline.Pool, (encode("pool", options), native))
        except BaseException:
            if desk is not None:
                desk.close()
            raise
        self._desk = desk
        _exit.keep(self, self._native)

    def _closed(self) -> None:
        """The end of everything that serves it."""
        _exit.forget(self._native)
        self._end_handlers()

    def _end_handlers(self) -> None:
        # The references are listed in one step, whatever sessions other threads open meanwhile.
        for reference in self._desks.keyrefs():
            desk = reference()
            if desk is not None:
                desk.close()

    def _close_unwatched(self) -> None:
        """Its close goes on, and nobody waits for it: what serves it ends with it all the same."""
        if not self._desks:
            return
        waiter = _trunkline.construct(_trunkline.Waiter, ())
        # What is not to be had, a thread or a pool of this process, leaves nothing to wait for.
        with suppress(RuntimeError, TrunklineError):
            close = waiter, self._native.close(waiter, 0)
            thread = threading.Thread(target=self._close_behind, args=close, name="trunkline-closing", daemon=True)
            _exit.start_thread(thread, self._end_handlers)

    def _close_behind(self, waiter: _trunkline.Waiter, close: _trunkline.Operation) -> None:
        try:
            with suppress(TrunklineError):  # There is nobody to tell.
                waiter.wait(close)
        finally:
            self._closed()
            _exit.forget_thread(threading.current_thread())

    # <operations pool> Written from core/pool/src/interface/operations; do not edit.
    def set_gates(self, **lists: Any) -> dict[str, Any]:
        """Replaces the lists of servers that may run, within the pool's option ``launch_allowed``.
        What is no longer admitted ends at once; what is admitted again starts in the sessions that
        want it. A lease on what was kept out stays closed. Equal lists do nothing. Returns at once.

        ``**lists``: any of ``allowed``, ``excluded`` and ``pending``, lists of patterns of names
        (``*`` any characters, ``?`` one). What is absent is not kept: without ``allowed`` all may
        run, and an empty list is none. Gives the report ``{v, servers: {name: {admitted,
        reason?}}}`` of the servers about which it changed.
        """
        return report_of(self._native.set_gates, encode("gates", lists))

    def explain(self, name: str) -> dict[str, Any]:
        """Why a server, or a tool by its exposed name, is there or is not, by what the pool knows.
        What a session hides or switches off is told by ``Session.explain``. Returns at once.

        Gives ``{v, name, kind, server?, available, reason?, message, from?, remedy?}`` with the
        kind ``server`` or ``tool``, and in ``from`` the ``source``, ``file``, ``line`` and ``list``
        that decide.
        """
        return report_of(self._native.explain, name)

    def status(self, **options: Any) -> dict[str, Any]:
        """The whole pool: servers, entries, processes. It always works, and never shows a secret. With
        ``processes`` it looks at more than the pool's own state.

        Options: ``processes``, as ``docs/reference/options.md`` has it. Gives the status.
        """
        return report_of(self._native.status, encode("status", options))

    def metrics(self, **options: Any) -> str:
        """What the status counts, in the text format of Prometheus (0.0.4), to be served by the host.
        Its labels are names of servers, methods of the protocol and codes of errors: nothing that a
        model or a server writes.

        Options: ``processes``, as ``docs/reference/options.md`` has it. Gives the text.
        """
        return self._native.metrics(encode("status", options))

    def set_source(self, source: str, settings: Mapping[str, Any] | str | None) -> dict[str, Any]:
        """Replaces a source whole by settings, in any form that settings files have, or removes it.
        What is new starts in the sessions that want it, what is gone is released, what is equal is
        not touched. Variables are expanded, and servers of ``project`` and ``workspace`` wait for
        approval. It asks nobody and returns as soon as that is under way. What is new is looked up
        in the calling thread, which so waits for the file system: its programs, its files of
        variables and, the first time, the file of approvals.

        ``source``: a scope (``user``, ``project``, ``workspace``, ``managed``, ``session``,
        ``launch`` or ``extension``), or one with a name after a colon, such as ``extension:git``.
        ``settings``: as a settings file; none removes the source. Gives the report of
        ``Pool.load``.

        Errors: ``invalid_config`` for settings that cannot be read, with ``detail.line``,
        ``invalid_argument`` (``runtime`` has functions of its own).
        """
        return report_of(self._native.set_source, source, None if settings is None else config_text(settings, "settings"))

    def switch_source(self, source: str, to: Literal["on", "off"]) -> dict[str, Any]:
        """Switches a source off, so that it is as if it were empty, or on again. Returns at once, as
        ``Pool.set_source``.

        ``source``: as of ``Pool.set_source``; a scope alone stands for all of its sources, those
        that come later included. Gives the report of ``Pool.load`` without ``findings``.
        """
        return report_of(self._native.switch_source, source, is_on(to, "to"))

    def add_server(self, server: str, config: Mapping[str, Any] | str) -> dict[str, Any]:
        """Adds a server to the run-time source, which beats every other, or replaces it there. Its
        values are taken as they are. Returns at once, as ``Pool.set_source``.

        ``config``: what the settings of one server have (``{"command": ...}``). Gives ``{v, server,
        result, reason?, findings?}`` with the result ``added``, ``replaced``, ``unchanged`` or
        ``refused``, which starts when what refuses it is gone, and with the members that no rule
        knows, as ``[{kind, server, path, nearest?}]``.
        """
        return report_of(self._native.add_server, server, config_text(config))

    def remove_server(self, server: str) -> dict[str, Any]:
        """Takes a server out of the run-time source; what another source says of that name counts
        again. Returns at once.

        Gives ``{v, server, result}`` with the result ``removed`` or ``not_present``.
        """
        return report_of(self._native.remove_server, server)
    # </operations pool>

    def on_event(
        self, callback: Callable[[Event], object], *, kinds: str | Iterable[str] | None = None
    ) -> EventCallback:
        """Calls back for each event of the pool and its sessions, on a thread of its own, in order; a coroutine function is refused."""
        return EventCallback(self._native.subscribe(mask(kinds)), callback)


class SessionBase:
    """A session: one conversation in a host, its holds on servers, and its view of their tools."""

    _on_loop: bool

    def __init__(self, pool: PoolBase, id: str, options: dict[str, Any]) -> None:
        self._pool = pool
        self._provided: _Store = weakref.WeakKeyDictionary()
        desk = _desk_of(self, options, pool._desks)
        try:
            text = encode("session", {"id": id, **options})
            self._native = pool._native.session(text, None if desk is None else desk.native)
        except BaseException:
            if desk is not None:
                desk.close()
            raise
        self._desk = desk

    @property
    def id(self) -> str:
        """Its id."""
        return self._native.id()

    # <operations session> Written from core/pool/src/interface/operations; do not edit.
    def introduction(self, server: str) -> dict[str, Any] | None:
        """What a server that the session holds said of itself, as ``Lease.introduction`` has it.

        Gives what ``Lease.introduction`` gives.

        Errors: ``not_admitted`` for a server that nobody has configured.
        """
        return _said(self._native.introduction(server))

    def tools(self) -> List[ListedItem]:
        """The tools of the session's view. A first list is sorted by exposed name; after that, tools
        that were listed keep their places within the session, and new ones come after them.

        Gives a list of ``{name, server, own_name, trust, always_load, deferred, definition}``, the
        definitions as the servers sent them; it has a number, its revision.
        """
        return self._list("tools")

    def prompts(self) -> List[ListedItem]:
        """The prompts of the session's view, as of ``Session.tools``.

        Gives what ``Session.tools`` gives.
        """
        return self._list("prompts")

    def resources(self) -> List[ListedItem]:
        """The resources of the session's view, as of ``Session.tools``; names are URIs.

        Gives what ``Session.tools`` gives.
        """
        return self._list("resources")

    def resource_templates(self) -> List[ListedItem]:
        """The resource templates of the session's view, as of ``Session.tools``; names are URI
        templates.

        Gives what ``Session.tools`` gives.
        """
        return self._list("resource_templates")

    def configure(self, **options: Any) -> None:
        """Changes what a session sees and wants, at once and without touching a connection. Each
        option replaces what was; what is absent stays. Events tell what is different; equal options
        change nothing. Other ``roots`` are told to the servers of its own connections, whose lists
        are then asked for again; they are looked at on this thread, which a file system may keep
        waiting.

        Options: ``servers``, ``include``, ``exclude``, ``trust``, ``always_load`` and ``roots``, as
        ``docs/reference/options.md`` has them.
        """
        self._native.configure(encode("configure", options))

    def explain(self, name: str) -> dict[str, Any]:
        """Why a server, or a tool by its exposed name, is there for this session or is not, as
        ``Pool.explain`` tells it: with its own servers, and with what it holds, switches off and
        filters.

        Gives what ``Pool.explain`` gives.
        """
        return report_of(self._native.explain, name)

    def disable(self, server: str) -> None:
        """Takes a server away from this session alone: its tools, prompts and resources go, its calls
        are refused with the reason ``disabled``, and the session holds it no longer. Calls under
        way finish. Its leases stay, of no use until ``Session.enable``. Repeating it does nothing.
        """
        self._native.disable(server)

    def enable(self, server: str) -> None:
        """Undoes ``Session.disable``: the server is acquired again for whatever held it, in the
        background, and ``tools_changed`` tells when it is back. Repeating it does nothing.
        """
        self._native.enable(server)
    # </operations session>

    def tools_for(self, shape: str) -> List[dict[str, Any]]:
        """The tools of its view in the shape in which a model API takes them, in the order and with the number of ``tools``.

        ``shape`` is ``"mcp"``, ``"openai"`` (Chat Completions), ``"openai_responses"``, ``"anthropic"``, ``"gemini"``, or ``"any"``: definitions
        whose schemas each of them takes. Schemas are as the servers sent them, but for what the API refuses. An argument whose name it refuses has
        another: calls with the option ``shape`` give it back its own. A tool that Python cannot decode is left out and logged.
        """
        text, revision = self._native.tools_for(shape)
        return List(decoded_list(text, _trunkline.elements), revision)

    def _list(self, kind: str) -> List[ListedItem]:
        rows, revision = self._native.list(kind)
        return List([ListedItem(row) for row in rows], revision)

    def provide(
        self,
        server: str,
        receive: Callable[[HostConnection, str], object],
        closed: Callable[[HostConnection], object] | None = None,
    ) -> None:
        """Provides a server of the host's own to this session alone, for ``acquire``; it is never shared.

        ``receive(connection, frame)`` gets each message of the pool, the text of one JSON-RPC message, and answers by
        ``connection.send(text)``, then or later; ``closed(connection)`` is told last. Both run on a thread of the connection's
        own and may block, which delays this server alone; coroutine functions are refused. What they raise is reported as
        unraisable; from ``receive`` it ends the connection. A server that is lost is connected anew, with another connection.
        Providing a name again replaces it for acquires to come.
        """
        check_plain(receive, "receive")
        check_plain(closed, "closed")
        provided = Provided(self._provided, receive, closed)
        self._native.provide(server, provided.receive, provided.closed)

    def on_event(
        self, callback: Callable[[Event], object], *, kinds: str | Iterable[str] | None = None
    ) -> EventCallback:
        """Calls back for each event of the session, on a thread of its own, in order; a coroutine function is refused."""
        return EventCallback(self._native.subscribe(mask(kinds)), callback)

    def close(self, *, keep_for: float | None = None) -> None:
        """Ends it: its calls are cancelled, its holds go now, or after so many seconds. It does not wait."""
        for provided in list(self._provided):
            provided.keep()
        self._native.close(None if keep_for is None else milliseconds(keep_for, "keep_for"))
        if self._desk is not None:
            self._desk.close()


def report_of(change: Callable[..., str], *args: Any) -> dict[str, Any]:
    try:
        report: dict[str, Any] = json.loads(change(*args))
    except UnicodeEncodeError as error:
        raise not_begun(error, change, args) from None
    return report


def _said(text: str | None) -> dict[str, Any] | None:
    said: dict[str, Any] | None = None if text is None else json.loads(text)
    return said


class LeaseBase:
    """A lease: a session's hold on a server."""

    def __init__(self, owner: object, native: _trunkline.Lease) -> None:
        self._owner = owner  # Keeps the pool.
        self._native = native

    @property
    def server(self) -> str:
        """The server's name."""
        return self._native.server()

    @property
    def entry_index(self) -> int:
        """The entry's index: per server name, stable, never reused."""
        return self._native.entry_index()

    @property
    def generation(self) -> int:
        """The incarnation of the connection; grows with each reconnect."""
        return self._native.generation()

    @property
    def state(self) -> _State:
        """The state of the entry; `closed` once this lease can be used no more."""
        return self._native.state()

    # <operations lease> Written from core/pool/src/interface/operations; do not edit.
    def introduction(self) -> dict[str, Any] | None:
        """What the server of a lease said of itself when it was connected to last. Returns at once.

        Gives ``{protocol_version, server_info, capabilities, instructions}``, the values in the
        protocol's spelling, unverified, and without the secrets that the server has of the host;
        nothing before it was connected to.
        """
        return _said(self._native.introduction())

    def tools(self) -> list[ListedItem]:
        """The tools of this server in the session's view, as of ``Session.tools``.

        Gives what ``Session.tools`` gives.
        """
        return [ListedItem(row) for row in self._native.tools()]
    # </operations lease>

    @property
    def instructions(self) -> str | None:
        """How the server says that it is to be used, in words for a model."""
        said = self.introduction()
        return None if said is None else said["instructions"]

    @property
    def server_info(self) -> dict[str, Any] | None:
        """The server's name, version and what else it says of itself."""
        said = self.introduction()
        return None if said is None else said["server_info"]

    @property
    def capabilities(self) -> dict[str, Any] | None:
        """What the server says that it offers."""
        said = self.introduction()
        return None if said is None else said["capabilities"]

    @property
    def protocol_version(self) -> str | None:
        """The revision of the protocol that is spoken with the server."""
        said = self.introduction()
        return None if said is None else said["protocol_version"]

    def release(self) -> None:
        """Gives the hold up; calls under way go on. Repeating it does nothing."""
        self._native.release()

    def __enter__(self: _L) -> _L:
        return self

    def __exit__(self, *exception: object) -> None:
        with leaving(exception):
            self.release()

    def __repr__(self) -> str:
        return f"<Lease on {self.server!r}, {self.state}>"


if TYPE_CHECKING:
    from typing import TypeVar

    _L = TypeVar("_L", bound=LeaseBase)
