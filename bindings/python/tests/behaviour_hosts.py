"""The two ways in which Python runs a behaviour case: on an event loop, and with blocking calls."""

from __future__ import annotations

import asyncio
import concurrent.futures
import dataclasses
import inspect
import threading
from collections.abc import Callable, Iterator
from typing import Any

import trunkline
import trunkline.sync

from behaviour_types import check_types
from host import HANG, wait_until

#: What asyncio and concurrent.futures raise for a cancelled task.
CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)


@dataclasses.dataclass(frozen=True)
class Early:
    """What another record has of a session, between two events by their numbers."""

    record: Recorder
    session: str
    before: int
    last: int


class Recorder:
    """The events of one subscriber, by type, after what another record has of the beginning."""

    #: A thread that waits for one record may wait for what another has.
    _changed = threading.Condition()

    def __init__(self, early: Early | None = None) -> None:
        self._early = early
        self._events: list[dict[str, Any]] = []
        self._taken: dict[str, int] = {}

    def add(self, event: trunkline.Event) -> None:
        with self._changed:
            check_types(event)
            self._events.append(event.decoded)
            self._changed.notify_all()

    def wait(self, fits: Callable[[dict[str, Any]], bool], kind: str) -> dict[str, Any]:
        """The first event that fits; it goes, and all earlier ones of its type."""
        with self._changed:
            found = self._changed.wait_for(lambda: self.find(fits, kind), HANG)
            assert found is not None, f"no {kind} within {HANG} s; there were {self._events}"
            self._taken[kind] = found["seq"]
            return found

    def find(self, fits: Callable[[dict[str, Any]], bool], kind: str) -> dict[str, Any] | None:
        taken = self._taken.get(kind, 0)
        with self._changed:
            told = (e for e in self._told() if e["type"] == kind and e["seq"] > taken)
            return next((e for e in told if fits(e)), None)

    def _told(self) -> Iterator[dict[str, Any]]:
        if self._early is not None:
            early = self._early
            for event in early.record._events:
                is_its = event.get("session") == early.session
                if is_its and early.before < event["seq"] <= early.last:
                    yield event
        yield from self._events


class AioHost:
    """An event loop on a thread of its own."""

    #: Whether its handlers are plain functions, which may block.
    blocks = False

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._readers: list[asyncio.Task[None]] = []

    def pool(self, **options: Any) -> Any:
        return self.run(lambda: trunkline.Pool(**options))

    def close_pool(self, pool: Any) -> None:
        self.run(pool.aclose)

    def run(self, call: Callable[[], Any]) -> Any:
        """Calls on the loop, and waits for what it gives."""
        return asyncio.run_coroutine_threadsafe(_finished(call), self._loop).result(HANG)

    def start(self, call: Callable[[], Any]) -> AioStarted:
        """Calls on the loop, up to the first wait."""
        return AioStarted(self, self.run(lambda: _begun(call)))

    def record(self, stream: Any, early: Early | None = None) -> Recorder:
        recorder = Recorder(early)

        async def read() -> None:
            async for event in stream:
                recorder.add(event)

        async def begin() -> None:
            self._readers.append(asyncio.ensure_future(read()))

        self.run(begin)
        return recorder

    def close(self) -> None:
        async def rest() -> None:
            await asyncio.gather(*self._readers)

        self.run(rest)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _finished(call: Callable[[], Any]) -> Any:
    value = call()
    return await value if inspect.isawaitable(value) else value


async def _begun(call: Callable[[], Any]) -> asyncio.Task[Any]:
    task = asyncio.ensure_future(_finished(call))
    await asyncio.sleep(0)
    return task


class AioStarted:
    """An operation under way on the loop."""

    def __init__(self, host: AioHost, task: asyncio.Task[Any]) -> None:
        self._host = host
        self._task = task

    def cancel(self) -> None:
        async def cancel() -> None:
            self._task.cancel()

        self._host.run(cancel)

    def finish(self) -> Any:
        async def finish() -> Any:
            return await self._task

        return self._host.run(finish)


class SyncHost:
    """Threads with blocking calls."""

    blocks = True

    def __init__(self) -> None:
        self._readers: list[threading.Thread] = []

    def pool(self, **options: Any) -> Any:
        return trunkline.sync.Pool(**options)

    def close_pool(self, pool: Any) -> None:
        self.run(pool.close)

    def run(self, call: Callable[[], Any]) -> Any:
        """Calls, and cancels what hangs."""
        scope = trunkline.sync.CancelScope()
        bound = threading.Timer(HANG, scope.cancel)
        bound.start()
        try:
            with scope:
                return call()
        finally:
            bound.cancel()
            bound.join()

    def start(self, call: Callable[[], Any]) -> SyncStarted:
        return SyncStarted(call)

    def record(self, stream: Any, early: Early | None = None) -> Recorder:
        recorder = Recorder(early)

        def read() -> None:
            for event in stream:
                recorder.add(event)

        reader = threading.Thread(target=read)
        self._readers.append(reader)
        reader.start()
        return recorder

    def close(self) -> None:
        for reader in self._readers:
            reader.join(HANG)
            assert not reader.is_alive(), "a stream of events did not end with its pool"


class SyncStarted:
    """An operation under way on a thread."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._scope = trunkline.sync.CancelScope()
        self._future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        self._thread = threading.Thread(target=self._run, args=(call,))
        self._thread.start()
        wait_until(lambda: self._scope._operations or self._future.done(), "nothing was started")

    def _run(self, call: Callable[[], Any]) -> None:
        try:
            with self._scope:
                self._future.set_result(call())
        except BaseException as error:
            self._future.set_exception(error)

    def cancel(self) -> None:
        self._scope.cancel()

    def finish(self) -> Any:
        value = self._future.result(HANG)
        self._thread.join()
        return value
