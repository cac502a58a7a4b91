"""Title block of a report: what people write on a drawing so that it can be filed, and the curves they want in it.

`read_report` reads the section `report:` of a model file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from linkwright.errors import counted

if TYPE_CHECKING:
    from linkwright.model.file.text_nodes import FileNode

TEXTS = ("title", "number", "revision", "author", "company", "date")
REPORT_KEYS = {"title block": TEXTS, "content": ("curves",)}
MOST_LETTERS = 120  # of a text in the title block
MOST_CURVES = 24


@dataclass(frozen=True)
class ReportBlock:
    """Texts of a title block, empty where not given, and channels that the report shows as curves. Nothing is filled in by itself."""

    title: str = ""
    number: str = ""  # of the document or drawing
    revision: str = ""
    author: str = ""
    company: str = ""
    date: str = ""
    curves: tuple[str, ...] = ()


def read_report(node: FileNode | None) -> ReportBlock:
    """Return the title block; an empty one where the file has none."""
    if node is None:
        return ReportBlock()
    keys = node.keys("report", REPORT_KEYS)
    texts = {}
    for name in TEXTS:
        if name not in keys:
            continue
        said = " ".join(keys[name].string(name).split())
        if len(said) > MOST_LETTERS:
            raise keys[name].error(
                f"{name} of the report has {counted(len(said), 'letter')}. A title block has room for {MOST_LETTERS}.", name=name
            )
        texts[name] = said
    return ReportBlock(**texts, curves=_curves(keys.get("curves")))


def _curves(node: FileNode | None) -> tuple[str, ...]:
    if node is None:
        return ()
    named = [x.string("curves") for x in node.items] if node.items is not None else [node.string("curves")]
    if len(named) > MOST_CURVES:
        raise node.error(f"a report shows up to {MOST_CURVES} curves, and {len(named)} are listed.")
    return tuple(dict.fromkeys(named))
