"""The examples of pages, as programs that run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from host import HANG, ROOT, Log, ended_well, fault_program, server_program

BLOCK = re.compile(r"^```(python|diff)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def registered() -> list[str]:
    """The pages whose examples ``docs/examples.txt`` says are run here."""
    lines = (ROOT / "docs/examples.txt").read_text().splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    return [row[0] for row in rows if row[3:] == ["python"]]


def examples(*pages: str) -> list[tuple[str, str]]:
    """The examples of pages of the repository, each with a name."""
    found = []
    for page in pages:
        found_here = BLOCK.findall((ROOT / page).read_text())
        blocks = [after(block) if language == "diff" else block for language, block in found_here]
        assert blocks, f"no example in {page}"
        found += [(f"{Path(page).name} {number}", block) for number, block in enumerate(blocks, 1)]
    return found


def printing(page: str) -> list[tuple[str, str, str]]:
    """The examples of a page, each with what the page says that it prints."""
    printed = re.findall(r"^```text\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    return [(*example, text) for example, text in zip(examples(page), printed, strict=True)]


def after(diff: str) -> str:
    """The program that a diff of two leads to."""
    return "\n".join(line[1:] for line in diff.splitlines() if not line.startswith("-"))


def run_example(
    name: str, program: str, tmp_path: Path, starts: int | None = 1, programs: Path | None = None
) -> str:
    """Each is a whole program; ``trunkline-testserver`` stands for a server that users have. Says what it printed.

    ``starts`` is how many servers it is to start, or None where that is its own affair. ``programs`` is a folder
    whose programs it finds before others: they write down their starts themselves.
    """
    log = Log(tmp_path / "starts.log")
    is_demo = '"-m", "trunkline", "demo"' in program
    program = program.replace('"trunkline-testserver"', json.dumps(server_program()))
    program = program.replace('"trunkline-faultserver"', json.dumps(fault_program()))
    # The demo server of the package writes no log of its starts.
    if programs is None and not is_demo:
        program = program.replace('"args": [', f'"args": ["--start-log", {json.dumps(str(log.path))}, ')
    # Never the decisions of the person who runs the tests.
    env = {**os.environ, "TRUNKLINE_HOME": str(tmp_path / "home")}
    if programs is not None:
        env["PATH"] = f"{programs}{os.pathsep}{env['PATH']}"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=HANG,
        cwd=tmp_path,
        env=env,
    )
    ended_well(done)
    log.settle()
    assert is_demo or starts is None or log.starts() == starts, f"{name} started {log.starts()} servers"
    return done.stdout


def assert_prints(name: str, program: str, printed: str, tmp_path: Path) -> None:
    """Runs an example, which prints that. A page has no spaces at the ends of its lines."""
    assert re.sub(r" +$", "", run_example(name, program, tmp_path), flags=re.MULTILINE) == printed
