"""What the tests of the Python package share: the reference server, and the processes that are left."""

from __future__ import annotations

import asyncio
import http.client
import os
import subprocess
import sys
import time
import urllib.parse
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import trunkline

T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[3]

#: Seconds after which a test counts as hung; far more than a slow machine needs.
HANG = 90.0


def score(row: str, times: int) -> None:
    """Writes down for the scoreboard that a promise was put to the test so many times, and kept."""
    if scores := os.environ.get("TRUNKLINE_SCORES"):
        with open(scores, "a", encoding="utf-8") as file:
            file.write(f"{row} {times}\n")


def server_program() -> str:
    """The path of the reference server."""
    path = os.environ.get("TRUNKLINE_TESTSERVER")
    if path is None:
        path = str(ROOT / "target/debug/trunkline-testserver")
    if not Path(path).is_file():
        raise RuntimeError(f"no reference server at {path}: set TRUNKLINE_TESTSERVER")
    return path


def fault_program() -> str:
    """The fault server, which is beside the reference server."""
    return str(Path(server_program()).with_name("trunkline-faultserver"))


class Log:
    """A start log: each line is a process that a reference server was or started."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def server(self, *flags: str) -> dict[str, Any]:
        """The configuration of a reference server that writes this log."""
        return {"command": server_program(), "args": [*flags, "--start-log", str(self.path)]}

    def fault_server(self, *flags: str) -> dict[str, Any]:
        """The same of a fault server."""
        return {**self.server(*flags), "command": fault_program()}

    def lines(self) -> list[tuple[int, str]]:
        if not self.path.exists():
            return []
        lines = (line.split(" ") for line in self.path.read_text().splitlines())
        return [(int(pid), role) for pid, role in lines]

    def starts(self) -> int:
        return sum(role == "server" for _, role in self.lines())

    def running(self) -> list[int]:
        return [pid for pid, _ in self.lines() if is_running(pid)]

    def settle(self, within: float = HANG) -> None:
        """Waits until no process of it runs."""
        wait_until(lambda: not self.running(), f"processes of {self.path.name} are left", within)


class RemoteServer:
    """A reference server, or another, that is reached by an address, which it prints; it runs as long as the block."""

    def __init__(self, *flags: str, program: str | None = None) -> None:
        command = [program or server_program(), *flags]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)

    def __enter__(self) -> RemoteServer:
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip()
        assert self.address, "a remote server printed no address"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


def visit(address: str) -> str:
    """Visits an address as a person does; where it redirects to."""
    parts = urllib.parse.urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    try:
        connection.request("GET", f"{parts.path}?{parts.query}")
        location = connection.getresponse().getheader("location")
    finally:
        connection.close()
    assert location, "no redirect"
    return location


def is_running(pid: int) -> bool:
    """Whether the process runs, or is a dead child that nobody has waited for."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    state, parent = stat.rpartition(")")[2].split()[:2]
    return state != "Z" or int(parent) == os.getpid()


def wait_until(holds: Any, otherwise: str, within: float = HANG) -> None:
    deadline = time.monotonic() + within
    while not holds():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.005)


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """``asyncio.run`` with a bound."""
    return asyncio.run(asyncio.wait_for(coroutine, HANG))


def text(result: Any) -> str:
    """The text of a result's first block."""
    found: str = result.content[0]["text"]
    return found


def python(program: str, *args: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs a Python program in a process of its own, and says how it ended."""
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", program, *args],
        capture_output=True,
        text=True,
        **{"timeout": HANG, **options},
    )


def ended_well(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0 and not done.stderr, (done.returncode, done.stdout, done.stderr)


@asynccontextmanager
async def opened(log: Log, *flags: str) -> AsyncIterator[tuple[trunkline.Pool, trunkline.Session, trunkline.Lease]]:
    """A pool, a session and a lease of a reference server."""
    async with trunkline.Pool() as pool, pool.session("a", servers=[]) as session:
        yield pool, session, await session.acquire("s", log.server(*flags))


async def call_alone(lease: trunkline.Lease, times: int = 200) -> None:
    """Calls one after another."""
    for number in range(times):
        assert text(await lease.call_tool("echo", {"message": f"alone {number}"})) == f"alone {number}"


def is_answered(pool: trunkline.Pool) -> bool:
    """Whether no call of a server is in flight."""
    count: int = pool.status()["servers"]["s"]["entries"][0]["in_flight"]
    return count == 0
