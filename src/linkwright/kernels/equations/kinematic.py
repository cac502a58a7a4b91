"""The equations of motion without masses: positions, speeds and closing conditions as functions of arrays.

`KinematicEquations` holds what every equation of a mechanism needs (its loops and forces, the plan, and what a variant of
it adds: drivers whose motion is given, inertias of rotors) and gives closing conditions, driven kinematics, poses and points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from linkwright.errors import UsageError
from linkwright.mechanics.constraints.drives import Order, Plan, driven
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.kinematics.motion import locate_at, motion, qdot
from linkwright.model.curves.lines import Parabola
from linkwright.numerics.scalars import common_type, eliminate, minimum
from linkwright.numerics.spatial import array

Arrays = dict[str, Any]


@dataclass(frozen=True)
class KinematicEquations:
    """Loops, forces and drives of a mechanism, the plan to solve by, and its variant."""

    loops: Loops
    forces: tuple[Any, ...]
    drives: tuple[str, ...]  # whose efforts inverse dynamics finds
    plan: Plan
    drivers: tuple[str, ...] = ()  # joints and cylinders whose motion is given, one row each after the loops' (see `moved`)
    armature: tuple[float, ...] = ()  # inertia added on the diagonal of M, one entry per velocity; empty: none

    # ---------------------------------------------------------------- parts

    def moved(self, drive: Any, speed: Any, acceleration: Any, at: Any = None) -> Self:
        """The same equations with the rows of the drivers, whose values, speeds and accelerations are given now. With `at`
        these belong to that time and the motion continues from there: then the rows have derivatives by time."""
        if not self.drivers:
            return self
        laws = [Parabola(*x, at=at) for x in zip(drive, speed, acceleration, strict=True)]
        description = self.loops.skel.tree.description
        return replace(self, loops=self.loops.with_([driven(description, n, law) for n, law in zip(self.drivers, laws, strict=True)]))

    def margin(self, solve: str, watch: Sequence[tuple[Any, Any]]) -> Any:
        """Smallest pivot relative to its typical size, minus one: not positive where the rank-revealing path must take over."""
        nominal = self.plan.nominal.get(solve, ())
        sizes = [pivot * (1.0 / size) for (pivot, _), size in zip(watch, nominal, strict=False) if size != 0.0 and not constant(pivot)]
        smallest: Any = 2.0
        for x in sizes:
            smallest = minimum(smallest, x)
        return np.array([smallest - 1.0])

    def _order(self, solve: str, A: Any) -> Order:
        if A.shape[0] != A.shape[1] or solve not in self.plan.orders:
            raise UsageError(
                f"{len(self.drives)} drives for {A.shape[0]} velocities and {A.shape[1] - len(self.drives)} constraint rows: the drive "
                "efforts and reactions are not determined one by one. s.inverse(st) chooses among them."
            )
        return self.plan.orders[solve]

    # ---------------------------------------------------------------- kinematics

    def closure(self, q: Any, v: Any, t: Any, near: Any) -> Arrays:
        """phi, J, k, b of the loops."""
        c = self.loops.at(q, v, t[0], self.loops.skel.unpack(q, near))
        return {"phi": c.phi, "J": c.J, "k": c.k, "b": c.b}

    def kinematics(self, q: Any, v: Any, drive: Any, speed: Any, acceleration: Any, near: Any) -> Arrays:
        """With the drives' coordinates given: one Newton step for q, and v and a at the q and v handed in.

        Iterated until `residual` is at round-off this assembles, then completes the speeds and accelerations.
        """
        laws = [Parabola(*x) for x in zip(drive, speed, acceleration, strict=True)]
        loops = self.loops.with_([driven(self.loops.skel.tree.description, n, law) for n, law in zip(self.drives, laws, strict=True)])
        c = loops.at(q, v, 0.0, self.loops.skel.unpack(q, near))
        keep = [*(range(self.loops.skel.tree.nc) if self.plan.keep is None else self.plan.keep)]
        keep += list(range(self.loops.skel.tree.nc, len(c.phi)))
        J = np.concatenate([c.J[keep], np.array(self.plan.idle, dtype=float).reshape(-1, c.J.shape[1])])  # idle freedoms rest
        order, still = self._order("kinematics", J), np.zeros(len(self.plan.idle))
        solved = [eliminate(J, np.concatenate([-x[keep], still]), order) for x in (c.phi, c.b, c.k)]
        (dq, pivots), (speeds, _), (accelerations, _) = solved
        return {
            "q": normalised(self.loops.skel, q + qdot(self.loops.skel, q, dq)),
            "v": speeds,
            "a": accelerations,
            "residual": np.array([largest(c.phi / loops.row_scale)]),
            "margin": self.margin("kinematics", [(size(p), p) for p in pivots]),
        }

    def poses(self, q: Any) -> Arrays:
        """Rotation and origin of every moving body in the world."""
        skel = self.loops.skel
        m = motion(skel, q, np.zeros(skel.tree.nv))
        R = np.array([X.R for X in m.X]).reshape(-1, 3, 3)
        p = np.array([X.p + skel.origins[i] for i, X in enumerate(m.X)]).reshape(-1, 3)
        return {"R": R, "p": p}

    @property
    def points_named(self) -> list[str]:
        """Names of the points in the order of `position`."""
        return [f"{b.name}.{p.name}" for b in self.loops.skel.tree.description.bodies for p in b.points]

    def points(self, q: Any, v: Any) -> Arrays:
        """Position and velocity of every named point."""
        skel = self.loops.skel
        m = motion(skel, q, v)
        found = [locate_at(skel, m, skel.node(b.name), array(p.at)) for b in skel.tree.description.bodies for p in b.points]
        position, velocity = (np.array([getattr(x, n) for x in found]).reshape(-1, 3) for n in ("position", "velocity"))
        return {"position": position, "velocity": velocity}


# -------------------------------------------------------------------- helpers


def constant(x: Any) -> bool:
    return isinstance(x, (int, float, np.floating))


def size(x: Any) -> Any:
    return abs(x)


def largest(x: Any) -> Any:
    out: Any = 0.0
    for value in x:
        out = -minimum(-abs(value), -out)
    return out


def normalised(skel: Any, q: Any) -> Any:
    """Quaternions of length one again."""
    out = np.array(q, dtype=common_type(q))
    for n, jt in zip(skel.tree.nodes, skel.types, strict=True):
        if "quaternion" in jt.coordinate_kinds:
            part = out[n.q][:4]
            out[n.q.start : n.q.start + 4] = part / np.sqrt(part @ part)
    return out
