"""What is over keeps no byte, neither of Python's nor of the library's (I-25).

What kept a few each time would be seen by nothing else.
"""

from __future__ import annotations

import json
import os

import pytest

from host import HANG, Log, ended_well, python

#: Seconds that one of the processes may take: it does everything a thousand times.
BOUND = 4 * HANG

#: What happens again and again in a process of its own, by name: each coroutine
#: function is one round.
PROGRAM = """
import asyncio, ctypes, gc, json, sys, time
from concurrent.futures import ThreadPoolExecutor
import trunkline, trunkline.sync

kind, server = sys.argv[1], json.loads(sys.argv[2])
WARM, ROUNDS, WINDOWS, HANG = 700, 300, 3, 90
# Of calls that nobody waits for any more the numbers are kept for a while, in a table that doubles.
SLACK = 24 << 10 if kind in ("late", "cancelled", "together") else 4 << 10


class Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Mallinfo2


def allocated():
    info = libc.mallinfo2()
    return info.uordblks + info.hblkhd


def at_rest():
    deadline = time.monotonic() + HANG
    for _ in range(3):
        gc.collect()
    last, since = allocated(), time.monotonic()
    while time.monotonic() - since < 0.1:
        assert time.monotonic() < deadline, "it never rests"
        time.sleep(0.01)
        # The look itself makes numbers.
        if abs((now := allocated()) - last) > 256:
            last, since = now, time.monotonic()
    return last


async def call(pool, session, lease):
    await lease.call_tool("echo", {"message": "m"})


async def exposed(pool, session, lease):
    await session.call_tool("mcp__s__echo", {"message": "m"})


async def failed(pool, session, lease):
    try:
        await session.call_tool("mcp__s__nothing")
    except trunkline.TrunklineError:
        return
    raise AssertionError("there is no such tool")


async def late(pool, session, lease):
    try:
        await lease.call_tool("sleep", {"ms": 60_000}, timeout=0.001)
    except trunkline.TimeoutError:
        return
    raise AssertionError("it takes longer")


async def cancelled(pool, session, lease):
    task = asyncio.ensure_future(lease.call_tool("sleep", {"ms": 60_000}))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()


async def together(pool, session, lease):
    await asyncio.gather(*(lease.call_tool("echo", {"message": "m"}) for _ in range(5)))


async def progress(pool, session, lease):
    seen = []
    await lease.call_tool("progress", {"steps": 2, "interval_ms": 0}, progress=seen.append)
    assert len(seen) == 2


async def acquired(pool, session, lease):
    async with session.acquire("s"):
        pass


async def dropped(pool, session, lease):
    await session.acquire("s")


async def opened(pool, session, lease):
    async with pool.session("b", servers=[]) as other, other.acquire("s", server):
        pass


async def listed(pool, session, lease):
    assert len(session.tools()) > 1 and lease.tools() and pool.status()["servers"]


async def events(pool, session, lease):
    async with session.events() as stream:
        assert stream.snapshot["v"] == 1
    pool.events()


async def pools(pool, session, lease):
    async with trunkline.Pool() as other:
        other.session("a", servers=[])
        other.events()


async def handled(pool, session, lease):
    async with pool.session("b", servers=[], handlers={"elicitation": print, "logging": print}):
        pass


async def heard(pool, session, lease):
    heard = pool.on_event(lambda event: None)
    heard.close()


async def loops(pool, session, lease):
    await asyncio.wrap_future(THREAD.submit(lambda: asyncio.run(call(pool, session, lease))))


async def blocking(pool, session, lease):
    with BLOCKING.session("b", servers=[]) as other, other.acquire("s", server) as held:
        held.call_tool("echo", {"message": "m"})


async def main():
    async with trunkline.Pool() as pool, pool.session("a", servers=["s"]) as session:
        async with session.acquire("s", server) as lease:
            one_round = globals()[kind]
            # Python itself takes 200 kB more once it has had five hundred loops, and no more after that.
            for _ in range(WARM):
                await one_round(pool, session, lease)
            # The allocator counts what it leaves unused inside of its chunks too, and that wanders by some kilobytes in both
            # directions while chunks change hands. What is kept grows each time.
            windows = []
            while not windows or (windows[-1] >= SLACK and len(windows) < WINDOWS):
                before = at_rest()
                for _ in range(ROUNDS):
                    await one_round(pool, session, lease)
                windows.append(at_rest() - before)
            print(f"{kind}: {windows} bytes in {ROUNDS} rounds each")
            assert min(windows) < SLACK, f"{kind}: {windows} bytes in {ROUNDS} rounds each"

THREAD = ThreadPoolExecutor(1)
if kind == "blocking":
    with trunkline.sync.Pool() as BLOCKING, BLOCKING.session("a", servers=[]) as kept, kept.acquire("s", server):
        asyncio.run(main())
else:
    asyncio.run(main())
"""

KINDS = "call exposed failed late cancelled together progress acquired dropped opened listed events pools handled heard loops blocking".split()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_over_keeps_no_byte(log: Log, kind: str) -> None:
    """I-25."""
    # Python's own objects are the allocator's too, which keeps nothing of what was freed
    # apart by thread, where it counts as allocated.
    environment = {**os.environ, "PYTHONMALLOC": "malloc", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
    done = python(PROGRAM, kind, json.dumps(log.server()), env=environment, timeout=BOUND)
    print(done.stdout)
    ended_well(done)
