"""The command line ``trunkline``, inside of this process: what the crate ``trunkline-cli`` does as a program of its own."""

from __future__ import annotations

import signal
import sys

from . import _trunkline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType


def main() -> int:
    """Carries out the command line of the process, and says how that is to exit.

    What handles SIGINT and SIGTERM is what it was, once this is over.
    """
    line = _trunkline.construct(_trunkline.CommandLine, (["trunkline", *sys.argv[1:]],))

    def interrupt(number: int, _frame: FrameType | None) -> None:
        line.interrupt(number)

    # What is ignored, as by a shell for what it runs in the background, stays ignored.
    heard = [number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, interrupt) for number in heard}
    try:
        return line.run()
    finally:
        for number, handler in before.items():
            # None was installed by something else than Python, which cannot put it back.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
