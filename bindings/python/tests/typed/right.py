"""What a type checker knows: both accept this file, strictly. It is never run."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import trunkline
import trunkline.events
import trunkline.reports
import trunkline.sync

if TYPE_CHECKING:
    from typing_extensions import Unpack, assert_type

    from trunkline.types import AnthropicTool, CallOptions, OpenAITool


async def ask(request: trunkline.ServerRequest) -> dict[str, Any]:
    return {"action": "accept", "content": {}}


def pools() -> None:
    trunkline.Pool(
        workspace=Path("."),
        trusted=True,
        call_timeout=30,
        drain_delay=5.0,
        close_timeout=None,
        shared_transports={"stdio"},
        reconnect={"delays": {"local": [0.1, 1], "remote": [1]}},
        budget={"limit": 3, "mode": "enforce"},
        limits={"processes": 10},
        allowed=["git*"],
        handlers={"elicitation": ask, "logging": lambda event: print(event.level, event["level"])},
    )
    trunkline.start_logs(logging.WARNING).close()
    trunkline.start_logs("debug").close()


async def call(session: trunkline.Session, name: str, **options: Unpack[CallOptions]) -> str:
    def show(event: trunkline.Event) -> None:
        print(event["progress"])

    def report(event: trunkline.events.Progress) -> None:
        assert_type(event.progress, float)
        assert_type(event.total, float | None)

    await session.call_tool(name, {}, progress=show)
    await session.call_tool(name, {}, progress=report, timeout=5, retry="safe", meta={"a": 1})
    return (await session.call_tool(name, {"a": 1}, **options)).text


async def results(session: trunkline.Session, lease: trunkline.Lease) -> None:
    called = await lease.call_tool("x")
    assert_type(called, trunkline.CallResult)
    assert_type(called.text, str)
    assert_type((await lease.read_resource("x://")).contents, list[dict[str, Any]])
    assert_type((await session.get_prompt("s", "p", {"a": "b"})).messages, list[dict[str, Any]])
    assert_type((await session.complete("s", {})).values, list[str])
    assert_type(await session.request("s", "ping"), trunkline.Result)
    assert_type(session.tools(), trunkline.List[trunkline.Tool])
    assert_type(session.prompts()[0].arguments, list[dict[str, Any]])
    assert_type(session.resources()[0].uri, str)
    assert_type(session.resource_templates()[0].uri_template, str)
    assert_type(lease.tools(), list[trunkline.Tool])
    assert_type(session.tools_for("openai"), trunkline.List[OpenAITool])
    assert_type(session.tools_for("openai")[0]["function"]["name"], str)
    assert_type(session.tools_for("anthropic")[0], AnthropicTool)


async def reports(pool: trunkline.Pool, session: trunkline.Session) -> None:
    report = await pool.reconcile({"t": {"command": "x"}})
    assert_type(report, trunkline.reports.ReconcileReport)
    assert_type(report.servers["t"].action, str)
    assert_type((await session.started()).servers["t"].deferred, int | None)
    assert_type(pool.status().servers["t"].entries[0].uptime, float | None)
    assert_type((await pool.restart("t")).entries[0].duration, float | None)
    plain: dict[str, Any] = pool.status()
    print(plain["servers"], dict(report))
    await pool.aclose(force=True, timeout=1)


async def events(pool: trunkline.Pool, session: trunkline.Session) -> None:
    async with session.events(kinds={"tools_changed", "lagged"}) as stream:
        assert_type(stream.snapshot.status.totals.servers, int)
        async for event in stream:
            print(event.type, event.kind, event.server, event["seq"], dict(event))
            if event.kind == "tools_changed":
                assert_type(event, trunkline.events.ToolsChanged)
                assert_type(event.added, list[str])
            elif isinstance(event, trunkline.events.Reconnected):
                assert_type(event.downtime, float)
            elif event.type == "failed":
                assert_type(event.error.message, str)
    tell: Callable[[trunkline.Event], None] = print
    with pool.on_event(tell, kinds="failed"):
        pass


def blocking(pool: trunkline.sync.Pool) -> None:
    with pool.session("a", log_level="warning", keep_for=5) as session:
        assert_type(session.read_resource("s", "x://").text, str)
        assert_type(session.call_tool("x", timeout=None), trunkline.CallResult)
        for event in session.events():
            assert_type(event, trunkline.events.AnyEvent)
    pool.close(force=True, timeout=0.5)
