"""What a session's view lists: tools, prompts, resources. It is frozen, since callers of one session have the same items."""

from __future__ import annotations

import logging

from ._errors import ProtocolError
from ._results import decoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar

    _T = TypeVar("_T")
    _I = TypeVar("_I", bound="ListedItem")
    _Row = tuple[str, str, str, str, bool, bool, bool]

#: How much of what is left out is shown in the log, in characters.
_SHOWN = 200

_log = logging.getLogger("trunkline")


def defined(rows: Iterable[_I]) -> list[tuple[_I, dict[str, Any]]]:
    """What is listed, with its definition, to change. What Python cannot decode is left out and logged, and costs nobody the rest."""
    from ._frozen import thawed

    out = []
    for row in rows:
        try:
            out.append((row, thawed(row.definition)))
        except ProtocolError as error:
            _log.warning("left out of a list: %r of %r: %s", row.name, row.server, error)
    return out


def decoded_list(text: str, elements: Callable[[str], list[str]]) -> list[Any]:
    """A list whose elements are of different servers, frozen, likewise; `elements` takes it apart."""
    from ._frozen import decode_frozen

    try:
        whole: list[Any] = decoded(text, decode_frozen)
        return whole
    except ProtocolError:
        pass
    out = []
    for element in elements(text):
        try:
            out.append(decoded(element, decode_frozen))
        except ProtocolError as error:
            _log.warning("left out of a list: %s…: %s", element[:_SHOWN], error)
    return out


class ListedItem:
    """A tool, prompt, resource or resource template of a session's view. It is frozen, since others have the same one."""

    __slots__ = ("name", "server", "own_name", "definition_text", "trust", "always_load", "deferred", "_definition")

    #: Tools: the exposed name. Others: the server's own name, or URI.
    name: str
    #: The server.
    server: str
    #: The server's own name, or URI.
    own_name: str
    #: The definition as the server sent it.
    definition_text: str
    #: Whether the session trusts the server.
    trust: bool
    #: Tools: whether the session wants it loaded whatever else is deferred.
    always_load: bool
    #: Whether it is known from what the server listed earlier, and the session does not hold it: a call of such a tool
    #: starts the server, or waits for it.
    deferred: bool

    def __init__(self, row: _Row) -> None:
        if hasattr(self, "_definition"):
            raise AttributeError(f"a {type(self).__name__} is frozen: it is made once", obj=self)
        for name, value in zip(ListedItem.__slots__, (*row, None)):
            object.__setattr__(self, name, value)

    @property
    def definition(self) -> dict[str, Any]:
        """The definition, decoded and frozen; ``copy.deepcopy`` gives one to change.

        One that Python cannot decode raises :class:`ProtocolError`; ``definition_text`` has it.
        """
        known: dict[str, Any] | None = object.__getattribute__(self, "_definition")
        if known is None:
            from ._frozen import decode_frozen

            known = decoded(self.definition_text, decode_frozen)
            object.__setattr__(self, "_definition", known)
        return known

    @property
    def title(self) -> str | None:
        """Its name for people."""
        return self._said("title")

    @property
    def description(self) -> str | None:
        """What the server says about it."""
        return self._said("description")

    def _said(self, member: str) -> str | None:
        said = self.definition.get(member)
        return said if isinstance(said, str) else None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a {type(self).__name__} is frozen: `{name}` cannot be set", name=name, obj=self)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a {type(self).__name__} is frozen: `{name}` cannot be deleted", name=name, obj=self)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(getattr(self, name) for name in ListedItem.__slots__[:-1]),)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r} of {self.server!r}>"


class Tool(ListedItem):
    """A tool of a session's view."""

    __slots__ = ()

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments, frozen."""
        schema: dict[str, Any] = self.definition.get("inputSchema") or {}
        return schema

    @property
    def output_schema(self) -> dict[str, Any] | None:
        """The JSON schema of its structured content, frozen."""
        return self.definition.get("outputSchema")

    @property
    def annotations(self) -> dict[str, Any]:
        """Hints of the server, unverified and frozen, such as ``readOnlyHint``."""
        annotations: dict[str, Any] = self.definition.get("annotations") or {}
        return annotations


class Prompt(ListedItem):
    """A prompt of a session's view."""

    __slots__ = ()

    @property
    def arguments(self) -> list[dict[str, Any]]:
        """The arguments that it takes, frozen: ``name``, ``description`` and ``required``."""
        arguments: list[dict[str, Any]] = self.definition.get("arguments") or []
        return arguments


class Resource(ListedItem):
    """A resource of a session's view."""

    __slots__ = ()

    @property
    def uri(self) -> str:
        """Its URI."""
        return self.own_name

    @property
    def mime_type(self) -> str | None:
        """What its text or bytes are."""
        return self._said("mimeType")


class ResourceTemplate(ListedItem):
    """A resource template of a session's view."""

    __slots__ = ()

    @property
    def uri_template(self) -> str:
        """Its URI template."""
        return self.own_name

    @property
    def mime_type(self) -> str | None:
        """What the text or bytes of its resources are."""
        return self._said("mimeType")


class List(list["_T"]):
    """A list of a session's view, and its number."""

    #: The number of the list in its session, from 1: lists that differ have different ones, and later ones no smaller ones; whether
    #: an item is deferred makes no difference. A list whose number is the ``revision`` of its own ``…_changed`` event, or greater, has
    #: what the event tells. Resources and their templates share their numbers; other kinds count for themselves.
    revision: int

    def __init__(self, items: Iterable[_T], revision: int) -> None:
        super().__init__(items)
        self.revision = revision


#: The class of what each list has.
ITEMS: dict[str, type[ListedItem]] = {
    "tools": Tool,
    "prompts": Prompt,
    "resources": Resource,
    "resource_templates": ResourceTemplate,
}

# Where users find them is where tracebacks and pickles should say that they are.
for _class in (ListedItem, List, *ITEMS.values()):
    _class.__module__ = "trunkline"
del _class
