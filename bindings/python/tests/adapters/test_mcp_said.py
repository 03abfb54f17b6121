"""`trunkline.adapters.mcp` with the package `mcp`: what servers say of themselves, and what they announce."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import anyio
import pytest
from mcp import types

import trunkline
from trunkline.adapters.mcp import ClientSession

from host import HANG, Log, run
from served import answer, definitions, kinds, opened, serve_boastful, serve_definitions


def plain(model: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = model.model_dump(by_alias=True, mode="json", exclude_none=True)
    return dumped


def test_what_a_server_says_of_itself_is_taken_as_far_as_it_is_fit() -> None:
    """SPEC 16.8, 4.5."""

    async def main() -> None:
        async with kinds(serve_boastful) as chat, ClientSession(chat, "kinds") as session:
            assert (session.instructions, session.server_info, session.server_capabilities) == (None, None, None)
            said = plain(await session.initialize())
            assert (said["capabilities"], said["instructions"]) == ({"prompts": {}, "tools": {"listChanged": True}}, "ask for little")
            # Version 1 of the package takes any theme.
            assert {**said["serverInfo"], "icons": None} == {"name": "kinds", "version": "1", "title": "Kinds", "icons": None}
            assert (session.instructions, session.server_info.title) == ("ask for little", "Kinds")

    run(main())


def test_what_was_announced_before_an_answer_is_listed_after_it(log: Log) -> None:
    """SPEC 7.9."""

    async def main() -> None:
        async with opened(log, "--list-delay-ms", "200") as chat, ClientSession(chat, "s") as session:
            for name in ("tool_1001", "tool_1002"):
                await session.call_tool("change_list", {"add": name})
                assert name in [tool.name for tool in (await session.list_tools()).tools]

    run(main())


def test_the_message_handler_hears_that_what_was_opened_is_over(log: Log) -> None:
    """SPEC 16.8."""

    async def main() -> None:
        over: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        async def on_message(message: Any) -> None:
            over.set_result(getattr(message, "root", message))

        async def accept(_: Any) -> Any:
            return {"action": "accept"}

        params = {"mode": "url", "message": "m", "url": "https://a.example/b", "elicitationId": "one"}
        complete = {"jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": {"elicitationId": "one"}}
        async with opened(log, handlers={"elicitation_url": accept}) as chat:
            async with ClientSession(chat, "s", message_handler=on_message) as session:
                await session.call_tool("ask", {"method": "elicitation/create", "params": params})
                await session.call_tool("write", {"line": json.dumps(complete)})
                told = await asyncio.wait_for(over, HANG)
                assert isinstance(told, types.ElicitCompleteNotification)
                assert plain(told)["params"]["elicitationId"] == "one"

    run(main())


LISTS = {
    "tools": "list_tools",
    "prompts": "list_prompts",
    "resources": "list_resources",
    "resourceTemplates": "list_resource_templates",
}


@pytest.mark.parametrize("of", LISTS)
def test_what_does_not_fit_costs_itself_alone(of: str) -> None:
    """SPEC 18.2."""

    async def main() -> None:
        async with kinds(serve_definitions) as chat, ClientSession(chat, "kinds") as session:
            listed = plain(await getattr(session, LISTS[of])())[of]
            assert {each["name"]: each for each in listed} == {each["name"]: each for each in definitions(of)[1]}

    run(main())


def test_of_the_shape_mcp_too() -> None:
    """SPEC 18.2. Nothing is read there but what fits."""

    async def main() -> None:
        async with kinds(serve_definitions) as chat, ClientSession(chat, "kinds", shape="mcp") as session:
            listed = {each["name"]: each for each in plain(await session.list_tools())["tools"]}
        sent, fit = definitions("tools")
        for as_sent, expected in zip(sent, fit):
            unread = {name: value for name, value in expected.items() if type(as_sent.get(name)) is type(value) or isinstance(value, (dict, list))}
            assert listed[expected["name"]] == unread, as_sent

    run(main())


def test_what_is_left_out_is_logged_and_null_is_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """SPEC 18.2."""
    tool = {"name": "one", "inputSchema": {"type": "object"}, "icons": [{"src": 5}], "title": None, "annotations": {"readOnlyHint": None}}

    async def serve(connection: trunkline.HostConnection, frame: str) -> None:
        answer(connection, frame, [tool], None)

    async def main() -> None:
        async with kinds(serve) as chat, ClientSession(chat, "kinds") as session:
            await session.list_tools()

    run(main())
    assert [record.getMessage() for record in caplog.records] == ["left out of what a server says: of 'one', what does not fit of 'icons'"]


@pytest.mark.parametrize("shape", ["any", "mcp", "openai"])
@pytest.mark.parametrize("name", ["readOnlyHint", "read_only_hint"])
@pytest.mark.parametrize("value", ["yes", "true", 1, 0, "no"])
def test_a_hint_is_what_the_protocol_calls_one(shape: str, name: str, value: Any) -> None:
    """SPEC 18.2, 5.7: trust hangs on it."""
    tool = {"name": "one", "inputSchema": {"type": "object"}, "annotations": {name: value, "title": "T"}}

    async def serve(connection: trunkline.HostConnection, frame: str) -> None:
        answer(connection, frame, [tool], None)

    async def main() -> None:
        async with kinds(serve) as chat, ClientSession(chat, "kinds", shape=shape) as session:
            (listed,) = plain(await session.list_tools())["tools"]
            assert listed["annotations"] == {"title": "T"}

    run(main())


def test_a_cancelled_scope_of_anyio_ends_where_it_began(log: Log) -> None:
    """What leaves a client is the cancellation that came, by which a scope knows its own."""

    async def main() -> None:
        async def on_message(_: Any) -> None: ...

        async with opened(log) as chat:
            with anyio.CancelScope() as scope:
                async with ClientSession(chat, "s", message_handler=on_message) as session:
                    await session.send_ping()
                    scope.cancel()
            assert scope.cancelled_caught

    run(main())
