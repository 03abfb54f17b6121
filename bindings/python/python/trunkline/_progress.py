"""The options of a call, and whom its progress is told."""

from __future__ import annotations

import logging

from ._options import encode
from ._results import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def call_options(
    options: Mapping[str, Any], logged: tuple[type[BaseException], ...] = (Exception,)
) -> tuple[str, Callable[[list[str]], None] | None]:
    """The options as the library reads them, and who receives the call's progress: a callable ``progress``.

    What it raises of those kinds is logged, and it is told the rest; anything else gets out of the receiver.
    """
    progress = options.get("progress") if options else None
    if not callable(progress):
        return encode("call", options), None
    return encode("call", {**options, "progress": True}), _receiver(progress, logged)


def _receiver(
    callback: Callable[[Event], object], logged: tuple[type[BaseException], ...]
) -> Callable[[list[str]], None]:
    def receive(events: list[str]) -> None:
        for text in events:
            try:
                callback(Event(text))
            except logged:  # The call goes on, whatever its audience does.
                logging.getLogger("trunkline").exception("a progress callback failed")

    return receive
