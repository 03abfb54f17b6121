"""`trunkline.adapters.openai_agents` with the OpenAI Agents SDK, and a model that says what it is told to."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage
from mcp import types
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

import trunkline
from trunkline.adapters.mcp import MCPError
from trunkline.adapters.openai_agents import SessionServer

from host import HANG, Log, run
from pages import assert_prints, printing
from served import (
    ENDLESS,
    GIVEN,
    Late,
    ODD_NAMES,
    PIXEL,
    RESULTS,
    SMELL,
    UNFIT,
    changed,
    definitions,
    is_cancelled,
    kinds,
    named,
    names,
    opened,
    serve_bare,
    serve_definitions,
    serve_named,
    serve_odd,
    serve_unfit,
)

UNTRACED = RunConfig(tracing_disabled=True)


class Scripted(Model):
    """Asks for tools in an order that is written down, then says that it is done."""

    def __init__(self, *calls: tuple[str, dict[str, Any]]) -> None:
        self._calls = list(calls)
        self.offered: list[list[str]] = []
        self.inputs: list[Any] = []

    async def get_response(self, system_instructions: Any, input: Any, model_settings: Any, tools: Any, *_: Any, **__: Any) -> Any:
        self.offered.append([tool.name for tool in tools])
        self.inputs.append(input)
        if self._calls:
            name, arguments = self._calls.pop(0)
            number = f"c{len(self.offered)}"
            item: Any = ResponseFunctionToolCall(
                type="function_call", name=name, arguments=json.dumps(arguments), call_id=number, id=number
            )
        else:
            said = ResponseOutputText(type="output_text", text="done", annotations=[])
            item = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[said])
        return ModelResponse(output=[item], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError

    def outputs(self) -> list[Any]:
        """What it was told of its calls."""
        return [item["output"] for item in self.inputs[-1] if item.get("type") == "function_call_output"]


async def told(model: Scripted, server: SessionServer) -> list[Any]:
    agent = Agent(name="a", model=model, mcp_servers=[server])
    answer = await Runner.run(agent, "go on", run_config=UNTRACED)
    assert answer.final_output == "done"
    return model.outputs()


def texts(output: Any) -> str:
    return output if isinstance(output, str) else "".join(part["text"] for part in output)


def test_an_agent_calls_the_tools_of_a_session(log: Log) -> None:
    async def main() -> None:
        async with opened(log, exclude={"s": ["crash"]}) as session:
            model = Scripted(("mcp__s__add", {"a": 2, "b": 3}), ("mcp__s__fail", {"text": "no such city"}))
            async with SessionServer(session) as server:
                added, failed = await told(model, server)
            assert texts(added) == "5"
            assert "no such city" in texts(failed)
            assert model.offered[0] == names(session) and "mcp__s__crash" not in model.offered[0]
            assert (await session.call_tool("mcp__s__echo", {"message": "goes on"})).content[0]["text"] == "goes on"

    run(main())
    assert log.starts() == 1


def test_a_change_is_there_at_the_next_turn(log: Log) -> None:
    async def main() -> None:
        async with opened(log, "--list-changes") as session, SessionServer(session) as server:
            await told(Scripted(("mcp__s__echo", {"message": "before"})), server)
            await changed(session, "fresh")
            model = Scripted(("mcp__s__fresh", {}))
            (output,) = await told(model, server)
            assert "mcp__s__fresh" in model.offered[0] and "fresh" in texts(output)

    run(main())


def test_results_of_every_kind_come_as_the_server_sent_them() -> None:
    async def main() -> None:
        async with kinds() as session, SessionServer(session) as server:
            result = await server.call_tool("mcp__kinds__picture", {"city": "x"})
            assert [type(block) for block in result.content] == [types.TextContent, types.ImageContent, types.AudioContent]
            assert result.content[1].data == PIXEL
            result = await server.call_tool("mcp__kinds__structured", {"city": "x"})
            assert result.model_dump(by_alias=True)["structuredContent"] == {"total": 5}
            assert (await server.call_tool("mcp__kinds__wrong", {"city": "x"})).model_dump(by_alias=True)["isError"]
            calls = [(f"mcp__kinds__{name}", {"city": "x"}) for name in ("picture", "wrong")]
            picture, wrong = await told(Scripted(*calls), server)
            assert any(part.get("type") == "input_image" for part in picture)
            assert "no such city" in texts(wrong)

    run(main())


def test_a_cancelled_task_cancels_the_call(log: Log) -> None:
    async def main() -> None:
        begun = asyncio.Event()
        async with opened(log) as session:
            server = SessionServer(session, on_progress=lambda *_: begun.set())
            await is_cancelled(session, server.call_tool("mcp__s__progress", ENDLESS), begun)

    run(main())


def test_what_was_announced_before_an_answer_is_listed_after_it(log: Log) -> None:
    """SPEC 7.9."""

    async def main() -> None:
        async with opened(log, "--list-delay-ms", "200") as session:
            for servers, name in ((None, "tool_1001"), (["s"], "tool_1002")):
                async with SessionServer(session, servers=servers) as server:
                    await server.call_tool("mcp__s__change_list", {"add": name})
                    assert f"mcp__s__{name}" in [tool.name for tool in await server.list_tools()]

    run(main())


def test_one_odd_tool_or_block_costs_nobody_the_rest() -> None:
    async def main() -> None:
        async with kinds(serve_odd) as session, SessionServer(session) as server:
            assert {tool.name for tool in await server.list_tools()} == {f"mcp__kinds__{name}" for name in [*RESULTS, "odd", "long"]}
            before, odd = (await server.call_tool("mcp__kinds__odd", {})).content
            assert (before.text, json.loads(odd.text)) == ("before", {"type": "smell", "of": "roses"})

    run(main())


def test_a_member_of_a_wrong_type_costs_itself_alone() -> None:
    """SPEC 18.2."""

    def plain(model: Any) -> dict[str, Any]:
        dumped: dict[str, Any] = model.model_dump(by_alias=True, mode="json", exclude_none=True)
        return {**dumped, "name": dumped["name"].removeprefix("mcp__kinds__")}

    async def main() -> None:
        async with kinds(serve_definitions) as session, SessionServer(session) as server:
            listed = {
                "tools": await server.list_tools(),
                "prompts": (await server.list_prompts()).prompts,
                "resources": (await server.list_resources()).resources,
                "resourceTemplates": (await server.list_resource_templates()).resource_templates,
            }
            for of, models in listed.items():
                expected = {each["name"]: {**each, "inputSchema": None} for each in definitions(of)[1]}
                assert {each["name"]: {**each, "inputSchema": None} for each in map(plain, models)} == expected

    run(main())


def test_what_is_unfit_costs_nobody_the_rest_of_a_result() -> None:
    """SPEC 4.5."""

    async def main() -> None:
        async with kinds(serve_unfit) as session, SessionServer(session) as server:
            assert len(names(session)) == len(UNFIT)
            for name in names(session):
                result = await server.call_tool(name, {})
                assert [block.text for block in result.content] == ["done"]
            before, odd = (await server.get_prompt("odd")).messages
            assert (before.content.text, json.loads(odd.content.text)) == ("before", SMELL)
            before, odd = (await server.read_resource("file:///a")).contents
            assert (before.text, json.loads(odd.text)["smell"]) == ("before", "roses")

    run(main())


def test_parameters_may_have_any_name() -> None:
    """SPEC 18.8."""

    async def main() -> None:
        async with kinds(serve_named) as session, SessionServer(session) as server:
            (tool,) = await server.list_tools()
            shown = tool.model_dump(by_alias=True)["inputSchema"]
            assert all(re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name) for name in shown["properties"])
            for arguments in (named(GIVEN, shown), GIVEN):
                assert json.loads(texts((await told(Scripted((tool.name, arguments)), server))[0])) == GIVEN
            async with SessionServer(session, shape="openai", wait=True, retry="not_sent") as of_openai:
                (tool,) = await of_openai.list_tools()
                assert set(ODD_NAMES) <= set(tool.model_dump(by_alias=True)["inputSchema"]["properties"])
                assert json.loads((await of_openai.call_tool(tool.name, GIVEN)).content[0].text) == GIVEN

    run(main())


def test_a_result_that_says_little_reaches_the_model() -> None:
    """SPEC 18.8: structured content alone is its JSON, and an error has words."""

    async def main() -> None:
        async with kinds(serve_bare) as session, SessionServer(session) as server:
            calls = [(f"mcp__kinds__{name}", {}) for name in ("alone", "wordless", "reason")]
            alone, wordless, reason = map(texts, await told(Scripted(*calls), server))
            assert json.loads(alone) == {"total": 5, "word": "für"}
            assert "without a text" in wordless and "closed" in reason

    run(main())


def test_prompts_resources_progress_and_typed_errors(log: Log) -> None:
    async def main() -> None:
        steps: list[Any] = []
        async with opened(log) as session:
            heard = SessionServer(session, on_progress=lambda name, event: steps.append((name, event["progress"])))
            async with heard as server:
                await server.call_tool("mcp__s__progress", {"steps": 2})
                assert steps == [("mcp__s__progress", 1), ("mcp__s__progress", 2)]
                prompts = (await server.list_prompts()).prompts
                assert isinstance(await server.get_prompt(prompts[0].name), types.GetPromptResult)
                resources = (await server.list_resources()).resources
                assert (await server.read_resource(str(resources[0].uri))).contents
                assert isinstance(await server.list_resource_templates(), types.ListResourceTemplatesResult)
                for one in (server, SessionServer(session, servers=["s", "t"])):
                    with pytest.raises(MCPError):
                        await one.read_resource("file:///nobody/lists/this")
                    with pytest.raises(MCPError):
                        await one.get_prompt("nobody lists this")
            assert (await SessionServer(session, servers=["other"]).list_tools()) == []

    run(main())


#: A tool, its arguments, the seconds of the call, and the typed error that the package's own comes from.
ERRORS: list[tuple[str, dict[str, Any], float | None, type[trunkline.TrunklineError]]] = [
    ("error", {"code": -32050, "message": "as asked"}, None, trunkline.ServerError),
    ("sleep", {"ms": 600_000}, 0.05, trunkline.TimeoutError),
    ("crash", {}, None, trunkline.CallInterruptedError),
    ("no_such_tool", {}, None, trunkline.ToolNotFoundError),
]


@pytest.mark.parametrize(("tool", "arguments", "timeout", "cause"), ERRORS)
def test_errors_are_the_packages_own_from_typed_ones(
    log: Log, tool: str, arguments: dict[str, Any], timeout: float | None, cause: type[trunkline.TrunklineError]
) -> None:
    """The SDK tells these from faults of a program, and shows the model what they say."""

    async def main() -> None:
        async with opened(log) as session:
            with pytest.raises(MCPError) as raised:
                await SessionServer(session, timeout=timeout).call_tool(f"mcp__s__{tool}", arguments)
            assert isinstance(raised.value.__cause__, cause)
            if tool == "error":
                assert (raised.value.error.code, raised.value.error.message) == (-32050, "as asked")

    run(main())


def test_what_nobody_lists_is_asked_of_the_only_server(log: Log) -> None:
    """FAULTS P9: also where that server lists nothing at all."""

    async def main() -> None:
        nothing = log.server("--no-tools", "--no-prompts", "--no-resources")
        async with trunkline.Pool(cache="off") as pool:
            await pool.reconcile({"one": nothing})
            session = pool.session("a")
            for server in (SessionServer(session), SessionServer(session, servers=["one"])):
                async with server:
                    with pytest.raises(MCPError):
                        await server.get_prompt("unlisted")
                    with pytest.raises(MCPError):
                        await server.read_resource("file:///unlisted")
            await pool.reconcile({"one": nothing, "two": nothing})
            async with SessionServer(pool.session("b")) as server:
                with pytest.raises(MCPError, match="unlisted") as raised:
                    await server.get_prompt("unlisted")
                assert isinstance(raised.value.__cause__, trunkline.InvalidArgumentError)

    run(main())


def test_what_the_view_lacks_waits_for_a_listing() -> None:
    """SPEC 7.9."""

    async def prompted(server: SessionServer) -> Any:
        return (await server.get_prompt("late")).messages[0].content.text

    async def read(server: SessionServer) -> Any:
        return (await server.read_resource("file:///late")).contents[0].text

    async def main() -> None:
        for asking in (prompted, read):
            late = Late()
            async with late.session() as session:
                assert await late.given(asking(SessionServer(session))) == "here"

    run(main())


def test_a_message_handler_is_told_between_connect_and_cleanup(log: Log) -> None:
    """FAULTS P11."""

    async def main() -> None:
        told: list[Any] = []
        heard = asyncio.Event()

        async def on_message(message: Any) -> None:
            told.append(type(getattr(message, "root", message)))
            heard.set()

        async with opened(log, "--list-changes") as session:
            others = SessionServer(session, servers=["other"], message_handler=on_message)
            async with SessionServer(session, message_handler=on_message) as server, others:
                await server.connect()
                await changed(session, "fresh")
                await asyncio.wait_for(heard.wait(), HANG)
            await changed(session, "later")
        assert told == [types.ToolListChangedNotification]

    run(main())


@pytest.mark.parametrize(("name", "program", "printed"), printing("docs/guide/migrate/openai-agents.md"), ids=lambda value: value.splitlines()[0])
def test_the_page_prints_what_it_says(name: str, program: str, printed: str, tmp_path: Path) -> None:
    """FAULTS P8."""
    assert_prints(name, program, printed, tmp_path)
