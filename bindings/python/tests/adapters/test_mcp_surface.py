"""That nothing of the clients of `mcp` is absent here without a word: what they have is there, or is refused with the reason."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mcp
import pytest
from mcp import StdioServerParameters

import trunkline
import trunkline.sync
from trunkline.adapters.mcp import Client, ClientSession, MCPError

from host import Log, run
from served import kinds, opened, serve

PAGE = Path(__file__).parents[4] / "docs" / "guide" / "migrate" / "mcp-python.md"

#: Ours, and the package's, as far as the installed version has them.
CLIENTS: list[tuple[Any, Any]] = [(ClientSession, mcp.ClientSession)]
if hasattr(mcp, "Client"):
    CLIENTS.append((Client, mcp.Client))

#: What takes the place of transports.
PLACES = {"self", "server", "read_stream", "write_stream"}


def parameters(of: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(inspect.unwrap(of)).parameters)


#: Class, attribute of its instances; without the options that version 2 keeps on its `Client`.
ATTRIBUTES = [
    pytest.param(ours, name, id=f"{ours.__name__}.{name}")
    for ours, theirs in CLIENTS
    for name in dir(theirs)
    if not name.startswith("_") and name not in parameters(theirs.__init__)
]


@pytest.mark.parametrize(("ours", "name"), ATTRIBUTES)
def test_an_attribute_is_there_or_absent_with_a_reason(ours: Any, name: str) -> None:
    """FAULTS P11, P14."""
    if hasattr(ours, name):
        return
    with pytest.raises(AttributeError, match=f"{ours.__name__} has no {name}: .{{10}}"):
        getattr(ours(None, "s"), name)
    assert not hasattr(ours(None, "s"), name)
    assert f"`{name}`" in PAGE.read_text(encoding="utf-8"), name


def test_an_attribute_that_nobody_knows_is_absent_as_ever() -> None:
    nobody: Any = None
    for ours in (ClientSession, Client):
        with pytest.raises(AttributeError, match=f"'{ours.__name__}' object has no attribute 'nonsense'"):
            getattr(ours(nobody, "s"), "nonsense")


#: Class, method, parameter of the package's.
PARAMETERS = [
    pytest.param(ours, method, parameter, id=f"{ours.__name__}.{method}-{parameter}")
    for ours, theirs in CLIENTS
    for method in dir(theirs)
    if method == "__init__" or (not method.startswith("_") and hasattr(ours, method) and inspect.isfunction(getattr(theirs, method)))
    for parameter in parameters(getattr(theirs, method))
    if parameter not in PLACES
]


@pytest.mark.parametrize(("ours", "method", "parameter"), PARAMETERS)
def test_a_parameter_is_taken_or_refused_with_a_reason(ours: Any, method: str, parameter: str) -> None:
    """FAULTS P11, P14."""
    takes = parameters(getattr(ours, method))
    if parameter in takes or "_" in takes:
        return
    assert "elsewhere" in takes, f"{method} has no {parameter}"
    from trunkline.adapters._mcp_options import refuse

    with pytest.raises(trunkline.InvalidArgumentError, match=f"{parameter}: .{{10}}"):
        refuse(method, {parameter: object()})
    assert f"`{parameter}`" in PAGE.read_text(encoding="utf-8"), parameter


#: What a program that was moved halfway gives as its first and second argument, and the argument that the error names.
MISTAKEN: list[tuple[Any, Any, str]] = [
    (None, "s", "session"),
    ("http://127.0.0.1:9/mcp", "s", "session"),
    (StdioServerParameters(command="x"), "s", "session"),
    (object(), object(), "session"),
    (trunkline.Pool, "s", "session"),
    (trunkline.sync.Pool, "s", "session"),
    (..., StdioServerParameters(command="x"), "server"),
    (..., {"command": "x"}, "server"),
    (..., None, "server"),
]


@pytest.mark.parametrize(("owner", "server", "path"), MISTAKEN)
def test_what_is_no_session_and_no_name_is_refused_by_its_name(log: Log, owner: Any, server: Any, path: str) -> None:
    async def main() -> None:
        async with opened(log) as chat:
            for kind in (ClientSession, Client):
                with pytest.raises(trunkline.InvalidArgumentError) as raised:
                    async with kind(chat if owner is ... else owner, server):
                        raise AssertionError("it was taken")
                assert raised.value.detail["path"] == path.replace("session", "owner" if kind is Client else "session")

    run(main())


def test_a_blocking_session_is_refused_in_words(log: Log) -> None:
    async def main(chat: Any, pool: Any) -> None:
        for kind, owner in ((ClientSession, chat), (Client, chat), (Client, pool)):
            with pytest.raises(trunkline.InvalidArgumentError, match="asyncio"):
                async with kind(owner, "s"):
                    raise AssertionError("it was taken")

    with trunkline.sync.Pool(cache="off") as pool, pool.session("a", servers=[]) as chat:
        run(main(chat, pool))


def test_a_level_that_a_server_does_not_take_is_no_reason_to_stay_away() -> None:
    """As in the package, where a level has no effect on a server of the older era."""

    async def main() -> None:
        async with kinds(serve) as chat:
            for kind in (ClientSession, Client):
                async with kind(chat, "kinds", log_level="debug") as client:
                    assert (await client.call_tool("text", {"city": "x"})).content[0].text == "a text"
                    with pytest.raises(MCPError):
                        await client.set_logging_level("debug")

    run(main())
