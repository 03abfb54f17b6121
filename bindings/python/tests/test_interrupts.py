"""What a host's own functions raise beside failures: cancellation, Ctrl-C, the end of the program."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

import trunkline
import trunkline.sync
from trunkline import ServerRequest, _bridge, _desks

from host import HANG, Log, opened, run, text, wait_until

ENDLESS = {"steps": 1_000_000, "interval_ms": 10}


@pytest.mark.parametrize("raised", [ValueError, asyncio.CancelledError, GeneratorExit, KeyboardInterrupt, SystemExit])
def test_what_a_receiver_raises_costs_nobody_else_a_result(raised: type[BaseException]) -> None:
    """SPEC 16.2: what ends the program gets out, after the others have theirs."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        bridge = _bridge.bridge_of(loop)
        failing, waiting = _bridge.next_token(), _bridge.next_token()
        future: asyncio.Future[Any] = loop.create_future()

        def fail(value: object) -> None:
            raise raised

        bridge.receivers[failing] = fail
        bridge.pending[waiting] = future
        try:
            bridge.settle_batch([(failing, False, None), (waiting, False, 42)])
        except (KeyboardInterrupt, SystemExit) as error:
            assert type(error) is raised
        else:
            assert not issubclass(raised, (KeyboardInterrupt, SystemExit))
        finally:
            del bridge.receivers[failing]
        assert future.done() and future.result() == 42

    run(main())


def test_a_progress_callback_that_cancels_is_told_the_rest(log: Log, caplog: pytest.LogCaptureFixture) -> None:
    """SPEC 5.9, 16.2: the call goes on, whatever its audience does."""
    told = []

    def cancels(event: trunkline.Event) -> None:
        told.append(event["progress"])
        raise asyncio.CancelledError

    async def main() -> None:
        async with opened(log) as (_pool, _session, lease):
            await lease.call_tool("progress", {"steps": 3}, progress=cancels)

    run(main())
    assert told == [1, 2, 3] and "a progress callback failed" in caplog.text


@pytest.mark.parametrize("raised", [asyncio.CancelledError, KeyboardInterrupt])
def test_what_a_logging_handler_raises_costs_no_request_its_answer(raised: type[BaseException]) -> None:
    """SPEC 15.1, 16.2."""
    begun: list[int] = []

    class Desk(_desks.Desk):
        def _begin(self, number: int, request: ServerRequest) -> None:
            begun.append(number)

    class Scripted:
        def take(self) -> list[tuple[str, int, str]]:
            fields = '"kind": "elicitation", "server": "s", "entry_index": 0, "generation": 1, "session": "a"'
            return [("logged", 0, "{}"), ("asked", 1, f'{{{fields}, "method": "m", "params": {{}}}}')]

    def logging(event: trunkline.Event) -> None:
        raise raised

    desk = Desk({"logging": logging, "elicitation": print})
    script: Any = Scripted()
    desk.native = script
    try:
        desk._look()
    except KeyboardInterrupt:
        assert raised is KeyboardInterrupt
    else:
        assert raised is asyncio.CancelledError
    assert begun == [1]


def test_an_end_that_a_logging_handler_asks_for_ends_no_handlers(log: Log) -> None:
    """SPEC 15.1, 16.2: those of the blocking API have a thread that nobody waits for."""
    logged = threading.Event()

    def logging(event: trunkline.Event) -> None:
        logged.set()
        raise SystemExit

    handlers = {"logging": logging, "elicitation": lambda request: {"action": "decline"}}
    with trunkline.sync.Pool() as pool, pool.session("a", servers=[], handlers=handlers) as session:
        with session.acquire("s", log.server()) as lease:
            lease.call_tool("log", {"text": "heard"})
            assert logged.wait(HANG)
            asked = lease.call_tool("ask", {"method": "elicitation/create", "params": {"message": "?"}}, timeout=HANG)
            assert "decline" in text(asked)


def test_an_event_callback_is_called_again_whatever_it_raises(log: Log) -> None:
    """SPEC 16.2."""
    told: list[str] = []

    def callback(event: trunkline.Event) -> None:
        told.append(event.type)
        raise asyncio.CancelledError

    with trunkline.sync.Pool() as pool, pool.session("a", servers=[]) as session:
        with pool.on_event(callback, kinds="status_changed"), session.acquire("s", log.server()):
            wait_until(lambda: len(told) > 1, "it is called again", HANG / 3)


@pytest.mark.parametrize("raised", [KeyboardInterrupt, asyncio.CancelledError, SystemExit])
def test_what_gets_out_of_a_progress_callback_cancels_a_blocking_call(log: Log, raised: type[BaseException]) -> None:
    """SPEC 5.5, 16.2: as it does while the call waits."""

    def interrupt(event: trunkline.Event) -> None:
        raise raised

    with trunkline.sync.Pool() as pool, pool.session("a", servers=[]) as session:
        with session.acquire("s", log.server()) as lease:
            with pytest.raises(raised):
                lease.call_tool("progress", ENDLESS, progress=interrupt)
            wait_until(lambda: text(lease.call_tool("cancelled")) == "1", "it is cancelled", HANG / 3)


def test_a_session_that_is_not_entered_is_closed(log: Log) -> None:
    """SPEC 2.1, 16.2: a task that is cancelled while it opens has nothing to close it by."""

    async def main() -> None:
        async with trunkline.Pool(start_gate=HANG) as pool:
            await pool.reconcile({"s": log.server("--initialize-delay-ms", "60000")})
            session = pool.session("a")
            entering = asyncio.ensure_future(session.__aenter__())
            await asyncio.sleep(0)
            entering.cancel()
            with pytest.raises(asyncio.CancelledError):
                await entering
            with pytest.raises(trunkline.ClosedError):
                session.tools()

    run(main())


def test_a_blocking_session_that_is_not_entered_is_closed() -> None:
    """SPEC 2.1, 16.2."""
    with trunkline.sync.Pool() as pool:
        session = pool.session("a", servers=[])

        def started() -> Any:
            raise KeyboardInterrupt

        session.started = started  # type: ignore[method-assign]
        with pytest.raises(KeyboardInterrupt), session:
            raise AssertionError("it is not entered")
        with pytest.raises(trunkline.ClosedError):
            session.tools()


def test_a_pool_that_is_left_in_a_cancelled_scope_is_closed(log: Log) -> None:
    """SPEC 9.7, 16.2: to cancel its close ends the wait alone."""
    scope = trunkline.sync.CancelScope()
    with pytest.raises(trunkline.CancelledError), scope, trunkline.sync.Pool() as pool:
        events = pool.events()
        pool.session("a", servers=[]).acquire("s", log.server())
        scope.cancel()
    wait_until(lambda: not log.running(), "its servers end", HANG / 3)
    with pytest.raises(StopIteration):
        while events.next(timeout=HANG / 3):
            pass


def threads_of_handlers() -> list[str]:
    names = {"trunkline-handlers", "trunkline-logging"}
    return [thread.name for thread in threading.enumerate() if thread.name in names]


def test_a_close_that_is_cancelled_ends_the_threads_of_handlers(log: Log) -> None:
    """SPEC 9.7, 16.2: once the pool is closed, however long the host keeps it."""
    pool, scope = trunkline.sync.Pool(handlers={"logging": print}), trunkline.sync.CancelScope()
    pool.session("a", servers=[]).acquire("s", log.server())
    assert threads_of_handlers()
    scope.cancel()
    with pytest.raises(trunkline.CancelledError), scope:
        pool.close()
    wait_until(lambda: not threads_of_handlers(), "they end", HANG / 3)
    assert pool.status()


def test_a_close_whose_task_is_cancelled_ends_its_handlers(log: Log) -> None:
    """SPEC 9.7, 16.2: what one awaits is cancelled."""

    async def main() -> None:
        begun, ended = asyncio.Event(), asyncio.Event()

        async def logging(event: trunkline.Event) -> None:
            begun.set()
            try:
                await asyncio.sleep(HANG)
            finally:
                ended.set()

        pool = trunkline.Pool(handlers={"logging": logging})
        lease = await pool.session("a", servers=[]).acquire("s", log.server())
        await lease.call_tool("log", {"text": "heard"})
        await asyncio.wait_for(begun.wait(), HANG / 3)
        closing = asyncio.ensure_future(pool.aclose())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        await asyncio.wait_for(ended.wait(), HANG / 3)
        assert pool.status()

    run(main())


def test_a_close_whose_task_is_cancelled_ends_the_pool(log: Log) -> None:
    """SPEC 9.7, 16.2, I-16: its streams too, no matter who waits for it."""

    async def main() -> None:
        pool = trunkline.Pool()
        stream = pool.events(kinds="failed")
        await pool.session("a", servers=[]).acquire("s", log.server())
        closing = asyncio.ensure_future(pool.aclose())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        assert await asyncio.wait_for(anext(stream, None), HANG / 3) is None

    run(main())
