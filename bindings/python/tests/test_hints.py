"""The types of options and shapes as programs read them at run time."""

from __future__ import annotations

from typing import get_type_hints

import pytest

from trunkline import types

DICTS = {name: value for name, value in vars(types).items() if isinstance(value, type) and hasattr(value, "__required_keys__")}

#: The classes that have required members; every other class has optional ones alone.
REQUIRED = {
    "OpenAIFunction": {"name", "parameters"},
    "OpenAITool": {"type", "function"},
    "OpenAIResponsesTool": {"type", "name", "parameters", "strict"},
    "AnthropicTool": {"name", "input_schema"},
    "GeminiTool": {"name", "parametersJsonSchema"},
}


@pytest.mark.parametrize("name", DICTS)
def test_hints_of_every_class_can_be_read(name: str) -> None:
    assert set(get_type_hints(DICTS[name])) == DICTS[name].__required_keys__ | DICTS[name].__optional_keys__


def test_required_members_are_those_that_always_come() -> None:
    assert {name: set(class_.__required_keys__) for name, class_ in DICTS.items() if class_.__required_keys__} == REQUIRED
