"""SPEC 16.1: the behaviour suite through the asyncio and the blocking API; each case cites its own rows."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from behaviour import Case
from behaviour_hosts import AioHost, SyncHost
from host import ROOT, Log


def cases() -> list[dict[str, Any]]:
    folder = Path(os.environ.get("TRUNKLINE_BEHAVIOUR", ROOT / "tests/behaviour"))
    found: list[dict[str, Any]] = []
    for file in sorted(folder.glob("*.json")):
        content = json.loads(file.read_text())
        found += content if isinstance(content, list) else [content]
    assert found, f"no cases in {folder}"
    names = [case["name"] for case in found]
    assert len(set(names)) == len(names), "two cases of one name"
    return found


@pytest.mark.parametrize("kind", [AioHost, SyncHost], ids=["asyncio", "sync"])
@pytest.mark.parametrize("case", cases(), ids=lambda case: case["name"])
def test_behaviour(
    case: dict[str, Any], kind: type[AioHost] | type[SyncHost], log: Log, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    host = kind()
    try:
        Case(host, case, folder, log).run()
    finally:
        host.close()
