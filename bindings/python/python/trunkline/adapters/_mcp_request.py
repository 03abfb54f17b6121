"""A request of the PyPI package ``mcp`` as its clients send it: by the method that is there for it, so that filters count, else as it is."""

# The framework is optional, and then nothing is known of its types.
# mypy: disable-error-code="import-not-found,misc,unused-ignore"

from __future__ import annotations

from .._errors import invalid
from ._mcp import INTERNAL_ERROR, as_mcp, prompt_result, raised_as, resource_result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ._mcp_session import ClientSession


async def sent(
    session: ClientSession,
    options_of: Callable[[Any, Any], dict[str, Any]],
    request: Any,
    result_type: Any,
    timeout: Any,
    progress: Callable[..., Any] | None,
) -> Any:
    """What the server answers, in that type. ``options_of`` gives a call's, of a time and a ``_meta``."""
    said = _plain(request)
    method, params = said["method"], said.get("params") or {}
    meta = params.get("_meta")
    for member in params.keys() - _TAKEN.get(method, params.keys()):
        raise invalid(f"params.{member}: a call here does not take it, and it would be lost", path=f"params.{member}")
    if method == "tools/call":
        result = await session.call_tool(params["name"], params.get("arguments"), timeout, progress, meta=meta)
        return _typed(result_type, _plain(result))
    if method in _LISTED:
        return _typed(result_type, _plain(await _LISTED[method](session, params)))
    bare = {name: value for name, value in params.items() if name != "_meta"}
    with as_mcp():
        lease, options = session.lease, options_of(timeout, meta)
        if method == "prompts/get":
            decoded = (await lease.get_prompt(params["name"], params.get("arguments"), **options)).decoded
            return _typed(result_type, _plain(prompt_result(decoded)))
        if method == "resources/read":
            decoded = (await lease.read_resource(params["uri"], **options)).decoded
            return _typed(result_type, _plain(resource_result(decoded, params["uri"])))
        return _typed(result_type, (await lease.request(method, bare or None, **options)).decoded)


#: The members that a method takes. Others would ask for what it does not do, such as a task.
_TAKEN = {
    "tools/call": {"name", "arguments", "_meta"},
    "prompts/get": {"name", "arguments", "_meta"},
    "resources/read": {"uri", "_meta"},
}

#: What is answered from the session's view, or is counted by the session.
_LISTED: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "initialize": lambda session, params: session.initialize(),
    "tools/list": lambda session, params: session.list_tools(),
    "prompts/list": lambda session, params: session.list_prompts(),
    "resources/list": lambda session, params: session.list_resources(),
    "resources/templates/list": lambda session, params: session.list_resource_templates(),
    "resources/subscribe": lambda session, params: session.subscribe_resource(params["uri"]),
    "resources/unsubscribe": lambda session, params: session.unsubscribe_resource(params["uri"]),
}


def _plain(value: Any) -> Any:
    return value.model_dump(by_alias=True, mode="json", exclude_none=True)


def _typed(kind: Any, decoded: Any) -> Any:
    """In that type, a model or an adapter of types."""
    try:
        return (getattr(kind, "model_validate", None) or kind.validate_python)(decoded)
    except ValueError as error:
        raise raised_as(INTERNAL_ERROR, f"an answer that is not as its type has it: {error}", None) from error
