"""Options: Python names and float seconds, from the library's own table (SPEC 16.5)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import ChainMap, UserDict
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any

import pytest

import trunkline
import trunkline.sync
from trunkline import _options, _trunkline


def encoded(scope: Any, **options: Any) -> Any:
    return json.loads(_options.encode(scope, options))


def test_durations_are_seconds_without_suffix() -> None:
    """SPEC 16.5: nested ones as well, and those inside lists."""
    assert encoded("pool", drain_delay=0.5, workers=2) == {"drain_delay_ms": 500, "workers": 2}
    reconnect = {"delays": {"local": [1, 0.25]}, "breaker": {"window": 3}, "healthy_after": 1}
    assert encoded("pool", reconnect=reconnect) == {
        "reconnect": {
            "delays_ms": {"local": [1000, 250]},
            "breaker": {"window_ms": 3000},
            "healthy_after_ms": 1000,
        }
    }


def test_a_short_time_is_never_none() -> None:
    assert encoded("call", timeout=0.0001) == {"timeout_ms": 1}
    assert encoded("drain", timeout=0) == {"timeout_ms": 0}


def test_none_is_the_default_and_sets_are_lists() -> None:
    assert encoded("session", id="a", servers={"t", "s"}, keep_for=None) == {
        "id": "a",
        "servers": ["s", "t"],
    }


def test_every_option_of_the_table_has_its_python_name() -> None:
    """SPEC 16.5."""
    for scope in ("pool", "session", "call", "acquire", "drain"):
        for row in _options.registry()["options"][scope]:
            assert row["python"] == row["name"].removesuffix("_ms"), (scope, row)
            assert (row.get("unit") == "milliseconds") == row["name"].endswith("_ms"), row


def test_a_host_that_begins_reads_no_table_that_it_does_not_use() -> None:
    """The whole of them takes as long as the pool itself."""
    program = """
import trunkline.sync
with trunkline.sync.Pool(start="lazy") as pool, pool.session("a") as session:
    session.events(kinds="tools_changed").close()
options = trunkline._options
print(options._registry, [*options._tables])
"""
    printed = subprocess.check_output([sys.executable, "-c", program], text=True)
    assert printed == "{} ['pool', 'session']\n"


@pytest.mark.parametrize("scope", list(_options.registry()["options"]))
def test_the_names_of_a_scope_are_those_of_the_whole_table(scope: str) -> None:
    """SPEC 16.5."""
    whole = _options.registry()["options"][scope]
    names = json.loads(_trunkline.option_names(scope))
    assert [row["name"] for row in names] == [row["name"] for row in whole]
    if scope != "server":
        assert names == _without_texts(whole)


def _without_texts(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    kept = [{name: row[name] for name in row if name not in ("type", "default", "doc")} for row in rows]
    for row in kept:
        if "members" in row:
            row["members"] = _without_texts(row["members"])
    return kept


def test_every_event_has_its_bit() -> None:
    """SPEC 8.1."""
    rows = _options.registry()["events"]
    assert _trunkline.event_bits() == {row["type"]: 1 << row["bit"] for row in rows}


@pytest.mark.parametrize(
    ("options", "option", "nearest"),
    [
        ({"drain_dely": 1}, "drain_dely", "drain_delay"),
        ({"drain_delay_ms": 1}, "drain_delay_ms", "drain_delay"),
        ({"WORKERS": 1}, "WORKERS", "workers"),
        ({"limits": {"proceses": 1}}, "limits.proceses", "limits.processes"),
    ],
)
def test_an_unknown_option_is_named_with_its_neighbour(
    options: dict[str, Any], option: str, nearest: str
) -> None:
    """SPEC 16.5."""
    with pytest.raises(trunkline.InvalidArgumentError) as caught:
        trunkline.Pool(**options)
    assert caught.value.code == "unknown_option"
    assert caught.value.detail == {"option": option, "nearest": nearest}
    assert option in str(caught.value) and nearest in str(caught.value)


@pytest.mark.parametrize("option", ["qqqq", "drain", "\udcff"])
def test_an_unknown_option_that_is_near_to_none_has_no_neighbour(option: str) -> None:
    """SPEC 16.5."""
    with pytest.raises(trunkline.InvalidArgumentError) as caught:
        trunkline.Pool(**{option: 1})
    assert (caught.value.message, caught.value.detail) == (f"unknown option {option}", {"option": option})
    assert caught.value.hint == _trunkline.advice("unknown_option")


@pytest.mark.parametrize("value", ["5", True, -1, float("nan"), float("inf"), [1]])
def test_a_duration_that_is_no_time_is_refused(value: Any) -> None:
    with pytest.raises(trunkline.InvalidArgumentError) as caught:
        trunkline.Pool(drain_delay=value)
    assert caught.value.code == "invalid_argument"
    assert caught.value.detail == {"path": "drain_delay"}


@pytest.mark.parametrize(
    ("timeout", "range_of"), [(0, "from 0.001 to 604800, not 0"), (1e8, "from 0.001 to 604800, not 1")]
)
def test_a_duration_out_of_its_range_is_told_in_seconds(timeout: float, range_of: str) -> None:
    """SPEC 16.5."""
    with pytest.raises(trunkline.InvalidArgumentError, match=range_of) as caught:
        trunkline.Pool(call_timeout=timeout)
    assert caught.value.detail == {"path": "call_timeout"}


def test_the_library_checks_ranges_and_types() -> None:
    """SPEC 16.5."""
    with pytest.raises(ValueError, match="workers"):
        trunkline.Pool(workers=0)


def test_a_text_that_is_no_unicode_is_refused() -> None:
    """SPEC 16.5: half a surrogate pair in an option, where nothing waits."""
    for options in ({"workspace": "\ud800"}, {"inherit_env": ["\ud800"]}):
        with pytest.raises(trunkline.InvalidArgumentError, match="UTF-8"):
            trunkline.Pool(**options)
    with trunkline.sync.Pool() as pool, pytest.raises(trunkline.InvalidArgumentError):
        pool.session("\ud800")


def test_an_unknown_event_type_is_refused() -> None:
    with pytest.raises(trunkline.InvalidArgumentError, match="tool_changed"):
        _options.mask(["tool_changed"])
    assert _options.mask("tools_changed") == 2
    assert _options.mask(None) == (1 << 64) - 1


@pytest.mark.parametrize("arguments", [{"a": object()}, {"a": float("nan")}, {1j: 2}])
def test_arguments_that_are_no_json_are_refused(arguments: Any) -> None:
    with pytest.raises(trunkline.InvalidArgumentError, match="arguments"):
        _options.arguments_text(arguments)


@pytest.mark.parametrize("kind", [MappingProxyType, ChainMap, UserDict])
def test_any_mapping_is_an_object(kind: Any) -> None:
    """SPEC 16.1: as the types say, at any depth."""
    given = kind({"command": "c", "env": kind({"A": "1"})})
    expected = {"command": "c", "env": {"A": "1"}}
    assert json.loads(_options.config_text(given)) == expected
    assert json.loads(_options.arguments_text(given)) == expected
    assert encoded("call", meta=kind({"a": kind({"b": 1})})) == {"meta": {"a": {"b": 1}}}
    given_options = kind({"delays": kind({"local": [0.5]}), "breaker": kind({"window": 2})})
    expected_options = {"delays_ms": {"local": [500]}, "breaker": {"window_ms": 2000}}
    assert encoded("pool", reconnect=given_options) == {"reconnect": expected_options}
    with pytest.raises(trunkline.InvalidArgumentError) as unwritable:
        encoded("pool", limits=kind({"processes": object()}))
    assert unwritable.value.detail["path"] == "limits.processes"
    with trunkline.sync.Pool() as pool:
        assert list(pool.reconcile(kind({"s": given}))["servers"]) == ["s"]


@pytest.mark.parametrize(
    ("seconds", "written"),
    [([60, 0.1], [60000, 100]), ((5,), [5000]), (5, [5000]), ([], []), ([0.05], None), ([1, 4000], None), (["1"], None)],
)
def test_a_list_of_waits_is_in_seconds(seconds: Any, written: list[int] | None) -> None:
    """SPEC 8.1, 16.5: each of them is within its range."""
    if written is not None:
        assert encoded("pool", reconnect={"revive": seconds}) == {"reconnect": {"revive_ms": written}}
        return
    with pytest.raises(trunkline.InvalidArgumentError) as refused:
        encoded("pool", reconnect={"revive": seconds})
    assert refused.value.detail["path"] == "reconnect.revive"


def test_arguments_that_contain_themselves_are_refused() -> None:
    loop: dict[str, Any] = {}
    loop["again"] = loop
    with pytest.raises(trunkline.InvalidArgumentError):
        _options.arguments_text(loop)


def test_a_path_is_written_as_its_text(tmp_path: Path) -> None:
    """SPEC 16.5: in lists as well, and beside others."""
    assert encoded("pool", workspace=tmp_path, drain_delay=1) == {"workspace": str(tmp_path), "drain_delay_ms": 1000}
    assert encoded("session", id="a", roots=[tmp_path, "."]) == {"id": "a", "roots": [str(tmp_path), "."]}
    assert json.loads(_options.roots_text((tmp_path, "."))) == [str(tmp_path), "."]
    with trunkline.sync.Pool(workspace=tmp_path, roots=[tmp_path]) as pool:
        pool.set_roots([tmp_path])


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"workers": 1, "workspace": object()}, "workspace"),
        ({"roots": [object()]}, "roots"),
        ({"limits": {"processes": 1, "in_flight_per_session": 1j}}, "limits.in_flight_per_session"),
        ({"inherit_env": {"A", object()}}, "inherit_env"),
        ({"workspace": "\udcff"}, "workspace"),
        ({"workspace": PurePath("\udcff")}, "workspace"),
    ],
)
def test_an_option_that_is_no_json_is_named(options: dict[str, Any], path: str) -> None:
    """SPEC 16.5."""
    with pytest.raises(trunkline.InvalidArgumentError) as caught:
        trunkline.Pool(**options)
    assert caught.value.detail == {"path": path}
