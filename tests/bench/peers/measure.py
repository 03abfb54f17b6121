"""The workloads and figures of the benchmark's Python clients: the contract is in tests/bench/src/lib.rs."""

import asyncio
import contextlib
import json
import os
import resource
import subprocess
import time

WIDTH = 64
WARM_UP = 0.1
MEASURED = 0.4
CALLS_MIN = 200
SIZES = ((100, "100"), (100_000, "100k"))


def is_wanted(group):
    """Whether a group of workloads is to be carried out."""
    return group in os.environ.get("BENCH_ONLY", group).split(",")


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def pages():
    """Pages that the system gave so far: memory that is given back and taken again costs them."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def show(name, calls, took, cpu_s, times=None, taken=None):
    line = {"workload": name, "calls": calls, "calls_per_s": calls / took, "cpu_us": cpu_s * 1e6 / calls}
    if taken is not None:
        line["pages"] = taken / calls
    if times:
        times.sort()
        line["p50_us"] = times[(calls - 1) // 2] * 1e6
        line["p99_us"] = times[int((calls - 1) * 0.99)] * 1e6
    print(json.dumps(line), flush=True)


async def sequential(name, call, size):
    clock = time.perf_counter
    end = clock() + WARM_UP
    while clock() < end:
        await call(size)
    times = []
    started, before, had = clock(), cpu(), pages()
    while clock() - started < MEASURED or len(times) < CALLS_MIN:
        start = clock()
        await call(size)
        times.append(clock() - start)
    show(name, len(times), clock() - started, cpu() - before, times, pages() - had)


async def warm_acquire(acquire):
    """Measures `acquire()`, whose lease is released at once."""
    for _ in range(CALLS_MIN):
        (await acquire()).release()
    times = []
    clock = time.perf_counter
    started, before = clock(), cpu()
    while clock() - started < MEASURED:
        start = clock()
        (await acquire()).release()
        times.append(clock() - start)
    show("acquire", len(times), clock() - started, cpu() - before, times)


async def wide(name, call, size):
    clock = time.perf_counter
    started, before, had = clock(), cpu(), pages()

    async def caller():
        calls = 0
        while clock() - started < MEASURED:
            await call(size)
            calls += 1
        return calls

    calls = sum(await asyncio.gather(*(caller() for _ in range(WIDTH))))
    show(name, calls, clock() - started, cpu() - before, taken=pages() - had)


async def measure_bytes(call):
    """Measures `call(size)`, which looks at the bytes that come back, and at nothing in them."""
    size, name = SIZES[-1]
    await sequential(f"seq-{name}-bytes", call, size)


async def measure_http(call):
    """Measures `call(size)` over Streamable HTTP."""
    await sequential("http-100", call, SIZES[0][0])


@contextlib.contextmanager
def http_server(server):
    """The server over Streamable HTTP; gives its address. It ends with its input."""
    with subprocess.Popen([server, "--http", "0", "--http-faults", "json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process.stdout.readline().strip()
        process.stdin.close()


async def measure(call):
    """Measures `call(size)`, which calls the tool `big` and looks at the text that comes back."""
    for size, name in SIZES:
        await sequential(f"seq-{name}", call, size)
        await wide(f"wide-{name}", call, size)
