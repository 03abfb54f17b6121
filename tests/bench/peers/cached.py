"""The workloads of kept catalogs, for the benchmark's Python client: what they are is in tests/bench/src/cached.rs.

As a program it is the host: its arguments are how servers start, the folder of kept catalogs, and the server.
"""

import asyncio
import subprocess
import sys
import tempfile
import time

import trunkline
from measure import cpu, show

SERVERS = 10
TOOLS = 36
HOSTS = 20


def servers(server):
    return {f"s{number}": {"command": server} for number in range(SERVERS)}


async def measure_cached(server):
    with tempfile.TemporaryDirectory() as folder:
        async with trunkline.Pool(cache=folder) as pool:
            await pool.reconcile(servers(server))
            await pool.session("a").ready()
        for start in ("lazy", "eager"):
            began, before = time.perf_counter(), cpu()
            command = [sys.executable, __file__, start, folder, server]
            times = [float(subprocess.check_output(command)) for _ in range(HOSTS)]
            show(f"cached-{start}", HOSTS, time.perf_counter() - began, cpu() - before, times)


async def host(began, start, folder, server):
    async with trunkline.Pool(cache=folder, start=start) as pool:
        await pool.reconcile(servers(server))
        session = pool.session("a")
        events = session.events(kinds="tools_changed")
        while len(session.tools()) < SERVERS * TOOLS:
            await anext(events)
        print(time.perf_counter() - began)


if __name__ == "__main__":
    asyncio.run(host(time.perf_counter(), *sys.argv[1:]))
