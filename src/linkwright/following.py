"""A mechanism along a prescribed motion of drives, points or bodies: "platform path in, drive efforts out".

Every sample is walked to from the one before, so the branch is kept; velocities and accelerations are completed on the
loops. A path is a function of t or an array over the samples. A scalar path may return (f, f', f'') itself, which is exact;
otherwise rates come from a quintic spline through the samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from linkwright.assembly import Assembler
from linkwright.constraints import Constraint, Rows
from linkwright.constraints.target import rotation_vector_between
from linkwright.errors import UsageError
from linkwright.kinematics import Motion, Skeleton, locate_at, node_motion
from linkwright.results import Trajectory
from linkwright.spatial import Pose, skew
from linkwright.state import State


@dataclass(frozen=True)
class Wish:
    """What one named thing should do over the samples: values and two derivatives."""

    name: str
    kind: str  # "joint", "point", "body"
    value: np.ndarray  # (n,), (n, 3), or for bodies (n, 3) positions
    rate: np.ndarray  # (n, rows): speeds, or for bodies [w; v]
    second: np.ndarray
    rotations: tuple[np.ndarray, ...] = ()


@dataclass(frozen=True)
class BodyMotion:
    """Reads a body's angular velocity and the velocity of its origin (in a plane: the three that matter)."""

    body: str
    planar: bool
    labels: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.body

    @property
    def kinds(self) -> tuple[str, ...]:
        return ("angle", "length", "length") if self.planar else ("angle",) * 3 + ("length",) * 3

    def rows(self, skel: Skeleton, m: Motion, v: Any, t: Any, near: Any) -> Rows:
        node = skel.node(self.body)
        p = locate_at(skel, m, node, np.zeros(3))
        G = np.concatenate([np.concatenate([np.eye(3), np.zeros((3, 3))], axis=1), np.concatenate([-skew(p.arm), np.eye(3)], axis=1)])
        k = np.concatenate([node_motion(skel, m, node)[2][:3], p.acceleration])
        pick = [2, 3, 4] if self.planar else list(range(6))
        return Rows(np.zeros(len(pick)), [(node, G[pick])], k[pick], np.zeros(len(pick)))


def follow(assembler: Assembler, start: State, motion: Mapping[str, Any], t: Sequence[float] | np.ndarray) -> Trajectory:
    """States along the motion; the first one is walked to from `start`."""
    times = np.asarray(t, dtype=float)
    if times.ndim != 1 or len(times) < 6 or not np.all(np.diff(times) > 0):
        raise UsageError("the times of a motion must be at least six increasing numbers.")
    wishes = [_wish(assembler, start, name, path, times) for name, path in motion.items()]
    rows, here = [], start
    for i, time in enumerate(times):
        q = {w.name: float(w.value[i]) for w in wishes if w.kind == "joint"}
        flat = 2 if assembler.description.planar else 3
        point = {w.name: w.value[i][:flat] for w in wishes if w.kind == "point"}
        pose = {w.name: Pose(w.rotations[i], w.value[i]) for w in wishes if w.kind == "body"}
        here = assembler.assemble(q, pose=pose, point=point, guess=here)
        readers = [_reader(assembler, here, w) for w in wishes]
        v = assembler.rates(here, readers, [w.rate[i] for w in wishes])
        moving = State(assembler.skel, here.q, v, here.near, float(time))
        a = assembler.rates(moving, readers, [w.second[i] for w in wishes], second=True)
        rows.append((here.q, v, a, here.near))
    q_all, v_all, a_all, near = (list(column) for column in zip(*rows, strict=True))
    return Trajectory(assembler.skel, times - times[0], np.array(q_all), np.array(v_all), np.array(a_all), near)


def _reader(assembler: Assembler, st: State, w: Wish) -> Constraint:
    if w.kind == "body":
        return BodyMotion(w.name, assembler.description.planar)
    return assembler.reader(w.name, st)


def _wish(assembler: Assembler, start: State, name: str, path: Any, t: np.ndarray) -> Wish:
    bodies = {b.name for b in assembler.description.bodies}
    if name in bodies and name not in {j.name for j in assembler.description.joints}:
        return _body_wish(assembler, start, name, path, t)
    kind = "point" if name.split(".")[0] in bodies and "." in name else "joint"
    samples = [path(float(x)) for x in t] if callable(path) else list(path)
    if len(samples) != len(t):
        raise UsageError(f"the path of '{name}' has {len(samples)} samples for {len(t)} times.")
    if kind == "joint" and isinstance(samples[0], tuple) and len(samples[0]) == 3:
        values = np.array(samples, dtype=float)
        return Wish(name, kind, values[:, 0], values[:, 1:2], values[:, 2:3])
    values = np.array(samples, dtype=float)
    f, df, ddf = _splined(t, values)
    if kind == "joint":
        return Wish(name, kind, f, df[:, None], ddf[:, None])
    return Wish(name, kind, f, df, ddf)


def _body_wish(assembler: Assembler, start: State, name: str, path: Callable[[float], Any] | Sequence[Any], t: np.ndarray) -> Wish:
    """Position by a spline, attitude by polynomials of the rotation vector around each sample."""
    poses = [assembler.pose_value(name, p) for p in ([path(float(x)) for x in t] if callable(path) else path)]
    if len(poses) != len(t):
        raise UsageError(f"the path of '{name}' has {len(poses)} samples for {len(t)} times.")
    p, dp, ddp = _splined(t, np.array([x.p for x in poses]))
    spins = [_spin(t, poses, i) for i in range(len(t))]
    pick = [2, 3, 4] if assembler.description.planar else list(range(6))
    rate = np.concatenate([np.array([s[0] for s in spins]), dp], axis=1)[:, pick]
    second = np.concatenate([np.array([s[1] for s in spins]), ddp], axis=1)[:, pick]
    return Wish(name, "body", p, rate, second, tuple(x.R for x in poses))


def _spin(t: np.ndarray, poses: Sequence[Pose], i: int) -> tuple[np.ndarray, np.ndarray]:
    """Angular velocity and acceleration at sample i: derivatives of the rotation vector seen from there, by the polynomial
    through the seven nearest samples. (At zero rotation vector its second derivative is the angular acceleration.)"""
    first = int(np.clip(i - 3, 0, max(0, len(t) - 7)))
    near = range(first, min(first + 7, len(t)))
    turns = np.array([rotation_vector_between(poses[i].R, poses[k].R) for k in near])
    span = t[near[-1]] - t[near[0]]
    V = np.vander((t[list(near)] - t[i]) / span, increasing=True)
    c = np.linalg.solve(V, turns)
    return c[1] / span, 2.0 * c[2] / span**2


def _splined(t: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values with first and second derivative of the quintic spline through them."""
    spline = import_module("scipy.interpolate").make_interp_spline(t, values, k=5)
    return values, spline.derivative(1)(t), spline.derivative(2)(t)
