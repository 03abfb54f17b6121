"""The ``ClientSession`` of the PyPI package ``mcp``, for one server of a session."""

# The framework is optional, and then nothing is known of its types.
# mypy: disable-error-code="import-not-found,misc,unused-ignore"

from __future__ import annotations

import asyncio
from types import SimpleNamespace

from mcp import types

from .._errors import TrunklineError, leaving
from .._handlers import Refusal
from .._listed import defined
from . import has_plain_names, shaped
from ._mcp import (
    INTERNAL_ERROR,
    REQUEST_TIMEOUT,
    WORDS,
    as_mcp,
    call_result,
    introduced,
    model,
    models,
    prompt_result,
    raised_as,
    resource_result,
)
from ._mcp_messages import Messages, Progress
from ._mcp_options import Explained, check_name, check_session, configuration, refuse
from ._mcp_request import sent
from ._pydantic import written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence
    from typing import Any

    import trunkline
    from trunkline.types import LogLevel, SessionHandlers, ToolShape


class ClientSession(Explained):
    """One server of a session, with the methods of ``mcp.ClientSession``.

    ``async with`` acquires the server and releases it at the end; the session and the pool stay. Names are the server's own.
    Lists are those of the session's view, whole, in one page. Sampling and elicitation belong to the session: ``handlers`` makes the handlers
    that it is opened with out of ``mcp``'s callbacks. ``wait`` and ``retry`` are those of each call of a tool. Tools are listed as the server sent them, but for
    arguments whose names a model API refuses: these have others, and go to the server under its own. ``shape="mcp"`` leaves these as well; with the shape of
    one API (``Session.tools_for``) all schemas are as that takes them.
    """

    def __init__(
        self,
        session: trunkline.Session,
        server: str,
        config: Any = None,
        *,
        read_timeout_seconds: Any = None,
        logging_callback: Callable[[Any], Any] | None = None,
        message_handler: Callable[[Any], Any] | None = None,
        log_level: LogLevel | None = None,
        wait: bool = False,
        retry: str = "never",
        shape: ToolShape = "any",
        **elsewhere: Any,
    ) -> None:
        refuse("ClientSession", elsewhere)
        self._session, self._server, self._config = session, server, configuration(config)
        # What is not listed is for the server to refuse, as the package has it.
        self._shape, self._of_calls = shape, {"wait": wait, "retry": retry, "shape": shape, "unlisted": True}
        self._log_level = log_level
        self._timeout, self._message_handler = read_timeout_seconds, message_handler
        self._messages = Messages(logging_callback, message_handler, lambda name: name == server)
        self._acquired: trunkline.Lease | None = None
        self._initialized: Any = None

    async def __aenter__(self) -> ClientSession:
        check_session("session", self._session)
        check_name(self._server)
        with as_mcp():
            self._acquired = await self._session.acquire(self._server, self._config, log_level=self._log_level)
            try:
                self._messages.begin(self._session)
            except BaseException:
                self._release()
                raise
        return self

    async def __aexit__(self, *exception: object) -> None:
        # First, since what follows waits, and may be cancelled.
        with leaving(exception):
            self._release()
        await self._messages.end()

    def _release(self) -> None:
        if self._acquired is not None:
            self._acquired.release()
            self._acquired = None

    @property
    def is_held(self) -> bool:
        """Whether it has a hold on the server."""
        return self._acquired is not None

    @property
    def lease(self) -> trunkline.Lease:
        """The hold that it has on the server."""
        if self._acquired is None:
            raise RuntimeError("use it in `async with`")
        return self._acquired

    async def initialize(self) -> Any:
        """What the server said of itself."""
        lease = self.lease
        with as_mcp():
            said = lease.introduction() if lease.state == "active" else None
        if said is None:
            raise raised_as(INTERNAL_ERROR, f"{lease.server}: not connected", None)
        self._initialized = introduced(said, lease.server)
        return self._initialized

    @property
    def initialize_result(self) -> Any:
        """Of ``initialize``; None before it."""
        return self._initialized

    @property
    def protocol_version(self) -> str | None:
        """That of the connection, as ``initialize`` found it; None before."""
        return None if self._initialized is None else _dumped(self._initialized)["protocolVersion"]

    @property
    def server_info(self) -> Any:
        """What the server says that it is, of ``initialize``; None before it."""
        if self._initialized is None:
            return None
        return types.Implementation.model_validate(_dumped(self._initialized)["serverInfo"])

    @property
    def instructions(self) -> str | None:
        """How the server says that it is to be used, of ``initialize``; None before it."""
        return None if self._initialized is None else self._initialized.instructions

    @property
    def server_capabilities(self) -> Any:
        """Of ``initialize``; None before it."""
        return None if self._initialized is None else self._initialized.capabilities

    def get_server_capabilities(self) -> Any:
        """The same, as version 1 of ``mcp`` has it."""
        return self.server_capabilities

    async def list_tools(self, cursor: str | None = None, **_: Any) -> Any:
        """The server's tools in the session's view, and what it announced is among them."""
        with as_mcp():
            await self._session.listed(self._server)
            definitions = [definition for _, definition in defined(self.lease.tools())]
            if self._shape == "mcp":
                listed = models(types.Tool, definitions)
            else:
                listed = models(types.Tool, self._fitted(definitions), self._reading())
        return types.ListToolsResult.model_validate({"tools": listed})

    def _shaped(self) -> dict[str, dict[str, Any]]:
        """Definitions as model APIs take them, by the server's own names."""
        tools = shaped(self._session, [self.lease.server], self._shape)
        return {tool.own_name: {**definition, "name": tool.own_name} for tool, definition in tools}

    def _reading(self) -> Callable[[dict[str, Any]], dict[str, Any]]:
        """What the library makes of a tool that has a member of a wrong type (SPEC 18.2); its schemas stay."""
        read: dict[str, dict[str, Any]] = {}

        def reading(definition: dict[str, Any]) -> dict[str, Any]:
            if not read:
                read.update(self._shaped())
            schemas = {name: definition[name] for name in ("inputSchema", "outputSchema") if isinstance(definition.get(name), dict)}
            return {**read.get(definition["name"], definition), **schemas}

        return reading

    def _fitted(self, definitions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The same as model APIs take them."""
        if self._shape == "any" and all(map(has_plain_names, definitions)):
            return definitions
        fitted = self._shaped()
        stay = has_plain_names if self._shape == "any" else lambda _: False
        return [each if stay(each) else fitted.get(each["name"], each) for each in definitions]

    async def list_prompts(self, cursor: str | None = None, **_: Any) -> Any:
        """The server's prompts in the session's view."""
        with as_mcp():
            await self._session.listed(self._server)
            prompts = self._listed(self._session.prompts())
        return types.ListPromptsResult.model_validate({"prompts": models(types.Prompt, prompts)})

    async def list_resources(self, cursor: str | None = None, **_: Any) -> Any:
        """The server's resources in the session's view."""
        with as_mcp():
            await self._session.listed(self._server)
            resources = self._listed(self._session.resources())
        return types.ListResourcesResult.model_validate({"resources": models(types.Resource, resources)})

    async def list_resource_templates(self, cursor: str | None = None, **_: Any) -> Any:
        """The server's resource templates in the session's view."""
        with as_mcp():
            await self._session.listed(self._server)
            templates = self._listed(self._session.resource_templates())
        listed = models(types.ResourceTemplate, templates)
        return types.ListResourceTemplatesResult.model_validate({"resourceTemplates": listed})

    def _listed(self, rows: Sequence[trunkline.ListedItem]) -> list[dict[str, Any]]:
        return [definition for _, definition in defined(row for row in rows if row.server == self.lease.server)]

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        read_timeout_seconds: Any = None,
        progress_callback: Callable[[float, float | None, str | None], Any] | None = None,
        *,
        meta: Mapping[str, Any] | None = None,
        **elsewhere: Any,
    ) -> Any:
        """Calls a tool. An error that the tool reports is a result, as ever; of a tool that it does not list the server says so."""
        refuse("call_tool", elsewhere)
        options = self._options(read_timeout_seconds, meta)
        progress = self._progress(progress_callback, meta)
        try:
            with as_mcp():
                options = {**options, **self._of_calls}
                result = await self.lease.call_tool(name, written(arguments), progress=progress, **options)
            if progress is not None:
                await progress.told()
        finally:
            if progress is not None:
                progress.end()
        with as_mcp():
            decoded = result.decoded
        return call_result(decoded)

    def _progress(self, callback: Callable[..., Any] | None, meta: Mapping[str, Any] | None) -> Progress | None:
        """What gets a call's progress: its callback. ``message_handler`` gets it too, where the call has a callback or a token."""
        token = None if meta is None else meta.get("progressToken")
        handler = None if callback is None and token is None else self._message_handler
        return None if callback is None and handler is None else Progress(callback, handler, token)

    async def read_resource(self, uri: Any, *, meta: Mapping[str, Any] | None = None, **elsewhere: Any) -> Any:
        """Reads a resource."""
        refuse("read_resource", elsewhere)
        with as_mcp():
            decoded = (await self.lease.read_resource(str(uri), **self._options(None, meta))).decoded
        return resource_result(decoded, str(uri))

    async def get_prompt(
        self, name: str, arguments: dict[str, str] | None = None, *, meta: Mapping[str, Any] | None = None, **elsewhere: Any
    ) -> Any:
        """Gets a prompt."""
        refuse("get_prompt", elsewhere)
        with as_mcp():
            decoded = (await self.lease.get_prompt(name, arguments, **self._options(None, meta))).decoded
        return prompt_result(decoded)

    async def complete(
        self, ref: Any, argument: dict[str, str], context_arguments: dict[str, str] | None = None
    ) -> Any:
        """Asks for completions."""
        params: dict[str, Any] = {"ref": _dumped(ref), "argument": argument}
        if context_arguments is not None:
            params["context"] = {"arguments": context_arguments}
        with as_mcp():
            decoded = (await self.lease.complete(params, **self._options(None, None))).decoded
        return model(types.CompleteResult, decoded)

    async def subscribe_resource(self, uri: Any, **_: Any) -> Any:
        """From now on ``message_handler`` gets the updates of the resource. The session counts its subscriptions."""
        await self._bounded(self.lease.subscribe_resource(str(uri)))
        return types.EmptyResult()

    async def unsubscribe_resource(self, uri: Any, **_: Any) -> Any:
        """The counterpart of ``subscribe_resource``: with the last the session hears of no more updates."""
        await self._bounded(self.lease.unsubscribe_resource(str(uri)))
        return types.EmptyResult()

    async def send_ping(self, **_: Any) -> Any:
        """Asks the server whether it is there."""
        with as_mcp():
            await self.lease.request("ping", None, **self._options(None, None))
        return types.EmptyResult()

    async def set_logging_level(self, level: str, **_: Any) -> Any:
        """From now on the session hears what the server logs from a level on."""
        with as_mcp():
            await self.lease.request("logging/setLevel", {"level": level}, **self._options(None, None))
        return types.EmptyResult()

    async def send_request(
        self,
        request: Any,
        result_type: Any,
        request_read_timeout_seconds: Any = None,
        metadata: Any = None,
        progress_callback: Callable[[float, float | None, str | None], Any] | None = None,
    ) -> Any:
        """Sends any request of ``mcp`` or of one's own. Lists are those of the session's view, and a progress callback is for calls of tools."""
        refuse("send_request", {"metadata": metadata})
        return await sent(self, self._options, request, result_type, request_read_timeout_seconds, progress_callback)

    async def _bounded(self, subscribing: Coroutine[Any, Any, None]) -> None:
        """Waits as long as a request may take; what is then under way is cancelled."""
        seconds = self._options(None, None)["timeout"]
        with as_mcp():
            try:
                await asyncio.wait_for(subscribing, seconds)
            except TrunklineError:
                raise
            except asyncio.TimeoutError as error:
                raise raised_as(REQUEST_TIMEOUT, f"{WORDS[REQUEST_TIMEOUT]}{self._server}: no answer within {seconds} s", None) from error

    def _options(self, timeout: Any, meta: Mapping[str, Any] | None) -> dict[str, Any]:
        timeout = self._timeout if timeout is None else timeout
        if hasattr(timeout, "total_seconds"):
            timeout = timeout.total_seconds()
        # It is the only time that there is, so progress does not count.
        return {"timeout": timeout, "idle_timeout": timeout, "meta": None if meta is None else dict(meta)}


def handlers(
    *,
    sampling_callback: Callable[[Any, Any], Any] | None = None,
    sampling_capabilities: Any = None,
    elicitation_callback: Callable[[Any, Any], Any] | None = None,
) -> SessionHandlers:
    """The ``handlers`` of a pool or session, of the callbacks of ``mcp.ClientSession``."""
    out: SessionHandlers = {}
    if sampling_callback is not None:
        out["sampling"] = _answered(types.CreateMessageRequestParams, sampling_callback)
        if getattr(sampling_capabilities, "tools", None) is not None:
            out["sampling_tools"] = out["sampling"]
    if elicitation_callback is not None:
        # A union in version 2; a form is one of it. A callback is asked both, as the package's own
        # client has it.
        form = getattr(types, "ElicitRequestFormParams", None) or types.ElicitRequestParams
        out["elicitation"] = _answered(form, elicitation_callback)
        url = getattr(types, "ElicitRequestURLParams", None)
        if url is not None:
            out["elicitation_url"] = _answered(url, elicitation_callback)
    return out


def _answered(params: Any, callback: Callable[[Any, Any], Any]) -> Callable[[trunkline.ServerRequest], Any]:
    async def answer(request: trunkline.ServerRequest) -> Any:
        context = SimpleNamespace(session=None, request_id=None, meta=request.params.get("_meta"), request=request)
        given = await callback(context, params.model_validate(request.params))
        if isinstance(given, types.ErrorData):
            raise Refusal(given.code, given.message)
        return _dumped(given)

    return answer


def _dumped(value: Any) -> Any:
    return value.model_dump(by_alias=True, mode="json", exclude_none=True) if hasattr(value, "model_dump") else value
