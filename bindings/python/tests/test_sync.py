"""The blocking API: it mirrors the asyncio one, and works."""

from __future__ import annotations

import inspect
import json
import threading
from collections.abc import Callable

import pytest

import trunkline
import trunkline.sync

from host import HANG, Log, ended_well, python, text, wait_until


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def test_both_have_the_same_names() -> None:
    """SPEC 16.1: except for what asyncio spells in its own way."""
    only_asyncio = {"Pool": {"aclose"}, "Session": {"aclose"}, "Lease": set(), "EventStream": set()}
    only_sync = {"Pool": {"close"}, "Session": set(), "Lease": set(), "EventStream": {"next"}}
    for name in only_asyncio:
        asynchronous, blocking = getattr(trunkline, name), getattr(trunkline.sync, name)
        assert public(asynchronous) - public(blocking) == only_asyncio[name]
        assert public(blocking) - public(asynchronous) == only_sync[name]
        for method in public(asynchronous) & public(blocking):
            one, other = getattr(asynchronous, method), getattr(blocking, method)
            if callable(one):
                parameters = inspect.signature(one).parameters
                assert parameters == inspect.signature(other).parameters, (name, method)


def test_the_main_job_with_blocking_calls(log: Log) -> None:
    """SPEC 2.1, 5.1, 6.1, 9.7."""
    with trunkline.sync.Pool() as pool:
        assert set(pool.reconcile({"s": log.server()})["servers"]) == {"s"}
        with pool.session("a") as a, pool.session("b", servers=["s"]) as b:
            with a.acquire("s") as one, b.acquire("s", timeout=HANG) as two:
                assert text(one.call_tool("pid")) == text(two.call_tool("pid"))
                b.ready()
                b.ready("s", timeout=HANG)
                assert text(b.call_tool("mcp__s__echo", {"message": "hi"})) == "hi"
                assert {tool.own_name for tool in two.tools()} >= {"echo", "add"}
                resource, prompt = a.resources()[0], a.prompts()[0]
                assert one.read_resource(resource.own_name).decoded["contents"]
                one.subscribe_resource(resource.own_name)
                one.unsubscribe_resource(resource.own_name)
                assert one.get_prompt(prompt.own_name).decoded["messages"]
                assert one.request("ping").decoded == {}
            assert isinstance(pool.restart("nothing"), (list, dict))
        with pool.acquire("t", log.server("--label", "t"), session="c") as lease:
            assert lease.server == "t"
        report = pool.drain_all(force=True, timeout=5)
        assert report["errors"] == []
    pool.close()


def test_a_scope_cancels_from_another_thread(log: Log) -> None:
    """SPEC 5.5: the operation under way, those that follow, and what an inner scope waits for."""
    with trunkline.sync.Pool() as pool, pool.session("a", servers=[]) as session:
        lease = session.acquire("s", log.server())
        scope = trunkline.sync.CancelScope()
        errors: list[BaseException] = []

        def call() -> None:
            with scope, trunkline.sync.CancelScope():
                for _ in range(2):
                    try:
                        lease.call_tool("sleep", {"ms": 60_000})
                    except trunkline.CancelledError as error:
                        errors.append(error)

        calling = threading.Thread(target=call)
        calling.start()
        wait_until(lambda: text(lease.call_tool("under_way")) == "1", "no call")
        scope.cancel()
        calling.join(HANG)
        assert [type(error) for error in errors] == [trunkline.CancelledError] * 2
        assert text(lease.call_tool("echo", {"message": "outside"})) == "outside"
        with scope, pytest.raises(trunkline.CancelledError):
            lease.call_tool("sleep", {"ms": 60_000})


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(lambda lease: lease.call_tool("t"), id="call_tool"),
        pytest.param(lambda lease: lease.request("ping"), id="request"),
        pytest.param(lambda lease: lease.read_resource("test://one"), id="read_resource"),
        pytest.param(lambda lease: lease.get_prompt("p"), id="get_prompt"),
        pytest.param(lambda lease: lease.complete({}), id="complete"),
    ],
)
def test_a_scope_leaves_what_became_of_each_request(ask: Callable[[trunkline.sync.Lease], object]) -> None:
    """SPEC 5.1, 5.5, 5.12: the server may have done what was asked, and which server that is."""
    asked = threading.Event()

    def receive(connection: trunkline.HostConnection, frame: str) -> None:
        message = json.loads(frame)
        if message["method"] in ("tools/call", "ping", "resources/read", "prompts/get", "completion/complete"):
            asked.set()
            return
        answer: dict[str, object] = {"error": {"code": -32601, "message": "no such method"}}
        if message["method"] == "initialize":
            server = {"name": "silent", "version": "1"}
            answer = {"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": server}}
        elif message["method"] == "tools/list":
            answer = {"result": {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}}
        if "id" in message:
            connection.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}))

    with trunkline.sync.Pool(cache="off", drain_delay=0) as pool, pool.session("a", servers=[]) as session:
        session.provide("s", receive)
        lease = session.acquire("s", timeout=HANG)
        scope = trunkline.sync.CancelScope()

        def cancel() -> None:
            asked.wait(HANG)
            scope.cancel()

        cancelling = threading.Thread(target=cancel)
        cancelling.start()
        with scope, pytest.raises(trunkline.CancelledError) as caught:
            ask(lease)
        cancelling.join()
        assert (caught.value.outcome, caught.value.server) == ("unknown", "s")
        with scope, pytest.raises(trunkline.CancelledError) as caught:
            ask(lease)
        assert caught.value.outcome == "not_sent"


def test_nothing_begins_in_a_scope_that_is_cancelled(log: Log) -> None:
    """SPEC 5.5: what would follow is not carried out, and a call is not sent."""
    with trunkline.sync.Pool() as pool, pool.session("a", servers=[]) as session:
        lease = session.acquire("s", log.server())
        counted = int(text(lease.call_tool("count")))
        scope = trunkline.sync.CancelScope()
        scope.cancel()
        with trunkline.sync.CancelScope(), scope:
            with pytest.raises(trunkline.CancelledError) as call:
                lease.call_tool("echo", {"message": "x"})
            for attempt in (
                lambda: session.acquire("s"),
                lambda: pool.restart("s"),
                lambda: pool.reconcile({"s": log.server()}),
                pool.drain_all,
            ):
                with pytest.raises(trunkline.CancelledError) as caught:
                    attempt()
                assert caught.value.outcome is None
        assert (call.value.code, call.value.outcome) == ("cancelled", "not_sent")
        assert call.value.hint
        assert int(text(lease.call_tool("count"))) == counted + 1
        assert lease.generation == 1
        assert pool.status()["closing"] is False


def test_a_scope_can_be_cancelled_from_a_signal_handler() -> None:
    """SPEC 5.5: a handler runs on the waiting thread itself, also while that has the scope's lock."""
    scope = trunkline.sync.CancelScope()
    done = threading.Event()

    def interrupted() -> None:
        with scope._lock:
            scope.cancel()
        done.set()

    threading.Thread(target=interrupted, daemon=True).start()
    assert done.wait(HANG)


def test_a_scope_may_be_entered_twice(log: Log) -> None:
    """SPEC 5.5."""
    with trunkline.sync.Pool() as pool, pool.session("a", servers=[]) as session:
        lease = session.acquire("s", log.server())
        scope = trunkline.sync.CancelScope()
        with scope:
            with scope:
                assert text(lease.call_tool("echo", {"message": "inside"})) == "inside"
            assert text(lease.call_tool("echo", {"message": "between"})) == "between"
            scope.cancel()
            with pytest.raises(trunkline.CancelledError):
                lease.call_tool("sleep", {"ms": 60_000})
        assert text(lease.call_tool("echo", {"message": "outside"})) == "outside"


def test_a_call_inside_of_another_one_s_callback_leaves_the_scope_its_operation(log: Log) -> None:
    """SPEC 5.5, 16.2."""
    with trunkline.sync.Pool() as pool, pool.session("a", servers=[]) as session:
        lease = session.acquire("s", log.server())
        scope = trunkline.sync.CancelScope()
        steps: list[int] = []

        def progress(event: trunkline.Event) -> None:
            steps.append(event["progress"])
            if len(steps) == 1:
                assert text(lease.call_tool("echo", {"message": "inside"})) == "inside"
                scope.cancel()

        with scope, pytest.raises(trunkline.CancelledError):
            lease.call_tool("progress", {"steps": 500, "interval_ms": 10}, progress=progress)
        assert len(steps) < 500


#: Uses the library where the C library ends the process: what the thread has of the library is gone by then.
BEHIND_THE_THREAD = """
import ctypes, json, os, sys
import trunkline.sync

pool = trunkline.sync.Pool()
pool.session("a", servers=[]).acquire("s", json.loads(sys.argv[1])).call_tool("echo", {"message": "x"})

@ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p)
def last(status, nothing):
    pool.close()
    os.write(1, b"closed")

libc = ctypes.CDLL(None)
libc.on_exit(last, None)
libc.exit(0)
"""


def test_a_pool_is_closed_behind_the_end_of_its_thread(log: Log) -> None:
    """SPEC 16.2, 16.4: where the host's own program ends the interpreter, as it exits."""
    done = python(BEHIND_THE_THREAD, json.dumps(log.server()))
    ended_well(done)
    assert done.stdout == "closed"
