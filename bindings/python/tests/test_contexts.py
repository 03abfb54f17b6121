"""Context variables: a host's functions see those of the code that gave them (SPEC 15.1, 16.2)."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable
from contextvars import Context, ContextVar
from typing import Any

import pytest

import trunkline

from host import HANG, Log, call_alone, opened, run

who: ContextVar[object] = ContextVar("who", default="nobody")

FORM = {"method": "elicitation/create", "params": {"message": "name?"}}


def test_progress_is_told_in_the_context_of_its_call(log: Log) -> None:
    """SPEC 5.9, 16.2: not in that of the first caller on the loop."""
    told: list[object] = []

    async def call(lease: trunkline.Lease, name: str) -> None:
        who.set(name)
        await lease.call_tool("progress", {"steps": 2}, progress=lambda event: told.append((name, who.get())))

    async def main() -> None:
        who.set("first")
        async with opened(log) as (_pool, _session, lease):
            await asyncio.gather(call(lease, "alice"), call(lease, "bob"))

    run(main())
    assert sorted(map(str, told)) == sorted(map(str, 2 * [("alice", "alice"), ("bob", "bob")]))


def test_handlers_run_in_the_context_in_which_they_were_given(log: Log) -> None:
    """SPEC 15.1, 16.2: requests come to them from whichever loan or queue."""
    seen: list[object] = []
    heard = asyncio.Event

    async def elicitation(request: trunkline.ServerRequest) -> dict[str, Any]:
        seen.append(("elicitation", who.get()))
        return {"action": "decline"}

    async def talk(pool: trunkline.Pool, log: Log) -> None:
        who.set("alice")
        logged = heard()

        def logging(event: trunkline.Event) -> None:
            seen.append(("logging", who.get()))
            logged.set()

        handlers = {"elicitation": elicitation, "logging": logging}
        async with pool.session("b", servers=[], handlers=handlers) as session:
            lease = await session.acquire("s", log.server())
            await call_alone(lease, 20)
            await lease.call_tool("ask", FORM)
            await lease.call_tool("log", {"text": "heard"})
            await asyncio.wait_for(logged.wait(), HANG / 3)

    async def main() -> None:
        who.set("first")
        async with opened(log) as (pool, _session, lease):
            await call_alone(lease, 20)
            await asyncio.ensure_future(talk(pool, log))

    run(main())
    assert seen == [("elicitation", "alice"), ("logging", "alice")]


class Tenant:
    """What a host keeps in a variable for the time of a request."""


def test_a_loop_keeps_nobody_s_context(log: Log) -> None:
    """SPEC 16.2, 16.4: neither by the bridge nor by what is on loan."""

    def request(work: Callable[[], Any]) -> weakref.ref[Tenant]:
        tenant = Tenant()
        who.set(tenant)
        task[:] = [asyncio.ensure_future(work())]
        return weakref.ref(tenant)

    task: list[asyncio.Future[Any]] = []

    async def main() -> None:
        pool = trunkline.Pool()
        lease = []

        async def begin() -> None:
            session = pool.session("a", servers=[])
            lease.append(await session.acquire("s", log.server()))
            await call_alone(lease[0], 20)

        tenant = Context().run(request, begin)
        await task.pop()
        await call_alone(lease[0], 20)
        gc.collect()
        assert tenant() is None
        await pool.aclose()

    run(main())


def test_a_provided_server_runs_in_the_context_in_which_it_was_given() -> None:
    """SPEC 2.1, 16.2: not in that of the caller that acquires it, nor in none."""
    seen: list[object] = []

    async def main() -> None:
        closed = asyncio.Event()

        async def receive(connection: trunkline.HostConnection, frame: str) -> None:
            seen.append(who.get())
            connection.close()

        async def end(connection: trunkline.HostConnection) -> None:
            seen.append(who.get())
            closed.set()

        async def provide(session: trunkline.Session) -> None:
            who.set("alice")
            session.provide("own", receive, end)

        async with trunkline.Pool() as pool, pool.session("a", servers=[]) as session:
            await asyncio.ensure_future(provide(session))
            who.set("bob")
            with pytest.raises(trunkline.TrunklineError):
                await session.acquire("own", timeout=HANG / 3)
            await asyncio.wait_for(closed.wait(), HANG / 3)

    run(main())
    assert seen and set(seen) == {"alice"}
