"""Closes: once one has returned nothing of it reaches the host, and none waits for ever (SPEC 16.2; I-16, I-18)."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from typing import Any

import pytest

import trunkline
import trunkline.sync
from trunkline import _exit, _trunkline
from trunkline._desks import LoopDesk, ThreadDesk
from trunkline._handlers import ServerRequest

from host import HANG, Log, opened, run, wait_until

ASKED = """{"kind": "elicitation", "server": "s", "entry_index": 0, "generation": 1, "session": "a",
            "method": "elicitation/create", "params": {}}"""


class Late:
    """A desk whose news were taken while its loop was busy."""

    def __init__(self, native: Any, news: list[tuple[str, int, str]]) -> None:
        self.native = native
        self.news = news
        self.refused: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.native, name)

    def take(self) -> list[tuple[str, int, str]]:
        taken, self.news = self.news, []
        return taken

    def refuse(self, number: int, code: int, message: str) -> None:
        self.refused.append(number)


def test_what_a_server_logged_is_not_told_behind_the_close(log: Log) -> None:
    """I-16, SPEC 16.2: the loop was busy when it came, and has it before it when the session is closed."""

    async def main() -> None:
        heard: list[str] = []
        async with opened(log) as (pool, _session, _lease):
            handlers = {"logging": lambda event: heard.append(event["data"])}
            session = pool.session("b", servers=[], handlers=handlers)
            lease = await session.acquire("s", log.server())
            call = asyncio.ensure_future(lease.call_tool("log", {"text": "late"}))
            await asyncio.sleep(0)
            desk: Any = session._desk
            native, deadline = desk.native, time.monotonic() + HANG
            # The loop is not let go on before the news are there; it is woken for them.
            while not (news := native.take()):
                assert time.monotonic() < deadline, "nothing was logged"
                time.sleep(0.005)
            desk.native = Late(native, news)
            session.close()
            await asyncio.wait({call}, timeout=HANG / 3)
            for _ in range(20):
                await asyncio.sleep(0)
            assert [what for what, _, _ in news] == ["logged"] and not desk.native.news, "the loop looked"
            assert heard == []

    run(main())


@pytest.mark.parametrize("taken", ["before", "behind"])
def test_a_request_does_not_come_to_its_handler_behind_the_close(taken: str) -> None:
    """I-16, SPEC 15.1, 16.2: nor where its task had yet to begin."""

    async def main() -> None:
        requests: list[ServerRequest] = []
        desk: Any = LoopDesk({"elicitation": requests.append})
        desk.native = Late(desk.native, [("asked", 1, ASKED)])
        if taken == "before":
            desk._look()
            assert desk._tasks and not requests
        desk.close()
        if taken == "behind":
            desk._look()
            assert desk.native.refused == [1]
        while desk._tasks:
            await asyncio.sleep(0)
        assert requests == []

    run(main())


def test_a_request_whose_thread_had_yet_to_begin_comes_to_no_handler() -> None:
    """I-16, SPEC 15.1, 16.2."""
    requests: list[ServerRequest] = []
    desk: Any = ThreadDesk({"elicitation": requests.append})
    request = desk._open.setdefault(1, ServerRequest(ASKED))
    desk.close()
    desk._answer(1, request)
    assert request.withdrawn and requests == []


def test_what_waits_for_a_slow_logging_handler_is_not_told_by_the_next_pass() -> None:
    """I-16, SPEC 16.2: the task that would tell it may go on before the one that ends it."""

    async def main() -> None:
        told: list[str] = []
        go_on = asyncio.Event()

        async def logging(event: trunkline.Event) -> None:
            told.append(event["data"])
            await go_on.wait()

        desk: Any = LoopDesk({"logging": logging})
        for text in ("first", "second"):
            desk._logged(trunkline.Event(f'{{"data": "{text}"}}'))
        await asyncio.sleep(0)
        go_on.set()
        desk.close()
        while desk._tasks:
            await asyncio.sleep(0)
        assert told == ["first"]

    run(main())


def test_the_close_of_a_pool_ends_the_log_of_its_sessions(log: Log) -> None:
    """I-16, SPEC 16.2: no session is closed here but by its pool."""
    told: list[str] = []
    begun, go_on = threading.Event(), threading.Event()

    def slow(event: trunkline.Event) -> None:
        told.append(event["data"])
        begun.set()
        go_on.wait(HANG)

    pool = trunkline.sync.Pool()
    session: Any = pool.session("a", servers=[], handlers={"logging": slow})
    lease = session.acquire("s", log.server())
    for text in ("first", "second", "third"):
        lease.call_tool("log", {"text": text})
    assert begun.wait(HANG)
    wait_until(lambda: len(session._desk._untold) == 2, "the others wait")
    telling = [thread for thread in threading.enumerate() if thread.name == "trunkline-logging"]
    pool.close()
    go_on.set()
    for thread in telling:
        thread.join(HANG / 3)
    assert told == ["first"] and not any(thread.is_alive() for thread in telling)


@pytest.mark.parametrize("way", ["waits", "cancelled"])
def test_the_close_of_a_pool_ends_the_handlers_that_its_sessions_have_on_a_loop(log: Log, way: str) -> None:
    """I-16, SPEC 16.2: nor where nobody waits for the close, and the pool has no handlers itself."""

    async def main() -> None:
        told: list[str] = []
        go_on = asyncio.Event()

        async def logging(event: trunkline.Event) -> None:
            told.append(event["data"])
            await go_on.wait()

        pool = trunkline.Pool()
        session: Any = pool.session("a", servers=[], handlers={"logging": logging})
        lease = await session.acquire("s", log.server())
        for text in ("first", "second", "third"):
            await lease.call_tool("log", {"text": text})
        while len(session._desk._untold) < 2:
            await asyncio.sleep(0.005)
        if way == "waits":
            await pool.aclose()
            go_on.set()
        else:
            closing = asyncio.ensure_future(pool.aclose())
            await asyncio.sleep(0)
            closing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await closing
        deadline = time.monotonic() + HANG / 3
        while session._desk._tasks:
            assert time.monotonic() < deadline, "it is not ended"
            await asyncio.sleep(0.005)
        assert told == ["first"]

    run(main())


def close_each_other(*, through: int) -> list[threading.Thread]:
    """As many callbacks as that wait for one another at one moment and then each close the next; gives their threads."""
    meet = threading.Barrier(through)
    handles: list[Any] = []
    known = threading.Event()
    ends: list[int] = []

    def closes(number: int) -> Any:
        def callback(event: trunkline.Event) -> None:
            assert known.wait(HANG)
            meet.wait(HANG)
            handles[(number + 1) % through].close()
            ends.append(number)

        return callback

    with trunkline.sync.Pool() as pool:
        handles += [pool.on_event(closes(number), kinds="reconciled") for number in range(through)]
        known.set()
        pool.add_server("s", {"command": "true"})
        threads = [handle._thread for handle in handles]
        for thread in threads:
            thread.join(HANG / 3)
    assert sorted(ends) == list(range(through)), "they wait for each other for ever"
    return threads


@pytest.mark.parametrize("through", [1, 2, 3])
def test_callbacks_that_close_each_other_all_return(through: int) -> None:
    """I-18, SPEC 16.2: the last one that closes the ring does not wait; nothing of the waits is kept."""
    assert not any(thread.is_alive() for thread in close_each_other(through=through))
    assert _exit._waits == {}


def test_a_callback_and_a_handler_of_logs_that_close_each_other_both_return() -> None:
    """I-18, SPEC 16.2, 16.7."""
    meet = threading.Barrier(2)
    ends: list[str] = []

    class Closes(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if not ends and threading.current_thread().name == "trunkline-logs":
                meet.wait(HANG / 3)
                handle.close()
                ends.append("logs")

    def callback(event: trunkline.Event) -> None:
        meet.wait(HANG / 3)
        logs.close()
        ends.append("callback")

    logger, handler = logging.getLogger("trunkline"), Closes()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(1)
    try:
        with trunkline.sync.Pool() as pool:
            handle = pool.on_event(callback, kinds="reconciled")
            logs = trunkline.start_logs("trace")
            pool.add_server("s", {"command": "true"})
            for thread in (handle._thread, logs._thread):
                thread.join(HANG / 3)
        assert sorted(ends) == ["callback", "logs"], "they wait for each other for ever"
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def test_a_close_waits_for_a_callback_that_waits_for_nobody() -> None:
    """I-16, SPEC 16.2: inside of another callback too."""
    begun, go_on = threading.Event(), threading.Event()
    ends: list[str] = []

    def slow(event: trunkline.Event) -> None:
        begun.set()
        go_on.wait(HANG)
        ends.append("slow")

    def closes(event: trunkline.Event) -> None:
        assert begun.wait(HANG)
        first.close()
        ends.append("closes")

    with trunkline.sync.Pool() as pool:
        first = pool.on_event(slow, kinds="reconciled")
        closing = pool.on_event(closes, kinds="reconciled")._thread
        pool.add_server("s", {"command": "true"})
        wait_until(lambda: _exit._waits.get(closing) == (first._thread,), "the close waits", HANG / 3)
        assert ends == []
        go_on.set()
        wait_until(lambda: "closes" in ends, "the close returns", HANG / 3)
    assert ends == ["slow", "closes"]


class ClosesBehindTheTake:
    """A subscription that another thread closes, to the end of the close, once its events have been taken."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.native = stream._native
        self.taken = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.native, name)

    def take(self, most: int) -> list[str]:
        self.taken += 1
        if self.taken > 1:
            return []
        closing = threading.Thread(target=self.stream.close)
        closing.start()
        closing.join(HANG)
        return [f'{{"type": "failed", "seq": {number}}}' for number in range(3)]


def test_a_blocking_stream_gives_nothing_that_was_taken_before_its_close() -> None:
    """I-16, SPEC 16.2."""
    with trunkline.sync.Pool() as pool:
        stream: Any = pool.events(kinds="failed")
        stream._native = ClosesBehindTheTake(stream)
        assert list(stream) == [] and stream._native.taken and not stream._taken


def test_a_stream_of_a_loop_gives_nothing_that_was_taken_before_its_close() -> None:
    """I-16, SPEC 16.2."""

    async def main() -> None:
        async with trunkline.Pool() as pool:
            stream: Any = pool.events(kinds="failed")
            stream._native = ClosesBehindTheTake(stream)
            assert await anext(stream, None) is None and stream._native.taken and not stream._taken

    run(main())


@pytest.mark.parametrize("way", ["blocking", "loop"])
def test_a_stream_that_is_closed_amid_what_it_has_taken_gives_no_more(way: str) -> None:
    """I-16, SPEC 16.2."""
    with trunkline.sync.Pool() as pool:
        if way == "blocking":
            stream: Any = pool.events(kinds="reconciled")
        else:
            stream = trunkline.EventStream(pool, pool._native.subscribe(_trunkline.event_bits()["reconciled"]))
        for number in range(3):
            pool.add_server(f"s{number}", {"command": "true"})

        async def rest() -> list[trunkline.Event]:
            return [event async for event in stream]

        async def first() -> trunkline.Event:
            return await anext(stream)

        event = stream.next(timeout=HANG) if way == "blocking" else run(first())
        assert "s0" in event["servers"]
        stream.close()
        assert (list(stream) if way == "blocking" else run(rest())) == []


@pytest.mark.parametrize(
    ("of_pool", "of_close"), [({}, {"force": True}), ({}, {"timeout": 0.1}), ({"close_timeout": 0.1}, {})]
)
def test_a_close_is_as_patient_as_it_is_told(log: Log, of_pool: Any, of_close: Any) -> None:
    """SPEC 9.7."""

    async def main() -> None:
        pool = trunkline.Pool(**of_pool)
        lease = await pool.session("a", servers=[]).acquire("s", log.server())
        call = asyncio.ensure_future(lease.call_tool("sleep", {"ms": 600_000}))
        while not pool.status().servers["s"].entries[0].in_flight:
            await asyncio.sleep(0.005)
        await pool.aclose(**of_close)
        with pytest.raises(trunkline.CallInterruptedError):
            await call

    run(main())


def test_a_blocking_close_takes_the_same_options(log: Log) -> None:
    """SPEC 9.7, 16.5."""
    pool = trunkline.sync.Pool()
    lease = pool.session("a", servers=[]).acquire("s", log.server())
    caught: list[BaseException] = []

    def call() -> None:
        try:
            lease.call_tool("sleep", {"ms": 600_000})
        except trunkline.TrunklineError as error:
            caught.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    wait_until(lambda: pool.status().servers["s"].entries[0].in_flight, "the call did not begin")
    with pytest.raises(trunkline.InvalidArgumentError, match="did you mean|nearest is timeout"):
        pool.close(timout=1)  # type: ignore[call-arg]
    pool.close(force=True, timeout=5)
    thread.join(HANG)
    assert [type(error) for error in caught] == [trunkline.CallInterruptedError]
