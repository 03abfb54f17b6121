"""Calls that wait alone, one after another, whose answers the event loop reads itself: SPEC 5.3-5.6, 16.2; DESIGN 6."""

from __future__ import annotations

import asyncio
import collections
import gc
import json
import os
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
import trunkline
import uvloop

from host import HANG, Log, call_alone, is_answered, opened, python, run, text, wait_until

#: What a bug of this kind shows only now and then.
REPETITIONS = 12

ROUND = 200

# libuv has pipes of its own from the first loop on.
uvloop.new_event_loop().close()


def pipes() -> list[str]:
    """The pipes that this process reads, each as often as it has it open."""
    found = []
    for number in os.listdir("/proc/self/fd"):
        try:
            link = os.readlink(f"/proc/self/fd/{number}")
            # The link says how it is open: the ends of a pipe have one name.
            mode = os.lstat(f"/proc/self/fd/{number}").st_mode
        except OSError:
            continue
        if link.startswith("pipe:") and not mode & 0o200:
            found.append(link)
    return found


def is_on_loan() -> bool:
    """Whether a pipe is polled by another descriptor than the library's."""
    return any(count > 1 for count in collections.Counter(pipes()).values())


def sleeps() -> int:
    """How often the threads beside the loop's went to sleep."""
    count = 0
    for thread in os.listdir("/proc/self/task"):
        if int(thread) != os.getpid():
            with open(f"/proc/self/task/{thread}/status", encoding="ascii") as status:
                count += int(re.findall(r"^voluntary_ctxt_switches:\s+(\d+)", status.read(), re.M)[0])
    return count


@pytest.fixture(autouse=True)
def no_descriptor_is_left() -> Iterator[None]:
    before = collections.Counter(pipes())
    yield
    gc.collect()
    wait_until(lambda: not collections.Counter(pipes()) - before, "pipes are left")


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    deadline = time.monotonic() + HANG
    while not await holds():
        assert time.monotonic() < deadline, "it never holds"
        await asyncio.sleep(0.001)


async def until_on_loan(lease: trunkline.Lease) -> None:
    """Calls until the loop reads for this lease: the more at a time the more often that was in vain."""
    times = 20

    async def look() -> bool:
        nonlocal times
        await call_alone(lease, times)
        times = 1_500
        return is_on_loan()

    await until(look)


async def failure(call: Awaitable[Any]) -> trunkline.TrunklineError:
    with pytest.raises(trunkline.TrunklineError) as raised:
        await call
    return raised.value


def ended(pool: trunkline.Pool) -> int:
    """How many calls have ended."""
    found = re.findall(r"mcp_client_operation_duration_seconds_count\S+ (\d+)", pool.metrics())
    return int(found[0]) if found else 0


@pytest.mark.parametrize("loop", [asyncio.SelectorEventLoop, uvloop.new_event_loop])
def test_they_are_answered_without_another_thread(log: Log, loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def main() -> None:
        async with opened(log) as (_, _, lease):

            async def look() -> bool:
                asleep = sleeps()
                await call_alone(lease)
                return is_on_loan() and sleeps() - asleep < ROUND / 10

            await until(look)

    made = loop()
    try:
        made.run_until_complete(asyncio.wait_for(main(), HANG))
    finally:
        made.close()


def test_their_answer_is_left_to_the_library_while_the_loop_is_blocked(log: Log) -> None:
    async def main() -> None:
        async with opened(log) as (pool, _, lease):
            await until_on_loan(lease)
            before, end = ended(pool), time.monotonic() + HANG
            call = asyncio.ensure_future(lease.call_tool("echo", {"message": "late"}))
            await asyncio.sleep(0)
            while ended(pool) == before and time.monotonic() < end:
                pass
            assert ended(pool) == before + 1
            assert text(await call) == "late"

    run(main())


def test_they_do_not_hold_up_others_that_begin_meanwhile(log: Log) -> None:
    async def main() -> None:
        async with opened(log) as (_, _, lease):
            for _ in range(REPETITIONS):
                await until_on_loan(lease)
                order: list[str] = []

                async def call(tool: str, arguments: dict[str, Any], order: list[str] = order) -> None:
                    await lease.call_tool(tool, arguments)
                    order.append(tool)

                await asyncio.gather(call("sleep", {"ms": 30}), call("echo", {"message": "x"}))
                assert order == ["echo", "sleep"]

    run(main())


def test_they_have_large_answers_and_errors(log: Log) -> None:
    async def main() -> None:
        async with opened(log) as (_, _, lease):
            for size in (100_000, 1_000_000):
                await until_on_loan(lease)
                for _ in range(20):
                    answer = await lease.call_tool("big", {"bytes": size})
                    assert len(text(answer)) == size
                    assert len(answer.raw) > size
            await until_on_loan(lease)
            error = await failure(lease.call_tool("error", {"code": -32099, "message": "no"}))
            assert error.detail["code"] == -32099

    run(main())


def test_they_have_progress_which_is_told_before_the_answer(log: Log) -> None:
    async def main() -> None:
        async with opened(log) as (_, _, lease):
            for _ in range(REPETITIONS):
                await until_on_loan(lease)
                told: list[Any] = []
                await lease.call_tool("progress", {"steps": 3}, progress=told.append)
                assert len(told) == 3

    run(main())


def test_what_the_server_says_beside_them_is_left_to_the_library(log: Log) -> None:
    """SPEC 4.3."""
    line = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'

    async def main() -> None:
        async with opened(log) as (_, _, lease):
            await until_on_loan(lease)

            async def listed() -> int:
                return int(text(await lease.call_tool("seen", {"method": "tools/list"})))

            before = await listed()
            await until_on_loan(lease)
            await lease.call_tool("write", {"line": line})

            async def is_listed() -> bool:
                return await listed() > before

            await until(is_listed)

    run(main())


def test_they_end_when_they_are_given_up_or_their_time_is_over(log: Log) -> None:
    async def main() -> None:
        async with opened(log) as (_, _, lease):
            for _ in range(REPETITIONS):
                await until_on_loan(lease)
                call = asyncio.ensure_future(lease.call_tool("sleep", {"ms": 60_000}))
                await asyncio.sleep(0)
                call.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await call
                await until_on_loan(lease)
                late = await failure(lease.call_tool("sleep", {"ms": 60_000}, timeout=0.005))
                assert isinstance(late, trunkline.TimeoutError)
            await call_alone(lease)

    run(main())


def test_they_end_when_their_server_dies_and_its_pipe_is_closed(log: Log) -> None:
    async def main() -> None:
        for _ in range(REPETITIONS):
            async with opened(log) as (_, _, lease):
                await until_on_loan(lease)
                error = await failure(lease.call_tool("crash", {"code": 3}))
                assert (error.code, error.outcome) == ("call_interrupted", "unknown")

                async def is_over() -> bool:
                    return not is_on_loan()

                await until(is_over)

    run(main())


def test_they_end_with_their_session_and_with_their_pool(log: Log) -> None:
    async def main() -> None:
        async with opened(log) as (pool, session, lease):
            await until_on_loan(lease)
            call = asyncio.ensure_future(failure(lease.call_tool("sleep", {"ms": 60_000})))
            await asyncio.sleep(0)
            session.close()
            assert (await call).code == "cancelled"
            other = await pool.session("b", servers=[]).acquire("s", log.server())
            await until_on_loan(other)
            call = asyncio.ensure_future(failure(other.call_tool("sleep", {"ms": 60_000})))
            await asyncio.sleep(0)
            await pool.drain_all(force=True, timeout=1)
            assert (await call).code in ("call_interrupted", "cancelled", "closed")

    run(main())


def test_nothing_is_on_loan_once_nothing_is_in_flight(log: Log) -> None:
    async def main() -> None:
        async with opened(log) as (_, _, lease):
            await until_on_loan(lease)

            async def is_over() -> bool:
                return not is_on_loan()

            await until(is_over)

    run(main())


def test_a_loop_that_ends_amid_one_leaves_the_lease_to_others(log: Log) -> None:
    """SPEC 16.2: with its loop closed, and with one that goes on afterwards."""
    pool, lease = None, None

    async def begin() -> None:
        nonlocal pool, lease
        if pool is None:
            pool = trunkline.Pool()
            lease = await pool.session("a", servers=[]).acquire("s", log.server())
        assert lease is not None
        await until_on_loan(lease)
        asyncio.get_running_loop().create_task(lease.call_tool("sleep", {"ms": 60_000}))
        await asyncio.sleep(0)

    for ends in (True, False) * (REPETITIONS // 2):
        loop = asyncio.new_event_loop()
        loop.run_until_complete(asyncio.wait_for(begin(), HANG))
        assert lease is not None
        if ends:
            loop.run_until_complete(_cancelled(loop))
            loop.close()
            run(call_alone(lease))
        else:
            run(call_alone(lease))
            loop.run_until_complete(_cancelled(loop))
            loop.close()
    assert pool is not None
    run(pool.aclose())


async def _cancelled(loop: asyncio.AbstractEventLoop) -> None:
    others = asyncio.all_tasks(loop) - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.wait(others)


class _Unable(asyncio.SelectorEventLoop):
    """A loop that cannot watch some descriptor."""

    raised: list[BaseException] = []
    error: type[BaseException] = ValueError

    def add_reader(self, fd: Any, callback: Any, *args: Any) -> None:
        if args:
            self.raised.append(self.error("descriptor out of range"))
            raise self.raised[-1]
        super().add_reader(fd, callback, *args)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_loop_that_cannot_watch_leaves_them_to_the_library(log: Log, error: type[BaseException]) -> None:
    loop = _Unable()
    loop.error, loop.raised = error, []

    async def main() -> None:
        async with opened(log) as (pool, _, lease):
            # The more of them, the seldomer a loop is asked.
            while len(loop.raised) < 4:
                try:
                    await call_alone(lease)
                except KeyboardInterrupt:
                    assert error is KeyboardInterrupt
            assert is_answered(pool)
            loop.error = ValueError
            await call_alone(lease)

    loop.run_until_complete(asyncio.wait_for(main(), HANG))
    loop.close()


def test_a_forked_child_reads_nothing_of_its_parent(log: Log) -> None:
    """SPEC 16.3."""

    async def main() -> None:
        async with opened(log) as (_, _, lease):
            for _ in range(REPETITIONS):
                await until_on_loan(lease)
                child = os.fork()
                if child == 0:
                    os._exit(_outcome_in_child(lease))
                await call_alone(lease)
                assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    run(main())


def _outcome_in_child(lease: trunkline.Lease) -> int:
    loop = asyncio.new_event_loop()
    asyncio.events._set_running_loop(None)
    try:
        loop.run_until_complete(lease.call_tool("echo", {"message": "x"}))
    except trunkline.ForkedError:
        return 0
    return 1


def test_a_process_ends_by_itself_after_calls_one_after_another(log: Log) -> None:
    program = """
import asyncio, json, sys, trunkline
async def main():
    pool = trunkline.Pool()
    lease = await pool.session("a", servers=[]).acquire("s", json.loads(sys.argv[1]))
    for number in range(3000):
        await lease.call_tool("echo", {"message": "x"})
    lease.call_tool("sleep", {"ms": 60000}).send(None)
asyncio.run(main())
print("end")
"""
    for _ in range(REPETITIONS):
        done = python(program, json.dumps(log.server()))
        assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")
    log.settle()
