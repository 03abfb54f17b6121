"""The exceptions. Which code is which class is in the library's registry, not here."""

from __future__ import annotations

import builtins
import json
from contextlib import suppress

from . import _trunkline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal, TypeVar

    _E = TypeVar("_E", bound="TrunklineError")


class TrunklineError(Exception):
    """Anything that the library reports. ``str()`` of it is the message.

    The error that led to it, if there is one, is its ``__cause__``.
    """

    #: The stable name of what went wrong, the same in every language.
    code: str = "internal"
    #: The sentence: lower case, without secrets.
    message: str = ""
    #: The server that it is about.
    server: str | None = None
    #: The session that it is about.
    session: str | None = None
    #: Whether the same operation may succeed later without a change by the user.
    retryable: bool = False
    #: For calls: whether the server can have seen it.
    outcome: Literal["not_sent", "unknown"] | None = None
    #: What the user can do about it.
    hint: str | None = None

    # What the properties decode when they are first looked at: the library makes exceptions without `__init__`.
    _detail_text: str | None = None
    _arguments_text: str | None = None
    _arguments: Any = None

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.message = message
        self._detail: dict[str, Any] = {}

    @property
    def detail(self) -> dict[str, Any]:
        """Machine-readable particulars."""
        text = self._detail_text
        if text is not None:
            # Of two threads that look at one time both have what the first one decoded.
            self.__dict__.setdefault("_detail", json.loads(text))
            self._detail_text = None
        return self._detail

    @detail.setter
    def detail(self, detail: dict[str, Any]) -> None:
        self._detail, self._detail_text = detail, None

    @property
    def arguments(self) -> Any:
        """The arguments of a tool's call that was interrupted, for the caller alone: never printed, logged or part of ``detail``."""
        text = self._arguments_text
        if text is not None:
            try:
                arguments = json.loads(text or "{}")
            except ValueError:  # What was refused may have been no JSON.
                arguments = text
            self.__dict__.setdefault("_arguments", arguments)
            self._arguments_text = None
        return self._arguments

    @arguments.setter
    def arguments(self, arguments: Any) -> None:
        self._arguments, self._arguments_text = arguments, None

    def __str__(self) -> str:
        return f"{self.server}: {self.message}" if self.server else self.message

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r}, code={self.code!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.message, self.__dict__)


class InvalidArgumentError(TrunklineError, ValueError):
    """A value is wrong, or an option does not exist; ``detail`` has its ``path`` or the ``option``."""


class BadHandleError(TrunklineError):
    """A handle is stale, released or foreign."""


class ClosedError(TrunklineError):
    """The pool, session or lease is closed, or the pool is draining."""


class ForkedError(TrunklineError):
    """The object was made by the parent process, before a fork."""


class CancelledError(TrunklineError):
    """The operation was cancelled by another part of the host, such as the close of its session.

    A cancelled asyncio task sees asyncio's own ``CancelledError`` instead.
    """


class TimeoutError(TrunklineError, builtins.TimeoutError):
    """A deadline passed; ``detail["which"]`` says which."""


class ConfigError(TrunklineError):
    """A server's configuration is wrong."""


class NotAdmittedError(TrunklineError):
    """A gate keeps the server out; ``detail["reason"]`` says which."""


class LimitError(TrunklineError):
    """A limit or the budget is used up; ``detail["limit"]`` says which."""


class ConnectError(TrunklineError):
    """The server could not be started or reached, or its process ended."""


class ProtocolError(TrunklineError):
    """The server broke the protocol."""


class AuthRequiredError(TrunklineError):
    """The server wants credentials."""


class UnavailableError(TrunklineError):
    """The server is reconnecting; nothing was sent."""


class CallInterruptedError(TrunklineError):
    """The connection was lost while the call was under way; see ``outcome``."""


class ToolNotFoundError(TrunklineError):
    """The session's view has no such tool."""


class ServerError(TrunklineError):
    """The server answered with a JSON-RPC error; ``detail`` has ``code``, ``message`` and ``data``."""


class DeclinedError(TrunklineError):
    """A request of the server could not be routed."""


class StoreError(TrunklineError):
    """A file of the library could not be read or written."""


class WrongThreadError(TrunklineError):
    """A blocking call from a place that must not block."""


class InternalError(TrunklineError):
    """A fault of the library itself; ``detail["place"]`` says where."""


def told(error: _E, code: str, detail: dict[str, Any], hint: str | None = None) -> _E:
    """The error, which is of Python's own, with what those of the library have; without a hint it has the advice of its code."""
    error.code, error.detail = code, detail
    error.hint = hint or _trunkline.advice(code)
    error.__dict__["__notes__"] = [f"hint: {error.hint}"]  # What `add_note` adds, from Python 3.11 on.
    return error


def invalid(message: str, hint: str | None = None, **detail: Any) -> InvalidArgumentError:
    """A wrong argument that is found before the library is called."""
    return told(InvalidArgumentError(message), "invalid_argument", detail, hint)


def not_unicode(error: UnicodeEncodeError, path: str | None = None) -> InvalidArgumentError:
    """A text with half a surrogate pair, which has no form in UTF-8; ``path`` is the option that it is in."""
    message = f"a text that cannot be written as UTF-8: {error.reason}"
    return invalid(message) if path is None else invalid(f"{path}: {message}", path=path)


def leaving(exception: tuple[object, ...]) -> suppress:
    """Around the close at the end of a block, by what ended its body.

    In a forked child there is nothing to close, which is an error as of any call, but none that takes the place of what the body raised.
    """
    raised = bool(exception) and exception[0] is not None
    return suppress(*((ForkedError,) if raised else ()))


#: The operations that send something to a server.
_CALLS = frozenset(["call_tool", "complete", "get_prompt", "read_resource", "request"])


def not_begun(error: UnicodeEncodeError | TrunklineError, start: Callable[..., Any], args: tuple[Any, ...]) -> TrunklineError:
    """Why an operation with these last arguments did not begin; of a call that is also that nothing was sent."""
    refused = error if isinstance(error, TrunklineError) else not_unicode(error, _parameter(error.object, start, args))
    return not_sent(refused) if start.__name__ in _CALLS else refused


def not_sent(error: _E) -> _E:
    """The error of a call that did not begin."""
    error.outcome = "not_sent"
    return error


def _parameter(text: str, start: Callable[..., Any], args: tuple[Any, ...]) -> str | None:
    """What the function calls the argument that is this text."""
    import inspect  # Only the sad path needs it.

    names = list(inspect.signature(start).parameters)[-len(args) :]
    return next((name for name, given in zip(names, args) if given is text or given == text), None)


def _restore(kind: type[TrunklineError], message: str, state: dict[str, Any]) -> TrunklineError:
    error = kind(message)
    # What it was made with would stand before what it has yet to decode.
    error.__dict__.clear()
    error.__dict__.update(state)
    return error
