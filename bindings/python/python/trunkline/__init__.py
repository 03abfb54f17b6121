"""trunkline: a shared pool of MCP server connections.

The classes here are for asyncio; ``trunkline.sync`` has the same for threads.
"""

from ._aio import Acquiring, EventStream, Lease, Pool, Session
from ._errors import (
    AuthRequiredError,
    BadHandleError,
    CallInterruptedError,
    CancelledError,
    ClosedError,
    ConfigError,
    ConnectError,
    DeclinedError,
    ForkedError,
    InternalError,
    InvalidArgumentError,
    LimitError,
    NotAdmittedError,
    ProtocolError,
    ServerError,
    StoreError,
    TimeoutError,
    ToolNotFoundError,
    TrunklineError,
    UnavailableError,
    WrongThreadError,
)
from ._results import CallResult, CompletionResult, Event, PromptResult, ResourceResult, Result
from ._shared import EventCallback, detect, features
from ._trunkline import HostConnection, __version__

__all__ = [
    "Acquiring",
    "AuthRequiredError",
    "BadHandleError",
    "CallInterruptedError",
    "CallResult",
    "CancelledError",
    "ClosedError",
    "CompletionResult",
    "ConfigError",
    "ConnectError",
    "DeclinedError",
    "Event",
    "EventCallback",
    "EventStream",
    "ForkedError",
    "HostConnection",
    "InternalError",
    "InvalidArgumentError",
    "Lease",
    "LimitError",
    "List",
    "ListedItem",
    "Logs",
    "NotAdmittedError",
    "Pool",
    "Prompt",
    "PromptResult",
    "ProtocolError",
    "Refusal",
    "Resource",
    "ResourceResult",
    "ResourceTemplate",
    "Result",
    "ServerError",
    "ServerRequest",
    "Session",
    "StoreError",
    "TimeoutError",
    "Tool",
    "ToolNotFoundError",
    "TrunklineError",
    "UnavailableError",
    "WrongThreadError",
    "__version__",
    "detect",
    "events",
    "features",
    "reports",
    "start_logs",
    "types",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import events, reports, types
    from ._handlers import Refusal, ServerRequest
    from ._listed import List, ListedItem, Prompt, Resource, ResourceTemplate, Tool
    from ._logs import Logs, start_logs
else:
    #: What many hosts never ask for: an import does not wait for it.
    _LATER = {
        "_handlers": ("Refusal", "ServerRequest"),
        "_listed": ("List", "ListedItem", "Prompt", "Resource", "ResourceTemplate", "Tool"),
        "_logs": ("Logs", "start_logs"),
    }

    def __getattr__(name):
        from importlib import import_module

        if name in ("events", "reports", "types"):
            return import_module(f"{__name__}.{name}")
        for module, names in _LATER.items():
            if name in names:
                value = getattr(import_module(f"{__name__}.{module}"), name)
                if isinstance(value, type):
                    value.__module__ = __name__
                globals()[name] = value
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


    def __dir__():
        return sorted({*globals(), *__all__})


# Where users find them is where tracebacks and pickles should say that they are.
for _name in __all__:
    _value = globals().get(_name)
    if isinstance(_value, type):
        _value.__module__ = "trunkline"
del _name, _value
