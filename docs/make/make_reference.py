"""Writes the tables of docs/reference again that come from the program: error and warning classes, measures, formats.

python docs/make/make_reference.py
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from blocks import renewed, table  # beside this file

import linkwright as lw
from linkwright.rings.exchange import LossWarning
from linkwright.rings.exchange.import_report import ImportedModelWarning
from linkwright.text import measures

REFERENCE = Path(__file__).resolve().parents[1] / "reference"
PAGES = ("errors.md", "measures.md")
WARNINGS = (ImportedModelWarning, LossWarning)
COMMON = ("name", "value", "allowed")  # of every error


def main() -> None:
    for name in PAGES:
        page = REFERENCE / name
        page.write_text(renewed(page.read_text(encoding="utf-8"), TABLES), encoding="utf-8")


def errors() -> str:
    """Classes of errors: meaning, further attributes and the class above."""
    found = [kind for name in lw.__all__ if inspect.isclass(kind := getattr(lw, name)) and issubclass(kind, lw.LinkwrightError)]
    rows = [(f"`lw.{x.__name__}`", first(x), ", ".join(f"`{n}`" for n in attributes(x)) or "-", bases(x)) for x in found]
    return table(("class", "raised if", "attributes", "also a"), rows)


def attributes(kind: type) -> Iterator[str]:
    """Properties and annotated attributes of a class of errors."""
    for name, value in vars(kind).items():
        if isinstance(value, property) and name[0] != "_":
            yield name
    yield from (n for n in inspect.get_annotations(kind) if n[0] != "_")
    if "__init__" in vars(kind):
        yield from (n for n, p in inspect.signature(kind).parameters.items() if p.kind is p.KEYWORD_ONLY and n not in COMMON)


def bases(kind: type) -> str:
    return ", ".join(f"`{x.__name__}`" for x in kind.__bases__)


def first(kind: type) -> str:
    """First sentence of a docstring."""
    text = " ".join((inspect.getdoc(kind) or "").split("\n\n")[0].split())
    return re.split(r"(?<=[.;])\s", text, maxsplit=1)[0].rstrip(".;")


def warnings() -> str:
    return table(("class", "raised if", "attributes"), [(f"`{x.__name__}`", first(x), ", ".join(given(x))) for x in WARNINGS])


def given(kind: type) -> Iterator[str]:
    """Attributes that a warning is made with."""
    return (f"`{name}`" for name in inspect.signature(kind).parameters)


def reductions() -> str:
    """Beginnings of measures with their forms."""
    return table(("measure", "form"), [(f"`{name}`", f"`{form(name)}`") for name in measures.BEGINNINGS])


def form(name: str) -> str:
    """How a measure is written; a form that is shared begins with the first word."""
    known = measures.FORMS.get(name.split()[0], f"{name} CHANNEL")
    return next((x for x in known.split(", or ") if x.startswith(name)), f"{name} CHANNEL")


TABLES: Mapping[str, Callable[[], str]] = {"errors": errors, "warnings": warnings, "reductions": reductions}


if __name__ == "__main__":
    main()
