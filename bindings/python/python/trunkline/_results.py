"""What the library hands out: results, listed things and events. They are decoded when they are looked at."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping

from ._errors import ProtocolError, told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeVar

    _T = TypeVar("_T")

    from . import _trunkline

#: How much of what is left out is shown in the log, in characters.
_SHOWN = 200

_log = logging.getLogger("trunkline")


def _decoded(text: str) -> Any:
    """What a server sent, decoded. Python follows no text that is nested without end, and reads no integer of thousands of digits."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise _unreadable("nested too deeply") from error
    except ValueError as error:
        # The library has read it as JSON, so it is the length of a number.
        raise _unreadable("a number is too long") from error


def _together(rest: str, strings: list[str], places: str) -> Any:
    """What a server sent, decoded, of a text that its long strings were taken out of, and where each belongs."""
    decoded = _decoded(rest)
    for place, string in zip(json.loads(places), strings):
        inside = decoded
        for step in place[:-1]:
            inside = inside[step]
        inside[place[-1]] = string
    return decoded


def _unreadable(why: str) -> ProtocolError:
    return told(ProtocolError(f"{why} to be decoded; the text as it came is at hand"), "protocol", {})


def defined(rows: Iterable[ListedItem]) -> list[tuple[ListedItem, dict[str, Any]]]:
    """What is listed, with its definition. What Python cannot decode is left out and logged, and costs nobody the rest."""
    out = []
    for row in rows:
        try:
            out.append((row, row.definition))
        except ProtocolError as error:
            _log.warning("left out of a list: %r of %r: %s", row.name, row.server, error)
    return out


def decoded_list(text: str, elements: Callable[[str], list[str]]) -> list[Any]:
    """A list whose elements are of different servers, likewise; `elements` takes it apart."""
    try:
        whole: list[Any] = _decoded(text)
        return whole
    except ProtocolError:
        pass
    out = []
    for element in elements(text):
        try:
            out.append(_decoded(element))
        except ProtocolError as error:
            _log.warning("left out of a list: %s…: %s", element[:_SHOWN], error)
    return out


class CallResult:
    """The result of a call, exactly as the server sent it.

    Nothing is decoded before one of the attributes asks for it, and then once. What is nested too deeply for Python, or has an
    integer of more digits than Python reads, raises :class:`ProtocolError` there; ``raw`` has it all the same.
    """

    __slots__ = ("_native", "_decoded")

    def __init__(self, native: _trunkline.CallResult | _Received) -> None:
        self._native = native
        self._decoded: Any = None

    @property
    def raw(self) -> bytes:
        """The bytes as received."""
        return self._native.raw()

    @property
    def decoded(self) -> dict[str, Any]:
        """The whole result, unknown members included."""
        if self._decoded is None:
            received = self._native.received()
            self._decoded = _decoded(received) if isinstance(received, str) else _together(*received)
        decoded: dict[str, Any] = self._decoded
        return decoded

    @property
    def content(self) -> list[dict[str, Any]]:
        """The content blocks; empty if there are none."""
        content: list[dict[str, Any]] = self.decoded.get("content") or []
        return content

    @property
    def structured_content(self) -> Any:
        """The structured content, or None."""
        return self.decoded.get("structuredContent")

    @property
    def is_error(self) -> bool:
        """Whether the tool reports an error. That is a result, not an exception."""
        return self._native.is_error()

    @property
    def meta(self) -> dict[str, Any]:
        """The ``_meta`` of the result; empty if there is none."""
        meta: dict[str, Any] = self.decoded.get("_meta") or {}
        return meta

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.raw,)

    def __repr__(self) -> str:
        return f"<CallResult is_error={self.is_error}>"


class _Received:
    """The bytes of a result that was copied or pickled, in the place of the library's own."""

    __slots__ = ("_raw",)

    def __init__(self, raw: bytes) -> None:
        self._raw = raw

    def raw(self) -> bytes:
        return self._raw

    def received(self) -> str:
        return self._raw.decode()

    def is_error(self) -> bool:
        return _decoded(self.received()).get("isError") is True


def _restored(raw: bytes) -> CallResult:
    return CallResult(_Received(raw))


class ListedItem:
    """A tool, prompt, resource or resource template of a session's view."""

    __slots__ = ("name", "server", "own_name", "definition_text", "trust", "always_load", "deferred", "_definition")

    def __init__(self, row: tuple[str, str, str, str, bool, bool, bool]) -> None:
        #: Tools: the exposed name. Others: the server's own name, or URI.
        self.name: str = row[0]
        #: The server.
        self.server: str = row[1]
        #: The server's own name, or URI.
        self.own_name: str = row[2]
        #: The definition as the server sent it.
        self.definition_text: str = row[3]
        #: Whether the session trusts the server.
        self.trust: bool = row[4]
        #: Tools: whether the session wants it loaded whatever else is deferred.
        self.always_load: bool = row[5]
        #: Whether it is known from what the server listed earlier, and the session does not hold it: a call of such a tool
        #: starts the server, or waits for it.
        self.deferred: bool = row[6]
        self._definition: Any = None

    @property
    def definition(self) -> dict[str, Any]:
        """The definition, decoded. One that Python cannot decode raises :class:`ProtocolError`; ``definition_text`` has it."""
        if self._definition is None:
            self._definition = _decoded(self.definition_text)
        definition: dict[str, Any] = self._definition
        return definition

    @property
    def description(self) -> str | None:
        """What the server says about it."""
        said = self.definition.get("description")
        return said if isinstance(said, str) else None

    def __repr__(self) -> str:
        return f"<ListedItem {self.name!r} of {self.server!r}>"


class List(list["_T"]):
    """A list of a session's view, and its number."""

    #: The number of the list in its session, from 1: lists that differ have different ones, and later ones no smaller ones; whether
    #: an item is deferred makes no difference. A list whose number is the ``revision`` of its own ``…_changed`` event, or greater, has
    #: what the event tells. Resources and their templates share their numbers; other kinds count for themselves.
    revision: int

    def __init__(self, items: Iterable[_T], revision: int) -> None:
        super().__init__(items)
        self.revision = revision


class Event(Mapping[str, "Any"]):
    """One event, a mapping: ``event["added"]`` is a member of its payload. Events are equal to themselves alone."""

    __slots__ = ("text", "_decoded")

    def __init__(self, text: str) -> None:
        #: The whole event as JSON text.
        self.text = text
        self._decoded: Any = None

    @property
    def decoded(self) -> dict[str, Any]:
        """The whole event: envelope and payload."""
        if self._decoded is None:
            self._decoded = _decoded(self.text)
        decoded: dict[str, Any] = self._decoded
        return decoded

    @property
    def type(self) -> str:
        """What happened."""
        kind: str = self.decoded["type"]
        return kind

    @property
    def seq(self) -> int:
        """Its place in the order of the pool's events; grows, from 1."""
        seq: int = self.decoded["seq"]
        return seq

    @property
    def scope(self) -> str:
        """Whom it is about: ``pool``, ``session``, ``workspace`` or ``subscriber``."""
        scope: str = self.decoded["scope"]
        return scope

    @property
    def session(self) -> str | None:
        """The session that it is about."""
        return self.decoded.get("session")

    @property
    def server(self) -> str | None:
        """The server that it is about."""
        return self.decoded.get("server")

    @property
    def entry_index(self) -> int | None:
        """The entry that it is about."""
        return self.decoded.get("entry_index")

    @property
    def generation(self) -> int | None:
        """The incarnation of the connection that it is about."""
        return self.decoded.get("generation")

    def __getitem__(self, name: str) -> Any:
        return self.decoded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.decoded)

    def __len__(self) -> int:
        return len(self.decoded)

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<Event {self.seq} {self.type}>"
