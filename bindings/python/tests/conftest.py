"""Fixtures: a start log whose processes must be gone when the test ends; and what is not run."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from host import Log, score


#: The real servers are not installed, and this is a machine where that may be.
WITHOUT_REAL = "TRUNKLINE_REAL_SERVERS" not in os.environ and "CI" not in os.environ

collect_ignore = ["test_real.py"] if WITHOUT_REAL else []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if WITHOUT_REAL:
        terminalreporter.write_line("NOT RUN: test_real.py, since TRUNKLINE_REAL_SERVERS is not set")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Writes down for the scoreboard what the passed tests of a module put to the test, where the module says what that is."""
    report = yield
    row = getattr(getattr(item, "module", None), "SCORE", None)
    if row and report.when == "call" and report.passed:
        score(row, 1)
    return report


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's files are read or written, and nothing of another test."""
    monkeypatch.setenv("TRUNKLINE_HOME", str(tmp_path / "home"))


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    log = Log(tmp_path / "starts.log")
    yield log
    gc.collect()
    log.settle()
