"""True mobility, redundant rows and idle degrees of freedom: numerical ranks at assembled positions.

Structural counts cannot see that a planar loop modeled in space repeats itself or that a Bennett linkage
moves at all. Ranks are taken on the dimensionless J at the start *and* at several positions reached from
it, because a mechanism may be drawn exactly in a singular position: the generic rank is the largest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwright.mechanics.closing.idle_motions import idle_motions
from linkwright.mechanics.closing.newton import EXACT_DIMENSIONS, wandered
from linkwright.mechanics.constraints.loops import Loops
from linkwright.numerics.linalg import RANK_TOLERANCE, factor
from linkwright.numerics.memory_and_threads import one_thread
from linkwright.topology.tree import Loop

EXACT_ONLY = 1e-5  # singular value of the dimensionless J below which a few digits of the dimensions decide whether it counts
MOTIONS = {"t": "translation along", "r": "rotation about"}


@dataclass(frozen=True)
class Redundancy:
    """Rows of a loop that the other joints already imply."""

    loop: str
    count: int
    implied: tuple[str, ...]  # rows that are implied each by itself, e.g. ("rx", "ry", "tz")
    shared: tuple[str, ...]  # otherwise: the rows among which `count` are redundant

    def __str__(self) -> str:
        parts = []
        if self.implied:
            parts.append(f"{_sentence(self.implied)} {'are' if len(self.implied) > 1 else 'is'} implied by the other joints")
        rest = self.count - len(self.implied)
        if rest > 0:
            parts.append(f"{rest} of the rows {', '.join(self.shared)} {'are' if rest > 1 else 'is'} implied by the others")
        return f"loop {self.loop}: " + "; ".join(parts)


@dataclass(frozen=True)
class Mobility:
    """Degrees of freedom counted by rank. `freedoms` are those that move the mechanism, `idle` spin a link in place."""

    freedoms: int
    idle: tuple[tuple[str, ...], ...]  # groups of bodies that can spin without moving anything else
    rank: int
    rows: int
    start_rank: int
    redundant: tuple[Redundancy, ...]
    smallest: float  # smallest counted singular value at the start
    positions: int  # how many positions were looked at

    @property
    def mobility(self) -> int:
        return self.freedoms + len(self.idle)

    @property
    def singular_start(self) -> bool:
        return self.start_rank < self.rank

    @property
    def blocked_by_digits(self) -> str:
        """A sentence about a structure that tiny changes of its dimensions would let move; empty for others."""
        return digits_decide(self.smallest) if self.rank and not self.freedoms else ""


def digits_decide(smallest: float) -> str:
    """A sentence where the smallest singular value that counts as held is so small that digits of the dimensions decide; else empty."""
    if smallest >= EXACT_ONLY:
        return ""
    return f"but the smallest singular value of its loops is only {smallest:.1g}: {EXACT_DIMENSIONS}"


def mobility(loops: Loops, q: np.ndarray, references: dict[str, np.ndarray], *, samples: int = 4, seed: int = 0) -> Mobility:
    """Ranks at q and at `samples` positions near it on the loops."""
    with one_thread(loops.skel.tree.nv):
        return _counted(loops, q, references, samples, seed)


def _counted(loops: Loops, q: np.ndarray, references: dict[str, np.ndarray], samples: int, seed: int) -> Mobility:
    skel = loops.skel
    zero = np.zeros(skel.tree.nv)
    places = [q]
    matrices = [loops.dimensionless(loops.at(q, zero, 0.0, references))[1]]
    rng = np.random.default_rng(seed)
    factors = [factor(matrices[0])]
    for _ in range(samples):
        position = wandered(loops, q, references, factors[0].null, rng)
        if position is not None:
            places.append(position.at.q)
            matrices.append(loops.dimensionless(loops.at(position.at.q, zero, 0.0, position.at.references))[1])
            factors.append(factor(matrices[-1]))
    rank = max(f.rank for f in factors)
    here, generic = next((x, f) for x, f in zip(places, factors, strict=True) if f.rank == rank)
    idle = tuple(group for group, _ in idle_motions(loops, here, generic.null))
    return Mobility(
        freedoms=skel.tree.nv - rank - len(idle),
        idle=idle,
        rank=rank,
        rows=matrices[0].shape[0],
        start_rank=factors[0].rank,
        redundant=_redundant(loops, [J for J, f in zip(matrices, factors, strict=True) if f.rank == rank], rank),
        smallest=generic.smallest if rank else 1.0,
        positions=len(matrices),
    )


def _redundant(loops: Loops, matrices: list[np.ndarray], rank: int) -> tuple[Redundancy, ...]:
    """Name the dependent rows, loop by loop: a row counts against the last loop that repeats it."""
    out: list[Redundancy] = []
    if rank == len(matrices[0]):
        return ()
    before = 0
    tree = loops.skel.tree
    for i, loop in enumerate(tree.loops):
        stop = loop.rows.stop
        after = max(factor(J[:stop]).rank for J in matrices)
        size = loop.rows.stop - loop.rows.start
        count = size - (after - before)
        before = after
        if count:
            rows = range(loop.rows.start, stop)
            implied = tuple(_label(loop, r) for r in rows if all(_implied_alone(J[:stop], r) for J in matrices))
            alone = implied if len(implied) <= count else ()
            shared = tuple(_label(loop, r) for r in rows if _label(loop, r) not in alone)
            out.append(Redundancy(f"{i + 1} (closed by {loop.name})", count, alone, shared))
    return tuple(out)


def _implied_alone(J: np.ndarray, row: int) -> bool:
    return bool(np.linalg.norm(J[row]) < RANK_TOLERANCE)


def _label(loop: Loop, row: int) -> str:
    return loop.labels[row - loop.rows.start]


def _sentence(labels: tuple[str, ...]) -> str:
    """'rotation about x, y and translation along z'."""
    groups = []
    for kind in "rt":
        axes = [label[1] for label in labels if label[0] == kind and len(label) == 2]
        if axes:
            groups.append(f"{MOTIONS[kind]} {', '.join(axes)}")
    groups += [label for label in labels if len(label) != 2]
    return " and ".join(groups)
