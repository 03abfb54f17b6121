"""The benchmark's client on the protocol's own Python SDK, as its documentation builds one."""

import asyncio
import itertools
import sys
import time

from mcp import ClientSession, ClientSessionGroup, StdioServerParameters
from mcp.client.stdio import stdio_client
from measure import measure
from starts import SERVERS, arguments, measure_starts


async def main():
    async with stdio_client(StdioServerParameters(command=sys.argv[1])) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            await session.list_tools()

            async def call(size):
                result = await session.call_tool("big", {"bytes": size})
                assert len(result.content[0].text) == size

            await measure(call)
    await measure_starts(start)


async def start(slow):
    """The SDK's group of sessions, which connects one server after the other."""
    began = time.perf_counter()
    # Tools of two servers must not have one name in a group.
    async with ClientSessionGroup(component_name_hook=lambda name, server: f"{next(numbers)}_{name}") as group:
        for number in range(SERVERS):
            await group.connect_to_server(StdioServerParameters(command=sys.argv[1], args=arguments(number, slow)))
        assert group.tools
        return None, time.perf_counter() - began


numbers = itertools.count()

asyncio.run(main())
