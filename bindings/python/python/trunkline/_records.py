"""JSON objects whose members are attributes too: what reports and events have in common."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    _Object = dict[str, Any]
    _Make = Callable[[Any], Any]
else:
    _Object = dict

#: What makes the members of a class that are objects of other classes, by their names in JSON; None for plain ones.
_makers: dict[type, dict[str, _Make | None]] = {}


class Record(_Object):
    """A JSON object, and so a ``dict``, whose members are attributes too.

    An attribute without the suffix ``_ms`` of its member is in seconds. A member that is absent is None as an attribute.
    """

    __slots__ = ()

    if not TYPE_CHECKING:  # A checker knows the members by their annotations, and refuses any other.

        def __getattr__(self, name: str) -> Any:
            return member(self, type(self), name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict.__repr__(self)})"

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_members(type(self))})


def record(class_: type[Record], value: Any) -> Any:
    """The JSON object as one of that class, its members likewise."""
    made = class_(value)
    for name, make in _members(class_).items():
        if make is not None and made.get(name) is not None:
            made[name] = make(made[name])
    return made


def member(values: Mapping[str, Any], class_: type, name: str) -> Any:
    """What an attribute of an object is."""
    if name.startswith("_"):
        raise AttributeError(f"a {class_.__name__} has no member {name!r}", name=name, obj=values)
    key = name[:-1] if name.endswith("_") else name  # `from_` is no word of Python.
    if key in values:
        return values[key]
    milliseconds = values.get(f"{key}_ms")
    if milliseconds is not None:
        return milliseconds / 1000
    if key in _members(class_):
        return None
    raise AttributeError(f"a {class_.__name__} has no member {name!r}", name=name, obj=values)


def event_member(values: Mapping[str, Any], class_: type, name: str) -> Any:
    """The same of an event, whose objects are plain ones in the mapping."""
    value = member(values, class_, name)
    make = _members(class_).get(name)
    return value if make is None or value is None else make(value)


def _members(class_: type) -> dict[str, _Make | None]:
    known = _makers.get(class_)
    if known is None:
        known = {}
        for base in reversed(class_.__mro__):
            for name, annotation in getattr(base, "__annotations__", {}).items():
                known[name.removesuffix("_")] = _maker(annotation)
        _makers[class_] = known
    return known


def _maker(annotation: str) -> _Make | None:
    """By the text of an annotation."""
    plain = annotation.removesuffix(" | None")
    for begin, many in (("dict[str, ", _each_value), ("list[", _each)):
        if plain.startswith(begin):
            make = _maker(plain[len(begin) : -1])
            return None if make is None else many(make)
    from . import reports

    class_ = getattr(reports, plain, None)
    if isinstance(class_, type) and issubclass(class_, Record):
        return lambda value: record(class_, value)
    return None


def _each(make: _Make) -> _Make:
    return lambda values: [make(value) for value in values]


def _each_value(make: _Make) -> _Make:
    return lambda values: {name: make(value) for name, value in values.items()}
