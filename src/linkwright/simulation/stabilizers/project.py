"""Projection onto the loops: the default, and the correction of [Aghili2005 (36), (37)].

    metric "mass"         M dq = J' mu,   J dq = -phi          the step shortest in the metric of kinetic energy
    metric "euclidean"    dq = -J^+ phi                        the shortest step  [Aghili2005 (37)]

repeated until phi is round-off; then the same for the velocity, J dv = -(J v + b), unless velocities are left alone. The paper
corrects positions only, every few steps or when the error exceeds a tolerance: `velocities=False`, `every=`, `above=`.

The mass metric is the default: it disturbs no degree of freedom of the mechanism. A Euclidean length needs coordinates of one unit: rad and
m added would let the unit of length decide the motion, as [Aghili2005 (47), (48)] say of forces. So lengths are divided by the mechanism's
size first (the metric of `Loops.columns`); with one unit, as in the paper's examples, that changes nothing. Near singular positions
the rank-revealing path answers: the shortest step onto the branch, where J^+ would divide by what is about to vanish.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.errors import UsageError, call_explained, nearest
from linkwright.kernels.equations.kinematic import SHORTEST, KinematicEquations, largest, normalized
from linkwright.kernels.kernels import EARLY
from linkwright.mechanics.kinematics.motion import qdot
from linkwright.numerics.linalg import ldl
from linkwright.simulation.stabilizers.base import Correction, Inputs, Occasional, step_kernel

if TYPE_CHECKING:
    from linkwright.kernels.equations.dynamic import Equations
    from linkwright.kernels.kernels import Kernels

METRICS = ("mass", "euclidean")


@dataclass(frozen=True)
class Project(Occasional):
    """Positions, and with `velocities` velocities, back onto the loops by the shortest step in the `metric` "mass" or "euclidean"."""

    metric: str = "mass"
    velocities: bool = True

    name = "project"
    gains = None
    corrects = "project"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.metric not in METRICS:
            raise UsageError(f"there is no metric '{self.metric}' to project in.", nearest(str(self.metric), METRICS, "Metrics"))
        if not isinstance(self.velocities, bool):
            raise UsageError(f"velocities is True or False, not {self.velocities!r}.", name="velocities", value=self.velocities)

    @property
    def closes(self) -> bool:
        return self.each_step and self.velocities

    @property
    def settings(self) -> dict[str, Any]:
        given: dict[str, Any] = {} if self.metric == "mass" else {"metric": self.metric}
        given |= {} if self.velocities else {"velocities": False}
        return {"stabilizer": self.name, **given, **self.occasions}

    @property
    def text(self) -> str:
        what = "projection" if self.velocities else "projection of positions"
        return f"{what} onto the loops in the {'mass' if self.metric == 'mass' else 'Euclidean'} metric {self.when}"

    def correction(self, kernels: Kernels, q: Any, near: Any, drives: Sequence[str] = (), gains: bool = False) -> Correction | None:
        if not len(kernels.loops.row_scale):
            return None
        answer = kernels.fallbacks["loop_projection"]
        answer = answer if self.velocities else _positions_only(answer)
        way = SHORTEST if self.metric == "euclidean" else "sslm"
        solve = way if self.closes or (way == "sslm" and kernels.plan.saddle is not None) else f"{way}{EARLY}"
        if self.metric == "mass" and self.velocities and not gains:
            kernel = kernels.get("loop_projection", projected=self.closes)
        else:  # another step, or in a longer row, or without the velocity
            step = _Shortest(self.velocities) if self.metric == "euclidean" else _Mass(self.velocities)
            kernel = step_kernel(kernels, f"{self.metric}_step", step, list(step), gains, answer, solve=solve)
        return self.occasional(kernels, Correction(kernel, answer, once=False, settings={}), gains)


@call_explained
def project(*, metric: str = "mass", velocities: bool = True, every: int = 1, above: float | None = None) -> Project:
    """Project states onto the loops after a step. `metric` is "mass" (default) or "euclidean", the pseudo-inverse of the dimensionless
    J; `velocities=False` corrects positions only; `every` n steps, and only if loops are open by more than `above`."""
    return Project(metric, velocities, every=every, above=above)


def _positions_only(answer: Callable[[Inputs], dict[str, Any]]) -> Callable[[Inputs], dict[str, Any]]:
    return lambda x: {**answer(x), "v": x["v"]}


# -------------------------------------------------------------------- one step, over any scalar


class _Mass(NamedTuple):
    """A step in the mass metric."""

    velocities: bool

    def __call__(self, eq: Equations, q: Any, v: Any, t: Any, near: Any) -> dict[str, Any]:
        found = eq.projection(q, v, t, near)
        return found if self.velocities else {**found, "v": v}


class _Shortest(NamedTuple):
    """A step in the Euclidean metric of dimensionless coordinates: J^+ = J' (J J')^-1 of the independent rows  [Aghili2005 (37)]."""

    velocities: bool

    def __call__(self, eq: KinematicEquations, q: Any, v: Any, t: Any, near: Any) -> dict[str, Any]:
        skel, order, columns = eq.loops.skel, list(eq.plan.orders[SHORTEST][0]), eq.loops.columns
        c = eq.loops.at(q, v, t[0], skel.unpack(q, near))
        scale = eq.loops.row_scale[order]
        J, phi, gap = c.J[order] * columns / scale[:, None], c.phi[order] / scale, (c.J @ v + c.b)[order] / scale
        factors = ldl(J @ J.T, tolerance=0.0)
        dq = -columns * (J.T @ factors.solve(phi))
        watch = [(pivot, pivot) for pivot, _ in factors.watch]
        return {
            "q": normalized(skel, q + qdot(skel, q, dq)),
            "v": v - columns * (J.T @ factors.solve(gap)) if self.velocities else v,
            "residual": np.array([largest(phi)]),
            "rate_residual": np.array([largest(gap)]),
            "correction": np.array([largest(dq / columns)]),
            "margin": eq.margin(SHORTEST, watch),
        }
