"""The papers' examples computed again: what is printed, what comes out here, and a verdict on each.

    reproduce("Chaudhary2007")      its items, one by one as they are computed
    linkwright reproduce            all papers as a table
    linkwright reproduce synthesis  figures of the literature on synthesis

Every paper is one module with a list `ITEMS` of functions; each returns an `Item` and cites the place it is about. `agrees` is
only said of a number: `deviation` is its distance from what is printed, or where the paper prints a figure that cannot be read
from the text, from a value obtained independently (`reference`: another method, more digits), within `tolerance`. `differs`
says why: most often the printed equation has an error that the paper's own results do not show. Extremes of a curve are located
between samples (`papers.extremes`). An item about a figure can draw it again: `item.figure(path)` writes a PNG.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from linkwright.errors import UsageError, nearest

PAPERS = {
    "Koul2013": "koul",
    "Chaudhary2007": "chaudhary",
    "Aghili2005": "aghili",
    "Hoang2023": "hoang",
}
COLLECTIONS = {"Synthesis": "synthesis"}  # cases of several papers, computed when they are named
VERDICTS = ("agrees", "differs", "undecided")


@dataclass(frozen=True)
class Item:
    """One table, figure or worked example: printed and computed values as text, the verdict and what it rests on."""

    where: str
    what: str
    printed: str
    computed: str
    verdict: str
    deviation: float | None = None  # from `printed` or, where that is a figure, from an independent reference
    tolerance: float | None = None
    reference: str = ""  # what `deviation` is measured from, if not the print
    why: str = ""
    figure: Callable[[Path], None] | None = field(default=None, compare=False, repr=False)  # draws the figure again as a PNG

    def figure_name(self, key: str) -> str | None:
        """File name of the item's figure in a folder of all papers' figures; None without one."""
        if self.figure is None:
            return None
        return f"{key}-{re.sub('[^a-z0-9]+', '-', self.where.lower()).strip('-')}.png"

    def as_dict(self, key: str = "") -> dict[str, Any]:
        """Plain data of the item of paper `key`; of the figure its file's name."""
        return {**asdict(replace(self, figure=None)), "figure": self.figure_name(key)}


def compared(
    where: str,
    what: str,
    printed: str,
    computed: str,
    deviation: float,
    tolerance: float,
    reference: str = "",
    why: str = "",
    figure: Callable[[Path], None] | None = None,
) -> Item:
    """An item whose verdict is a number: agrees if the deviation is within the tolerance."""
    verdict = "agrees" if deviation <= tolerance else "differs"
    return Item(where, what, printed, computed, verdict, float(deviation), tolerance, reference, why, figure)


def papers_named(name: str = "all") -> list[str]:
    """Keys of papers: all of them, or the one named (capitals and the year may be left out); collections are named."""
    if name.lower() == "all":
        return list(PAPERS)
    every = [*PAPERS, *COLLECTIONS]
    found = [key for key in every if key.lower() == name.lower() or key.lower().rstrip("0123456789") == name.lower()]
    if not found:
        raise UsageError(f"there is no paper '{name}'. {nearest(name, [*every, 'all'], 'Papers')}")
    return found


def items(key: str) -> list[Callable[[], Item]]:
    """The computations of one paper."""
    return list(import_module(f"linkwright.papers.{(PAPERS | COLLECTIONS)[key]}").ITEMS)


def reproduce(name: str = "all") -> Iterator[tuple[str, Item]]:
    """(paper, item) one after another, each computed when it is asked for."""
    for key in papers_named(name):
        for compute in items(key):
            yield key, compute()
