"""What is there when a session begins: SPEC 14.1, 14.2."""

from __future__ import annotations

import json
from typing import Any

import trunkline
import trunkline.sync

from host import Log, ended_well, python, run

#: Says what a session lists of a lazy server, how it stands, and how many servers were started by then and after a call.
LISTS = """
import asyncio, json, sys
import trunkline

def starts():
    try:
        return open(sys.argv[2]).read().count(" server")
    except FileNotFoundError:
        return 0

async def main():
    async with trunkline.Pool(start="lazy", drain_delay=0) as pool:
        await pool.reconcile({"s": json.loads(sys.argv[1])})
        async with pool.session("chat") as session:
            await session.ready(timeout=30)
            standing = (await session.started())["servers"]["s"]
            tools = [tool.name for tool in session.tools() if tool.deferred]
            before = starts()
            result = await session.call_tool("mcp__s__echo", {"message": "hi"})
            print(json.dumps([standing, tools, result.content[0]["text"], before, starts()]))

asyncio.run(main())
"""


def listed(log: Log) -> list[Any]:
    """What a process of its own lists."""
    done = python(LISTS, json.dumps(log.server()), str(log.path))
    ended_well(done)
    log.settle()
    said: list[Any] = json.loads(done.stdout)
    return said


def test_the_next_process_lists_tools_before_their_server_is_there(log: Log) -> None:
    """SPEC 14.2: the first process starts the server once to learn its tools; the next one lists them, and starts nothing but for a call."""
    standing, tools, text, before, after = listed(log)
    assert standing == {"state": "asleep", "deferred": len(tools)}
    assert "mcp__s__echo" in tools
    assert (text, before, after) == ("hi", 1, 2)

    assert listed(log) == [standing, tools, "hi", 2, 3]


def test_the_block_of_a_session_waits_for_its_start_and_for_no_slow_server(log: Log) -> None:
    """SPEC 14.1: within the gate everything is there; a server that never answers costs no more than the gate."""
    servers = {"s": log.server(), "never": log.server("--silent")}

    async def main() -> None:
        async with trunkline.Pool(start_gate=600, cache="off") as pool:
            await pool.reconcile({"s": servers["s"]})
            async with pool.session("chat") as session:
                assert session.tools()
        async with trunkline.Pool(start_gate=0, kill_grace=0.05, exit_grace=0.05, cache="off") as pool:
            await pool.reconcile(servers)
            async with pool.session("chat") as session:
                assert (await session.started())["servers"]["never"] == {"state": "waiting", "deferred": 0}

    run(main())


def test_the_blocking_block_does_the_same(log: Log) -> None:
    """SPEC 14.1."""
    with trunkline.sync.Pool(start_gate=600, cache="off") as pool:
        pool.reconcile({"s": log.server()})
        with pool.session("chat") as session:
            assert session.tools()
            assert session.started() == {"v": 1, "servers": {"s": {"state": "ready"}}}
    with trunkline.sync.Pool(start_gate=0, kill_grace=0.05, exit_grace=0.05, cache="off") as pool:
        pool.reconcile({"never": log.server("--silent")})
        with pool.session("chat") as session:
            assert session.started()["servers"]["never"]["state"] == "waiting"
