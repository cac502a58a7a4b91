"""The loops of a mechanism in dimensionless form: constraints together with the scales of their rows and columns.

Ranks, norms and Newton steps only make sense when meters and radians are comparable. `Loops` joins a skeleton
and its constraints with the characteristic length, and is what assembly, formulations and simulation hold on to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from linkwright.mechanics.constraints import Constraint, of_loops
from linkwright.mechanics.constraints.closure import Closure, closure
from linkwright.mechanics.kinematics.motion import Motion, Skeleton, counted_references, displaced, joint_points, motion, velocity_kinds
from linkwright.numerics.linalg import Factored, factor
from linkwright.numerics.metric import characteristic_length, scale
from linkwright.numerics.pickling import essentials
from linkwright.numerics.sparse import SparseMatrix
from linkwright.topology.order import elimination_order


@dataclass(frozen=True)
class Loops:
    """A skeleton with the constraints to satisfy and the scales that make them dimensionless."""

    __getstate__ = essentials

    skel: Skeleton
    constraints: tuple[Constraint, ...]
    kappa: float
    columns: np.ndarray  # v = columns * dimensionless v
    row_axes: str = "first"  # body along whose axes rows are taken

    @classmethod
    def of(cls, skel: Skeleton, length: float | None = None) -> Loops:
        """The loops of a skeleton; `length` overrides the characteristic length of the metric."""
        kappa = characteristic_length(joint_points(skel)) if length is None else length
        return cls(skel, of_loops(skel), kappa, scale(velocity_kinds(skel), kappa))

    def with_(self, extra: Sequence[Constraint]) -> Loops:
        return replace(self, constraints=(*self.constraints, *extra))

    @cached_property
    def row_scale(self) -> np.ndarray:
        return scale([k for c in self.constraints for k in c.kinds], self.kappa)

    @cached_property
    def elimination_order(self) -> tuple[int, ...]:
        """Loops in an order that keeps the elimination sparse; constraints added later (drivers) come last."""
        fixed = tuple(elimination_order(self.skel.tree))
        return (*fixed, *range(len(fixed), len(self.constraints)))

    def closure(self, m: Motion, v: Any, t: Any, references: Mapping[str, Any], body_axes: bool = False) -> Closure:
        return closure(
            self.skel, m, v, t, constraints=self.constraints, references=references, body_axes=self.row_axes if body_axes else ""
        )

    def at(self, q: Any, v: Any, t: Any, references: Mapping[str, Any], m: Motion | None = None) -> Closure:
        """The closure at a state; `m` is its motion, where it is known already."""
        return self.closure(motion(self.skel, q, v) if m is None else m, v, t, references)

    def counted_references(self, q: Any, references: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Coordinates of all joints, cut or not, at q: the reference for the next unwrapping."""
        return counted_references(self.skel, q, references)

    def displaced(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Positions moved by dimensionless steps; any leading axes."""
        return displaced(self.skel, q, step * self.columns)

    def dimensionless(self, c: Closure) -> tuple[np.ndarray, Any]:
        """(phi, J) in kappa and radians."""
        rows, J = self.row_scale, c.J
        return c.phi / rows, J.scaled(1.0 / rows, self.columns) if isinstance(J, SparseMatrix) else J * self.columns / rows[:, None]

    def factored(self, c: Closure, tolerance: float = 1e-9) -> Factored:
        return factor(self.dimensionless(c)[1], tolerance)
