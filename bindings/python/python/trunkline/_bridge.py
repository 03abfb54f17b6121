"""Results for event loops: one bridge per loop, made when it is first needed.

Threads of the library put results into the bridge's queue and make its descriptor readable. The loop watches the
descriptor and takes all results that wait in one pass. The answer to a call that waits alone the loop reads itself, from
a descriptor that is on loan to it. Nothing of Python runs on a thread of the library.
"""

from __future__ import annotations

import itertools
import logging
import os
import threading
import weakref
from asyncio import CancelledError, get_running_loop
from contextvars import Context, copy_context

from . import _trunkline
from ._audience import INTERRUPTS, Audience
from ._errors import ForkedError, TrunklineError, not_begun, not_sent
from ._progress import call_options
from ._results import Event, event_of

_log = logging.getLogger("trunkline")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future
    from collections.abc import Callable, Coroutine, Mapping
    from typing import Any

#: How often the thread of a loop that cannot watch descriptors looks whether the loop is still there, in seconds.
_LOOK_AGAIN = 0.5

#: Said where no loop of asyncio runs: in a plain thread, and inside of trio.
NO_LOOP = (
    "no asyncio loop runs in this thread, which the objects of `trunkline` need; those of `trunkline.sync` need none "
    "(with trio, call them by `trio.to_thread.run_sync`)"
)

#: The bridges by the id of their loop. The loop alone keeps its bridge alive, by watching for it.
_bridges: dict[int, weakref.ref[LoopBridge]] = {}

#: Numbers under which results are delivered; never used twice, so a late result can meet nobody else.
next_token = itertools.count(1).__next__


class LoopBridge(_trunkline.Bridge):
    """The results for one loop."""

    __slots__ = ("pending", "receivers", "endings", "_loop")

    def serve(self, loop: AbstractEventLoop) -> None:
        """From the beginning: the native half is constructed without this one."""
        #: Who waits, by number.
        self.pending: dict[int, Future[Any]] = {}
        #: Who is told the progress of a call, by a number of its own.
        self.receivers: dict[int, Callable[[list[str]], None]] = {}
        #: What is done, by the number of a receiver, once the loop is closed. It runs on any thread, and calls nothing of the host's.
        self.endings: dict[int, Callable[[], None]] = {}
        weakref.finalize(self, _end, self.endings).atexit = False
        # Weak: the loop holds the bridge, and nothing in this module may hold the loop.
        self._loop = weakref.ref(loop)
        # What is called from here on is nobody's: a loop keeps the context in which it was asked to watch.
        Context().run(self._begin, loop)

    def _begin(self, loop: AbstractEventLoop) -> None:
        try:
            loop.add_reader(self.fileno(), self.settle)
        except NotImplementedError:
            carrier = threading.Thread(
                target=_carry, args=(self, self._loop), name="trunkline-bridge", daemon=True
            )
            carrier.start()
        else:
            self.read_answers()

    def serves(self, loop: AbstractEventLoop) -> bool:
        """Whether it is that loop's, in this process."""
        return self._loop() is loop and not self.inherited()

    def settle(self) -> None:
        """Takes what waits and gives it to those who wait."""
        batch = self.drain()
        self.settle_batch(batch)
        if len(batch) > 1:
            # The coroutine that awaited one of them goes on in the next pass, and mostly calls
            # again: all calls are written behind them.
            self.join_requests()
            get_running_loop().call_soon(self.write_joined)

    def watch(self, descriptor: int, loan: int) -> None:
        """Has the loop read answers of a server by itself, while the descriptor is on loan to it."""
        Context().run(get_running_loop().add_reader, descriptor, self._read, loan)

    def unwatch(self, descriptor: int) -> None:
        """The counterpart of ``watch``."""
        get_running_loop().remove_reader(descriptor)

    def _read(self, loan: int) -> None:
        self.settle_batch(self.read(loan))

    def settle_batch(self, batch: list[tuple[int, bool, Any]]) -> None:
        """Gives results to those who wait. A result that nobody waits for is dropped; a lease is released by that.

        What a receiver raises to end the program gets out, once all have theirs.
        """
        take = self.pending.pop
        interrupt: BaseException | None = None
        for token, failed, value in batch:
            future = take(token, None)
            if future is None:
                receiver = self.receivers.get(token)
                if receiver is not None:
                    # The rest of the batch is somebody else's.
                    try:
                        receiver(value)
                    except INTERRUPTS as error:
                        interrupt = interrupt or error
                    except BaseException:
                        _log.exception("what arrived was not taken")
                continue
            if future.done():
                continue
            if failed:
                future.set_exception(value)
            else:
                future.set_result(value)
        if interrupt is not None:
            raise interrupt


def bridge_of(loop: AbstractEventLoop) -> LoopBridge:
    """The loop's bridge."""
    ref = _bridges.get(id(loop))
    bridge = ref() if ref is not None else None
    if bridge is not None and bridge.serves(loop):
        return bridge
    for key, ref in list(_bridges.items()):
        if ref() is None:
            _bridges.pop(key, None)
    bridge = _trunkline.construct(LoopBridge, ())
    bridge.serve(loop)
    _bridges[id(loop)] = weakref.ref(bridge)
    return bridge


def _end(endings: dict[int, Callable[[], None]]) -> None:
    for end in endings.copy().values():
        end()


def _loop_for(start: Callable[..., _trunkline.Operation], args: tuple[Any, ...]) -> AbstractEventLoop:
    """The running loop. In a forked child asyncio lets no loop of the parent's run on, and what was the parent's has to say so by itself."""
    try:
        return get_running_loop()
    except RuntimeError:
        method: Any = start
        try:
            method.__self__.check_process()
        except ForkedError as error:
            raise not_begun(error, start, args) from None
        raise RuntimeError(NO_LOOP) from None


async def submit(start: Callable[..., _trunkline.Operation], *args: Any) -> Any:
    """Starts an operation and waits for its end; cancelling the task cancels the operation."""
    loop = _loop_for(start, args)
    bridge = bridge_of(loop)
    future = loop.create_future()
    token = next_token()
    pending = bridge.pending
    pending[token] = future
    try:
        operation = start(bridge, token, *args)
    except BaseException as error:
        # The traceback keeps this frame for as long as somebody keeps the error.
        del bridge, pending[token]
        if isinstance(error, (UnicodeEncodeError, TrunklineError)):
            refused = not_begun(error, start, args)
            del args
            raise refused from error.__cause__
        raise
    # The loop alone keeps the bridge. The traceback of an error keeps this frame, and so it gives up the arguments.
    del bridge, args
    try:
        return await future
    except (CancelledError, GeneratorExit):
        # Its end is for nobody any more.
        pending.pop(token, None)
        operation.cancel()
        raise


def submit_call(
    start: Callable[..., _trunkline.Operation], options: Mapping[str, Any], *args: Any
) -> Coroutine[Any, Any, Any]:
    """Starts a call and waits for its end."""
    try:
        text, callback = call_options(options)
    except TrunklineError as error:
        # Raised once it is awaited: nobody who has the arguments is in its traceback.
        return _refused(not_sent(error).with_traceback(None))
    return submit(start, *args, text) if callback is None else _told(callback, start, *args, text)


async def _refused(error: TrunklineError) -> Any:
    raise error from None


async def _told(
    callback: Callable[[Event], object], start: Callable[..., _trunkline.Operation], *args: Any
) -> Any:
    """As ``submit``; the callback is told the progress of the call, on the loop and in the context of this task."""
    audience, context = Audience(callback, "a progress callback failed", {}), copy_context()

    def receive(events: list[str]) -> None:
        for text in events:
            context.copy().run(audience.tell, event_of(text))

    receivers = bridge_of(_loop_for(start, args)).receivers
    token = next_token()
    receivers[token] = receive
    *given, text = args
    call = submit(start, *given, (text, token))
    del args, given  # The traceback of an error keeps this frame.
    try:
        result = await call
        await audience.told()
        return result
    finally:
        del receivers[token]
        audience.end()


def _carry(bridge: LoopBridge, loop_ref: weakref.ref[AbstractEventLoop]) -> None:
    """For a loop that cannot watch descriptors: hands it one batch at a time, on a thread of Python's."""
    while True:
        readable = bridge.wait(_LOOK_AGAIN)
        loop = loop_ref()
        if loop is None or loop.is_closed():
            return
        if readable:
            try:
                loop.call_soon_threadsafe(bridge.settle_batch, bridge.drain())
            except RuntimeError:  # Closed in between.
                return
        del loop


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_bridges.clear)
