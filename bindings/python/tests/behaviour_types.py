"""Whether reports and events are as their classes say: no member more, none less, each of its type."""

from __future__ import annotations

import types
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import trunkline
from trunkline import events, reports
from trunkline._records import Record

#: What the modules import for checkers alone, and the words that they name.
_NAMES = {"Any": Any, "Literal": Literal, "_Approval": str, "_EntryState": str, "_Scope": str}


def check_types(value: Any) -> None:
    """Fails for a report or an event that is not as its class says."""
    if isinstance(value, (Record, trunkline.Event)):
        _check_members(value)


def _check_members(value: Any) -> None:
    names = {**vars(events), **vars(reports), **_NAMES}
    hints = get_type_hints(type(value), names, names)
    of_base = set(vars(trunkline.Event)) | {"v"} if isinstance(value, trunkline.Event) else set()
    for name in value:
        declared = {name, f"{name}_", name.removesuffix("_ms")} & (hints.keys() | of_base)
        assert declared, f"{type(value).__name__} does not declare {name}: {value}"
    # In a forked child the status is but an error.
    for name, hint in hints.items() if "error" not in value or not isinstance(value, reports.Status) else ():
        found = getattr(value, name)
        assert _conforms(found, hint), f"{type(value).__name__}.{name} is {found!r}, not {hint}"


def _conforms(value: Any, hint: Any) -> bool:
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(_conforms(value, one) for one in inner)
    if origin is Literal:
        return value in inner
    if origin is list:
        return isinstance(value, list) and all(_conforms(one, inner[0]) for one in value)
    if origin is dict:
        return isinstance(value, dict) and all(_conforms(one, inner[1]) for one in value.values())
    if hint is type(None):
        return value is None
    if isinstance(value, bool) and hint is not bool:
        return False
    if hint is float:
        return isinstance(value, (int, float))
    if not isinstance(value, hint):
        return False
    check_types(value)
    return True
