"""Options: from keyword arguments with float seconds to the library's JSON, by its own table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike, fspath

from . import _trunkline
from ._errors import InvalidArgumentError, invalid, not_sent, not_unicode, told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Literal

    _Scope = Literal[
        "pool", "session", "configure", "call", "acquire", "drain", "sign_in", "gates", "load", "reload", "status"
    ]

_registry: dict[str, Any] = {}
_tables: dict[str, dict[str, Any]] = {}


def registry() -> dict[str, Any]:
    """The library's table of errors, events, options and names of telemetry. It is long: what most hosts need of it is read by itself."""
    if not _registry:
        _registry.update(json.loads(_trunkline.interface()))
    return _registry


def _table(scope: _Scope) -> dict[str, Any]:
    if scope not in _tables:
        _tables[scope] = _by_python_name(json.loads(_trunkline.option_names(scope)))
    return _tables[scope]


def _by_python_name(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {row["python"]: row for row in rows}


def encode(scope: _Scope, options: Mapping[str, Any]) -> str:
    """The options as the library reads them; nothing for no options."""
    if not options:
        return ""
    table = _table(scope)
    translated = _translate(table, options, "")
    try:
        return _sendable(_encode_option(translated))
    except _UNWRITABLE as error:
        _find_unwritable(table, options, "")
        raise _unwritable("options", error) from None


def _find_unwritable(table: dict[str, Any], options: Mapping[str, Any], path: str) -> None:
    """Raises the error that names the option."""
    for name, value in options.items():
        row = table[name]
        if isinstance(value, Mapping) and "members" in row:
            _find_unwritable(_by_python_name(row["members"]), value, f"{path}{name}.")
        elif value is not None:
            _option_text(_value(row, value, path + name), path + name)


def _option_text(value: Any, path: str) -> str:
    try:
        return _sendable(_encode_option(value))
    except UnicodeEncodeError as error:
        raise not_unicode(error, path) from None
    except _UNWRITABLE as error:
        raise _unwritable(path, error) from None


def roots_text(roots: Any) -> str:
    """The option ``roots`` by itself as JSON text."""
    return _option_text(roots, "roots")


def _sendable(text: str) -> str:
    if not text.isascii():
        text.encode()
    return text


def _translate(table: dict[str, Any], options: Mapping[str, Any], path: str) -> dict[str, Any]:
    out = {}
    for name, value in options.items():
        row = table.get(name)
        if row is None:
            raise _unknown(name, table, path)
        if value is not None:
            out[row["name"]] = _value(row, value, path + name)
    return out


def _value(row: dict[str, Any], value: Any, path: str) -> Any:
    if isinstance(value, Mapping):
        if "members" in row:
            return _translate(_by_python_name(row["members"]), value, path + ".")
        if "names" in row:
            return {
                name: [milliseconds(one, f"{path}.{name}") for one in _listed(times)]
                for name, times in value.items()
            }
    if row.get("is_list"):
        return [_within(row, one, path) for one in _listed(value)]
    if "names" not in row and row.get("unit") == "milliseconds":
        return _within(row, value, path)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    return value


def _within(row: dict[str, Any], seconds: Any, path: str) -> int:
    """The library says the same of milliseconds, which nobody has written here."""
    least, most = row["min"], row["max"]
    allowed = f"seconds from {least / 1000:g} to {most // 1000}"
    whole = milliseconds(seconds, path, allowed)
    if not least <= whole <= most:
        raise invalid(f"{path}: expected {allowed}, not {seconds}", path=path)
    return whole


def _listed(value: Any) -> Iterable[Any]:
    return value if isinstance(value, (list, tuple)) else [value]


def milliseconds(seconds: Any, path: str, allowed: str = "seconds from 0 to below 1e9") -> int:
    """Whole milliseconds of seconds, rounded up so that a short time is never none."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise invalid(f"{path}: expected seconds, not {type(seconds).__name__}", path=path)
    if not 0 <= seconds < 1e9:  # False for NaN as well.
        raise invalid(f"{path}: expected {allowed}, not {seconds}", path=path)
    whole = round(seconds * 1000)
    return whole if whole or not seconds else 1


def _unknown(name: str, table: dict[str, Any], path: str) -> InvalidArgumentError:
    option = path + str(name)
    near = _trunkline.nearest(str(name).encode("utf-8", "replace").decode(), list(table))
    if near is None:
        return told(InvalidArgumentError(f"unknown option {option}"), "unknown_option", {"option": option})
    nearest = path + near
    error = InvalidArgumentError(f"unknown option {option}; the nearest is {nearest}")
    return told(error, "unknown_option", {"option": option, "nearest": nearest}, f"did you mean `{nearest}`?")


def is_on(to: Any, path: str) -> bool:
    """Whether that is ``on``, and not ``off``."""
    if to not in ("on", "off"):
        raise invalid(f"{path}: expected 'on' or 'off', not {to!r}", path=path)
    return bool(to == "on")


def mask(kinds: str | Iterable[str] | None) -> int:
    """The events of those types as bits; all of them for None."""
    if kinds is None:
        return (1 << 64) - 1
    bits = _trunkline.event_bits()
    out = 0
    for kind in (kinds,) if isinstance(kinds, str) else kinds:
        if kind not in bits:
            raise invalid(f"unknown event type {kind!r}", path="kinds")
        out |= bits[kind]
    return out


def arguments_text(arguments: Any) -> str:
    """A call's arguments as JSON text."""
    if arguments is None:
        return ""
    try:
        return _dump(arguments, "arguments")
    except InvalidArgumentError as error:
        raise not_sent(error) from None


def config_text(config: Any, path: str = "config") -> str:
    """A server's configuration, or a map of them, as JSON text; text is taken as it is."""
    return config if isinstance(config, str) else _dump(config, path)


def _dump(value: Any, path: str = "options") -> str:
    try:
        return _encode(value)
    except _UNWRITABLE as error:
        raise _unwritable(path, error) from None


def _unwritable(path: str, error: BaseException) -> InvalidArgumentError:
    return invalid(f"{path}: cannot be written as JSON: {error}", path=path)


#: What is raised for what has no form in JSON, or in UTF-8.
_UNWRITABLE = (TypeError, ValueError, RecursionError)


def _encoder(default: Callable[[Any], Any] | None = None) -> Callable[[Any], str]:
    # Half the cost of `json.dumps` with arguments; NaN and infinity are no JSON.
    return json.JSONEncoder(
        ensure_ascii=False, allow_nan=False, check_circular=True, separators=(",", ":"), default=default
    ).encode


def _plain_option(value: Any) -> Any:
    """What stands for an object in an option: of a path its text, and what stands in any value."""
    text = fspath(value) if isinstance(value, PathLike) else None
    return text if isinstance(text, str) else _plain(value)


def _plain(value: Any) -> Any:
    """What stands for an object in a value: any mapping is an object of JSON."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


_encode = _encoder(_plain)
_encode_option = _encoder(_plain_option)
