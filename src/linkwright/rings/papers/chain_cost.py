"""How the work of forward dynamics grows with the number of loops, counted on N four-bar loops in a row.

Operations from (q, v, tau) to (a, lam) on the built-in `parallelogram-chain`; its natural cuts make every loop touch two
subsystems of two links. Every formulation is counted in two ways, and only counts of one way are compared. `full`: each
matrix a formulation handles goes to a dense solver, so its zeros are numbers like any other (matrices of system size for
`slm` and `kkt`, blocks for `sslm`). `folded`: a structural zero costs nothing, as where a compiler unrolls the code (the
chain's natural order creates no new nonzeros).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwright.api import System, compiled_of, equation_terms, formulations, modelfile, text_tables
from linkwright.api import library as models
from linkwright.rings.papers.operation_counts import CountedRun, Counts, Tally, variables

LOOPS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
FULL_TO = 32  # loops to which dense solvers are counted: there it takes a second or two, and eight times that at 64


def chain(n: int) -> System:
    """N parallelograms in a row; cutting the pin after every coupler leaves a crank with its coupler a subsystem."""
    return System(modelfile.read(models.path("parallelogram-chain"), N=n), [f"B{i}" for i in range(1, n + 1)])


def moving_state(system: System, angle: float = 0.7, speed: float = 1.3) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) with all cranks at one angle: on the loops by construction, far from where they are singular."""
    turns = np.array([1.0 if n.parent < 0 else -1.0 for n in system.tree.nodes])  # couplers stay level
    return angle * turns, speed * turns


def without_structure(t: equation_terms.Terms, tally: Tally) -> equation_terms.Terms:
    """The same terms as one subsystem and one loop whose matrices are full: their zeros are numbers like any other."""
    return equation_terms.Terms(
        I=(variables(t.M, tally),),
        bias=(t.h,),
        blocks={(0, 0): variables(t.J, tally)},
        k_parts=(t.k,),
        columns=t.columns,
        row_scale=t.row_scale,
        order=(0,),
        names=("all loops",),
    )


def with_full_blocks(t: equation_terms.Terms, tally: Tally) -> equation_terms.Terms:
    """The same terms, every block full: zeros inside a block are numbers like any other."""
    blocks = {key: variables(block, tally) for key, block in t.blocks.items()}
    return replace(t, I=tuple(variables(inertia, tally) for inertia in t.I), blocks=blocks)


def counted_terms(t: equation_terms.Terms, formulation: str, tally: Tally, *, full: bool) -> equation_terms.Terms:
    """The terms as a formulation is counted on them: `full` leaves blocks to `sslm` and one matrix to the others."""
    if not full:
        return t
    return with_full_blocks(t, tally) if formulation == "sslm" else without_structure(t, tally)


def forward_counted(system: System, formulation: str, q: Any, v: Any, tau: Any, *, full: bool = False) -> CountedRun:
    """Accelerations and multipliers of one formulation on counting numbers, with what they cost."""
    tally = Tally()
    q, v, tau = (variables(x, tally) for x in (q, v, tau))
    t = equation_terms.terms(compiled_of(system).loops, q, v)
    raw = formulations.create(formulation)(counted_terms(t, formulation, tally, full=full), tau)
    return CountedRun(raw, tally.counts())


@dataclass(frozen=True)
class ChainCost:
    """Operations of one formulation on a chain."""

    loops: int
    formulation: str
    matrices: str  # "full" or "folded"
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
    """sslm for all ns, slm and kkt for those up to `full_to`; each full and folded."""
    return [
        ChainCost(n, name, kind, operations(n, name, full=kind == "full"))
        for n in ns for name in (("sslm", "slm", "kkt") if n <= full_to else ("sslm",)) for kind in ("full", "folded")
    ]  # fmt: skip


def curves(rows: Sequence[ChainCost]) -> dict[str, tuple[list[int], list[int]]]:
    """label -> (numbers of loops, operations), in the order of the rows."""
    out: dict[str, tuple[list[int], list[int]]] = {}
    for r in rows:
        n, total = out.setdefault(f"{r.formulation} {r.matrices}", ([], []))
        n.append(r.loops)
        total.append(r.counts.total)
    return out


STYLES = {  # label -> color, line, marker
    "kkt full": ("#b4566a", "-", "s"),
    "slm full": ("#c79a1e", "-", "^"),
    "sslm full": ("#3f72a8", "-", "o"),
    "kkt folded": ("#b4566a", ":", ""),
    "slm folded": ("#c79a1e", ":", ""),
    "sslm folded": ("#3f72a8", ":", ""),
}
LABELS = {
    "kkt full": "kkt, dense solver: cube of N",
    "slm full": "slm, dense solver: cube of N",
    "sslm full": "sslm, dense blocks: proportional to N",
    "kkt folded": "kkt, zeros folded",
    "slm folded": "slm, zeros folded",
    "sslm folded": "sslm, zeros folded",
}


def draw(axes: Any, rows: Sequence[ChainCost]) -> None:
    """Operations over the number of loops, both logarithmic, onto matplotlib axes."""
    found = curves(rows)
    for label, (color, line, marker) in STYLES.items():
        if label in found:
            width = 1.8 if line == "-" else 1.2
            axes.plot(*found[label], line, color=color, marker=marker, markersize=4.5, linewidth=width, label=LABELS[label])
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    ticks = sorted({r.loops for r in rows})
    axes.set_xticks(ticks, [str(n) for n in ticks])
    axes.set_xlabel("four-bar loops in the chain")
    axes.set_ylabel("operations of one forward dynamics")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)


def text(rows: Sequence[ChainCost]) -> str:
    """The table for people: one line for every number of loops."""
    columns = {label: dict(zip(*curve, strict=True)) for label, curve in curves(rows).items()}
    numbers = sorted({r.loops for r in rows})
    lines = [(str(n), *(str(c.get(n, "")) for c in columns.values())) for n in numbers]
    return "\n".join(text_tables.aligned([("N", *columns), *lines], left=0))
