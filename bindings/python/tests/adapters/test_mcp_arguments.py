"""Arguments of calls of `trunkline.adapters.mcp`: what they are made of, and what they are called."""

from __future__ import annotations

import json
from datetime import date
from enum import Enum
from pathlib import Path
from uuid import UUID

import pytest
from pydantic import BaseModel, Field

import trunkline
from trunkline.adapters.mcp import ClientSession, MCPError

from host import run
from served import GIVEN, NAMED, ODD_NAMES, kinds, named, serve_given, serve_named


class _Colour(Enum):
    RED = "red"


class _Point(BaseModel):
    x: int = Field(alias="X")


def test_arguments_are_written_as_pydantic_writes_them() -> None:
    given = {
        "date": date(2026, 1, 2),
        "id": UUID(int=7),
        "path": Path("/a/b"),
        "colour": _Colour.RED,
        "point": _Point(X=1),
        "bytes": b"abc",
        "set": {1},
        "plain": {"a": [None, 1.5, "für"]},
    }
    expected = {
        "date": "2026-01-02",
        "id": "00000000-0000-0000-0000-000000000007",
        "path": "/a/b",
        "colour": "red",
        "point": {"X": 1},
        "bytes": "abc",
        "set": [1],
        "plain": {"a": [None, 1.5, "für"]},
    }

    async def main() -> None:
        async with kinds(serve_given) as chat, ClientSession(chat, "kinds") as session:
            found = await session.call_tool("given", given)
            assert json.loads(found.content[0].text) == expected
            with pytest.raises(MCPError) as raised:
                await session.call_tool("given", {"bytes": b"\xff"})
            assert isinstance(raised.value.__cause__, trunkline.InvalidArgumentError)

    run(main())


def test_parameters_may_have_any_name() -> None:
    """SPEC 18.8: a tool is listed as it is unless a model's API refuses a name, and the way back is known."""

    async def main() -> None:
        async with kinds(serve_named) as chat:
            for shape, is_plain in (("any", False), ("mcp", True), ("anthropic", False), ("openai", True)):
                async with ClientSession(chat, "kinds", shape=shape) as session:
                    (tool,) = (await session.list_tools()).tools
                    shown = tool.model_dump(by_alias=True)["inputSchema"]
                    assert (tool.name, set(shown["properties"]) >= set(ODD_NAMES)) == ("named", is_plain)
                    assert (shown == NAMED) == is_plain
                    for arguments in (GIVEN, GIVEN if is_plain else named(GIVEN, shown)):
                        assert json.loads((await session.call_tool("named", arguments)).content[0].text) == GIVEN

    run(main())
