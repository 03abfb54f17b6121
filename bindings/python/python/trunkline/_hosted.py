"""Servers that the host provides and whose functions are coroutines: they run on the event loop."""

from __future__ import annotations

import logging
from asyncio import get_running_loop, run_coroutine_threadsafe
from inspect import iscoroutinefunction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Coroutine
    from concurrent.futures import Future
    from typing import Any

    from ._trunkline import HostConnection


def on_loop(function: Callable[..., object]) -> Callable[..., object]:
    """The function itself, or for a coroutine function one that starts it on the running loop, in the order of the calls."""
    if not iscoroutinefunction(function):
        return function
    loop = get_running_loop()

    def start(connection: HostConnection, *rest: Any) -> None:
        _start(loop, function(connection, *rest), connection)

    return start


def _start(
    loop: AbstractEventLoop, coroutine: Coroutine[Any, Any, object], connection: HostConnection
) -> None:
    def ended(future: Future[object]) -> None:
        if future.cancelled():
            connection.close()
        elif (error := future.exception()) is not None:
            logger = logging.getLogger("trunkline")
            logger.error("a server of the host's own failed", exc_info=error)
            connection.close()

    try:
        run_coroutine_threadsafe(coroutine, loop).add_done_callback(ended)
    except RuntimeError:
        # The loop is closed, and whoever provided the server with it.
        coroutine.close()
        connection.close()
