"""Kernels of rest on rigid stops: rows of every coordinate that may rest, and what an effort alone does to the mechanism.

Both are kernels of the mechanism without any stop, whatever set of stops holds (`integrators.stop_rests`): one code for all sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.mechanics.contact import tangent_count
from linkwright.mechanics.dynamics.coordinate_efforts import open_rows
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import motion
from linkwright.simulation.stabilizers.base import step_kernel

if TYPE_CHECKING:
    from linkwright.kernels.equations.dynamic import Equations
    from linkwright.kernels.kernel import Kernel
    from linkwright.kernels.kernels import Kernels


TOGETHER = 16  # rows: of more, most are open, and each that holds is answered by itself


class StopRows(NamedTuple):
    """Values, k and J of coordinates, and of rows of constraints that have a travel."""

    coordinates: tuple[str, ...]
    touching: bool = False  # the touches of surfaces come after them, each with rows along the normal and across it

    def __call__(self, eq: Equations, q: Any, v: Any, t: Any, near: Any) -> dict[str, Any]:
        skel = eq.loops.skel
        at = Instant.moving(skel, motion(skel, q, v), t[0], skel.unpack(q, near))
        rows = open_rows(eq.loops, at, self.coordinates, self.touching)
        return {"value": rows.value, "k": rows.k, "J": rows.J}


class AnsweredRows(NamedTuple):
    """The same with the responses [dq, dv, power] of the mechanism to a unit push in every row, which share one factorization."""

    rows: StopRows

    def __call__(self, eq: Equations, q: Any, v: Any, t: Any, near: Any) -> dict[str, Any]:
        found = self.rows(eq, q, v, t, near)
        answers = [eq.response(q, v, row, t, near) for row in found["J"]]
        X = np.array([x for answer in answers for name in ("dq", "dv", "power") for x in answer[name]])
        return {**found, "X": X, "margin": answers[0]["margin"]}


def _response(eq: Equations, q: Any, v: Any, t: Any, near: Any, tau: Any) -> dict[str, Any]:
    return eq.response(q, v, tau, t, near)


class RestKernels(NamedTuple):
    """Kernels for every set of stops of a mechanism that may hold."""

    n_rows: int
    answered: bool  # the kernel of the rows gives their responses as well
    stops: Kernel
    response: Kernel

    @classmethod
    def of(cls, kernels: Kernels, coordinates: Sequence[str], touches: int, gains: bool) -> RestKernels:
        """Those of a mechanism or a variant of it; `gains`: the rates of the run read Baumgarte's, so the row has them."""
        rows = StopRows(tuple(coordinates), touches > 0)
        n = len(rows.coordinates) + (1 + tangent_count(kernels.tree.description)) * touches
        answered = touches > 0 and n <= TOGETHER
        given = AnsweredRows(rows) if answered else rows
        stops = step_kernel(kernels, "answered_rows" if answered else "stop_rows", given, [*rows.coordinates, touches], gains)
        response = step_kernel(kernels, "response", _response, [], gains, kernels.fallbacks.get("response"), pushed=True)
        return cls(n, answered, stops, response)
