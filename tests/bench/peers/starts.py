"""The workloads of a start, for the benchmark's Python clients: what they are is in tests/bench/src/starts.rs."""

import time

from measure import cpu, show

SERVERS = 10
SLOW = (0, 1, 3)
SLOW_MS = 2000
STARTS = 2


def arguments(number, slow):
    return ["--initialize-delay-ms", str(SLOW_MS)] if number < slow else []


async def measure_starts(start):
    """Measures `start(slow)`, which ends all that it began and gives the times of the first list, or none, and of the last server."""
    for slow in SLOW:
        began, before = time.perf_counter(), cpu()
        pairs = [await start(slow) for _ in range(STARTS)]
        took, used = time.perf_counter() - began, cpu() - before
        for name, times in zip(("first", "ready"), zip(*pairs)):
            if None not in times:
                show(f"start-{name}-{slow}", STARTS, took, used, list(times))
