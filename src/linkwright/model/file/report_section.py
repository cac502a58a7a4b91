"""The section `report:` of a model file: the title block of its report, and its curves."""

from __future__ import annotations

from linkwright.errors import counted
from linkwright.model.file.text_nodes import FileNode
from linkwright.model.report_block import TEXTS, ReportBlock

REPORT_KEYS = {"title block": TEXTS, "content": ("curves",)}
MOST_LETTERS = 120  # of a text in the title block
MOST_CURVES = 24


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
                f"{name} of the report has {counted(len(said), 'letter')}; a title block has room for {MOST_LETTERS}.", name=name
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
