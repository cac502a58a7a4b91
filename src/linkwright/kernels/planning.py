"""Decisions a trace cannot take, taken on numbers first: ranks, independent rows, orders of elimination, typical pivots.

Ranks and pivots are looked at in several positions, the start and some reached from it, because one may be singular. The
order of elimination (loops, which subsystem's inertia last, along which body's axes the rows are) is the one of fewest
operations, which are counted on the pattern of the matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkwright.errors import UsageError
from linkwright.kernels.equations.by_name import INDEPENDENT, tied_rows
from linkwright.kernels.equations.dynamic import EliminationPlan, Equations, driven
from linkwright.kernels.equations.kinematic import ORDERED_PIVOT, SHORTEST
from linkwright.mechanics.closing.idle_motions import idle_motions, idle_rows, spin_lines
from linkwright.mechanics.closing.newton import wandered
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.dynamics.terms import Terms, along_world, lacks_inertia
from linkwright.mechanics.forces import line
from linkwright.mechanics.formulations.base import RawSolution
from linkwright.mechanics.formulations.kkt import saddle
from linkwright.mechanics.formulations.sslm import Sslm
from linkwright.mechanics.instant import Instant
from linkwright.model.coordinates import lengths
from linkwright.model.curves.polynomial import Parabola
from linkwright.numerics.linalg import factor, ldl, pivoted_columns
from linkwright.numerics.pivot_order import pivot_order
from linkwright.numerics.scalars import eliminate
from linkwright.numerics.tolerances import ZERO_SHARE
from linkwright.properties import cached_property
from linkwright.topology.elimination import eliminate as least_fill

LOOP_PIVOT = 1e-5  # share of its nominal size below which a loop's pivot asks for the rank-revealing path: a singular value of 3e-3
EARLY_PIVOT = 2.5e-3  # the same for runs that do not project: a singular value of 0.05, see `Kernels.get`
INERTIA_PIVOT = 1e-10  # an inertia's pivot may vary more; it vanishes only where a body has no mass
HEALTHY = 1e-3  # an order of elimination must keep this share of the pivots of the plain one
LATE_SUBSYSTEMS = 3  # late subsystems tried at most
ROWS_WORTH = 0.8  # an order of single rows is taken where it needs at most this share of the work of an order of loops
MANY_ROWS = 60  # beyond which none is looked for
STEADY = 0.02  # share of its own size that a row's pivot must keep in every position to be taken at once
SAMPLES = 5
MUCH = 400  # velocities beyond which only the plain order is considered, and at fewer positions
LARGE_SAMPLES = 2


def samples(loops: Loops, q: np.ndarray, near: Any, count: int | None = None, seed: int = 1) -> list[Instant]:
    """The given position and some reached from it one after the other, each with a random allowed velocity."""
    rng = np.random.default_rng(seed)
    if count is None:
        count = SAMPLES if loops.skel.tree.nv <= MUCH else LARGE_SAMPLES
    zero = np.zeros(loops.skel.tree.nv)
    out: list[Instant] = []
    for _ in range(count):
        J = loops.dimensionless(loops.at(q, zero, 0.0, near))[1]
        null = factor(J).null
        out.append(Instant(loops.skel, q, null @ rng.normal(size=null.shape[1]) * loops.columns, references=near))
        there = wandered(loops, q, near, null, rng)
        if there is not None:
            q, near = there.at.q, there.at.references
    return out


def placed(eq: Equations, s: Instant) -> Equations:
    """The equations with drivers that are where the sample has them."""
    if not eq.drivers:
        return eq
    found = [(s.channel(name), s.channel(f"{name}.v")) for name in eq.drivers]
    return eq.moved([x for x, _ in found], [v for _, v in found], np.zeros(len(found)))


def independent_rows(eq: Equations, states: Sequence[Instant]) -> tuple[int, ...] | None:
    """Rows to keep where some are implied by others in every position; None if all are independent somewhere."""
    loops = [placed(eq, s).loops for s in states]
    matrices = [x.dimensionless(x.at(s.q, s.v, 0.0, s.references))[1] for x, s in zip(loops, states, strict=True)]
    ranks = [factor(J).rank for J in matrices]
    if max(ranks, default=0) == len(loops[0].row_scale):
        return None
    best = matrices[int(np.argmax(ranks))]
    _can_be_driven(eq, best)
    return tuple(sorted(pivoted_columns(best.T)[: max(ranks)]))


def _can_be_driven(eq: Equations, J: np.ndarray) -> None:
    """Drivers whose motion the others already fix would fight them."""
    first = len(J) - len(eq.drivers)
    for i, name in enumerate(eq.drivers, start=first):
        if factor(J[: i + 1]).rank == factor(J[:i]).rank:
            others = [f"'{n}'" for n in eq.drivers[: i - first]]
            fixed = f"together with {' and '.join(others)} it would be driven twice" if others else "the loops hold it already"
            raise UsageError(
                f"the motion of '{name}' cannot be given: {fixed}. Prescribe at most one motion for each degree of freedom.", name=name
            )


def plan(eq: Equations, states: Sequence[Instant], masses: bool) -> EliminationPlan:
    """The plan of forward dynamics; without masses only what kinematics needs."""
    keep = independent_rows(eq, states)
    order = placed(eq, states[0]).loops.elimination_order
    idle = constant_idle(eq.loops, states)
    found = EliminationPlan(order=tuple(order), keep=keep, idle=idle, spins=spin_lines(eq.loops, _nulls(eq.loops, states), idle))
    return _dynamics(replace(eq, plan=found), states) if masses else found


def with_drives(eq: Equations, states: Sequence[Instant], name: str) -> EliminationPlan:
    """The plan with the order of a solve with drives, "kinematics", "inverse" or "independent", where such a solve exists."""
    chosen = _ordered(eq, name, states)
    if chosen is None:
        return eq.plan
    order, sizes_of = chosen
    return replace(eq.plan, orders={**eq.plan.orders, name: order}, nominal={**eq.plan.nominal, name: sizes_of})


def with_pivots(eq: Equations, states: Sequence[Instant], formulation: str, loop_pivot: float = LOOP_PIVOT) -> EliminationPlan:
    """The plan with the typical pivots of another formulation than sslm, or with another share of a loop's pivots."""
    if formulation == SHORTEST:
        return _with_rows(eq, states, loop_pivot)
    every = [_solved_terms(eq, s) for s in states]
    return replace(eq.plan, nominal={**eq.plan.nominal, **_nominal(eq, every, formulation, loop_pivot)})


def _with_rows(eq: Equations, states: Sequence[Instant], loop_pivot: float) -> EliminationPlan:
    """The plan with an order of elimination for J J' of the independent rows, with little fill, and the typical sizes of its pivots."""
    loops = [placed(eq, s).loops for s in states]
    every = [x.dimensionless(x.at(s.q, s.v, 0.0, s.references))[1] for x, s in zip(loops, states, strict=True)]
    independent = list(range(len(every[0])) if eq.plan.keep is None else eq.plan.keep)
    there = np.any([np.abs(J[independent]) > ZERO_SHARE for J in every], axis=0)
    rows = [independent[i] for i in least_fill([np.flatnonzero(column).tolist() for column in there.T], [1] * len(independent))[0]]
    pivots = [[float(p) for p, _ in ldl(J[rows] @ J[rows].T, tolerance=0.0).watch] for J in every]
    sizes = tuple((loop_pivot * np.max(pivots, axis=0)).tolist())
    order = tuple(rows), tuple(rows)
    return replace(eq.plan, orders={**eq.plan.orders, SHORTEST: order}, nominal={**eq.plan.nominal, SHORTEST: sizes})


def constant_idle(loops: Loops, states: Sequence[Instant]) -> tuple[tuple[float, ...], ...]:
    """Directions of v that spin a link in place, if they are the same in every position (a rod's own axis is); else none."""
    found = [np.array([v * loops.columns for _, v in idle_motions(loops, q, null)]) for q, null in _nulls(loops, states)]
    if not len(found[0]) or any(f.shape != found[0].shape for f in found):
        return ()
    basis = [factor(f, 1e-6 * np.abs(f).max()) for f in found]
    span = basis[0].Vt[: basis[0].rank]
    if any(np.abs(b.Vt[: b.rank] - b.Vt[: b.rank] @ span.T @ span).max() > 1e-8 for b in basis):
        return ()
    chosen = pivoted_columns(span)
    rows = np.linalg.solve(span[:, chosen], span)  # reduced: a unit in the chosen entry of each
    rows[np.abs(rows) < 1e-12] = 0.0
    return tuple(tuple(float(x) for x in row) for row in rows)


def _nulls(loops: Loops, states: Sequence[Instant]) -> list[tuple[np.ndarray, np.ndarray]]:
    """q and the motions that the loops leave, at every state."""
    return [(s.q, loops.factored(loops.at(s.q, s.v, 0.0, s.references)).null) for s in states]


class _SampleTerms:
    """Terms at the samples by the body whose axes their rows are along, each computed once."""

    def __init__(self, eq: Equations, states: Sequence[Instant]):
        self.eq, self.states = eq, states
        self._known: dict[tuple[str, int], Terms] = {}

    def at(self, axes: str, i: int) -> Terms:
        i = range(len(self.states))[i]
        if (axes, i) not in self._known:
            self._known[axes, i] = _solved_terms(replace(self.eq, plan=replace(self.eq.plan, axes=axes)), self.states[i])
        return self._known[axes, i]

    def every(self, axes: str) -> list[Terms]:
        return [self.at(axes, i) for i in range(len(self.states))]


def _dynamics(eq: Equations, states: Sequence[Instant]) -> EliminationPlan:
    terms = _SampleTerms(eq, states)
    every = terms.every(eq.plan.axes)
    if any(lacks_inertia(T) for T in every):
        matrices = [saddle(T, T.h) for T in [T for T in every if not _singular(T)] or every]
        structure = np.any([A != 0.0 for A in matrices], axis=0)
        order = pivot_order(matrices, structure)
        eq = replace(eq, plan=replace(eq.plan, saddle=(tuple(order[0]), tuple(order[1]))))
        return replace(eq.plan, nominal=_nominal(eq, every))
    best = eq.plan
    if eq.plan.keep is None and len(every[0].columns) <= MUCH:
        best = _cheapest(eq, terms)
    return replace(best, nominal=_nominal(replace(eq, plan=best), terms.every(best.axes)))


def _solved_terms(eq: Equations, s: Instant) -> Terms:
    """Terms of the independent rows at a sample, in the rows and axes they are solved in."""
    T = placed(eq, s)._terms(s.q, s.v, np.zeros(1), eq.loops.skel.pack(s.references))
    return T if eq.plan.keep is None else T.select(list(eq.plan.keep))


def _singular(T: Terms) -> bool:
    return not factor(T.dimensionless_J()).regular(1e-6)


def _cheapest(eq: Equations, terms: _SampleTerms) -> EliminationPlan:
    """Of the orders whose pivots are healthy, the one of fewest operations by `elimination_work`; along either body's axes in space."""
    every = terms.every(eq.plan.axes)
    count = len(every[0].k_parts)
    touched: dict[int, int] = {}
    for _, j in every[0].blocks:
        touched[j] = touched.get(j, 0) + 1
    hubs = sorted((j for j, n in touched.items() if n >= 2), key=lambda j: -touched[j])[:LATE_SUBSYSTEMS]
    if count > 4 * LATE_SUBSYSTEMS:
        hubs = [j for j in hubs if touched[j] >= LATE_SUBSYSTEMS]
    plain = tuple(eq.plan.order)
    tried = _Tried(every, plain)
    orders = [plain, *((*plain, count + j) for j in hubs)]
    found: list[tuple[int, int, tuple[int, ...], EliminationPlan]] = []
    for axes in ("first",) if eq.loops.skel.tree.description.planar else ("first", "second"):
        T, turned = terms.at(axes, -1), replace(eq.plan, axes=axes)
        found += [(elimination_work(T, o), len(found) + i, o, replace(turned, order=o)) for i, o in enumerate(orders)]
    found.sort(key=lambda x: x[:2])
    work, _, _, best = next(x for x in found if x[2] == plain or tried.sound(x[2]))
    by_rows = _cheapest_rows(eq, terms, [None, *hubs], work)
    return best if by_rows is None else by_rows


def _cheapest_rows(eq: Equations, terms: _SampleTerms, hubs: Sequence[int | None], work: int) -> EliminationPlan | None:
    """The best order of single rows, if it takes clearly less than the `work` of the best order of whole loops.

    Some rows of a loop may have to wait for a hub where others need not: both rods of an arm of a delta robot hold it, so that the six
    rows of the arm have one pivot too few before the platform moves.
    """
    if terms.at(eq.plan.axes, 0).nc > MANY_ROWS or eq.loops.skel.tree.description.planar:
        return None
    found: list[tuple[int, int, tuple[int, ...], _Tried, EliminationPlan]] = []
    for axes in ("first", "second"):
        loops = terms.every(axes)
        rows = [T.by_rows() for T in loops]
        tried = _Tried(loops, tuple(eq.plan.order), rows)
        for hub in hubs:
            order = _row_order(rows, hub)
            if order is not None:
                plan = replace(eq.plan, axes=axes, order=order, single=True)
                found.append((elimination_work(rows[-1], order), len(found), order, tried, plan))
    found.sort(key=lambda x: x[:2])
    return next((p for own, _, order, tried, p in found if own < ROWS_WORTH * work and tried.sound(order)), None)


def _row_order(every: Sequence[Terms], hub: int | None) -> tuple[int, ...] | None:
    """Rows, and a late subsystem, by least work among those whose pivots are healthy in all positions; None if there is no such order."""
    nc, late = every[0].nc, slice(0, 0) if hub is None else every[0].spans[hub]
    early = np.r_[0 : late.start, late.stop : every[0].nv]
    S = np.array([_condensed(T, early, np.r_[late]) for T in every])
    scale = np.abs(np.diagonal(S, axis1=1, axis2=2)).copy()
    there = np.any(S != 0.0, axis=0)
    nodes = {**{r: [r] for r in range(nc)}, **({} if hub is None else {nc + hub: [*range(nc, nc + late.stop - late.start)]})}
    left, order = np.ones(len(there), dtype=bool), []

    def work(node: int) -> tuple[int, int]:
        own = nodes[node]
        touched = there[:, own[0]] if len(own) == 1 else there[:, own].any(axis=1)
        below = int(np.count_nonzero(touched & left)) - int(np.count_nonzero(touched[own])) + len(own) - 1
        return sum((below - i) * (below - i + 6) for i in range(len(own))), node

    while nodes:
        healthy = [n for n, own in nodes.items() if n >= nc or (np.abs(S[:, own[0], own[0]]) > STEADY * scale[:, own[0]]).all()]
        if not healthy:
            return None
        node = min(healthy, key=work)
        for p in nodes.pop(node):
            if not S[:, p, p].all():  # of a late subsystem whose velocities the rows before have fixed
                return None
            left[p] = False
            below = np.flatnonzero(left & there[:, p])
            there[np.ix_(below, below)] = True
            S = S - S[:, :, p, None] * S[:, None, p, :] / S[:, p, p, None, None]
        order.append(node)
    return tuple(order)


def _condensed(T: Terms, early: np.ndarray, late: np.ndarray) -> np.ndarray:
    """Dimensionless matrix of the rows and of late velocities after all other inertias are eliminated."""
    J, M = T.dimensionless_J(), T.M * T.columns * T.columns[:, None]
    half = J[:, early] @ np.linalg.solve(M[np.ix_(early, early)], J[:, early].T)
    half[np.abs(half) < ZERO_SHARE * np.abs(half).max(initial=0.0)] = 0.0
    return np.block([[half, J[:, late]], [J[:, late].T, -M[np.ix_(late, late)]]])


def elimination_work(T: Terms, order: Sequence[int]) -> int:
    """Operations, about, of eliminating the inertias and loops of some terms in an order, by the pattern of their nonzero entries."""
    count, nv = len(T.k_parts), T.nv
    late = {node - count for node in order if node >= count}
    places = [i for j, s in enumerate(T.spans) if j not in late for i in reversed(range(s.start, s.stop))]
    for node in order:
        span = T.rows[node] if node < count else T.spans[node - count]
        places += range(span.start + (nv if node < count else 0), span.stop + (nv if node < count else 0))
    there = np.zeros((nv + T.nc, nv + T.nc), dtype=bool)
    there[:nv, :nv], there[nv:, :nv], there[:nv, nv:] = T.M != 0.0, T.J != 0.0, T.J.T != 0.0
    there = there[np.ix_(places, places)]
    work = 0
    for p in range(len(there)):
        below = p + 1 + np.flatnonzero(there[p + 1 :, p])
        there[np.ix_(below, below)] = True
        work += len(below) * (len(below) + 6)  # a symmetric update, the pivot's row, and both solves
    return work


class _Tried:
    """Orders tried on numbers, of loops or of single `rows`, against the plain one."""

    def __init__(self, every: Sequence[Terms], plain: tuple[int, ...], rows: Sequence[Terms] | None = None):
        self.every, self.plain, self.rows = every, plain, every if rows is None else rows

    @cached_property
    def _solved(self) -> list[RawSolution]:
        return [Sslm()(replace(T, order=self.plain), T.h + T.columns) for T in self.every]

    def sound(self, order: tuple[int, ...]) -> bool:
        """True if an order gives the same accelerations with pivots that are not much smaller."""
        for a, T, other in zip(self._solved, self.every, self.rows, strict=True):
            b = Sslm()(replace(other, order=order), T.h + T.columns)
            gap, size = np.abs(a.a - b.a).max(initial=0.0), np.abs(a.a).max(initial=0.0)
            if len(b.watch) < len(a.watch):  # a row whose turn came before anything filled its pivot in was left out
                return False
            if b.dropped or b.smallest_pivot < HEALTHY * a.smallest_pivot or gap > 1e-7 * (1.0 + size):
                return False
        return True


def _nominal(
    eq: Equations, every: Sequence[Terms], formulation: str = "sslm", loop_pivot: float = LOOP_PIVOT
) -> dict[str, tuple[float, ...]]:
    """Sizes below which the pivots of a formulation ask for the rank-revealing path, from terms at the samples."""
    out: dict[str, list[np.ndarray]] = {}
    never = 1e300  # a size that no pivot reaches: the rank-revealing path is taken
    for T in every:
        place = T.place
        assert place is not None
        tau = along_world(place, T.h) if eq.plan.body_axes else T.h
        if eq.plan.saddle is not None:
            with np.errstate(divide="ignore", invalid="ignore"):  # pivots after one that is lost beside the others
                raw = eq._solve(T, tau, "sslm")
                sizes = np.array([ORDERED_PIVOT * abs(p) for _, p in raw.watch], dtype=float)
            out.setdefault("saddle", []).append(np.where(np.isfinite(sizes), sizes, never))
            continue
        out.setdefault(formulation, []).append(_watched_sizes(eq, T, tau, formulation, loop_pivot))
    return {name: tuple(_largest(rows)) for name, rows in out.items()}


def _watched_sizes(eq: Equations, T: Terms, tau: Any, name: str, loop_pivot: float) -> np.ndarray:
    watch = eq._solve(T, tau, name).watch
    # a row that touches late subsystems only has nothing on its diagonal before these are eliminated: there the pivot itself is its size
    sizes = np.array([scale if abs(scale) >= abs(pivot) else pivot for pivot, scale in watch], dtype=float)
    return sizes * _shares(eq, T, name, len(sizes), loop_pivot)


def _shares(eq: Equations, T: Terms, name: str, n: int, loop_pivot: float) -> np.ndarray:
    """Shares of their sizes that pivots may have: inertias first, then loops (or single rows) and late inertias in the plan's order."""
    if name != "sslm":
        return np.where(np.arange(n) < T.nv, INERTIA_PIVOT, loop_pivot)
    rows = [1] * T.nc if eq.plan.single else [r.stop - r.start for r in T.rows]
    spans, count = [s.stop - s.start for s in T.spans], len(rows)
    ordered = [(spans[j - count], INERTIA_PIVOT) if j >= count else (rows[j], loop_pivot) for j in eq.plan.order]
    early = T.nv - sum(size for (size, _), j in zip(ordered, eq.plan.order, strict=True) if j >= count)
    out = np.concatenate([np.full(size, share) for size, share in ((early, INERTIA_PIVOT), *ordered)])
    assert len(out) == n, "every pivot has its share"
    return out


def _largest(rows: Sequence[np.ndarray]) -> list[float]:
    """Entry by entry the one farthest from zero."""
    table = np.array(rows)
    return [float(column[np.argmax(np.abs(column))]) for column in table.T]


def _ordered(eq: Equations, name: str, states: Sequence[Instant]) -> tuple[Any, tuple[float, ...]] | None:
    """Order of elimination and typical pivots of the solves with drives; None where they are not square or not regular."""
    matrices = [_driven_matrix(eq, name, s) for s in states]
    n, m = matrices[0].shape
    regular = [A for A in matrices if n == m and n > 0 and _regular(_balanced(A))]
    if not regular:
        return None
    structure = np.any([A != 0.0 for A in matrices], axis=0)
    try:
        rows, columns = pivot_order([_balanced(A) for A in regular], structure)
    except UsageError:
        return None
    pivots = [np.abs(np.array(eliminate(A, np.ones(n), (rows, columns))[1], dtype=float)) for A in regular]
    return (tuple(rows), tuple(columns)), tuple(ORDERED_PIVOT * np.max(pivots, axis=0))


def _regular(A: np.ndarray) -> bool:
    """True if a matrix of rows and columns of size one can be solved with to ten digits."""
    f = factor(A, 1e-6)
    return f.rank == len(A) if f.by_pivots else bool(np.linalg.cond(A) < 1e6)


def _balanced(A: np.ndarray) -> np.ndarray:
    """Rows and columns of comparable size."""
    rows = np.abs(A).max(axis=1, keepdims=True)
    A = A / np.where(rows > 0.0, rows, 1.0)
    columns = np.abs(A).max(axis=0, keepdims=True)
    return A / np.where(columns > 0.0, columns, 1.0)


def _driven_matrix(eq: Equations, name: str, s: Instant) -> np.ndarray:
    if name == INDEPENDENT:
        return tied_rows(eq, eq.task_terms(s.q, s.v, eq.loops.skel.pack(s.references)))[0]
    if name == "kinematics":
        N = idle_rows(eq.plan, eq.loops.skel, s.motion).rows
        loops = eq.loops.with_([_driver(eq, n, s) for n in eq.drives if n not in eq.velocity_drives])
        J = loops.at(s.q, s.v, 0.0, eq.loops.skel.unpack(s.q, eq.loops.skel.pack(s.references))).J
        keep = [*(range(eq.loops.skel.tree.nc) if eq.plan.keep is None else eq.plan.keep)]
        return np.concatenate([J[[*keep, *range(eq.loops.skel.tree.nc, len(J))]], N, eq.velocity_rows()])
    T = eq._terms(s.q, s.v, np.zeros(1), eq.loops.skel.pack(s.references))
    place = T.place
    assert place is not None
    retained = T.J if eq.plan.keep is None else T.J[list(eq.plan.keep)]
    return np.concatenate([retained.T, eq._effort_columns(place), eq.idle_columns(place)], axis=1)


def _driver(eq: Equations, name: str, s: Instant) -> Any:
    d = eq.loops.skel.tree.description
    between = lengths(d).get(name)
    return driven(d, name, Parabola(0.0 if between is None else float(line(s, between).length)))
