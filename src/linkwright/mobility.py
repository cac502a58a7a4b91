"""True mobility, redundant rows and idle freedoms: numerical ranks at assembled positions.

Structural counts cannot see that a planar loop modelled in space repeats itself or that a Bennett linkage
moves at all. Ranks are taken on the dimensionless J at the start *and* at several positions reached from
it, because a mechanism may be drawn exactly in a singular position: the generic rank is the largest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwright import joints
from linkwright.closing import GOOD_ENOUGH, close
from linkwright.kinematics import body_jacobian, displaced, motion
from linkwright.linalg import RANK_TOLERANCE, factor
from linkwright.loops import Loops
from linkwright.topology.tree import Loop

WORDS = {"t": "translation along", "r": "rotation about"}


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
    """Freedoms counted by rank. `freedoms` are those that move the mechanism, `idle` spin a link in place."""

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


def mobility(loops: Loops, q: np.ndarray, near: dict[str, np.ndarray], *, samples: int = 4, seed: int = 0) -> Mobility:
    """Ranks at q and at `samples` positions near it on the loops."""
    skel = loops.skel
    zero = np.zeros(skel.tree.nv)
    matrices = [loops.dimensionless(loops.at(q, zero, 0.0, near))[1]]
    rng = np.random.default_rng(seed)
    for _ in range(samples):
        position = _perturbed(loops, q, near, matrices[0], rng)
        if position is not None:
            matrices.append(loops.dimensionless(loops.at(*position))[1])
    factors = [factor(J) for J in matrices]
    rank = max(f.rank for f in factors)
    generic = next(f for f in factors if f.rank == rank)
    idle = _idle(loops, q, factors[0].null if factors[0].rank == rank else generic.null)
    return Mobility(
        freedoms=skel.tree.nv - rank - len(idle),
        idle=idle,
        rank=rank,
        rows=matrices[0].shape[0],
        start_rank=factors[0].rank,
        redundant=_redundant(loops, [J for J, f in zip(matrices, factors, strict=True) if f.rank == rank], rank),
        smallest=float(generic.s[rank - 1]) if rank else 1.0,
        positions=len(matrices),
    )


def _perturbed(loops: Loops, q: np.ndarray, near: dict[str, np.ndarray], J: np.ndarray, rng: np.random.Generator):
    """A position a finite way off along a random allowed motion, closed again; None if it does not close."""
    null = factor(J).null
    if null.shape[1] == 0:
        return None
    step = null @ rng.normal(size=null.shape[1])
    step *= rng.uniform(0.05, 0.25) / max(np.linalg.norm(step), 1e-300)
    done = close(loops, displaced(loops.skel, q, step * loops.columns), near, reach=1.0)
    if done.residual > GOOD_ENOUGH:
        return None
    return done.q, np.zeros(loops.skel.tree.nv), 0.0, done.near


def _redundant(loops: Loops, matrices: list[np.ndarray], rank: int) -> tuple[Redundancy, ...]:
    """Name the dependent rows, loop by loop: a row counts against the last loop that repeats it."""
    out: list[Redundancy] = []
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
            groups.append(f"{WORDS[kind]} {', '.join(axes)}")
    groups += [label for label in labels if len(label) != 2]
    return " and ".join(groups)


def _idle(loops: Loops, q: np.ndarray, null: np.ndarray) -> tuple[tuple[str, ...], ...]:
    return tuple(group for group, _ in idle_motions(loops, q, null))


def idle_motions(loops: Loops, q: np.ndarray, null: np.ndarray) -> list[tuple[tuple[str, ...], np.ndarray]]:
    """(bodies, dimensionless velocity) of every motion of bodies between spherical joints while all others rest."""
    skel = loops.skel
    groups = _between_spherical_joints(loops)
    if not groups or null.shape[1] == 0:
        return []
    m = motion(skel, q, np.zeros(skel.tree.nv))
    jacobians = {n.body: body_jacobian(skel, m, i) @ (loops.columns[:, None] * null) for i, n in enumerate(skel.tree.nodes)}
    out: list[tuple[tuple[str, ...], np.ndarray]] = []
    for group in groups:
        others = [J for body, J in jacobians.items() if body not in group]
        free = factor(np.concatenate(others), 1e-8).null if others else np.zeros((null.shape[1], 0))
        out += [(tuple(group), null @ y) for y in free.T]
    return out


def _between_spherical_joints(loops: Loops) -> list[list[str]]:
    """Connected groups of bodies after taking spherical joints away; only groups held at two joints or more."""
    d = loops.skel.tree.description
    names = [b.name for b in d.bodies]
    group = {name: name for name in names}

    def root(name: str) -> str:
        while group[name] != name:
            name = group[name]
        return name

    balls = [j for j in d.joints if j.type == "spherical"]
    for j in d.joints:
        if j.type != "spherical" and joints.create(j.type, j.options).rows:
            group[root(j.second)] = root(j.first)
    ground = root(names[0])
    out = []
    for head in dict.fromkeys(root(n) for n in names):
        held = sum((root(j.first) == head) != (root(j.second) == head) for j in balls)
        if head != ground and held >= 2:
            out.append([n for n in names if root(n) == head])
    return out
