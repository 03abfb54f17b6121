"""The benchmark's client on the protocol's own Python SDK, as its documentation builds one."""

import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from measure import measure


async def main():
    async with stdio_client(StdioServerParameters(command=sys.argv[1])) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            await session.list_tools()

            async def call(size):
                result = await session.call_tool("big", {"bytes": size})
                assert len(result.content[0].text) == size

            await measure(call)


asyncio.run(main())
