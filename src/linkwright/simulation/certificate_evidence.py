"""Evidence for the certificate of a run: every accepted step, evaluated on request, or when there are too many.

Steps are stored up to a bound of memory; beyond it their evidence is drawn from them at once and they are let go.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.kernels.kernels import Variant
from linkwright.mechanics.closing.coordinate_partition import Partition, partition
from linkwright.mechanics.closing.singular_position import LostRank
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.singular_geometry import geometry_text, singular_geometry
from linkwright.mechanics.kinematics.motion import qdot
from linkwright.numerics.linalg import LARGE, SparseStack, factor
from linkwright.properties import cached_property
from linkwright.results.cut_references import Before, cut_motion
from linkwright.simulation.singularity_crossings import Bracket, Passage, Quintic, Watch, brackets, label, located
from linkwright.simulation.stabilizers.dependent import difference
from linkwright.simulation.time_stepping import Evaluator

if TYPE_CHECKING:
    from linkwright.kernels.loop_rows import RowValues
    from linkwright.system.compiled import Compiled


# ----------------------------------------------------------------------------------------------------
# Motions that turn round, or come to rest, next to a singular position: the branch on which they continue is not known
# Branches meet in a singular position, and the velocity decides on which one a motion continues. If it arrives with vanishing velocity, the
# motion bifurcates [Aghili2005 VIII-A]: it may stay on its branch, change over or turn round. A run whose velocity reverses a distance
# d before or behind such a position has an answer only if d is larger than what the run knows of positions.
#
# d is a way: radians, or multiples of the mechanism's size, as in docs/explanation/singular-positions.md. The smallest singular value s
# of J that counts
# vanishes in proportion to it, so that d = s way / (s' - s) with s' at another position of the same step, a `way` off.

REVERSAL_WAY = 1e-6  # way: a thousand times the default tolerance of a step, which is what the errors of some hundred steps amount to
STEPS_ERRORS = 1e3  # the same in tolerances, for runs with looser ones
SLOW = 1e-3  # of the largest speed of the run: a millionth of its kinetic energy, which vanishes in proportion to the way
WEAK = 0.05  # singular value from which on no singular position is within reach of a step's interpolation, as for accelerations
APART = 0.02  # way over which the change of the singular value is measured


class Reversal(NamedTuple):
    """A motion that turned round, or came to rest, next to a singular position."""

    time: float
    distance: float  # way, in rad or of the mechanism's size
    ended: bool  # it came to rest at the end of the run

    def __str__(self) -> str:
        what = "the motion comes to rest" if self.ended else "the motion turns round"
        return (
            f"t = {self.time:.6g} s: {what} {self.distance:.1e} (rad, or of the size) from a singular position, where branches meet. "
            "The run's positions are less exact than that, so the branch on which it continues is unknown"
        )


class Suspect(NamedTuple):
    """Two neighboring steps between which a motion reverses, or the last two of a run that came to rest."""

    before: np.ndarray  # t, y
    after: np.ndarray
    ended: bool


def within(tolerance: float | None) -> float:
    """Way below which a run does not know its branch; without a tolerance (fixed steps) the least one."""
    return max(REVERSAL_WAY, STEPS_ERRORS * tolerance) if tolerance is not None else REVERSAL_WAY


def reversing(w: np.ndarray) -> np.ndarray:
    """Places i where a dimensionless velocity w reverses between rows i and i + 1."""
    return np.flatnonzero(np.einsum("ij,ij->i", w[1:], w[:-1]) < 0.0)


def suspects(
    rows: np.ndarray, w: np.ndarray, rates: Callable[[np.ndarray], np.ndarray], smallest: Callable[[np.ndarray], np.ndarray]
) -> list[Suspect]:
    """Reversals at positions where J is weak, by cubic interpolation. `rates`: dq/dt of rows by their places, `smallest`: the smallest
    singular value that counts, at positions."""
    i = reversing(w)
    if not len(i):
        return []
    h, v0, v1 = (rows[i + 1, 0] - rows[i, 0])[:, None], rates(i), rates(i + 1)
    n = v0.shape[1]
    here, there = np.einsum("ij,ij->i", w[i], w[i]), np.einsum("ij,ij->i", w[i], w[i + 1])
    x = (here / (here - there))[:, None]  # where the velocity along its first direction vanishes
    q0, q1, v0, v1 = rows[i, 1 : 1 + n], rows[i + 1, 1 : 1 + n], h * v0, h * v1
    q = q0 + x * (v0 + x * (3.0 * (q1 - q0) - 2.0 * v0 - v1 + x * (v0 + v1 - 2.0 * (q1 - q0))))
    return [Suspect(rows[k], rows[k + 1], False) for k, s in zip(i, smallest(q), strict=True) if s < WEAK]


def smallest_values(J: SparseStack, rank: int) -> np.ndarray:
    """The smallest singular value that counts, at every position."""
    if not rank or not len(J):
        return np.ones(len(J))
    if min(J.shape) < LARGE:
        return np.linalg.svd(J.dense, compute_uv=False)[:, rank - 1]
    found = [factor(J[i]) for i in range(len(J))]
    return np.array([f.smallest if f.by_pivots and f.rank >= rank else f.s[rank - 1] for f in found])


def judged(
    watch: Watch, rank: int, found: Suspect, way: Callable[[np.ndarray, np.ndarray], float], speed: float, near: float
) -> Reversal | None:
    """The reversal, if it is that near to a singular position and that slow; `way` between two positions, `speed` the run's largest."""
    curve = Quintic.of(watch, found.before, found.after)
    t = float(found.after[0]) if found.ended else _slowest(curve)
    e = 1e-4 * curve.h
    if way(curve.at(t - e), curve.at(t + e)) > 2.0 * e * SLOW * speed and not found.ended:
        return None  # it passes: only its direction changes much
    here = found.after[1 : 1 + watch.nq] if found.ended else watch.reach(found.before, t)
    here = curve.at(t) if here is None else here
    other = max((curve.at(x) for x in _apart(curve, t)), key=lambda q: way(q, here) if way(q, here) <= APART else -1.0)
    s = smallest_values(watch.jacobians(np.array([here, other])), rank)
    change = abs(float(s[1] - s[0]))
    distance = float(s[0]) * way(other, here) / change if change > 0.0 else np.inf
    return Reversal(t, distance, found.ended) if distance < near else None


def _slowest(curve: Quintic) -> float:
    """Time at which the coordinates of the step change slowest."""
    rate = curve.c[1:] * np.arange(1.0, 6.0)[:, None]

    def size(x: float) -> float:
        return float(np.sum((x ** np.arange(5.0) @ rate) ** 2))

    low, high, best = 0.0, 1.0, 0.5
    for _ in range(12):  # ever finer: each takes a tenth of the interval
        grid = np.linspace(low, high, 21)
        best = float(grid[int(np.argmin([size(x) for x in grid]))])
        reach = 0.05 * (high - low)
        low, high = max(0.0, best - reach), min(1.0, best + reach)
    return curve.t + best * curve.h


def _apart(curve: Quintic, t: float) -> Sequence[float]:
    """Times of the step on both sides of t, ever nearer to it."""
    ends = curve.t, curve.t + curve.h
    return [t + (end - t) * 0.5**k for k in range(12) for end in ends if end != t]


BUFFERED = 4_000_000  # numbers of steps stored in memory before they are digested: 32 MB
PART = BUFFERED // 8  # numbers looked at together: where a run is cut must not depend on the clock, as the slices of its loop do
LOOKED_AT = 40  # positions from which the partition is chosen
PLACED = 1e-2  # dimensionless: how far a located passage may be from the singular position that its text is about


@dataclass
class Findings:
    """Evidence of the steps."""

    position: float = 0.0
    position_end: float = 0.0
    velocity: float = 0.0
    velocity_end: float = 0.0
    speed: float = 0.0
    imbalance: float = 0.0
    imbalance_end: float = 0.0
    kinetic: float = 0.0  # largest
    potential: tuple[float, float] = (np.inf, -np.inf)  # smallest and largest
    work: float = 0.0  # largest of the three
    energy_end: float = 0.0
    works: tuple[float, float, float] = (0.0, 0.0, 0.0)
    brackets: list[tuple[int, Bracket, np.ndarray]] = field(default_factory=list)  # (mode, bracket, cut)
    suspects: list[tuple[int, Suspect, np.ndarray]] = field(default_factory=list)  # (mode, reversal, cut)
    first_signs: np.ndarray | None = None
    last_signs: np.ndarray | None = None

    @property
    def turned_over(self) -> float:
        """J: the largest of the kinetic energy, the range of the potential energy and the works."""
        return max(self.kinetic, self.potential[1] - self.potential[0], self.work)


@dataclass
class Evidence:
    """The steps of a run, mode by mode."""

    system: Compiled = field(repr=False)
    drives: tuple[int, ...]  # places in names.v of the joints that are driven
    driven: bool  # they are driven in this run, not only named by the model
    parameters: np.ndarray
    near: float = REVERSAL_WAY  # way from a singular position within which the branch of a motion that turns round is not known
    losses: list[tuple[int, float]] = field(default_factory=list)  # (modes before it, energy) of impacts
    modes: list[tuple[Evaluator, tuple[str, ...]]] = field(default_factory=list)
    arrived: list[np.ndarray] = field(default_factory=list, repr=False)  # rows of the present mode, as the loop handed them out
    waiting: list[tuple[int, np.ndarray]] = field(default_factory=list, repr=False)  # (mode, rows)
    references: dict[int, Any] = field(default_factory=dict, repr=False)  # reference coordinates where the uncounted rows of a mode begin
    counted: list[tuple[int, Before]] = field(default_factory=list, repr=False)  # (mode, cut joints at every step), all since the start
    uncounted: list[tuple[int, np.ndarray]] = field(default_factory=list, repr=False)
    found: Findings = field(default_factory=Findings)
    numbers: int = 0
    _last: tuple[int, np.ndarray, np.ndarray] | None = field(default=None, repr=False)
    _last_two: tuple[int, np.ndarray, np.ndarray] | None = field(default=None, repr=False)
    _energy_start: float | None = None

    def begin(self, evaluator: Evaluator, off: tuple[str, ...], references: Any) -> None:
        """A new mode, from a state with these reference coordinates."""
        self._take()
        self.modes.append((evaluator, off))
        self.references[len(self.modes) - 1] = references

    def add(self, rows: np.ndarray) -> None:
        """Accepted steps (t, y), as the loop hands them out."""
        if not len(rows):
            return
        self.arrived.append(np.array(rows))
        self.numbers += rows.size
        if self.numbers > BUFFERED:
            self._take(whole=True)
            self._look()

    def _take(self, *, whole: bool = False) -> None:
        """Parts of a fixed length from what arrived; with `whole` the rest, too short for one, waits."""
        if not self.arrived:
            return
        rows = np.concatenate(self.arrived)
        size = max(1, PART // rows.shape[1])
        ends = range(0, len(rows) - (size - 1 if whole else 0), size)
        new = [(len(self.modes) - 1, rows[first : first + size]) for first in ends]
        rest = rows[len(ends) * size :]
        self.arrived = [rest] if len(rest) else []
        self.waiting += new
        self.uncounted += new

    def _count(self) -> None:
        """Cycles of cut joints, from step to step: there they are small enough to be counted. All steps of a mode at once: every call
        traces the cut joints anew, and a sampled run hands its steps out in many parts."""
        for mode, group in itertools.groupby(self.uncounted, key=lambda part: part[0]):
            parts = [rows for _, rows in group]
            before = [self._ends[mode]] if mode in self._ends else []  # the first step of a part may take more than half a turn
            rows = np.concatenate([*before, *parts])
            found, rates = cut_motion(self.system.loops.skel, rows[:, 0], *self._states(rows), self.references[mode], self.system.loops)
            self.references[mode], self._ends[mode] = found[-1], rows[-1:]
            ends = np.cumsum([len(part) for part in parts])[:-1]
            cuts, speeds = (np.split(x[len(before) :], ends) for x in (found.rows, rates))
            self.counted += [(mode, Before(part[:, 0].copy(), *both)) for part, *both in zip(parts, cuts, speeds, strict=True)]
        self.uncounted = []

    def before(self, mode: int, times: np.ndarray) -> Before:
        """The cut joints at the step before each sample."""
        self._take()
        self._count()
        mine = [x for k, x in self.counted if k == mode]
        if not mine or not len(times):
            nothing = np.zeros((len(times), self.system.kernels.sizes.near))
            return Before(np.asarray(times), nothing, nothing)
        t, cut, rates = (np.concatenate(part) for part in zip(*mine, strict=True))
        at = np.maximum(np.searchsorted(t, times, side="right") - 1, 0)
        return Before(t[at], cut[at], rates[at])

    def cut_at(self, mode: int, times: np.ndarray) -> np.ndarray:
        """Reference coordinates of the cut joints for samples: those of the step before each."""
        return self.before(mode, times).references

    # ---------------------------------------------------------------- findings

    def digest(self) -> Findings:
        """Look at all steps, and let them go."""
        self._take()
        return self._look()

    def _look(self) -> Findings:
        self._count()
        for (mode, rows), (_, joints) in zip(self.waiting, self.counted[len(self.counted) - len(self.waiting) :], strict=True):
            self._energies(mode, rows, joints.references)
            if self.system.loops.skel.tree.nc:
                self._loops(mode, rows, joints.references)
        self.waiting, self.numbers = [], sum(rows.size for rows in self.arrived)
        return self.found

    def _energies(self, mode: int, rows: np.ndarray, cut: np.ndarray) -> None:
        f, p = self.found, self.modes[mode][0].setup.problem
        kinetic, potential = self._energy(mode, rows, cut)
        E = kinetic + potential
        if self._energy_start is None:
            self._energy_start = float(E[0])
        works = rows[:, 1 + p.n - p.n_power :] if p.n_power else np.zeros((len(rows), 3))
        lost = sum(e for before, e in self.losses if mode >= before)
        gap = E - self._energy_start - works[:, 0] - works[:, 1] + works[:, 2:].sum(axis=1) + lost
        f.imbalance = max(f.imbalance, float(np.abs(gap).max()))
        f.imbalance_end, f.energy_end, f.works = (
            float(gap[-1]),
            float(E[-1]),
            (float(works[-1, 0]), float(works[-1, 1]), float(works[-1, 2:].sum())),
        )
        f.kinetic, f.work = max(f.kinetic, float(kinetic.max())), max(f.work, float(np.abs(works).max()))
        f.potential = min(f.potential[0], float(potential.min())), max(f.potential[1], float(potential.max()))

    def _energy(self, mode: int, rows: np.ndarray, cut: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        p = self.modes[mode][0].setup
        q, v = self._states(rows)
        found = p.kernels.get("energy")(q, v, **self._more(rows, cut))
        return found.kinetic[:, 0], found.potential[:, 0]

    def _more(self, rows: np.ndarray, cut: np.ndarray) -> dict[str, Any]:
        more = {"t": rows[:, :1], "near": cut}
        return more | ({"parameters": np.tile(self.parameters, (len(rows), 1))} if len(self.parameters) else {})

    def _states(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        tree = self.system.loops.skel.tree
        return np.ascontiguousarray(rows[:, 1 : 1 + tree.nq]), np.ascontiguousarray(rows[:, 1 + tree.nq : 1 + tree.nq + tree.nv])

    def _loops(self, mode: int, rows: np.ndarray, cut: np.ndarray) -> None:
        f, off = self.found, self.modes[mode][1]
        if self._last is not None and self._last[0] == mode:  # the step before belongs to the first interval
            rows, cut = np.concatenate([self._last[1][None], rows]), np.concatenate([self._last[2][None], cut])
        q, v = self._states(rows)
        found = self._rows_at(q, v, rows, cut, off)
        scale = self._row_scale(off)
        phi = np.abs(found.phi / scale).max(axis=1, initial=0.0)
        gap = np.abs((found.J @ v + found.b) / scale).max(axis=1, initial=0.0)
        f.speed = max(f.speed, float(np.abs(v / self.system.loops.columns).max(initial=0.0)))
        f.position, f.position_end = max(f.position, float(phi.max())), float(phi[-1])
        f.velocity, f.velocity_end = max(f.velocity, float(gap.max())), float(gap[-1])
        J = found.J.scaled(1.0 / scale, self.system.loops.columns)
        part = self.partition_of(mode, J)
        if part.blocks and len(rows):
            signs = part.signs(J[[0, -1]])
            f.first_signs = signs[0] if f.first_signs is None else f.first_signs
            f.last_signs = signs[1]
        for b in brackets(part, rows, J):
            f.brackets.append((mode, b, cut[np.searchsorted(rows[:, 0], b.before[0])]))
        w = v / self.system.loops.columns
        skel = self.system.loops.skel
        for x in suspects(
            rows, w, lambda i: np.array([qdot(skel, q[k], v[k]) for k in i]), lambda there: self._smallest(mode, cut[0], there)
        ):
            f.suspects.append((mode, x, cut[np.searchsorted(rows[:, 0], x.before[0])]))
        self._last, self._last_two = (mode, rows[-1], cut[-1]), (mode, rows[-2:], cut[-1])

    def _rows_at(self, q: np.ndarray, v: np.ndarray, rows: np.ndarray, cut: np.ndarray, off: tuple[str, ...]) -> RowValues:
        return self.system.kernels.variant(Variant(without=off)).rows.at(q=q, v=v, **self._more(rows, cut))

    def _row_scale(self, off: tuple[str, ...]) -> np.ndarray:
        return self.system.kernels.variant(Variant(without=off)).loops.row_scale

    def partition_of(self, mode: int, J: SparseStack | None = None) -> Partition:
        """The partition of a mode, chosen at its first steps."""
        off = self.modes[mode][1]
        if off not in self._partitions:
            assert J is not None
            every = max(1, len(J) // LOOKED_AT)
            self._partitions[off] = partition(J[::every], self.drives, self.system.kernels.variant(Variant(without=off)).generic_rank)
        return self._partitions[off]

    @cached_property
    def _ends(self) -> dict[int, np.ndarray]:
        """The last row counted of every mode."""
        return {}

    @cached_property
    def _partitions(self) -> dict[tuple[str, ...], Partition]:
        return {}

    # ---------------------------------------------------------------- passages

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        """Every singular position passed, in order of time."""
        self.digest()
        out: list[Passage] = []
        for mode, bracket, cut in self.found.brackets:
            out += located(self.watch(mode, cut), self.partition_of(mode), bracket)
        return tuple(sorted(out))

    @cached_property
    def reversals(self) -> tuple[Reversal, ...]:
        """Motions that turned round, or came to rest, too near to a singular position for their branch to be known."""
        f = self.digest()
        found = list(f.suspects)
        if self._last_two is not None and len(self._last_two[1]) == 2:  # a run that came to rest
            mode, rows, cut = self._last_two
            v = self._states(rows)[1] / self.system.loops.columns
            if np.linalg.norm(v[1]) < SLOW * f.speed and self._smallest(mode, cut, self._states(rows[1:])[0])[0] < WEAK:
                found.append((mode, Suspect(rows[0], rows[1], True), cut))
        skel, columns = self.system.loops.skel, self.system.loops.columns

        def way(q: np.ndarray, other: np.ndarray) -> float:
            return float(np.linalg.norm(difference(skel, q, other) / columns))

        out = [judged(self.watch(mode, cut), self._rank(mode), x, way, f.speed, self.near) for mode, x, cut in found]
        return tuple(sorted(x for x in out if x is not None))

    @property
    def may_reverse(self) -> bool:
        """True if the velocity reverses somewhere among the steps, or nearly vanishes at the end: a look at what is at hand."""
        if self.found.suspects:
            return True
        rows = [x for _, x in self.waiting] + self.arrived
        v = self._states(np.concatenate(rows))[1] / self.system.loops.columns if rows else np.zeros((0, 1))
        sizes = np.linalg.norm(v, axis=1)
        return bool(len(v)) and bool(len(reversing(v)) or sizes[-1] < SLOW * max(self.found.speed, sizes.max()))

    def _smallest(self, mode: int, cut: np.ndarray, q: np.ndarray) -> np.ndarray:
        return smallest_values(self.jacobians(mode, cut, q), self._rank(mode))

    def _rank(self, mode: int) -> int:
        return self.system.kernels.variant(Variant(without=self.modes[mode][1])).generic_rank

    def jacobians(self, mode: int, cut: np.ndarray, q: np.ndarray) -> SparseStack:
        """Dimensionless J of the loops that are closed in a mode, at positions."""
        off, tree = self.modes[mode][1], self.system.loops.skel.tree
        zero = np.zeros((len(q), 1 + tree.nq + tree.nv))
        J = self._rows_at(np.ascontiguousarray(q), np.zeros((len(q), tree.nv)), zero, np.tile(cut, (len(q), 1)), off).J
        return J.scaled(1.0 / self._row_scale(off), self.system.loops.columns)

    def watch(self, mode: int, cut: np.ndarray) -> Watch:
        evaluator, off = self.modes[mode]
        skel = self.system.loops.skel
        nq, nv = skel.tree.nq, skel.tree.nv

        def reach(row: np.ndarray, t: float) -> np.ndarray | None:
            y = evaluator.reach(float(row[0]), row[1:], cut, t)
            return None if y is None else y[:nq]

        return Watch(
            jacobians=lambda q: self.jacobians(mode, cut, q),
            accelerations=lambda rows: np.array([evaluator.accelerations(float(r[0]), r[1:], cut) for r in rows]),
            rates=lambda q, v: qdot(skel, q, v),
            reach=reach,
            geometry=lambda q, held: self._geometry(off, cut, q, held),
            labels=self._labels(off),
            driven=self.driven and set(self.drives) == set(self.partition_of(mode).independent),
            nq=nq,
            nv=nv,
        )

    def _geometry(self, off: tuple[str, ...], cut: np.ndarray, q: np.ndarray, held: Sequence[int]) -> str:
        """Text about the links at a singular position of the loops that are closed."""
        loops = self.system.kernels.variant(Variant(without=off)).loops
        near = Instant(loops.skel, q, np.zeros(loops.skel.tree.nv), 0.0, loops.skel.unpack(q, cut))
        found = singular_geometry(LostRank(loops, tuple(held)), near, self.system.start.instant, reach=PLACED)
        return geometry_text(found, self.system.description.units)

    def last(self, count: int) -> np.ndarray:
        """The last accepted steps (t, y) of the present mode."""
        waiting = [rows for mode, rows in self.waiting if mode == len(self.modes) - 1]
        rows = [*waiting, *self.arrived]
        return np.concatenate(rows[-count:])[-count:] if rows else np.zeros((0, 1))

    def labels(self, mode: int) -> Sequence[str]:
        """Names of the rows of the loops that are closed in a mode."""
        return self._labels(self.modes[mode][1])

    def _labels(self, off: tuple[str, ...]) -> Sequence[str]:
        loops = self.system.kernels.variant(Variant(without=off)).loops
        return [f"{c.name}.{x}" for c in loops.constraints for x in c.labels]

    @property
    def branch(self) -> tuple[str, str]:
        """Label at the start and at the end."""
        f = self.digest()
        return ("" if f.first_signs is None else label(f.first_signs)), ("" if f.last_signs is None else label(f.last_signs))
