"""Settings files to live connections: SPEC 10, 11, 12, 13."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import trunkline
import trunkline.sync

from host import HANG, Log, run, text, wait_until


def write(file: Path, servers: dict[str, Any]) -> None:
    file.write_text(json.dumps({"mcpServers": servers}))


async def asked_about(events: trunkline.EventStream, names: set[str]) -> list[dict[str, Any]]:
    """Waits until these servers, and no others, wait for approval; what a person is shown of them."""
    async for event in events:
        requests: list[dict[str, Any]] = event["requests"]
        if {request["server"] for request in requests} == names:
            return requests
    raise AssertionError(f"the stream ended, and nobody was asked about {names}")


async def approve(pool: trunkline.Pool, requests: list[dict[str, Any]]) -> None:
    for request in requests:
        await pool.approve(request["server"], request["hash"])


def pid_of(pool: trunkline.Pool, server: str) -> int:
    (entry,) = pool.status()["servers"][server]["entries"]
    pid: int = entry["pid"]
    return pid


def test_an_edit_of_a_project_file_reaches_what_it_changes_and_no_call_of_the_rest(
    log: Log, tmp_path: Path
) -> None:
    """SPEC 12.5, 12.7, 13.1, 13.5: A is in a call and undisturbed, B is replaced, C is gone, D is asked about and connected."""
    answer_now = asyncio.Event()

    async def elicitation(request: trunkline.ServerRequest) -> dict[str, Any]:
        await answer_now.wait()
        return {"action": "accept", "content": {"server": request.server}}

    async def main() -> None:
        file = tmp_path / ".mcp.json"
        a, b, c = log.server(), log.server("--tools", "1"), log.server()
        write(file, {"a": a, "b": b, "c": c})
        options = {"workspace": str(tmp_path), "trusted": True, "approvals": "memory"}
        async with (
            trunkline.Pool(**options, drain_delay=0.1) as pool,
            pool.session("chat", handlers={"elicitation": elicitation}) as chat,
            pool.events(kinds="approval_needed") as events,
        ):
            await pool.load(file, watch=True)
            assert chat.tools() == []
            await approve(pool, await asked_about(events, {"a", "b", "c"}))
            await pool.settled()
            before = {name: pid_of(pool, name) for name in "abc"}
            form = {"message": "?", "requestedSchema": {"type": "object", "properties": {}}}
            ask = {"method": "elicitation/create", "params": form}
            call = asyncio.ensure_future(chat.call_tool("mcp__a__ask", ask))
            while text(await chat.call_tool("mcp__a__under_way")) != "1":
                await asyncio.sleep(0.01)

            write(file, {"a": a, "b": log.server("--tools", "2"), "d": log.server()})
            requests = await asked_about(events, {"b", "d"})
            names = {tool.server for tool in chat.tools()}
            assert names == {"a"}, "B has to be approved anew, C is gone, D is not there yet"
            await approve(pool, requests)
            states = (await pool.settled())["servers"]
            assert {(name, row["state"]) for name, row in states.items()} == {
                (name, "ready") for name in "abd"
            }
            assert {tool.server for tool in chat.tools()} == {"a", "b", "d"}
            assert pid_of(pool, "a") == before["a"]
            assert pid_of(pool, "b") != before["b"]
            while before["c"] in log.running():
                await asyncio.sleep(0.01)

            assert not call.done()
            answer_now.set()
            assert '"server":"a"' in text(await call).replace(" ", "")
        assert log.starts() == 5

    run(main())


def test_handlers_of_settings_give_plain_values(log: Log) -> None:
    """SPEC 10.5, 10.8: a text for an input, none for a secret that is none, nothing for an entry that stays."""
    asked: list[trunkline.ServerRequest] = []

    def inputs(request: trunkline.ServerRequest) -> str:
        asked.append(request)
        return "typed"

    async def secrets(request: trunkline.ServerRequest) -> None:
        asked.append(request)

    async def main() -> None:
        handlers = {"inputs": inputs, "secrets": secrets, "entries": lambda request: None}
        async with trunkline.Pool(trusted=True, approvals="memory", handlers=handlers) as pool:
            values = {"s": "${input:key}", "t": "${secret:NOWHERE_TO_BE_FOUND}"}
            servers = {name: {**log.server(), "env": {"KEY": value}} for name, value in values.items()}
            pool.set_source("user", {"mcpServers": servers})
            async with pool.session("a") as session:
                states = (await pool.settled())["servers"]
                assert (states["s"]["state"], states["t"]["state"]) == ("ready", "failed")
                assert states["t"]["error"]["code"] == "undefined_variable"
                assert text(await session.call_tool("mcp__s__env", {"name": "KEY"})) == "typed"
        assert {(one.kind, one.server, one.session, one.entry_index) for one in asked} == {
            ("inputs", "s", None, None),
            ("secrets", "t", None, None),
        }

    run(main())


def test_a_blocking_host_edits_and_approves(log: Log, tmp_path: Path) -> None:
    """SPEC 12.7, 13.5: the same through blocking calls."""
    file = tmp_path / ".mcp.json"
    with (
        trunkline.sync.Pool(workspace=str(tmp_path), trusted=True, approvals="memory") as pool,
        pool.session("chat") as chat,
        pool.events(kinds="approval_needed") as events,
    ):
        pool.load(file, watch=True)  # It is not there yet.
        for names in ("s", "st"):
            write(file, {name: log.server() for name in names})
            event = next(event for event in events if event["requests"])
            (request,) = event["requests"]
            pool.approve(request["server"], request["hash"])
            assert pool.settled(timeout=HANG)["servers"][names[-1]]["state"] == "ready"
        assert {tool.server for tool in chat.tools()} == {"s", "t"}
        write(file, {})
        wait_until(lambda: not chat.tools(), "what the file no longer names is still there")
    assert log.starts() == 2


def test_a_host_is_told_why_a_server_is_not_there(log: Log) -> None:
    """SPEC 11.6: by the pool, and by a session that switched it off."""
    with trunkline.sync.Pool(approvals="memory", excluded=["no"]) as pool, pool.session("a", servers=[]) as session:
        pool.add_server("no", log.server())
        pool.add_server("s", log.server())
        why = pool.explain("no")
        assert (why["kind"], why["available"], why["reason"]) == ("server", False, "excluded")
        assert why["message"] and why["remedy"]
        session.disable("s")
        assert session.explain("s")["reason"] == "disabled"


def test_what_is_wrong_is_refused_before_anything_is_changed(log: Log) -> None:
    """SPEC 10.2, 10.7, 13.2: with the error of the library, or of the wrong argument."""
    with trunkline.sync.Pool(approvals="memory") as pool:
        with pytest.raises(trunkline.InvalidArgumentError, match="expected 'on' or 'off'"):
            pool.switch_source("user", True)  # type: ignore[arg-type]
        with pytest.raises(trunkline.InvalidArgumentError):
            pool.set_source("nonsense", {})
        with pytest.raises(trunkline.ConfigError) as wrong:
            pool.set_source("user", '{"mcpServers":')
        assert (wrong.value.detail["source"], wrong.value.detail["line"]) == ("user", 1)
        with pytest.raises(trunkline.InvalidArgumentError) as unknown:
            pool.load("x.json", wathc=True)
        assert unknown.value.detail["nearest"] == "watch"
        with pytest.raises(trunkline.InvalidArgumentError):
            pool.set_source("user", {"mcpServers": {"\ud800": {}}})
        with pytest.raises(trunkline.NotAdmittedError):
            pool.set_source("user", {"mcpServers": {"s": log.server()}})
            with pool.session("a", servers=[]) as session:
                session.acquire("s")
