"""Inputs of a controller at one instant, over any scalar: errors of what it follows, and the response to its drives.

Made lazily: a law that needs no model (PD at the drives) never asks for one, and then nothing of it is traced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.kinematics.motion import Motion, motion
from linkwright.numerics.scalars import common_type, eliminate, minimum
from linkwright.properties import cached_property
from linkwright.simulation.feedback.drive_response import Response, effort_columns, safe_response, traced_response
from linkwright.simulation.feedback.least_effort import Least, least
from linkwright.simulation.feedback.task_coordinates import TaskReference, TaskRows

if TYPE_CHECKING:
    from linkwright.kernels.equations.dynamic import Equations
    from linkwright.simulation.feedback.controller_program import BoundControl


class Situation:
    """Measured q, v at time t, the reference there, the controller's own states, and forces sensed (None: as the plant has them)."""

    def __init__(self, bound: BoundControl, x: dict[str, Any], *, safe: bool, sensed: Any = None):
        self.bound, self.x, self.safe, self.sensed = bound, x, safe, sensed
        self.q, self.v, self.t, self.cut, self.states = x["q"], x["v"], x["t"], x["near"], x["state"]
        self.others: list[Situation] = []

    # ---------------------------------------------------------------- what is followed

    @cached_property
    def eq(self) -> Equations:
        """Of the mechanism as the controller believes it to be."""
        return self.bound.believed.equations(self.x)

    @cached_property
    def references(self) -> dict[str, Any]:
        return self.eq.loops.skel.unpack(self.q, self.cut)

    @cached_property
    def m(self) -> Motion:
        return motion(self.eq.loops.skel, self.q, self.v)

    @cached_property
    def rows(self) -> list[TaskRows]:
        out, at = [], 0
        n = self.bound.n_tasks
        value, rate, acceleration = (self.x["ref"][k * n : (k + 1) * n] for k in range(3))
        for task in self.bound.tasks:
            mine = slice(at, at + len(task.kinds))
            out.append(task.rows(self.eq.loops.skel, self.m, self.references, TaskReference(value[mine], rate[mine], acceleration[mine])))
            at = mine.stop
        return out

    @cached_property
    def error(self) -> Any:
        return _vector([e for r in self.rows for e in r.error])

    @cached_property
    def error_rate(self) -> Any:
        return _vector([e for r in self.rows for e in r.error_rate])

    @cached_property
    def value(self) -> Any:
        return _vector([e for r in self.rows for e in r.value])

    @property
    def wanted_forces(self) -> Any:
        return self.x["ref"][3 * self.bound.n_tasks :]

    @cached_property
    def J(self) -> Any:
        """(components, nv): rows of the coordinates followed."""
        return np.concatenate([r.J for r in self.rows]) if self.rows else np.zeros((0, len(self.v)))

    @cached_property
    def wanted_rest(self) -> Any:
        """Wanted accelerations less what the coordinates do at zero joint accelerations."""
        return np.concatenate([r.acceleration - r.bias for r in self.rows]) if self.rows else np.zeros(0)

    # ---------------------------------------------------------------- what the drives can do

    @cached_property
    def B(self) -> Any:
        return effort_columns(self.eq, self.m, self.t[0], self.references, self.bound.targets)

    @cached_property
    def model(self) -> Response:
        """Of the mechanism as the controller believes it to be."""
        return self._response(self.eq, self.B)

    @cached_property
    def plant(self) -> Response:
        """Of the mechanism as it is, with what pushes beside the controller: what a force sensor reads."""
        other = self.x["other"]
        if self.bound.real is self.bound.believed and not len(other):
            return self.model
        eq = self.bound.real.equations(self.x)
        skel = eq.loops.skel
        m = motion(skel, self.q, self.v)
        B = effort_columns(eq, m, self.t[0], eq.loops.skel.unpack(self.q, self.cut), self.bound.targets)
        if not len(other):
            return self._response(eq, B)
        pushed = other[: skel.tree.nv] + dynamics.generalized(skel, m, self.other_wrenches)
        r = self._response(eq, np.column_stack([B, pushed]))
        return Response(r.a + r.G[:, -1], r.lam + r.L[:, -1], r.G[:, :-1], r.L[:, :-1], r.margin)

    @property
    def other_wrenches(self) -> list[tuple[int, Any]]:
        """Wrenches on nodes of what pushes beside the controller."""
        w = self.x["other"][len(self.v) :]
        return [(i, w[6 * i : 6 * i + 6]) for i in range(len(w) // 6)]

    @cached_property
    def mobility(self) -> Any:
        """Accelerations of the coordinates followed by unit forces along them: the inverse of the inertia felt there."""
        return self.J @ self._response(self.eq, self.J.T, False).G

    @cached_property
    def contact(self) -> Any:
        """Forces on the coordinates followed that the controller's model does not have: as sensed, or of the mechanism as it is."""
        if self.sensed is not None:
            return self.sensed
        known, real = (b.equations(self.x).joint_axis_terms(self.q, self.v, self.t, self.cut) for b in (self.bound.known, self.bound.real))
        push, other = known.h - real.h, self.x["other"]
        if len(other):
            push = push + other[: len(self.v)] + dynamics.generalized(self.eq.loops.skel, self.m, self.other_wrenches)
        return eliminate(self.mobility, self.J @ self.pushed(push))[0]

    def at_rest(self) -> Situation:
        """The same position without speed."""
        still = Situation(self.bound, {**self.x, "v": 0.0 * self.v}, safe=self.safe, sensed=self.sensed)
        self.others.append(still)
        return still

    def pushed(self, force: Any) -> Any:
        """Accelerations that a generalized force would give, beyond those without it."""
        return self._response(self.eq, force[:, None], False).G[:, 0]

    def _response(self, eq: Equations, B: Any, multipliers: bool | None = None) -> Response:
        if self.safe:
            return safe_response(eq, self.q, self.v, self.t, self.cut, B)
        return traced_response(
            eq, self.q, self.v, self.t, self.cut, B, self.bound.needs_multipliers if multipliers is None else multipliers
        )

    @property
    def margin(self) -> Any:
        """Not positive where an elimination degenerated; of what was really used."""
        found: Any = 1.0
        for one in (self, *self.others):
            for name in ("model", "plant"):
                if name in vars(one):
                    found = minimum(found, vars(one)[name].margin)
        return found

    def solve(self, A: Any, r: Any) -> Least:
        """Efforts of least weighted norm with A u = r."""
        b = self.bound
        return least(A, r, b.weights, b.nominal, b.written.damping)


def _vector(entries: list[Any]) -> Any:
    return np.array(entries, dtype=common_type(*[np.asarray(e) for e in entries]) if entries else float)
