"""Members of what a server lists that are not as the protocol has them: each is left out, and costs itself alone (SPEC 18.2)."""

from __future__ import annotations

import datetime
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    #: Gives what fits of a member's value, and None where nothing does: so too of null, which is absent.
    _Reader = Callable[[Any], Any]


def _only(holds: Callable[[Any], bool]) -> _Reader:
    return lambda value: value if holds(value) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_time(value: Any) -> bool:
    """Whether it is a time of ISO 8601, of a day that there is."""
    if not isinstance(value, str) or (found := _TIME.fullmatch(value)) is None:
        return False
    try:
        datetime.date.fromisoformat(found[1])
    except ValueError:
        return False
    return True


_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})T(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)

_text = _only(lambda value: isinstance(value, str))
_flag = _only(lambda value: isinstance(value, bool))
_whole = _only(lambda value: _is_number(value) and value == value // 1)
_share = _only(lambda value: _is_number(value) and 0 <= value <= 1)
_map = _only(lambda value: isinstance(value, dict))
_time = _only(_is_time)


def _one_of(*values: str) -> _Reader:
    return _only(lambda value: isinstance(value, str) and value in values)


def _list_of(read: _Reader) -> _Reader:
    """A list that fits as a whole, or not at all."""
    return _only(lambda value: isinstance(value, list) and all(read(each) is not None for each in value))


def _each(read: _Reader) -> _Reader:
    """A list without the elements that do not fit."""

    def elements(value: Any) -> Any:
        if not isinstance(value, list):
            return None
        taken = [fitted for fitted in map(read, value) if fitted is not None]
        is_whole = len(taken) == len(value) and all(new is old for new, old in zip(taken, value))
        return value if is_whole else taken

    return elements


def _having(members: Mapping[str, _Reader], needed: str | None = None) -> _Reader:
    """An object without the members that do not fit. One that is needed costs the whole."""

    def having(value: Any) -> Any:
        if not isinstance(value, dict):
            return None
        fitted = _members(members, value)
        return fitted if needed is None or fitted.get(needed) is not None else None

    return having


def _members(members: Mapping[str, _Reader], value: dict[str, Any]) -> dict[str, Any]:
    """Those members of a value that fit, with others than the protocol's; the value itself, where all do."""
    fitted = {name: members[name](inner) if name in members else inner for name, inner in value.items()}
    taken = {name: inner for name, inner in fitted.items() if name not in members or inner is not None}
    is_whole = len(taken) == len(value) and all(taken[name] is inner for name, inner in value.items())
    return value if is_whole else taken


def _hints(value: Any) -> Any:
    """Trust hangs on hints: what ``mcp`` would take for one in another spelling is left out too."""
    if not isinstance(value, dict):
        return None
    spelled = {name: inner for name, inner in value.items() if not name.endswith("_hint")}
    fitted = _members({name: _flag for name in spelled if name.endswith("Hint")} | {"title": _text}, spelled)
    return value if fitted is spelled and len(spelled) == len(value) else fitted


def _schema(value: Any) -> Any:
    """A schema, in which null is absent."""
    if not isinstance(value, dict):
        return None
    said = {name: inner for name, inner in value.items() if inner is not None or name not in ("type", "properties", "required")}
    return value if len(said) == len(value) else said


_ICON = {"src": _text, "mimeType": _text, "sizes": _list_of(_text), "theme": _one_of("light", "dark")}
_ARGUMENT = {"name": _text, "title": _text, "description": _text, "required": _flag}
_ANNOTATIONS = {"audience": _list_of(_one_of("user", "assistant")), "priority": _share, "lastModified": _time}
#: Gives what fits of the annotations of a block, a resource or a template, and None where they are no object.
fit_annotations = _having(_ANNOTATIONS)

_EXECUTION = {"taskSupport": _one_of("required", "optional", "forbidden")}

_ALL = {"name": _text, "title": _text, "description": _text, "icons": _each(_having(_ICON, "src")), "_meta": _map}
_TEMPLATE = {**_ALL, "mimeType": _text, "annotations": fit_annotations}

#: Of each kind the members that the protocol knows, and what reads them.
_KINDS: dict[str, dict[str, _Reader]] = {
    "Tool": {**_ALL, "inputSchema": _schema, "outputSchema": _schema, "annotations": _hints, "execution": _having(_EXECUTION)},
    "Prompt": {**_ALL, "arguments": _each(_having(_ARGUMENT, "name"))},
    "ResourceTemplate": _TEMPLATE,
    "Resource": {**_TEMPLATE, "size": _whole},
}


def fit(kind: str, definition: dict[str, Any]) -> dict[str, Any]:
    """A definition without what does not fit; itself, where all does.

    What has an address and no name is called by it, since types of frameworks have a name.
    """
    fitted = _members(_KINDS[kind], definition)
    address = definition.get("uri", definition.get("uriTemplate"))
    is_nameless = fitted.get("name") is None and isinstance(address, str)
    return {"name": address, **fitted} if is_nameless else fitted


def lost(definition: dict[str, Any], fitted: dict[str, Any]) -> list[str]:
    """The members that lose something beside null."""
    return [name for name, value in definition.items() if _bare(value) != _bare(fitted.get(name))]


def _bare(value: Any) -> Any:
    """A value without members that are null."""
    if isinstance(value, list):
        return [_bare(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {name: _bare(inner) for name, inner in value.items() if inner is not None}
