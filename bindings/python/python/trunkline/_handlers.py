"""Handlers: what the host is asked, and how it declines."""

from __future__ import annotations

import json

from ._errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Refusal(Exception):
    """Raised by a handler: the server gets this JSON-RPC error in place of an answer. -1 stands for a user who declines."""

    def __init__(self, code: int, message: str) -> None:
        if not isinstance(code, int) or not -(2**31) <= code < 2**31:
            raise invalid("code: a JSON-RPC error code is an integer of 32 bits", path="code")
        super().__init__(code, message)
        self.code = code
        self.message = str(message)


class ServerRequest:
    """What a server asks, or the library for credentials and for settings: ``kind`` (the handler's name), ``method`` and ``params``, and who
    asks whom."""

    __slots__ = (
        "entry_index", "generation", "kind", "method", "params", "server", "session", "withdrawn",
    )

    def __init__(self, text: str) -> None:
        fields = json.loads(text)
        #: ``sampling``, ``sampling_tools``, ``elicitation``, ``elicitation_url``; ``credentials``, ``inputs``, ``secrets``, ``entries``.
        self.kind: str = fields["kind"]
        #: The server's name. What it sends is to be shown to people with care.
        self.server: str = fields["server"]
        #: The index of its entry; None for what a configuration asks.
        self.entry_index: int | None = fields["entry_index"]
        #: The incarnation of its connection; None for what a configuration asks.
        self.generation: int | None = fields["generation"]
        #: The id of the session that is asked; None for what is the pool's.
        self.session: str | None = fields["session"]
        #: The protocol's method; where the library asks, the kind.
        self.method: str = fields["method"]
        #: The params of the request, as the server sent them; for credentials ``url``, ``reason``, ``scopes`` and ``challenge``; for
        #: ``inputs`` ``id``, ``source`` and what is declared, for ``secrets`` ``name`` and ``source``, for ``entries`` ``source``
        #: and ``configuration``.
        self.params: dict[str, Any] = fields["params"]
        #: Whether nobody waits for the answer any more. A coroutine is cancelled then.
        self.withdrawn: bool = False

    def __repr__(self) -> str:
        return f"<ServerRequest {self.kind} of {self.server!r} to {self.session!r}>"
