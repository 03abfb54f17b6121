"""The workloads of a start, for the benchmark's Python clients: what they are is in tests/bench/src/starts.rs."""

import os
import tempfile
import time

from measure import cpu, show

SERVERS = 10
SLOW = (0, 1, 3)
SLOW_MS = 2000
STARTS = 2


class ListLog:
    """Where the servers of one start write when they listed their tools."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "lists")

    def arguments(self, number, slow):
        late = ["--initialize-delay-ms", str(SLOW_MS)] if number < slow else []
        return ["--list-log", self.path, *late]

    def last_of(self, count):
        """The last moment of those that have listed, which are so many."""
        with open(self.path) as lines:
            moments = [int(line) / 1e9 for line in lines]
        assert len(moments) == count, f"{len(moments)} servers listed"
        return max(moments)


async def measure_starts(start):
    """Measures `start(slow, log)`, which ends all that it began. It gives how long the first list took, or none, and after what was
    listed, and how long the last server took."""
    for slow in SLOW:
        began, before = time.perf_counter(), cpu()
        times = []
        for _ in range(STARTS):
            with tempfile.TemporaryDirectory() as folder:
                times.append(await start(slow, ListLog(folder)))
        took, used = time.perf_counter() - began, cpu() - before
        for name, values in zip(("first", "late", "ready"), zip(*times)):
            if None not in values:
                show(f"start-{name}-{slow}", STARTS, took, used, list(values))
