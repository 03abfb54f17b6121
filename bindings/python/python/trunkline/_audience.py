"""Functions of a host that are told things. What one gives back to be awaited is awaited where a loop runs, and an error elsewhere."""

from __future__ import annotations

import logging
from asyncio import CancelledError, current_task, get_running_loop, isfuture, wait
from collections import deque
from functools import partial
from inspect import isawaitable, iscoroutine, iscoroutinefunction

from ._errors import invalid
from ._results import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import Task
    from collections.abc import Awaitable, Callable, Coroutine
    from typing import Any, TypeGuard

#: What a function of the host's raises to end the program. A loop lets it out, and anything else not.
INTERRUPTS = (KeyboardInterrupt, SystemExit)

#: Events that wait for a function which is slow; of more the oldest are dropped, as in the library.
UNTOLD_MAX = 1024

#: The number of an audience's task among those of requests, which are counted from 1.
_TELLING = 0

_log = logging.getLogger("trunkline")


def new_untold() -> deque[Event]:
    """The events that wait for a function."""
    return deque(maxlen=UNTOLD_MAX)


class Audience:
    """A function that is told events on a loop, one after another: while what it gave back is awaited, the next ones wait.

    ``tasks`` has the task that awaits, and keeps nothing once that is over; ``untold`` has the events that wait. An end without
    the task takes these away before the task is cancelled.
    """

    def __init__(
        self,
        function: Callable[[Event], object],
        failed: str,
        tasks: dict[int, Task[None]],
        untold: deque[Event] | None = None,
    ) -> None:
        self._function = function
        self._failed = failed
        self._tasks = tasks
        self._untold = new_untold() if untold is None else untold

    def tell(self, event: Event) -> None:
        """Tells it, now or once it has taken what is before it. What it raises to end the program gets out."""
        if self._awaiting() is not None:
            self._untold.append(event)
            return
        # What waited for one that was cancelled before its first step is not told behind that.
        self._untold.clear()
        answer = self._answer(event)
        if answer is not None:
            task = self._tasks[_TELLING] = get_running_loop().create_task(self._go_on(answer))
            task.add_done_callback(partial(_end_unbegun, self._tasks, answer))

    def _awaiting(self) -> Task[None] | None:
        task = self._tasks.get(_TELLING)
        # One that was cancelled before its first step is there until the loop's next pass.
        return None if task is None or task.done() else task

    def _answer(self, event: Event) -> Awaitable[object] | None:
        try:
            answer = self._function(event)
        except INTERRUPTS:
            raise
        except BaseException:  # A cancellation too: what is behind it is somebody else's.
            _log.exception(self._failed)
            return None
        return answer if isawaitable(answer) else None

    async def _go_on(self, answer: Awaitable[object] | None) -> None:
        try:
            while True:
                if answer is not None:
                    try:
                        await answer
                    except CancelledError:
                        if _is_cancelled():
                            raise
                        _log.exception(self._failed)
                    except Exception:
                        _log.exception(self._failed)
                if not self._untold:
                    return
                answer = self._answer(self._untold.popleft())
        finally:
            # Behind a cancellation as well, which is told the next event, and not those that waited.
            self._untold.clear()
            self._tasks.pop(_TELLING, None)

    async def told(self) -> None:
        """Waits until it has taken everything."""
        while (task := self._awaiting()) is not None:
            await wait({task})

    def end(self) -> None:
        """What is still awaited is cancelled, and what waits behind it is not told, whatever becomes of the cancellation."""
        self._untold.clear()
        task = self._awaiting()
        if task is not None:
            task.cancel()


def _end_unbegun(tasks: dict[int, Task[None]], answer: Awaitable[object], task: Task[None]) -> None:
    """Ends what a task was to await that was cancelled before its first step, as its cancellation would have. What it did await is over."""
    if tasks.get(_TELLING) is task:
        del tasks[_TELLING]
    if iscoroutine(answer):
        answer.close()
    elif isfuture(answer):
        answer.cancel()


def _is_cancelled() -> bool:
    """Whether somebody cancelled this task, and not what it awaits. Before Python 3.11 that is not told apart."""
    cancelling = getattr(current_task(), "cancelling", None)
    return cancelling is None or cancelling() > 0


def is_coroutine_function(function: object) -> TypeGuard[Callable[..., Coroutine[Any, Any, object]]]:
    """Whether a call of it makes a coroutine; of an object, a call of the object."""
    return iscoroutinefunction(function) or iscoroutinefunction(getattr(type(function), "__call__", None))


def check_plain(function: object, path: str) -> None:
    """Refuses a coroutine function where no loop would run it."""
    if is_coroutine_function(function):
        raise invalid(f"{path}: a coroutine function, which nobody awaits here", path=path)


def check_taken(answer: Any) -> None:
    """Raises for what a plain function gave back to be awaited there."""
    if isawaitable(answer):
        if iscoroutine(answer):
            answer.close()
        raise TypeError("a plain function gave back something to be awaited, which nobody does here")
