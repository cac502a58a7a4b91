"""Three ways to the same efforts and multipliers  [Chaudhary2007].

    traditional   all Newton-Euler equations of all bodies at once, every joint's reaction unknown
    system        all multipliers and drives of the spanning tree at once, then body by body
    subsystem     two-level recursion: determinate subsystems first, their multipliers become known loads of the
                  next; a coupled group is solved together where none is determinate

Each gives one solution (lam, u); what is not unique is settled afterwards, the same for all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from linkwright.mechanics.constraints import Constraint
from linkwright.mechanics.constraints.cut_joint import CutJoint
from linkwright.mechanics.constraints.loops import of_loops
from linkwright.mechanics.dynamics.tree import net_wrenches
from linkwright.mechanics.inverse.problem import InverseProblem
from linkwright.numerics.linalg import factor
from linkwright.topology.solution_order import solve_order


class Solved(NamedTuple):
    """One solution, and how it was found: sizes of the systems solved, groups that had to be coupled."""

    lam: np.ndarray
    u: np.ndarray
    sizes: tuple[tuple[int, int], ...]
    coupled: tuple[tuple[int, ...], ...] = ()


def system(p: InverseProblem) -> Solved:
    """J' lam + B u = g in one go  [Chaudhary2007 (14)]."""
    c, r = p.scales
    z = p.factors.solve(p.g * c) / r
    return Solved(z[: p.terms.nc], z[p.terms.nc :], (p.matrix.shape,))


def subsystem(p: InverseProblem) -> Solved:
    """Subsystem by subsystem in the order in which they are determinate  [Chaudhary2007 sec. 4]."""
    tree = p.place.loops.skel.tree
    steps = solve_order(tree, list(p.drives))
    t = p.terms
    lam, u = np.full(t.nc, np.nan), np.full(len(p.drives), np.nan)
    sizes: list[tuple[int, int]] = []
    coupled: list[tuple[int, ...]] = []
    groups = [tuple(step.subsystems) for step in steps]
    for at, group in enumerate(groups):
        solved = _group(p, group, lam, u)
        if not solved.determinate:  # idle spins or redundant rows: counts promised more than the ranks keep
            rest = tuple(sorted({j for later in groups[at:] for j in later}))
            solved = _group(p, rest, lam, u)
            group = rest
        lam[solved.loops], u[solved.drives] = solved.lam, solved.u
        if solved.size[1]:
            sizes.append(solved.size)
        if len(group) > 1:
            coupled.append(group)
        if group is not groups[at]:
            break
    return Solved(np.nan_to_num(lam), np.nan_to_num(u), tuple(sizes), tuple(coupled))


class _SolvedGroup(NamedTuple):
    """The unknowns of a group of subsystems, solved."""

    loops: list[int]
    drives: list[int]
    lam: np.ndarray
    u: np.ndarray
    size: tuple[int, int]
    determinate: bool


def _group(p: InverseProblem, subsystems: tuple[int, ...], lam: np.ndarray, u: np.ndarray) -> _SolvedGroup:
    """Solve a group of subsystems for the multipliers and drives in it that are not known yet."""
    t = p.terms
    rows = np.concatenate([np.arange(t.spans[j].start, t.spans[j].stop) for j in subsystems])
    J, B = t.J[:, rows], p.B[rows]
    known, given = ~np.isnan(lam), ~np.isnan(u)
    right = p.g[rows] - J[known].T @ lam[known] - B[:, given] @ u[given]
    loops = np.flatnonzero(~known & J.any(axis=1)).tolist()
    touching = np.abs(B).max(axis=0, initial=0.0) > 1e-12 * np.abs(p.B).max(initial=1e-300)
    drives = np.flatnonzero(~given & touching).tolist()
    c, scale = p.scales
    r = scale[[*loops, *(t.nc + i for i in drives)]]
    A = np.concatenate([J[loops].T, B[:, drives]], axis=1) * c[rows][:, None] / r
    f = factor(A)
    z = f.solve(right * c[rows]) / r
    return _SolvedGroup(loops, drives, z[: len(loops)], z[len(loops) :], (A.shape[0], A.shape[1]), f.rank == A.shape[1])


def traditional(p: InverseProblem) -> Solved:
    """Newton-Euler of every body with the reaction of every joint unknown: maximal coordinates, no tree used."""
    place = p.place
    skel = place.loops.skel
    everything = every_constraint(p)
    parts = [c.rows(skel, place.motion, place.v, place.t, place.references) for c in everything]
    pick = [2, 3, 4] if skel.tree.description.planar else list(range(6))
    n, size = len(skel.tree.nodes), len(pick)
    columns = sum(len(q.k) for q in parts) + len(p.drives)
    A = np.zeros((size * n, columns))
    scale = np.ones(columns)
    at = 0
    where: dict[str, slice] = {}
    kappa = place.loops.kappa
    for constraint, part in zip(everything, parts, strict=True):
        span = slice(at, at + len(part.k))
        where[constraint.name] = span
        scale[span] = [1.0 if k == "length" else 1.0 / kappa for k in constraint.kinds]
        for node, G in part.G:
            if node >= 0:
                A[size * node : size * node + size, span] += G.T[pick]
        at = span.stop
    for i, push in enumerate(p.pushes):
        for node, w in push:
            A[size * node : size * node + size, at + i] += w[pick]
    need = net_wrenches(skel, place.motion, p.a, place.external)
    right = np.concatenate([F[pick] for F in need]) if need else np.zeros(0)
    weight = np.tile([1.0 / kappa, 1.0, 1.0] if size == 3 else [1.0 / kappa] * 3 + [1.0] * 3, n)  # moments and forces alike
    z = factor(A * weight[:, None] / scale).solve(right * weight) / scale
    lam = np.concatenate([z[where[c.name]] for c in place.loops.constraints]) if place.loops.constraints else np.zeros(0)
    return Solved(lam, z[at:], (A.shape,))


def every_constraint(p: InverseProblem) -> list[Constraint]:
    """All joints as constraints (tree joints too), and the rods, couplings and gears."""
    skel = p.place.loops.skel
    in_tree: list[Any] = [CutJoint.of(skel, n.joint) for n in skel.tree.nodes if n.body not in skel.tree.floating]
    return [*in_tree, *of_loops(skel)]


Method = Callable[[InverseProblem], Solved]
METHODS: dict[str, Method] = {"traditional": traditional, "system": system, "subsystem": subsystem}
