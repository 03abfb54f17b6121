"""Calls that follow several answers, which are written together: SPEC 5.3, 5.6, 16.2."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
import trunkline
import trunkline.sync

from host import HANG, Log, call_alone, is_answered, opened, run, text

#: What a bug of this kind shows only now and then.
REPETITIONS = 12


def block_until(holds: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        pass


def block_until_both_arrived(pool: trunkline.Pool) -> None:
    block_until(lambda: is_answered(pool), HANG)
    # Both are on their way to this thread.
    block_until(lambda: False, 0.02)


async def _is_held_back(pool: trunkline.Pool, lease: trunkline.Lease) -> bool:
    """Whether a call that follows two answers is written only when the pass of the loop is over in which it was made."""
    held = False

    async def both() -> None:
        nonlocal held
        await lease.call_tool("echo", {"message": "a"})
        call = lease.call_tool("echo", {"message": "c"})
        answered = call.send(None)
        block_until(lambda: is_answered(pool), 0.5)
        held = not is_answered(pool)
        while not answered.done():
            await asyncio.sleep(0)
        with pytest.raises(StopIteration) as ended:
            call.send(None)
        assert text(ended.value.value) == "c"

    tasks = [asyncio.ensure_future(one) for one in (both(), lease.call_tool("echo", {"message": "b"}))]
    await asyncio.sleep(0)
    block_until_both_arrived(pool)
    await asyncio.gather(*tasks)
    return held


def test_calls_that_follow_several_answers_are_written_together(log: Log) -> None:
    """SPEC 5.3."""

    async def main() -> None:
        async with opened(log) as (pool, _, lease):
            # Two answers may be told one after the other, if rarely.
            for _ in range(10):
                if await _is_held_back(pool, lease):
                    return
            raise AssertionError("each call was written at once")

    run(main())


@pytest.mark.parametrize("other", ["loop", "thread that waits", "same loop"])
def test_a_loop_that_stops_holds_nothing_back_from_what_runs_after_it(log: Log, other: str) -> None:
    """SPEC 16.2, 5.3: the pass in which what is held would have been written never comes."""

    async def open_one() -> tuple[trunkline.Pool, trunkline.Lease]:
        pool = trunkline.Pool()
        return pool, await pool.session("a", servers=[]).acquire("s", log.server())

    loop = asyncio.new_event_loop()
    pool, lease = loop.run_until_complete(asyncio.wait_for(open_one(), HANG))

    def answered(calls: list[asyncio.Task[Any]]) -> None:
        while not all(call.done() for call in calls):
            loop.run_until_complete(asyncio.sleep(0.001))

    for _ in range(REPETITIONS):
        calls = [loop.create_task(lease.call_tool("echo", {"message": "x"})) for _ in range(2)]
        loop.run_until_complete(asyncio.sleep(0))
        block_until_both_arrived(pool)
        # The answers are taken in the pass that is the last one.
        loop.call_soon(loop.stop)
        loop.run_forever()
        if other == "loop":
            run(call_alone(lease, 3))
        elif other == "same loop":
            loop.run_until_complete(asyncio.wait_for(call_alone(lease, 3), HANG))
        else:
            with trunkline.sync.Pool() as second, second.session("a", servers=[]) as session:
                held = session.acquire("s", log.server())
                assert text(held.call_tool("echo", {"message": "x"}, timeout=HANG)) == "x"
        answered(calls)
    loop.run_until_complete(pool.aclose())
    loop.close()


def test_calls_that_are_held_back_when_their_pool_closes_are_answered_or_fail_by_type(log: Log) -> None:
    """SPEC 5.6, 9.7."""

    async def main() -> None:
        async with opened(log) as (pool, _, lease):
            closing: list[asyncio.Task[None]] = []

            async def lane(number: int) -> str:
                await lease.call_tool("echo", {"message": "first"})
                if not closing:
                    closing.append(asyncio.ensure_future(pool.aclose()))
                try:
                    return text(await lease.call_tool("echo", {"message": str(number)}))
                except trunkline.TrunklineError:
                    return "failed"

            ends = await asyncio.gather(*(lane(number) for number in range(16)))
            assert all(end in (str(number), "failed") for number, end in enumerate(ends)), ends
            await closing[0]

    run(main())
