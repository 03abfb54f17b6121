"""Functions of a host that give back something to be awaited: it is awaited, or they are refused (SPEC 15.1, 16.2, 16.5)."""

from __future__ import annotations

import asyncio
import inspect
import sys
import threading
from functools import partial
from typing import Any

import pytest

import trunkline
import trunkline.sync
from trunkline._audience import Audience
from trunkline._desks import LoopDesk

from host import HANG, Log, opened, run, wait_until


async def told(*_given: object) -> None:
    """What a host writes who does not know that nobody awaits it."""


class Told:
    """The same as an object."""

    async def __call__(self, *_given: object) -> None:
        pass


COROUTINE_FUNCTIONS = [told, partial(told, 1), Told()]


@pytest.mark.parametrize("way", ["function", "lambda"])
def test_progress_is_told_to_a_coroutine_in_order_before_the_result(log: Log, way: str) -> None:
    """SPEC 5.9, 16.2: what it raises is logged, and it is told the rest."""
    seen: list[int] = []

    async def progress(event: trunkline.Event) -> None:
        # The first takes the longest.
        for _ in range(10 - event["progress"]):
            await asyncio.sleep(0)
        seen.append(event["progress"])
        if event["progress"] == 2:
            raise ValueError("as asked")

    async def main() -> None:
        async with opened(log) as (_pool, _session, lease):
            given: Any = progress if way == "function" else lambda event: progress(event)
            await lease.call_tool("progress", {"steps": 4}, progress=given)
            assert seen == [1, 2, 3, 4]

    run(main())


def test_a_call_that_is_cancelled_ends_the_coroutine_that_it_waits_for(log: Log) -> None:
    """SPEC 5.5, 16.2."""

    async def main() -> None:
        begun, ended = asyncio.Event(), asyncio.Event()

        async def progress(event: trunkline.Event) -> None:
            begun.set()
            try:
                await asyncio.sleep(HANG)
            finally:
                ended.set()

        async with opened(log) as (_pool, _session, lease):
            call = asyncio.ensure_future(lease.call_tool("progress", {"steps": 2}, progress=progress))
            await asyncio.wait_for(begun.wait(), HANG / 3)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await asyncio.wait_for(ended.wait(), HANG / 3)

    run(main())


def test_a_logging_handler_may_be_a_coroutine(log: Log) -> None:
    """SPEC 15.1, 16.2: it is told in order, and cancelled with its session."""

    async def main() -> None:
        heard: list[str] = []
        all_heard, ended = asyncio.Event(), asyncio.Event()

        async def logging(event: trunkline.Event) -> None:
            await asyncio.sleep(0)
            heard.append(event["data"])
            if len(heard) == 3:
                all_heard.set()
                try:
                    await asyncio.sleep(HANG)
                finally:
                    ended.set()

        async with trunkline.Pool() as pool:
            async with pool.session("a", servers=[], handlers={"logging": logging}) as session:
                lease = await session.acquire("s", log.server())
                for text in ("one", "two", "three"):
                    await lease.call_tool("log", {"text": text})
                await asyncio.wait_for(all_heard.wait(), HANG / 3)
                assert heard == ["one", "two", "three"]
            await asyncio.wait_for(ended.wait(), HANG / 3)

    run(main())


@pytest.mark.parametrize("function", COROUTINE_FUNCTIONS)
def test_coroutine_functions_are_refused_where_no_loop_runs_them(log: Log, function: Any) -> None:
    """SPEC 16.5: each by the name under which it was given."""
    with trunkline.sync.Pool() as pool, pool.session("a", servers=[]) as session:
        lease = session.acquire("s", log.server())
        attempts: dict[str, list[Any]] = {
            "callback": [lambda: pool.on_event(function), lambda: session.on_event(function)],
            "progress": [lambda: lease.call_tool("progress", {"steps": 1}, progress=function)],
            "receive": [lambda: session.provide("own", function)],
            "closed": [lambda: session.provide("own", print, function)],
            "handlers.elicitation": [lambda: pool.session("b", handlers={"elicitation": function})],
            "handlers.logging": [lambda: pool.session("b", handlers={"logging": function})],
        }
        for path, ways in attempts.items():
            for attempt in ways:
                with pytest.raises(trunkline.InvalidArgumentError) as caught:
                    attempt()
                assert caught.value.detail == {"path": path}


def test_what_a_plain_callback_gives_back_to_be_awaited_is_logged(log: Log, caplog: pytest.LogCaptureFixture) -> None:
    """SPEC 16.2: a coroutine that nobody runs is a failure of its maker."""
    with trunkline.sync.Pool() as pool, pool.session("a", servers=[]) as session:
        with pool.on_event(lambda event: told(), kinds="status_changed"):
            lease = session.acquire("s", log.server())
            wait_until(lambda: "an event callback failed" in caplog.text, "it is logged", HANG / 3)
        lease.call_tool("progress", {"steps": 1}, progress=lambda event: told())
    assert "a progress callback failed" in caplog.text and "await" in caplog.text


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_plain_receive_that_gives_back_a_coroutine_ends_its_connection() -> None:
    """SPEC 2.1, 16.2: at once, instead of never answering."""
    over = threading.Event()
    with trunkline.sync.Pool() as pool, pool.session("a", servers=[]) as session:
        session.provide("own", lambda connection, frame: told(), lambda connection: over.set())
        with pytest.raises(trunkline.TrunklineError) as caught:
            session.acquire("own", timeout=HANG / 3)
        assert not isinstance(caught.value, trunkline.TimeoutError)
        assert over.wait(HANG)


def test_an_object_with_a_coroutine_to_be_called_runs_on_the_loop() -> None:
    """SPEC 2.1, 16.2."""

    async def main() -> None:
        called = asyncio.Event()

        class Receive:
            async def __call__(self, connection: trunkline.HostConnection, frame: str) -> None:
                called.set()
                connection.close()

        async with trunkline.Pool() as pool, pool.session("a", servers=[]) as session:
            session.provide("own", Receive())
            with pytest.raises(trunkline.TrunklineError):
                await session.acquire("own", timeout=HANG / 3)
            await asyncio.wait_for(called.wait(), HANG / 3)

    run(main())


def test_a_cancellation_before_the_first_step_costs_no_later_event() -> None:
    """SPEC 16.2."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        never: asyncio.Future[None] = loop.create_future()
        told: list[str] = []
        audience = Audience(lambda event: told.append(event.text) or never, "it failed", {})
        audience.tell(trunkline.Event("first"))
        audience.end()
        await asyncio.sleep(0)
        audience.tell(trunkline.Event("second"))
        assert told == ["first", "second"]
        audience.end()
        await asyncio.wait_for(audience.told(), HANG / 3)

    run(main())


@pytest.mark.parametrize("kind", ["coroutine", "future"])
def test_a_cancellation_before_the_first_step_ends_what_was_to_be_awaited(kind: str) -> None:
    """SPEC 16.2: nothing is left that nobody awaits, and what waited behind it is not told behind a later event."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        told: list[str] = []
        given: list[Any] = []

        async def never() -> None:
            await loop.create_future()

        def progress(event: trunkline.Event) -> Any:
            told.append(event.text)
            given.append(never() if kind == "coroutine" else loop.create_future())
            return given[-1]

        tasks: dict[int, asyncio.Task[None]] = {}
        audience = Audience(progress, "it failed", tasks)
        for text in ("first", "second"):
            audience.tell(trunkline.Event(text))
        (task,) = tasks.values()
        task.cancel()  # As a loop does at its end, and as a host may.
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        if kind == "coroutine":
            assert inspect.getcoroutinestate(given[0]) == inspect.CORO_CLOSED
        else:
            assert given[0].cancelled()
        assert not tasks
        audience.tell(trunkline.Event("third"))
        await asyncio.sleep(0)
        audience.end()
        await audience.told()
        assert told == ["first", "third"] and not audience._untold

    run(main())


class Stubborn:
    """Makes nothing of its cancellation."""

    def __init__(self) -> None:
        self.seen = 0

    async def tell(self, _event: trunkline.Event) -> None:
        self.seen += 1
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            pass


def test_what_waits_is_not_told_once_its_call_has_ended() -> None:
    """SPEC 5.5: whatever a function makes of its cancellation."""

    async def main() -> None:
        stubborn = Stubborn()
        audience = Audience(stubborn.tell, "it failed", {})
        for _ in range(3):
            audience.tell(trunkline.Event("{}"))
        await asyncio.sleep(0)
        audience.end()
        await audience.told()
        assert stubborn.seen == 1

    run(main())


def test_a_cancellation_of_what_a_function_awaits_costs_no_later_event(caplog: pytest.LogCaptureFixture) -> None:
    """SPEC 5.9, 16.2: nobody cancelled the function. Before Python 3.11 nothing says so, and the telling is over."""
    told = ["first", "second", "third"] if sys.version_info >= (3, 11) else ["first"]
    seen: list[str] = []

    async def gives_up(event: trunkline.Event) -> None:
        seen.append(event.text)
        gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        gone.cancel()
        await gone

    async def main() -> None:
        audience = Audience(gives_up, "it failed", {})
        for text in ("first", "second", "third"):
            audience.tell(trunkline.Event(text))
        await asyncio.wait_for(audience.told(), HANG / 3)

    run(main())
    assert seen == told
    assert caplog.text.count("it failed") == (3 if len(told) == 3 else 0)


def test_what_waits_is_not_logged_once_its_session_is_closed() -> None:
    """SPEC 2.1, 16.2: whatever the handler makes of its cancellation."""

    async def main() -> None:
        stubborn = Stubborn()
        desk = LoopDesk({"logging": stubborn.tell})
        for _ in range(3):
            desk._logged(trunkline.Event("{}"))
        (task,) = desk._tasks.values()
        await asyncio.sleep(0)
        desk.close()
        try:
            await asyncio.wait({task}, timeout=HANG / 3)
            assert stubborn.seen == 1
        finally:
            while desk._tasks:
                task.cancel()
                await asyncio.sleep(0)

    run(main())
