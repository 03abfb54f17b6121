"""Sessions in the terms of agent frameworks, one module for each: ``langchain``, ``openai_agents``, ``pydantic_ai`` and ``mcp``.

A module is imported by its own name, and imports its framework then; nothing here imports any of them.
"""

from __future__ import annotations


def missing(module: str, package: str, error: ImportError) -> ImportError:
    """What to raise when a framework is not installed."""
    return ImportError(f"trunkline.adapters.{module} needs {package}: pip install {package} ({error})", name=error.name)
