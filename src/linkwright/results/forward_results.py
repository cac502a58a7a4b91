"""Results of `s.forward` and `s.crosscheck`: values by name, and tables for people."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.errors import UsageError, counted
from linkwright.files.tables import Result, Table
from linkwright.mechanics.dynamics.terms import Terms, of_matrices
from linkwright.mechanics.formulations import FORMULATIONS, Formulation
from linkwright.mechanics.formulations.forward import Forward, forward
from linkwright.mechanics.formulations.projection import constraint_inertia, projector
from linkwright.mechanics.formulations.sslm import gicm
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import node_motion, pose_of
from linkwright.numerics.linalg import factor
from linkwright.properties import cached_property
from linkwright.results.state import State


class Acceleration:
    """Accelerations and loop multipliers at a state. `acc["A"]`, `acc.lam["C"]`, `acc.unique["C"]`, `acc.rank`.

    `st` is the state without them; `solution` is worked out by `solve` on demand.
    """

    def __init__(self, a: np.ndarray, lam: np.ndarray, names: tuple[str, ...], st: State, solve: Callable[[], Forward]):
        self.a, self._lam, self.names, self._before, self._solve = a, lam, names, st, solve

    @classmethod
    def of(cls, solution: Forward, names: tuple[str, ...], st: State) -> Acceleration:
        """Of a solution that is known already."""
        return cls(solution.a, solution.lam, names, st, lambda: solution)

    def __reduce__(self) -> Any:
        return _restored, (self.a, self._lam, self.names, self._before, self.solution)

    def __repr__(self) -> str:
        return f"Acceleration(a={self.a!r})"

    @cached_property
    def solution(self) -> Forward:
        return self._solve()

    @cached_property
    def st(self) -> State:
        """The state with these accelerations; quantities computed at the state without them are shared."""
        st = self._before
        there = State(st.skel, st.q, st.v, st.references, st.t, self.a)
        vars(there).update(
            instant=Instant(st.skel, st.q, st.v, st.t, st.references, self.a, motion=st.instant.motion), _channels=st._channels
        )
        return there

    def __getitem__(self, joint: str) -> Any:
        """Acceleration of any joint, cut or not (`"A"` or `"A.a"`), or any channel of the state."""
        known = self.st._channels
        return known[f"{joint}.a" if f"{joint}.a" in known else joint].read(self.st.instant)

    @property
    def lam(self) -> Mapping[str, np.ndarray]:
        """Multipliers by loop: N and N m along the rows of the cut joint, in the axes of its first body's frame."""
        return self._by_loop(self._lam)

    @property
    def unique(self) -> Mapping[str, np.ndarray]:
        """Mask of the multipliers that are determined; the others are those of least reactions, or meaningless in a passage."""
        return self._by_loop(self.solution.unique)

    @property
    def rank(self) -> int:
        return self.solution.rank

    @property
    def redundant(self) -> int:
        return self.solution.redundant

    @property
    def passages(self) -> int:
        """Rows lost in a singular passage; the accelerations are the limit along the smooth branch."""
        return self.solution.passages

    @property
    def singular_values(self) -> np.ndarray:
        return self.solution.singular_values

    @property
    def force(self) -> np.ndarray:
        """Constraint force J' lam in the tree's coordinates, smooth through passages."""
        return self.solution.force

    @property
    def formulation(self) -> str:
        return self.solution.formulation

    def joint_force(self, cut: str) -> np.ndarray:
        """Force of a cut joint on its second body at the joint point, in world axes."""
        terms = self.solution.terms
        place = terms.place
        if place is None:
            return self.lam[cut]
        joint = place.loops.skel.tree.description.joint(cut)
        constraint = next(c for c in place.loops.constraints if c.name == cut)
        X = node_motion(place.loops.skel, place.motion, place.loops.skel.node(joint.first))[0] @ pose_of(joint.frame_first)
        local = np.zeros(3)
        for label, value in zip(constraint.labels, self.lam[cut], strict=True):
            if label[0] == "t":
                local["xyz".index(label[1])] = value
        return X.R @ local

    def _by_loop(self, values: np.ndarray) -> dict[str, np.ndarray]:
        return {loop.name: values[loop.rows] for loop in self._before.skel.tree.loops}


def _restored(a: np.ndarray, lam: np.ndarray, names: tuple[str, ...], st: State, solution: Forward) -> Acceleration:
    return Acceleration(a, lam, names, st, lambda: solution)


@dataclass(frozen=True)
class FormulationCheck:
    """One formulation on one state."""

    name: str
    a: np.ndarray
    lam: np.ndarray
    disagreement: float  # with the median of all, relative to the size of the accelerations
    residual: float  # of J a + k
    seconds: float
    condition: float  # of the matrix it inverts


@dataclass(frozen=True)
class Crosscheck(Result):
    """All formulations on one state."""

    formulations: tuple[FormulationCheck, ...]
    rank: int
    rows: int
    singular_values: np.ndarray
    best_gamma: float  # of the scaled constraint inertia matrix
    limit: bool = False  # every formulation had to give way to the limit equations

    @property
    def max_disagreement(self) -> float:
        return max((c.disagreement for c in self.formulations), default=0.0)

    def table(self) -> Table:
        """Return a row for each formulation."""
        heads = [
            ("formulation", ""), ("disagreement", "-", ".1e", "with the median of all, over the size of the accelerations"),
            ("residual", "SI", ".1e", "of the loops' accelerations"), ("condition", "-", ".1e", "of the matrix it inverts"),
            ("time", "us", ".0f"),
        ]  # fmt: skip
        rows = [(c.name, c.disagreement, c.residual, c.condition, 1e6 * c.seconds) for c in self.formulations]
        return Table.of(heads, rows, "formulations")

    def __str__(self) -> str:
        lines = [self.table().text()]
        lines.append("disagreement with the median of all, over the size of the accelerations")
        smallest = float(self.singular_values[self.rank - 1]) if self.rank else 0.0
        lines.append(
            f"rank {self.rank} of {counted(self.rows, 'row')}, smallest singular value {smallest:.2e}, gamma of least condition "
            f"{self.best_gamma:.3g}"
        )
        if self.limit:
            lines.append("all by the same limit equations (singular passage, or a degree of freedom without inertia): nothing was compared")
        return "\n".join(lines)


def crosscheck(terms: Terms, tau: np.ndarray) -> Crosscheck:
    """Run every formulation in all its variants and compare each with the median of all, coordinate by coordinate."""
    if not len(terms.columns):
        raise UsageError("nothing can move here: every joint is fixed, so there are no accelerations to compare.")
    defaults = {name: make().variants() for name, make in FORMULATIONS.items()}
    runs = {f"{name} {label}".strip(): x for name, variants in defaults.items() for label, x in variants.items()}
    found, seconds = [], []
    for formulation in runs.values():
        begin = time.perf_counter()
        found.append(forward(terms, tau, formulation))
        seconds.append(time.perf_counter() - begin)
    middle = np.median([out.a / terms.columns for out in found], axis=0)
    size = 1.0 + float(np.abs(middle).max(initial=0.0))
    checks = []
    for (name, formulation), out, taken in zip(runs.items(), found, seconds, strict=True):
        gap = float(np.abs(out.a / terms.columns - middle).max(initial=0.0)) / size
        residual = float(np.abs((terms.J @ out.a + terms.k) / terms.row_scale).max(initial=0.0)) if out.passages == 0 else 0.0
        checks.append(FormulationCheck(name, out.a, out.lam, gap, residual, taken, condition(terms, formulation)))
    s = factor(terms.dimensionless_J())
    limit = all(out.formulation.endswith("(limit)") for out in found)
    return Crosscheck(tuple(checks), s.rank, terms.nc, s.s, _best_gamma(terms), limit)


def condition(terms: Terms, formulation: Formulation) -> float:
    """Condition number of the matrix that a formulation inverts, in the dimensionless metric and with independent rows."""
    M, f = terms.M * terms.columns * terms.columns[:, None], factor(terms.dimensionless_J())
    if formulation.needs_inertia and np.linalg.eigvalsh(M)[0] <= 0.0:
        return float("inf")
    J = f.s[: f.rank, None] * f.Vt[: f.rank]
    A = formulation.matrix(of_matrices(M, np.zeros(len(M)), J, np.zeros(f.rank), labels=terms.coordinates))
    s = np.linalg.svd(A, compute_uv=False)
    if not len(s):
        return 1.0  # no rows: there are no multipliers to solve for
    return float(s[0] / s[-1]) if s[-1] > 0.0 else float("inf")


def _best_gamma(terms: Terms) -> float:
    """gamma that gives the scaled constraint inertia matrix the least condition number, by a search over decades."""
    M = terms.M * terms.columns * terms.columns[:, None]
    f = factor(terms.dimensionless_J())
    P = projector(f.Vt, f.rank)
    size = float(np.linalg.norm(M, 2))
    best = (np.inf, size)
    for gamma in size * np.logspace(-4, 2, 25):
        s = np.linalg.svd(constraint_inertia(M, P, "scaled", float(gamma)), compute_uv=False)
        if s[-1] > 0.0:
            best = min(best, (float(s[0] / s[-1]), float(gamma)))
    return best[1]


@dataclass(frozen=True)
class GicmView(Result):
    """The generalized inertia constraint matrix by blocks, and which subsystems form each."""

    names: tuple[str, ...]
    blocks: dict[tuple[int, int], np.ndarray]  # lower triangle in elimination order
    members: dict[tuple[int, int], tuple[int, ...]]
    matrix: np.ndarray  # dense, loops in the order of the tree

    def __str__(self) -> str:
        lines = ["GICM: block (i, k) is the sum over the subsystems that loops i and k share of J_ij I_j^-1 J_kj'"]
        return "\n".join([*lines, self.table().text()])

    def table(self) -> Table:
        """Return the numbers of the subsystems that form each block."""
        rows = [(name, *(self._shared(i, k) for k in range(len(self.names)))) for i, name in enumerate(self.names)]
        return Table.of(["loop", *self.names], rows, "GICM")

    def _shared(self, i: int, k: int) -> str:
        """Numbers of the subsystems that two loops share: `{1,3}`."""
        who = self.members.get((i, k)) or self.members.get((k, i))
        return "{" + ",".join(str(j + 1) for j in sorted(who)) + "}" if who else "."


def gicm_view(terms: Terms) -> GicmView:
    g = gicm(terms)
    dense = np.zeros((terms.nc, terms.nc))
    for (i, k), block in g.blocks.items():
        dense[terms.rows[i], terms.rows[k]] = block
        dense[terms.rows[k], terms.rows[i]] = block.T
    return GicmView(terms.names, g.blocks, g.members, dense)
