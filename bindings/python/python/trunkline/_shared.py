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
from ._results import event_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from os import PathLike
    from typing import Any, Literal, TypeVar, overload

    from typing_extensions import Unpack

    from ._desks import LoopDesk, ThreadDesk
    from ._hosted import _Store
    from ._listed import List, ListedItem, Prompt, Resource, ResourceTemplate, Tool
    from ._trunkline import GivenList, HostConnection, _Row
    from .events import AnyEvent
    from .reports import (
        DetectedFiles,
        Explanation,
        GateReport,
        Introduction,
        RuntimeReport,
        SourceReport,
        Status,
    )
    from .types import (
        AnthropicTool,
        ConfigureOptions,
        EventKind,
        GatesOptions,
        GeminiTool,
        OpenAIResponsesTool,
        OpenAITool,
        PoolOptions,
        SessionOptions,
        StatusOptions,
        ToolShape,
    )

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


def detect(workspace: str | PathLike[str] = "") -> DetectedFiles:
    """The settings files of products that exist for this user and a workspace, the current directory by default.

    ``{"v": 1, "files": [{"path": …, "format": …, "scope": …}]}``, in the order of ``docs/reference/settings.md``; the scope is
    ``user``, ``project``, ``workspace`` or ``managed``. Some fifty paths are looked up; nothing is opened.
    """
    files: DetectedFiles = report("DetectedFiles", _trunkline.detect(fspath(workspace)))
    return files


def report(name: str, text: str) -> Any:
    """The report of that text, of the class with that name; the classes are imported with the first of them."""
    from . import reports

    return reports.report(name, json.loads(text))


class EventCallback:
    """A callback on events, on a daemon thread of its own. It ends with ``close()``, or with what it listens to."""

    def __init__(
        self, subscription: _trunkline.Subscription, callback: Callable[[AnyEvent], object]
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

    def __repr__(self) -> str:
        return f"<EventCallback, {'closed' if self._closed else 'open'}>"

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
    callback: Callable[[AnyEvent], object],
) -> None:
    try:
        while not handle._closed:
            batch = subscription.take(EVENT_BATCH)
            for text in batch:
                if handle._closed:
                    return
                try:
                    check_taken(callback(event_of(text)))
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

    def __init__(self, **options: Unpack[PoolOptions]) -> None:
        given: dict[str, Any] = {**options}
        self._ended = False
        #: Its own desk and those of its sessions, which all end with it. A desk comes here before its session is opened, so one that a
        #: close does not find belongs to a session that is refused.
        self._desks: _Desks = weakref.WeakKeyDictionary()
        desk = _desk_of(self, given, self._desks)
        try:
            native = None if desk is None else desk.native
            self._native = _trunkline.construct(_trunkline.Pool, (encode("pool", given), native))
        except BaseException:
            if desk is not None:
                desk.close()
            raise
        self._desk = desk
        _exit.keep(self, self._native)

    def _closed(self) -> None:
        """The end of everything that serves it."""
        self._ended = True
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
            close = waiter, self._native.close(waiter, 0, "")
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
    def set_gates(self, **lists: Unpack[GatesOptions]) -> GateReport:
        """Replaces the lists of servers that may run, within the pool's option ``launch_allowed``. A
        server that is no longer admitted ends at once. A server that is admitted again starts in
        the sessions that want it. A lease on a server that was kept out stays closed. Equal lists
        do nothing. Returns at once.

        ``**lists``: any of ``allowed``, ``excluded`` and ``pending``, lists of patterns of names
        (``*`` any characters, ``?`` one). What is absent is not kept: without ``allowed`` all may
        run, and an empty list is none. Gives the report ``{v, servers: {name: {admitted,
        reason?}}}`` of the servers about which it changed.
        """
        report: GateReport = report_of("GateReport", self._native.set_gates, encode("gates", lists))
        return report

    def explain(self, name: str) -> Explanation:
        """Says why the pool has a server, or a tool by its exposed name, or has not.
        ``Session.explain`` says what a session hides or switches off. Returns at once.

        Gives ``{v, name, kind, server?, available, reason?, message, from?, remedy?}`` with the
        kind ``server`` or ``tool``, and in ``from`` the ``source``, ``file``, ``line`` and ``list``
        that decide.
        """
        report: Explanation = report_of("Explanation", self._native.explain, name)
        return report

    def status(self, **options: Unpack[StatusOptions]) -> Status:
        """The whole pool: servers, entries, processes. It always works, and never shows a secret. With
        ``processes`` it looks at more than the pool's own state.

        Options: ``processes``, as ``docs/reference/options.md`` has it. Gives the status.
        """
        report: Status = report_of("Status", self._native.status, encode("status", options))
        return report

    def metrics(self, **options: Unpack[StatusOptions]) -> str:
        """Gives the counts of the status in the text format of Prometheus (0.0.4), for the host to
        serve. Its labels are names of servers, methods of the protocol and codes of errors: nothing
        that a model or a server writes.

        Options: ``processes``, as ``docs/reference/options.md`` has it. Gives the text.
        """
        return self._native.metrics(encode("status", options))

    def set_source(self, source: str, settings: Mapping[str, Any] | str | None) -> SourceReport:
        """Replaces a source whole by settings, in any form that settings files have, or removes it.
        New servers start in the sessions that want them; removed ones are released; equal ones stay
        untouched. Variables are expanded, and servers of ``project`` and ``workspace`` wait for
        approval. It asks nobody and returns once that is under way. The calling thread looks up
        programs and files of variables of new servers, and the first time the file of approvals. So
        it waits for the file system.

        ``source``: a scope (``user``, ``project``, ``workspace``, ``managed``, ``session``,
        ``launch`` or ``extension``), or one with a name after a colon, such as ``extension:git``.
        ``settings``: as a settings file; none removes the source. Gives the report of
        ``Pool.load``.

        Errors: ``invalid_config`` for settings that cannot be read, with ``detail.line``,
        ``invalid_argument`` (``runtime`` has functions of its own).
        """
        report: SourceReport = report_of("SourceReport", self._native.set_source, source, None if settings is None else config_text(settings, "settings"))
        return report

    def switch_source(self, source: str, to: Literal["on", "off"]) -> SourceReport:
        """Switches a source off, so that it is as if it were empty, or on again. Returns at once, as
        ``Pool.set_source``.

        ``source``: as of ``Pool.set_source``; a scope alone stands for all of its sources, those
        that come later included. Gives the report of ``Pool.load`` without ``findings``.
        """
        report: SourceReport = report_of("SourceReport", self._native.switch_source, source, is_on(to, "to"))
        return report

    def add_server(self, server: str, config: Mapping[str, Any] | str) -> RuntimeReport:
        """Adds a server to the run-time source, which beats every other, or replaces it there. Its
        values are taken as they are. Returns at once, as ``Pool.set_source``.

        ``config``: what the settings of one server have (``{"command": ...}``). Gives ``{v, server,
        result, reason?, findings?}`` with the result ``added``, ``replaced``, ``unchanged`` or
        ``refused``, which starts when what refuses it is gone, and with the members that no rule
        knows, as ``[{kind, server, path, nearest?}]``.
        """
        report: RuntimeReport = report_of("RuntimeReport", self._native.add_server, server, config_text(config))
        return report

    def remove_server(self, server: str) -> RuntimeReport:
        """Takes a server out of the run-time source; what another source says of that name counts
        again. Returns at once.

        Gives ``{v, server, result}`` with the result ``removed`` or ``not_present``.
        """
        report: RuntimeReport = report_of("RuntimeReport", self._native.remove_server, server)
        return report
    # </operations pool>

    def __repr__(self) -> str:
        return f"<{self._shown()}>"

    def _shown(self) -> str:
        try:
            status = self.status()
        except TrunklineError as error:
            return f"Pool, {error.code}"
        if "totals" not in status:
            return "Pool, forked"
        totals = status["totals"]
        closing = ", closing" if status["closing"] else ""
        return f"Pool of {totals['servers']} servers, {totals['sessions']} sessions{closing}"

    def on_event(
        self, callback: Callable[[AnyEvent], object], *, kinds: EventKind | Iterable[EventKind] | None = None
    ) -> EventCallback:
        """Calls back for each event of the pool and its sessions, on a thread of its own, in order; a coroutine function is refused."""
        return EventCallback(self._native.subscribe(mask(kinds)), callback)


class SessionBase:
    """A session: one conversation in a host, its holds on servers, and its view of their tools."""

    _on_loop: bool

    def __init__(self, pool: PoolBase, id: str, options: SessionOptions) -> None:
        self._pool = pool
        self._id = id
        self._provided: _Store = weakref.WeakKeyDictionary()
        #: What was listed last, by what lists it.
        self._lists: dict[str, tuple[GivenList, tuple[ListedItem, ...]]] = {}
        #: The tools in each shape, with the number of their list.
        self._shaped: dict[str, tuple[int, tuple[Any, ...]]] = {}
        self._ended = False
        given: dict[str, Any] = {"id": id, **options}
        desk = _desk_of(self, given, pool._desks)
        try:
            text = encode("session", given)
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
    def introduction(self, server: str) -> Introduction | None:
        """Gives what a server that the session holds said of itself, as ``Lease.introduction`` has it.

        Gives what ``Lease.introduction`` gives.

        Errors: ``not_admitted`` for a server that nobody has configured.
        """
        return _said(self._native.introduction(server))

    def tools(self) -> List[Tool]:
        """The tools of the session's view. A first list is sorted by exposed name; after that, tools
        that were listed keep their places within the session, and new ones come after them.

        Gives a list of ``{name, server, own_name, trust, always_load, deferred, definition}``, the
        definitions as the servers sent them; it has a number, its revision.
        """
        return self._list("tools")

    def prompts(self) -> List[Prompt]:
        """The prompts of the session's view, as of ``Session.tools``.

        Gives what ``Session.tools`` gives.
        """
        return self._list("prompts")

    def resources(self) -> List[Resource]:
        """The resources of the session's view, as of ``Session.tools``; names are URIs.

        Gives what ``Session.tools`` gives.
        """
        return self._list("resources")

    def resource_templates(self) -> List[ResourceTemplate]:
        """The resource templates of the session's view, as of ``Session.tools``; names are URI
        templates.

        Gives what ``Session.tools`` gives.
        """
        return self._list("resource_templates")

    def configure(self, **options: Unpack[ConfigureOptions]) -> None:
        """Changes what a session sees and wants, at once and without touching a connection. Each
        option replaces its old value; an absent one stays. Events tell the difference; equal
        options change nothing. The servers of its own connections hear of other ``roots``, and
        their lists are read again. This thread looks at the folders, and a file system may keep it
        waiting.

        Options: ``servers``, ``include``, ``exclude``, ``trust``, ``always_load`` and ``roots``, as
        ``docs/reference/options.md`` has them.
        """
        self._native.configure(encode("configure", options))

    def explain(self, name: str) -> Explanation:
        """Says why this session has a server, or a tool by its exposed name, or has not. Beside what
        ``Pool.explain`` says, the session's own servers, holds, switches and filters count.

        Gives what ``Pool.explain`` gives.
        """
        report: Explanation = report_of("Explanation", self._native.explain, name)
        return report

    def disable(self, server: str) -> None:
        """Takes a server away from this session alone: its tools, prompts and resources go, its calls
        are refused with the reason ``disabled``, and the session holds it no longer. Calls under
        way finish. Its leases stay, of no use until ``Session.enable``. Repeating it does nothing.
        """
        self._native.disable(server)

    def enable(self, server: str) -> None:
        """Undoes ``Session.disable``: the session acquires the server again in the background, and
        ``tools_changed`` tells when it is back. Repeating it does nothing.
        """
        self._native.enable(server)
    # </operations session>

    if TYPE_CHECKING:

        @overload
        def tools_for(self, shape: Literal["openai"]) -> List[OpenAITool]: ...
        @overload
        def tools_for(self, shape: Literal["openai_responses"]) -> List[OpenAIResponsesTool]: ...
        @overload
        def tools_for(self, shape: Literal["anthropic"]) -> List[AnthropicTool]: ...
        @overload
        def tools_for(self, shape: Literal["gemini"]) -> List[GeminiTool]: ...
        @overload
        def tools_for(self, shape: Literal["mcp", "any"]) -> List[dict[str, Any]]: ...
        @overload
        def tools_for(self, shape: ToolShape) -> List[Any]: ...

    def tools_for(self, shape: ToolShape) -> List[Any]:
        """The tools of its view in the shape in which a model API takes them, in the order and with the number of ``tools``.

        ``shape`` is ``"mcp"``, ``"openai"`` (Chat Completions), ``"openai_responses"``, ``"anthropic"``, ``"gemini"``, or ``"any"``: definitions
        whose schemas each of them takes. Schemas are as the servers sent them, but for what the API refuses. An argument whose name it refuses has
        another: calls with the option ``shape`` give it back its own. A tool that Python cannot decode is left out and logged.

        Each call gives a new list of the same frozen tools, until the list is another: ``copy.deepcopy(tool)`` is a tool to change. The
        members of a ``{**tool, …}`` stay frozen.
        """
        from ._listed import List, decoded_list  # With the first list: not every host has one.

        revision, tools = self._shaped.get(shape, (None, ())) if isinstance(shape, str) else (None, ())
        text, now = self._native.tools_for(shape, revision)
        if text is not None:
            tools = tuple(decoded_list(text, _trunkline.elements))
            self._shaped[shape] = (now, tools)
            self._forget_ended()
        return List(tools, now)

    def _list(self, kind: str) -> List[Any]:
        """A new list of the items as they were given last, while they are the same."""
        from ._listed import ITEMS, List

        known: tuple[GivenList | None, tuple[Any, ...]] = self._lists.get(kind, (None, ()))
        rows, revision, given = self._native.list(kind, known[0])
        items = known[1]
        if rows is not None:
            items = tuple(map(ITEMS[kind], rows))
            self._lists[kind] = (given, items)
            self._forget_ended()
        return List(items, revision)

    def _forget_ended(self) -> None:
        """Follows each store, before which a close on another thread may have emptied the lists."""
        if self._ended:
            self._forget_lists()

    def _forget_lists(self) -> None:
        self._lists.clear()
        self._shaped.clear()

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

    def __repr__(self) -> str:
        # Without its tools: a debugger, which shows every object, would read every list.
        state = ", closed" if self._ended or self._pool._ended else ""
        try:
            self._native.check_process()
        except TrunklineError as error:
            state = f", {error.code}"
        return f"<Session {self._id!r}{state}>"

    def on_event(
        self, callback: Callable[[AnyEvent], object], *, kinds: EventKind | Iterable[EventKind] | None = None
    ) -> EventCallback:
        """Calls back for each event of the session, on a thread of its own, in order; a coroutine function is refused."""
        return EventCallback(self._native.subscribe(mask(kinds)), callback)

    def close(self, *, keep_for: float | None = None) -> None:
        """Ends it: its calls are cancelled, its holds go now, or after so many seconds. It does not wait."""
        for provided in list(self._provided):
            provided.keep()
        try:
            self._native.close(None if keep_for is None else milliseconds(keep_for, "keep_for"))
            self._ended = True
        finally:
            self._forget_lists()
        if self._desk is not None:
            self._desk.close()


def report_of(name: str, change: Callable[..., str], *args: Any) -> Any:
    """What a change says, of the class with that name."""
    try:
        text = change(*args)
    except UnicodeEncodeError as error:
        raise not_begun(error, change, args) from None
    return report(name, text)


def _said(text: str | None) -> Introduction | None:
    said: Introduction | None = None if text is None else report("Introduction", text)
    return said


def _items(kind: str, rows: list[_Row]) -> list[Any]:
    from ._listed import ITEMS

    return list(map(ITEMS[kind], rows))


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
    def introduction(self) -> Introduction | None:
        """Gives what the server of a lease said of itself at its last connection. Returns at once.

        Gives ``{protocol_version, server_info, capabilities, instructions}``, the values in the
        protocol's spelling, unverified, and without the secrets that the server has of the host;
        nothing before it was connected to.
        """
        return _said(self._native.introduction())

    def tools(self) -> list[Tool]:
        """The tools of this server in the session's view, as of ``Session.tools``.

        Gives what ``Session.tools`` gives.
        """
        return _items("tools", self._native.tools())
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
        try:
            return f"<Lease on {self.server!r}, {self.state}>"
        except TrunklineError as error:
            return f"<Lease, {error.code}>"


if TYPE_CHECKING:
    _L = TypeVar("_L", bound=LeaseBase)
