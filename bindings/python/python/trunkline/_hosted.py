"""Servers that the host provides: what keeps their functions, and coroutines, which run on the event loop."""

from __future__ import annotations

import logging
import weakref
from asyncio import get_running_loop
from contextlib import suppress
from contextvars import copy_context
from functools import partial

from ._audience import check_taken, is_coroutine_function
from ._bridge import bridge_of, next_token
from ._errors import ForkedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Task
    from collections.abc import Callable, Coroutine
    from contextvars import Context
    from typing import Any

    from ._trunkline import HostConnection

    #: The function of each message, and the one of the end.
    _Functions = tuple[Callable[..., object], Callable[..., object] | None]
    #: The functions of a session's servers.
    _Store = weakref.WeakKeyDictionary["Provided", _Functions]


class Provided:
    """What the library has of a provided server: it does not keep its functions, since these may refer to their session.

    Their session keeps them, for as long as the library has this. Once the session is closed on purpose this keeps them, to tell
    the end of each connection; what belongs to a session that was forgotten is told nothing.
    """

    __slots__ = ("_store", "_functions", "__weakref__")

    def __init__(self, store: _Store, receive: Callable[..., object], closed: Callable[..., object] | None) -> None:
        self._store = weakref.ref(store)
        self._functions: _Functions | None = None
        store[self] = receive, closed

    def keep(self) -> None:
        """Keeps its functions from here on."""
        self._functions = self._found()

    def receive(self, connection: HostConnection, frame: str) -> None:
        functions = self._found()
        if functions is None:
            connection.close()
        else:
            check_taken(functions[0](connection, frame))

    def closed(self, connection: HostConnection) -> None:
        functions = self._found()
        if functions is not None and functions[1] is not None:
            check_taken(functions[1](connection))

    def _found(self) -> _Functions | None:
        store = self._store()
        return self._functions if store is None else store.get(self, self._functions)


def on_loop(receive: Callable[..., object], closed: Callable[..., object] | None) -> _Functions:
    """The pair as the library calls it: a plain function as it is, and for a coroutine function one that starts it on the running loop.

    What is started begins in the order of the calls, in this context.
    """
    start, tell = _wrap(receive), None if closed is None else _wrap(closed)
    if start is receive:
        return receive, tell
    connections: dict[int, HostConnection] = {}

    def take(connection: HostConnection, frame: str) -> None:
        connections[connection.id] = connection
        start(connection, frame)

    def end(connection: HostConnection) -> None:
        connections.pop(connection.id, None)
        if tell is not None:
            check_taken(tell(connection))

    # The end of the loop takes the answers along that are under way in it.
    endings, token = bridge_of(get_running_loop()).endings, next_token()
    endings[token] = partial(_close_all, connections)
    weakref.finalize(take, endings.pop, token, None)
    return take, end


def _close_all(connections: dict[int, HostConnection]) -> None:
    """Their loop is closed: nobody answers any more, and a caller need not wait for that."""
    for connection in connections.copy().values():
        with suppress(ForkedError):
            connection.close()


def _wrap(function: Callable[..., object]) -> Callable[..., object]:
    if not is_coroutine_function(function):
        return function
    loop, context = get_running_loop(), copy_context()

    def start(connection: HostConnection, *rest: Any) -> None:
        _start(loop, context, function(connection, *rest), connection)

    return start


def _start(
    loop: AbstractEventLoop, context: Context, coroutine: Coroutine[Any, Any, object], connection: HostConnection
) -> None:
    def begin() -> None:
        loop.create_task(coroutine).add_done_callback(ended)

    def ended(task: Task[object]) -> None:
        if task.cancelled():
            connection.close()
        elif (error := task.exception()) is not None:
            logger = logging.getLogger("trunkline")
            logger.error("a server of the host's own failed", exc_info=error)
            connection.close()

    try:
        loop.call_soon_threadsafe(begin, context=context)
    except RuntimeError:
        # The loop is closed, and with it the provider of the server.
        coroutine.close()
        connection.close()
