"""JSON that several hold at one time, so that no one can change it for the others."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    _Object = dict[str, Any]
    _Array = list[Any]
else:
    _Object, _Array = dict, list


def decode_frozen(text: str) -> Any:
    """Decodes JSON into frozen objects and arrays."""
    return _frozen_array(_decode(text))


def _frozen_object(members: dict[str, Any]) -> FrozenObject:
    # Objects come from the inside out, so that only the arrays among their members are left to be frozen.
    for name, value in members.items():
        if type(value) is list:
            members[name] = _frozen_array(value)
    frozen = dict.__new__(FrozenObject)
    dict.update(frozen, members)
    return frozen


def _frozen_array(value: Any) -> Any:
    """The value; of an array its frozen form."""
    if type(value) is not list:
        return value
    frozen = list.__new__(FrozenArray)
    list.extend(frozen, map(_frozen_array, value))
    return frozen


def thawed(value: Any) -> Any:
    """A copy to change."""
    if isinstance(value, dict):
        return {name: thawed(member) for name, member in value.items()}
    if isinstance(value, list):
        return list(map(thawed, value))
    return value


def _refuse(self: object, *args: object, **named: object) -> NoReturn:
    raise TypeError(f"a {type(self).__name__} is shared and frozen: change a copy, as `copy.deepcopy` makes one")


class FrozenObject(_Object):
    """A ``dict`` that does not change. ``copy.deepcopy`` gives a plain one; that of ``copy.copy`` has frozen members."""

    __slots__ = ()

    if not TYPE_CHECKING:
        __init__ = __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __copy__(self) -> dict[str, Any]:
        return dict(self)

    def __deepcopy__(self, memo: object) -> Any:
        return thawed(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


class FrozenArray(_Array):
    """A ``list`` that does not change, likewise."""

    __slots__ = ()

    if not TYPE_CHECKING:
        __init__ = __setitem__ = __delitem__ = __iadd__ = __imul__ = append = clear = extend = insert = pop = _refuse
        remove = reverse = sort = _refuse

    def __copy__(self) -> list[Any]:
        return list(self)

    def __deepcopy__(self, memo: object) -> Any:
        return thawed(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


_decode = json.JSONDecoder(object_hook=_frozen_object).decode
