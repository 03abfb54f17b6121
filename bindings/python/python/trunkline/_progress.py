"""The options of a call, and whom its progress is told."""

from __future__ import annotations

import logging

from ._audience import check_plain, check_taken
from ._options import encode
from ._results import Event, event_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def call_options(options: Mapping[str, Any]) -> tuple[str, Callable[[Event], object] | None]:
    """The options as the library reads them, and who is told the call's progress: a callable ``progress``."""
    progress = options.get("progress") if options else None
    if not callable(progress):
        return encode("call", options), None
    return encode("call", {**options, "progress": True}), progress


def receiver_of(callback: Callable[[Event], object]) -> Callable[[list[str]], None]:
    """What tells the callback on the thread that waits. Its failures are logged, and it is told the rest; what else it raises gets out."""
    check_plain(callback, "progress")

    def receive(events: list[str]) -> None:
        for text in events:
            try:
                check_taken(callback(event_of(text)))
            except Exception:  # The call goes on, whatever its audience does.
                logging.getLogger("trunkline").exception("a progress callback failed")

    return receive
