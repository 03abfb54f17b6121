"""Servers that no one here wrote: npm's server-everything, PyPI's mcp-server-time and mcp-server-git.

``TRUNKLINE_REAL_SERVERS`` names the file with their configurations; ``cargo xtask test`` installs them and sets it.
Without it these tests are not run, and the summary says so; in CI they fail.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import trunkline
import trunkline.sync

from host import is_running, run, text, wait_until

#: The tools that the installed version has for a client without handlers, and with those for sampling and elicitation.
TOOLS, TOOLS_WITH_HANDLERS = 14, 17

FILE = os.environ.get("TRUNKLINE_REAL_SERVERS")

@pytest.fixture(scope="module")
def servers() -> dict[str, Any]:
    assert FILE is not None, "TRUNKLINE_REAL_SERVERS is not set"
    found: dict[str, Any] = json.loads(Path(FILE).read_text())
    return found


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """SPEC 9.8: no process of these servers is left, wrappers and their children included."""
    before = children()
    yield
    wait_until(lambda: not children() - before, "processes are left")


def children() -> set[int]:
    """All processes that descend from this one."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and is_running(int(entry.name)):
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            parents.setdefault(parent, []).append(int(entry.name))
    found: set[int] = set()
    front = [os.getpid()]
    while front:
        front = [child for one in front for child in parents.get(one, []) if child not in found]
        found.update(front)
    return found


def test_everything(servers: dict[str, Any]) -> None:
    """SPEC 2.1, 5.1, 6.1, 7.4: tools, prompts and resources, and a burst of list changes at the start."""

    async def main() -> None:
        async with trunkline.Pool() as pool:
            await pool.reconcile({"everything": servers["everything"]})
            async with pool.session("a") as a, pool.session("b") as b:
                leases = await asyncio.gather(a.acquire("everything"), b.acquire("everything"))
                assert pool.status()["processes"] == 1
                echo = next(tool for tool in a.tools() if tool.own_name == "echo")
                assert text(await a.call_tool(echo.name, {"message": "hi"})).endswith("hi")
                answers = await asyncio.gather(
                    *(lease.call_tool("echo", {"message": str(n)}) for n in range(20) for lease in leases)
                )
                assert [text(answer)[-1] for answer in answers[::2]] == [str(n)[-1] for n in range(20)]
                assert a.prompts() and a.resources()
                await same_tools(TOOLS, a, b)
                first = a.resources()[0].own_name
                assert (await leases[0].read_resource(first)).decoded["contents"]

    run(main())


async def same_tools(count: int, *sessions: trunkline.Session) -> None:
    """SPEC 7.2, 7.4: the server announces changes of its tools while it starts; afterwards all views are equal."""
    while any(len(session.tools()) != count for session in sessions):
        await asyncio.sleep(0.01)
    views = [[(tool.name, tool.definition) for tool in session.tools()] for session in sessions]
    assert all(view == views[0] for view in views)


def test_everything_has_more_for_a_client_with_handlers(servers: dict[str, Any]) -> None:
    """SPEC 15.1: what is offered to the server follows from the handlers."""

    def handler(request: dict[str, Any]) -> dict[str, Any]:
        return {}

    async def main() -> None:
        handlers = dict.fromkeys(("sampling", "elicitation", "elicitation_url"), handler)
        async with trunkline.Pool(handlers=handlers) as pool:
            await pool.reconcile({"everything": servers["everything"]})
            async with pool.session("a") as a, pool.session("b") as b:
                await asyncio.gather(a.acquire("everything"), b.acquire("everything"))
                await same_tools(TOOLS_WITH_HANDLERS, a, b)

    run(main())


@pytest.mark.parametrize("name", ["everything_npx"])
def test_a_server_behind_a_package_runner(servers: dict[str, Any], name: str) -> None:
    """SPEC 9.8."""
    with trunkline.sync.Pool() as pool, pool.session("a", servers=[]) as session:
        lease = session.acquire("s", servers[name])
        assert text(lease.call_tool("echo", {"message": "hi"})).endswith("hi")


def test_time(servers: dict[str, Any]) -> None:
    """SPEC 5.1."""
    with trunkline.sync.Pool() as pool, pool.session("a", servers=[]) as session:
        lease = session.acquire("time", servers["time"])
        now = json.loads(text(lease.call_tool("get_current_time", {"timezone": "Europe/Paris"})))
        assert now["timezone"] == "Europe/Paris"
        bad = lease.call_tool("get_current_time", {"timezone": "Nowhere/None"})
        assert bad.is_error


def test_git(servers: dict[str, Any]) -> None:
    """SPEC 5.1."""
    arguments = servers["git"]["args"]
    repository = arguments[arguments.index("--repository") + 1]

    async def main() -> None:
        async with trunkline.Pool() as pool, pool.session("a", servers=[]) as session:
            async with session.acquire("git", servers["git"]) as lease:
                status = await lease.call_tool("git_status", {"repo_path": repository})
                assert "note.txt" in text(status)

    run(main())
