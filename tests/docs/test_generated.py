"""Tables that a program writes are current, and the page on the model file has every key of the schema."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

import linkwright as lw
from tests.scripts import docs_script

ONE_PAGE = ("make_model_file", "make_formats")


@pytest.mark.parametrize("name", ONE_PAGE)
def test_tables_of_a_page_are_current(name: str) -> None:
    make = docs_script(name)
    text = make.PAGE.read_text(encoding="utf-8")
    assert make.renewed(text, make.TABLES) == text, f"run `python docs/make/{name}.py`"
    assert sorted(re.findall(r"<!-- table: ([\w-]+) -->", text)) == sorted(make.TABLES)


def test_tables_of_several_pages_are_current() -> None:
    make = docs_script("make_reference")
    for page in make.PAGES:
        text = page.read_text(encoding="utf-8")
        assert make.renewed(text, make.TABLES) == text, "run `python docs/make/make_reference.py`"


def test_the_page_on_the_model_file_has_every_key() -> None:
    text = docs_script("make_model_file").PAGE.read_text(encoding="utf-8")
    missing = [key for key in sorted(set(keys(lw.schema()))) if not re.search(rf"`{key}[`:]|[{{ ]{key}[:,}}]", text)]
    assert not missing


def keys(form: Any) -> Iterator[str]:
    """All keys that a schema knows."""
    if isinstance(form, dict):
        yield from form.get("properties", {})
        for inner in form.values():
            yield from keys(inner)
    elif isinstance(form, list):
        for inner in form:
            yield from keys(inner)
