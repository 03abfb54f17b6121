"""What holds of the adapters without their frameworks."""

from __future__ import annotations

import pytest

from host import ended_well, python

#: Each module, what it imports, and what the error names that is to be installed.
MODULES = {
    "langchain": ("langchain_core", "langchain-core"),
    "openai_agents": ("agents", "openai-agents"),
    "pydantic_ai": ("pydantic_ai", "'pydantic-ai-slim>=2.16'"),
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
    said = refused(module, f"sys.modules[{imported!r}] = None")
    assert f"trunkline.adapters.{module} needs {package.strip(QUOTE)}: pip install {package} (" in said


@pytest.mark.parametrize("module", MODULES)
def test_a_framework_of_another_version_is_not_called_missing(module: str) -> None:
    imported, package = MODULES[module]
    said = refused(module, f"sys.modules[{imported!r}] = types.ModuleType({imported!r})")
    wanted = f"{package.strip(QUOTE)}, and another version is installed: pip install --upgrade {package} ("
    assert f"trunkline.adapters.{module} needs {wanted}" in said


QUOTE = "'"


def refused(module: str, before: str) -> str:
    """What the import says."""
    program = (
        "import sys, types\n"
        f"{before}\n"
        "try:\n"
        f"    import trunkline.adapters.{module}\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    done = python(program)
    ended_well(done)
    return done.stdout
