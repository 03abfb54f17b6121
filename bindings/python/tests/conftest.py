"""Fixtures: a start log whose processes must be gone when the test ends."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from host import Log


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    log = Log(tmp_path / "starts.log")
    yield log
    gc.collect()
    log.settle()
