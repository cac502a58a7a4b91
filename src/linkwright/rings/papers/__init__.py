"""The papers' contents computed again: every item of the five documents with what is printed, what comes out here, and a verdict.

    reproduce("Chaudhary2007")      its items, one by one as they are computed
    linkwright reproduce            all papers as a table
    linkwright reproduce synthesis  figures of the literature on synthesis

A paper is a list of `Entry`: a method, an equation, an example, a figure, a table, a claim or a remark, with the computations that
decide it (`koul_entries.py` and its neighbors; the document [KoulAppendix2013] is part of Koul2013). A computation is a function
that returns an `Item` and cites the place it is about. `agrees` is only said of a number: `deviation` is its distance from what is
printed, or where the paper prints a figure that cannot be read from the text, from a value obtained independently (`reference`:
another method, more digits), within `tolerance`. `differs` says why: most often the printed equation has an error that the paper's
own results do not show (`errata.py`). Extremes of a curve are located between samples (`results.measures.extremes`).
An item about a figure can draw it again: `item.figure(path)` writes a PNG.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from linkwright.api import Result, Table, UsageError, nearest

PAPERS = {
    "Koul2013": "koul_entries",
    "Chaudhary2007": "chaudhary_entries",
    "Aghili2005": "aghili_entries",
    "Hoang2023": "hoang_entries",
}
COLLECTIONS = {"Synthesis": "synthesis"}  # cases of several papers, computed when they are named
VERDICTS = ("agrees", "undecided", "differs")  # the last one of an entry's computations is the entry's


@dataclass(frozen=True)
class Item:
    """One computation: printed and computed values as text, the verdict and what it rests on."""

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


Computation = Callable[[], Item]


@dataclass(frozen=True)
class Entry:
    """One item of a paper: the place, what it says there, the computations that decide it and the code that implements it.

    An entry without computations cannot be computed by anybody here; `verdict` and `why` then say so. `why` may also add to what its
    computations say.
    """

    place: str
    claim: str
    computations: tuple[Computation, ...] = ()
    code: str = ""  # path below src/linkwright, or a page
    why: str = ""
    verdict: str = ""  # without computations


@dataclass(frozen=True)
class Reproduced(Result):
    """An entry with its computed items."""

    paper: str
    number: int  # in the paper's list, from 1
    entry: Entry
    items: tuple[Item, ...]

    @property
    def place(self) -> str:
        return self.entry.place or self.items[0].where

    @property
    def claim(self) -> str:
        return self.entry.claim or self.items[0].what

    @property
    def verdict(self) -> str:
        """The computations' verdict that agrees least."""
        return max((i.verdict for i in self.items), key=VERDICTS.index) if self.items else self.entry.verdict

    @property
    def why(self) -> str:
        """Why it does not agree; "" where it does."""
        if self.verdict == "agrees":
            return ""
        return "; ".join(dict.fromkeys(x for x in (self.entry.why, *(i.why for i in self.items if i.verdict == self.verdict)) if x))

    @property
    def decisive(self) -> Item | None:
        """The computation on which the verdict rests: of those with that verdict the one with most of its tolerance used."""
        found = [i for i in self.items if i.verdict == self.verdict]
        return max(found, key=_share, default=None)

    @property
    def computed_in(self) -> tuple[str, ...]:
        """Functions of `linkwright.rings.papers` that compute it."""
        return tuple(map(name_of, self.entry.computations))

    def table(self) -> Table:
        """Return the computations: what is printed, what comes out here, and how far apart they are."""
        heads = [("place", ""), ("printed", ""), ("computed", ""), ("deviation", "-", ".3g"), ("tolerance", "-", ".3g"), ("verdict", "")]
        rows = [(x.where, x.printed, x.computed, x.deviation, x.tolerance, x.verdict) for x in self.items]
        return Table.of(heads, rows, f"{self.paper} {self.place}".strip())

    def as_dict(self) -> dict[str, Any]:
        """Plain data, with all computations."""
        return {
            "paper": self.paper,
            "number": self.number,
            "place": self.place,
            "claim": self.claim,
            "verdict": self.verdict,
            "why": self.why,
            "code": self.entry.code,
            "computed_in": list(self.computed_in),
            "computations": [item.as_dict(self.paper) for item in self.items],
        }


def _share(item: Item) -> float:
    if item.deviation is None:
        return -1.0
    return item.deviation / item.tolerance if item.tolerance else item.deviation


def name_of(computation: Computation) -> str:
    """`koul_cost.multiplier_cost`: module and function of a computation."""
    function: Any = computation.func if isinstance(computation, partial) else computation
    return f"{function.__module__.removeprefix('linkwright.rings.papers.')}.{function.__name__}"


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
        raise UsageError(f"there is no paper '{name}'.", nearest(name, [*every, "all"], "Papers"))
    return found


def entries(key: str) -> tuple[Entry, ...]:
    """The items of one paper, not yet computed."""
    return import_module(f"linkwright.rings.papers.{(PAPERS | COLLECTIONS)[key]}").ENTRIES


def reproduce(name: str = "all") -> Iterator[Reproduced]:
    """Items one after another, each computed when it is asked for; a computation that several items share is done once."""
    for key in papers_named(name):
        done: dict[Computation, Item] = {}
        for number, entry in enumerate(entries(key), 1):
            for compute in entry.computations:
                if compute not in done:
                    done[compute] = compute()
            yield Reproduced(key, number, entry, tuple(done[c] for c in entry.computations))
