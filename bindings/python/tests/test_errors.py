"""Exceptions: one class for each row of the registry (SPEC 5.12), and panics as errors (SPEC 16.2)."""

from __future__ import annotations

import builtins
import copy
import json
import pickle
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

import pytest

import trunkline
import trunkline.sync
from trunkline import _errors, _options, _trunkline

from host import HANG, Log, text, wait_until

ROWS: list[dict[str, Any]] = _options.registry()["errors"]


def made(code: str, arguments: str | None = None) -> trunkline.TrunklineError:
    """An error of that code with every part, as the library makes it."""
    error = _trunkline._exception(code, arguments)
    assert isinstance(error, trunkline.TrunklineError)
    return error


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_each_code_has_its_class(row: dict[str, Any]) -> None:
    """SPEC 5.12."""
    error = made(row["name"])
    assert type(error) is getattr(trunkline, row["python_class"])
    assert error.code == row["name"]
    if row["python_base"] is not None:
        assert isinstance(error, getattr(builtins, row["python_base"]))


def test_no_class_is_without_a_code() -> None:
    classes = {getattr(trunkline, row["python_class"]) for row in ROWS}
    assert set(trunkline.TrunklineError.__subclasses__()) == classes


def test_an_error_carries_everything() -> None:
    """SPEC 5.6, 5.12."""
    error = made("call_interrupted", '{"secret":1}')
    assert isinstance(error, trunkline.CallInterruptedError)
    assert (error.code, error.message) == ("call_interrupted", "the connection was lost")
    assert (error.server, error.session, error.retryable) == ("s", "a", False)
    assert (error.outcome, error.hint, error.detail) == ("unknown", "look", {"generation": 2})
    assert error.args == (error.message,)
    assert error.arguments == {"secret": 1}
    assert isinstance(error.__cause__, trunkline.ConnectError)
    assert error.__cause__.detail == {"status": 3}
    assert str(error) == "s: the connection was lost"
    assert "secret" not in repr(error) and "secret" not in str(error)


@pytest.mark.parametrize(("given", "back"), [("", {}), ("[1]", [1]), ("{", "{"), (None, None)])
def test_arguments_are_given_back_whatever_they_are(given: str | None, back: Any) -> None:
    """SPEC 5.6."""
    assert made("call_interrupted", given).arguments == back


@pytest.mark.parametrize("code", ["call_interrupted", "timeout", "invalid_argument"])
def test_particulars_and_arguments_are_attributes_like_others(code: str) -> None:
    error = made(code, "[1]")
    assert error.detail is error.detail and error.arguments is error.arguments
    error.detail["more"] = 1
    assert error.detail == {"generation": 2, "more": 1}
    error.detail, error.arguments = {"other": 1}, "given"
    assert (error.detail, error.arguments) == ({"other": 1}, "given")
    unread = made(code, "[1]")
    unread.detail, unread.arguments = {}, None
    assert (unread.detail, unread.arguments) == ({}, None)
    own = type(error)("so")
    assert (own.detail, own.arguments, str(own), own.args) == ({}, None, "so", ("so",))


@pytest.mark.parametrize("what", ["detail", "arguments"])
def test_what_two_threads_look_at_is_one_and_whole(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of them while the other decodes it, as another thread may."""
    error, loads = made("call_interrupted", "[1]"), json.loads
    seen: list[Any] = []

    def looks_again(text: str) -> Any:
        monkeypatch.setattr(_errors.json, "loads", loads)
        looking = threading.Thread(target=lambda: seen.append(getattr(error, what)))
        looking.start()
        looking.join(HANG)
        return loads(text)

    monkeypatch.setattr(_errors.json, "loads", looks_again)
    found = getattr(error, what)
    assert found == {"detail": {"generation": 2}, "arguments": [1]}[what]
    assert seen and seen[0] is found and getattr(error, what) is found


@pytest.mark.parametrize("what", ["detail", "arguments"])
def test_what_is_set_while_it_is_decoded_stays(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    error, loads = made("call_interrupted", "[1]"), json.loads

    def sets(text: str) -> Any:
        setattr(error, what, {"given": 1})
        return loads(text)

    monkeypatch.setattr(_errors.json, "loads", sets)
    assert getattr(error, what) == {"given": 1} and getattr(error, what) == {"given": 1}


def test_a_traceback_shows_the_hint_once() -> None:
    """SPEC 5.12; PEP 678."""
    error = made("call_interrupted")
    for one in (error, copy.copy(error), pickle.loads(pickle.dumps(error))):
        # Before 3.11 tracebacks show no notes.
        shown = "".join(traceback.format_exception(one))
        assert shown.count("hint: look\n") == (sys.version_info >= (3, 11)), shown
        assert one.__notes__ == ["hint: look"]
    if sys.version_info >= (3, 11):
        error.add_note("the host's own")
        assert error.__notes__ == ["hint: look", "the host's own"]


def test_an_error_survives_pickling() -> None:
    for code in ("call_interrupted", "timeout"):
        for looked in (False, True):
            before = made(code, "[1]")
            assert not looked or (before.detail and before.arguments)
            error = pickle.loads(pickle.dumps(before))
            assert type(error) is type(before)
            assert (error.server, error.detail, error.arguments) == ("s", {"generation": 2}, [1])
            assert str(error) == "s: the connection was lost"


def test_a_timeout_is_the_builtin_one_as_well() -> None:
    error = trunkline.TimeoutError("late")
    assert isinstance(error, builtins.TimeoutError) and str(error) == "late"


def test_a_panic_is_an_internal_error_with_its_place(capfd: pytest.CaptureFixture[str]) -> None:
    """SPEC 16.2: and nothing is printed."""
    with pytest.raises(trunkline.InternalError) as caught:
        _trunkline._panic()
    assert "asked to" in str(caught.value)
    assert "lib.rs" in caught.value.detail["place"]
    assert capfd.readouterr() == ("", "")


def test_a_text_that_is_no_unicode_is_a_wrong_argument_everywhere(log: Log) -> None:
    """SPEC 9.1, 16.5: half a surrogate pair, as file names have it."""
    odd = "\udcff"
    sent: list[trunkline.TrunklineError] = []

    def receive(connection: trunkline.HostConnection, frame: str) -> None:
        try:
            connection.send(odd)
        except trunkline.TrunklineError as error:
            sent.append(error)
        connection.close()

    with trunkline.sync.Pool() as pool, pool.session("a", servers=[]) as session:
        lease = session.acquire("s", log.server())
        attempts: list[Callable[[], object]] = [
            lambda: session.disable(odd),
            lambda: session.enable(odd),
            lambda: session.provide(odd, receive),
            lambda: session.tools_for(odd),
            lambda: session.explain(odd),
            lambda: pool.explain(odd),
            lambda: pool.remove_server(odd),
            lambda: pool.restart(odd),
            lambda: trunkline.start_logs(odd),
            lambda: trunkline.sync.Pool(handlers={odd: print}),
            lambda: pool.acquire("s", log.server(), session=odd),
            lambda: pool.add_server("s", {"command": odd}),
            lambda: lease.call_tool("echo", {"message": odd}),
            lambda: lease.read_resource(odd),
        ]
        paths: list[object] = []
        for attempt in attempts:
            with pytest.raises(trunkline.InvalidArgumentError, match="UTF-8") as caught:
                attempt()
            paths.append(caught.value.detail.get("path"))
        session.provide("own", receive)
        with pytest.raises(trunkline.TrunklineError):
            session.acquire("own", timeout=30)
    named = ["server", "server", "server", "shape", "name", "name", "server", "server", "level", "handlers"]
    assert paths == [*named, "session", "config", "arguments", "uri"]
    assert [error.detail for error in sent] == [{"path": "frame"}]


@pytest.mark.parametrize(
    ("options", "detail"),
    [
        ({"call_timeout": 1, "call_idle_timeout": 2}, {"path": "call_idle_timeout"}),
        ({"reconnect": {"delays": {"local": [10_000]}}}, {"path": "reconnect.delays.local[0]"}),
        ({"reconnect": {"delays": {"timeout_ms": [1]}}}, {"option": "reconnect.delays.timeout_ms"}),
    ],
)
def test_an_option_has_its_name_of_python_wherever_it_is_named(options: dict[str, Any], detail: dict[str, Any]) -> None:
    """SPEC 16.5."""
    with pytest.raises(trunkline.InvalidArgumentError) as caught:
        trunkline.sync.Pool(**options)
    assert caught.value.detail == detail
    assert f"`{[*detail.values()][0]}`" in caught.value.message


def test_what_is_refused_before_the_library_has_a_hint_too() -> None:
    """SPEC 5.12."""
    attempts: list[tuple[Callable[[], object], str]] = [
        (lambda: trunkline.sync.Pool(drain_delay="long"), "correct the value that `detail.path` names"),
        (lambda: trunkline.sync.Pool(drain_dely=1), "did you mean `drain_delay`?"),
        (lambda: trunkline.sync.Pool(workspace="\ud800"), "correct the value that `detail.path` names"),
    ]
    for attempt, hint in attempts:
        with pytest.raises(trunkline.InvalidArgumentError) as caught:
            attempt()
        assert caught.value.hint == hint
        assert caught.value.__notes__ == [f"hint: {hint}"]
    with trunkline.sync.Pool() as pool, pool.events() as events, pytest.raises(trunkline.TimeoutError) as late:
        events.next(timeout=0)
    assert late.value.hint


def test_a_call_that_is_refused_was_not_sent(log: Log) -> None:
    """SPEC 5.12: no matter who refuses it."""

    async def told(event: object) -> None:
        pass

    with trunkline.sync.Pool() as pool, pool.session("a", exclude={"s": ["hidden"]}) as session:
        lease = session.acquire("s", log.server())
        attempts: list[Callable[[], object]] = [
            lambda: lease.call_tool("echo", {}, timeot=1),
            lambda: lease.call_tool("echo", {}, timeout="long"),
            lambda: lease.call_tool("echo", {}, retry="always"),
            lambda: lease.call_tool("echo", {"message": object()}),
            lambda: lease.call_tool("echo", {"message": "\udcff"}),
            lambda: lease.call_tool("echo", {}, progress=told),
            lambda: lease.read_resource("test://x", retry="always"),
            lambda: lease.get_prompt("\udcff"),
            lambda: lease.get_prompt("hidden"),
            lambda: lease.get_prompt("greet", []),
            lambda: lease.request("initialize"),
            lambda: session.call_tool("mcp__s__echo", {}, retry="always"),
        ]
        for attempt in attempts:
            with pytest.raises(trunkline.InvalidArgumentError) as caught:
                attempt()
            assert caught.value.outcome == "not_sent", caught.value
        with pytest.raises(trunkline.InvalidArgumentError) as acquired:
            session.acquire("s", timeot=1)
        assert acquired.value.outcome is None
        lease.release()
        with pytest.raises(trunkline.ClosedError) as released:
            lease.get_prompt("greet")
        assert released.value.outcome == "not_sent"


@pytest.mark.parametrize("index", [7, -1, 2**32, 2**40, -(2**70)])
def test_an_index_that_no_entry_has_restarts_nothing(log: Log, index: int) -> None:
    """SPEC 9.1."""
    with trunkline.sync.Pool() as pool, pool.session("a", servers=[]) as session:
        with session.acquire("s", log.server()) as lease:
            before = text(lease.call_tool("pid"))
            assert pool.restart("s", index)["entries"] == []
            assert text(lease.call_tool("pid")) == before


def test_the_words_of_others_stay_as_they_are(log: Log) -> None:
    """SPEC 5.2, 5.12: what a server says, and what it and its tools are called, is not an option of ours."""
    with trunkline.sync.Pool() as pool:
        pool.add_server("s", log.server("--list-changes"))
        session = pool.session("a")
        lease = session.acquire("s")
        message = "missing argument `timeout_ms`"
        with pytest.raises(trunkline.ServerError) as answered:
            lease.call_tool("error", {"code": -32602, "message": message})
        assert message in answered.value.message
        lease.call_tool("change_list", {"add": "drain_delay_ms"})
        wait_until(lambda: any(tool.own_name == "drain_delay_ms" for tool in lease.tools()), "the tool never came")
        for taken in ("start_gate_ms", "timeout_ms"):
            first = pool.session(taken, servers=[])
            with pytest.raises(trunkline.InvalidArgumentError) as twice:
                pool.session(taken, servers=[])
            assert taken in twice.value.message
            first.close()
        with pytest.raises(trunkline.InvalidArgumentError) as unseen:
            pool.session("b", include={"s": ["none"]}).acquire("s").get_prompt("timeout_ms")
        assert "timeout_ms" in unseen.value.message
        with pytest.raises(trunkline.InvalidArgumentError) as unknown:
            trunkline.sync.Pool(handlers={"timeout_ms": print})
        assert "timeout_ms" in unknown.value.message
        with pytest.raises(trunkline.ToolNotFoundError) as near:
            lease.call_tool("drain_delay_m")
        assert near.value.detail["nearest"] == "drain_delay_ms"
        assert "`drain_delay_ms`" in (near.value.hint or "")
        with pytest.raises(trunkline.ToolNotFoundError) as missing:
            lease.call_tool("connect_timeout_ms")
        assert "`connect_timeout_ms`" in missing.value.message
