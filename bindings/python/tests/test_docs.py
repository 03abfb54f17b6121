"""The examples of the documentation run as they stand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from host import HANG, ROOT, Log, ended_well
from pages import examples, run_example

PAGES = ["README.md", "docs/python.md", "bindings/python/README.md"]


@pytest.mark.parametrize(("name", "program"), examples(*PAGES), ids=lambda value: value.splitlines()[0])
def test_an_example_runs(name: str, program: str, tmp_path: Path) -> None:
    run_example(name, program, tmp_path)


@pytest.mark.parametrize(("name", "program"), examples("docs/cookbook.md"), ids=lambda value: value.splitlines()[0])
def test_a_task_of_the_cookbook_runs(name: str, program: str, tmp_path: Path) -> None:
    assert run_example(name, program, tmp_path, starts=None)


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
