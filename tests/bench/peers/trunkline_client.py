"""The benchmark's client on trunkline's Python package."""

import asyncio
import sys
import time

import trunkline
from cached import measure_cached
from crowd import measure_crowd
from loading import measure_loading
from measure import http_server, is_wanted, measure, measure_bytes, measure_http, warm_acquire
from starts import SERVERS, measure_starts
from turns import measure_turns


async def main(server):
    if is_wanted("calls") or is_wanted("acquire"):
        await with_one_server(server)
    if is_wanted("http"):
        with http_server(server) as address:
            async with trunkline.Pool(cache="off") as pool, pool.session("a", servers=[]) as session:
                lease = await session.acquire("s", {"type": "http", "url": address})
                await measure_http(lambda size: decoded(lease, size))
    if is_wanted("crowd"):
        await measure_crowd(server)
    if is_wanted("loading"):
        measure_loading("trunkline", server)
    if is_wanted("starts"):
        await measure_starts(start)
    if is_wanted("cached"):
        await measure_cached(server)
    if is_wanted("turns"):
        await measure_turns(server)


async def with_one_server(server):
    async with trunkline.Pool() as pool, pool.session("a", servers=[]) as session:
        lease = await session.acquire("s", {"command": server})

        async def as_bytes(size):
            result = await lease.call_tool("big", {"bytes": size})
            assert len(result.raw) > size

        if is_wanted("calls"):
            await measure(lambda size: decoded(lease, size))
            await measure_bytes(as_bytes)
        if is_wanted("acquire"):
            await warm_acquire(lambda: session.acquire("s"))


async def decoded(lease, size):
    result = await lease.call_tool("big", {"bytes": size})
    assert len(result.content[0]["text"]) == size


async def start(slow, log):
    servers = {f"s{n}": {"command": sys.argv[1], "args": log.arguments(n, slow)} for n in range(SERVERS)}
    async with trunkline.Pool(cache="off") as pool:
        await pool.reconcile(servers)
        began = time.monotonic()
        session = pool.session("a")
        for number in range(slow, SERVERS):
            await session.ready(f"s{number}")
        listed = {tool.server for tool in session.tools()}
        first = time.monotonic()
        late = first - log.last_of(SERVERS - slow)
        assert listed.issuperset(f"s{number}" for number in range(slow, SERVERS))
        await session.ready()
        return first - began, late, time.monotonic() - began


asyncio.run(main(sys.argv[1]))
