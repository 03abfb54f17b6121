"""Event loops and threads: any task, any loop, many at once, and nothing kept of those that are gone."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import trunkline
import trunkline.sync
import uvloop
from trunkline import _bridge

from host import HANG, Log, run, text


async def ask(lease: trunkline.Lease, count: int, tag: str) -> None:
    """Calls at once, each with an answer of its own."""
    messages = [f"{tag} {number}" for number in range(count)]
    answers = await asyncio.gather(*(lease.call_tool("echo", {"message": m}) for m in messages))
    assert [text(answer) for answer in answers] == messages


def held(log: Log) -> tuple[trunkline.Pool, trunkline.Lease]:
    """A pool and a lease that were made on a loop that is gone."""

    async def hold() -> tuple[trunkline.Pool, trunkline.Lease]:
        pool = trunkline.Pool()
        return pool, await pool.session("a", servers=[]).acquire("s", log.server())

    return run(hold())


def test_a_lease_works_on_any_loop(log: Log) -> None:
    """SPEC 16.2: one after another, and many at once on threads of their own."""
    pool, lease = held(log)
    for turn in range(3):
        run(ask(lease, 5, f"turn {turn}"))
    with ThreadPoolExecutor(8) as threads:
        for done in [threads.submit(run, ask(lease, 40, f"loop {n}")) for n in range(8)]:
            done.result(HANG)
    run(pool.aclose())


def test_tasks_of_one_loop_share_everything(log: Log) -> None:
    """SPEC 16.2: there is no rule of the same task."""

    async def main() -> None:
        async with trunkline.Pool() as pool:
            session = pool.session("a", servers=[])
            lease = await asyncio.create_task(session.acquire("s", log.server()))
            async with asyncio.timeout(HANG) if hasattr(asyncio, "timeout") else lease:
                await asyncio.gather(*(asyncio.create_task(ask(lease, 20, str(n))) for n in range(10)))
            await asyncio.create_task(pool.aclose())

    run(main())


def test_many_results_come_in_one_pass(log: Log) -> None:
    """More than the batch of one pass."""
    pool, lease = held(log)
    run(ask(lease, 900, "many"))
    run(pool.aclose())


def test_blocking_calls_from_many_threads(log: Log) -> None:
    """SPEC 16.2."""
    with trunkline.sync.Pool() as pool, pool.session("a", servers=[]) as session:
        lease = session.acquire("s", log.server())

        def ask_blocking(tag: int) -> None:
            for number in range(50):
                message = f"{tag} {number}"
                assert text(lease.call_tool("echo", {"message": message})) == message

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(ask_blocking, range(8)))


def test_other_threads_run_while_one_waits(log: Log) -> None:
    """The GIL is free during a wait."""
    with trunkline.sync.Pool() as pool, pool.session("a", servers=[]) as session:
        lease = session.acquire("s", log.server())
        done = threading.Event()

        def wait() -> None:
            lease.call_tool("sleep", {"ms": 300})
            done.set()

        waiting = threading.Thread(target=wait)
        waiting.start()
        turns = 0
        while not done.is_set():
            turns += 1
        waiting.join()
        assert turns > 10


def test_a_loop_that_is_gone_leaves_nothing(log: Log) -> None:
    """I-19: neither the bridge nor its descriptor, whether the loop was closed or forgotten."""
    pool, lease = held(log)
    run(ask(lease, 1, "warm"))
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    bridges: list[weakref.ref[Any]] = []

    async def note() -> None:
        await ask(lease, 3, "kept")
        bridges.append(weakref.ref(_bridge.bridge_of(asyncio.get_running_loop())))

    for _ in range(5):
        run(note())
    forgotten = asyncio.new_event_loop()
    forgotten.run_until_complete(note())
    forgotten.close()
    loop = weakref.ref(forgotten)
    del forgotten
    gc.collect()
    assert [bridge() for bridge in bridges] == [None] * 6 and loop() is None
    assert len(os.listdir("/proc/self/fd")) == before
    run(pool.aclose())


def test_a_loop_may_be_closed_with_calls_under_way(log: Log) -> None:
    """I-19: what comes for it later is dropped."""
    pool, lease = held(log)
    loop = asyncio.new_event_loop()
    task = loop.create_task(lease.call_tool("sleep", {"ms": 200}))
    loop.call_later(0.02, loop.stop)
    loop.run_forever()
    loop.close()
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    run(ask(lease, 3, "after"))
    del task, loop
    gc.collect()
    run(ask(lease, 3, "later"))
    run(pool.aclose())


def test_a_coroutine_that_is_dropped_cancels_in_silence(log: Log) -> None:
    """SPEC 5.5: its end comes to nobody, which is no fault for the loop to report."""
    pool, lease = held(log)
    reported: list[dict[str, Any]] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: reported.append(context))
        call = lease.call_tool("sleep", {"ms": 60_000})
        call.send(None)
        while text(await lease.call_tool("under_way")) != "1":
            pass
        call.close()
        while text(await lease.call_tool("cancelled")) != "1":
            pass
        gc.collect()

    run(main())
    assert reported == []
    run(pool.aclose())


def test_a_stream_of_a_loop_that_is_gone_can_be_closed() -> None:
    """I-19: with a task left that waited for it."""
    pool = trunkline.Pool()
    stream = pool.events()
    loop = asyncio.new_event_loop()
    task = loop.create_task(anext(stream, None))
    loop.call_soon(loop.call_soon, loop.stop)
    loop.run_forever()
    loop.close()
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    stream.close()
    run(pool.aclose())


class WithoutReaders(asyncio.SelectorEventLoop):
    """A loop that cannot watch descriptors, as on Windows."""

    def add_reader(  # type: ignore[override]
        self, fd: Any, callback: Callable[..., Any], *args: Any
    ) -> None:
        if callback.__module__ == "trunkline._bridge":
            raise NotImplementedError
        super().add_reader(fd, callback, *args)


def test_a_loop_without_readers_is_served_by_a_thread(log: Log) -> None:
    """SPEC 16.2: that thread ends with its loop."""
    pool, lease = held(log)
    loop = WithoutReaders()
    loop.run_until_complete(asyncio.wait_for(ask(lease, 300, "carried"), HANG))
    names = [thread for thread in threading.enumerate() if thread.name == "trunkline-bridge"]
    assert len(names) == 1
    loop.close()
    names[0].join(HANG)
    assert not names[0].is_alive()
    run(pool.aclose())


def test_a_loop_that_is_not_asyncios_own(log: Log) -> None:
    """SPEC 16.2: uvloop's."""
    pool, lease = held(log)
    loop = uvloop.new_event_loop()
    loop.run_until_complete(asyncio.wait_for(ask(lease, 300, "uv"), HANG))
    loop.close()
    run(pool.aclose())


def test_folders_are_looked_at_beside_the_loop() -> None:
    """SPEC 15.2, 16.4: a file system that is slow holds up nobody else."""

    async def main() -> None:
        async with trunkline.Pool() as pool:
            # As much as may be given, and as long to follow.
            changing = asyncio.ensure_future(pool.set_roots(["/" + "tmp/../" * 500] * 290))
            turns = 0
            while not changing.done():
                turns += 1
                await asyncio.sleep(0)
            await changing
            assert turns > 10

    run(main())


@pytest.fixture
def turns() -> Iterator[list[int]]:
    """How often another thread ran: it does so only where this one gives up the interpreter, since none is made to."""
    interval, counted, over = sys.getswitchinterval(), [0], threading.Event()

    def count() -> None:
        while not over.is_set():
            counted[0] += 1
            time.sleep(0)

    counting = threading.Thread(target=count)
    sys.setswitchinterval(HANG)
    counting.start()
    yield counted
    over.set()
    counting.join()
    sys.setswitchinterval(interval)


@pytest.mark.parametrize("what", ["session", "pool", "detect"])
def test_other_threads_run_while_the_file_system_is_asked(turns: list[int], what: str) -> None:
    """SPEC 15.2, 16.2: a share whose server is away holds up its caller, and nobody else."""
    long = "/" + "tmp/../" * 500
    with trunkline.sync.Pool() as pool:
        for number in range(20):
            before = turns[0]
            if what == "session":
                pool.session(f"{number}", servers=[], roots=[long] * 290)
                moved = turns[0] > before
            elif what == "detect":
                trunkline.detect(long)
                moved = turns[0] > before
            else:
                other = trunkline.sync.Pool(roots=[long] * 290)
                moved = turns[0] > before
                other.close()
            if moved:
                return
    raise AssertionError("no other thread ran")


def naps(thread: threading.Thread) -> int:
    """How often it went to sleep."""
    with open(f"/proc/self/task/{thread.native_id}/status", encoding="ascii") as status:
        return int(re.findall(r"^voluntary_ctxt_switches:\s+(\d+)", status.read(), re.M)[0])


def test_threads_of_the_package_sleep_while_there_is_nothing_to_do() -> None:
    """SPEC 16.2: they are woken for news, and look for none."""
    handlers = {"elicitation": print, "logging": print}
    others = set(threading.enumerate())
    with trunkline.sync.Pool(handlers=handlers) as pool, trunkline.start_logs("error"):
        with pool.on_event(print, kinds="failed"):
            ours = sorted(set(threading.enumerate()) - others, key=lambda thread: thread.name)
            names = ["trunkline-events", "trunkline-handlers", "trunkline-logging", "trunkline-logs"]
            assert [thread.name for thread in ours] == names
            # Twenty slices of a wait for signals: one that looks is found out by then, and one that sleeps never is.
            before = [naps(thread) for thread in ours]
            time.sleep(1)
            counts = [naps(thread) - count for thread, count in zip(ours, before)]
            assert max(counts) < 5, counts
