"""`trunkline.adapters.pydantic_ai` with Pydantic AI and its own models for tests."""

from __future__ import annotations

import asyncio
import base64
import json
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic_ai import Agent, UnexpectedModelBehavior, UserError
from pydantic_ai.messages import BinaryContent, BinaryImage, ModelResponse, TextContent, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.profiles import InlineDefsJsonSchemaTransformer

import trunkline
from trunkline.adapters import _pydantic_ai as lists
from trunkline.adapters.pydantic_ai import SessionToolset

from host import Log, run
from pages import assert_prints, printing
from served import (
    ASTRAY,
    ENDLESS,
    GIVEN,
    Late,
    MALFORMED,
    SMELL,
    answer,
    changed,
    definitions,
    is_cancelled,
    kinds,
    named,
    names,
    opened,
    serve_astray,
    serve_bare,
    serve_definitions,
    serve_malformed,
    serve_named,
    serve_odd,
    serve_unfit,
)


#: What a toolset is asked in: as far as it looks at that.
CONTEXT: Any = SimpleNamespace(
    model=SimpleNamespace(system="function", customize_request_parameters=lambda parameters: parameters), max_retries=1
)


class Scripted:
    """Asks for tools in an order that is written down, then says that it is done."""

    def __init__(self, *calls: tuple[str, dict[str, Any]], profile: Any = None) -> None:
        self._calls = list(calls)
        self.offered: list[list[str]] = []
        self.model: Any = FunctionModel(self._turn, profile=profile)

    def _turn(self, messages: Any, about: Any) -> ModelResponse:
        self.offered.append([tool.name for tool in about.function_tools])
        if not self._calls:
            return ModelResponse(parts=[TextPart("done")])
        name, arguments = self._calls.pop(0)
        return ModelResponse(parts=[ToolCallPart(name, arguments)])


async def told(script: Scripted, toolset: SessionToolset) -> list[Any]:
    answer = await Agent(script.model, toolsets=[toolset]).run("go on")
    assert answer.output == "done"
    parts = [part for message in answer.all_messages() for part in message.parts]
    return [part for part in parts if isinstance(part, ToolReturnPart)]


def test_an_agent_calls_the_tools_of_a_session(log: Log) -> None:
    async def main() -> None:
        async with opened(log, exclude={"s": ["crash"]}) as session:
            script = Scripted(("mcp__s__add", {"a": 2, "b": 3}), ("mcp__s__fail", {"text": "no such city"}))
            added, failed = await told(script, SessionToolset(session))
            assert isinstance(added, ToolReturnPart) and added.content == "5"
            assert (failed.content, failed.outcome) == ("no such city", "retried")
            assert script.offered[0] == names(session) and "mcp__s__crash" not in script.offered[0]
            assert (await session.call_tool("mcp__s__echo", {"message": "goes on"})).content[0]["text"] == "goes on"

    run(main())
    assert log.starts() == 1


def test_its_model_for_tests_fills_in_the_schemas() -> None:
    async def main() -> None:
        async with kinds() as session:
            model = TestModel(call_tools=["mcp__kinds__text", "mcp__kinds__structured"])
            answer = await Agent(model, toolsets=[SessionToolset(session, id="tools")]).run("go on")
            assert "a text" in answer.output
            offered = model.last_model_request_parameters
            assert offered is not None
            shown = {tool.name: tool.parameters_json_schema for tool in offered.function_tools}
            assert shown == {tool.name: tool.definition["inputSchema"] for tool in session.tools()}

    run(main())


def test_results_of_every_kind_are_the_frameworks() -> None:
    async def main() -> None:
        async with kinds() as session:
            wanted = ["text", "picture", "structured", "resource"]
            calls = [(f"mcp__kinds__{name}", {"city": "x"}) for name in wanted]
            text, picture, structured, resource = [part.content for part in await told(Scripted(*calls), SessionToolset(session))]
            assert text == "a text" and structured == {"total": 5}
            assert picture[0] == "look"
            assert [(block.data, block.media_type) for block in picture[1:]] == [
                (b"a small picture", "image/png"),
                (b"a small picture", "audio/wav"),
            ]
            assert (resource[0], resource[2]) == ("of a file", "file:///c")
            assert isinstance(resource[1], BinaryContent) and resource[1].media_type == "application/pdf"

    run(main())


def test_a_schema_that_python_cannot_decode_says_less() -> None:
    """SPEC 4.5."""

    async def main() -> None:
        async with kinds(serve_odd) as session:
            script = Scripted()
            await told(script, SessionToolset(session))
            assert script.offered[0] == names(session)

    run(main())


def test_a_block_that_is_not_as_the_protocol_has_it_stays_as_it_is() -> None:
    """SPEC 4.5: and costs nobody the rest of the result."""

    async def main() -> None:
        async with kinds(serve_malformed) as session:
            script = Scripted(("mcp__kinds__malformed", {}), ("mcp__kinds__failed", {}))
            malformed, failed = await told(script, SessionToolset(session))
            assert malformed.content == ["before", *MALFORMED]
            assert failed.content == "before"

    run(main())


def test_references_that_lead_nowhere_cost_no_tool() -> None:
    """SPEC 18.8: the framework follows the references of all tools that it offers, and ends the run at one that it cannot."""

    async def main() -> None:
        async with kinds(serve_astray) as session:
            assert len(names(session)) == 1 + len(ASTRAY)
            script = Scripted(profile={"json_schema_transformer": InlineDefsJsonSchemaTransformer})
            await told(script, SessionToolset(session))
            assert script.offered[0] == names(session)

    run(main())


def test_a_schema_that_a_model_refuses_costs_nobody_the_rest(caplog: pytest.LogCaptureFixture) -> None:
    """SPEC 4.5: it would end the run, with all tools that are offered. The model decides."""

    class Refusing(InlineDefsJsonSchemaTransformer):
        def walk(self) -> dict[str, Any]:
            if "city" in self.schema.get("properties", {}):
                raise UserError("no city")
            return super().walk()

    async def main() -> None:
        async with kinds(serve_astray) as session:
            of_a_model = {"json_schema_transformer": Refusing}
            script = Scripted(profile=of_a_model)
            await told(script, SessionToolset(session))
            assert set(script.offered[0]) == set(names(session)) - {"mcp__kinds__text"}
            assert "left out of a list: 'mcp__kinds__text'" in caplog.text
            script = Scripted(profile=of_a_model)
            script.model = FallbackModel(script.model, Scripted().model)
            await told(script, SessionToolset(session))
            assert set(script.offered[0]) == set(names(session)) - {"mcp__kinds__text"}

    run(main())


def test_what_was_announced_before_an_answer_is_listed_after_it(log: Log) -> None:
    """SPEC 7.9."""

    async def main() -> None:
        async with opened(log, "--list-delay-ms", "200") as session:
            await session.call_tool("mcp__s__change_list", {"add": "tool_1001"})
            assert "mcp__s__tool_1001" in await SessionToolset(session).get_tools(CONTEXT)

    run(main())


def test_parameters_may_have_any_name() -> None:
    """SPEC 18.8: a model that is not known is shown names that all take; that of one whose API is known, what it takes."""

    async def main() -> None:
        async with kinds(serve_named) as session:
            toolset = SessionToolset(session)
            for system, renames in (("function", True), ("anthropic", True), ("openai", False), ("google", False)):
                model = SimpleNamespace(system=system, customize_request_parameters=lambda parameters: parameters)
                context: Any = SimpleNamespace(model=model, max_retries=1)
                (tool,) = (await toolset.get_tools(context)).values()
                shown = tool.tool_def.parameters_json_schema
                assert ("filter[app]" not in shown["properties"]) == renames
                given = named(GIVEN, shown) if renames else GIVEN
                assert json.loads(await toolset.call_tool(tool.tool_def.name, given, context, tool)) == GIVEN

    run(main())


def test_a_result_that_says_little_reaches_the_model() -> None:
    """SPEC 18.8: structured content alone is the result, an empty list is none beside a text, and an error has words."""

    async def main() -> None:
        async with kinds(serve_bare) as session:
            calls = [(f"mcp__kinds__{name}", {}) for name in ("alone", "php", "wordless", "reason")]
            alone, php, wordless, reason = [part.content for part in await told(Scripted(*calls), SessionToolset(session, max_retries=3))]
            assert (alone, php) == ({"total": 5, "word": "für"}, "a text")
            assert wordless == "the tool reports an error without a text" and json.loads(reason) == {"why": "closed"}
            tool = (await SessionToolset(session).get_tools(CONTEXT))["mcp__kinds__alone"]
            assert {name: tool.tool_def.metadata[name] for name in ("title", "meta")} == {"title": "T", "meta": {"of": "mine"}}

    run(main())


def test_what_a_model_can_go_on_from_it_is_told(log: Log) -> None:
    """The peer's way, with the outcome among the words."""

    async def main() -> None:
        async with opened(log) as session:
            calls = [("mcp__s__error", {"code": -32050, "message": "not today"}), ("mcp__s__crash", {})]
            strict = SessionToolset(session, tool_error_behavior="error")
            with pytest.raises(trunkline.ServerError):
                await told(Scripted(calls[0]), strict)
            error, crash = await told(Scripted(*calls), SessionToolset(session, max_retries=3))
            assert "not today" in error.content and "may have run" not in error.content
            assert crash.content.endswith("(the call may have run)")

    run(main())


def test_a_tool_that_failed_is_told_and_counts_for_no_retry(log: Log) -> None:
    """FAULTS P11: the peer's `tool_error_behavior="failed"`, which leaves what is no report of a tool to be tried again."""

    async def main() -> None:
        async with opened(log) as session:
            toolset = SessionToolset(session, tool_error_behavior="failed", max_retries=1)
            calls = [("mcp__s__fail", {"text": "no such city"})] * 3
            parts = await told(Scripted(*calls, ("mcp__s__error", {"code": -32050, "message": "not today"})), toolset)
            assert [part.outcome for part in parts] == ["failed"] * 3 + ["retried"]
            assert [part.content for part in parts[:3]] == ["no such city"] * 3

    run(main())


#: Structured content beside a text, and the result.
STRUCTURED = [
    ({"result": 5}, 5),
    ({"result": [1, 2]}, [1, 2]),
    ({"result": None}, None),
    ({"result": 5, "unit": "m"}, {"result": 5, "unit": "m"}),
    ({"total": 5}, {"total": 5}),
]


@pytest.mark.parametrize(("structured", "expected"), STRUCTURED)
def test_a_member_result_alone_stands_for_its_value(structured: Any, expected: Any) -> None:
    """FAULTS P11."""

    async def serve(connection: trunkline.HostConnection, frame: str) -> None:
        tools = [{"name": "give", "inputSchema": {"type": "object"}}]
        blocks = [{"type": "text", "text": "a text"}]
        answer(connection, frame, tools, lambda params: {"content": blocks, "structuredContent": structured})

    async def main() -> None:
        async with kinds(serve) as session:
            toolset = SessionToolset(session)
            assert await toolset.call_tool("mcp__kinds__give", {}, CONTEXT, None) == expected

    run(main())


def test_a_toolset_has_the_prompts_resources_and_instructions_of_its_servers(log: Log) -> None:
    """FAULTS P11."""

    async def main() -> None:
        async with opened(log) as session:
            toolset = SessionToolset(session, include_instructions=True)
            resources, templates, prompts = await toolset.list_resources(), await toolset.list_resource_templates(), await toolset.list_prompts()
            assert [each.uri for each in resources] == [row.own_name for row in session.resources()]
            assert [each.uri_template for each in templates] == [row.own_name for row in session.resource_templates()]
            assert await toolset.read_resource(resources[0]) == await toolset.read_resource(resources[0].uri)
            assert [each.name for each in prompts] == [row.own_name for row in session.prompts()]
            messages = (await toolset.get_prompt(prompts[0].name)).messages
            assert messages and all(isinstance(each.content, TextContent) for each in messages)
            assert [part.content for part in await toolset.get_instructions(CONTEXT)] == ["for tests"]
            assert await SessionToolset(session).get_instructions(CONTEXT) is None
            for servers in (["other"], []):
                others = SessionToolset(session, servers=servers, include_instructions=True)
                assert (await others.list_prompts(), await others.get_instructions(CONTEXT)) == ([], [])
                with pytest.raises(trunkline.TrunklineError):
                    await others.read_resource(resources[0].uri)

    run(main())


async def serve_alike(text: str, connection: trunkline.HostConnection, frame: str) -> None:
    others = {
        "resources/list": {"resources": [{"uri": "file:///a", "name": "a"}]},
        "resources/read": {"contents": [{"uri": "file:///a", "text": text}]},
    }
    answer(connection, frame, [], None, others)


def test_a_resource_that_is_listed_is_read_from_its_server() -> None:
    """SPEC 18.2: where two list one address."""

    async def main() -> None:
        async with trunkline.Pool(cache="off") as pool:
            session = pool.session("a")
            for name in ("first", "second"):
                session.provide(name, partial(serve_alike, f"of {name}"))
            async with session.acquire("first"), session.acquire("second"):
                toolset = SessionToolset(session)
                listed = await toolset.list_resources()
                assert [await toolset.read_resource(each) for each in listed] == [f"of {each.server}" for each in listed]
                assert await toolset.read_resource("file:///a") == f"of {listed[0].server}"
                with pytest.raises(trunkline.InvalidArgumentError, match="second"):
                    await SessionToolset(session, servers=["first"]).read_resource(listed[1])

    run(main())


def test_what_the_view_lacks_waits_for_a_listing() -> None:
    """SPEC 7.9."""

    async def prompted(toolset: SessionToolset) -> Any:
        return (await toolset.get_prompt("late")).messages[0].content.content

    async def main() -> None:
        for asking in (prompted, lambda toolset: toolset.read_resource("file:///late")):
            late = Late()
            async with late.session() as session:
                assert await late.given(asking(SessionToolset(session))) == "here"
                with pytest.raises(trunkline.InvalidArgumentError, match="nobody"):
                    await SessionToolset(session).get_prompt("nobody")
                with pytest.raises(trunkline.InvalidArgumentError) as raised:
                    await SessionToolset(session).read_resource("file:///nobody")
                assert raised.value.detail == {"path": "uri"}

    run(main())


def test_instructions_of_a_session_that_is_closed_are_an_error(log: Log) -> None:
    async def main() -> None:
        async with opened(log) as session:
            toolset = SessionToolset(session, servers=["s"], include_instructions=True)
            session.close()
            with pytest.raises(trunkline.ClosedError):
                await toolset.get_instructions(CONTEXT)

    run(main())


PIXELS = base64.b64encode(b"a small picture").decode()

#: What stands in a part that is read, and what it is.
PARTS: list[tuple[dict[str, Any], Any]] = [
    ({"text": "a text", "blob": None}, "a text"),
    ({"text": "", "blob": PIXELS}, ""),
    ({"text": None, "blob": PIXELS}, BinaryContent(data=b"a small picture", media_type="application/octet-stream")),
    ({"blob": "", "mimeType": "image/png"}, BinaryImage(data=b"", media_type="image/png")),
    ({"text": None, "blob": "", "mimeType": None}, BinaryContent(data=b"", media_type="application/octet-stream")),
]


@pytest.mark.parametrize(("part", "expected"), PARTS)
def test_what_is_read_is_a_text_or_bytes(part: dict[str, Any], expected: Any) -> None:
    """SPEC 18.2: null is absent. An empty file is one too."""
    assert lists.read({"contents": [{"uri": "file:///a", **part}]}) == expected


#: Members of what is listed, and how the protocol calls them.
MEMBERS = {"title": "title", "description": "description", "mime_type": "mimeType", "size": "size", "metadata": "_meta"}


def test_what_is_unfit_in_lists_and_answers_costs_itself_alone() -> None:
    """SPEC 18.2, 4.5."""

    async def main() -> None:
        async with kinds(serve_definitions) as session:
            toolset = SessionToolset(session)
            listed = {
                "prompts": await toolset.list_prompts(),
                "resources": await toolset.list_resources(),
                "resourceTemplates": await toolset.list_resource_templates(),
            }
            for of, found in listed.items():
                expected = {each["name"]: each for each in definitions(of)[1]}
                assert {each.name for each in found} == set(expected)
                for each in found:
                    for member, name in MEMBERS.items():
                        assert getattr(each, member, None) == expected[each.name].get(name), (of, each.name, member)
        async with kinds(serve_unfit) as session:
            toolset = SessionToolset(session)
            prompt = await toolset.get_prompt("odd")
            before, odd = prompt.messages
            assert (before.content.content, odd.role, odd.content, prompt.description) == ("before", "assistant", SMELL, None)
            text, unknown = await toolset.read_resource("file:///a")
            assert (text, json.loads(unknown)["smell"]) == ("before", "roses")

    run(main())


def test_a_hook_stands_between_the_model_and_its_calls(log: Log) -> None:
    async def process(ctx: Any, call: Any, name: str, arguments: dict[str, Any]) -> Any:
        return f"{name}: {await call(name, {**arguments, 'b': 10})}"

    async def main() -> None:
        async with opened(log) as session:
            toolset = SessionToolset(session, process_tool_call=process)
            (added,) = await told(Scripted(("mcp__s__add", {"a": 2, "b": 3})), toolset)
            assert added.content == "mcp__s__add: 12"
        with pytest.raises(UserError, match="tool_error_behavior"):
            SessionToolset(session, tool_error_behavior="never")

    run(main())


def test_a_change_is_there_at_the_next_step(log: Log) -> None:
    async def main() -> None:
        async with opened(log, "--list-changes") as session:
            toolset = SessionToolset(session)
            await told(Scripted(("mcp__s__echo", {"message": "before"})), toolset)
            await changed(session, "fresh")
            script = Scripted(("mcp__s__fresh", {}))
            (part,) = await told(script, toolset)
            assert part.content == "fresh" and "mcp__s__fresh" in script.offered[0]

    run(main())


def test_progress_some_servers_and_typed_errors(log: Log) -> None:
    async def main() -> None:
        steps: list[Any] = []
        async with opened(log) as session:
            heard = SessionToolset(session, on_progress=lambda ctx, name, event: steps.append((name, event["progress"])))
            await told(Scripted(("mcp__s__progress", {"steps": 2})), heard)
            assert steps == [("mcp__s__progress", 1), ("mcp__s__progress", 2)]
            script = Scripted()
            await told(script, SessionToolset(session, servers=["other"]))
            assert script.offered == [[]]
            with pytest.raises(trunkline.TimeoutError):
                hasty = SessionToolset(session, timeout=0.05, tool_error_behavior="error")
                await told(Scripted(("mcp__s__sleep", {"ms": 600_000})), hasty)
            with pytest.raises(UnexpectedModelBehavior):
                await told(Scripted(("mcp__s__fail", {}), ("mcp__s__fail", {})), SessionToolset(session, max_retries=1))

    run(main())


def test_a_cancelled_task_cancels_the_call(log: Log) -> None:
    async def main() -> None:
        begun = asyncio.Event()
        async with opened(log) as session:
            toolset = SessionToolset(session, on_progress=lambda *_: begun.set())
            agent = Agent(Scripted(("mcp__s__progress", ENDLESS)).model, toolsets=[toolset])
            await is_cancelled(session, agent.run("go on"), begun)

    run(main())


@pytest.mark.parametrize("option", ["sampling_model", "message_handler", "cache_tools", "cache_resources"])
def test_an_option_that_is_none_is_refused_at_once(option: str) -> None:
    """FAULTS P11."""

    async def main() -> None:
        async with kinds() as session:
            with pytest.raises(trunkline.InvalidArgumentError, match=option):
                SessionToolset(session, **{option: True})

    run(main())


@pytest.mark.parametrize(("name", "program", "printed"), printing("docs/guide/migrate/pydantic-ai.md"), ids=lambda value: value.splitlines()[0])
def test_the_page_prints_what_it_says(name: str, program: str, printed: str, tmp_path: Path) -> None:
    """FAULTS P8."""
    assert_prints(name, program, printed, tmp_path)
