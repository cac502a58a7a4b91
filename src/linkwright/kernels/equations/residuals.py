"""Residuals of the equations of motion, by recursion alone: what derivatives are taken of.

Each is zero at a solution and linear in the unknowns (accelerations, multipliers, efforts, steps), so that the derivative of a
solution is one more right side of the system that gave it; see `kernels.implicit`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from linkwright.kernels.equations.kinematic import Arrays, Driven, KinematicEquations, normalized, size
from linkwright.mechanics.constraints.loops import Closure, loop_wrenches
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.dynamics.terms import along_world, to_joint_axes
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.problem import unit_pushes
from linkwright.mechanics.kinematics.motion import Motion, motion, node_accelerations, qdot
from linkwright.model.curves.polynomial import Parabola


class ResidualEquations(KinematicEquations):
    """Residuals of dynamics and of driven kinematics."""

    # ---------------------------------------------------------------- dynamics

    def residual(self, q: Any, v: Any, a: Any, lam: Any, t: Any, near: Any) -> Arrays:
        """Residual of forward dynamics, equal to tau and to zero: M a + h - J' lam and J a + k, by recursion alone."""
        m, c, pushes = self._loaded(q, v, lam, t, near, False)
        return self._balance(m, c, a, pushes, v, t, near, False)

    def balance(self, q: Any, v: Any, a: Any, lam: Any, tau: Any, t: Any, near: Any) -> Arrays:
        """The same in economical rows and axes, with tau, and the standard a and lam those are reported as: for derivatives."""
        m, c, pushes = self._loaded(q, v, lam, t, near, True)
        out = self._balance(m, c, a, pushes, v, t, near, True)
        place = Instant(self.loops.skel, q, v, t[0], self.loops.skel.unpack(q, near), loops=self.loops, motion=m, closure=c)
        solution = to_joint_axes(place, a, lam)
        return {"effort": out["effort"] - along_world(place, tau), "gap": out["gap"], "a": solution[0], "lam": solution[1]}

    def _loaded(self, q: Any, v: Any, lam: Any, t: Any, near: Any, body_axes: bool) -> tuple[Motion, Closure, list[tuple[int, Any]]]:
        """Motion, closure, and the wrenches of forces and multipliers on the bodies."""
        skel, references = self.loops.skel, self.loops.skel.unpack(q, near)
        m = motion(skel, q, v, world_axes=body_axes)
        at = Instant.moving(skel, m, t[0], references)
        c = replace(self.loops, row_axes=self.plan.axes).closure(m, v, t[0], references, body_axes)
        return m, c, [*at.pushes(self.forces), *loop_wrenches(skel, c, lam)]

    def _balance(self, m: Motion, c: Closure, a: Any, pushes: Any, v: Any, t: Any, near: Any, body_axes: bool) -> Arrays:
        skel = self.loops.skel
        acc = node_accelerations(skel, m, a)
        # rows read accelerations where the bias was: k + J a
        moving = replace(m, dw=[x for x, _ in acc], du=[x for _, x in acc], like=None)
        rows = replace(self.loops, row_axes=self.plan.axes).closure(moving, v, t[0], self.loops.skel.unpack(m.q, near), body_axes)
        return {"effort": dynamics.inverse_tree(skel, m, a, pushes) + self._rotor_efforts(m, a), "gap": rows.k}

    def _rotor_efforts(self, m: Motion, a: Any) -> Any:
        """Efforts of the joints for their rotors."""
        if not self.armature:
            return 0.0
        return dynamics.rotor_efforts(self.loops.skel, dynamics.rotors(self.loops.skel, m, self.armature), a)

    def inverse_balance(self, q: Any, v: Any, a: Any, lam: Any, u: Any, t: Any, near: Any) -> Arrays:
        """M a + h - J' lam - B u in economical rows, and the multipliers these are reported as."""
        m, c, pushes = self._loaded(q, v, lam, t, near, True)
        skel = self.loops.skel
        place = Instant(skel, q, v, t[0], skel.unpack(q, near), loops=self.loops, motion=m, closure=c)
        turned = along_world(place, a)
        effort = dynamics.inverse_tree(skel, m, turned, [*pushes, *self._drive_pushes(place, u)]) + self._rotor_efforts(m, turned)
        for name, x in zip(self.drives, u, strict=True):
            node = skel.tree.node_of_joint.get(name)
            if node is not None:
                at = skel.tree.nodes[node].v.start
                effort[at] = effort[at] - x
        return {"effort": effort, "lam": to_joint_axes(place, turned, lam)[1]}

    def _drive_pushes(self, place: Instant, u: Any) -> list[tuple[int, Any]]:
        """Wrenches of the efforts of drives that are not joints of the tree."""
        tree, out = place.loops.skel.tree, []
        for name, effort in zip(self.drives, u, strict=True):
            if name not in tree.node_of_joint:
                out += [(node, w * effort) for node, w in unit_pushes(tree.description, place, [name])[0]]
        return out

    def projection_balance(self, q: Any, v: Any, step: Any, lam: Any, rate: Any, mu: Any, t: Any, near: Any) -> Arrays:
        """M dq - J' lam and J dq + phi of the step of positions, M dv - J' mu and J (v + dv) + b of that of velocities; economical rows."""
        skel, still = self.loops.skel, np.zeros(self.loops.skel.tree.nv)
        at = motion(skel, q, still, world_axes=True)
        loops, references = replace(self.loops, row_axes=self.plan.axes), skel.unpack(q, near)
        c = loops.closure(at, still, t[0], references, True)
        place = Instant(skel, q, still, t[0], references, loops=loops, motion=at, closure=c)
        weight = dynamics.inverse_tree(skel, at, still, [])
        out = {}
        for name, change, push, velocity in (("", step, lam, step), ("rate_", rate, mu, v + rate)):
            turned = along_world(place, change)
            force = dynamics.inverse_tree(skel, at, turned, loop_wrenches(skel, c, push)) - weight
            moving = rows_along(c, motion(skel, q, velocity, world_axes=True))
            out[f"{name}effort"] = force + self._rotor_efforts(at, turned)
            out[f"{name}gap"] = moving + (c.b if name else c.phi)
        return out

    def velocities(self, q: Any, v: Any) -> Arrays:
        """dq/dt."""
        return {"qdot": qdot(self.loops.skel, q, v)}

    # ---------------------------------------------------------------- driven kinematics

    def turn_motion(self, q: Any, drive: Any, speed: Any, acceleration: Any, near: Any) -> Arrays:
        """v and a at a closed position q of the drives. Its derivatives are those of the motion: q follows drives and numbers."""
        given = {"q": q, "drive": drive, "speed": speed, "acceleration": acceleration, "near": near}
        _, found = self.driven_solutions(given, following=True)
        return {"v": found["rate"], "a": found["a"], "margin": self.margin("kinematics", [(size(p), p) for p in found["pivots"]])}

    def driven_solutions(self, x: Mapping[str, Any], *, following: bool = False) -> tuple[Driven, Arrays]:
        """The step onto the loops, the velocities, and the accelerations at the velocities given or, `following`, found."""
        skel = self.loops.skel
        here, v = skel.unpack(x["q"], x["near"]), np.zeros(skel.tree.nv) if following else x["v"]
        d = self._driven(x["q"], v, _laws(x["drive"], x["speed"], x["acceleration"]), here)
        (step, pivots), (rate, _) = d.solve(-d.c.phi), d.solve(-d.c.b)
        k = d.tied.at(x["q"], rate, 0.0, here).k if following else d.c.k
        return d, {"step": step, "rate": rate, "a": d.solve(-k, self._resting(x["q"], rate if following else v))[0], "pivots": pivots}

    def driven_rows(self, q: Any, v: Any, drive: Any, speed: Any, acceleration: Any, step: Any, rate: Any, a: Any, near: Any) -> Arrays:
        """J dq + phi, J v + b and J a + k with the rows of the drives, for any dq, v, a; the bias is that of v."""
        d = self._driven_closure(q, v, drive, speed, acceleration, near)[1]
        return {"phi": d.J @ step + d.phi, "velocity": d.J @ rate + d.b, "gap": d.J @ a + d.k}

    def driven_positions(self, q: Any, drive: Any, near: Any) -> Arrays:
        """phi with the rows of the drives."""
        still = np.zeros(len(self.drives))
        return {"phi": self._driven_closure(q, np.zeros(self.loops.skel.tree.nv), drive, still, still, near)[1].phi}

    def driven_velocities(self, q: Any, v: Any, drive: Any, speed: Any, near: Any) -> Arrays:
        """J v + b with the rows of the drives."""
        m, c = self._driven_closure(q, v, drive, speed, np.zeros(len(self.drives)), near)
        return {"velocity": rows_along(c, m) + c.b}

    def driven_accelerations(self, q: Any, v: Any, a: Any, drive: Any, speed: Any, acceleration: Any, near: Any) -> Arrays:
        """J a + k with the rows of the drives: rows read the accelerations where the bias was."""
        skel = self.loops.skel
        m = motion(skel, q, v)
        acc = node_accelerations(skel, m, a)
        moving = replace(m, dw=[x for x, _ in acc], du=[x for _, x in acc], like=None)
        return {"gap": self._driven_closure(q, v, drive, speed, acceleration, near, moving)[1].k}

    def stepped(self, q: Any, step: Any) -> Arrays:
        """q after a step in the space of v, as `kinematics` reports it."""
        return {"q": normalized(self.loops.skel, q + qdot(self.loops.skel, q, step))}

    def _driven_closure(
        self, q: Any, v: Any, drive: Any, speed: Any, acceleration: Any, near: Any, m: Motion | None = None
    ) -> tuple[Motion, Closure]:
        m = motion(self.loops.skel, q, v) if m is None else m
        tied = self.tied(_laws(drive, speed, acceleration))
        return m, tied.at(q, v, 0.0, self.loops.skel.unpack(q, near), m)


def rows_along(c: Closure, m: Motion) -> Any:
    """J v of the velocities of a motion, row by row from the twists of the bodies."""
    parts = [sum((G @ m.V[node] for node, G in part.G if node >= 0), 0.0 * part.k) for part in c.parts]
    return np.concatenate(parts) if parts else np.zeros(0)


def _laws(drive: Any, speed: Any, acceleration: Any) -> list[Parabola]:
    return [Parabola(*x) for x in zip(drive, speed, acceleration, strict=True)]
