"""What a type checker has to refuse: each line with the mark, and no other. It is never run."""

from __future__ import annotations

from typing import Any

import trunkline
import trunkline.sync


async def ask(request: trunkline.ServerRequest) -> dict[str, Any]:
    return {"action": "accept", "content": {}}


def pools() -> None:
    trunkline.Pool(drain_delay_ms=5)  # refused
    trunkline.Pool(drain_delay="5")  # refused
    trunkline.Pool(budget={"limit": 3, "mode": "strict"})  # refused
    trunkline.Pool(limits={"process": 10})  # refused
    trunkline.Pool(allowed="git*")  # refused
    trunkline.Pool(shared_transports=["http", "pipe"])  # refused
    trunkline.Pool(handlers={"elicit": ask})  # refused
    trunkline.sync.Pool(start="lasy")  # refused


async def calls(pool: trunkline.Pool, session: trunkline.Session, lease: trunkline.Lease) -> None:
    await session.call_tool("x", {}, timout=5)  # refused
    await session.call_tool("x", {}, timeout="5")  # refused
    await lease.call_tool("x", {}, retry="always")  # refused
    pool.session("b", includes={})  # refused
    pool.session("b", handlers={"inputs": ask})  # refused
    session.tools_for("opnai")  # refused
    session.events(kinds={"tool_changed"})  # refused
    session.configure(exclude={"x": "y"})  # refused
    pool.set_gates(allow=["x"])  # refused
    await pool.load("x", source="users")  # refused
    await pool.aclose(forced=True)  # refused


async def results(pool: trunkline.Pool, session: trunkline.Session, lease: trunkline.Lease) -> None:
    print((await lease.read_resource("x://")).content)  # refused
    print((await lease.call_tool("x")).contents)  # refused
    print(session.tools()[0].uri)  # refused
    print((await session.started()).server)  # refused
    print(pool.status().servers["x"].stat)  # refused
    async for event in session.events():
        print(event.added)  # refused
        if event.kind == "tools_changed":
            print(event.missed)  # refused
        if isinstance(event, trunkline.events.Lagged):
            print(event.added)  # refused


def blocking(pool: trunkline.sync.Pool, session: trunkline.sync.Session) -> None:
    session.call_tool("x", {}, timout=5)  # refused
    pool.close(timeout_ms=5)  # refused
