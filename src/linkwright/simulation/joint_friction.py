"""Dry friction of a mechanism's joints at a state: rows, terms and their kernel, and the efforts that follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.kernels.equations.joint_friction import EffortEquations
from linkwright.mechanics.constraints.loops import Loops, scale
from linkwright.mechanics.dynamics.coordinate_efforts import EffortRow, EffortRows, EffortTerms
from linkwright.mechanics.dynamics.terms import Terms
from linkwright.mechanics.dynamics.tree import mass_matrix
from linkwright.mechanics.forces import FrictionRow, friction_rows
from linkwright.mechanics.formulations.forward import Forward
from linkwright.model.coordinates import coordinate
from linkwright.numerics.tolerances import OPEN
from linkwright.results.state import State
from linkwright.simulation.friction_states import FrictionInstant
from linkwright.simulation.instant_rows import InstantRows, JointRows
from linkwright.simulation.stabilizers.base import step_kernel

if TYPE_CHECKING:
    from linkwright.integrators import HeldRow
    from linkwright.kernels.kernel import Kernel
    from linkwright.kernels.kernels import Kernels
    from linkwright.mechanics.kinematics.motion import Motion
    from linkwright.simulation.friction_modes import Before
    from linkwright.system.compiled import Compiled


@dataclass(frozen=True)
class JointFriction:
    """Rows of friction, and what else may hold, which comes first in the terms: coordinates, then touches of surfaces with two rows each.

    `mobility` is that of the lightest coordinate by itself, `unit` of the coordinates that may be held and of those that rub.
    """

    rows: tuple[FrictionRow, ...]
    held: tuple[str, ...]
    touches: int
    unit: np.ndarray = field(repr=False)
    columns: np.ndarray = field(repr=False)
    mobility: float = field(repr=False)

    @classmethod
    def of(cls, loops: Loops, motion: Motion, held: Mapping[str, float] | None = None, touches: int = 0) -> JointFriction | None:
        """The friction of a mechanism, `motion` in any of its positions; None where there is none. held: coordinates that may be held, and
        1 rad or the characteristic length of each."""
        d = loops.skel.tree.description
        rows, held = friction_rows(d), held or {}
        if not rows:
            return None
        kinds = [coordinate(d, r.name).kind for r in rows]
        inertia = np.diag(mass_matrix(loops.skel, motion)) * loops.columns**2
        unit = np.array([*held.values(), *([loops.kappa] * (2 * touches)), *scale(kinds, loops.kappa)])
        return cls(rows, tuple(held), touches, unit, loops.columns, float(1.0 / inertia[inertia > 0.0].min(initial=np.inf)))

    @property
    def efforts(self) -> EffortRows:
        """All rows, with the joints whose forces count."""
        own = tuple(EffortRow(r.name, r.joint if r.by_load else "") for r in self.rows)
        return EffortRows(self.held, self.touches, own)

    @property
    def first(self) -> int:
        """The first row of friction in the terms."""
        return len(self.held) + 2 * self.touches

    def kernel(self, kernels: Kernels, gains: bool = False) -> Kernel:
        """Terms of the rows by native code, for kernels of a variant without friction that sticks."""
        rows, answer = self.efforts, self.answer(kernels)
        named = [len(rows.held), rows.touches, *map(list, rows.rows)]
        return step_kernel(kernels, "effort_terms", EffortEquations(rows), named, gains, answer, pushed=True)

    def answer(self, kernels: Kernels) -> Callable[[dict[str, np.ndarray]], dict[str, Any]]:
        """The same by the rank-revealing path."""
        from linkwright.kernels.rank_revealing import RankRevealing  # here, because importing it is no part of starting up

        return partial(RankRevealing(kernels).effort_terms, rows=self.efforts)

    def at(self, terms: EffortTerms, a: np.ndarray, v: np.ndarray, held: Sequence[HeldRow] = ()) -> FrictionInstant:
        """The rows at a state with accelerations a without these efforts, and what holds there."""
        own, n = range(self.first, self.first + len(self.rows)), len(self.rows)
        keep = [*own, *(x.row for x in held)]
        some = terms.of(keep, [*([-1] * n), *(x.slide for x in held)], [*([0.0] * n), *(x.share for x in held)])
        J, X, plain = some.J, some.X[:, -len(v) - 1 : -1], terms.X[keep, -len(v) - 1 : -1]
        fastest = float(np.abs(v / self.columns).max(initial=0.0))
        W, moved = J @ X.T, J @ plain.T
        return FrictionInstant(self.rows, W, moved, J @ a + some.k, some.F, some.dF, J @ v, self.unit[keep], self.mobility, fastest)

    def beside(self, r: InstantRows, terms: EffortTerms, a: np.ndarray, before: Before) -> JointRows:
        """The rows of friction next to one-sided rows of a state; a: accelerations without friction and what touches."""
        at, c, m = self.at(terms, a, r.st.v), r.T.columns, len(self.rows)
        own, J, n = range(self.first, self.first + m), terms.J * c, len(r.own)
        dF = terms.dF.reshape(len(terms.dF), -1, 3)[own.start :]
        E = J[own.start :] / self.unit[own.start :, None]
        dF_N, dF_T = np.zeros((m, n, 3)), np.zeros((m, n, 3))
        for i, x in enumerate(r.own):
            row = self.held.index(x.end.coordinate) if x.end is not None else len(self.held) + 2 * x.index
            dF_N[:, i] = dF[:, row] * _share(r.N[i], J[row])
            if x.touch is not None:
                dF_T[:, i] = dF[:, row + 1] * _share(r.slide[i][0], J[row + 1])
        dF_E = dF[:, own.start :] / self.unit[own.start :, None]
        by_load, constant = (np.array([float(getattr(x, part)) for x in self.rows]) for part in ("by_load", "constant"))
        unit, theta = self.unit[own.start :], at.shares(before.slipping, before.stopped)
        names, k = tuple(x.name for x in self.rows), terms.k[own.start :] / unit
        begin, breakaway = np.array([[float(x.sliding(0.0)), float(x.breakaway)] for x in self.rows]).T
        return JointRows(names, E, k, unit * by_load, unit * constant, terms.F[own.start :], dF_N, dF_T, dF_E, begin, breakaway, theta)

    def acting(self, terms: EffortTerms, a: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Generalized forces of the friction where nothing else holds; a: accelerations without it."""
        at = self.at(terms, a, v)
        answer = at.solve(at.choose())
        assert answer is not None  # states that were chosen have an answer
        return answer.p @ terms.J[self.first :]


def _share(row: np.ndarray, of: np.ndarray) -> float:
    """Effort along one row that does the same as a unit of effort along another, of which it is a multiple."""
    return float(row @ of) / max(float(of @ of), 1e-300)


def kernel_forward(core: Compiled, st: State, tau: np.ndarray, friction: JointFriction) -> Any:
    """Accelerations, multipliers and gap at a state under efforts in the tree's coordinates and friction; None where the float path has
    to answer."""
    from linkwright.kernels.kernels import Variant

    kernels = core.kernels.variant(Variant(dry=False))
    solve, terms = kernels.get("accelerations"), friction.kernel(kernels)
    if not (solve.native and terms.native):
        return None
    optional = {"t": st.t, "near": core.packed_references(st)}
    free, found = solve.healthy((st.q, st.v, tau), optional), terms.healthy((st.q, st.v, tau), optional)
    if free is None or found is None or not free.gap[0] < OPEN:
        return None
    read = EffortTerms(*(getattr(found, name) for name in EffortTerms._fields))
    return solve.healthy((st.q, st.v, tau + friction.acting(read, free.a, st.v)), optional)


def float_forward(T: Terms, tau: np.ndarray, friction: JointFriction, solve: Callable[[np.ndarray], Forward]) -> Forward:
    """The same by the equations as they are written, whatever their rank; `solve` for efforts. T: without friction that sticks."""
    assert T.place is not None
    free, terms = solve(tau), friction.efforts.by_differences(T.place, lambda more: solve(tau + more))
    return solve(tau + friction.acting(terms, free.a, T.place.v))
