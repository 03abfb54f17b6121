"""Reports, the status and events: classes that are mappings as well."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

import trunkline
import trunkline.sync
from trunkline import events, reports
from trunkline._records import Record, record
from trunkline._results import event_of

from behaviour_types import check_types
from host import HANG, Log

SETTLED = {"v": 1, "servers": {"s": {"state": "failed", "source": "runtime", "error": {"code": "exited", "message": "m"}}}}


def test_a_report_is_its_json_and_has_attributes() -> None:
    report = record(reports.SettledReport, SETTLED)
    assert report == SETTLED and json.loads(json.dumps(report)) == SETTLED and dict(report) == SETTLED
    assert report.servers["s"].error.code == report["servers"]["s"]["error"]["code"] == "exited"
    assert report.servers["s"].file is None and "file" not in report["servers"]["s"]
    with pytest.raises(AttributeError, match="a SettledServer has no member 'stat'"):
        report.servers["s"].stat
    assert repr(report).startswith("SettledReport({'v': 1, 'servers': {'s': SettledServer({")
    assert {"servers", "v", "items"} <= set(dir(report))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_a_copy_of_a_report_is_one(copied) -> None:
    report = copied(record(reports.SettledReport, SETTLED))
    assert type(report) is reports.SettledReport and report == SETTLED
    assert report.servers["s"].state == "failed"


def test_attributes_are_in_seconds_and_words_of_python_end_otherwise() -> None:
    row = record(reports.RestartRow, {"entry_index": 0, "restarted": True, "duration_ms": 1500})
    assert (row.duration, row["duration_ms"], row.reason) == (1.5, 1500, None)
    explained = record(reports.Explanation, {"from": {"source": "user", "line": 3}})
    assert (explained.from_.source, explained.from_.line, explained.from_.file) == ("user", 3, None)
    entry = record(reports.EntryStatus, {"uptime_ms": None})
    assert entry.uptime is None


def test_no_member_is_called_like_a_method_of_dict() -> None:
    """It would not be an attribute."""
    for class_ in [*vars(reports).values(), *events.KINDS.values()]:
        if isinstance(class_, type) and issubclass(class_, (Record, trunkline.Event)):
            for base in set(class_.__mro__) - set(dict.__mro__):
                assert not set(getattr(base, "__annotations__", {})) & set(dir(dict)), class_


def test_every_kind_of_event_has_a_class() -> None:
    """SPEC 16.5."""
    kinds = [row["type"] for row in trunkline._options.registry()["events"]]
    assert list(events.KINDS) == kinds
    for kind, class_ in events.KINDS.items():
        event = event_of(f'{{"v":1,"seq":1,"type":"{kind}","scope":"pool"}}')
        assert type(event) is class_ and isinstance(event, trunkline.Event)
        assert event.kind == event.type == event["type"] == kind
        assert pickle.loads(pickle.dumps(event)).text == event.text


def test_an_event_of_an_unknown_kind_is_an_event() -> None:
    event = event_of('{"v":1,"seq":1,"type":"invented","scope":"pool","extra":1}')
    assert type(event) is trunkline.Event and (event.kind, event["extra"]) == ("invented", 1)


def test_an_event_has_its_members_as_attributes() -> None:
    event = event_of('{"v":1,"seq":7,"type":"reconnected","scope":"session","session":"a","server":"s","attempts":2,"downtime_ms":250}')
    assert (event.downtime, event.attempts, event.entry_index) == (0.25, 2, None)
    assert dict(event)["downtime_ms"] == event["downtime_ms"] == 250
    assert repr(event) == "<Reconnected 7 reconnected session='a' server='s'>"
    with pytest.raises(AttributeError, match="a Reconnected has no member 'attempt'"):
        event.attempt
    failed = event_of('{"v":1,"seq":8,"type":"failed","scope":"session","error":{"code":"exited","detail":{}}}')
    assert isinstance(failed, events.Failed) and failed.error.code == "exited" and failed.error.server is None
    match event:
        case events.Reconnected(attempts=attempts):
            assert attempts == 2
        case _:
            raise AssertionError(event)


def test_what_the_library_says_is_as_its_classes_have_it(log: Log) -> None:
    with trunkline.sync.Pool() as pool, pool.session("a") as session:
        for report in (
            pool.reconcile({"s": log.server(), "bad": {"command": ""}}),
            pool.add_server("t", {"command": "true", "comand": 1}),
            pool.remove_server("t"),
            pool.set_gates(excluded=["t"]),
            pool.switch_source("user", "off"),
            pool.reload(),
            pool.approvals(),
            pool.forget("s"),
            session.started(),
            pool.settled(timeout=HANG),
            session.explain("s"),
            pool.explain("nowhere"),
            pool.restart("s"),
            trunkline.detect(),
            pool.events().snapshot,
            session.introduction("s"),
            pool.status(processes=True),
            pool.drain_all(),
        ):
            assert isinstance(report, Record)
            check_types(report)
