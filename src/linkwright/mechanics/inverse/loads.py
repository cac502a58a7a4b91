"""Result of inverse dynamics: drive efforts, the reaction of every joint, and how far each is determined.

A coupling without contact geometry passes a torque, but the force where its parts touch is not known (`meshes_not_modeled`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from linkwright import elements
from linkwright.errors import ChannelError, UsageError, nearest
from linkwright.files.tables import Result, Table
from linkwright.mechanics import forces
from linkwright.mechanics.constraints.belt import BeltConstraint
from linkwright.mechanics.dynamics.reactions import JointWrench, constraint_part, separating
from linkwright.mechanics.dynamics.tree import body_inertias, moment_point
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.choice import UNIQUE, joint_wrenches
from linkwright.mechanics.inverse.line_eyes import LineEye, line_eye, line_eyes, line_force
from linkwright.mechanics.inverse.methods import Solved
from linkwright.mechanics.inverse.problem import InverseProblem
from linkwright.mechanics.kinematics.motion import Motion, Skeleton, accelerations, locate, node_motion
from linkwright.model.coordinates import is_rotary, joint_part
from linkwright.model.description import Description, Joint
from linkwright.numerics.memory_and_threads import essentials
from linkwright.numerics.scalars import is_symbolic
from linkwright.numerics.spatial import cross, cross_wrench
from linkwright.properties import cached_property


def meshes_not_modeled(d: Description) -> dict[str, str]:
    """Joints that such a coupling ties, and the coupling. A cam, a gear or a rack has its contact, so its bearing loads are known.
    Joints on one axis, such as those of a motor and its gearbox, pass their torque without a load on bearings."""
    return {name: c.name for c in elements.constraints(d) if c.hides_contact and not _on_one_axis(d, c.joints) for name in c.joints}


def _on_one_axis(d: Description, names: Sequence[str]) -> bool:
    first, *others = (d.joint(name.partition(".")[0]) for name in names)
    return all((x.type, x.first, x.frame_first) == (first.type, first.first, first.frame_first) for x in others)


@dataclass(frozen=True)
class Wrench:
    """A force and a moment: on which body, at which point (world), in which axes; `unique` for each component."""

    force: np.ndarray
    moment: np.ndarray
    at: np.ndarray
    on: str
    expressed_in: str
    unique_force: np.ndarray
    unique_moment: np.ndarray

    @property
    def unique(self) -> bool:
        return bool(self.unique_force.all() and self.unique_moment.all())


@dataclass(frozen=True)
class Loads(Result):
    """Efforts and reactions of one state. `loads.tau["A"]`, `loads.wrench["C"]`, `loads.on("C", "rocker")`, `.residual`."""

    __getstate__ = essentials

    problem: InverseProblem = field(repr=False)
    lam_all: np.ndarray = field(repr=False)
    u: np.ndarray = field(repr=False)
    self_stresses: np.ndarray = field(repr=False)  # self-stresses of (lam, u)
    solved: Solved = field(repr=False)
    method: str = "subsystem"
    outside: tuple[tuple[int, Any], ...] = field(default=(), repr=False)  # wrenches that come from neither ground nor the mechanism
    base: Mapping[str, float] = field(default_factory=dict)  # efforts along the velocities of a floating base that the motion needs
    notes: tuple[str, ...] = ()  # how efforts of redundant drives were chosen

    @property
    def skel(self) -> Skeleton:
        return self.problem.place.loops.skel

    @property
    def kappa(self) -> float:
        return self.problem.place.loops.kappa

    @property
    def place(self) -> Instant:
        return self.problem.place

    @property
    def motion(self) -> Motion:
        return self.place.motion

    @cached_property
    def tau(self) -> dict[str, float]:
        """Effort of each drive: N m for hinges, N for sliders and cylinders."""
        u = self.u if is_symbolic(self.u) else self.u.tolist()
        return dict(zip(self.problem.drives, u, strict=True))

    @cached_property
    def tau_unique(self) -> dict[str, bool]:
        at_drives = np.abs(self.self_stresses[self.problem.terms.nc :])
        touched = at_drives.max(axis=1, initial=0.0) if at_drives.shape[1] else np.zeros(len(self.u))
        return {name: bool(x <= UNIQUE) for name, x in zip(self.problem.drives, touched, strict=True)}

    @cached_property
    def lam(self) -> dict[str, np.ndarray]:
        t = self.problem.terms
        return {name: self.lam_all[r] for name, r in zip(t.names, t.rows, strict=True)}

    @cached_property
    def _wrenches(self) -> dict[str, JointWrench]:
        """Reactions of all joints (no effort), with separating forces of gear teeth, contact forces of cams and the pretension of belts."""
        p = self._with_workless_forces()
        z = np.concatenate([self.lam_all, self.u])
        return {w.joint: constraint_part(p.place, w) for w in joint_wrenches(p, z, True)}

    def _with_workless_forces(self) -> InverseProblem:
        p = self.problem
        extra = separating(p.place, self.lam_all)
        return replace(p, place=p.place.with_external((*p.place.external, *extra))) if extra else p

    @cached_property
    def _stress_wrenches(self) -> list[dict[str, JointWrench]]:
        """The same for every self-stress: what may change without being noticed."""
        p = self.problem
        columns = [c / max(np.abs(c).max(), 1e-300) for c in self.self_stresses.T]
        return [{w.joint: constraint_part(p.place, w) for w in joint_wrenches(p, c, False)} for c in columns]

    @property
    def joints(self) -> list[str]:
        return list(self._wrenches)

    def _joint(self, name: str) -> Joint:
        every = {j.name: j for j in self.skel.tree.description.joints}
        if name not in every:
            raise ChannelError(f"there is no joint '{name}'.", nearest(name, every, "Joints"))
        return every[name]

    @property
    def wrench(self) -> Mapping[str, Wrench]:
        """Reaction of every joint on its second body, in world axes at the joint point."""
        return {name: self.reaction(name) for name in self._wrenches}

    def reaction(self, joint: str, on: str | None = None, frame: str = "world") -> Wrench:
        """Reaction of one joint on either of its bodies, in world axes or those of any body."""
        j = self._joint(joint)
        body = j.second if on is None else on
        if body not in (j.first, j.second):
            raise UsageError(f"joint '{joint}' joins {j.first} and {j.second}, not '{body}'.", name=joint, value=body)
        sign = 1.0 if body == j.second else -1.0
        found = self._packed([(self._wrenches[joint], sign)], [[(s[joint], sign)] for s in self._stress_wrenches], body, frame)
        return self._as_far_as_known(found, [joint])

    def on(self, pin: str, body: str, frame: str = "world") -> Wrench:
        """Return the force of a pin on a body's eye: the sum over the joints at that pin, however they are split; of rods, springs, dampers
        and cylinders by the part and the point, `on("lift.W", "boom")`."""
        d = self.skel.tree.description
        eye = line_eye(d, pin, body) if "." in pin else None
        if eye is not None:
            return self._at_eye(eye, frame)
        at_pin = [j for j in d.joints if j.pin == pin and body in (j.first, j.second)] if pin else []
        if not at_pin:
            at_pin = [j for j in d.joints if j.name == pin and body in (j.first, j.second)]
        if not at_pin:
            eyes = sorted({j.pin or j.name for j in d.joints if body in (j.first, j.second)})
            eyes += [e.pin for e in line_eyes(d) if e.body == body]
            raise ChannelError(f"body '{body}' has no pin '{pin}'.", nearest(pin, eyes, "Its pins"))
        if len(at_pin) == 1 and at_pin[0].pin:
            at_pin = [j for j in d.joints if j.pin == at_pin[0].pin and body in (j.first, j.second)]
        signs = [1.0 if j.second == body else -1.0 for j in at_pin]
        parts = [(self._wrenches[j.name], s) for j, s in zip(at_pin, signs, strict=True)]
        stresses = [[(x[j.name], s) for j, s in zip(at_pin, signs, strict=True)] for x in self._stress_wrenches]
        return self._as_far_as_known(self._packed(parts, stresses, body, frame), [j.name for j in at_pin])

    def _as_far_as_known(self, found: Wrench, joints: list[str]) -> Wrench:
        """The same, not unique in a joint that a coupling without contact geometry ties: the force in its mesh is not known."""
        if not any(name in meshes_not_modeled(self.skel.tree.description) for name in joints):
            return found
        return replace(found, unique_force=np.full(3, False))

    def _at_eye(self, eye: LineEye, frame: str) -> Wrench:
        """The force along a part between two points; it depends on the choice of reactions where that of a rod or drive does."""
        place = self.problem.place
        force = eye.side * line_force(self, eye) * forces.line(place, eye.part.between).n
        unique = np.full(3, self.tau_unique.get(eye.part.name, True) if eye.part.coordinate else True)
        if eye.part.constraint and self.self_stresses.shape[1]:
            rows = dict(zip(self.problem.terms.names, self.problem.terms.rows, strict=True))[eye.part.name]
            unique[:] = np.abs(self.self_stresses[rows]).max() <= UNIQUE
        at = locate(self.skel, self.motion, eye.ref).position
        return Wrench(self._axes(frame).T @ force, np.zeros(3), at, eye.body, frame, unique, np.full(3, True))

    def _packed(
        self, parts: list[tuple[JointWrench, float]], stresses: list[list[tuple[JointWrench, float]]], body: str, frame: str
    ) -> Wrench:
        R = self._axes(frame)
        at = parts[0][0].point

        def total(items: list[tuple[JointWrench, float]]) -> tuple[np.ndarray, np.ndarray]:
            force = sum((s * w.force for w, s in items), np.zeros(3))
            moment = sum((s * (w.moment + cross(w.point - at, w.force)) for w, s in items), np.zeros(3))
            return R.T @ force, R.T @ moment

        force, moment = total(parts)
        loose_f, loose_m = np.zeros(3), np.zeros(3)
        for items in stresses:
            f, m = total(items)
            loose_f, loose_m = np.maximum(loose_f, np.abs(f)), np.maximum(loose_m, np.abs(m))
        return Wrench(force, moment, at, body, frame, loose_f < 1e-7, loose_m < 1e-7 * self.kappa)

    def _axes(self, frame: str) -> np.ndarray:
        if frame == "world":
            return np.eye(3)
        return node_motion(self.skel, self.motion, self.skel.node(frame))[0].R

    def belt_tensions(self, name: str) -> list[Any]:
        """Return the tension of every span of a belt, negative where it would have to push; see `BeltConstraint.tensions`."""
        place, terms = self.problem.place, self.problem.terms
        for c, rows in zip(place.loops.constraints, terms.rows, strict=True):
            if isinstance(c, BeltConstraint) and c.name == name:
                return c.tensions(place.loops.skel, place.motion, self.lam_all[rows])
        raise KeyError(name)

    @cached_property
    def ground_wrench(self) -> tuple[np.ndarray, np.ndarray]:
        """(force, moment about the world origin) of the mechanism on ground: the shaking force and moment."""
        return self.shaking()

    def shaking(self, about: Any = None, *, outside: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Everything that reaches ground, through joints, springs and drives: loads and weight minus the rate of momentum.

        Without `outside` every load has its reaction on the ground, as the work of a press on its own frame has.
        """
        p = self.problem
        skel, m = p.place.loops.skel, p.place.motion
        force, moment = np.zeros(3), np.zeros(3)
        weight = np.concatenate([np.zeros(3), skel.gravity])
        for i, (I, V, A) in enumerate(zip(body_inertias(skel, m), m.V, accelerations(skel, m, p.a), strict=True)):
            F = -(I @ (A - weight) + cross_wrench(V, I @ V))
            force, moment = force + F[3:], moment + F[:3] + cross(skel.origins[i], F[3:])
        for node, w in self.outside if outside else ():
            force, moment = force + w[3:], moment + w[:3] + cross(skel.origins[node], w[3:])
        if about is not None:
            moment = moment - cross(moment_point(about), force)
        return force, moment

    def base_wrench(self, about: Any = None, joint: str | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return (force, moment) from outside on a floating base that the motion needs, world axes; moment about the world origin or a
        point. Zero in free flight. `joint` names one of several bases."""
        skel, place = self.skel, self.place
        force, moment = np.zeros(3), np.zeros(3)
        for name, effort in self.base.items():
            part = joint_part(skel.tree.description, name)
            if joint is None or part.joint.name == joint:
                for node, w in forces.joint_effort(place, part.joint, effort, part.entries[0]):
                    force, moment = force + w[3:], moment + w[:3] + cross(skel.origins[node], w[3:])
        return force, moment if about is None else moment - cross(moment_point(about), force)

    @cached_property
    def residual(self) -> float:
        """Largest violation of Newton's and Euler's laws over all bodies, relative to the largest force."""
        p = self.problem
        skel, m = p.place.loops.skel, p.place.motion
        weight = np.concatenate([np.zeros(3), skel.gravity])
        sums = []
        for I, V, A in zip(body_inertias(skel, m), m.V, accelerations(skel, m, p.a), strict=True):
            sums.append(-(I @ (A - weight) + cross_wrench(V, I @ V)))
        size = max((float(np.abs(s).max()) for s in sums), default=0.0)
        z = np.concatenate([self.lam_all, self.u])
        for node, w in (*p.place.external, *((n, x * self.u[i]) for i, push in enumerate(p.pushes) for n, x in push)):
            sums[node] = sums[node] + w
        for n in skel.tree.nodes:  # rotors take a part of the efforts
            rotor = {k: -I * p.a[n.v.start + k] for k, I in enumerate(skel.armature[n.v.start : n.v.stop]) if I}
            for node, w in forces.joint_efforts(p.place, n.joint, rotor) if rotor else ():
                sums[node] = sums[node] + w
        cut = set(skel.tree.cuts)
        for c, part, rows in zip(p.place.loops.constraints, p.place.closure.parts, p.terms.rows, strict=True):
            if c.name not in cut:
                for node, G in part.G:
                    if node >= 0:
                        sums[node] = sums[node] + G.T @ self.lam_all[rows]
        for w in joint_wrenches(p, z, True):
            j = self._joint(w.joint)
            reaction = constraint_part(p.place, w)
            for body, sign in ((j.second, 1.0), (j.first, -1.0)):
                node = skel.node(body)
                if node >= 0:
                    arm = reaction.point - skel.origins[node]
                    F = np.concatenate([reaction.moment + cross(arm, reaction.force), reaction.force])
                    sums[node] = sums[node] + sign * F
                    size = max(size, float(np.abs(F).max()))
        return max((float(np.abs(s).max()) for s in sums), default=0.0) / max(size, 1e-300)

    @property
    def unique(self) -> dict[str, bool]:
        """For every joint whether its whole reaction is determined."""
        return {name: self.reaction(name).unique for name in self._wrenches}

    def table(self) -> Table:
        """Return the reactions of all joints in SI, world axes; efforts of drives and of a floating base are `parts` of the table."""
        rows: list[tuple[Any, ...]] = []
        for name in self._wrenches:
            w = self.reaction(name)
            rows.append((name, *map(float, w.force), float(np.linalg.norm(w.force)), float(np.linalg.norm(w.moment)), w.unique))
        forces = [(f"force {axis}", "N", ".6g") for axis in "xyz"]
        heads = [("joint", ""), *forces, ("force", "N", ".6g"), ("moment", "N m", ".6g"), ("unique", "")]
        return Table.of(heads, rows, "joints", self.notes, parts=tuple(self._efforts()))

    def _efforts(self) -> list[Table]:
        d = self.skel.tree.description
        drives = [(n, float(x), "N m" if is_rotary(d, n) else "N", self.tau_unique[n]) for n, x in self.tau.items()]
        out = [Table.of([("drive", ""), ("effort", "", ".6g"), ("unit", ""), ("unique", "")], drives, "drives")]
        base = Table.of([("floating base", ""), ("effort", "", ".6g")], [(n, float(x)) for n, x in self.base.items()], "floating base")
        return [*out, base] if self.base else out

    def __str__(self) -> str:
        t = self.table()
        return "\n".join([*(x.text() for x in t.parts), t.text(), *(f"note: {x}" for x in self.notes)])
