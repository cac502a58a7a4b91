"""Regressor of drive torques and forces: exact columns of everything that enters them linearly, at a known motion.

With the velocities of the bodies per unit speed of each drive (kernel `jacobian`) the principle of virtual power gives, per body,

    u_d = twist_d' [ mc x (a - g) + I_O alpha + w x I_O w ;  m (a - g) + alpha x mc + w x (w x mc) ]

linear in theta = (m, mc, I_O), the inertia about the body's own origin. Friction, armatures and gains of joints and drives are further
columns. `rest` has what is not sought: springs, dampers, loads, and everything of bodies that are taken as known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import (
    JOINTS,
    Description,
    System,
    Trajectory,
    UsageError,
    compiled_of,
    counted,
    degrees_of_freedom,
    description,
    inertia_regressor,
    is_hinge,
    is_rotary,
    records,
)

KINDS = ("coulomb", "viscous", "load")
SMOOTH = 0.01  # speed below which friction of new joints is smoothed, rad/s or m/s
_PAIRS = {"Ixx": (0, 0), "Iyy": (1, 1), "Izz": (2, 2), "Ixy": (0, 1), "Ixz": (0, 2), "Iyz": (1, 2)}

POSITIONS, NEARBY = 60, 0.3  # random positions of the drives, and how far from the start: rad, or characteristic lengths


@dataclass(frozen=True)
class RegressorColumn:
    """One unknown: `owner` a body, joint or drive, `kind` its parameter (m, mx, .., Izz, coulomb, viscous, load, armature)."""

    owner: str
    kind: str
    model: float  # value in the model

    @property
    def name(self) -> str:
        return f"{self.owner}.{self.kind}"


@dataclass(frozen=True)
class Sought:
    """Unknowns of an identification: bodies, kinds of friction by joint, joints with armature."""

    bodies: tuple[str, ...]
    friction: Mapping[str, tuple[str, ...]]
    armature: tuple[str, ...]


@dataclass(frozen=True)
class Regressor:
    """u = W theta + rest at the samples of a motion; rows are drives."""

    columns: tuple[RegressorColumn, ...]
    drives: tuple[str, ...]
    W: np.ndarray  # (samples, drives, columns)
    rest: np.ndarray  # (samples, drives)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(c.name for c in self.columns)

    @property
    def model(self) -> np.ndarray:
        """Values of all columns in the model."""
        return np.array([c.model for c in self.columns])

    def efforts(self, theta: Any) -> np.ndarray:
        """(samples, drives): drive torques and forces of these values."""
        return self.W @ np.asarray(theta, dtype=float) + self.rest


def need_drives(system: System) -> None:
    """Raise UsageError unless there are as many drives as degrees of freedom."""
    drives, freedoms = tuple(compiled_of(system).drive_names), system.mobility.freedoms
    if len(drives) != freedoms:
        raise UsageError(
            f"'{system.description.name}' has {degrees_of_freedom(freedoms)} and {counted(len(drives), 'drive')} "
            f"({', '.join(drives) or 'none'}): "
            "torques follow from a motion only if there are as many drives. Name as many in the model.",
            name=system.description.name,
        )


def regressor(system: System, c: Trajectory, sought: Sought) -> Regressor:
    """Return the regressor at the samples of a motion with as many drives as degrees of freedom."""
    x, acceleration = (np.stack([c[f"{name}.{tail}"] for name in compiled_of(system).drive_names], axis=1) for tail in ("v", "a"))
    motion = TwistHistory.of(system, c.t, c.q, c.v, x, acceleration, records.cut_rows(c.skel, c.references))
    loads = {j: np.reshape(c[f"{j}.load"], (len(c), -1)) for j, kinds in sought.friction.items() if "load" in kinds}
    columns, W = motion.columns(sought, loads)
    u = np.stack([c[f"{name}.{'torque' if is_rotary(system.description, name) else 'force'}"] for name in motion.drives], axis=1)
    return Regressor(columns, motion.drives, W, u - W @ np.array([x.model for x in columns]))


def possible_columns(system: System, sought: Sought) -> np.ndarray | None:
    """Stacked regressor of random positions near the start, speeds and accelerations, which excite whatever a motion can; None where fewer
    than half of the positions can be taken."""
    rng, d, drives = np.random.default_rng(0), system.description, list(compiled_of(system).drive_names)
    sizes = np.array([1.0 if is_rotary(d, n) else float(compiled_of(system).loops.kappa) for n in drives])
    x0 = np.array([float(system.start[n]) for n in drives])
    x, v, a = (sizes * rng.uniform(-1.0, 1.0, (POSITIONS, len(drives))) * size for size in (NEARBY, 1.0, 1.0))
    found = system.assemble_batch(dict(zip(drives, (x0 + x).T, strict=True)), dict(zip(drives, v.T, strict=True)))
    ok = np.flatnonzero(found.ok)
    if len(ok) < POSITIONS // 2:
        return None
    near = np.zeros((len(x), 0)) if found.near is None else np.asarray(found.near).reshape(len(x), -1)
    try:
        motion = TwistHistory.of(system, np.zeros(len(ok)), np.asarray(found.q)[ok], np.asarray(found.v)[ok], v[ok], a[ok], near[ok])
    except UsageError:  # a singular position among them
        return None
    loads = {j: rng.uniform(1.0, 2.0, (len(ok), 1)) for j, kinds in sought.friction.items() if "load" in kinds}
    columns, W = motion.columns(sought, loads)
    return W.reshape(-1, len(columns))


def model_friction(d: Description, joint: str, kind: str) -> float:
    """A number of the friction of a joint in the model; zero where it has none."""
    f = friction_of(d, joint)
    return 0.0 if f is None else float(f.mu * f.radius if kind == "load" else getattr(f, kind))


def frictions_of(d: Description) -> list[description.Friction]:
    """Everything with a part that grows with the load of its joint: friction."""
    return [x for x in d.acting if x.by_load]


def friction_of(d: Description, joint: str) -> description.Friction | None:
    """The friction of a joint in the model."""
    return next((f for f in frictions_of(d) if f.joint == joint), None)


@dataclass(frozen=True)
class TwistHistory:
    """Velocities per unit speed of each drive, and velocities and accelerations of all bodies, over the samples of a motion."""

    system: System
    drives: tuple[str, ...]
    S: np.ndarray  # (n, nv, drives): velocities of the tree per unit speed of each drive
    twist: np.ndarray  # (n, nodes, 6, drives), [angular; of the origin], world axes
    R: np.ndarray  # (n, nodes, 3, 3)
    speed: np.ndarray  # (n, drives)
    acceleration: np.ndarray  # (n, drives)
    V: np.ndarray  # (n, nodes, 6)
    A: np.ndarray  # (n, nodes, 6), acceleration of the origin without gravity

    @classmethod
    def of(
        cls, system: System, t: np.ndarray, q: np.ndarray, v: np.ndarray, speed: np.ndarray, acceleration: np.ndarray, near: np.ndarray
    ) -> TwistHistory:
        """The motion of states on the loops with these speeds and accelerations of the drives; `near`: of cut joints."""
        drives = tuple(compiled_of(system).drive_names)
        J, rate = system.kernel("jacobian"), system.kernel("jacobian_rate")

        def more(kernel: Any) -> dict[str, Any]:
            return {"near": near} if any(b.name == "near" for b in kernel.inputs) else {}

        at, bias = J(q, **more(J)), rate(q, v, **more(rate))
        failed = {**at.failed, **bias.failed}
        if failed:
            raise UsageError(
                f"the drives cannot hold the mechanism at {counted(len(failed), 'sample')} (first: t = {t[min(failed)[0]]:g} "
                "s): a singular position. "
                "Leave these samples out.",
                name="drives",
            )
        V = np.einsum("nbid,nd->nbi", at.twist, speed)
        A = np.einsum("nbid,nd->nbi", at.twist, acceleration) + bias.rate
        return cls(system, drives, at.v, at.twist, at.R, speed, acceleration, V, A)

    def columns(self, sought: Sought, loads: Mapping[str, np.ndarray]) -> tuple[tuple[RegressorColumn, ...], np.ndarray]:
        """All unknowns and their columns, (samples, drives, unknowns); `loads` has the reactions of joints with friction by load."""
        d, parts, columns = self.system.description, [np.zeros((*self.speed.shape, 0))], []
        names = inertia_regressor.labels(d.planar)
        for body in sought.bodies:
            parts.append(self.inertia_columns(body, names))
            columns += [
                RegressorColumn(body, n, float(x)) for n, x in zip(names, inertia_regressor.of_body(d.body(body), names), strict=True)
            ]
        for joint, kinds in sought.friction.items():
            parts.append(self.friction_columns(joint, kinds, loads.get(joint)))
            columns += [RegressorColumn(joint, kind, model_friction(d, joint, kind)) for kind in kinds]
        for joint in sought.armature:
            parts.append(self.armature_column(joint))
            columns.append(RegressorColumn(joint, "armature", float(d.joint(joint).armature)))
        return tuple(columns), np.concatenate(parts, axis=2)

    def inertia_columns(self, body: str, names: Sequence[str]) -> np.ndarray:
        """(n, drives, names): efforts of each unit parameter of a body."""
        k = compiled_of(self.system).skel.node(body)
        w, al, R = self.V[:, k, :3], self.A[:, k, :3], self.R[:, k]
        a = self.A[:, k, 3:] - np.asarray(compiled_of(self.system).skel.gravity, dtype=float)
        out = []
        for name in names:
            F, N = np.zeros_like(a), np.zeros_like(a)
            if name == "m":
                F = a
            elif name in _PAIRS:
                i, j = _PAIRS[name]
                E = np.zeros((3, 3))
                E[i, j] = E[j, i] = 1.0
                I = R @ E @ R.transpose(0, 2, 1)
                N = np.einsum("nij,nj->ni", I, al) + np.cross(w, np.einsum("nij,nj->ni", I, w))
            else:
                e = R[:, :, "xyz".index(name[1])]
                F, N = np.cross(al, e) + np.cross(w, np.cross(w, e)), np.cross(e, a)
            out.append(np.einsum("nid,ni->nd", self.twist[:, k], np.concatenate([N, F], axis=1)))
        return np.stack(out, axis=2)

    def friction_columns(self, joint: str, kinds: Sequence[str], load: np.ndarray | None) -> np.ndarray:
        """(n, drives, kinds): smooth Coulomb, viscous, and Coulomb by the load of the joint at this motion."""
        S = self.joint_row(joint)
        v = np.einsum("nd,nd->n", S, self.speed)
        f = friction_of(self.system.description, joint)
        smooth = np.tanh(v / SMOOTH) if f is None else f.falling(v) * np.tanh(v / float(f.smooth_speed))
        laws = {"coulomb": smooth, "viscous": v, "load": smooth}
        if load is not None:
            laws["load"] = smooth * np.linalg.norm(load, axis=1)
        return np.stack([S * laws[kind][:, None] for kind in kinds], axis=2)

    def armature_column(self, joint: str) -> np.ndarray:
        """(n, drives, 1): effort of a unit inertia that moves with a drive."""
        return (self.joint_row(joint) * self.acceleration[:, [self.drives.index(joint)]])[:, :, None]

    def joint_row(self, joint: str) -> np.ndarray:
        """(n, drives): rate of a joint per unit speed of each drive."""
        names, d = list(self.system.names.v), self.system.description
        if joint in self.drives:
            return np.tile(np.eye(len(self.drives))[self.drives.index(joint)], (len(self.S), 1))
        if joint in names:
            return self.S[:, names.index(joint)]
        j = d.joint(joint)
        if not is_hinge(JOINTS[j.type]):
            raise UsageError(
                f"friction of '{joint}': a {j.type} joint that closes a loop is not identified. Choose other cuts (`cuts:` in the model), "
                "or leave it out.",
                name=joint,
            )
        first, second = compiled_of(self.system).skel.node(j.first), compiled_of(self.system).skel.node(j.second)
        still = np.zeros_like(self.twist[:, 0])
        one, two = (still if k < 0 else self.twist[:, k] for k in (first, second))
        R = np.tile(np.eye(3), (len(self.S), 1, 1)) if first < 0 else self.R[:, first]
        axis = R @ np.asarray(j.frame_first.rotation, dtype=float)[:, 2]
        return np.einsum("ni,nid->nd", axis, two[:, :3] - one[:, :3])
