"""Text in columns: cells padded to the width of their column, two spaces apart."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def aligned(lines: Sequence[Sequence[str]], left: int | Collection[int] | None = None) -> list[str]:
    """Return one text a line; columns are flush right except those `left`: the first so many, those numbered, or all (None)."""
    widths = [max(len(x) for x in column) for column in zip(*lines, strict=True)]
    to_the_left = range(len(widths) if left is None else left) if left is None or isinstance(left, int) else left
    put = [str.ljust if i in to_the_left else str.rjust for i in range(len(widths))]
    return ["  ".join(f(x, w) for f, x, w in zip(put, line, widths, strict=True)).rstrip() for line in lines]


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int | Collection[int] = 0) -> str:
    """Return the rows below their header; units (`name [unit]`) are on a line of their own."""
    names = [h.partition(" [")[0] for h in header]
    units = [f"[{h.partition(' [')[2]}" if " [" in h else "" for h in header]
    lines = [names, units, *rows] if any(units) else [names, *rows]
    return "\n".join(aligned(lines, left))
