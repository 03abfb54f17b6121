"""`trunkline.adapters.mcp.Client`, and what both clients are told, take and refuse."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp import StdioServerParameters, types

import trunkline
from trunkline.adapters.mcp import Client, ClientSession, MCPError, handlers

from host import HANG, Log, run, server_program
from served import opened
from test_mcp import FORM, SAMPLE, plain

def test_a_client_of_a_pool_has_all_methods_and_a_session_of_its_own(log: Log) -> None:
    """FAULTS P14."""

    async def main() -> None:
        async with trunkline.Pool(cache="off") as pool:
            await pool.reconcile({"s": log.server(), "other": log.server()})
            client = Client(pool, "s", read_timeout_seconds=HANG)
            with pytest.raises(RuntimeError):
                await client.list_tools()
            async with client:
                with pytest.raises(RuntimeError):
                    await client.__aenter__()
                assert client.server_info.name == "trunkline-testserver"
                assert client.protocol_version == plain(client.session.initialize_result)["protocolVersion"]
                assert client.server_capabilities.resources is not None and client.instructions == "for tests"
                tools = (await client.list_tools(cursor=None, cache_mode="refresh")).tools
                assert "add" in [tool.name for tool in tools]
                result = await client.call_tool("add", {"a": 2, "b": 3}, meta={"trace": "t"})
                assert isinstance(result, types.CallToolResult) and result.content[0].text == "5"
                resources = (await client.list_resources()).resources
                read = await client.read_resource(resources[0].uri, cache_mode="bypass")
                assert isinstance(read, types.ReadResourceResult) and read.contents
                assert (await client.list_resource_templates()).model_fields_set
                prompts = (await client.list_prompts()).prompts
                assert isinstance(await client.get_prompt(prompts[0].name), types.GetPromptResult)
                assert isinstance(await client.send_ping(), types.EmptyResult)
                assert isinstance(await client.subscribe_resource(resources[0].uri), types.EmptyResult)
                assert isinstance(await client.unsubscribe_resource(resources[0].uri), types.EmptyResult)
            with pytest.raises(RuntimeError):
                await client.call_tool("add", {"a": 2, "b": 3})
            assert not pool.status()["sessions"]

    run(main())
    assert log.starts() == 1


def test_servers_are_written_down_as_the_package_has_them(log: Log) -> None:
    async def main() -> None:
        written = StdioServerParameters(command=server_program(), args=["--start-log", str(log.path)], env={"A": "b"}, cwd="/")
        async with trunkline.Pool(cache="off") as pool:
            for _ in range(2):
                async with Client(pool, "s", written) as client:
                    assert (await client.call_tool("add", {"a": 2, "b": 3})).content[0].text == "5"

    run(main())
    assert log.starts() == 1


def asking(era: str, request: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A call of the reference server in which it asks for this: by a request of its own, or, in the newer era, by a round."""
    return ("ask", request) if era == "legacy" else ("need", {"requests": {"one": request}})


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_callbacks_answer_what_a_call_needs(log: Log, era: str) -> None:
    """FAULTS P14, SPEC 15.1."""

    async def main() -> None:
        async def elicit(context: Any, params: Any) -> Any:
            return types.ElicitResult(action="accept", content={"name": params.message})

        async def sample(context: Any, params: Any) -> Any:
            return types.ErrorData(code=-1, message="not today")

        async with trunkline.Pool(cache="off") as pool:
            await pool.reconcile({"s": log.server("--era", era)})
            async with Client(pool, "s", elicitation_callback=elicit, sampling_callback=sample) as client:
                assert "your name?" in (await client.call_tool(*asking(era, FORM))).content[0].text
                if era == "legacy":
                    assert "not today" in (await client.call_tool(*asking(era, SAMPLE))).content[0].text
                else:  # A refusal of a round ends its call.
                    with pytest.raises(MCPError) as raised:
                        await client.call_tool(*asking(era, SAMPLE))
                    assert (raised.value.error.code, raised.value.error.message) == (-1, "not today")
            chat = pool.session("a", handlers=handlers(elicitation_callback=elicit))
            async with Client(chat, "s") as client:
                assert "your name?" in (await client.call_tool(*asking(era, FORM))).content[0].text

    run(main())


def test_sampling_with_tools_is_answered_where_the_capability_says_so() -> None:
    async def sample(context: Any, params: Any) -> Any: ...

    said = types.SamplingCapability(tools=types.SamplingToolsCapability())
    assert set(handlers(sampling_callback=sample)) == {"sampling"}
    assert set(handlers(sampling_callback=sample, sampling_capabilities=said)) == {"sampling", "sampling_tools"}


#: What is said elsewhere here: an option, and a word of the reason.
ELSEWHERE: list[tuple[str, Any, str]] = [
    ("extensions", [object()], "not supported"),
    ("client_info", types.Implementation(name="a", version="1"), "of the pool"),
    ("mode", "legacy", "negotiates"),
    ("mode", "2026-07-28", "negotiates"),
    ("prior_discover", {}, "negotiates"),
    ("list_roots_callback", print, "`roots`"),
    ("cache", object(), "view"),
    ("raise_exceptions", True, "provide"),
    ("input_required_max_rounds", 3, "bound"),
    ("result_claims", {"a": ()}, "not supported"),
    ("notification_bindings", [object()], "not supported"),
]


@pytest.mark.parametrize(("option", "value", "word"), ELSEWHERE)
def test_what_is_said_elsewhere_is_refused_with_the_reason(option: str, value: Any, word: str) -> None:
    """FAULTS P11, P14."""
    pool: Any = None
    for kind in (Client, ClientSession):
        with pytest.raises(trunkline.InvalidArgumentError, match=word) as raised:
            kind(pool, "s", **{option: value})
        assert raised.value.detail["path"] == option
        with pytest.raises(TypeError, match="no option 'nonsense'"):
            kind(pool, "s", nonsense=1)


#: What asks for nothing in particular.
NOTHING: dict[str, Any] = {
    "extensions": (),
    "client_info": None,
    "mode": "auto",
    "prior_discover": None,
    "list_roots_callback": None,
    "cache": None,
    "raise_exceptions": False,
    "input_required_max_rounds": 10,
}

#: What permits a caller to get what no call here ends in, so that it may stand there, and what begins a round.
PERMITS = ("allow_input_required", "allow_claimed")
BEGINS = ("input_responses", "request_state")


def test_what_asks_for_nothing_is_taken() -> None:
    pool: Any = None
    for kind in (Client, ClientSession):
        kind(pool, "s", **NOTHING)


def test_callbacks_of_a_hosts_own_session_are_its_handlers(log: Log) -> None:
    async def main() -> None:
        async with opened(log) as chat:
            for option in ("sampling_callback", "elicitation_callback", "sampling_capabilities"):
                with pytest.raises(trunkline.InvalidArgumentError, match="handlers"):
                    Client(chat, "s", **{option: print})  # type: ignore[arg-type]
            async with Client(chat, "s") as client, ClientSession(chat, "s") as session:
                for kind in (client, session):
                    for permitted in (True, False):
                        permits = dict.fromkeys(PERMITS, permitted)
                        result = await kind.call_tool("echo", {"message": "x"}, **permits, **dict.fromkeys(BEGINS))
                        assert result.content[0].text == "x"
                for begun_by_hand in BEGINS:
                    for call in (client.call_tool, session.call_tool, client.get_prompt, session.read_resource):
                        with pytest.raises(trunkline.InvalidArgumentError, match="round"):
                            await call("x", **{begun_by_hand: "a"})  # type: ignore[operator]
            assert (await chat.call_tool("mcp__s__echo", {"message": "goes on"})).content[0]["text"] == "goes on"

    run(main())


#: A tool, what a session is kept from, and who refuses it: the server, which answers -32602, or the view.
UNLISTED: list[tuple[str, dict[str, Any], bool]] = [
    ("no_such_tool", {}, True),
    ("no_such_tool", {"exclude": {"s": ["other*"]}}, True),
    ("no_such_tool", {"exclude": {"s": ["no_*"]}}, False),
    ("no_such_tool", {"include": {"s": ["echo"]}}, False),
    ("echo", {"exclude": {"s": ["echo"]}}, False),
]


@pytest.mark.parametrize(("tool", "options", "is_asked"), UNLISTED)
def test_a_tool_that_is_not_listed_is_asked_of_the_server(log: Log, tool: str, options: dict[str, Any], is_asked: bool) -> None:
    """FAULTS P12, SPEC 5.2."""

    async def main() -> None:
        async with opened(log, **options) as chat, ClientSession(chat, "s") as session, Client(chat, "s") as client:
            for each in (session, client):
                with pytest.raises(MCPError) as raised:
                    await each.call_tool(tool, {"message": "x"})
                cause = trunkline.ServerError if is_asked else trunkline.ToolNotFoundError
                assert isinstance(raised.value.__cause__, cause)
                assert (raised.value.error.code == -32602) == is_asked

    run(main())


def test_a_tool_that_is_there_and_not_listed_is_called(log: Log) -> None:
    """FAULTS P12."""

    async def main() -> None:
        async with opened(log, "--no-tools") as chat, ClientSession(chat, "s") as session:
            assert (await session.list_tools()).tools == []
            assert (await session.call_tool("add", {"a": 2, "b": 3})).content[0].text == "5"

    run(main())


#: A call's `_meta`, whether it has a callback, and the token that `message_handler` is told; none where nobody asked for progress.
TOKENS: list[tuple[dict[str, Any] | None, bool, Any]] = [
    ({"progressToken": "mine"}, False, "mine"),
    ({"progressToken": 7}, True, 7),
    (None, True, int),
    (None, False, None),
    ({"other": 1}, False, None),
]


@pytest.mark.parametrize(("meta", "has_callback", "token"), TOKENS)
def test_progress_reaches_the_message_handler(log: Log, meta: dict[str, Any] | None, has_callback: bool, token: Any) -> None:
    """FAULTS P11."""

    async def main() -> None:
        told, steps = [], []

        async def on_message(message: Any) -> None:
            told.append(getattr(message, "root", message))

        callback = (lambda *step: steps.append(step)) if has_callback else None
        async with opened(log) as chat, ClientSession(chat, "s", message_handler=on_message) as session:
            await session.call_tool("progress", {"steps": 2}, progress_callback=callback, meta=meta)
        assert [step[:2] for step in steps] == ([(1, 2), (2, 2)] if has_callback else [])
        assert all(isinstance(message, types.ProgressNotification) for message in told)
        found = [plain(message)["params"] for message in told]
        assert [(each["progress"], each["total"]) for each in found] == ([] if token is None else [(1, 2), (2, 2)])
        assert all(each["progressToken"] == token or token is int for each in found)

    run(main())


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_level_of_logs_is_the_sessions(log: Log, era: str) -> None:
    async def main() -> None:
        logs: list[str] = []
        told = asyncio.Event()

        async def on_log(params: Any) -> None:
            logs.append(params.level)
            told.set()

        async with trunkline.Pool(cache="off") as pool:
            await pool.reconcile({"s": log.server("--era", era)})
            async with Client(pool, "s", logging_callback=on_log, log_level="warning") as client:
                # The reference server asks nobody in the older era.
                for level in ("info", "error") if era == "modern" else ("error",):
                    await client.call_tool("log", {"level": level, "text": "x"})
                await asyncio.wait_for(told.wait(), HANG)
                assert isinstance(await client.set_logging_level("debug"), types.EmptyResult)
                told.clear()
                await client.call_tool("log", {"level": "debug", "text": "x"})
                await asyncio.wait_for(told.wait(), HANG)
        assert logs == ["error", "debug"]

    run(main())


def test_listen_needs_the_packages_version_2(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        monkeypatch.setattr("trunkline.adapters._mcp_listen.told", None)
        async with opened(log) as chat, Client(chat, "s") as client:
            with pytest.raises(RuntimeError, match="version 2"):
                async with client.listen(tools_list_changed=True):
                    raise AssertionError("nothing is to be told")

    run(main())
