"""``docs/reference/python.md`` is written from the package and is current; every public name has its words.

``UPDATE_REFERENCE=1 pytest bindings/python/tests/test_reference.py`` writes it anew.
"""

from __future__ import annotations

import os

import reference


def test_every_public_name_is_documented() -> None:
    assert reference.write().silent == []


def test_the_reference_is_current() -> None:
    text = "\n".join(reference.write().text).rstrip() + "\n"
    if os.environ.get("UPDATE_REFERENCE"):
        reference.path().write_text(text)
    assert reference.path().read_text() == text, "write it anew with UPDATE_REFERENCE=1"


def test_a_name_without_words_is_found() -> None:
    page = reference.Page()
    page.add(4, "Pool.silent", "silent()", None)
    assert page.silent == ["Pool.silent"]
