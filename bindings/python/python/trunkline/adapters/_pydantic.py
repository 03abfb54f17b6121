"""Arguments of calls as pydantic writes them."""

# The framework is optional, and then nothing is known of its types.
# mypy: disable-error-code="import-not-found,unused-ignore"

from __future__ import annotations

from pydantic_core import to_jsonable_python

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def written(arguments: Any) -> Any:
    """Arguments whose dates, paths, enumerations, models, bytes and sets have become JSON. What pydantic cannot write stays, and is refused by the call."""
    try:
        return to_jsonable_python(arguments, by_alias=True)
    except ValueError:  # Its error of serialization is one.
        return arguments
