"""Parts of a page that a program writes: the text between `<!-- table: name -->` and `<!-- end -->`; the rest is written by hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

BLOCK = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def renewed(text: str, tables: Mapping[str, Callable[[], str]]) -> str:
    """The page with its blocks made again; a block that no table makes is an error."""
    return BLOCK.sub(lambda m: f"{m.group(1)}\n{tables[m.group(2)]()}\n\n{m.group(3)}", text)


def table(heads: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Rows below their heads in Markdown."""
    rows = [list(heads), ["---"] * len(heads), *([str(x) for x in line] for line in lines)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
