"""Desks: how requests come to handlers, and answers back. Only a host that has handlers loads this."""

from __future__ import annotations

import inspect
import logging
import threading
import weakref
from asyncio import get_running_loop
from collections.abc import Mapping
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from _queue import SimpleQueue  # What is in `queue` may be that of other threads, as of gevent.

from . import _exit, _trunkline
from ._audience import INTERRUPTS, Audience, check_plain, check_taken, new_untold
from ._bridge import NO_LOOP, bridge_of, next_token
from ._errors import ForkedError, InvalidArgumentError, invalid
from ._handlers import Refusal, ServerRequest
from ._options import _encode, milliseconds
from ._results import Event, event_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Task
    from collections import deque
    from collections.abc import Callable
    from typing import Any

#: What a server gets when a handler does not do its part.
_INTERNAL_ERROR = -32603

_log = logging.getLogger("trunkline")


def _bearer(answer: object) -> dict[str, object]:
    """What a host gives a server to be let in with: the token, or it and how long it lives; None for none.

    The library reads the rest; what JSON has no word for is judged here.
    """
    if answer is None or isinstance(answer, str):
        return {"token": answer}
    if not isinstance(answer, Mapping):
        raise invalid(f"answer: expected a token, not {type(answer).__name__}", path="answer")
    token, lives = answer.get("token"), answer.get("expires_in")
    if token is not None and not isinstance(token, str):
        raise invalid(f"token: expected a text, not {type(token).__name__}", path="token")
    return {"token": token, "expires_in_ms": None if lives is None else milliseconds(lives, "expires_in")}


def _settled(kind: str, answer: object) -> object:
    """What a host gives for settings: a text, where one is asked for, and None for none; of an entry None keeps it."""
    if answer is None:
        return {}
    if kind == "entries":
        return answer
    return {"value": answer} if isinstance(answer, str) else answer


def _written(message: str) -> str:
    """The text with U+FFFD for each half of a surrogate pair, which has no form in UTF-8."""
    return message.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class _Closed:
    """Whether a desk is closed. An event of ``threading`` has a lock, which its own thread may hold when the collector runs there."""

    __slots__ = ("is_set",)

    def __init__(self) -> None:
        self.is_set = False


class Desk:
    """Brings requests to the handlers, and their answers back. Each way of waiting has its own.

    Its owner alone keeps it. Handlers may refer to their session, so nothing outside of the two may refer to them for longer
    than a request of theirs is open: a session that is forgotten has to be collected.
    """

    def __init__(self, handlers: Mapping[str, Callable[..., Any]]) -> None:
        if not hasattr(handlers, "items"):
            raise invalid("handlers: expected functions by their names", path="handlers")
        for name, handler in handlers.items():
            if not callable(handler):
                raise invalid(f"handlers.{name}: expected a function", path=f"handlers.{name}")
        self._handlers = dict(handlers)
        self._open: dict[int, ServerRequest] = {}
        self._closed = _Closed()
        self.native = _trunkline.construct(_trunkline.Desk, (list(self._handlers),))
        #: Ends what is left of the requests, without the handlers.
        self._end: Callable[[], None] = partial(_withdraw_all, self._open, self._closed)
        self._ending: weakref.finalize[Any, Any] | None = None

    def serve(self, owner: object) -> None:
        """It ends with its pool or session."""
        self._ending = weakref.finalize(owner, self._end)
        self._ending.atexit = False

    def close(self) -> None:
        """Ends what is left of the requests, once."""
        if self._ending is None:
            self._end()
        else:
            self._ending()

    def _look(self) -> None:
        """Takes the news. What a function of the host's raises to end the program gets out, once all of them are taken."""
        interrupt: BaseException | None = None
        for news in self.native.take():
            try:
                self._hear(*news)
            except INTERRUPTS as error:
                interrupt = interrupt or error
        if interrupt is not None:
            raise interrupt

    def _hear(self, news: str, number: int, text: str) -> None:
        if news == "asked":
            # What a server sends may be more than Python decodes, and a thread may not be had.
            try:
                request = self._open[number] = ServerRequest(text)
                # Behind the place in the list: a close on another thread has withdrawn it there, or is seen here. What is open when its
                # session closes the library itself declines, so that no close has to refuse it; but the desk of an owner that is
                # collected ends before the session does, and one that comes in between is refused here.
                if self._closed.is_set:
                    self._refuse(number)
                else:
                    self._begin(number, request)
            except Exception as error:
                self._fail(number, error)
        elif news == "withdrawn":
            withdrawn = self._open.pop(number, None)
            if withdrawn is not None:
                withdrawn.withdrawn = True
                self._withdraw(number)
        else:
            self._logged(event_of(text))

    def _begin(self, number: int, request: ServerRequest) -> None:
        raise NotImplementedError

    def _withdraw(self, number: int) -> None:
        raise NotImplementedError

    def _logged(self, event: Event) -> None:
        try:
            check_taken(_tell_open(self._closed, self._handlers["logging"], event))
        except INTERRUPTS:
            raise
        except BaseException:  # A cancellation too: the news behind it are somebody else's.
            _log.exception("the logging handler failed")

    def _handler(self, request: ServerRequest) -> Callable[..., Any]:
        handler = self._handlers.get(request.kind)
        return self._handlers["sampling_tools"] if handler is None else handler

    def _give(self, number: int, request: ServerRequest, answer: object) -> None:
        """The handler's answer; what is no answer is a failure."""
        if request.kind == "credentials":
            try:
                answer = _bearer(answer)
            except InvalidArgumentError as error:
                self._open.pop(number, None)
                self.native.unfit(number, error.detail["path"], error.message)
                return
        if request.kind in ("inputs", "secrets", "entries"):
            answer = _settled(request.kind, answer)
        if not isinstance(answer, (Mapping, str)):
            raise TypeError(f"a handler's answer is a mapping, not {type(answer).__name__}")
        text = answer if isinstance(answer, str) else _encode(answer)
        self._open.pop(number, None)
        self.native.answer(number, text)

    def _fail(self, number: int, error: BaseException) -> None:
        if isinstance(error, Refusal):
            try:
                self._refuse(number, error.code, _written(error.message))
                return
            except Exception as unfit:  # It is the host's own object, which may have become anything.
                error = unfit
        if isinstance(error, Exception):
            _log.error("a handler failed", exc_info=error)
        self._refuse(number)

    def _refuse(self, number: int, code: int = _INTERNAL_ERROR, message: str = "the handler failed") -> None:
        self._open.pop(number, None)
        self.native.refuse(number, code, message)


def _tell_open(closed: _Closed, logging: Callable[[Event], object], event: Event) -> object:
    """Tells it the handler, which hears nothing once its desk is closed, whatever was on its way by then."""
    return None if closed.is_set else logging(event)


# What ends a desk runs wherever its owner goes: on any thread, in the midst of anything, when the collector runs. So it takes no lock,
# and calls nothing of the host's. (To put something into a `SimpleQueue` is allowed there.)


def _withdraw_all(open_requests: dict[int, ServerRequest], closed: _Closed) -> None:
    closed.is_set = True
    for request in open_requests.copy().values():
        request.withdrawn = True


class LoopDesk(Desk):
    """For asyncio: handlers, plain ones and coroutines, run on the loop and in the context in which they were given."""

    def __init__(self, handlers: Mapping[str, Callable[..., Any]]) -> None:
        try:
            self._loop = get_running_loop()
        except RuntimeError:
            raise invalid(
                f"handlers: {NO_LOOP}", path="handlers"
            ) from None
        super().__init__(handlers)
        self._tasks: dict[int, Task[None]] = {}
        self._audience: Audience | None = None
        self._untold = new_untold()
        self._end = partial(
            _cancel_all, self._open, self._closed, self.native, self._tasks, self._untold, weakref.ref(self._loop)
        )
        bridge, token = bridge_of(self._loop), next_token()
        self._context = copy_context()
        look = weakref.WeakMethod(self._look_around)

        def woken(_nothing: object) -> None:
            method = look()
            if method is not None:
                method()

        bridge.receivers[token] = woken
        bridge.endings[token] = partial(_abandon, self._open, self._closed, self.native)
        weakref.finalize(self, bridge.receivers.pop, token, None)
        weakref.finalize(self, bridge.endings.pop, token, None)
        self.native.wake_loop(bridge, token)

    def _look_around(self) -> None:
        self._context.copy().run(self._look)

    def _logged(self, event: Event) -> None:
        if self._audience is None:
            logging = partial(_tell_open, self._closed, self._handlers["logging"])
            self._audience = Audience(logging, "the logging handler failed", self._tasks, self._untold)
        self._audience.tell(event)

    def _begin(self, number: int, request: ServerRequest) -> None:
        task = self._loop.create_task(self._answer(number, request))
        self._tasks[number] = task
        task.add_done_callback(lambda _task: self._ended(number, request))

    def _ended(self, number: int, request: ServerRequest) -> None:
        self._tasks.pop(number, None)
        # Cancelled before its first step, it answered nothing.
        if number in self._open and not request.withdrawn:
            self._refuse(number)

    def _withdraw(self, number: int) -> None:
        task = self._tasks.get(number)
        if task is not None:
            task.cancel()

    async def _answer(self, number: int, request: ServerRequest) -> None:
        if request.withdrawn:
            return
        try:
            answer = self._handler(request)(request)
            if inspect.isawaitable(answer):
                answer = await answer
            self._give(number, request, answer)
        except BaseException as error:
            if not request.withdrawn:
                self._fail(number, error)
            if not isinstance(error, Exception):
                raise


def _abandon(open_requests: dict[int, ServerRequest], closed: _Closed, native: _trunkline.Desk) -> None:
    """Their loop is closed: nobody answers any more, and a server need not wait for that."""
    _withdraw_all(open_requests, closed)
    with suppress(ForkedError):
        native.abandon()


def _cancel_all(
    open_requests: dict[int, ServerRequest],
    closed: _Closed,
    native: _trunkline.Desk,
    tasks: dict[int, Task[None]],
    untold: deque[Event],
    loop_ref: weakref.ref[AbstractEventLoop],
) -> None:
    _withdraw_all(open_requests, closed)
    loop = loop_ref()
    # After a fork the loop's wake-up is that of the parent's loop.
    if loop is not None and not native.inherited():
        with suppress(RuntimeError):  # It is closed, and its tasks with it.
            loop.call_soon_threadsafe(_cancel_tasks, tasks, untold)


def _cancel_tasks(tasks: dict[int, Task[None]], untold: deque[Event]) -> None:
    # What waits is not told, whatever becomes of the cancellation.
    untold.clear()
    for task in list(tasks.values()):
        task.cancel()


class ThreadDesk(Desk):
    """For threads: each request has one of its own, and the log another, so that a handler may block."""

    def __init__(self, handlers: Mapping[str, Callable[..., Any]]) -> None:
        super().__init__(handlers)
        for name, handler in self._handlers.items():
            check_plain(handler, f"handlers.{name}")
        closed = self._closed
        self._untold = new_untold()
        # One item at most, but for those of the end.
        self._bell: SimpleQueue[None] = SimpleQueue()
        self.native.wake_threads()
        self._end = partial(_end_threads, self._open, closed, self.native, self._bell)
        self._start(_attend, "trunkline-handlers", closed, self.native)
        if "logging" in self._handlers:
            self._start(_tell_log, "trunkline-logging", closed, self._untold, self._bell)

    def _start(self, work: Callable[..., None], name: str, *args: Any) -> None:
        thread = threading.Thread(target=work, args=(weakref.ref(self), *args), name=name, daemon=True)
        # Where it cannot be had, one that began before has nothing to wait for.
        _exit.start_thread(thread, self._end)

    def _logged(self, event: Event) -> None:
        self._untold.append(event)
        if self._bell.empty():
            self._bell.put(None)

    def _tell(self, event: Event) -> None:
        super()._logged(event)

    def _begin(self, number: int, request: ServerRequest) -> None:
        name = f"trunkline-{request.kind}"
        threading.Thread(target=self._answer, args=(number, request), name=name, daemon=True).start()

    def _withdraw(self, number: int) -> None:
        pass  # A thread cannot be cancelled; the request says that it is withdrawn.

    def _answer(self, number: int, request: ServerRequest) -> None:
        if request.withdrawn:
            return
        try:
            answer = self._handler(request)(request)
            check_taken(answer)
            self._give(number, request, answer)
        except BaseException as error:
            if not request.withdrawn:
                self._fail(number, error)


def _attend(desk: weakref.ref[ThreadDesk], closed: _Closed, native: _trunkline.Desk) -> None:
    """Looks whenever there is news. While it waits it keeps no desk."""
    try:
        while not closed.is_set:
            there = desk()
            if there is None:
                return
            try:
                there._look()
            except BaseException:  # Nobody is behind this thread, and other requests are before it.
                _log.exception("what arrived was not taken")
            del there
            native.wait()
    finally:
        _exit.forget_thread(threading.current_thread())


def _tell_log(
    desk: weakref.ref[ThreadDesk], closed: _Closed, untold: deque[Event], bell: SimpleQueue[None]
) -> None:
    """Tells the log, whenever there is something to tell. While it waits it keeps no desk."""
    try:
        while True:
            bell.get()
            while untold and not closed.is_set:
                there = desk()
                if there is None:
                    return
                try:
                    there._tell(untold.popleft())
                except BaseException:  # Nobody is behind this thread, and the rest of the log is before it.
                    _log.exception("the logging handler failed")
                del there
            if closed.is_set:
                return
    finally:
        _exit.forget_thread(threading.current_thread())


def _end_threads(
    open_requests: dict[int, ServerRequest], closed: _Closed, native: _trunkline.Desk, bell: SimpleQueue[None]
) -> None:
    _withdraw_all(open_requests, closed)
    if not native.inherited():  # Otherwise the threads are the parent's.
        native.rouse()
        bell.put(None)
