"""The workload of an agent's turns for the benchmark's Python client: the lists of 1,000 tools, which are the same each time."""

import json
import time

import trunkline
from measure import cpu

TOOLS = 1000
TURNS = 500
SHAPE = "openai"


async def measure_turns(server):
    args = ["--generated-only", "--tools", str(TOOLS), "--label", "words " * 50]
    async with trunkline.Pool(cache="off") as pool, pool.session("a") as session:
        await pool.reconcile({"s": {"command": server, "args": args}})
        await session.ready("s")
        for name, turn in (("turn-tools", session.tools), ("turn-tools-for", lambda: session.tools_for(SHAPE))):
            assert len(turn()) == TOOLS
            times, before = [], cpu()
            for _ in range(TURNS):
                began = time.perf_counter()
                turn()
                times.append(time.perf_counter() - began)
            line = {"workload": name, "p50_us": sorted(times)[TURNS // 2] * 1e6, "cpu_us": (cpu() - before) * 1e6 / TURNS}
            print(json.dumps(line), flush=True)
