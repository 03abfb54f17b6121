"""The clients of the PyPI package ``mcp``: objects with the methods of its ``ClientSession`` and ``Client``, for one server of a trunkline session.

Each takes the place of a transport and a client of the package's; everything that it gives back are types of ``mcp``. Errors are its ``MCPError``
(``McpError`` before version 2), with the ``TrunklineError`` as ``__cause__``.
"""

# The framework is optional, and then nothing is known of its types.
# mypy: disable-error-code="import-not-found,misc,unused-ignore"

from __future__ import annotations

from . import missing

try:
    from ._mcp import MCPError
    from ._mcp_client import Client
    from ._mcp_session import ClientSession, handlers
except ImportError as error:
    raise missing("mcp", "mcp", error) from error

__all__ = ["Client", "ClientSession", "MCPError", "handlers"]
