"""The workloads of a library that is loaded, for the benchmark's Python clients.

As a program it is a host that has just begun: its arguments are the library (trunkline or mcp) and the server. What it prints is beyond
an interpreter with asyncio and json, whichever the library.
"""

import asyncio
import gc
import json
import os
import subprocess
import sys
import time

HOSTS = 3
FEW, MANY = 1, 50


def measure_loading(library, server):
    """Reads what some hosts printed, one after the other, and shows what is in the middle."""
    from measure import show

    command = [sys.executable, __file__, library, server]
    # The first one compiles what it imports.
    subprocess.check_output(command)
    hosts = [json.loads(subprocess.check_output(command)) for _ in range(HOSTS)]

    def middle(figure):
        return sorted(host[figure] for host in hosts)[HOSTS // 2]

    if "ready" in hosts[0]:
        times = [host["ready"] for host in hosts]
        show("pool-ready", HOSTS, sum(times), 0.0, times)
    print(json.dumps({"workload": "import"} | {name: middle(name) for name in ("import_us", "import_cpu_us")}))
    for count in (FEW, MANY):
        figures = {"kib": middle(f"kib_{count}"), "threads": middle(f"threads_{count}")}
        print(json.dumps({"workload": f"import-{count}"} | figures), flush=True)


def private_kib():
    gc.collect()
    with open("/proc/self/smaps_rollup") as lines:
        fields = [line.split() for line in lines]
    return sum(int(line[1]) for line in fields if line[0] in ("Private_Clean:", "Private_Dirty:"))


def threads():
    return len(os.listdir("/proc/self/task"))


async def host(library, server):
    before = private_kib()
    began, cpu = time.perf_counter(), time.process_time()
    connected = IMPORTS[library]()
    figures = {
        "import_us": (time.perf_counter() - began) * 1e6,
        "import_cpu_us": (time.process_time() - cpu) * 1e6,
    }

    def look(count):
        figures[f"kib_{count}"] = private_kib() - before
        figures[f"threads_{count}"] = threads()

    await connected(began, server, figures, look)
    print(json.dumps(figures))


def import_trunkline():
    import trunkline

    async def connected(began, server, figures, look):
        async with trunkline.Pool(cache="off") as pool:
            await pool.reconcile({})
            figures["ready"] = time.perf_counter() - began
            session = pool.session("a", servers=[])
            await pool.reconcile({f"s{number}": {"command": server} for number in range(MANY)})
            leases = []
            for count in (FEW, MANY):
                for number in range(len(leases), count):
                    leases.append(await session.acquire(f"s{number}"))
                look(count)

    return connected


def import_mcp():
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    async def connected(_began, server, _figures, look, count=0):
        if count in (FEW, MANY):
            look(count)
        if count == MANY:
            return
        # A connection is a context within that of the one before.
        async with stdio_client(StdioServerParameters(command=server)) as (read, write):
            async with ClientSession(read, write) as session:
                await session.initialize()
                await session.list_tools()
                await connected(_began, server, _figures, look, count + 1)

    return connected


IMPORTS = {"trunkline": import_trunkline, "mcp": import_mcp}

if __name__ == "__main__":
    asyncio.run(host(*sys.argv[1:]))
