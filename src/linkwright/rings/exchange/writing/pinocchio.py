"""A mechanism as a Pinocchio model with loop constraints, and the maps between its coordinates and ours.

The tree is ours: one joint there for every piece of a joint here (massless links between the pieces), bodies on fixed joints
become part of their carrier, and each body is a frame of its name. Coordinates are equal except for rotations: quaternions
are xyzw there, and a free joint has [position; xyzw] with both velocities in the moving axes.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import Placement, Pose, State, System, UsageError, call_explained, compiled_of, cross, quaternion_rotation
from linkwright.rings.exchange.writing import loops
from linkwright.rings.exchange.writing.elementary_joints import JointPiece, ball_position, ball_rates, is_free, pieces
from linkwright.rings.exchange.writing.inertia import Solid, solids

ACCURACY, MU, ITERATIONS = 1e-13, 1e-10, 20


def _pinocchio() -> Any:
    try:
        return import_module("pinocchio")
    except ImportError:
        raise UsageError(
            "converting to Pinocchio needs the package 'pin': pip install pin (it is part of linkwright[test]).", name="pin"
        ) from None


class PinocchioJoint(NamedTuple):
    """Place of a piece of a node's joint: entries of Pinocchio's q and v. `piece` None: a whole free joint."""

    node: int
    piece: JointPiece | None
    q: slice
    v: slice


class Change(NamedTuple):
    """Pinocchio's coordinates of a state: q, v = T v_ours, and a = T a_ours + drift."""

    q: np.ndarray
    T: np.ndarray
    drift: np.ndarray


@dataclass(frozen=True)
class PinocchioAcceleration:
    """Result of Pinocchio's constraint dynamics in our terms. `acc.a`, `acc["A"]`, `acc.force["C"]`, `acc.moment["C"]`."""

    a: np.ndarray  # in the order of names.v of the converted system
    force: Mapping[str, np.ndarray]  # of each cut joint on its second body at the joint point, world axes
    moment: Mapping[str, np.ndarray]
    read: Any = field(repr=False)

    def __getitem__(self, joint: str) -> float | np.ndarray:
        """Acceleration of any joint, cut or not."""
        return self.read(joint)


@dataclass(frozen=True)
class PinocchioModel:
    """`model` and `constraints` for Pinocchio's algorithms. The methods translate. States may come from any tree of the mechanism."""

    model: Any
    constraints: list[Any]
    system: System  # ours with the same tree: `names.v` orders accelerations and efforts
    closings: tuple[loops.Closing, ...]  # what each constraint stands for
    placed: tuple[PinocchioJoint, ...] = field(repr=False)

    def q(self, state: State) -> np.ndarray:
        return self._change(self._here(state)).q

    def v(self, state: State) -> np.ndarray:
        st = self._here(state)
        return self._change(st).T @ st.v

    def acceleration(self, state: State, a: Any) -> np.ndarray:
        """Accelerations of theirs in the order of `names.v`."""
        c = self._change(self._here(state))
        return np.linalg.solve(c.T, np.asarray(a, float) - c.drift)

    def effort(self, state: State, tau: Mapping[str, Any] | Any = None) -> np.ndarray:
        """Their tau for ours (by joint name, or in the order of `names.v`) plus what the model's springs, dampers and loads do."""
        st = self._here(state)
        return np.linalg.solve(self._change(st).T.T, loops.efforts(self.system, st, tau, compiled_of(self.system).forces))

    def settings(self) -> Any:
        """Proximal settings that give exact accelerations also with redundant rows, which loops in a plane always have."""
        return _pinocchio().ProximalSettings(ACCURACY, MU, ITERATIONS)

    def forward(self, state: State, tau: Mapping[str, Any] | Any = None) -> PinocchioAcceleration:
        """Accelerations and loop forces by pinocchio.constraintDynamics."""
        pin = _pinocchio()
        st = self._here(state)
        data, datas = self.model.createData(), [c.createData() for c in self.constraints]
        q, v, effort = self.q(st), self.v(st), self.effort(st, tau)
        if self.constraints:
            models, datas = pin.StdVec_RigidConstraintModel(self.constraints), pin.StdVec_RigidConstraintData(datas)
            pin.initConstraintDynamics(self.model, data, models, datas)
            found = pin.constraintDynamics(self.model, data, q, v, effort, models, datas, self.settings())
        else:
            found = pin.aba(self.model, data, q, v, effort)
        a = self.acceleration(st, found)
        force, moment = self._loop_forces(datas)
        instant = compiled_of(self.system).instant(st, a)
        return PinocchioAcceleration(
            a, force, moment, lambda name: st._channels[name if name.endswith(".a") else f"{name}.a"].read(instant)
        )

    def _loop_forces(self, datas: Any) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Their forces act on the first body, in its frame's axes: turned round, moved to the joint's point and into world axes."""
        force = {c.cut: np.zeros(3) for c in self.closings}
        moment = {c.cut: np.zeros(3) for c in self.closings}
        points: dict[str, np.ndarray] = {}
        for c, data in zip(self.closings, datas, strict=True):
            R, p = np.array(data.oMc1.rotation), np.array(data.oMc1.translation)
            F = -R @ np.array(data.contact_force.linear)
            force[c.cut] = force[c.cut] + F
            arm = p - points.setdefault(c.cut, p)
            moment[c.cut] = moment[c.cut] + cross(arm, F) - (R @ np.array(data.contact_force.angular) if c.weld else 0.0)
        return force, moment

    def _here(self, state: State) -> State:
        return loops.in_tree_of(self.system, state)

    def _change(self, st: State) -> Change:
        q, T, drift = np.zeros(self.model.nq), np.zeros((self.model.nv, self.system.tree.nv)), np.zeros(self.model.nv)
        for at in self.placed:
            n = self.system.tree.nodes[at.node]
            qj, vj = st.q[n.q], st.v[n.v]
            if at.piece is None:
                q[at.q], T[at.v, n.v], drift[at.v] = _free(qj, vj)
                continue
            own = slice(n.v.start + at.piece.v.start, n.v.start + at.piece.v.stop)
            if at.piece.kind == "ball":
                w, x, y, z = ball_position(at.piece, qj)
                q[at.q] = x, y, z, w
                T[at.v, own] = ball_rates(at.piece, qj)
            else:
                q[at.q], T[at.v, own] = qj[at.piece.q], 1.0
        return Change(q, T, drift)


def _free(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Theirs: [velocity of M's origin; angular velocity], both in M's axes. Ours: [angular in M's axes; velocity in F's]."""
    R = quaternion_rotation(q[:4])
    T = np.zeros((6, 6))
    T[:3, 3:], T[3:, :3] = R.T, np.eye(3)
    drift = np.concatenate([-cross(v[:3], R.T @ v[3:]), np.zeros(3)])
    return np.array([*q[4:], *q[1:4], q[0]]), T, drift


# -------------------------------------------------------------------- building


@call_explained
def pinocchio_model(model: System | loops.HasSystem, *, floor: float = 0.0) -> PinocchioModel:
    """The mechanism for Pinocchio. `floor` gives every body at least that share of the mechanism's inertia (`linkwright docs export`)."""
    pin = _pinocchio()
    system = loops.convertible(model, "Pinocchio", regular=floor == 0.0)
    _refuse(system)
    _warn(system)
    if floor == 0.0 and system.tree.nv and loops.mass_is_singular(system, system.start):
        raise UsageError(
            f"'{system.description.name}' has massless bodies or thin rods that only the loops hold, so the mass matrix of its tree "
            "is singular. Pinocchio needs a regular one. Give these bodies some inertia, or let s.pinocchio(floor=1e-9) do so.",
            name=system.description.name,
        )
    out, where, placed = pin.Model(), {-1: (0, pin.SE3.Identity())}, []
    out.name = system.description.name
    out.gravity.linear = np.asarray(compiled_of(system).skel.gravity, float)
    for i, solid in enumerate(solids(system, floor)):
        _add_node(pin, out, system, i, where, placed)
        _add_body(pin, out, system.tree.nodes[i].body, solid, where[i])
    for at in placed:  # rotors
        out.armature[at.v] = float(system.tree.nodes[at.node].joint.armature or 0.0)
    bodies = {body: where[node] for body, node in system.tree.node_of_body.items()}
    closings = loops.closings(system)
    return PinocchioModel(out, [_constraint(pin, out, c, bodies) for c in closings], system, closings, tuple(placed))


def _refuse(system: System) -> None:
    """Rods, couplings, gears and belts: Pinocchio's constraints hold points and frames, not distances or ratios."""
    d = system.description
    if d.rods:
        raise UsageError(
            f"Pinocchio has no constant-distance constraint for the rod '{d.rods[0].name}'. Make it a body of small mass with a joint "
            "at either end, or use m.export(format='mjcf'), which has one.",
            name=d.rods[0].name,
        )
    for kind, things in (("gear", d.gears), ("coupling", d.couplings), ("belt", d.belts)):
        if things:
            raise UsageError(
                f"Pinocchio's loop constraints cannot tie two joint coordinates as the {kind} '{things[0].name}' does. Leave it out of the "
                "model and add its row J to Pinocchio's equations yourself, or use m.export(format='mjcf').",
                name=things[0].name,
            )


def _warn(system: System) -> None:
    """Pinocchio's models have no forces of their own."""
    lost = [f.name for f in compiled_of(system).forces]
    motors = [drive.joint for drive in system.description.drives if drive.kind == "dc_motor"]
    if lost:
        warnings.warn(
            f"Pinocchio: the model of '{system.description.name}' has no springs, dampers, friction, stops or loads, so not "
            f"{', '.join(lost)}. `effort(state)` contains their forces.",
            stacklevel=4,
        )
    if motors:
        warnings.warn(
            f"Pinocchio: the DC motors of {', '.join(motors)} are not in the model of '{system.description.name}'. Give their torques.",
            stacklevel=4,
        )


def _se3(pin: Any, X: Pose | Placement) -> Any:
    R, p = (X.R, X.p) if isinstance(X, Pose) else (X.rotation, X.at)
    return pin.SE3(np.asarray(R, float), np.asarray(p, float))


def _add_node(pin: Any, out: Any, system: System, i: int, where: dict[int, Any], placed: list[PinocchioJoint]) -> None:
    """The joint of a node; `where[i]` becomes (its last joint there, the body's placement in that joint)."""
    n = system.tree.nodes[i]
    joint, X = where[n.parent]
    X = X * _se3(pin, compiled_of(system).skel.X_PF[i])
    whole = is_free(n.joint) and not n.reversed
    chain: tuple[JointPiece | None, ...] = (None,) if whole else pieces(n.joint, n.reversed)
    for piece in chain:
        joint = out.addJoint(joint, _joint(pin, piece), X, n.joint.name if piece is None else piece.name)
        X = pin.SE3.Identity()
        jm = out.joints[joint]
        placed.append(PinocchioJoint(i, piece, slice(jm.idx_q, jm.idx_q + jm.nq), slice(jm.idx_v, jm.idx_v + jm.nv)))
    where[i] = (joint, X * _se3(pin, compiled_of(system).skel.X_CM[i]).inverse())


def _joint(pin: Any, piece: JointPiece | None) -> Any:
    if piece is None:
        return pin.JointModelFreeFlyer()
    if piece.kind == "ball":
        return pin.JointModelSpherical()
    if piece.kind == "screw":
        return pin.JointModelHelicalUnaligned(piece.axis, piece.pitch)
    if piece.kind == "turn":
        return pin.JointModelRevoluteUnaligned(piece.axis)
    return pin.JointModelPrismaticUnaligned(piece.axis)


def _add_body(pin: Any, out: Any, name: str, solid: Solid, where: Any) -> None:
    joint, X = where
    out.appendBodyToJoint(joint, pin.Inertia(solid.mass, solid.com, solid.inertia), X)
    out.addFrame(pin.Frame(name, joint, X, pin.FrameType.BODY))


def _constraint(pin: Any, out: Any, c: loops.Closing, bodies: Mapping[str, Any]) -> Any:
    (j1, X1), (j2, X2) = bodies[c.first], bodies[c.second]
    kind = pin.ContactType.CONTACT_6D if c.weld else pin.ContactType.CONTACT_3D
    made = pin.RigidConstraintModel(kind, out, j1, X1 * _se3(pin, c.at_first), j2, X2 * _se3(pin, c.at_second), pin.ReferenceFrame.LOCAL)
    made.name = c.name
    return made
