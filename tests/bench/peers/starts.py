"""The workloads of a start, for the benchmark's Python clients: what they are is in tests/bench/src/starts.rs."""

import os
import tempfile
import time

from measure import cpu, show

SERVERS = 10
SLOW = (0, 1, 3)
SLOW_MS = 2000
STARTS = 2
#: How often, a millisecond apart, a log is looked at for what is about to be written.
LOOKS = 1000


class ListLog:
    """Where the servers of one start write when they listed their tools."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "lists")

    def arguments(self, number, slow):
        late = ["--initialize-delay-ms", str(SLOW_MS)] if number < slow else []
        return ["--list-log", self.path, *late]

    def last_of(self, count):
        """The last moment of those that have listed, which are so many. Each writes it down after its answer, so that the last
        ones may still be about to."""
        moments = self._moments()
        for _ in range(LOOKS):
            if len(moments) >= count:
                break
            time.sleep(0.001)
            moments = self._moments()
        assert len(moments) == count, f"{len(moments)} servers listed"
        return max(moments)

    def _moments(self):
        if not os.path.exists(self.path):
            return []
        with open(self.path) as lines:
            return [int(line) / 1e9 for line in lines]


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
