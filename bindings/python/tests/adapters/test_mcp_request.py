"""`send_request` of `trunkline.adapters.mcp.ClientSession`: requests as the package's own programs build them (FAULTS P14)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from mcp import types
from pydantic import BaseModel

import trunkline
from trunkline.adapters.mcp import ClientSession, MCPError

from host import HANG, Log, run
from served import opened

URI = "test:///resource-1"


def request(method: str, params: Any = None) -> Any:
    """A request as the installed version has it: version 1 wraps it."""
    built = next(
        kind.model_validate({"method": method, "params": params} if params is not None else {"method": method})
        for kind in vars(types).values()
        if isinstance(kind, type) and issubclass(kind, BaseModel) and "method" in kind.model_fields
        and kind.model_fields["method"].default == method
    )
    return types.ClientRequest(built) if isinstance(types.ClientRequest, type) else built


#: A request, the type of its result, and what shows that it was answered.
REQUESTS: list[tuple[str, Any, Any, Any]] = [
    ("ping", None, types.EmptyResult, lambda result: True),
    ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}},
     types.InitializeResult, lambda result: result.instructions == "for tests"),
    ("tools/list", None, types.ListToolsResult, lambda result: "add" in [tool.name for tool in result.tools]),
    ("tools/list", {"cursor": "3"}, types.ListToolsResult, lambda result: len(result.tools) > 3),
    ("tools/call", {"name": "add", "arguments": {"a": 2, "b": 3}}, types.CallToolResult, lambda result: result.content[0].text == "5"),
    ("tools/call", {"name": "add", "arguments": {"a": 2, "b": 3}, "_meta": {"trace": "t"}}, types.CallToolResult,
     lambda result: result.content[0].text == "5"),
    ("prompts/list", None, types.ListPromptsResult, lambda result: result.prompts),
    ("resources/list", None, types.ListResourcesResult, lambda result: result.resources),
    ("resources/templates/list", None, types.ListResourceTemplatesResult, lambda result: True),
]


@pytest.mark.parametrize(("method", "params", "kind", "holds"), REQUESTS)
def test_a_request_is_answered_in_its_type(log: Log, method: str, params: Any, kind: Any, holds: Any) -> None:
    async def main() -> None:
        async with opened(log) as chat, ClientSession(chat, "s", read_timeout_seconds=HANG) as session:
            result = await session.send_request(request(method, params), kind)
            assert isinstance(result, kind) and holds(result)

    run(main())


def test_what_a_list_names_is_got_and_read_and_subscribed_to(log: Log) -> None:
    async def main() -> None:
        async with opened(log) as chat, ClientSession(chat, "s") as session:
            prompt = (await session.list_prompts()).prompts[0].name
            uri = str((await session.list_resources()).resources[0].uri)
            assert (await session.send_request(request("prompts/get", {"name": prompt}), types.GetPromptResult)).messages
            assert (await session.send_request(request("resources/read", {"uri": uri}), types.ReadResourceResult)).contents
            for method in ("resources/subscribe", "resources/unsubscribe"):
                assert isinstance(await session.send_request(request(method, {"uri": uri}), types.EmptyResult), types.EmptyResult)

    run(main())


def test_progress_time_and_errors_are_those_of_a_call(log: Log) -> None:
    async def main() -> None:
        steps: list[float] = []

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            steps.append(progress)

        async with opened(log) as chat, ClientSession(chat, "s") as session:
            call = request("tools/call", {"name": "progress", "arguments": {"steps": 2}})
            await session.send_request(call, types.CallToolResult, progress_callback=on_progress)
            assert steps == [1, 2]
            slow = request("tools/call", {"name": "sleep", "arguments": {"ms": 600_000}})
            for seconds in (timedelta(milliseconds=50), 0.05):
                with pytest.raises(MCPError) as raised:
                    await session.send_request(slow, types.CallToolResult, seconds)
                assert isinstance(raised.value.__cause__, trunkline.TimeoutError)
            with pytest.raises(MCPError, match="an answer that is not as its type has it"):
                await session.send_request(request("ping"), types.ReadResourceResult)
            with pytest.raises(trunkline.InvalidArgumentError, match="metadata: .{10}"):
                await session.send_request(request("ping"), types.EmptyResult, metadata=object())

    run(main())


def test_what_a_filter_hides_is_not_got_by_a_request(log: Log) -> None:
    async def main() -> None:
        async with opened(log, exclude={"s": ["add"]}) as chat, ClientSession(chat, "s") as session:
            listed = await session.send_request(request("tools/list"), types.ListToolsResult)
            assert listed.tools and "add" not in [tool.name for tool in listed.tools]
            with pytest.raises(MCPError) as raised:
                await session.send_request(request("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}), types.CallToolResult)
            assert isinstance(raised.value.__cause__, trunkline.TrunklineError) and raised.value.__cause__.outcome == "not_sent"

    run(main())


#: A request with a member that no method here takes.
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}, "task": {"ttl": 1000}}, "params.task"),
    ("tools/call", {"name": "add", "requestState": "a"}, "params.requestState"),
    ("prompts/get", {"name": "greet", "inputResponses": {}}, "params.inputResponses"),
]


class Built(BaseModel):
    """A request of one's own."""

    method: str
    params: dict[str, Any]


@pytest.mark.parametrize(("method", "params", "path"), REFUSED)
def test_a_member_that_no_method_takes_is_refused(log: Log, method: str, params: dict[str, Any], path: str) -> None:
    """And does not go lost, by which a task would run at once."""

    async def main() -> None:
        async with opened(log) as chat, ClientSession(chat, "s") as session:
            with pytest.raises(trunkline.InvalidArgumentError, match=path) as raised:
                await session.send_request(Built(method=method, params=params), types.CallToolResult)
            assert raised.value.detail["path"] == path

    run(main())
