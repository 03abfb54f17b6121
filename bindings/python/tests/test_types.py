"""What an editor and a type checker know of the package."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

TYPED = Path(__file__).parent / "typed"


def by_mypy() -> set[tuple[str, int]]:
    """The lines that mypy refuses."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", "/dev/null", "right.py", "wrong.py"]
    done = subprocess.run(command, cwd=TYPED, capture_output=True, text=True)
    found = re.findall(r"^(\w+\.py):(\d+): error:", done.stdout, re.MULTILINE)
    assert found, done.stdout + done.stderr
    return {(name, int(line)) for name, line in found}


def by_pyright() -> set[tuple[str, int]]:
    """The lines that pyright refuses."""
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "right.py", "wrong.py"]
    done = subprocess.run(command, cwd=TYPED, capture_output=True, text=True)
    rows = json.loads(done.stdout)["generalDiagnostics"]
    return {(Path(row["file"]).name, row["range"]["start"]["line"] + 1) for row in rows if row["severity"] == "error"}


@pytest.mark.parametrize("refused_by", [by_mypy, by_pyright])
def test_typos_are_refused_and_nothing_else(refused_by) -> None:
    """SPEC 16.5: options, words, members of reports and of events."""
    lines = (TYPED / "wrong.py").read_text().splitlines()
    marked = {("wrong.py", number) for number, line in enumerate(lines, 1) if line.endswith("# refused")}
    refused = refused_by()
    assert sorted(marked - refused) == [] and sorted(refused - marked) == []
