"""How the work of forward dynamics grows with the number of loops, counted on N four-bar loops in a row.

Operations from (q, v, tau) to (a, lam) on the shipped `parallelogram-chain`; its natural cuts make every loop touch two
subsystems of two links. `sslm` handles blocks. `slm` and `kkt` are counted twice: `full`, as they run on a computer, with
matrices of system size handed to a dense solver; and `folded`, as a compiler would unroll them, where a structural zero
costs nothing (and the chain's natural order creates no new nonzeros).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.files.columns import table
from linkwright.mechanics.dynamics.terms import Terms, terms
from linkwright.mechanics.formulations import create
from linkwright.model import file as modelfile
from linkwright.model import library as models
from linkwright.papers.counting import CountedRun, Counts, Tally, variables
from linkwright.system.system import System

LOOPS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
FULL_TO = 32  # loops to which dense solvers are counted: there it takes a second or two, and eight times that at 64


def chain(n: int) -> System:
    """N parallelograms in a row; cutting the pin after every coupler leaves a crank with its coupler a subsystem."""
    return System(modelfile.read(models.path("parallelogram-chain"), N=n), [f"B{i}" for i in range(1, n + 1)])


def moving_state(system: System, angle: float = 0.7, speed: float = 1.3) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) with all cranks at one angle: on the loops by construction, far from where they are singular."""
    turns = np.array([1.0 if n.parent < 0 else -1.0 for n in system.tree.nodes])  # couplers stay level
    return angle * turns, speed * turns


def without_structure(t: Terms, tally: Tally) -> Terms:
    """The same terms as one subsystem and one loop whose matrices are full: their zeros are numbers like any other."""
    return Terms(
        I=(variables(t.M, tally),),
        bias=(t.h,),
        blocks={(0, 0): variables(t.J, tally)},
        k_parts=(t.k,),
        columns=t.columns,
        row_scale=t.row_scale,
        order=(0,),
        names=("all loops",),
    )


def forward_counted(system: System, formulation: str, q: Any, v: Any, tau: Any, *, full: bool = False) -> CountedRun:
    """Accelerations and multipliers of one formulation on counting numbers, with what they cost."""
    tally = Tally()
    q, v, tau = (variables(x, tally) for x in (q, v, tau))
    t = terms(system.loops, q, v)
    raw = create(formulation)(without_structure(t, tally) if full else t, tau)
    return CountedRun(raw, tally.counts())


@dataclass(frozen=True)
class ChainCost:
    """Operations of one formulation on a chain."""

    loops: int
    formulation: str
    matrices: str  # "blocks", "full" or "folded"
    counts: Counts

    @property
    def per_loop(self) -> float:
        return self.counts.total / self.loops


def operations(n: int, formulation: str, *, full: bool = False) -> Counts:
    """Operations of one forward dynamics of the chain with n loops."""
    system = chain(n)
    q, v = moving_state(system)
    return forward_counted(system, formulation, q, v, np.ones(len(v)), full=full).counts


def operation_table(ns: Iterable[int] = LOOPS, full_to: int = FULL_TO) -> list[ChainCost]:
    """sslm for all ns; slm and kkt, full and folded, for those up to `full_to`."""
    rows = []
    for n in ns:
        rows.append(ChainCost(n, "sslm", "blocks", operations(n, "sslm")))
        if n <= full_to:
            for name in ("slm", "kkt"):
                rows += [ChainCost(n, name, kind, operations(n, name, full=kind == "full")) for kind in ("full", "folded")]
    return rows


def curves(rows: Sequence[ChainCost]) -> dict[str, tuple[list[int], list[int]]]:
    """label -> (numbers of loops, operations), in the order of the rows."""
    out: dict[str, tuple[list[int], list[int]]] = {}
    for r in rows:
        n, total = out.setdefault(r.formulation if r.matrices == "blocks" else f"{r.formulation} {r.matrices}", ([], []))
        n.append(r.loops)
        total.append(r.counts.total)
    return out


STYLES = {  # label -> colour, line, marker
    "kkt full": ("#b4566a", "-", "s"),
    "slm full": ("#c79a1e", "-", "^"),
    "sslm": ("#3f72a8", "-", "o"),
    "kkt folded": ("#b4566a", ":", ""),
    "slm folded": ("#c79a1e", ":", ""),
}
LABELS = {
    "kkt full": "kkt, dense solver: cube of N",
    "slm full": "slm, dense solver: cube of N",
    "sslm": "sslm, by blocks: proportional to N",
    "kkt folded": "kkt, zeros folded",
    "slm folded": "slm, zeros folded (beside sslm)",
}


def draw(axes: Any, rows: Sequence[ChainCost]) -> None:
    """Operations over the number of loops, both logarithmic, onto matplotlib axes."""
    found = curves(rows)
    for label, (colour, line, marker) in STYLES.items():
        if label in found:
            width = 1.8 if line == "-" else 1.2
            axes.plot(*found[label], line, color=colour, marker=marker, markersize=4.5, linewidth=width, label=LABELS[label])
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    ticks = sorted({r.loops for r in rows})
    axes.set_xticks(ticks, [str(n) for n in ticks])
    axes.set_xlabel("four-bar loops in the chain")
    axes.set_ylabel("operations of one forward dynamics")
    axes.legend(loc="upper left")


def text(rows: Sequence[ChainCost]) -> str:
    """The table for people: one line for every number of loops."""
    columns = {label: dict(zip(*curve, strict=True)) for label, curve in curves(rows).items()}
    numbers = sorted({r.loops for r in rows})
    return table(("N", *columns), [(str(n), *(str(c.get(n, "")) for c in columns.values())) for n in numbers])
