"""The command ``trunkline`` of the package."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import shlex
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

import trunkline

from host import HANG, ROOT, Log, ended_well, python

#: The command that is installed with the package, and the module.
COMMANDS = ([str(Path(sys.executable).with_name("trunkline"))], [sys.executable, "-m", "trunkline"])

#: A call that lasts for many minutes, and tells each step.
LONG_CALL = ["call", "demo", "progress", "steps:=10000", "interval_ms:=100"]


def environment(home: Path) -> dict[str, str]:
    return {**os.environ, "HOME": str(home), "TRUNKLINE_HOME": str(home / "trunkline")}


def settings(home: Path, log: Log, *flags: str) -> None:
    (home / ".cursor").mkdir()
    servers = {"mcpServers": {"demo": log.server(*flags)}}
    (home / ".cursor/mcp.json").write_text(json.dumps(servers))
    (home / "ws").mkdir()


def started(home: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMANDS[0], *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=home / "ws",
        env=environment(home),
    )


@pytest.mark.parametrize("command", COMMANDS, ids=["script", "module"])
def test_the_package_brings_a_server(command: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [*command, "call", "--stdio", shlex.join([*command, "demo"]), "count", "to=2", "interval_ms=0"],
        capture_output=True,
        text=True,
        timeout=HANG,
        env=environment(tmp_path),
    )
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr
    assert done.stderr == "progress 1/2 1 of 2\nprogress 2/2 2 of 2\n"


@pytest.mark.parametrize("command", COMMANDS, ids=["script", "module"])
def test_it_is_the_command_line_of_every_package(command: list[str], log: Log, tmp_path: Path) -> None:
    settings(tmp_path, log, "--tools", "1", "--generated-only")

    def ran(*words: str, read: str = "") -> tuple[int, str, str]:
        done = subprocess.run(
            [*command, *words],
            capture_output=True,
            text=True,
            timeout=HANG,
            cwd=tmp_path / "ws",
            env=environment(tmp_path),
            input=read,
        )
        return done.returncode, done.stdout, done.stderr

    assert ran("--version") == (0, f"trunkline {trunkline.__version__}\n", "")
    written = ROOT / "core/cli/tests/program/golden/help.txt"
    assert ran("--help")[:2] == (0, written.read_text())
    assert ran("tools")[1].splitlines()[1].split() == ["mcp__demo__tool_1", "tool_1"]
    assert ran("call", "demo", "tool_1", "-", read="{}") == (0, "tool_1\n", "")
    exit_code, out, error = ran("call", "nobody", "echo", "--json")
    assert (exit_code, out, json.loads(error)["error"]["code"]) == (8, "", "not_admitted")
    assert ran("nonsense")[0] == 2
    # A run has ended its servers when it is over.
    assert not log.running()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_call_and_its_server(number: signal.Signals, log: Log, tmp_path: Path) -> None:
    settings(tmp_path, log, "--fork-child")
    run = started(tmp_path, *LONG_CALL)
    assert run.stderr is not None and run.stderr.readline() == "progress 1/10000 step 1\n"
    run.send_signal(number)
    run.communicate(timeout=HANG)
    assert run.returncode == 128 + number
    assert len(log.lines()) == 2 and not log.running()


def test_a_second_signal_ends_it_at_once(log: Log, tmp_path: Path) -> None:
    settings(tmp_path, log, "--ignore-eof")
    patient = json.dumps({"exit_grace_ms": 600_000})
    run = started(tmp_path, *LONG_CALL, "--options", patient)
    assert run.stderr is not None and run.stderr.readline() == "progress 1/10000 step 1\n"
    deadline = time.monotonic() + HANG
    while run.poll() is None and time.monotonic() < deadline:
        run.send_signal(signal.SIGINT)
        time.sleep(0.1)
    run.communicate(timeout=HANG)
    assert run.returncode == 130
    log.settle()


def test_signals_are_what_they_were_once_it_is_over(tmp_path: Path) -> None:
    program = """
import os, signal, sys
from trunkline._cli import main
sys.argv = ["trunkline", "--version"]
mine = lambda number, frame: print("mine", number, flush=True)
signal.signal(signal.SIGINT, mine)
assert main() == 0 and main() == 0
assert signal.getsignal(signal.SIGINT) is mine and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
os.kill(os.getpid(), signal.SIGINT)
print("still here", flush=True)
os.kill(os.getpid(), signal.SIGTERM)
print("not any more")
"""
    done = python(program, env=environment(tmp_path))
    version = f"trunkline {trunkline.__version__}\n"
    assert done.stdout == f"{version * 2}mine 2\nstill here\n"
    assert (done.returncode, done.stderr) == (-signal.SIGTERM, "")


def test_it_is_imported_by_its_own_command_alone() -> None:
    ended_well(python("import sys, trunkline; assert 'trunkline._cli' not in sys.modules"))


@pytest.mark.parametrize(("end", "exit_code"), [("q", 0), ("\x03", 130), (signal.SIGTERM, 143)])
def test_the_live_view_gives_the_terminal_back(end: str | signal.Signals, exit_code: int, tmp_path: Path) -> None:
    file = tmp_path / "status.json"
    status = {"totals": {}, "servers": {}, "sessions": ["chat-1"]}
    written = {"v": 1, "pid": 7, "written_at_ms": int(time.time() * 1000), "period_ms": 3_600_000, "status": status}
    file.write_text(json.dumps(written))
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 30, 110, 0, 0))
    before = termios.tcgetattr(theirs)
    words = [*COMMANDS[1], "status", "--host", str(file), "--watch", "--interval", "0.1"]
    process = subprocess.Popen(
        words, stdin=theirs, stdout=theirs, stderr=theirs, env={**environment(tmp_path), "TERM": "xterm"}
    )
    try:
        shown = b""
        while b"chat-1" not in shown:
            assert select.select([ours], [], [], HANG)[0], shown
            shown += os.read(ours, 4096)
        if isinstance(end, str):
            os.write(ours, end.encode())
        else:
            process.send_signal(end)
        # What is not read holds the program up.
        begun = time.monotonic()
        while process.poll() is None or select.select([ours], [], [], 0)[0]:
            assert time.monotonic() - begun < HANG, shown
            if select.select([ours], [], [], 0.05)[0]:
                shown += os.read(ours, 4096)
        assert process.returncode == exit_code
        assert shown.index(b"\x1b[?1049h") < shown.index(b"\x1b[?1049l") and b"\x1b[?25h" in shown
        assert termios.tcgetattr(theirs) == before
    finally:
        process.kill()
        process.wait()
    os.close(ours)
    os.close(theirs)
