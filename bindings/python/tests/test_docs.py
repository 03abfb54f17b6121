"""The examples of the documentation run as they stand."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from host import HANG, ROOT, Log, ended_well, server_program

PAGES = [ROOT / "README.md", ROOT / "docs/python.md", ROOT / "bindings/python/README.md"]

BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def examples() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        blocks = BLOCK.findall(page.read_text())
        assert blocks, f"no example in {page}"
        found += [(f"{page.name} {number}", block) for number, block in enumerate(blocks, 1)]
    return found


@pytest.mark.parametrize(("name", "program"), examples(), ids=lambda value: value.splitlines()[0])
def test_an_example_runs(name: str, program: str, tmp_path: Path) -> None:
    """Each is a whole program; ``trunkline-testserver`` stands for a server that users have."""
    log = Log(tmp_path / "starts.log")
    program = program.replace('"trunkline-testserver"', json.dumps(server_program()))
    program = program.replace('"args": [', f'"args": ["--start-log", {json.dumps(str(log.path))}, ')
    # Never the decisions of the person who runs the tests.
    env = {**os.environ, "TRUNKLINE_HOME": str(tmp_path / "home")}
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
    assert log.starts() == 1, f"{name} started {log.starts()} servers"


def test_the_demo_runs(log: Log) -> None:
    servers = json.dumps({"demo": log.server("--list-changes")})
    done = subprocess.run(
        [sys.executable, str(ROOT / "bindings/python/examples/demo.py"), servers],
        capture_output=True,
        text=True,
        timeout=HANG,
    )
    ended_well(done)
    steps = [json.loads(line)["step"] for line in done.stdout.splitlines()]
    assert steps == (
        ["pool"] + ["acquire"] * 2 + ["call"] * 3 + ["change"] * 2 + ["release"] * 2 + ["drain"]
    )
