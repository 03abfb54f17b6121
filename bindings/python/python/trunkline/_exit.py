"""The end of the interpreter: pools are closed, so that no server outlives the host, and threads are joined.

Pools are known here by their native halves, so that a pool that is forgotten without a close is closed as well.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
import weakref

from . import _trunkline
from ._errors import TrunklineError, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

#: Seconds for everything together. Calls are interrupted at once; what then takes time is a server that ignores the
#: end of its input, which has two graces of a second by default.
_EXIT_TIME = 5.0

#: Pools that are open.
_open: set[_trunkline.Pool] = set()
#: Closes under way of pools that were forgotten.
_closing: list[tuple[_trunkline.Waiter, _trunkline.Operation]] = []
#: Functions that end a thread, and the thread.
_threads: dict[threading.Thread, Callable[[], Any]] = {}
#: Whom a thread waits for in `join_thread`: several where a signal handler, or a finalizer, waits in the midst of a wait.
_waits: dict[threading.Thread, tuple[threading.Thread, ...]] = {}


def keep(pool: object, native: _trunkline.Pool) -> None:
    """Closes the native pool when its owner is collected, or at the exit."""
    _open.add(native)
    weakref.finalize(pool, _abandon, native).atexit = False


def forget(native: _trunkline.Pool) -> None:
    """It is closed."""
    _open.discard(native)


def start_thread(thread: threading.Thread, end: Callable[[], Any]) -> None:
    """Starts the thread, which is ended and joined at the exit. Where there is none to be had, what it was for ends at once."""
    _threads[thread] = end
    try:
        refuse_green_threads()
        thread.start()
    except BaseException:
        forget_thread(thread)
        end()
        raise


def refuse_green_threads() -> None:
    """Where a library has put its own threads in the place of the system's, one that waits for the library stops all of them."""
    for product, module, asks, name in _GREEN:
        loaded = sys.modules.get(module)
        if loaded is not None and getattr(loaded, asks)(name):
            raise invalid(
                f"{product} has replaced the threads of Python, and this needs one that waits outside of Python",
                hint=f"leave threads as they are ({product}'s `thread=False`), or poll `status` and use no callbacks, handlers or logs",
            )


def forget_thread(thread: threading.Thread) -> None:
    """It ends by itself."""
    _threads.pop(thread, None)


def join_thread(thread: threading.Thread) -> None:
    """Waits for its end, unless it is this one or waits for this one itself, directly or through others: both would wait for ever.

    What a thread waits for is noted before it looks, so that of those that close a ring the last one sees it. There is no lock, which
    a finalizer could find held by its own thread.
    """
    here = threading.current_thread()
    before = _waits.get(here, ())
    _waits[here] = (*before, thread)
    try:
        if not _waits_for(thread, here):
            thread.join()
    finally:
        if before:
            _waits[here] = before
        else:
            _waits.pop(here, None)


def _waits_for(thread: threading.Thread, other: threading.Thread) -> bool:
    """Whether it is that thread, or waits for it, directly or through others."""
    seen: set[threading.Thread] = set()
    left = [thread]
    while left:
        one = left.pop()
        if one is other:
            return True
        if one not in seen:
            seen.add(one)
            left += _waits.get(one, ())
    return False


def _abandon(native: _trunkline.Pool) -> None:
    if native not in _open:
        return
    _open.discard(native)
    _closing[:] = [one for one in _closing if not one[0].filled()]
    _start_close(native)


def _start_close(native: _trunkline.Pool) -> None:
    waiter = _trunkline.construct(_trunkline.Waiter, ())
    try:
        _closing.append((waiter, native.drain_all(waiter, 0, _DRAIN)))
    except TrunklineError:
        pass  # It is closed already, or was never this process's.


def _at_exit() -> None:
    deadline = time.monotonic() + _EXIT_TIME
    for native in list(_open):
        _start_close(native)
    for end in list(_threads.values()):
        end()
    for waiter, operation in _closing:
        try:
            waiter.wait(operation, max(0.0, deadline - time.monotonic()))
        except TrunklineError:
            pass  # There is nobody left to tell.
    for thread in list(_threads):
        # Another thread may be about to start it.
        if thread.is_alive() and thread is not threading.current_thread():
            thread.join(max(0.0, deadline - time.monotonic()))


def _after_fork() -> None:
    _open.clear()
    _closing.clear()
    _threads.clear()
    _waits.clear()


#: Who replaces threads: the product, its module, the question of that, and what is asked about.
_GREEN = (
    ("gevent", "gevent.monkey", "is_module_patched", "threading"),
    ("eventlet", "eventlet.patcher", "is_monkey_patched", "thread"),
)

_DRAIN = f'{{"force":true,"timeout_ms":{int(_EXIT_TIME * 1000)}}}'

atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
