"""Kernels of rest on rigid stops: rows of every coordinate that may rest, and what an effort alone does to the mechanism.

Both are kernels of the mechanism without any stop, whatever set of stops holds (`integrators.stop_rests`): one code for all sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.mechanics import forces
from linkwright.mechanics.constraints.driver import driven
from linkwright.mechanics.constraints.single_row import free_rows
from linkwright.mechanics.contact import contact_terms
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import motion
from linkwright.model.coordinates import lengths
from linkwright.model.curves.polynomial import Line, Parabola
from linkwright.simulation.stabilizers.base import step_kernel

if TYPE_CHECKING:
    from linkwright.kernels.equations.dynamic import Equations
    from linkwright.kernels.kernel import Kernel
    from linkwright.kernels.kernels import Kernels


class StopRows(NamedTuple):
    """Values, k and J of coordinates, and of rows of constraints that have a travel."""

    coordinates: tuple[str, ...]
    touching: bool = False  # the touches of surfaces come after them, two rows each: along the normal and along the tangent

    def __call__(self, eq: Equations, q: Any, v: Any, t: Any, near: Any) -> dict[str, Any]:
        skel, references = eq.loops.skel, eq.loops.skel.unpack(q, near)
        m, d = motion(skel, q, v), skel.tree.description
        at = Instant.moving(skel, m, t[0], references)
        lines = {name: forces.line(at, ends) for name, ends in lengths(d).items() if name in self.coordinates}
        free = free_rows(skel)
        # the row of a distance is that of its square, divided by the length it follows: here its own
        laws = {x: Parabola(lines[x].length, lines[x].rate, 0.0) if x in lines else Line(0.0, 0.0) for x in self.coordinates}
        rows = [free[name] if name in free else driven(d, name, law) for name, law in laws.items()]
        c = replace(eq.loops, constraints=tuple(rows)).at(q, v, t[0], references, m)
        own = np.array([lines[x].length if x in lines else 0.0 for x in self.coordinates])
        if not self.touching:
            return {"value": c.phi + own, "k": c.k, "J": c.J}
        touches = contact_terms(skel, q, v)
        gaps = np.array([x for g in touches["g"] for x in (g, 0.0 * g)])  # along a tangent there is no place to hold
        every = np.concatenate
        return {"value": every([c.phi + own, gaps]), "k": every([c.k, touches["k"]]), "J": every([c.J, touches["J"]])}


def _response(eq: Equations, q: Any, v: Any, t: Any, near: Any, tau: Any) -> dict[str, Any]:
    return eq.response(q, v, tau, t, near)


class RestKernels(NamedTuple):
    """Kernels for every set of stops of a mechanism that may hold."""

    n_rows: int
    stops: Kernel
    response: Kernel

    @classmethod
    def of(cls, kernels: Kernels, coordinates: Sequence[str], touches: int, gains: bool) -> RestKernels:
        """Those of a mechanism or a variant of it; `gains`: the rates of the run read Baumgarte's, so the row has them."""
        rows = StopRows(tuple(coordinates), touches > 0)
        stops = step_kernel(kernels, "stop_rows", rows, [*rows.coordinates, touches], gains)
        response = step_kernel(kernels, "response", _response, [], gains, kernels.fallbacks.get("response"), pushed=True)
        return cls(len(rows.coordinates) + 2 * touches, stops, response)
