"""The workloads of kept catalogs, for the benchmark's Python client: what they are is in tests/bench/src/cached.rs.

As a program it is the host: its arguments are how servers start, the folder of kept catalogs, and the servers as JSON. It prints after how
many seconds it had its pool, reconciled, had its session, and had a list of all tools.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import time

import trunkline
from measure import cpu, show

SERVERS = 10
TOOLS = 20
HOSTS = 20
PARTS = ("pool", "reconcile", "session", "listed")


async def measure_cached(server):
    args = ["--generated-only", "--tools", str(TOOLS), "--label", "words " * 50]
    servers = {f"s{number}": {"command": server, "args": args} for number in range(SERVERS)}
    with tempfile.TemporaryDirectory() as folder:
        async with trunkline.Pool(cache=folder) as pool:
            await pool.reconcile(servers)
            await pool.session("a").ready()
        for start in ("lazy", "eager"):
            began, before = time.perf_counter(), cpu()
            command = [sys.executable, __file__, start, folder, json.dumps(servers)]
            hosts = [json.loads(subprocess.check_output(command)) for _ in range(HOSTS)]
            took = (time.perf_counter() - began, cpu() - before)
            show(f"cached-{start}", HOSTS, *took, [moments[-1] for moments in hosts])
            for number, part in enumerate(PARTS):
                times = [moments[number] - [0, *moments][number] for moments in hosts]
                show(f"cached-{start}-{part}", HOSTS, *took, times)


async def host(began, start, folder, servers):
    clock = time.perf_counter
    async with trunkline.Pool(cache=folder, start=start) as pool:
        made = clock()
        await pool.reconcile(json.loads(servers))
        reconciled = clock()
        session = pool.session("a")
        opened = clock()
        events = session.events(kinds="tools_changed")
        while len(session.tools()) < SERVERS * TOOLS:
            await anext(events)
        listed = clock()
        print([moment - began for moment in (made, reconciled, opened, listed)])


if __name__ == "__main__":
    asyncio.run(host(time.perf_counter(), *sys.argv[1:]))
