"""What the tests of adapters share: sessions with the reference server, and a server whose results are of every kind."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import trunkline

from host import HANG, Log

PIXEL = base64.b64encode(b"a small picture").decode()

SUM = {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}

#: What each tool of the server ``kinds`` answers.
RESULTS: dict[str, dict[str, Any]] = {
    "text": {"content": [{"type": "text", "text": "a text"}], "_meta": {"trace": "t1"}},
    "picture": {
        "content": [
            {"type": "text", "text": "look"},
            {"type": "image", "data": PIXEL, "mimeType": "image/png"},
            {"type": "audio", "data": PIXEL, "mimeType": "audio/wav"},
        ]
    },
    "structured": {"content": [{"type": "text", "text": '{"total": 5}'}], "structuredContent": {"total": 5}},
    "resource": {
        "content": [
            {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "of a file"}},
            {"type": "resource", "resource": {"uri": "file:///b", "mimeType": "application/pdf", "blob": PIXEL}},
            {"type": "resource_link", "uri": "file:///c", "name": "c"},
        ]
    },
    "wrong": {"content": [{"type": "text", "text": "no such city"}], "isError": True},
}

TOOLS = [
    {
        "name": name,
        "description": f"Answers with {name}.",
        "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        **({"outputSchema": SUM} if name == "structured" else {}),
    }
    for name in RESULTS
]


async def serve(connection: trunkline.HostConnection, frame: str) -> None:
    """A server of the host's own."""
    message = json.loads(frame)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        server = {"name": "kinds", "version": "1"}
        result: Any = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": server}
    elif method == "tools/list":
        result = {"tools": TOOLS}
    elif method == "tools/call":
        result = RESULTS[message["params"]["name"]]
    elif id is not None:
        error = {"code": -32601, "message": "no such method"}
        connection.send(json.dumps({"jsonrpc": "2.0", "id": id, "error": error}))
        return
    else:
        return
    connection.send(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}))


@asynccontextmanager
async def opened(log: Log, *flags: str, **options: Any) -> AsyncIterator[trunkline.Session]:
    """A session with the reference server as ``s``."""
    async with trunkline.Pool(cache="off") as pool:
        await pool.reconcile({"s": log.server(*flags)})
        session = pool.session("a", **options)
        await session.ready("s", timeout=HANG)
        yield session


@asynccontextmanager
async def kinds() -> AsyncIterator[trunkline.Session]:
    """A session with the server ``kinds``, held."""
    async with trunkline.Pool(cache="off") as pool:
        session = pool.session("a")
        session.provide("kinds", serve)
        async with session.acquire("kinds"):
            yield session


def names(session: trunkline.Session) -> list[str]:
    return [tool.name for tool in session.tools()]


async def changed(session: trunkline.Session, add: str) -> None:
    """Has the reference server add a tool, and waits until the session has it."""
    async with session.events(kinds="tools_changed") as events:
        await session.call_tool("mcp__s__change_list", {"add": add})
        async for event in events:
            if add in event["added"]:
                return
