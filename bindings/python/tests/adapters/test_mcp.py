"""`trunkline.adapters.mcp` with the package `mcp`."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from mcp import types

import trunkline
from trunkline.adapters.mcp import ClientSession, MCPError, handlers

from host import HANG, Log, run
from pages import assert_prints, printing
from served import (
    ENDLESS,
    ODD_TOOLS,
    RESULTS,
    SMELL,
    UNFIT,
    changed,
    is_cancelled,
    kinds,
    opened,
    serve_odd,
    serve_unfit,
)

#: Its models have names of their own since version 2.
SINCE_2 = "is_error" in types.CallToolResult.model_fields


FORM = {
    "method": "elicitation/create",
    "params": {"message": "your name?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}},
}

SAMPLE = {
    "method": "sampling/createMessage",
    "params": {"messages": [{"role": "user", "content": {"type": "text", "text": "?"}}], "maxTokens": 10},
}


def plain(model: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = model.model_dump(by_alias=True, mode="json", exclude_none=True)
    return dumped


def test_the_methods_of_a_client_session_answer_with_its_types(log: Log) -> None:
    async def main() -> None:
        async with opened(log) as chat:
            async with ClientSession(chat, "s") as session:
                initialized = await session.initialize()
                assert isinstance(initialized, types.InitializeResult)
                assert plain(initialized)["serverInfo"]["name"] == "trunkline-testserver"
                said = session.lease.introduction()
                assert said is not None and set(plain(session.server_capabilities)) == set(said["capabilities"]) >= {"resources", "logging"}
                assert (session.instructions, session.protocol_version) == ("for tests", said["protocol_version"])
                listed = await session.list_tools()
                assert isinstance(listed, types.ListToolsResult)
                own = {tool.own_name: tool.definition for tool in chat.tools()}
                assert {tool.name: plain(tool)["inputSchema"] for tool in listed.tools} == {
                    name: definition["inputSchema"] for name, definition in own.items()
                }
                result = await session.call_tool("add", {"a": 2, "b": 3})
                assert isinstance(result, types.CallToolResult)
                assert isinstance(result.content[0], types.TextContent) and result.content[0].text == "5"
                failed = await session.call_tool("fail", {"text": "no such city"})
                assert plain(failed)["isError"] is True
                resources = (await session.list_resources()).resources
                read = await session.read_resource(resources[0].uri)
                assert isinstance(read, types.ReadResourceResult) and read.contents
                assert (await session.list_resource_templates()).model_fields_set
                prompts = (await session.list_prompts()).prompts
                assert isinstance(await session.get_prompt(prompts[0].name), types.GetPromptResult)
                assert isinstance(await session.send_ping(), types.EmptyResult)
            assert (await chat.call_tool("mcp__s__echo", {"message": "goes on"})).content[0]["text"] == "goes on"

    run(main())
    assert log.starts() == 1


def test_two_clients_of_two_sessions_share_one_process(log: Log) -> None:
    async def main() -> set[str]:
        async with trunkline.Pool(cache="off") as pool:
            await pool.reconcile({"s": log.server()})
            pids = set()
            for chat in (pool.session("a"), pool.session("b")):
                async with ClientSession(chat, "s") as session:
                    pids.add((await session.call_tool("pid")).content[0].text)
            return pids

    assert len(run(main())) == 1
    assert log.starts() == 1


def test_results_of_every_kind_are_those_of_the_package() -> None:
    async def main() -> None:
        async with kinds() as chat, ClientSession(chat, "kinds") as session:
            text = await session.call_tool("text", {"city": "x"})
            assert text.meta == {"trace": "t1"}
            found = await session.call_tool("picture", {"city": "x"})
            assert [type(block) for block in found.content] == [types.TextContent, types.ImageContent, types.AudioContent]
            structured = plain(await session.call_tool("structured", {"city": "x"}))
            assert structured["structuredContent"] == {"total": 5}
            found = await session.call_tool("resource", {"city": "x"})
            assert [type(block) for block in found.content] == [types.EmbeddedResource] * 2 + [types.ResourceLink]

    run(main())


def test_errors_are_the_packages_own_from_typed_ones(log: Log) -> None:
    async def main() -> None:
        async with opened(log) as chat, ClientSession(chat, "s") as session:
            with pytest.raises(MCPError) as raised:
                await session.call_tool("error", {"code": -32050, "message": "as asked", "data": {"why": 1}})
            assert (raised.value.error.code, raised.value.error.data) == (-32050, {"why": 1})
            assert isinstance(raised.value.__cause__, trunkline.ServerError)
            with pytest.raises(MCPError) as raised:
                await session.call_tool("sleep", {"ms": 600_000}, 0.05)
            assert isinstance(raised.value.__cause__, trunkline.TimeoutError)
            assert raised.value.error.code == getattr(types, "REQUEST_TIMEOUT", 408)
            # In the words of either version, which programs look for.
            for words in ("Timed out while waiting", "timed out", "50 ms"):
                assert words in raised.value.error.message, words
            with pytest.raises(MCPError) as raised:
                await session.call_tool("no_such_tool")
            assert (raised.value.error.code, raised.value.error.message) == (-32602, "unknown tool no_such_tool")

    run(main())


def test_a_lost_connection_has_the_code_of_the_package(log: Log) -> None:
    async def main() -> None:
        async with opened(log, pool={"reconnect": {"delays": {"local": [60.0]}}}) as chat, ClientSession(chat, "s") as session:
            lost = trunkline.CallInterruptedError, trunkline.UnavailableError
            for tool in ("crash", "pid"):
                with pytest.raises(MCPError) as raised:
                    await session.call_tool(tool)
                assert raised.value.error.code == -32000 and isinstance(raised.value.__cause__, lost)
                assert raised.value.error.message.startswith("Connection closed: ")
        async with opened(log) as chat, ClientSession(chat, "s", wait=True, retry="not_sent") as session:
            assert (await session.call_tool("pid")).content

    run(main())


def test_a_cancelled_task_cancels_the_call(log: Log) -> None:
    async def main() -> None:
        begun = asyncio.Event()

        async def on_progress(*_: Any) -> None:
            begun.set()

        async with opened(log) as chat, ClientSession(chat, "s") as session:
            await is_cancelled(chat, session.call_tool("progress", ENDLESS, progress_callback=on_progress), begun)

    run(main())


def test_a_time_out_is_the_time_of_the_call(log: Log) -> None:
    async def main() -> None:
        async with opened(log, pool={"call_idle_timeout": 0.05}) as chat:
            async with ClientSession(chat, "s", read_timeout_seconds=60) as session:
                assert plain(await session.call_tool("sleep", {"ms": 300}))["isError"] is False

    run(main())


def test_one_odd_tool_or_block_costs_nobody_the_rest() -> None:
    async def main() -> None:
        async with kinds(serve_odd) as chat, ClientSession(chat, "kinds") as session:
            assert len(chat.tools()) == len(ODD_TOOLS)
            # SPEC 18.2: a number is read as its text, and it is there; what Python cannot decode is not.
            listed = {tool.name: tool for tool in (await session.list_tools()).tools}
            assert set(listed) == {*RESULTS, "odd"} and listed["odd"].annotations.title == "5"
            before, odd = (await session.call_tool("odd", {})).content
            assert (before.text, json.loads(odd.text)) == ("before", {"type": "smell", "of": "roses"})

    run(main())


def test_an_unfit_member_costs_nobody_the_result(caplog: pytest.LogCaptureFixture) -> None:
    """SPEC 4.5: the call has run, and is not to be run again."""

    async def main() -> None:
        async with kinds(serve_unfit) as chat, ClientSession(chat, "kinds") as session:
            for name, value in UNFIT.items():
                caplog.clear()
                result = await session.call_tool(name, {})
                assert [block.text for block in result.content] == ["done"]
                if SINCE_2 and name == "structuredContent":
                    assert plain(result)[name] == value
                else:
                    assert plain(result).get(name, False) is False
                    assert f"left out of a result: '{name}'" in caplog.text

    run(main())


def test_an_odd_block_costs_nobody_the_rest_of_a_prompt_or_resource() -> None:
    """SPEC 4.5: it is a text, which is its JSON."""

    async def main() -> None:
        async with kinds(serve_unfit) as chat, ClientSession(chat, "kinds") as session:
            before, odd = (await session.get_prompt("odd")).messages
            assert (before.content.text, json.loads(odd.content.text), odd.role) == ("before", SMELL, "assistant")
            before, odd = (await session.read_resource("file:///a")).contents
            assert (before.text, json.loads(odd.text)) == ("before", {"uri": "file:///a", "smell": "roses"})
            assert str(odd.uri) == "file:///a"

    run(main())


def test_progress_is_told_in_order_and_ends_with_the_call(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        steps: list[float] = []
        ended = asyncio.Event()

        async def slower_at_first(progress: float, *_: Any) -> None:
            await asyncio.sleep(0)
            if progress == 1:
                for _ in range(20):
                    await asyncio.sleep(0)
            steps.append(progress)

        async def hanging(*_: Any) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        async with opened(log) as chat, ClientSession(chat, "s") as session:
            await session.call_tool("progress", {"steps": 3}, progress_callback=slower_at_first)
            assert steps == [1, 2, 3]
            monkeypatch.setattr("trunkline.adapters._mcp_messages.TOLD_WITHIN", 0.01)
            result = await session.call_tool("progress", {"steps": 1, "interval_ms": 1}, progress_callback=hanging)
            assert result.content[0].text == "done"
            await asyncio.wait_for(ended.wait(), HANG)

    run(main())


def test_leaving_releases_whatever_its_handlers_do(log: Log) -> None:
    async def main() -> None:
        heard, freed = asyncio.Event(), asyncio.Event()

        async def stubborn(_: Any) -> None:
            heard.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                await freed.wait()

        async with opened(log) as chat:
            session = await ClientSession(chat, "s", logging_callback=stubborn).__aenter__()
            lease = session.lease
            await session.call_tool("log", {"level": "info", "text": "x"})
            await asyncio.wait_for(heard.wait(), HANG)
            leaving = asyncio.create_task(session.__aexit__())
            await asyncio.sleep(0)
            leaving.cancel()
            with pytest.raises(trunkline.ClosedError):
                await lease.call_tool("echo", {"message": "gone"})
            freed.set()
            await asyncio.gather(leaving, return_exceptions=True)

    run(main())


def test_a_session_that_closes_meanwhile_is_an_error_of_the_package(log: Log) -> None:
    async def main() -> None:
        async with opened(log) as chat:
            async with ClientSession(chat, "s") as session:
                chat.close()
                for listed in (session.list_tools, session.list_prompts, session.list_resources, session.list_resource_templates):
                    with pytest.raises(MCPError) as raised:
                        await listed()
                    assert isinstance(raised.value.__cause__, trunkline.ClosedError)

            class Closing:
                """A session that is closed between the hold and the stream."""

                def acquire(self, *given: Any, **options: Any) -> Any:
                    return fresh.acquire(*given, **options)

                def events(self, **given: Any) -> Any:
                    fresh.close()
                    return fresh.events(**given)

            fresh = chat._pool.session("b")
            with pytest.raises(MCPError) as raised:
                async with ClientSession(Closing(), "s", message_handler=print):  # type: ignore[arg-type]
                    raise AssertionError("a stream of a closed session")
            assert isinstance(raised.value.__cause__, trunkline.ClosedError)

    run(main())


def test_a_server_that_is_not_there_is_an_error_of_the_package(log: Log) -> None:
    async def main() -> None:
        async with opened(log) as chat, ClientSession(chat, "s") as session:
            await chat._pool.drain_all(force=True)
            with pytest.raises(MCPError):
                await session.initialize()

    run(main())


def test_progress_and_notifications_reach_the_callbacks(log: Log) -> None:
    async def main() -> None:
        steps, messages, logs = [], [], []
        told = asyncio.Event()

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            steps.append((progress, total, message))

        async def on_log(params: Any) -> None:
            logs.append((params.level, params.data))

        async def on_message(message: Any) -> None:
            messages.append(getattr(message, "root", message))
            if isinstance(messages[-1], types.ToolListChangedNotification):
                told.set()

        async with opened(log, "--list-changes") as chat:
            async with ClientSession(chat, "s", logging_callback=on_log, message_handler=on_message) as session:
                await session.call_tool("progress", {"steps": 2}, progress_callback=on_progress)
                assert [step[:2] for step in steps] == [(1, 2), (2, 2)]
                await session.call_tool("log", {"level": "info", "text": "on the way"})
                await changed(chat, "fresh")
                await asyncio.wait_for(told.wait(), HANG)
                assert "fresh" in [tool.name for tool in (await session.list_tools()).tools]
                assert logs and logs[0][0] == "info"

    run(main())


def test_the_packages_callbacks_answer_what_servers_ask(log: Log) -> None:
    async def main() -> None:
        asked = []

        async def elicit(context: Any, params: Any) -> Any:
            asked.append(params.message)
            return types.ElicitResult(action="decline")

        async def sample(context: Any, params: Any) -> Any:
            return types.ErrorData(code=-1, message="not today")

        given = handlers(elicitation_callback=elicit, sampling_callback=sample)
        async with opened(log, handlers=given) as chat, ClientSession(chat, "s") as session:
            answer = (await session.call_tool("ask", FORM)).content[0].text
            assert asked == ["your name?"] and "decline" in answer
            assert "not today" in (await session.call_tool("ask", SAMPLE)).content[0].text

    run(main())


def test_a_callback_for_elicitation_is_asked_for_a_visit_too(log: Log) -> None:
    """SPEC 15.1: as the package's own client has it."""
    asked = []

    async def elicit(context: Any, params: Any) -> Any:
        asked.append((params.mode, params.url))
        return types.ElicitResult(action="accept")

    async def main() -> None:
        visit = {"mode": "url", "message": "visit", "url": "https://a.example/b", "elicitationId": "1"}
        async with opened(log, handlers=handlers(elicitation_callback=elicit)) as chat, ClientSession(chat, "s") as session:
            answer = await session.call_tool("ask", {"method": "elicitation/create", "params": visit})
            assert "accept" in answer.content[0].text

    run(main())
    assert asked == [("url", "https://a.example/b")]


def test_an_answer_that_cannot_be_decoded_is_an_error_of_the_package(log: Log) -> None:
    """SPEC 5.12."""

    async def main() -> None:
        async with opened(log) as chat, ClientSession(chat, "s") as session:
            sent = '{"content":[],"structuredContent":{"n":' + "1" * 5_000 + "}}"
            with pytest.raises(MCPError) as raised:
                await session.call_tool("verbatim", {"result": sent})
            assert isinstance(raised.value.__cause__, trunkline.ProtocolError)

    run(main())


def test_a_message_that_cannot_be_decoded_ends_no_callback() -> None:
    """SPEC 4.5, 16.2: what comes behind it is told."""

    class Stream:
        def __init__(self) -> None:
            long = '{"type":"log","server":"s","level":"info","data":' + "1" * 5_000 + "}"
            self._events = [trunkline.Event(long), trunkline.Event('{"type":"tools_changed","server":"s"}')]

        async def __aenter__(self) -> None: ...

        async def __aexit__(self, *_: object) -> None: ...

        async def __aiter__(self) -> Any:
            for event in self._events:
                yield event

    async def main() -> None:
        messages = []

        async def on_message(message: Any) -> None:
            messages.append(getattr(message, "root", message))

        nobody: Any = None
        stream: Any = Stream()
        session = ClientSession(nobody, "s", message_handler=on_message)
        session._acquired = stream
        await session._messages.hear(stream)
        assert [type(message) for message in messages] == [types.ToolListChangedNotification]

    run(main())


def test_what_a_server_said_of_itself_is_at_hand(log: Log) -> None:
    async def main() -> None:
        async with opened(log) as chat, ClientSession(chat, "s") as session:
            assert (session.initialize_result, session.protocol_version, session.server_info) == (None, None, None)
            result = await session.initialize()
            assert session.initialize_result is result and session.instructions == "for tests"
            assert session.protocol_version == plain(result)["protocolVersion"]
            assert plain(session.server_info) == plain(result)["serverInfo"]

    run(main())


def test_a_subscription_has_the_time_of_a_request() -> None:
    """SPEC 5.2."""

    class Silent:
        async def subscribe_resource(self, uri: str) -> None:
            await asyncio.sleep(HANG)

        unsubscribe_resource = subscribe_resource

    async def main() -> None:
        silent: Any = Silent()
        session = ClientSession(silent, "s", read_timeout_seconds=0.01)
        session._acquired = silent
        for subscribe in (session.subscribe_resource, session.unsubscribe_resource):
            with pytest.raises(MCPError):
                await subscribe("file:///a")

    run(main())


def test_it_is_used_within_its_block(log: Log) -> None:
    async def main() -> None:
        async with opened(log) as chat:
            session = ClientSession(chat, "s")
            with pytest.raises(RuntimeError):
                await session.list_tools()
            with pytest.raises(MCPError) as raised:
                async with ClientSession(chat, "no such server"):
                    raise AssertionError("a server that nobody configured was acquired")
            assert isinstance(raised.value.__cause__, trunkline.TrunklineError)

    run(main())


@pytest.mark.parametrize(("name", "program", "printed"), printing("docs/guide/migrate/mcp-python.md"), ids=lambda value: value.splitlines()[0])
def test_the_page_prints_what_it_says(name: str, program: str, printed: str, tmp_path: Path) -> None:
    """FAULTS P8."""
    assert_prints(name, program, printed, tmp_path)
