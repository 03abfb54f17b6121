"""The expectations of behaviour cases: patterns over JSON values (``docs/internals/behaviour-steps.md``)."""

from __future__ import annotations

from typing import Any


def fits(value: Any, pattern: Any) -> bool:
    """Whether the value fits the pattern."""
    if isinstance(pattern, dict):
        operators = [name for name in pattern if name.startswith("$")]
        if operators:
            if len(pattern) != 1:
                raise ValueError(f"an operator stands alone: {pattern}")
            return _operate(operators[0], value, pattern[operators[0]])
        return isinstance(value, dict) and all(
            _member_fits(value, name, inner) for name, inner in pattern.items()
        )
    if isinstance(pattern, list):
        return (
            isinstance(value, list)
            and len(value) == len(pattern)
            and all(fits(one, inner) for one, inner in zip(value, pattern))
        )
    return equal(value, pattern)


def _member_fits(value: dict[str, Any], name: str, pattern: Any) -> bool:
    if pattern == {"$absent": True}:
        return value.get(name) is None
    return name in value and fits(value[name], pattern)


def _operate(operator: str, value: Any, operand: Any) -> bool:
    if operator == "$has":
        if isinstance(value, str):
            return isinstance(operand, str) and operand in value
        wanted = operand if isinstance(operand, list) else [operand]
        return isinstance(value, list) and all(
            any(fits(one, inner) for one in value) for inner in wanted
        )
    if operator == "$any":
        return value is not None
    if operator == "$absent":
        return value is None
    if operator == "$not":
        return not fits(value, operand)
    raise ValueError(f"unknown operator {operator}")


def equal(one: Any, other: Any) -> bool:
    """Whether two values are equal as JSON: true is not 1, and 1 is 1.0."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    result: bool = one == other
    return result


class Missing(AssertionError):
    """An expectation that does not hold."""

    def __init__(self, message: str) -> None:
        super().__init__(message if len(message) < 2000 else message[:2000] + "…")


#: What a step may expect, beside its verb and `error`.
EXPECTATIONS = {"as", "equals", "differs", "is", "match", "text", "raw", "length", "own_names"}


def check(step: dict[str, Any], value: Any, raw: bytes | None, saved: dict[str, Any]) -> None:
    """Raises `Missing` for the first expectation of the step that the value does not meet."""
    for name in sorted(step.keys() & EXPECTATIONS):
        wanted = step[name]
        if name == "as":
            continue
        if name == "equals":
            held = equal(value, saved[wanted])
        elif name == "differs":
            held = not equal(value, saved[wanted])
        elif name == "is":
            held = equal(value, wanted)
        elif name == "match":
            held = fits(value, wanted)
        elif name == "text":
            held = value["content"][0].get("text") == wanted
        elif name == "raw":
            held = raw is not None and raw.decode() == wanted
        elif name == "length":
            held = isinstance(value, list) and len(value) == wanted
        else:
            held = [row["own_name"] for row in value] == wanted
        if not held:
            raise Missing(f"{name} {wanted!r} does not hold for {value!r}")
