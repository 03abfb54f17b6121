"""What the clients of the PyPI package ``mcp`` have and those here refuse, with the reason; and servers as its users write them down."""

# The framework is optional, and then nothing is known of its types.
# mypy: disable-error-code="import-not-found,misc,unused-ignore"

from __future__ import annotations

from mcp import StdioServerParameters

from .. import Pool, sync
from .._errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_HANDLERS = "it belongs to the conversation: `pool.session(id, handlers=handlers({}=...))`, or `Client(pool, ...)`, which opens one of its own"
_NEGOTIATED = "the pool negotiates the revision, once for all who share the server"
_EXTENSIONS = "extensions of the protocol are not supported, and the server is not told of any"
_ROUNDS = "the pool answers what a call needs by the handlers, within its own bound; a round cannot be begun by hand"
_TASKS = "tasks are not supported, and the server is not told of any"

#: What merely permits what does not come here.
_EITHER = (False, True)

#: Each option: the value that asks for nothing, or all of them, and why no other is taken.
_ELSEWHERE: dict[str, tuple[Any, str]] = {
    "sampling_callback": (None, _HANDLERS.format("sampling_callback")),
    "sampling_capabilities": (None, _HANDLERS.format("sampling_capabilities")),
    "elicitation_callback": (None, _HANDLERS.format("elicitation_callback")),
    "list_roots_callback": (None, "the folders are the option `roots` of the pool, and `set_roots` changes them"),
    "client_info": (None, "it is the option `client_info` of the pool, which speaks to servers for all of its sessions"),
    "mode": ("auto", _NEGOTIATED),
    "prior_discover": (None, _NEGOTIATED),
    "input_required_max_rounds": (10, _ROUNDS),
    "input_responses": (None, _ROUNDS),
    "request_state": (None, _ROUNDS),
    "allow_input_required": (_EITHER, _ROUNDS),
    "allow_claimed": (_EITHER, _EXTENSIONS),
    "extensions": (None, _EXTENSIONS),
    "result_claims": (None, _EXTENSIONS),
    "notification_bindings": (None, _EXTENSIONS),
    "cache": (None, "lists come from the session's view, and what is read is kept nowhere"),
    "raise_exceptions": (False, "no server runs in this process; `session.provide` has one of the host's own"),
    "dispatcher": (None, "the connection is the pool's"),
    "metadata": (None, "the connection is the pool's, which resumes it"),
    "experimental_task_handlers": (None, _TASKS),
}

#: Each attribute of theirs that is not there, and why.
_ABSENT = {
    "discover": _NEGOTIATED,
    "discover_result": _NEGOTIATED,
    "send_discover": _NEGOTIATED,
    "adopt": _NEGOTIATED,
    "dispatch_input_request": _ROUNDS,
    "validate_tool_result": "structured content is not checked against the tool's output schema",
    "send_notification": "the pool sends what a server must be told",
    "send_progress_notification": "a handler tells its progress by the request that it answers",
    "send_roots_list_changed": "`set_roots` tells the servers",
    "experimental": _TASKS,
    "add_response_router": _TASKS,
}


class Explained:
    """Says why an attribute of the package's is not there."""

    if not TYPE_CHECKING:  # Else every name were one to a checker of types.

        def __getattr__(self, name: str) -> Any:
            kind = type(self).__name__
            if name in _ABSENT:
                raise AttributeError(f"{kind} has no {name}: {_ABSENT[name]}", name=name, obj=self)
            raise AttributeError(f"{kind!r} object has no attribute {name!r}", name=name, obj=self)


def check_session(path: str, session: Any) -> None:
    """Refuses what is no session of asyncio, such as a transport or an address."""
    if isinstance(session, (type, Pool, sync.Pool, sync.Session)) or not hasattr(session, "acquire"):
        kind = session if isinstance(session, type) else type(session)
        wanted = "session" if path == "session" else "pool or session"
        raise invalid(f"{path}: a {wanted} of trunkline is needed, on asyncio, and not {kind.__module__}.{kind.__qualname__}", path=path)


def check_name(server: Any) -> None:
    """Refuses what names no server, such as its configuration, which follows the name."""
    if not isinstance(server, str):
        raise invalid(f"server: a name is needed, and not {type(server).__qualname__}: the configuration follows it", path="server")


def refuse(whose: str, given: Mapping[str, Any]) -> None:
    """Refuses each option that asks for something which is said elsewhere, or nowhere."""
    for name, value in given.items():
        if name not in _ELSEWHERE:
            raise TypeError(f"{whose} has no option {name!r}")
        nothing, why = _ELSEWHERE[name]
        if value is not None and value != () and value not in (nothing if isinstance(nothing, tuple) else (nothing,)):
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
