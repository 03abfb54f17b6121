"""How a thread waits for an operation, and how another one ends that."""

from __future__ import annotations

import threading

from . import _trunkline
from ._errors import CancelledError, TrunklineError, not_begun, not_sent, told
from ._progress import call_options, receiver_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_local = threading.local()


class CancelScope:
    """Lets another thread cancel the operation that this one waits for.

    Operations inside ``with scope:`` end with ``CancelledError`` once any thread calls ``scope.cancel()``. Scopes
    nest: the outer one cancels what is inside the inner one as well. One thread at a time uses a scope.
    """

    def __init__(self) -> None:
        # Reentrant: a signal handler may cancel while its own thread is inside.
        self._lock = threading.RLock()
        self._cancelled = False
        # Several where one waits inside a progress callback or signal handler of another.
        self._operations: list[_trunkline.Operation] = []

    def cancel(self) -> None:
        """Cancels the operation under way in the scope; those that would follow do not begin, but for a pool's close.

        Repeating it does nothing.
        """
        with self._lock:
            self._cancelled = True
            for operation in self._operations:
                operation.cancel()

    def __enter__(self) -> CancelScope:
        _local.scopes = (*scopes_here(), self)
        return self

    def __exit__(self, *exception: object) -> None:
        # The innermost entry of this one, which may have been entered twice.
        scopes = list(scopes_here())
        del scopes[len(scopes) - 1 - scopes[::-1].index(self)]
        _local.scopes = tuple(scopes)

    def _watch(self, operation: _trunkline.Operation) -> None:
        with self._lock:
            self._operations.append(operation)
            if self._cancelled:
                operation.cancel()

    def _unwatch(self, operation: _trunkline.Operation) -> None:
        with self._lock:
            if operation in self._operations:
                self._operations.remove(operation)


def scopes_here() -> tuple[CancelScope, ...]:
    """The scopes that this thread is in, outermost first."""
    scopes: tuple[CancelScope, ...] = getattr(_local, "scopes", ())
    return scopes


def block_call(
    start: Callable[..., _trunkline.Operation], options: Mapping[str, Any], *args: Any
) -> Any:
    try:
        text, callback = call_options(options)
        receiver = None if callback is None else receiver_of(callback)
    except TrunklineError as error:
        del args  # The traceback keeps this frame.
        raise not_sent(error) from None
    try:
        return block(start, *args, text if receiver is None else (text, 0), receiver=receiver)
    except TrunklineError as error:
        del args  # A traceback keeps its frames, and they their arguments: this one begins here.
        raise error.with_traceback(None)


def block(
    start: Callable[..., _trunkline.Operation], *args: Any, receiver: Callable[[list[str]], None] | None = None
) -> Any:
    """Carries an operation out, and waits for its end. In a scope that is cancelled none begins."""
    scopes = scopes_here()
    if any(scope._cancelled for scope in scopes):
        error = told(CancelledError("the operation was cancelled before it began"), "cancelled", {})
        raise not_begun(error, start, args)
    return carry_out(scopes, receiver, start, *args)


def carry_out(
    scopes: tuple[CancelScope, ...],
    receiver: Callable[[list[str]], None] | None,
    start: Callable[..., _trunkline.Operation],
    *args: Any,
) -> Any:
    waiter = _trunkline.construct(_trunkline.Waiter, ())
    try:
        operation = start(waiter, 0, *args)
    except (UnicodeEncodeError, TrunklineError) as error:
        raise not_begun(error, start, args) from error.__cause__
    try:
        for scope in scopes:
            scope._watch(operation)
        return _end_of(waiter, operation, receiver)
    except BaseException:
        # Nobody waits any more, no matter who raised it: a signal handler, or a progress callback
        # that ends the program.
        operation.cancel()
        raise
    finally:
        for scope in scopes:
            scope._unwatch(operation)


def _end_of(
    waiter: _trunkline.Waiter, operation: _trunkline.Operation, receiver: Callable[[list[str]], None] | None
) -> Any:
    came = waiter.wait(operation)
    if receiver is not None:
        while isinstance(came, list):
            receiver(came)
            came = waiter.wait(operation)
    return came
