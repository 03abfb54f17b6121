"""The benchmark's client on the protocol's own Python SDK, as its documentation builds one."""

import asyncio
import itertools
import sys
import time

from loading import measure_loading
from mcp import ClientSession, ClientSessionGroup, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from measure import http_server, is_wanted, measure, measure_http
from starts import SERVERS, measure_starts


async def main(server):
    if is_wanted("calls"):
        async with stdio_client(StdioServerParameters(command=server)) as (read, write):
            await with_session(read, write, measure)
    if is_wanted("http"):
        with http_server(server) as address:
            async with streamable_http_client(address) as (read, write, *_):
                await with_session(read, write, measure_http)
    if is_wanted("loading"):
        measure_loading("mcp", server)
    if is_wanted("starts"):
        await measure_starts(start)


async def with_session(read, write, measured):
    async with ClientSession(read, write) as session:
        await session.initialize()
        await session.list_tools()

        async def call(size):
            result = await session.call_tool("big", {"bytes": size})
            assert len(result.content[0].text) == size

        await measured(call)


async def start(slow, log):
    """The SDK's group of sessions, which connects one server after the other."""
    began = time.monotonic()
    # Tools of two servers must not have one name in a group.
    async with ClientSessionGroup(component_name_hook=lambda name, server: f"{next(numbers)}_{name}") as group:
        for number in range(SERVERS):
            server = StdioServerParameters(command=sys.argv[1], args=log.arguments(number, slow))
            await group.connect_to_server(server)
        assert group.tools
        return None, None, time.monotonic() - began


numbers = itertools.count()

asyncio.run(main(sys.argv[1]))
