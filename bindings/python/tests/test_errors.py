"""Exceptions: one class for each row of the registry (SPEC 5.12), and panics as errors (SPEC 16.2)."""

from __future__ import annotations

import builtins
import json
import pickle
from typing import Any

import pytest

import trunkline
from trunkline import _errors, _options, _trunkline

ROWS: list[dict[str, Any]] = _options.registry()["errors"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_each_code_has_its_class(row: dict[str, Any]) -> None:
    """SPEC 5.12."""
    error = _errors.from_json(
        json.dumps({"code": row["name"], "message": "so", "retryable": True, "detail": {}})
    )
    assert type(error) is getattr(trunkline, row["python_class"])
    assert error.code == row["name"]
    if row["python_base"] is not None:
        assert isinstance(error, getattr(builtins, row["python_base"]))


def test_no_class_is_without_a_code() -> None:
    classes = {getattr(trunkline, row["python_class"]) for row in ROWS}
    assert set(trunkline.TrunklineError.__subclasses__()) == classes


FULL = {
    "code": "call_interrupted",
    "number": 21,
    "message": "the connection was lost",
    "retryable": False,
    "server": "s",
    "session": "a",
    "outcome": "unknown",
    "hint": "look",
    "detail": {"generation": 2},
    "cause": {"code": "exited", "message": "gone", "retryable": True, "detail": {"status": 3}},
}


def test_an_error_carries_everything() -> None:
    """SPEC 5.6, 5.12."""
    error = _errors.from_json(json.dumps(FULL), '{"secret":1}')
    assert isinstance(error, trunkline.CallInterruptedError)
    for name in ("code", "message", "retryable", "server", "session", "outcome", "hint", "detail"):
        assert getattr(error, name) == FULL[name], name
    assert error.arguments == {"secret": 1}
    assert isinstance(error.__cause__, trunkline.ConnectError)
    assert error.__cause__.detail == {"status": 3}
    assert str(error) == "s: the connection was lost"
    assert "secret" not in repr(error) and "secret" not in str(error)


@pytest.mark.parametrize(("given", "back"), [("", {}), ("[1]", [1]), ("{", "{"), (None, None)])
def test_arguments_are_given_back_whatever_they_are(given: str | None, back: Any) -> None:
    """SPEC 5.6."""
    assert _errors.from_json(json.dumps(FULL), given).arguments == back


def test_an_error_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(_errors.from_json(json.dumps(FULL))))
    assert type(error) is trunkline.CallInterruptedError
    assert (error.server, error.detail, str(error)) == ("s", {"generation": 2}, "s: the connection was lost")


def test_an_unknown_code_is_still_an_error_of_ours() -> None:
    """SPEC 9.4: readers tolerate what they do not know."""
    text = json.dumps({"code": "new", "message": "so", "retryable": False, "detail": {}})
    assert type(_errors.from_json(text)) is trunkline.TrunklineError


def test_a_timeout_is_the_builtin_one_as_well() -> None:
    error = trunkline.TimeoutError("late")
    assert isinstance(error, builtins.TimeoutError) and str(error) == "late"


def test_a_panic_is_an_internal_error_with_its_place(capfd: pytest.CaptureFixture[str]) -> None:
    """SPEC 16.2: and nothing is printed."""
    with pytest.raises(trunkline.InternalError) as caught:
        _trunkline._panic()
    assert "asked to" in str(caught.value)
    assert "lib.rs" in caught.value.detail["place"]
    assert capfd.readouterr() == ("", "")
