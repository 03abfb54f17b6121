"""The exceptions. Which code is which class is in the library's registry, not here."""

from __future__ import annotations

import builtins
import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal


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
        text, self._detail_text = self._detail_text, None
        if text is not None:
            self._detail = json.loads(text)
        return self._detail

    @detail.setter
    def detail(self, detail: dict[str, Any]) -> None:
        self._detail, self._detail_text = detail, None

    @property
    def arguments(self) -> Any:
        """The arguments of a tool's call that was interrupted, for the caller alone: never printed, logged or part of ``detail``."""
        text, self._arguments_text = self._arguments_text, None
        if text is not None:
            try:
                self._arguments = json.loads(text or "{}")
            except ValueError:  # What was refused may have been no JSON.
                self._arguments = text
        return self._arguments

    @arguments.setter
    def arguments(self, arguments: Any) -> None:
        self._arguments, self._arguments_text = arguments, None

    def __str__(self) -> str:
        return f"{self.server}: {self.message}" if self.server else self.message

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


def invalid(message: str, code: str = "invalid_argument", **detail: Any) -> InvalidArgumentError:
    """A wrong argument that is found before the library is called."""
    error = InvalidArgumentError(message)
    error.code = code
    error.detail = detail
    return error


def not_unicode(error: UnicodeEncodeError, path: str | None = None) -> InvalidArgumentError:
    """A text with half a surrogate pair, which has no form in UTF-8; ``path`` is the option that it is in."""
    message = f"a text that cannot be written as UTF-8: {error.reason}"
    return invalid(message) if path is None else invalid(f"{path}: {message}", path=path)


def _restore(kind: type[TrunklineError], message: str, state: dict[str, Any]) -> TrunklineError:
    error = kind(message)
    error.__dict__.update(state)
    return error
