"""Events: as an asynchronous iterator, as a blocking one, and as a callback (SPEC 16.2, 16.6)."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import time
from typing import Any

import pytest

import trunkline
import trunkline.sync

from host import HANG, Log, run, wait_until


def test_a_change_is_told_to_each_session(log: Log) -> None:
    """SPEC 7.4, 16.6."""

    async def main() -> None:
        async with trunkline.Pool() as pool:
            await pool.reconcile({"s": log.server("--list-changes")})
            async with pool.session("a") as a, pool.session("b") as b:
                lease, _ = await asyncio.gather(a.acquire("s"), b.acquire("s"))
                streams = [a.events(kinds={"tools_changed"}), b.events(kinds=["tools_changed"])]
                await lease.call_tool("change_list", {"add": "fresh"})
                for session, stream in zip((a, b), streams):
                    event = await anext(stream)
                    assert (event.type, event.session, event.server) == ("tools_changed", session.id, "s")
                    assert event["added"] == ["fresh"] and event.get("nothing", 7) == 7
                    assert event.scope == "session" and event.seq > 0

    run(main())


def test_a_stream_ends_with_its_pool(log: Log) -> None:
    """I-16: after its snapshot, in order."""

    async def main() -> None:
        pool = trunkline.Pool()
        stream = pool.events()
        assert stream.snapshot["v"] == 1
        seen: list[int] = []

        async def read() -> None:
            async for event in stream:
                seen.append(event.seq)

        reader = asyncio.create_task(read())
        async with pool.session("a", servers=[]) as session:
            await session.acquire("s", log.server())
        await pool.aclose()
        await reader
        assert seen and seen == sorted(set(seen))

    run(main())


def test_a_closed_stream_ends_for_the_task_that_waits() -> None:
    """I-16."""

    async def main() -> None:
        async with trunkline.Pool() as pool:
            stream = pool.events(kinds="failed")
            waiting = asyncio.create_task(anext(stream, None))
            await asyncio.sleep(0)
            with pytest.raises(RuntimeError):
                await anext(stream)
            stream.close()
            assert await waiting is None
            stream.close()
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(anext(pool.events(kinds="failed")), 0.01)

    run(main())


def test_a_stream_can_be_read_from_one_loop_after_another(log: Log) -> None:
    pool = trunkline.Pool()
    stream = pool.events(kinds="status_changed")

    async def one_event() -> str:
        return str((await anext(stream))["to"])

    async def acquire() -> None:
        await pool.session("a", servers=[]).acquire("s", log.server())

    with trunkline.sync.Pool():  # Another pool changes nothing.
        run(acquire())
        assert [run(one_event()), run(one_event())] == ["spawning", "active"]
    run(pool.aclose())


def test_callbacks_run_on_one_python_thread(log: Log) -> None:
    """SPEC 16.2, I-18: a callback that fails stops nothing."""
    seen: list[tuple[int, str]] = []
    with trunkline.sync.Pool() as pool:

        def callback(event: trunkline.Event) -> None:
            seen.append((event.seq, threading.current_thread().name))
            raise ValueError("as asked")

        logging.getLogger("trunkline").disabled = True
        try:
            with pool.on_event(callback, kinds="status_changed"):
                session = pool.session("a", servers=[])
                session.acquire("s", log.server())
                wait_until(lambda: len(seen) >= 2, "no callback")
        finally:
            logging.getLogger("trunkline").disabled = False
        assert {name for _, name in seen} == {"trunkline-events"}
        count = len(seen)
        pool.drain_all()
    assert len(seen) == count, "a callback after its end"


def test_a_callback_may_end_itself_and_close_the_pool(log: Log) -> None:
    """I-18, I-19."""
    pool = trunkline.sync.Pool()
    known, closed = threading.Event(), threading.Event()

    def callback(event: trunkline.Event) -> None:
        known.wait(HANG)
        handle.close()
        pool.close()
        closed.set()

    handle = pool.on_event(callback, kinds="status_changed")
    known.set()
    session = pool.session("a", servers=[])
    with pytest.raises(trunkline.TrunklineError):
        session.acquire("s", log.server("--initialize-delay-ms", "60000"))
    assert closed.wait(HANG)


def test_a_slow_callback_holds_up_only_itself(log: Log) -> None:
    """SPEC 16.2, I-18."""
    with trunkline.sync.Pool() as pool:
        go_on = threading.Event()
        slow = pool.on_event(lambda event: go_on.wait(HANG))
        quick: list[str] = []
        pool.on_event(lambda event: quick.append(event["to"]), kinds="status_changed")
        lease = pool.session("a", servers=[]).acquire("s", log.server())
        assert lease.call_tool("pid").content
        wait_until(lambda: quick == ["spawning", "active"], "the quick one was held up")
        go_on.set()
        slow.close()


def test_blocking_streams_have_a_bound(log: Log) -> None:
    with trunkline.sync.Pool() as pool:
        with pool.events(kinds="status_changed") as stream:
            start = time.monotonic()
            with pytest.raises(trunkline.TimeoutError):
                stream.next(timeout=0.05)
            assert time.monotonic() - start < HANG / 2
            pool.session("a", servers=[]).acquire("s", log.server())
            assert stream.next(timeout=HANG)["to"] == "spawning"
        assert list(stream) == []


def test_a_blocking_stream_is_read_by_one_thread_at_a_time() -> None:
    """SPEC 16.2: a second one is told, where it would have waited for an end that the first one takes."""
    with trunkline.sync.Pool() as pool:
        stream = pool.events(kinds="failed")
        ended = threading.Event()
        reading = threading.Thread(target=lambda: (list(stream), ended.set()))
        reading.start()
        wait_until(lambda: stream._reading.locked(), "nobody reads")
        with pytest.raises(RuntimeError, match="another thread"):
            stream.next(timeout=0.05)
        stream.close()
        reading.join(HANG)
        assert ended.is_set() and list(stream) == []


@pytest.mark.parametrize("timeout", [float("nan"), -1, "5"])
def test_a_bound_that_is_no_time_is_refused(timeout: Any) -> None:
    """SPEC 16.5."""
    with trunkline.sync.Pool() as pool, pytest.raises(trunkline.InvalidArgumentError, match="timeout"):
        pool.events().next(timeout=timeout)


def test_a_forgotten_stream_and_callback_keep_no_pool(log: Log) -> None:
    """SPEC 9.7: the thread of a callback ends with the pool."""
    pool = trunkline.sync.Pool()
    handle = pool.on_event(lambda event: None)
    pool.session("a", servers=[]).acquire("s", log.server())
    del pool
    gc.collect()
    log.settle()
    handle._thread.join(HANG)
    assert not handle._thread.is_alive()


def test_a_close_on_another_thread_meets_a_task_that_is_about_to_wait() -> None:
    """I-16, SPEC 16.2: between its look and its wait."""

    async def main() -> None:
        async with trunkline.Pool() as pool:
            stream = pool.events(kinds="failed")
            native: Any = stream._native

            class ClosesBehindTheLook:
                def __getattr__(self, name: str) -> Any:
                    return getattr(native, name)

                def take(self, most: int) -> list[str]:
                    taken: list[str] = native.take(most)
                    closing = threading.Thread(target=stream.close)
                    closing.start()
                    closing.join()
                    return taken

            stream._native = ClosesBehindTheLook()  # type: ignore[assignment]
            assert await asyncio.wait_for(anext(stream, None), HANG / 3) is None

    run(main())
