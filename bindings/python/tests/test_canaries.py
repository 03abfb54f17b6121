"""Secrets in what a host configures, looked for in all that Python shows of it (S-48, SECURITY row 13)."""

from __future__ import annotations

import json
import os
import pickle
import re
import traceback
from pathlib import Path
from typing import Any

import pytest

import trunkline
import trunkline.sync

from host import HANG, Log, server_program

INPUTS = Path(__file__).parents[3] / "tests" / "canaries.json"

#: A mark of the inputs, with the place that it stands at.
MARK = re.compile(r"CANARY [A-Za-z ]+")


class Shown:
    """All that was shown, and where."""

    def __init__(self) -> None:
        self._texts: list[tuple[str, str]] = []

    def keep(self, place: str, *things: object) -> None:
        for thing in things:
            self._texts += [(place, repr(thing)), (place, str(thing))]

    def keep_error(self, place: str, error: BaseException) -> None:
        self.keep(place, error, vars(error), "".join(traceback.format_exception(error)), pickle.dumps(error))

    def places_of(self, secret: str) -> list[str]:
        return [f"{place}: {text[:400]}" for place, text in self._texts if secret in text]

    def __len__(self) -> int:
        return len(self._texts)


def inputs() -> tuple[dict[str, Any], dict[str, str]]:
    """The inputs, and the place of each canary in them."""
    places: dict[str, str] = {}

    def canary(mark: re.Match[str]) -> str:
        secret = f"q{len(places):02}Zcanary{97 - len(places):02}Y"
        places[secret] = mark.group().removeprefix("CANARY ")
        return secret

    text = MARK.sub(canary, INPUTS.read_text())
    return json.loads(text.replace('"SERVER"', json.dumps(server_program()))), places


def use(shown: Shown, session: trunkline.sync.Session, server: str) -> None:
    """Acquires a server, and calls it."""
    try:
        lease = session.acquire(server, timeout=HANG)
    except trunkline.TrunklineError as error:
        return shown.keep_error("acquire", error)
    shown.keep("lease", lease, *lease.tools())
    for tool in ("pid", "nothing", "fail", "crash"):
        try:
            shown.keep("result", lease.call_tool(tool))
        except trunkline.TrunklineError as error:
            shown.keep_error("call", error)


def test_no_secret_is_shown(log: Log, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    """S-48."""
    caplog.set_level(1)
    logs = trunkline.start_logs("trace")
    given, places = inputs()
    shown = Shown()
    with trunkline.sync.Pool(cache="off") as pool, pool.events() as events:
        for refused in given["refused"]:
            with pytest.raises((trunkline.TrunklineError, TypeError, ValueError)) as raised:
                report = pool.reconcile({"refused": refused})
                shown.keep("report", report)
                raise ValueError(report["servers"]["refused"])
            shown.keep_error("refused", raised.value)
        shown.keep("report", pool.reconcile(given["servers"]))
        with pool.session("a", servers=[]) as session:
            for server in given["servers"]:
                use(shown, session, server)
                shown.keep("explain", pool.explain(server), session.explain(server))
            shown.keep("objects", pool, session, events, *session.tools())
            shown.keep("status", pool.status(processes=True), pool.metrics(processes=True))
        shown.keep("snapshot", events.snapshot)
    shown.keep("event", *events)
    logs.close()
    assert any(record.name.startswith("trunkline.") for record in caplog.records)
    shown.keep("log", *(record.__dict__ for record in caplog.records))
    shown.keep("output", capfd.readouterr())
    assert len(places) >= 20 and len(shown) > 100
    seen = {place: shown.places_of(secret)[0] for secret, place in places.items() if shown.places_of(secret)}
    assert not seen
    if scores := os.environ.get("TRUNKLINE_SCORES"):
        with open(scores, "a", encoding="utf-8") as file:
            file.write(f"canary {len(places)}\n")
