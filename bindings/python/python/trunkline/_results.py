"""What the library hands out: results and events. They are decoded when they are looked at."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ._errors import ProtocolError, told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from . import _trunkline
    from .events import AnyEvent

#: How much of a result its `repr` shows, in characters.
_EXCERPT = 100

def decoded(text: str, decode: Callable[[str], Any] = json.loads) -> Any:
    """What a server sent, decoded. Python follows no text that is nested without end, and reads no integer of thousands of digits."""
    try:
        return decode(text)
    except RecursionError as error:
        raise _unreadable("nested too deeply") from error
    except ValueError as error:
        # The library has read it as JSON, so it is the length of a number.
        raise _unreadable("a number is too long") from error


def _together(rest: str, strings: list[str], places: str) -> Any:
    """What a server sent, decoded, of a text that its long strings were taken out of, and where each belongs."""
    whole = decoded(rest)
    for place, string in zip(json.loads(places), strings):
        inside = whole
        for step in place[:-1]:
            inside = inside[step]
        inside[place[-1]] = string
    return whole


def _unreadable(why: str) -> ProtocolError:
    return told(ProtocolError(f"{why} to be decoded; the text as it came is at hand"), "protocol", {})


class Result:
    """The result of a request, exactly as the server sent it.

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
            self._decoded = decoded(received) if isinstance(received, str) else _together(*received)
        whole: dict[str, Any] = self._decoded
        return whole

    @property
    def meta(self) -> dict[str, Any]:
        """The ``_meta`` of the result; empty if there is none."""
        meta: dict[str, Any] = self.decoded.get("_meta") or {}
        return meta

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.raw)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}{self._shown()}>"

    def _shown(self) -> str:
        return f" {_excerpt(self.raw)}"


class CallResult(Result):
    """The result of a tool's call. A tool that reports an error gives one too, with ``is_error``."""

    __slots__ = ()

    @property
    def content(self) -> list[dict[str, Any]]:
        """The content blocks; empty if there are none."""
        content: list[dict[str, Any]] = self.decoded.get("content") or []
        return content

    @property
    def text(self) -> str:
        """The text of its blocks, those of other kinds left out, joined by newlines."""
        return _text_of(self.content)

    @property
    def structured_content(self) -> Any:
        """The structured content, or None."""
        return self.decoded.get("structuredContent")

    @property
    def is_error(self) -> bool:
        """Whether the tool reports an error. That is a result, not an exception."""
        return self._native.is_error()

    def _shown(self) -> str:
        return f"{' is_error' if self.is_error else ''} {_excerpt(self.raw)}"


class ResourceResult(Result):
    """A resource that was read."""

    __slots__ = ()

    @property
    def contents(self) -> list[dict[str, Any]]:
        """Its pieces: ``uri``, ``mimeType``, and ``text`` or ``blob``, which is base64."""
        contents: list[dict[str, Any]] = self.decoded.get("contents") or []
        return contents

    @property
    def text(self) -> str:
        """The text of its pieces, those of bytes left out, joined by newlines."""
        return "\n".join(piece["text"] for piece in self.contents if isinstance(piece.get("text"), str))


class PromptResult(Result):
    """A prompt, filled in with its arguments."""

    __slots__ = ()

    @property
    def description(self) -> str | None:
        """What the server says about it."""
        said = self.decoded.get("description")
        return said if isinstance(said, str) else None

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Its messages: ``role`` and ``content``, a content block."""
        messages: list[dict[str, Any]] = self.decoded.get("messages") or []
        return messages

    @property
    def text(self) -> str:
        """The text of its messages, those of other kinds left out, joined by newlines."""
        return _text_of([message["content"] for message in self.messages if isinstance(message.get("content"), dict)])


class CompletionResult(Result):
    """Completions of an argument."""

    __slots__ = ()

    @property
    def values(self) -> list[str]:
        """The values that the server offers."""
        values: list[str] = self._completion().get("values") or []
        return values

    @property
    def total(self) -> int | None:
        """How many there are, where the server says so."""
        return self._completion().get("total")

    @property
    def has_more(self) -> bool:
        """Whether there are more than these."""
        return self._completion().get("hasMore") is True

    def _completion(self) -> dict[str, Any]:
        completion: dict[str, Any] = self.decoded.get("completion") or {}
        return completion


def _text_of(blocks: list[dict[str, Any]]) -> str:
    return "\n".join(block["text"] for block in blocks if block.get("type") == "text" and isinstance(block.get("text"), str))


def _excerpt(raw: bytes) -> str:
    text = raw[: 4 * _EXCERPT].decode("utf-8", "replace")
    return text if len(text) <= _EXCERPT and len(raw) <= 4 * _EXCERPT else f"{text[:_EXCERPT]}…"


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
        return decoded(self.received()).get("isError") is True


def _restored(kind: type[Result], raw: bytes) -> Result:
    return kind(_Received(raw))


class Event(Mapping[str, "Any"]):
    """One event, a mapping: ``event["added"]`` is a member of its payload. Events are equal to themselves alone.

    ``trunkline.events`` has a class for each kind, with the members as attributes; times are in seconds there.
    """

    __slots__ = ("text", "_decoded")

    def __init__(self, text: str) -> None:
        #: The whole event as JSON text.
        self.text = text
        self._decoded: Any = None

    @property
    def decoded(self) -> dict[str, Any]:
        """The whole event: envelope and payload."""
        if self._decoded is None:
            self._decoded = decoded(self.text)
        whole: dict[str, Any] = self._decoded
        return whole

    @property
    def type(self) -> str:
        """What happened."""
        kind: str = self.decoded["type"]
        return kind

    @property
    def kind(self) -> str:
        """What happened: the same as ``type``."""
        return self.type

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

    if not TYPE_CHECKING:  # A checker knows the members of each kind, and refuses any other.

        def __getattr__(self, name: str) -> Any:
            # An own property comes here where it failed: of an event that is half made, and no member either.
            if name.startswith("_") or hasattr(Event, name):
                raise AttributeError(f"a {type(self).__name__} has no member {name!r}", name=name, obj=self)
            from ._records import event_member

            return event_member(self.decoded, type(self), name)

    def __getitem__(self, name: str) -> Any:
        return self.decoded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.decoded)

    def __len__(self) -> int:
        return len(self.decoded)

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        about = "".join(f" {name}={self[name]!r}" for name in ("session", "server") if self.get(name))
        return f"<{type(self).__name__} {self.seq} {self.type}{about}>"


def event_of(text: str) -> AnyEvent:
    """The event of that text, of the class of its kind. One that this package does not know is but an ``Event``."""
    if not _kinds:
        from .events import KINDS

        _kinds.update(KINDS)
    kind = text.partition(_TYPE)[2].partition('"')[0]
    event: AnyEvent = _kinds.get(kind, Event)(text)
    return event


#: What stands before the kind in the text of an event: its envelope comes first.
_TYPE = '"type":"'
_kinds: dict[str, Any] = {}
