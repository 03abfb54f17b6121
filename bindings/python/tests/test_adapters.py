"""What holds of the adapters without their frameworks."""

from __future__ import annotations

import pytest

from host import ended_well, python

#: Each module, and what the error names that is to be installed.
MODULES = {
    "langchain": ("langchain_core", "langchain-core"),
    "openai_agents": ("agents", "openai-agents"),
    "pydantic_ai": ("pydantic_ai", "pydantic-ai-slim"),
    "mcp": ("mcp", "mcp"),
}


def test_the_package_imports_no_adapter_and_no_framework() -> None:
    program = (
        "import sys, trunkline, trunkline.sync\n"
        "wrong = {'mcp', 'agents', 'pydantic_ai', 'langchain_core', 'trunkline.adapters'} & set(sys.modules)\n"
        "assert not wrong, wrong\n"
        "import trunkline.adapters\n"
        "wrong = {name for name in sys.modules if name.startswith('trunkline.adapters.')}\n"
        "assert not wrong, wrong\n"
    )
    ended_well(python(program))


@pytest.mark.parametrize("module", MODULES)
def test_a_missing_framework_is_named(module: str) -> None:
    """Whether it is installed here or not: an entry of None keeps it from being found."""
    imported, package = MODULES[module]
    program = (
        "import sys\n"
        f"sys.modules[{imported!r}] = None\n"
        "try:\n"
        f"    import trunkline.adapters.{module}\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    done = python(program)
    ended_well(done)
    assert f"trunkline.adapters.{module} needs {package}: pip install {package}" in done.stdout
