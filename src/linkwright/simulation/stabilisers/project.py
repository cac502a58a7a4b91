"""Projection in the mass metric after every step: the default.

    M dq = J' mu, J (q + dq) = closed        M dv = J' nu, J (v + dv) + b = 0

All coordinates move, by the least amount in the metric of kinetic energy, positions to round-off and then the velocity: no
degree of freedom of the mechanism is disturbed, no position is special. Near singular passages the rank-revealing path answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwright.simulation.stabilisers.base import Addable, Correction
from linkwright.simulation.stabilisers.step_kernel import step_kernel

if TYPE_CHECKING:
    from linkwright.kernels.kernels import Kernels


@dataclass(frozen=True)
class Project(Addable):
    """Positions and velocities back onto the loops after every step."""

    name = "project"
    gains = None
    corrects = "project"
    text = "projection onto the loops in the mass metric after every step"

    @property
    def settings(self) -> dict[str, Any]:
        return {"stabiliser": self.name}

    def correction(self, kernels: Kernels, q: Any, near: Any, drives: Sequence[str] = (), gains: bool = False) -> Correction | None:
        if not len(kernels.loops.row_scale):
            return None
        kernel, answer = kernels.get("loop_projection"), kernels.fallbacks["loop_projection"]
        if gains:  # the same in a longer row
            kernel = step_kernel(kernels, "loop_projection", lambda eq, q, v, t, near: eq.projection(q, v, t, near), [], gains, answer)
        return Correction(kernel, answer, once=False, settings={})
