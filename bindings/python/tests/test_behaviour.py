"""SPEC 16.1: the behaviour suite through the asyncio and the blocking API; each case cites its own rows."""

from __future__ import annotations

import json
import multiprocessing
import os
import traceback
import warnings
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from behaviour import Case
from behaviour_hosts import AioHost, SyncHost
from host import ROOT, Log

#: Cases at one time.
WORKERS = 6


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


def outcome(case: dict[str, Any], kind: type[AioHost] | type[SyncHost], place: Path) -> str | None:
    """Runs one case; what failed, as text, since not every error can go from process to process."""
    folder = place / "folder"
    folder.mkdir(parents=True)
    host = kind()
    try:
        Case(host, case, folder, Log(place / "starts.log")).run()
    except BaseException:
        return traceback.format_exc()
    finally:
        host.close()
    return None


@pytest.fixture(scope="module")
def outcomes(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Future[str | None]]]:
    """The cases that were asked for, in several processes: they wait more than they compute."""
    place = tmp_path_factory.mktemp("behaviour")
    wanted = [item for item in request.session.items if isinstance(item, pytest.Function)]
    ours = [item for item in wanted if item.originalname == "test_behaviour"]
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(WORKERS, spawn, warnings.simplefilter, ("error",)) as workers:
        yield {
            item.name: workers.submit(outcome, **item.callspec.params, place=place / str(number))
            for number, item in enumerate(ours)
        }
        workers.shutdown(cancel_futures=True)


@pytest.mark.parametrize("kind", [AioHost, SyncHost], ids=["asyncio", "sync"])
@pytest.mark.parametrize("case", cases(), ids=lambda case: case["name"])
def test_behaviour(
    case: dict[str, Any],
    kind: type[AioHost] | type[SyncHost],
    outcomes: dict[str, Future[str | None]],
    request: pytest.FixtureRequest,
) -> None:
    failed = outcomes[request.node.name].result()
    assert failed is None, failed
