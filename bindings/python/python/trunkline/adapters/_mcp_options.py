"""Options of the clients of the PyPI package ``mcp`` that are said elsewhere here, and servers as its users write them down."""

# The framework is optional, and then nothing is known of its types.
# mypy: disable-error-code="import-not-found,misc,unused-ignore"

from __future__ import annotations

from mcp import StdioServerParameters

from .._errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_HANDLERS = "it belongs to the conversation: `pool.session(id, handlers=handlers({}=...))`, or `Client(pool, ...)`, which opens one of its own"
_NEGOTIATED = "the pool negotiates the revision, once for all who share the server"
_EXTENSIONS = "extensions of the protocol are not supported, and the server is not told of any"
_ROUNDS = "the pool answers what a call needs by the handlers, within its own bound; a round cannot be begun by hand"

#: Each option: the value that asks for nothing, and why no other is taken.
_ELSEWHERE: dict[str, tuple[Any, str]] = {
    "sampling_callback": (None, _HANDLERS.format("sampling_callback")),
    "sampling_capabilities": (None, _HANDLERS.format("sampling_capabilities")),
    "elicitation_callback": (None, _HANDLERS.format("elicitation_callback")),
    "list_roots_callback": (None, "the folders are the option `roots` of the pool, and `set_roots` changes them"),
    "client_info": (None, "the pool says who speaks, to a server that several share"),
    "mode": ("auto", _NEGOTIATED),
    "prior_discover": (None, _NEGOTIATED),
    "input_required_max_rounds": (10, _ROUNDS),
    "input_responses": (None, _ROUNDS),
    "request_state": (None, _ROUNDS),
    "allow_input_required": (False, _ROUNDS),
    "allow_claimed": (False, _EXTENSIONS),
    "extensions": (None, _EXTENSIONS),
    "result_claims": (None, _EXTENSIONS),
    "notification_bindings": (None, _EXTENSIONS),
    "cache": (None, "lists come from the session's view, and what is read is kept nowhere"),
    "raise_exceptions": (False, "no server runs in this process; `session.provide` has one of the host's own"),
    "dispatcher": (None, "the connection is the pool's"),
}


def refuse(whose: str, given: Mapping[str, Any]) -> None:
    """Refuses each option that asks for something which is said elsewhere, or nowhere."""
    for name, value in given.items():
        if name not in _ELSEWHERE:
            raise TypeError(f"{whose} has no option {name!r}")
        nothing, why = _ELSEWHERE[name]
        if value != nothing and value is not None and value != ():
            raise invalid(f"{name}: {why}", path=name)


def configuration(config: Any) -> Any:
    """A server's configuration, as ``mcp`` has it or as the library has."""
    if isinstance(config, StdioServerParameters):
        made: dict[str, Any] = {"command": config.command, "args": list(config.args)}
        if config.env is not None:
            made["env"] = dict(config.env)
        if config.cwd is not None:
            made["cwd"] = str(config.cwd)
        return made
    is_address = isinstance(config, str) and config.startswith(("http://", "https://"))
    return {"url": config} if is_address else config
