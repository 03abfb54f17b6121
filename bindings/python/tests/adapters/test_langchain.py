"""`trunkline.adapters.langchain` with LangChain, LangGraph, and a model of LangChain's own that says what it is told to."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver

import trunkline
import trunkline.sync
from trunkline.adapters.langchain import LiveTools, ToolError, get_tools, prompt, resources, tools

from host import Log, run
from pages import assert_prints, printing
from served import (
    ASTRAY,
    EMPTY,
    ENDLESS,
    GIVEN,
    MALFORMED,
    ODD_NAMES,
    PIXEL,
    SMELL,
    answer,
    changed,
    is_cancelled,
    kinds,
    named,
    names,
    opened,
    serve_astray,
    serve_bare,
    serve_given,
    serve_malformed,
    serve_named,
    serve_odd,
    serve_unfit,
)


class Scripted(FakeMessagesListChatModel):
    """A model that asks for tools in an order that is written down; it keeps what it was offered."""

    offered: list[list[str]] = []

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        self.offered.append([tool.name for tool in tools])
        return self


def asking(*calls: tuple[str, dict[str, Any]]) -> Scripted:
    turns: list[Any] = [
        AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"c{number}", "type": "tool_call"}])
        for number, (name, args) in enumerate(calls)
    ]
    return Scripted(responses=[*turns, AIMessage("done")], offered=[])


def of_tools(answer: dict[str, Any]) -> list[ToolMessage]:
    return [message for message in answer["messages"] if isinstance(message, ToolMessage)]


async def told(agent: Any, **config: Any) -> list[ToolMessage]:
    answer = await agent.ainvoke({"messages": [("user", "go on")]}, config or None)
    assert answer["messages"][-1].content == "done"
    return of_tools(answer)


def test_an_agent_calls_the_tools_of_a_session(log: Log) -> None:
    async def main() -> None:
        async with opened(log, exclude={"s": ["crash"]}) as session:
            offered = tools(session)
            assert [tool.name for tool in offered] == names(session)
            assert "mcp__s__crash" not in names(session)
            of_add = next(tool for tool in session.tools() if tool.own_name == "add").definition
            assert offered[names(session).index("mcp__s__add")].args_schema == of_add["inputSchema"]
            model = asking(("mcp__s__add", {"a": 2, "b": 3}), ("mcp__s__fail", {"text": "no such city"}))
            added, failed = await told(create_agent(model, offered))
            assert (added.text, added.status) == ("5", "success")
            assert (failed.text, failed.status) == ("no such city", "error")
            assert model.offered[0] == names(session)

    run(main())
    assert log.starts() == 1


def test_results_of_every_kind_are_standard_blocks() -> None:
    async def main() -> None:
        async with kinds() as session:
            wanted = ["text", "picture", "structured", "resource", "wrong"]
            model = asking(*((f"mcp__kinds__{name}", {"city": "x"}) for name in wanted))
            agent = create_agent(model, tools(session), checkpointer=InMemorySaver())
            text, picture, structured, resource, wrong = await told(agent, configurable={"thread_id": "1"})
            assert text.artifact == {"structured_content": None, "meta": {"trace": "t1"}}
            assert [(block["type"], block.get("mime_type")) for block in picture.content_blocks] == [
                ("text", None),
                ("image", "image/png"),
                ("file", "audio/wav"),
            ]
            assert picture.content_blocks[1]["base64"] == PIXEL
            assert structured.artifact == {"structured_content": {"total": 5}}
            assert picture.artifact is None
            assert [block["type"] for block in resource.content_blocks] == ["text", "file", "file"]
            assert resource.content_blocks[2]["url"] == "file:///c"
            assert (wrong.status, wrong.text) == ("error", "no such city")

    run(main())


def test_a_schema_that_python_cannot_decode_says_less() -> None:
    """SPEC 4.5."""

    async def main() -> None:
        async with kinds(serve_odd) as session:
            by_name = {tool.name: tool for tool in tools(session)}
            assert set(by_name) == set(names(session))
            assert by_name["mcp__kinds__long"].args_schema == {"type": "object", "properties": {}}

    run(main())


def test_a_block_that_is_not_as_the_protocol_has_it_is_its_json() -> None:
    """SPEC 4.5: and costs nobody the rest of the result."""

    async def main() -> None:
        async with kinds(serve_malformed) as session:
            model = asking(("mcp__kinds__malformed", {}), ("mcp__kinds__failed", {}))
            malformed, failed = await told(create_agent(model, tools(session)))
            for message in (malformed, failed):
                first, *rest = [block["text"] for block in message.content]
                assert (first, [json.loads(block) for block in rest]) == ("before", MALFORMED)
            assert (malformed.status, failed.status) == ("success", "error")

    run(main())


def test_a_block_that_langchain_refuses_is_its_json() -> None:
    """SPEC 4.5: bytes and addresses that are empty, or of no kind."""

    async def main() -> None:
        async with kinds(serve_malformed) as session:
            (message,) = await told(create_agent(asking(("mcp__kinds__empty", {})), tools(session)))
            first, *rest = [block["text"] for block in message.content]
            assert (first, [json.loads(block) for block in rest]) == ("before", EMPTY)

    run(main())


def test_references_that_lead_nowhere_cost_no_tool() -> None:
    """SPEC 18.8: LangChain follows the references of all tools that it offers, and fails at one that it cannot."""

    async def main() -> None:
        async with kinds(serve_astray) as session:
            assert len(names(session)) == 1 + len(ASTRAY)
            assert [convert_to_openai_tool(tool)["function"]["name"] for tool in tools(session)] == names(session)

    run(main())


def test_parameters_may_have_any_name() -> None:
    """SPEC 18.8: names that LangChain takes for keywords, or that a model's API refuses, come to the server as they are."""

    async def main() -> None:
        async with kinds(serve_named) as session:
            (offered,) = tools(session)
            shown = convert_to_openai_tool(offered)["function"]["parameters"]
            assert all(re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name) for name in shown["properties"])
            assert set(shown["properties"]["deep"]["properties"]) == set(ODD_NAMES)
            for arguments in (named(GIVEN, offered.args_schema), GIVEN):
                (message,) = await told(create_agent(asking(("mcp__kinds__named", arguments)), [offered]))
                assert (message.status, json.loads(message.text)) == ("success", GIVEN)
            # What the host knows of its model counts.
            (of_openai,) = tools(session, shape="openai")
            assert set(ODD_NAMES) <= set(of_openai.args_schema["properties"])

    run(main())


def test_a_result_that_says_little_reaches_the_model() -> None:
    """SPEC 18.8: structured content alone is its JSON, an error has words, and a link to a picture is one."""

    async def main() -> None:
        async with kinds(serve_bare) as session:
            model = asking(*((f"mcp__kinds__{name}", {}) for name in ("alone", "wordless", "reason", "picture")))
            alone, wordless, reason, picture = await told(create_agent(model, tools(session)))
            assert json.loads(alone.text) == {"total": 5, "word": "für"}
            assert (wordless.status, wordless.text) == ("error", "the tool reports an error without a text")
            assert (reason.status, json.loads(reason.text)) == ("error", {"why": "closed"})
            assert [(block["type"], block["url"]) for block in picture.content] == [("image", "https://e.test/p.png")]
            metadata = tools(session)[0].metadata
            assert metadata is not None and metadata["readOnlyHint"] is True and metadata["_meta"] == {"of": "mine"}
            assert (metadata["title"], metadata["annotations"]) == ("T", {"readOnlyHint": True, "title": "T"})

    run(main())


def test_arguments_are_written_as_pydantic_writes_them() -> None:
    async def main() -> None:
        async with kinds(serve_given) as session:
            (given,) = tools(session)
            block = await given.ainvoke({"config": date(2026, 1, 2), "self": {1}})
            assert json.loads(block[0]["text"]) == {"config": "2026-01-02", "self": [1]}

    run(main())


def test_what_fails_is_typed(log: Log) -> None:
    async def main() -> None:
        async with opened(log) as session:
            by_name = {tool.name: tool for tool in tools(session, timeout=0.05)}
            with pytest.raises(trunkline.TimeoutError):
                await by_name["mcp__s__sleep"].ainvoke({"ms": 600_000})
            by_name = {tool.name: tool for tool in tools(session, raise_errors=True)}
            with pytest.raises(trunkline.ServerError):
                await by_name["mcp__s__error"].ainvoke({"code": -32050})
            with pytest.raises(ToolError) as raised:
                await by_name["mcp__s__fail"].ainvoke({"text": "no such city"})
            assert raised.value.result.is_error
            with pytest.raises(trunkline.ClosedError):
                session.close()
                await by_name["mcp__s__echo"].ainvoke({"message": "hi"})

    run(main())


def test_a_cancelled_task_cancels_the_call(log: Log) -> None:
    async def main() -> None:
        begun = asyncio.Event()
        async with opened(log) as session:
            by_name = {tool.name: tool for tool in tools(session, on_progress=lambda *_: begun.set())}
            await is_cancelled(session, by_name["mcp__s__progress"].ainvoke(ENDLESS), begun)

    run(main())


def test_arguments_may_have_the_names_of_langchains_own() -> None:
    async def main() -> None:
        given = {"config": "a", "run_manager": "b", "callbacks": "c", "self": "d"}
        async with kinds(serve_given) as session:
            (answer,) = await told(create_agent(asking(("mcp__kinds__given", given)), tools(session)))
            assert json.loads(answer.text) == given

    run(main())


def test_live_tools_are_those_of_the_moment(log: Log) -> None:
    async def main() -> None:
        async with opened(log, "--list-changes") as session:
            model = asking(("mcp__s__echo", {"message": "before"}))
            agent = create_agent(model, middleware=[LiveTools(session)])
            assert [message.text for message in await told(agent)] == ["before"]
            await changed(session, "fresh")
            later = asking(("mcp__s__fresh", {}))
            model.responses, model.i = later.responses, 0
            assert [message.text for message in await told(agent)] == ["fresh"]
            assert "mcp__s__fresh" not in model.offered[0]
            assert "mcp__s__fresh" in model.offered[-1]

    run(main())


def test_live_tools_have_what_was_announced_before_an_answer(log: Log) -> None:
    """SPEC 7.9."""

    async def main() -> None:
        async with opened(log, "--list-delay-ms", "200") as session:
            model = asking(("mcp__s__change_list", {"add": "tool_1001"}), ("mcp__s__tool_1001", {}))
            await told(create_agent(model, middleware=[LiveTools(session)]))
            assert ["mcp__s__tool_1001" in offered for offered in model.offered] == [False, True, True]

    run(main())


def test_progress_is_told_by_name(log: Log) -> None:
    async def main() -> None:
        steps: list[Any] = []
        async with opened(log) as session:
            heard = tools(session, on_progress=lambda name, event: steps.append((name, event["progress"])))
            await told(create_agent(asking(("mcp__s__progress", {"steps": 2})), heard))
        assert steps == [("mcp__s__progress", 1), ("mcp__s__progress", 2)]

    run(main())


def test_tools_of_some_servers_and_of_a_blocking_session(log: Log) -> None:
    with trunkline.sync.Pool(cache="off") as pool:
        pool.reconcile({"s": log.server(), "t": log.server()})
        with pool.session("a") as session:
            session.ready()
            offered = tools(session, servers=["t"])
            assert {tool.metadata["server"] for tool in offered if tool.metadata} == {"t"}
            model = asking(("mcp__t__echo", {"message": "blocking"}))
            answer = create_agent(model, offered).invoke({"messages": [("user", "go on")]})
            assert [message.text for message in of_tools(answer)] == ["blocking"]
            assert json.dumps([tool.metadata for tool in offered])


def test_tools_that_were_announced_are_got(log: Log) -> None:
    """SPEC 7.9."""

    async def main() -> None:
        async with opened(log, "--list-delay-ms", "200") as session:
            for name in ("tool_1001", "tool_1002"):
                await session.call_tool("mcp__s__change_list", {"add": name})
                assert f"mcp__s__{name}" not in [tool.name for tool in tools(session)]
                got = await get_tools(session, servers=["s"], timeout=30)
                assert [tool.name for tool in got] == names(session) and f"mcp__s__{name}" in names(session)
            with pytest.raises(trunkline.InvalidArgumentError, match="time_out"):
                await get_tools(session, time_out=30)

    run(main())


def test_prompts_are_messages_and_resources_blobs(log: Log) -> None:
    """FAULTS P11."""

    async def main() -> None:
        async with opened(log) as session:
            name = session.prompts()[0].own_name
            said = await prompt(session, "s", name, timeout=60)
            assert said and isinstance(said[0], HumanMessage) and isinstance(said[0].content, str)
            listed = [row.own_name for row in session.resources()]
            every = await resources(session, "s")
            assert [blob.metadata["uri"] for blob in every] == listed
            one = await resources(session, "s", uris=listed[0], timeout=60)
            assert [blob.as_bytes() for blob in one] == [every[0].as_bytes()]
            with pytest.raises(trunkline.ServerError):
                await resources(session, "s", uris=["file:///nobody/has/this"])
        async with kinds(serve_unfit) as session:
            human, assistant = await prompt(session, "kinds", "odd")
            assert (human.content, type(assistant)) == ("before", AIMessage)
            assert isinstance(assistant.content, list) and json.loads(assistant.content[0]["text"]) == SMELL  # type: ignore[index]
            before, odd = await resources(session, "kinds")
            assert (before.as_string(), before.mimetype) == ("before", None)
            assert json.loads(odd.as_string()) == {"uri": "file:///a", "smell": "roses"}

    run(main())


#: What stands in a part that is read, and what it is.
PARTS: list[tuple[dict[str, Any], str | bytes, str | None]] = [
    ({"text": "a text", "blob": None, "mimeType": None}, "a text", None),
    ({"text": None, "blob": "YQ=="}, b"a", None),
    ({"text": None, "blob": "", "mimeType": "image/png"}, b"", "image/png"),
    ({"text": ""}, "", None),
]


@pytest.mark.parametrize(("part", "data", "mime"), PARTS)
def test_what_is_read_is_a_text_or_bytes(part: dict[str, Any], data: str | bytes, mime: str | None) -> None:
    """SPEC 18.2: null is absent. An empty file is one too."""

    async def serve(connection: trunkline.HostConnection, frame: str) -> None:
        answer(connection, frame, [], None, {"resources/read": {"contents": [{"uri": "file:///a", **part}]}})

    async def main() -> None:
        async with kinds(serve) as session:
            (blob,) = await resources(session, "kinds", uris="file:///a")
            assert (blob.data, blob.mimetype) == (data, mime)

    run(main())


@pytest.mark.parametrize("option", ["tool_interceptors", "callbacks", "tool_name_prefix", "handle_tool_errors"])
def test_an_option_that_is_none_is_refused_at_once(option: str) -> None:
    """FAULTS P11."""

    async def main() -> None:
        async with kinds() as session:
            with pytest.raises(trunkline.InvalidArgumentError, match=option):
                tools(session, **{option: True})

    run(main())


@pytest.mark.parametrize(("name", "program", "printed"), printing("docs/guide/migrate/langchain.md"), ids=lambda value: value.splitlines()[0])
def test_the_page_prints_what_it_says(name: str, program: str, printed: str, tmp_path: Path) -> None:
    """FAULTS P8."""
    assert_prints(name, program, printed, tmp_path)
