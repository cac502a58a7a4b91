"""Dry friction of a mechanism's joints at a state: rows, terms and their kernel, and the efforts that follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from linkwright.simulation.stabilizers.base import step_kernel

if TYPE_CHECKING:
    from linkwright.kernels.kernel import Kernel
    from linkwright.kernels.kernels import Kernels
    from linkwright.mechanics.kinematics.motion import Motion
    from linkwright.system.compiled import Compiled


@dataclass(frozen=True)
class JointFriction:
    """Rows of friction, and coordinates that something else may hold, which come first in the terms.

    `mobility` is that of the lightest coordinate by itself.
    """

    rows: tuple[FrictionRow, ...]
    held: tuple[str, ...]
    unit: np.ndarray = field(repr=False)
    columns: np.ndarray = field(repr=False)
    mobility: float = field(repr=False)

    @classmethod
    def of(cls, loops: Loops, motion: Motion, held: Sequence[str] = ()) -> JointFriction | None:
        """The friction of a mechanism, `motion` in any of its positions; None where there is none."""
        d = loops.skel.tree.description
        rows = friction_rows(d)
        if not rows:
            return None
        kinds = [coordinate(d, name).kind for name in (*held, *(r.name for r in rows))]
        inertia = np.diag(mass_matrix(loops.skel, motion)) * loops.columns**2
        return cls(rows, tuple(held), scale(kinds, loops.kappa), loops.columns, float(1.0 / inertia[inertia > 0.0].min(initial=np.inf)))

    @property
    def efforts(self) -> EffortRows:
        """All rows, with the joints whose forces count."""
        own = (EffortRow(r.name, r.joint if r.by_load else "") for r in self.rows)
        return EffortRows((*(EffortRow(name) for name in self.held), *own), len(self.held))

    def kernel(self, kernels: Kernels, gains: bool = False) -> Kernel:
        """Terms of the rows by native code, for kernels of a variant without friction that sticks."""
        rows, answer = self.efforts, self.answer(kernels)
        return step_kernel(kernels, "effort_terms", EffortEquations(rows), [rows.held, *map(list, rows.rows)], gains, answer, pushed=True)

    def answer(self, kernels: Kernels) -> Callable[[dict[str, np.ndarray]], dict[str, Any]]:
        """The same by the rank-revealing path."""
        from linkwright.kernels.rank_revealing import RankRevealing  # here, because importing it is no part of starting up

        return partial(RankRevealing(kernels).effort_terms, rows=self.efforts)

    def at(self, terms: EffortTerms, a: np.ndarray, v: np.ndarray, chosen: Sequence[int] = ()) -> FrictionInstant:
        """The rows at a state with accelerations a without these efforts; `chosen`: those of the held coordinates that are held."""
        n = len(self.held)
        keep = [*range(n, n + len(self.rows)), *chosen]
        some = terms.of(keep)
        J, X = some.J, some.X[:, -len(v) - 1 : -1]
        fastest = float(np.abs(v / self.columns).max(initial=0.0))
        return FrictionInstant(self.rows, J @ X.T, J @ a + some.k, some.F, some.dF, J @ v, self.unit[keep], self.mobility, fastest)

    def acting(self, terms: EffortTerms, a: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Generalized forces of the friction where nothing else holds; a: accelerations without it."""
        at = self.at(terms, a, v)
        answer = at.solve(at.choose())
        assert answer is not None  # states that were chosen have an answer
        return answer.p @ terms.J[len(self.held) :]


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
