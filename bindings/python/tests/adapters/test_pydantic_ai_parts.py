"""`trunkline.adapters.pydantic_ai`: what the framework's own toolset carries beside a text, and its ways to a call (FAULTS P11)."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from pydantic_ai import ModelRetry, ToolFailed
from pydantic_ai.messages import BinaryContent, BinaryImage, TextContent

import trunkline
from trunkline.adapters.pydantic_ai import SessionToolset, ToolError

from host import Log, run
from served import answer, kinds, opened
from test_pydantic_ai import CONTEXT

PICTURE = base64.b64encode(b"a small picture").decode()
ABOUT = {"annotations": {"audience": ["user"], "priority": 1.0}, "_meta": {"source": "mcp"}}
TOLD = {"mcp_annotations": {"audience": ["user"], "priority": 1.0}, "mcp_meta": {"source": "mcp"}}

#: A block of a prompt, and what it is.
BLOCKS: list[tuple[dict[str, Any], Any]] = [
    ({"type": "text", "text": "a"}, TextContent("a")),
    ({"type": "text", "text": "a", **ABOUT}, TextContent("a", metadata=TOLD)),
    ({"type": "text", "text": "a", "annotations": {"priority": 7, "audience": ["user"]}, "_meta": 5},
     TextContent("a", metadata={"mcp_annotations": {"audience": ["user"]}})),
    ({"type": "text", "text": "a", "annotations": None, "_meta": {}}, TextContent("a")),
    ({"type": "image", "data": PICTURE, "mimeType": "image/png"}, BinaryImage(b"a small picture", media_type="image/png")),
    ({"type": "image", "data": PICTURE, "mimeType": "image/png", **ABOUT},
     BinaryImage(b"a small picture", media_type="image/png", vendor_metadata=TOLD)),
    ({"type": "audio", "data": PICTURE, "mimeType": "audio/wav", **ABOUT},
     BinaryContent(b"a small picture", media_type="audio/wav", vendor_metadata=TOLD)),
]

#: An error that a tool reports, and what the model is told.
ERRORS: list[tuple[dict[str, Any], str]] = [
    ({"content": [{"type": "text", "text": "bad input"}], "structuredContent": {"isRetryable": False}}, '{"isRetryable": false}'),
    ({"content": [{"type": "text", "text": "bad input"}], "structuredContent": {"result": "closed"}}, '"closed"'),
    ({"content": [{"type": "text", "text": "bad input"}], "structuredContent": []}, "bad input"),
    ({"content": [{"type": "text", "text": "bad input"}]}, "bad input"),
    ({"content": [{"type": "image", "data": PICTURE, "mimeType": "image/png"}]}, "the tool reports an error without a text"),
]


async def serve(connection: trunkline.HostConnection, frame: str) -> None:
    """One prompt for each block, and one tool for each error."""
    method, params = (message := json.loads(frame)).get("method"), message.get("params") or {}
    others: dict[str, Any] = {"prompts/list": {"prompts": [{"name": f"p{number}"} for number in range(len(BLOCKS))]}}
    if method == "prompts/get":
        block = BLOCKS[int(params["name"][1:])][0]
        others["prompts/get"] = {"messages": [{"role": "user", "content": block}]}
    tools = [{"name": f"t{number}", "inputSchema": {"type": "object"}} for number in range(len(ERRORS))]
    answer(connection, frame, tools, lambda params: {**ERRORS[int(params["name"][1:])][0], "isError": True}, others)


def test_a_prompt_carries_what_stands_beside_its_blocks() -> None:
    async def main() -> None:
        async with kinds(serve) as session:
            toolset = SessionToolset(session)
            for number, (_, expected) in enumerate(BLOCKS):
                content = (await toolset.get_prompt(f"p{number}")).messages[0].content
                assert (type(content), content) == (type(expected), expected), number

    run(main())


@pytest.mark.parametrize(("behavior", "raised"), [("retry", ModelRetry), ("failed", ToolFailed), ("error", ToolError)])
def test_the_structured_content_of_an_error_reaches_the_model(behavior: str, raised: Any) -> None:
    async def main() -> None:
        async with kinds(serve) as session:
            toolset = SessionToolset(session, tool_error_behavior=behavior)
            for number, (_, expected) in enumerate(ERRORS):
                with pytest.raises(raised) as error:
                    await toolset.direct_call_tool(f"mcp__kinds__t{number}", {})
                assert getattr(error.value, "message", str(error.value)) == expected, number

    run(main())


def test_a_tool_is_called_without_a_run(log: Log) -> None:
    async def main() -> None:
        told: list[Any] = []
        async with opened(log) as session:
            toolset = SessionToolset(session, on_progress=lambda *about: told.append(about))
            assert await toolset.direct_call_tool("mcp__s__add", {"a": 2, "b": 3}, {"trace": "t"}) == "5"
            await toolset.direct_call_tool("mcp__s__progress", {"steps": 1})
            assert [(context, name) for context, name, _ in told] == [(None, "mcp__s__progress")]

    run(main())


def test_a_toolset_is_named_later_and_says_how_names_are_told_apart() -> None:
    async def main() -> None:
        async with kinds(serve) as session:
            toolset = SessionToolset(session)
            toolset.id = "mine"
            assert (toolset.id, await SessionToolset(session, id="a").get_instructions(CONTEXT)) == ("mine", None)
            assert ".prefixed(" in toolset.tool_name_conflict_hint

    run(main())
