"""Text in columns: cells padded to the width of their column, two spaces apart."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(lines: Sequence[Sequence[str]], left: int | None = None) -> list[str]:
    """Return one text a line; the first `left` columns (all, if None) are flush left, the others flush right."""
    widths = [max(len(x) for x in column) for column in zip(*lines, strict=True)]
    count = len(widths) if left is None else left
    put = [str.ljust if i < count else str.rjust for i in range(len(widths))]
    return ["  ".join(f(x, w) for f, x, w in zip(put, line, widths, strict=True)).rstrip() for line in lines]
