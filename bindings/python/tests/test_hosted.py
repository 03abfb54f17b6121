"""Servers that the host itself provides."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import time
from typing import Any

import pytest
import uvloop

import trunkline
import trunkline.sync
from trunkline import _bridge

from host import HANG, wait_until

TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("hello", "exit", "fail", "silent")]

RECONNECT = {"delays": {"local": [0.01], "remote": [0.01, 0.01]}}


class Small:
    """A server in a few lines, whichever kind of function calls it."""

    def __init__(self) -> None:
        self.connections: list[trunkline.HostConnection] = []
        self.closed = 0

    def take(self, connection: trunkline.HostConnection, frame: str) -> None:
        message = json.loads(frame)
        method, id = message.get("method"), message.get("id")
        if method == "initialize":
            self.connections.append(connection)
            server = {"name": "small", "version": "1"}
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": server}
        elif method == "tools/list":
            result = {"tools": TOOLS}
        elif method == "tools/call":
            if message["params"]["name"] == "exit":
                connection.close()
                return
            if message["params"]["name"] == "fail":
                raise ValueError("a fault of the host's own")
            if message["params"]["name"] == "silent":
                return
            result = {"content": [{"type": "text", "text": threading.current_thread().name}]}
        elif id is not None:
            error = {"code": -32601, "message": "no such method"}
            connection.send(json.dumps({"jsonrpc": "2.0", "id": id, "error": error}))
            return
        else:
            return
        connection.send(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}))

    def end(self, connection: trunkline.HostConnection) -> None:
        with pytest.raises(trunkline.ClosedError):
            connection.send("{}")
        self.closed += 1


def said(result: trunkline.CallResult) -> Any:
    return result.content[0]["text"]


def test_coroutines_of_the_host_are_a_server() -> None:
    """SPEC 2.1, 5.6, 8.1: on the loop; lost when they fail, and connected anew."""
    asyncio.run(asyncio.wait_for(_coroutines(), HANG))


async def _coroutines() -> None:
    small = Small()

    async def receive(connection: trunkline.HostConnection, frame: str) -> None:
        await asyncio.sleep(0)
        small.take(connection, frame)

    async def closed(connection: trunkline.HostConnection) -> None:
        small.end(connection)

    async with trunkline.Pool(reconnect=RECONNECT, drain_delay=0) as pool:
        async with pool.session("a", servers=[]) as session:
            session.provide("own", receive, closed)
            lease = await session.acquire("own", timeout=HANG)
            assert said(await lease.call_tool("hello")) == threading.main_thread().name
            for times, tool in enumerate(("exit", "fail"), 1):
                with pytest.raises(trunkline.CallInterruptedError):
                    await lease.call_tool(tool)
                assert said(await lease.call_tool("hello", wait=True)) == threading.main_thread().name
                assert len(small.connections) == times + 1
            assert len({connection.id for connection in small.connections}) == 3
    while small.closed < 3:
        await asyncio.sleep(0.01)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_plain_functions_of_the_host_are_a_server() -> None:
    """SPEC 2.1, 5.6, 16.2: on a thread of the connection's own, where they may block."""
    small = Small()
    with trunkline.sync.Pool(reconnect=RECONNECT, drain_delay=0) as pool:
        with pool.session("a", servers=[]) as session:
            session.provide("own", small.take, small.end)
            lease = session.acquire("own", timeout=HANG)
            assert said(lease.call_tool("hello")) != threading.main_thread().name
            with pytest.raises(trunkline.CallInterruptedError):
                lease.call_tool("fail")
            assert said(lease.call_tool("hello", wait=True))
            with pytest.raises(trunkline.TimeoutError):
                lease.call_tool("silent", timeout=0.05)
    wait_until(lambda: small.closed == 2, "both connections were told of their end")


@pytest.mark.parametrize("kind", ["asyncio", "uvloop"])
def test_a_call_ends_with_the_loop_that_would_have_answered_it(kind: str) -> None:
    """SPEC 5.6, 16.2: a host may keep the tasks that were not cancelled, of the server and of others that wait there."""
    small, loop = Small(), uvloop.new_event_loop() if kind == "uvloop" else asyncio.new_event_loop()
    kept: list[Any] = []
    refused: list[Any] = []
    ends: list[BaseException] = []

    async def receive(connection: trunkline.HostConnection, frame: str) -> None:
        if "silent" in frame:
            kept.append(asyncio.current_task())
            await asyncio.sleep(10 * HANG)
        small.take(connection, frame)

    async def provide() -> tuple[trunkline.Pool, trunkline.Session, trunkline.Lease]:
        # Nobody looks whether the server lives, which would end the connection as well.
        pool = trunkline.Pool(drain_delay=0, keepalive=0)
        session = pool.session("a", servers=[])
        session.provide("own", receive)
        kept.append(asyncio.ensure_future(anext(pool.events(kinds="failed"))))
        lease = await session.acquire("own", timeout=HANG)
        kept.append(asyncio.ensure_future(lease.call_tool("silent", progress=print)))
        # Nor does a host that keeps what was refused at once.
        refused.extend(await asyncio.gather(session.acquire("own", "{"), return_exceptions=True))
        return pool, session, lease

    async def until_begun() -> None:
        while len(kept) < 4:
            await asyncio.sleep(0.005)

    def call() -> None:
        try:
            asyncio.run(asyncio.wait_for(lease.call_tool("silent"), HANG / 3))
        except BaseException as error:
            ends.append(error)

    try:
        pool, _session, lease = loop.run_until_complete(provide())
        calling = threading.Thread(target=call)
        calling.start()
        loop.run_until_complete(asyncio.wait_for(until_begun(), HANG))
    finally:
        loop.close()
    calling.join(HANG)
    assert [type(end) for end in ends] == [trunkline.CallInterruptedError]
    assert [type(end) for end in refused] == [trunkline.ConfigError]
    for task in kept:
        task._log_destroy_pending = False
    asyncio.run(pool.aclose())


def test_a_loop_keeps_nothing_of_servers_that_are_over() -> None:
    """I-25: neither of those that a session closed, nor of those that were forgotten with it."""

    async def main() -> None:
        endings = _bridge.bridge_of(asyncio.get_running_loop()).endings
        before = len(endings)

        async def receive(connection: trunkline.HostConnection, frame: str) -> None:
            small.take(connection, frame)

        small = Small()
        async with trunkline.Pool(drain_delay=0) as pool:
            for number in range(4):
                session = pool.session(f"{number}", servers=[])
                session.provide("own", receive)
                async with session.acquire("own", timeout=HANG) as lease:
                    await lease.call_tool("hello")
                    assert len(endings) > before
                if number % 2:
                    session.close()
                del session, lease
        deadline = time.monotonic() + HANG / 3
        while len(endings) > before:
            assert time.monotonic() < deadline, "something is kept"
            # What a thread of the library let go of goes with the next call of it.
            trunkline.features()
            gc.collect()
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(main(), HANG))


def test_what_cannot_be_provided_is_refused() -> None:
    """SPEC 3.5, 10.7"""
    with trunkline.sync.Pool() as pool:
        session = pool.session("a", servers=[])
        with pytest.raises(trunkline.ConfigError):
            session.provide("", lambda connection, frame: None)
        session.close()
        with pytest.raises(trunkline.ClosedError):
            session.provide("own", lambda connection, frame: None)
