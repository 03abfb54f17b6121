"""What the tests of adapters share: sessions with the reference server, and a server whose results are of every kind."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

import trunkline

from host import HANG, ROOT, Log

#: The arguments of a call of the reference server that goes on until it is cancelled, and says so once it runs.
ENDLESS = {"steps": 1_000_000, "interval_ms": 10}

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
            {"type": "resource", "resource": {"uri": "file:///b", "mimeType": "application/pdf", "text": None, "blob": PIXEL}},
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


#: Stands for an integer of more digits than Python reads.
LONG = "an integer of 5000 digits"

#: Tools beside one that is not as the protocol has it, and one that Python cannot decode; what the first answers is not either.
ODD_TOOLS = [
    *TOOLS,
    {"name": "odd", "inputSchema": {"type": "object"}, "annotations": {"title": 5}},
    {"name": "long", "inputSchema": {"type": "object", "maximum": LONG}},
]
SMELL = {"type": "smell", "of": "roses"}
ODD_RESULT = {"content": [{"type": "text", "text": "before"}, SMELL]}

#: Members beside the blocks of a result that are not as the protocol has them; ``structuredContent`` is since revision 2026-07-28.
UNFIT = {"isError": None, "structuredContent": [1, 2], "_meta": "no object"}

#: What ``serve_unfit`` has. Not all of a result is unfit.
DONE = {"content": [{"type": "text", "text": "done"}]}
ODD_PROMPT = {
    "description": 5,
    "messages": [
        {"role": "user", "content": {"type": "text", "text": "before"}},
        {"role": "assistant", "content": SMELL},
    ],
}
ODD_CONTENTS = {"contents": [{"uri": "file:///a", "text": "before"}, {"uri": "file:///a", "smell": "roses"}], "_meta": "no object"}


#: Blocks of kinds that the protocol knows, all malformed.
MALFORMED = [
    {"type": "text"},
    {"type": "text", "text": 5},
    {"type": "image", "data": PIXEL},
    {"type": "image", "data": "no base64", "mimeType": "image/png"},
    {"type": "audio", "data": PIXEL[:-1], "mimeType": "audio/wav"},
    {"type": "audio", "mimeType": "audio/wav"},
    {"type": "audio", "data": "\n", "mimeType": "audio/wav"},
    {"type": "image", "data": "", "mimeType": "image/png"},
    {"type": "resource", "resource": {"uri": "file:///a", "blob": ""}},
    {"type": "resource", "resource": {"uri": "file:///a"}},
    {"type": "resource", "resource": {"uri": "file:///a", "blob": "%%%%"}},
    {"type": "resource", "resource": {"uri": "file:///a", "blob": PIXEL, "mimeType": 5}},
    {"type": "resource", "resource": "file:///a"},
    {"type": "resource_link", "name": "c"},
    "no object",
    None,
]


#: Blocks as the protocol has them, which frameworks make nothing of.
EMPTY = [
    {"type": "audio", "data": PIXEL, "mimeType": ""},
    {"type": "resource", "resource": {"uri": "file:///a", "blob": PIXEL, "mimeType": ""}},
    {"type": "resource_link", "uri": "", "name": "c"},
]


async def serve_malformed(connection: trunkline.HostConnection, frame: str) -> None:
    """One that gets everything wrong, and reports an error of the same kind."""
    malformed = [{"type": "text", "text": "before"}, *MALFORMED]
    empty = [{"type": "text", "text": "before"}, *EMPTY]
    results: dict[str, Any] = {"malformed": {"content": malformed}, "empty": {"content": empty}}
    results["failed"] = {"content": malformed, "isError": True}
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in results]
    answer(connection, frame, tools, lambda params: results[params["name"]])


async def serve(connection: trunkline.HostConnection, frame: str) -> None:
    """A server of the host's own."""
    answer(connection, frame, TOOLS, lambda params: RESULTS[params["name"]])


async def serve_boastful(connection: trunkline.HostConnection, frame: str) -> None:
    """One that says things of itself that are not as the protocol has them."""
    message = json.loads(frame)
    if message.get("method") != "initialize":
        return await serve(connection, frame)
    said = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {"listChanged": True}, "prompts": 5},
        "serverInfo": {"name": "kinds", "version": "1", "title": "Kinds", "icons": [{"src": "data:,", "theme": "red"}]},
        "instructions": "ask for little",
    }
    connection.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": said}))


async def serve_odd(connection: trunkline.HostConnection, frame: str) -> None:
    """One that says what frameworks refuse."""
    answer(connection, frame, ODD_TOOLS, lambda params: ODD_RESULT)


async def serve_unfit(connection: trunkline.HostConnection, frame: str) -> None:
    """One whose results have a member that is unfit: one for each tool, which is named like it."""
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in UNFIT]
    others = {
        "prompts/list": {"prompts": [{"name": "odd"}]},
        "prompts/get": ODD_PROMPT,
        "resources/list": {"resources": [{"uri": "file:///a", "name": "a"}]},
        "resources/read": ODD_CONTENTS,
    }
    answer(connection, frame, tools, lambda params: {**DONE, params["name"]: UNFIT[params["name"]]}, others)


#: What the things of each list need.
_NEEDED: dict[str, Any] = {
    "tools": lambda number: {"name": f"n{number}", "inputSchema": {"type": "object"}},
    "prompts": lambda number: {"name": f"n{number}"},
    "resources": lambda number: {"name": f"n{number}", "uri": f"file:///{number}"},
    "resourceTemplates": lambda number: {"name": f"n{number}", "uriTemplate": f"file:///{number}/{{a}}"},
}


def definitions(of: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The definitions of a list that have members that do not fit, and what of each is listed.

    The table is that of all languages. Where Python lists something else, since ``mcp`` takes more than the TypeScript SDK, a row has a third element.
    """
    rows = json.loads((ROOT / "tests/definitions.json").read_text())[of]
    sent, listed = ([{**_NEEDED[of](number), **row[side]} for number, row in enumerate(rows)] for side in (0, -1))
    return sent, listed


async def serve_definitions(connection: trunkline.HostConnection, frame: str) -> None:
    """One that lists these."""
    tools, prompts, resources, templates = (definitions(of)[0] for of in _NEEDED)
    others = {
        "prompts/list": {"prompts": prompts},
        "resources/list": {"resources": resources},
        "resources/templates/list": {"resourceTemplates": templates},
    }
    answer(connection, frame, tools, lambda params: RESULTS["text"], others)


#: Schemas with references that cannot be followed, and one with a property of that name.
ASTRAY = [
    {"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}},
    {"type": "object", "properties": {"a": {"$ref": "https://example.com/schema"}}},
    {"type": "object", "properties": {"a": {"$ref": 5}}},
    {"type": "object", "properties": {"$ref": {"type": "string"}}},
]


async def serve_astray(connection: trunkline.HostConnection, frame: str) -> None:
    """One whose tools have such schemas, beside one that has not."""
    astray = [{"name": f"astray{index}", "inputSchema": schema} for index, schema in enumerate(ASTRAY)]
    answer(connection, frame, [TOOLS[0], *astray], lambda params: RESULTS["text"])


#: Parameters that are called like keywords, or like nothing that every model API takes; the same one level down.
ODD_NAMES = [
    *("properties", "required", "type", "items", "enum", "anyOf", "$ref", "$defs", "default", "_id", "__user_id__"),
    *("from", "class", "self", "schema", "model_config", "constructor", "__proto__", "config", "filter[app]", "a" * 70),
]
_LEVEL = {"type": "object", "properties": {name: {"type": "string"} for name in ODD_NAMES}, "required": ODD_NAMES}
NAMED = {**_LEVEL, "properties": {**_LEVEL["properties"], "deep": _LEVEL}, "additionalProperties": False}  # type: ignore[dict-item]

#: Arguments of that tool.
GIVEN: dict[str, Any] = {**dict.fromkeys(ODD_NAMES, "v"), "deep": dict.fromkeys(ODD_NAMES, "w")}


def named(arguments: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Arguments as a model names them that was shown this schema, where each argument that has another name says by its title which it is."""
    by_own = {inner.get("title", name): name for name, inner in schema["properties"].items()}
    return {by_own[name]: value for name, value in arguments.items()}


async def serve_named(connection: trunkline.HostConnection, frame: str) -> None:
    """One whose tool has such parameters, refuses others, and answers with what it was given."""

    def call(params: dict[str, Any]) -> dict[str, Any]:
        arguments = params["arguments"]
        unknown = set(arguments) - set(NAMED["properties"])
        text = f"there is no {sorted(unknown)}" if unknown else json.dumps(arguments)
        return {"content": [{"type": "text", "text": text}], "isError": bool(unknown)}

    answer(connection, frame, [{"name": "named", "inputSchema": NAMED}], call)


#: Results that say little in blocks.
BARE: dict[str, dict[str, Any]] = {
    "alone": {"content": [], "structuredContent": {"total": 5, "word": "für"}},
    "wordless": {"content": [], "isError": True},
    "reason": {"content": [], "isError": True, "structuredContent": {"why": "closed"}},
    "php": {"content": [{"type": "text", "text": "a text"}], "structuredContent": []},
    "picture": {"content": [{"type": "resource_link", "uri": "https://e.test/p.png", "name": "p", "mimeType": "image/png"}]},
}


async def serve_bare(connection: trunkline.HostConnection, frame: str) -> None:
    """One whose tools answer so, and whose definitions say more than others."""
    more = {"annotations": {"readOnlyHint": True, "title": "T"}, "_meta": {"of": "mine"}, "outputSchema": {"type": "object"}}
    tools = [{"name": name, "inputSchema": {"type": "object"}, **more} for name in BARE]
    answer(connection, frame, tools, lambda params: BARE[params["name"]])


async def serve_given(connection: trunkline.HostConnection, frame: str) -> None:
    """One whose tool says which arguments it was given."""
    names = ["config", "run_manager", "callbacks", "self"]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    tools = [{"name": "given", "inputSchema": schema}]
    answer(connection, frame, tools, lambda params: {"content": [{"type": "text", "text": json.dumps(params["arguments"])}]})


def answer(connection: trunkline.HostConnection, frame: str, tools: Any, call: Any, others: Any = {}) -> None:
    message = json.loads(frame)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        server = {"name": "kinds", "version": "1"}
        capabilities: dict[str, Any] = {name.split("/")[0]: {} for name in ["tools/list", *others]}
        result: Any = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": server}
    elif method == "tools/list":
        result = {"tools": tools}
    elif method == "tools/call":
        result = call(message["params"])
    elif method in others:
        result = others[method]
    elif id is not None:
        error = {"code": -32601, "message": "no such method"}
        connection.send(json.dumps({"jsonrpc": "2.0", "id": id, "error": error}))
        return
    else:
        return
    text = json.dumps({"jsonrpc": "2.0", "id": id, "result": result})
    connection.send(text.replace(json.dumps(LONG), "1" * 5_000))


class Late:
    """Two servers. ``late`` lists a prompt and a resource once it was called, and then not before it may."""

    def __init__(self) -> None:
        self.asked, self.may = asyncio.Event(), asyncio.Event()
        self._is_called = False

    async def serve(self, connection: trunkline.HostConnection, frame: str) -> None:
        message = json.loads(frame)
        is_list = message.get("method") in ("prompts/list", "resources/list")
        if message.get("method") == "tools/call":
            self._is_called = True
            for of in ("prompts", "resources"):
                connection.send(json.dumps({"jsonrpc": "2.0", "method": f"notifications/{of}/list_changed"}))
        elif is_list and self._is_called:
            self.asked.set()
            await self.may.wait()
        others = {
            "prompts/list": {"prompts": [{"name": "late"}] if self._is_called else []},
            "resources/list": {"resources": [{"name": "late", "uri": "file:///late"}] if self._is_called else []},
            "prompts/get": {"messages": [{"role": "user", "content": {"type": "text", "text": "here"}}]},
            "resources/read": {"contents": [{"uri": "file:///late", "text": "here"}]},
        }
        answer(connection, frame, [{"name": "go", "inputSchema": {"type": "object"}}], lambda params: DONE, others)

    @asynccontextmanager
    async def session(self) -> AsyncIterator[trunkline.Session]:
        """A session where it was called and listing is under way."""
        async with trunkline.Pool(cache="off") as pool:
            session = pool.session("a")
            session.provide("late", self.serve)
            session.provide("other", serve)
            async with session.acquire("other"), session.acquire("late") as lease:
                await lease.call_tool("go", {})
                await asyncio.wait_for(self.asked.wait(), HANG)
                yield session

    async def given(self, asking: Coroutine[Any, Any, Any]) -> Any:
        """What is answered that is asked before the lists are there."""
        task = asyncio.create_task(asking)
        done, _ = await asyncio.wait([task], timeout=0.05)
        assert not done, task.exception() or task.result()
        self.may.set()
        return await asyncio.wait_for(task, HANG)


@asynccontextmanager
async def opened(log: Log, *flags: str, **options: Any) -> AsyncIterator[trunkline.Session]:
    """A session with the reference server as ``s``."""
    of_pool = options.pop("pool", {})
    async with trunkline.Pool(cache="off", **of_pool) as pool:
        await pool.reconcile({"s": log.server(*flags)})
        session = pool.session("a", **options)
        await session.ready("s", timeout=HANG)
        yield session


@asynccontextmanager
async def kinds(serve: Any = serve) -> AsyncIterator[trunkline.Session]:
    """A session with the server ``kinds``, or another in its place, held."""
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


async def is_cancelled(session: trunkline.Session, call: Coroutine[Any, Any, Any], begun: asyncio.Event) -> None:
    """Cancels the task of an endless call once the call runs, and waits until the server has seen that."""
    task = asyncio.create_task(call)
    await asyncio.wait_for(begun.wait(), HANG)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    while (await session.call_tool("mcp__s__cancelled")).content[0]["text"] != "1":
        await asyncio.sleep(0)
