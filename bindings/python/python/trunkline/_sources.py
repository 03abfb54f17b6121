"""What configures a pool at once: its sources, its run-time servers, and its gates."""

from __future__ import annotations

import json

from ._errors import invalid, not_begun
from ._options import config_text, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Literal

    from . import _trunkline


class SourcesBase:
    """The part of a pool that both ways of waiting share. None of these calls waits for a server or a handler."""

    _native: _trunkline.Pool

    def set_gates(self, **lists: Any) -> dict[str, Any]:
        """Replaces the lists of servers that may run, within the pool's option ``launch_allowed``.

        Options: ``allowed``, ``excluded`` and ``pending``, each a list of patterns of names (``*`` any characters, ``?`` one). What is not
        given is not kept: without ``allowed`` all may run, and ``allowed=[]`` is none. What is no longer admitted ends at once; what is
        admitted again starts in the sessions that want it. A lease on what was kept out stays closed. Equal lists do nothing. It does
        not wait; the report names the servers about which it changed.
        """
        return report_of(self._native.set_gates, encode("gates", lists))

    def set_source(self, source: str, settings: Mapping[str, Any] | str | None) -> dict[str, Any]:
        """Replaces a source whole by settings, in any form that settings files have; None removes it.

        ``source`` is ``user``, ``project``, ``workspace``, ``managed``, ``session``, ``launch``, or one of these and a name of its own,
        as in ``extension:tools``. Variables in the settings are expanded, and what a ``project`` or ``workspace`` gives waits for
        approval. A bad entry is an entry of the report; settings that cannot be read raise ``ConfigError`` and change nothing.
        """
        text = None if settings is None else config_text(settings, "settings")
        return report_of(self._native.set_source, source, text)

    def switch_source(self, source: str, to: Literal["on", "off"]) -> dict[str, Any]:
        """Switches a source off, so that it is as if it were empty, or on again; a scope by itself stands for all of its sources."""
        if to not in ("on", "off"):
            raise invalid(f"to: expected 'on' or 'off', not {to!r}", path="to")
        return report_of(self._native.switch_source, source, to == "on")

    def add_server(self, server: str, config: Mapping[str, Any] | str) -> dict[str, Any]:
        """Adds a server to the run-time source, which beats every other, or replaces it there.

        ``result`` of the report is ``added``, ``replaced``, ``unchanged``, or ``refused`` with a ``reason``: then it starts when what
        refuses it is gone. Members that no rule knows are ``findings``, each with the ``nearest`` known one.
        """
        return report_of(self._native.add_server, server, config_text(config))

    def remove_server(self, server: str) -> dict[str, Any]:
        """Takes a server out of the run-time source; ``result`` is ``removed`` or ``not_present``. What another source says of it counts again."""
        return report_of(self._native.remove_server, server)


def report_of(change: Callable[..., str], *args: Any) -> dict[str, Any]:
    try:
        report: dict[str, Any] = json.loads(change(*args))
    except UnicodeEncodeError as error:
        raise not_begun(error, change, args) from None
    return report
