"""The workload of a list that changed and many sessions, for the benchmark's Python client: what it is is in tests/bench/src/crowd.rs.

Beside its time, how often the loop woke up for the library between the change and the last event, less the once that the answer of the
call takes.
"""

import asyncio
import json
import time

import trunkline
from measure import cpu

SESSIONS = 1000
CHANGES = 10

#: Between one change and the next: lists are read again four times a second at most.
BETWEEN = 0.3


async def measure_crowd(server):
    async with trunkline.Pool(cache="off") as pool:
        await pool.reconcile({"s": {"command": server, "args": ["--list-changes"]}})
        sessions = [pool.session(str(number), servers=[]) for number in range(SESSIONS)]
        leases = [await session.acquire("s") for session in sessions]
        streams = [session.events(kinds="tools_changed") for session in sessions]
        wakes = count_wakes(asyncio.get_running_loop())
        lists = await seen(leases[0])
        times, woken, before = [], [], cpu()
        for turn in range(CHANGES):
            waiting = [asyncio.ensure_future(anext(stream)) for stream in streams]
            await asyncio.sleep(BETWEEN)
            began, first = time.perf_counter(), wakes()
            await leases[0].call_tool("change_list", {("remove" if turn % 2 else "add"): ["sometimes"]})
            await asyncio.gather(*waiting)
            times.append(time.perf_counter() - began)
            woken.append(wakes() - first - 1)
        used = cpu() - before
        line = {
            "workload": f"fan-out-{SESSIONS}",
            "p50_us": sorted(times)[CHANGES // 2] * 1e6,
            "cpu_us": used * 1e6 / CHANGES,
            "lists": (await seen(leases[0]) - lists) / CHANGES,
            "wakes": sorted(woken)[CHANGES // 2],
        }
        print(json.dumps(line), flush=True)


async def seen(lease):
    result = await lease.call_tool("seen", {"method": "tools/list"})
    return int(result.content[0]["text"])


def count_wakes(loop):
    """Counts how often the loop's selector found something to read; nothing but the library has a descriptor there."""
    woken = 0
    select = loop._selector.select

    def counted(timeout=None):
        nonlocal woken
        found = select(timeout)
        woken += bool(found)
        return found

    loop._selector.select = counted
    return lambda: woken
