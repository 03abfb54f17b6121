"""The benchmark's client on trunkline's Python package."""

import asyncio
import sys
import time

import trunkline
from cached import measure_cached
from measure import is_wanted, measure, warm_acquire
from starts import SERVERS, arguments, measure_starts


async def main():
    async with trunkline.Pool() as pool, pool.session("a", servers=[]) as session:
        lease = await session.acquire("s", {"command": sys.argv[1]})

        async def call(size):
            result = await lease.call_tool("big", {"bytes": size})
            assert len(result.content[0]["text"]) == size

        if is_wanted("calls"):
            await measure(call)
        if is_wanted("acquire"):
            await warm_acquire(lambda: session.acquire("s"))
    if is_wanted("starts"):
        await measure_starts(start)
    if is_wanted("cached"):
        await measure_cached(sys.argv[1])


async def start(slow):
    servers = {f"s{n}": {"command": sys.argv[1], "args": arguments(n, slow)} for n in range(SERVERS)}
    async with trunkline.Pool() as pool:
        await pool.reconcile(servers)
        began = time.perf_counter()
        session = pool.session("a")
        for number in range(slow, SERVERS):
            await session.ready(f"s{number}")
        listed = {tool.server for tool in session.tools()}
        first = time.perf_counter() - began
        assert listed.issuperset(f"s{number}" for number in range(slow, SERVERS))
        await session.ready()
        return first, time.perf_counter() - began


asyncio.run(main())
