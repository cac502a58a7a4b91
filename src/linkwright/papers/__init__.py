"""The papers' examples computed again: what is printed, what comes out here, and a verdict on each.

    reproduce("Chaudhary2007")      its items, one by one as they are computed
    linkwright reproduce            all of them as a table

Every paper is one module with a list `ITEMS` of functions; each returns an `Item` and cites the place it is about. `agrees` is
only said of a number: `deviation` is its distance from what is printed, or where the paper prints a figure that cannot be read
from the text, from a value obtained independently (`reference`: another method, more digits), within `tolerance`. `differs`
says why: most often the printed equation has an error that the paper's own results do not show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any

from linkwright.errors import UsageError, nearest

PAPERS = {
    "Koul2013": "koul",
    "Chaudhary2007": "chaudhary",
    "Aghili2005": "aghili",
    "Hoang2023": "hoang",
}
VERDICTS = ("agrees", "differs", "undecided")


@dataclass(frozen=True)
class Item:
    """One table, figure or worked example: printed and computed values in words, the verdict and what it rests on."""

    where: str
    what: str
    printed: str
    computed: str
    verdict: str
    deviation: float | None = None  # from `printed` or, where that is a figure, from an independent reference
    tolerance: float | None = None
    reference: str = ""  # what `deviation` is measured from, if not the print
    why: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def compared(
    where: str, what: str, printed: str, computed: str, deviation: float, tolerance: float, reference: str = "", why: str = ""
) -> Item:
    """An item whose verdict is a number: agrees if the deviation is within the tolerance."""
    verdict = "agrees" if deviation <= tolerance else "differs"
    return Item(where, what, printed, computed, verdict, float(deviation), tolerance, reference, why)


def papers_named(name: str = "all") -> list[str]:
    """Keys of papers: all of them, or the one named (capitals and the year may be left out)."""
    if name.lower() == "all":
        return list(PAPERS)
    found = [key for key in PAPERS if key.lower() == name.lower() or key.lower().rstrip("0123456789") == name.lower()]
    if not found:
        raise UsageError(f"there is no paper '{name}'. {nearest(name, [*PAPERS, 'all'], 'Papers')}")
    return found


def items(key: str) -> list[Callable[[], Item]]:
    """The computations of one paper."""
    return list(import_module(f"linkwright.papers.{PAPERS[key]}").ITEMS)


def reproduce(name: str = "all") -> Iterator[tuple[str, Item]]:
    """(paper, item) one after another, each computed when it is asked for."""
    for key in papers_named(name):
        for compute in items(key):
            yield key, compute()
