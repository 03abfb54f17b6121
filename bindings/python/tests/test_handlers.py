"""Handlers: what a host answers to the requests of servers."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import weakref
from typing import Any

import pytest

import trunkline
import trunkline.sync
from trunkline import Refusal, ServerRequest, _desks, _exit

from host import HANG, Log, ended_well, python, run, wait_until

FORM = {"method": "elicitation/create", "params": {"message": "name?"}}
ACCEPTED = {"action": "accept", "content": {"name": "Ada", "n": 1.5}}
REQUEST = """{"kind": "elicitation", "server": "s", "entry_index": 0, "generation": 1, "session": "a",
              "method": "elicitation/create", "params": {}}"""


def answer_of(result: trunkline.CallResult) -> Any:
    import json

    return json.loads(result.content[0]["text"])


def test_handlers_plain_and_async_answer_for_their_session(log: Log) -> None:
    """SPEC 15.1: and a session's own handlers come before its pool's."""
    requests: list[ServerRequest] = []
    logged: list[Any] = []

    async def elicitation(request: ServerRequest) -> dict[str, Any]:
        requests.append(request)
        await asyncio.sleep(0)
        return ACCEPTED

    def sampling(request: ServerRequest) -> dict[str, Any]:
        return {"of": request.params["of"]}

    def wrong(_request: ServerRequest) -> Any:
        raise AssertionError("the session has its own")

    async def main() -> None:
        handlers = {"elicitation": wrong, "sampling_tools": sampling}
        own = {"elicitation": elicitation, "logging": lambda event: logged.append(event["data"])}
        async with trunkline.Pool(handlers=handlers) as pool:
            async with pool.session("a", handlers=own) as session:
                async with session.acquire("s", log.server()) as lease:
                    assert answer_of(await lease.call_tool("ask", FORM)) == {"result": ACCEPTED}
                    ask = {"method": "sampling/createMessage", "params": {"of": 7}}
                    assert answer_of(await lease.call_tool("ask", ask)) == {"result": {"of": 7}}
                    await lease.call_tool("log", {"text": "heard"})
                    while not logged:
                        await asyncio.sleep(0.01)

    run(main())
    [request] = requests
    assert (request.kind, request.server, request.session) == ("elicitation", "s", "a")
    assert (request.method, request.params) == (FORM["method"], FORM["params"])
    assert (request.entry_index, request.generation, request.withdrawn) == (0, 1, False)
    assert logged == ["heard"]


def test_what_a_handler_raises_is_a_clean_error(log: Log) -> None:
    """SPEC 15.1, 16.2"""

    async def elicitation(request: ServerRequest) -> Any:
        if request.params.get("refuse"):
            raise Refusal(-1, "not now")
        if request.params.get("nothing"):
            return None
        raise ValueError("a secret of the host")

    async def main() -> None:
        async with trunkline.Pool() as pool, pool.session("a", handlers={"elicitation": elicitation}) as session:
            async with session.acquire("s", log.server()) as lease:

                async def ask(**params: Any) -> Any:
                    return answer_of(await lease.call_tool("ask", {**FORM, "params": params}))

                failed = {"error": {"code": -32603, "message": "the handler failed"}}
                assert await ask() == failed
                assert await ask(nothing=True) == failed
                assert await ask(refuse=True) == {"error": {"code": -1, "message": "not now"}}

    run(main())


def test_a_coroutine_is_cancelled_when_nobody_waits(log: Log) -> None:
    """SPEC 15.1"""

    async def main() -> None:
        begun, ended = asyncio.Event(), asyncio.Event()

        async def elicitation(request: ServerRequest) -> Any:
            begun.set()
            try:
                await asyncio.sleep(HANG)
            finally:
                assert request.withdrawn
                ended.set()

        async with trunkline.Pool() as pool, pool.session("a", handlers={"elicitation": elicitation}) as session:
            async with session.acquire("s", log.server()) as lease:
                # A request that is taken back before it got here is no handler's.
                while not begun.is_set():
                    result = await lease.call_tool("ask", {**FORM, "take_back_ms": 20})
                    assert result.content[0]["text"] == "taken back"
                await asyncio.wait_for(ended.wait(), HANG)
                begun.clear()
                ended.clear()
                call = asyncio.ensure_future(lease.call_tool("ask", FORM))
                await asyncio.wait_for(begun.wait(), HANG)
                session.close()
                await asyncio.wait_for(ended.wait(), HANG)
                with pytest.raises(trunkline.CancelledError):
                    await call

    run(main())


def test_the_requests_of_a_session_that_another_thread_forgets_end_on_their_loop() -> None:
    """SPEC 15.1, 16.2: a collector runs on any thread, and tasks belong to the loop."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_debug(True)  # In this mode a loop refuses what is not for other threads.
        begun, ended = asyncio.Event(), asyncio.Event()
        ends: list[tuple[threading.Thread, bool]] = []

        async def elicitation(request: ServerRequest) -> Any:
            begun.set()
            try:
                await asyncio.sleep(HANG)
            finally:
                ends.append((threading.current_thread(), request.withdrawn))
                ended.set()

        async with trunkline.Pool() as pool:
            session = pool.session("a", servers=[], handlers={"elicitation": elicitation})
            desk = session._desk
            assert isinstance(desk, _desks.LoopDesk)
            desk._begin(1, desk._open.setdefault(1, ServerRequest(REQUEST)))
            await asyncio.wait_for(begun.wait(), HANG)
            held = [session]
            del session, desk
            threading.Thread(target=held.clear).start()
            await asyncio.wait_for(ended.wait(), HANG / 3)
            assert ends == [(threading.current_thread(), True)]

    run(main())


def test_handlers_of_the_blocking_api_may_block(log: Log) -> None:
    """SPEC 15.1, 5.4: each has a thread of its own."""
    threads: list[threading.Thread] = []
    withdrawn = threading.Event()

    def elicitation(request: ServerRequest) -> dict[str, Any]:
        threads.append(threading.current_thread())
        if request.params.get("wait"):
            while not request.withdrawn:
                time.sleep(0.005)
            withdrawn.set()
        return ACCEPTED

    with trunkline.sync.Pool(handlers={"elicitation": elicitation}) as pool:
        with pool.session("a") as session, session.acquire("s", log.server()) as lease:
            assert answer_of(lease.call_tool("ask", FORM)) == {"result": ACCEPTED}
            assert threads[0] is not threading.current_thread()
            waiting = {**FORM, "params": {"wait": True}, "take_back_ms": 20}
            while len(threads) == 1:
                assert lease.call_tool("ask", waiting).content[0]["text"] == "taken back"
            assert withdrawn.wait(HANG)
    while any(thread.name == "trunkline-handlers" for thread in threading.enumerate()):
        time.sleep(0.005)


def test_handlers_that_cannot_be_used_are_refused(log: Log) -> None:
    """SPEC 16.5"""
    for handlers, path in [
        ({"samplings": print}, "handlers.samplings"),
        ({"sampling": 1}, "handlers.sampling"),
        (1, "handlers"),
    ]:
        with pytest.raises(trunkline.InvalidArgumentError) as refused:
            trunkline.sync.Pool(handlers=handlers)
        assert refused.value.detail["path"] == path
    with pytest.raises(trunkline.InvalidArgumentError, match="asyncio loop"):
        trunkline.Pool(handlers={"sampling": print})


class Scripted:
    """What brings a desk its news, without a server."""

    def __init__(self, news: list[tuple[str, int, str]]) -> None:
        self.news = news
        self.refused: list[int] = []

    def take(self) -> list[tuple[str, int, str]]:
        taken, self.news = self.news, []
        return taken

    def refuse(self, number: int, code: int, message: str) -> None:
        assert code == -32603
        self.refused.append(number)


@pytest.mark.parametrize("params", ["[" * 100_000 + "]" * 100_000, "1" * 5_000])
def test_what_python_cannot_decode_is_refused_and_the_next_request_is_served(params: str) -> None:
    """SPEC 16.2, I-28: a server's own text must not end the handlers of others."""
    begun: list[int] = []

    class Desk(_desks.Desk):
        def _begin(self, number: int, request: ServerRequest) -> None:
            begun.append(number)

    fields = '"kind": "elicitation", "server": "s", "entry_index": 0, "generation": 1, "session": "a", "method": "m"'
    asked = [("asked", number, f'{{{fields}, "params": {what}}}') for number, what in ((1, params), (2, "{}"))]
    desk = Desk({"elicitation": lambda request: ACCEPTED})
    script: Any = Scripted(asked)
    desk.native = script
    desk._look()
    assert (script.refused, begun) == ([1], [2])


def test_a_refusal_has_a_code_that_servers_can_be_sent() -> None:
    """SPEC 15.1"""
    for code in ("x", 2**40):
        with pytest.raises(trunkline.InvalidArgumentError):
            Refusal(code, "no")  # type: ignore[arg-type]


def test_a_closed_session_goes_although_its_handlers_refer_to_it() -> None:
    """SPEC 9.8, 16.4: nothing of a conversation is kept."""
    with trunkline.sync.Pool() as pool:

        def conversation() -> weakref.ref[trunkline.sync.Session]:
            held: list[Any] = []
            session = pool.session("a", servers=[], handlers={"elicitation": lambda request: held})
            held.append(session)
            session.close()
            return weakref.ref(session)

        session = conversation()

        def is_gone() -> bool:
            gc.collect()
            return session() is None

        wait_until(is_gone, "the session is collected")


def is_gone(*weak: weakref.ref[Any]) -> bool:
    gc.collect()
    return all(one() is None for one in weak)


def test_a_forgotten_session_goes_although_its_functions_refer_to_it(log: Log) -> None:
    """SPEC 9.8, 16.4: and its lease with it, and the thread of its handlers."""
    with trunkline.sync.Pool(drain_delay=0) as pool:
        pool.reconcile({"s": log.server()})

        def conversation() -> list[weakref.ref[Any]]:
            held: list[Any] = []

            def elicitation(request: ServerRequest) -> Any:
                return ACCEPTED if held else None

            session = pool.session("a", servers=[], handlers={"elicitation": elicitation})
            session.provide("own", lambda connection, frame: held.clear())
            lease = session.acquire("s")
            held += [session, lease]
            assert answer_of(lease.call_tool("ask", FORM)) == {"result": ACCEPTED}
            return [weakref.ref(thing) for thing in (session, lease, elicitation)]

        weak = conversation()
        wait_until(lambda: is_gone(*weak), "the session is collected")
        wait_until(lambda: not log.running(), "its server has ended")

        def is_over() -> bool:
            return all(thread.name != "trunkline-handlers" for thread in threading.enumerate())

        wait_until(is_over, "the thread of its handlers has ended")


def test_a_session_is_there_as_long_as_its_lease_and_its_handlers_answer(log: Log) -> None:
    """SPEC 15.1"""
    with trunkline.sync.Pool() as pool:
        pool.reconcile({"s": log.server()})
        lease = pool.session("a", servers=[], handlers={"elicitation": lambda _: ACCEPTED}).acquire("s")
        gc.collect()
        assert answer_of(lease.call_tool("ask", FORM)) == {"result": ACCEPTED}
        lease.release()


def test_a_session_that_a_loop_forgets_goes_although_its_handlers_refer_to_it(log: Log) -> None:
    """SPEC 9.8, 16.4"""

    async def conversation(pool: trunkline.Pool) -> list[weakref.ref[Any]]:
        held: list[Any] = []

        async def elicitation(request: ServerRequest) -> Any:
            return ACCEPTED if held else None

        session = pool.session("a", servers=[], handlers={"elicitation": elicitation})
        lease = await session.acquire("s")
        held += [session, lease]
        assert answer_of(await lease.call_tool("ask", FORM)) == {"result": ACCEPTED}
        return [weakref.ref(thing) for thing in (session, lease, elicitation)]

    async def main() -> None:
        async with trunkline.Pool(drain_delay=0) as pool:
            await pool.reconcile({"s": log.server()})
            weak = await conversation(pool)
            while not is_gone(*weak) or log.running():
                await asyncio.sleep(0.01)

    run(main())


def test_a_logging_handler_that_blocks_holds_up_no_request(log: Log) -> None:
    """SPEC 15.1, 16.2: of the blocking API, where it has a thread of its own, which tells it all in order."""
    begun, go_on, heard = threading.Event(), threading.Event(), []

    def logging(event: trunkline.Event) -> None:
        begun.set()
        go_on.wait(HANG)
        heard.append(event["data"])

    handlers = {"logging": logging, "elicitation": lambda request: ACCEPTED}
    with trunkline.sync.Pool() as pool, pool.session("a", servers=[], handlers=handlers) as session:
        with session.acquire("s", log.server()) as lease:
            try:
                for text in ("first", "second"):
                    lease.call_tool("log", {"text": text})
                assert begun.wait(HANG)
                assert answer_of(lease.call_tool("ask", FORM, timeout=HANG / 3)) == {"result": ACCEPTED}
                assert not heard
            finally:
                go_on.set()
            wait_until(lambda: heard == ["first", "second"], "it is told the rest")
    wait_until(lambda: all(t.name != "trunkline-logging" for t in threading.enumerate()), "its thread ends")


@pytest.mark.parametrize("name", ["trunkline-logging", "trunkline-events", "trunkline-logs"])
def test_a_thread_that_cannot_be_had_leaves_none_behind(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """SPEC 16.2: at the limit of the machine; of handlers the second of two."""
    start = threading.Thread.start

    def fails(thread: threading.Thread) -> None:
        if thread.name == name:
            raise RuntimeError("can't start new thread")
        start(thread)

    begin: dict[str, Any] = {
        "trunkline-logging": lambda pool: trunkline.sync.Pool(handlers={"logging": print}),
        "trunkline-events": lambda pool: pool.on_event(print),
        "trunkline-logs": lambda pool: trunkline.start_logs(),
    }
    with trunkline.sync.Pool() as pool, monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", fails)
        with pytest.raises(RuntimeError, match="start new thread"):
            begin[name](pool)
    of_handlers = [thread for thread in threading.enumerate() if thread.name == "trunkline-handlers"]
    wait_until(lambda: not any(thread.is_alive() for thread in of_handlers), "a thread waits for nothing")
    assert all(thread.ident is not None for thread in _exit._threads)


#: A program that gets no thread, and ends.
WITHOUT_THREADS = """
import threading
import trunkline, trunkline.sync

def fails(thread):
    raise RuntimeError("can't start new thread")

pool, start = trunkline.sync.Pool(), threading.Thread.start
threading.Thread.start = fails
for begin in (lambda: pool.on_event(print), trunkline.start_logs, lambda: pool.session("a", handlers={"logging": print})):
    try:
        begin()
    except RuntimeError:
        continue
    raise AssertionError("it began")
threading.Thread.start = start
"""


def test_a_program_that_got_no_thread_ends_well() -> None:
    """SPEC 16.4."""
    ended_well(python(WITHOUT_THREADS))
