"""The equations of motion without masses: positions, speeds and closing conditions as functions of arrays.

`KinematicEquations` holds what every equation of a mechanism needs (its loops and forces, the plan, and what a variant of
it adds: drivers whose motion is given, inertias of rotors) and gives closing conditions, driven kinematics, poses and points.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from linkwright.errors import UsageError, counted
from linkwright.joints import create
from linkwright.mechanics.closing.idle_motions import idle_rows
from linkwright.mechanics.constraints.driver import EliminationPlan, Order, driven
from linkwright.mechanics.constraints.loops import Closure, Loops
from linkwright.mechanics.contact import contact_gaps, contact_terms
from linkwright.mechanics.forces import line
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import accelerations, joint_coordinates, locate_at, motion, qdot
from linkwright.model.coordinates import JointCoordinate, coordinate_or_none, lengths
from linkwright.model.curves.polynomial import Parabola
from linkwright.numerics.scalars import common_type, eliminate, minimum, real
from linkwright.numerics.spatial import array, cross, point_acceleration

Arrays = dict[str, Any]
ORDERED_PIVOT = 1e-6  # of its typical size: below it a pivot of an elimination in fixed order asks for the rank-revealing path
SHORTEST = "shortest"  # plan of the step onto the loops that is shortest in the Euclidean metric of dimensionless coordinates


class Driven(NamedTuple):
    """The loops with the drives' rows at a position, as a square system."""

    tied: Loops
    c: Closure
    rows: list[int]  # those of the closure that count
    J: Any
    order: Order

    def solve(self, right: Any, idle: Any = None) -> tuple[Any, Any]:
        """x with J x = right (one column or several) and the pivots; idle degrees of freedom at rest, or as given."""
        rest = np.zeros((len(self.J) - len(self.rows), *right.shape[1:])) if idle is None else idle
        return eliminate(self.J, np.concatenate([right[self.rows], rest]), self.order)

    @property
    def gap(self) -> Any:
        """Largest dimensionless residual of positions."""
        return np.array([largest(self.c.phi / self.tied.row_scale)])


@dataclass(frozen=True)
class KinematicEquations:
    """Loops, forces and drives of a mechanism, the plan to solve by, and its variant."""

    loops: Loops
    forces: tuple[Any, ...]
    drives: tuple[str, ...]  # whose efforts inverse dynamics finds
    plan: EliminationPlan
    drivers: tuple[str, ...] = ()  # joints and cylinders whose motion is given, one row each after the loops' (see `moved`)
    armature: tuple[float, ...] = ()  # inertia added on the diagonal of M, one entry per velocity; empty: none
    most: float = 2.0  # ratio of a pivot to its typical size from which it does not count: how near a singular position is seen

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
        pairs = [(pivot, x) for (pivot, _), x in zip(watch, nominal, strict=False) if is_watched(x) and not constant(pivot)]
        sizes = [real(pivot) * (1.0 / x) for pivot, x in pairs]
        smallest: Any = self.most
        for x in sizes:
            smallest = minimum(smallest, x)
        return np.array([smallest - 1.0])

    def _order(self, solve: str, A: Any) -> Order:
        if A.shape[0] != A.shape[1] or solve not in self.plan.orders:
            raise UsageError(
                f"{counted(len(self.drives), 'drive')} for {counted(A.shape[0], 'velocity')} and "
                f"{counted(A.shape[1] - len(self.drives), 'constraint row')}: the drive "
                "efforts and reactions are not determined one by one. s.inverse(st) chooses among them."
            )
        return self.plan.orders[solve]

    # ---------------------------------------------------------------- kinematics

    def closure(self, q: Any, v: Any, t: Any, near: Any) -> Arrays:
        """phi, J, k, b of the loops."""
        c = self.loops.at(q, v, t[0], self.loops.skel.unpack(q, near))
        return {"phi": c.phi, "J": c.J, "k": c.k, "b": c.b}

    def loop_rows(self, q: Any, v: Any, t: Any, near: Any) -> Arrays:
        """The same with J as the entries of its blocks, in the order of `LoopRows.places`."""
        c = self.loops.at(q, v, t[0], self.loops.skel.unpack(q, near))
        parts = [np.ravel(c.blocks[key]) for key in sorted(c.blocks)]
        return {"phi": c.phi, "J": np.concatenate(parts) if parts else np.zeros(0), "k": c.k, "b": c.b}

    def tied(self, laws: Sequence[Parabola], without: Collection[str] = ()) -> Loops:
        """The loops with the rows of the drives."""
        description, every = self.loops.skel.tree.description, zip(self.drives, laws, strict=True)
        return self.loops.with_([driven(description, n, law) for n, law in every if n not in without])

    @property
    def velocity_drives(self) -> dict[str, int]:
        """Drives that are one velocity of a free or ball joint of the tree, which has no position of its own, and their places in v."""
        tree, out = self.loops.skel.tree, {}
        for name in self.drives:
            x = coordinate_or_none(tree.description, name)
            node = tree.node_of_joint.get(x.joint.name) if isinstance(x, JointCoordinate) and x.q != x.v else None
            if isinstance(x, JointCoordinate) and node is not None and not tree.nodes[node].reversed:
                out[name] = tree.nodes[node].v.start + x.v
        return out

    def velocity_rows(self) -> Any:
        """Rows of these drives: v of a drive is the velocity itself."""
        return np.eye(self.loops.skel.tree.nv)[list(self.velocity_drives.values())]

    def _driven(self, q: Any, v: Any, laws: Sequence[Parabola], near: Any, *, with_velocities: bool = False) -> Driven:
        """The loops with the rows of the drives, of which as many are taken as there are velocities; idle degrees of freedom rest.
        Behind them, where no positions are asked for, come those of `velocity_drives`."""
        skel, tied = self.loops.skel, self.tied(laws, self.velocity_drives if with_velocities else ())
        c = tied.at(q, v, 0.0, near)
        rows = [*(range(skel.tree.nc) if self.plan.keep is None else self.plan.keep), *range(skel.tree.nc, len(c.phi))]
        parts = [c.J[rows], idle_rows(self.plan, skel, motion(skel, q, v)).rows, *([self.velocity_rows()] if with_velocities else [])]
        J = np.concatenate(parts)
        return Driven(tied, c, rows, J, self._order("kinematics", J))

    def _resting(self, q: Any, v: Any) -> Any:
        """Accelerations of idle degrees of freedom that stay at rest: not zero where their directions move."""
        return -idle_rows(self.plan, self.loops.skel, motion(self.loops.skel, q, v)).rate

    def kinematics(self, q: Any, v: Any, drive: Any, speed: Any, acceleration: Any, near: Any) -> Arrays:
        """With the drives' coordinates given: one Newton step for q, and v and a at the q and v handed in.

        Iterated until `residual` is at round-off this assembles, then completes the speeds and accelerations.
        """
        skel = self.loops.skel
        d = self._driven(q, v, [Parabola(*x) for x in zip(drive, speed, acceleration, strict=True)], skel.unpack(q, near))
        (dq, pivots), (speeds, _), (a, _) = d.solve(-d.c.phi), d.solve(-d.c.b), d.solve(-d.c.k, self._resting(q, v))
        return {
            "q": normalized(skel, q + qdot(skel, q, dq)),
            "v": speeds,
            "a": a,
            "residual": d.gap,
            "margin": self.margin("kinematics", [(size(p), p) for p in pivots]),
        }

    def walk(self, q: Any, drive: Any, speed: Any, acceleration: Any, near: Any) -> Arrays:
        """One Newton step for q with the drives' coordinates given; at the q handed in v, the a that belongs to it, dq/dt, the
        coordinates of cut joints, and the determinant of the driven Jacobian, whose sign is that of the branch.

        Iterated until `residual` is at round-off this closes a sample of a cycle: see `walking`.
        """
        skel, here = self.loops.skel, self.loops.skel.unpack(q, near)
        d = self._driven(q, np.zeros(skel.tree.nv), [Parabola(*x) for x in zip(drive, speed, acceleration, strict=True)], here)
        (dq, pivots), (v, _) = d.solve(-d.c.phi), d.solve(-d.c.b)
        k = d.tied.at(q, v, 0.0, here).k  # what does not depend on v is computed once: the same node of the graph
        a, _ = d.solve(-k, self._resting(q, v))
        return {
            "q": normalized(skel, q + qdot(skel, q, dq)),
            "qdot": qdot(skel, q, v),
            "v": v,
            "a": a,
            "near": cut_coordinates(skel, q, here),
            "residual": d.gap,
            "moved": np.array([largest(dq / self.loops.columns)]),
            "determinant": self._determinant(pivots),
            "margin": self.margin("kinematics", [(size(p), p) for p in pivots]),
        }

    def stride(self, q: Any, drive: Any, speed: Any, near: Any) -> Arrays:
        """`walk` without v, a and the coordinates of cut joints: what walks of many designs are made with."""
        skel, here = self.loops.skel, self.loops.skel.unpack(q, near)
        laws = [Parabola(*x, 0.0) for x in zip(drive, speed, strict=True)]
        d = self._driven(q, np.zeros(skel.tree.nv), laws, here)
        (dq, pivots), (v, _) = d.solve(-d.c.phi), d.solve(-d.c.b)
        return {
            "q": normalized(skel, q + qdot(skel, q, dq)),
            "qdot": qdot(skel, q, v),
            "residual": d.gap,
            "moved": np.array([largest(dq / self.loops.columns)]),
            "determinant": self._determinant(pivots),
            "margin": self.margin("kinematics", [(size(p), p) for p in pivots]),
        }

    def counted_stride(self, q: Any, drive: Any, speed: Any, near: Any) -> Arrays:
        """The same with the coordinates of cut joints, whole turns counted."""
        return {**self.stride(q, drive, speed, near), "near": self.counted(q, near)}

    def counted(self, q: Any, near: Any) -> Any:
        """Coordinates of the cut joints, whole turns counted from those in `near`, as one packed row."""
        skel = self.loops.skel
        return np.array([*cut_coordinates(skel, q, skel.unpack(q, near)), None], dtype=object)[:-1]

    def branch_determinant(self, q: Any, near: Any) -> Any:
        """Determinant of the driven Jacobian at q, whose sign is that of the branch: zero in a dead center."""
        skel, still = self.loops.skel, np.zeros(self.loops.skel.tree.nv)
        laws = [Parabola(0.0, 0.0, 0.0) for _ in self.drives]
        d = self._driven(q, still, laws, skel.unpack(q, near))
        return self._determinant(d.solve(np.zeros(len(d.c.phi)))[1])[0]

    def gap(self, q: Any, drive: Any, near: Any) -> Arrays:
        """How far the loops stay open with the drives held; see `assembly_gap`."""
        from linkwright.kernels.equations import assembly_gap  # here, because it is built on this module

        return assembly_gap.gap(self, q, drive, near)

    def _determinant(self, pivots: Any) -> Any:
        """Product of the pivots, each against its typical size."""
        out: Any = 1.0
        for p, least in zip(pivots, self.plan.nominal["kinematics"], strict=True):
            out = out * (p * (ORDERED_PIVOT / least) if is_watched(least) else p)
        return np.array([out])

    def _laws(self, q: Any, v: Any, near: Any, accelerations: Sequence[Any]) -> list[Parabola]:
        """Drives that accelerate so at this state; a cylinder is as long and as fast as it is, because its row is divided by its length."""
        skel = self.loops.skel
        at = Instant(skel, q, v, references=near)
        lines = {name: line(at, between) for name, between in lengths(skel.tree.description).items() if name in self.drives}
        values = [(lines[n].length, lines[n].rate) if n in lines else (0.0, 0.0) for n in self.drives]
        return [Parabola(*x, a) for x, a in zip(values, accelerations, strict=True)]

    def _speeds(self, d: Driven) -> tuple[Any, Any]:
        """Velocities of the tree's joints per unit speed of each drive, a column each: a basis of the motions of the loops; and pivots."""
        first, columns, pivots = len(d.J) - self.plan.spinning - len(self.drives), [], []
        for i in range(len(self.drives)):
            unit = np.zeros(len(d.J), dtype=d.J.dtype)
            unit[first + i] = 1.0
            column, pivots = eliminate(d.J, unit, d.order)
            columns.append(column)
        return np.array(columns).T.reshape(self.loops.skel.tree.nv, len(self.drives)), pivots

    def jacobian_rate(self, q: Any, v: Any, near: Any) -> Arrays:
        """dJ/dt times the speeds of the drives: accelerations of the tree's joints, and angular acceleration and acceleration of the origin
        of every body in world axes, while the drives do not accelerate."""
        skel = self.loops.skel
        here = skel.unpack(q, near)
        d = self._driven(q, v, self._laws(q, v, here, [0.0] * len(self.drives)), here)
        a, pivots = d.solve(-d.c.k, self._resting(q, v))
        m = motion(skel, q, v)
        rows = []
        for i, A in enumerate(accelerations(skel, m, a)):
            rows.append(np.concatenate([A[:3], point_acceleration(m.V[i], A, m.X[i].p)]))
        margin = self.margin("kinematics", [(size(p), p) for p in pivots])
        return {"a": a, "rate": np.array(rows).reshape(-1, 6), "margin": margin}

    def jacobian(self, q: Any, near: Any) -> Arrays:
        """Velocities per unit speed of each drive: of the tree's joints, and of every body its angular velocity and the velocity of
        its origin, in world axes; `R`, the bodies' rotations, take points of bodies there."""
        skel = self.loops.skel
        here, still = skel.unpack(q, near), np.zeros(skel.tree.nv)
        d = self._driven(q, still, self._laws(q, still, here, [0.0] * len(self.drives)), here)
        S, pivots = self._speeds(d)
        m, twists = motion(skel, q, np.zeros(skel.tree.nv)), []
        for i in range(len(skel.tree.nodes)):
            path = sorted(skel.tree.support(i))
            T = np.concatenate([m.S[n] for n in path], axis=1) @ np.concatenate([S[skel.tree.nodes[n].v] for n in path])
            twists.append(np.concatenate([T[:3], T[3:] + np.array([cross(w, m.X[i].p) for w in T[:3].T]).T.reshape(3, -1)]))
        twist = np.array(twists).reshape(-1, 6, len(self.drives))
        loops_gap = np.array([largest(d.c.phi[: skel.tree.nc] / self.loops.row_scale)])
        R = np.array([X.R for X in m.X]).reshape(-1, 3, 3)
        return {"v": S, "twist": twist, "R": R, "gap": loops_gap, "margin": self.margin("kinematics", [(size(p), p) for p in pivots])}

    def poses(self, q: Any) -> Arrays:
        """Rotation and origin of every moving body in the world."""
        skel = self.loops.skel
        m = motion(skel, q, np.zeros(skel.tree.nv))
        R = np.array([X.R for X in m.X]).reshape(-1, 3, 3)
        p = np.array([X.p + skel.origins[i] for i, X in enumerate(m.X)]).reshape(-1, 3)
        return {"R": R, "p": p}

    def contact_terms(self, q: Any, v: Any) -> Arrays:
        """Gaps of the contacts, rows and rates of their relative speeds: see `mechanics.contact`."""
        return contact_terms(self.loops.skel, q, v)

    def contact_gaps(self, q: Any) -> Arrays:
        """Gaps of the contacts."""
        return contact_gaps(self.loops.skel, q)

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


def cut_coordinates(skel: Any, q: Any, here: Any) -> list[Any]:
    """Coordinates of the cut joints, whole revolutions counted from the references `here`, as one packed row.

    Quaternions of a ball joint decide on numbers which of their signs they have, and count no revolutions: they stay as they are `here`.
    """
    m = motion(skel, q, np.zeros(skel.tree.nv))
    out: list[Any] = []
    for name in skel.tree.cuts:
        joint = skel.tree.description.joint(name)
        turning = "quaternion" not in create(joint.type, joint.options).coordinate_kinds
        out += list(joint_coordinates(skel, m, joint, here[name]) if turning else here[name])
    return out


def constant(x: Any) -> bool:
    return isinstance(x, (int, float, np.floating))


def is_watched(size: Any) -> bool:
    """True of a typical size of a pivot, a number or a symbol: zero where the pivot is not looked at."""
    return not constant(size) or size != 0.0


def size(x: Any) -> Any:
    return abs(x)


def largest(x: Any) -> Any:
    out: Any = 0.0
    for value in x:
        out = -minimum(-abs(value), -out)
    return out


def normalized(skel: Any, q: Any) -> Any:
    """Quaternions of length one again."""
    out = np.array(q, dtype=common_type(q))
    for n, jt in zip(skel.tree.nodes, skel.types, strict=True):
        if "quaternion" in jt.coordinate_kinds:
            part = out[n.q][:4]
            out[n.q.start : n.q.start + 4] = part * (1.0 / np.sqrt(part @ part))
    return out
