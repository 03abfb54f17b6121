"""Requests of servers that no handler answers: each is refused at once, and no server waits for what cannot come."""

from __future__ import annotations

import asyncio
import gc
import json
from typing import Any

import pytest
import uvloop

import trunkline
from trunkline import Refusal

from host import HANG, Log, text

FORM = {"method": "elicitation/create", "params": {"message": "name?"}}
FAILED = {"error": {"code": -32603, "message": "the handler failed"}}

#: Seconds that a server would wait for a handler, were it not refused; far more than the test has.
NEVER = 10 * HANG


def answered(result: trunkline.CallResult) -> Any:
    return json.loads(text(result))


class Bare(Refusal):
    """A refusal that is never told what it says."""

    def __init__(self) -> None:
        Exception.__init__(self)


@pytest.mark.parametrize(
    ("refusal", "expected"),
    [
        (Refusal(-1, "half a pair: \ud83d."), {"error": {"code": -1, "message": "half a pair: \ufffd."}}),
        (Refusal(-1, "a pair: \ud83d\ude00"), {"error": {"code": -1, "message": "a pair: \U0001f600"}}),
        (Bare(), FAILED),
    ],
    ids=["half", "pair", "bare"],
)
def test_a_refusal_that_cannot_be_sent_is_one_all_the_same(log: Log, refusal: Refusal, expected: Any) -> None:
    """SPEC 15.1, 16.2."""

    def elicitation(request: trunkline.ServerRequest) -> Any:
        raise refusal

    async def main() -> None:
        async with trunkline.Pool(handler_timeout=NEVER) as pool:
            async with pool.session("a", servers=[], handlers={"elicitation": elicitation}) as session:
                lease = await session.acquire("s", log.server())
                assert answered(await lease.call_tool("ask", FORM)) == expected

    asyncio.run(asyncio.wait_for(main(), HANG / 3))


@pytest.mark.parametrize("kind", ["asyncio", "uvloop"])
def test_requests_for_a_loop_that_is_closed_are_refused(log: Log, kind: str) -> None:
    """SPEC 15.1, 16.2: the pool goes on in another loop, and its servers with it."""
    loop = uvloop.new_event_loop() if kind == "uvloop" else asyncio.new_event_loop()

    async def elicitation(request: trunkline.ServerRequest) -> Any:
        return {"action": "accept", "content": {}}

    async def begin() -> tuple[trunkline.Pool, trunkline.Session, trunkline.Lease, trunkline.EventStream]:
        pool = trunkline.Pool(handlers={"elicitation": elicitation}, handler_timeout=NEVER)
        session = pool.session("a", servers=[])
        lease = await session.acquire("s", log.server())
        assert answered(await lease.call_tool("ask", FORM))["result"]["action"] == "accept"
        # A stream that waited here once does not keep what belongs to the loop.
        stream = pool.events(kinds="status_changed")
        try:
            await asyncio.wait_for(anext(stream), 0.01)
        except asyncio.TimeoutError:
            pass
        return pool, session, lease, stream

    async def go_on(pool: trunkline.Pool, lease: trunkline.Lease) -> None:
        async with pool:
            for _ in range(2):
                asked = asyncio.wait_for(lease.call_tool("ask", FORM), HANG / 3)
                assert answered(await asked) == FAILED

    try:
        pool, _session, lease, _stream = loop.run_until_complete(begin())
    finally:
        loop.close()
    asyncio.run(go_on(pool, lease))


def test_a_request_that_is_open_when_its_loop_is_closed_is_refused(log: Log) -> None:
    """SPEC 15.1, 16.2."""
    loop = asyncio.new_event_loop()
    requests: list[trunkline.ServerRequest] = []

    async def elicitation(request: trunkline.ServerRequest) -> Any:
        requests.append(request)
        await asyncio.sleep(NEVER)

    async def begin() -> tuple[trunkline.Pool, trunkline.Lease]:
        pool = trunkline.Pool(handlers={"elicitation": elicitation}, handler_timeout=NEVER)
        lease = await pool.session("a", servers=[]).acquire("s", log.server())
        asyncio.ensure_future(lease.call_tool("ask", FORM)).add_done_callback(lambda _: None)
        while not requests:
            await asyncio.sleep(0.005)
        return pool, lease

    async def end(pool: trunkline.Pool) -> None:
        while not requests[0].withdrawn:
            await asyncio.sleep(0.005)
        await pool.aclose()

    pool, _lease = loop.run_until_complete(begin())
    loop.close()
    gc.collect()  # The tasks that were not cancelled keep each other.
    asyncio.run(asyncio.wait_for(end(pool), HANG / 3))


def test_a_request_whose_task_is_cancelled_before_its_first_step_is_refused(log: Log) -> None:
    """SPEC 15.1, 16.2: by code that cancels the tasks of a loop."""
    begun: list[trunkline.ServerRequest] = []

    def cancelled_at_once(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> asyncio.Task[Any]:
        task = asyncio.Task(coroutine, loop=loop, **options)
        if coroutine.__name__ == "_answer":
            task.cancel()
        return task

    async def main() -> None:
        async with trunkline.Pool(handler_timeout=NEVER) as pool:
            async with pool.session("a", servers=[], handlers={"elicitation": begun.append}) as session:
                lease = await session.acquire("s", log.server())
                asyncio.get_running_loop().set_task_factory(cancelled_at_once)
                assert answered(await lease.call_tool("ask", FORM)) == FAILED
                assert not begun and not session._desk._tasks and not session._desk._open  # type: ignore[union-attr]

    asyncio.run(asyncio.wait_for(main(), HANG / 3))
