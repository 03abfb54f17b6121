"""The benchmark's client on trunkline's Python package."""

import asyncio
import sys

import trunkline
from measure import measure


async def main():
    async with trunkline.Pool() as pool, pool.session("a", servers=[]) as session:
        lease = await session.acquire("s", {"command": sys.argv[1]})

        async def call(size):
            result = await lease.call_tool("big", {"bytes": size})
            assert len(result.content[0]["text"]) == size

        await measure(call)


asyncio.run(main())
