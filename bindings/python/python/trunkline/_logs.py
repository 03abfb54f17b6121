"""What the library logs, as records of ``logging``."""

from __future__ import annotations

import json
import logging
import threading

from . import _exit, _trunkline
from ._errors import invalid, leaving

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _queue import SimpleQueue  # What is in `queue` may be that of other threads, as of gevent.
    from typing import Any

#: Records that are taken at once.
_BATCH = 256

#: ``logging`` has no level below ``DEBUG``.
_LEVELS = {
    "error": logging.ERROR,
    "warn": logging.WARNING,
    "info": logging.INFO,
    "debug": logging.DEBUG,
    "trace": 5,
}

#: Other names of the levels, as `logging` has them; graver ones than an error stand for it.
_NAMES = {"warning": "warn", "critical": "error", "fatal": "error", "notset": "trace"}


class Logs:
    """What ``start_logs`` started. It ends with ``close()``, or at the interpreter's exit."""

    def __init__(self, level: str) -> None:
        from _queue import SimpleQueue  # What is in `queue` may be that of other threads, as of gevent.

        # The thread comes first: where there is none to be had, what was started before goes on.
        self._native: _trunkline.Logs | None = None
        self._feed: SimpleQueue[_trunkline.Logs | None] = SimpleQueue()
        name = "trunkline-logs"
        self._thread = threading.Thread(target=_run, args=(self._feed,), name=name, daemon=True)
        _exit.start_thread(self._thread, self._end)
        try:
            self._native = _trunkline.construct(_trunkline.Logs, (level,))
            self._feed.put(self._native)
        except BaseException:
            self._feed.put(None)
            raise

    def close(self) -> None:
        """Ends it, once what was logged so far is in the hands of ``logging``. Repeating it does nothing.

        It does not wait for that inside of a handler of ``logging`` that it calls, nor inside of a callback that such a handler waits for.
        """
        self._end()
        _exit.join_thread(self._thread)

    def __repr__(self) -> str:
        return f"<Logs, {'running' if self._thread.is_alive() else 'ended'}>"

    def _end(self) -> None:
        if self._native is None:
            self._feed.put(None)
        else:
            self._native.close()

    def __enter__(self) -> Logs:
        return self

    def __exit__(self, *exception: object) -> None:
        with leaving(exception):
            self.close()


def start_logs(level: str | int = "info") -> Logs:
    """Hands what the library logs, from this level on, to loggers of ``logging`` whose names begin with ``trunkline.``

    ``level`` is one of ``logging``, such as ``logging.WARNING`` or ``"WARNING"``, or ``"error"``, ``"warn"``, ``"info"``, ``"debug"`` or
    ``"trace"``, which is 5 in Python. What a logger shows is its own affair. A thread of its own calls the loggers, once for all that came meanwhile. 4096 records wait for it at most, and one
    says how many were dropped. Starting it again takes the place of what was started before. Nothing is logged without it.
    """
    return Logs(_level(level))


def _level(level: Any) -> str:
    """The library's word for a level."""
    if isinstance(level, str):
        word = level.lower()
        word = _NAMES.get(word, word)
        return word if word in _LEVELS else level  # The library refuses it.
    if isinstance(level, int) and not isinstance(level, bool):
        # The library has no level between two of its own: the next that is as grave takes its place.
        return next((word for word, least in reversed(_LEVELS.items()) if level <= least), "error")
    message = f"level: expected a level of `logging` or one of {', '.join(_LEVELS)}, not {level!r}"
    raise invalid(message, path="level")


def _run(feed: SimpleQueue[_trunkline.Logs | None]) -> None:
    try:
        native = feed.get()
        while native is not None:
            batch = native.take(_BATCH)
            for text in batch:
                _emit(json.loads(text))
            if not batch:
                if native.ended():
                    return
                native.wait()
    finally:
        _exit.forget_thread(threading.current_thread())


def _emit(row: dict[str, Any]) -> None:
    logger, level = logging.getLogger(row["logger"]), _LEVELS[row["level"]]
    if not logger.isEnabledFor(level):
        return
    fields = row["fields"]
    text = " ".join([row["message"], *(f"{name}={value}" for name, value in fields.items())])
    record = logger.makeRecord(logger.name, level, "(trunkline)", 0, text, (), None, extra={"fields": fields})
    record.created = row["time_ms"] / 1000
    record.msecs = float(row["time_ms"] % 1000)
    try:
        logger.handle(record)
    except Exception:
        # A filter of the host's: the next record is logged all the same.
        logging.getLogger("trunkline").exception("a record could not be logged")
