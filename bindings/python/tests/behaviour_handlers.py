"""Handlers of a session or pool, as a behaviour case scripts them (``docs/internals/behaviour.md``)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from trunkline import Event, Refusal, ServerRequest

from host import HANG

#: What a handler was asked, as cases know it.
FIELDS = ("kind", "server", "entry_index", "generation", "session", "method", "params")

#: Between two looks of a thread whether anybody still waits for it, in seconds.
LOOK = 0.01


def scripted(scripts: dict[str, Any], asked: list[Any], blocks: bool) -> dict[str, Callable[..., Any]]:
    """The handlers that a case describes, plain ones that block or coroutines; what they are asked goes to `asked`."""

    def logging(event: Event) -> None:
        asked.append(event.decoded)

    make = _plain if blocks else _coroutine
    return {
        name: logging if name == "logging" else make(script, asked) for name, script in scripts.items()
    }


def _plain(script: dict[str, Any], asked: list[Any]) -> Callable[..., Any]:
    def handler(request: ServerRequest) -> Any:
        asked.append({name: getattr(request, name) for name in FIELDS})
        while script.get("silent") and not request.withdrawn:
            time.sleep(LOOK)
        time.sleep(script.get("after_ms", 0) / 1000)
        return _end(script)

    return handler


def _coroutine(script: dict[str, Any], asked: list[Any]) -> Callable[..., Any]:
    async def handler(request: ServerRequest) -> Any:
        asked.append({name: getattr(request, name) for name in FIELDS})
        await asyncio.sleep(HANG if script.get("silent") else script.get("after_ms", 0) / 1000)
        return _end(script)

    return handler


def _end(script: dict[str, Any]) -> Any:
    if "refuse" in script:
        raise Refusal(script["refuse"]["code"], script["refuse"]["message"])
    if script.get("fail"):
        raise ValueError("the script wants the handler to fail")
    return script.get("answer")
