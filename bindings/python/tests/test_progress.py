"""A call's own progress: a callable as ``progress``."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

import trunkline
import trunkline.sync

from host import Log, run


def steps_of(events: list[trunkline.Event]) -> list[Any]:
    return [event["progress"] for event in events]


def test_each_call_is_told_its_own_progress_before_its_result(log: Log) -> None:
    """SPEC 5.9: in the order of the wire, whatever else is under way."""

    async def main() -> None:
        async with trunkline.Pool() as pool, pool.session("a") as session:
            async with session.acquire("s", log.server()) as lease:

                async def call(start: Any, tool: str, steps: int) -> set[int]:
                    events: list[trunkline.Event] = []
                    await start(tool, {"steps": steps, "interval_ms": 5}, progress=events.append)
                    assert steps_of(events) == list(range(1, steps + 1))
                    assert {(e.type, e["total"], e["session"]) for e in events} == {
                        ("progress", steps, "a")
                    }
                    return {event["call"] for event in events}

                numbers = await asyncio.gather(
                    call(lease.call_tool, "progress", 5),
                    call(lease.call_tool, "progress", 7),
                    call(session.call_tool, "mcp__s__progress", 6),
                )
                assert all(len(of_one) == 1 for of_one in numbers)
                assert len(set.union(*numbers)) == 3

    run(main())


def test_the_session_s_streams_have_the_same_events(log: Log) -> None:
    """SPEC 5.9: one meaning of progress for every listener."""

    async def main() -> None:
        async with trunkline.Pool() as pool, pool.session("a", servers=[]) as session:
            async with session.acquire("s", log.server()) as lease:
                own: list[trunkline.Event] = []
                async with session.events(kinds="progress") as stream:
                    await lease.call_tool("progress", {"steps": 3}, progress=own.append)
                    streamed = [await anext(stream) for _ in range(3)]
                assert [event.text for event in streamed] == [event.text for event in own]
                await lease.call_tool("progress", {"steps": 3}, progress=True)
                assert len(own) == 3

    run(main())


def test_a_callback_that_fails_does_not_end_the_call(
    log: Log, caplog: pytest.LogCaptureFixture
) -> None:
    """SPEC 16.2."""
    told = []

    def fails(event: trunkline.Event) -> None:
        told.append(event["progress"])
        raise ValueError("not now")

    async def main() -> None:
        async with trunkline.Pool() as pool, pool.session("a", servers=[]) as session:
            async with session.acquire("s", log.server()) as lease:
                await lease.call_tool("progress", {"steps": 2}, progress=fails)

    run(main())
    assert told == [1, 2] and "a progress callback failed" in caplog.text


def test_a_blocking_call_is_told_on_its_own_thread(log: Log) -> None:
    """SPEC 5.9, 16.2."""
    with trunkline.sync.Pool() as pool, pool.session("a", servers=[]) as session:
        with session.acquire("s", log.server()) as lease:
            told: list[Any] = []

            def tell(event: trunkline.Event) -> None:
                told.append((event["progress"], threading.current_thread()))

            lease.call_tool("progress", {"steps": 4, "interval_ms": 5}, progress=tell)
            here = threading.current_thread()
            assert told == [(step, here) for step in range(1, 5)]
