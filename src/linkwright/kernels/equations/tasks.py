"""Velocities of tasks in all coordinates of the spanning tree: bodies, points, the center of mass, in the world or a body's frame.

y' = T v,   y'' = T a + bias          of a body: angular velocity and velocity of its origin, world axes
                                      in a frame: d/dt of R'(p - p_frame) and R'(w - w_frame), R the axes of the frame's body
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.errors import UsageError, counted, nearest
from linkwright.mechanics.dynamics.tree import body_inertias
from linkwright.mechanics.kinematics.motion import Motion, Skeleton, body_jacobian, node_motion
from linkwright.numerics.spatial import array, cross, cross_wrench, point_acceleration, point_velocity, skew

if TYPE_CHECKING:
    from linkwright.model.description import Description

TWIST = ("wx", "wy", "wz", "vx", "vy", "vz")  # of a body: angular velocity, velocity of its origin
AXES = ("x", "y", "z")  # of a point
COM = "com"  # center of mass of all bodies
IN = " in "
NO_POINTS: Mapping[str, AddedPoint] = MappingProxyType({})


class TaskRow(NamedTuple):
    """One component of y'."""

    name: str
    body: str  # "" of the center of mass of all bodies
    point: str | None  # None: of the body itself
    row: int  # of its twist, or of the point's velocity
    frame: str = ""  # body whose axes and motion it is relative to; "" the world
    at: tuple[float, ...] | None = None  # of a point that the model does not name: its place on the body

    @property
    def placed(self) -> tuple[str, str | None, tuple[float, ...] | None]:
        """What moves: rows with the same have one pose in a frame."""
        return self.body, self.point, self.at

    @property
    def rotary(self) -> bool:
        return self.point is None and bool(self.body) and self.row < 3

    @property
    def needs_masses(self) -> bool:
        return not self.body


class AddedPoint(NamedTuple):
    """A point that a call adds to a body."""

    body: str
    at: tuple[float, ...]


def task_rows(description: Description, named: str | Sequence[str], points: Mapping[str, AddedPoint] = NO_POINTS) -> list[TaskRow]:
    """Components by name: `platform`, `platform.P`, one of them (`platform.wz`, `platform.P.x`), `com`, relative (`hand in trunk`), or a
    point that the call adds (`heel`, `heel.z`)."""
    names = [named] if isinstance(named, str) else list(named)
    if not names:
        raise UsageError(
            "operational space needs what moves in it: tasks='platform', or tasks=['platform.P', 'platform.wz'].", name="tasks"
        )
    rows = [row for name in names for row in _rows(description, str(name), points)]
    twice = sorted({r.name for r in rows if [x.name for x in rows].count(r.name) > 1})
    if twice:
        raise UsageError(f"tasks: '{twice[0]}' is named more than once.", name=twice[0])
    return rows


def enough_drives(rows: list[TaskRow], drives: int) -> list[TaskRow]:
    """Return the rows; raise UsageError where there are more of them than drives."""
    if len(rows) > drives:
        listed = ", ".join(row.name for row in rows)
        raise UsageError(
            f"{counted(len(rows), 'component')} ({listed}) cannot be moved freely by {drives} drives: name fewer of them.", name="tasks"
        )
    return rows


def _rows(d: Description, name: str, points: Mapping[str, AddedPoint]) -> list[TaskRow]:
    moved, _, frame = name.partition(IN)
    bodies = [b.name for b in d.bodies[1:]]
    if frame and frame not in bodies:
        raise UsageError(f"there is no moving body '{frame}' in '{name}'.", nearest(frame, bodies, "Bodies"))
    body, _, rest = moved.partition(".")
    end = f"{IN}{frame}" if frame else ""
    if body in points:
        own, at = points[body]
        every = [TaskRow(f"{body}.{x}{end}", own, body, i, frame, at) for i, x in enumerate(AXES) if not d.planar or x != "z"]
        body = own
    elif body == COM and body not in bodies:
        every = [TaskRow(f"{COM}.{x}{end}", "", None, i, frame) for i, x in enumerate(AXES) if not d.planar or x != "z"]
        body = ""
    elif body not in bodies:
        raise UsageError(f"there is no moving body '{body}' in '{name}'.", nearest(body, [*bodies, *points, COM], "Bodies"))
    elif not rest or rest in TWIST:
        every = [TaskRow(f"{body}.{x}{end}", body, None, i, frame) for i, x in enumerate(TWIST) if not d.planar or x in ("wz", "vx", "vy")]
    else:
        point, _, axis = rest.partition(".")
        d.body(body).point(point)
        every = [TaskRow(f"{body}.{point}.{x}{end}", body, point, i, frame) for i, x in enumerate(AXES) if not d.planar or x != "z"]
        rest = axis
    chosen = [row for row in every if not rest or row.name == name]
    if not chosen:
        raise UsageError(f"'{name}' is not a component here. Allowed are {', '.join(row.name for row in every)}.", name=name)
    if frame and frame == body:
        raise UsageError(f"'{name}': a body does not move in its own frame. Name another body's.", name=name)
    return chosen


class Momentum(NamedTuple):
    """Momentum of all bodies about their center of mass: h = A v, dh/dt = A a + rate; angular first."""

    A: Any  # (6, nv)
    rate: Any
    com: Any
    mass: Any


def momentum_rows(skel: Skeleton, m: Motion) -> Momentum:
    """The centroidal momentum matrix, its rate times v, and the center of mass."""
    nv = skel.tree.nv
    A, rate, mass, moment = np.zeros((6, nv)), np.zeros(6), 0.0, np.zeros(3)
    for i, (I, V, bias) in enumerate(zip(body_inertias(skel, m), m.V, m.A, strict=True)):
        part, change = I @ body_jacobian(skel, m, i), I @ bias + cross_wrench(V, I @ V)
        to_world = skew(skel.origins[i])
        A = A + np.concatenate([part[:3] + to_world @ part[3:], part[3:]])
        rate = rate + np.concatenate([change[:3] + to_world @ change[3:], change[3:]])
        mass, moment = mass + skel.mass[i], moment + skel.mass[i] * (m.X[i].point(skel.com[i]) + skel.origins[i])
    com = moment * (1.0 / mass)
    to_com = skew(com)
    A = np.concatenate([A[:3] - to_com @ A[3:], A[3:]])
    return Momentum(A, np.concatenate([rate[:3] - cross(com, rate[3:]), rate[3:]]), com, mass)


class _Placed(NamedTuple):
    """Place, velocity and bias acceleration of a task's point, and of the body's turning."""

    p: Any
    linear: Any  # (3, nv)
    velocity: Any
    acceleration: Any  # bias
    angular: Any
    w: Any
    alpha: Any


def task_motion(skel: Skeleton, m: Motion, rows: Sequence[TaskRow]) -> tuple[Any, Any]:
    """(T, bias) of these rows: their velocities are T v, their accelerations T a + bias."""
    placed: dict[Any, _Placed] = {}

    def at(body: str, point: str | None = None, place: Any = None) -> _Placed:
        if (body, point, place) not in placed:
            placed[body, point, place] = _center(skel, m) if not body else _point(skel, m, body, point, place)
        return placed[body, point, place]

    J, bias = [], []
    for row in rows:
        x = at(*row.placed)
        if row.frame:
            x = _relative(x, at(row.frame), node_motion(skel, m, skel.node(row.frame))[0].R)
        axis = row.row % 3
        J.append((x.angular if row.rotary else x.linear)[axis])
        bias.append((x.alpha if row.rotary else x.acceleration)[axis])
    return np.array(J).reshape(len(rows), skel.tree.nv), np.array(bias)


def _point(skel: Skeleton, m: Motion, body: str, point: str | None, place: Any = None) -> _Placed:
    i = skel.node(body)
    X, V, A = node_motion(skel, m, i)
    arm = X.p if point is None else X.point(_on_body(skel, body, point, place))
    T = body_jacobian(skel, m, i)
    linear = T[3:] - skew(arm) @ T[:3]
    return _Placed(arm + skel.origin(i), linear, point_velocity(V, arm), point_acceleration(V, A, arm), T[:3], V[:3], A[:3])


def _on_body(skel: Skeleton, body: str, point: str, place: Any) -> Any:
    return array(skel.tree.description.body(body).point(point).at) if place is None else np.array(place)


def poses_of(rows: Sequence[TaskRow]) -> dict[str, TaskRow]:
    """The first row of everything that has a pose, by the name of the task without its component."""
    out: dict[str, TaskRow] = {}
    for row in rows:
        name = (row.point if row.at is not None else f"{row.body}.{row.point}" if row.point else row.body) or COM
        out.setdefault(f"{name}{IN}{row.frame}" if row.frame else name, row)
    return out


def task_poses(skel: Skeleton, m: Motion, rows: Sequence[TaskRow]) -> dict[str, Any]:
    """R and p of everything in `poses_of`: axes of the body and position of the point, in the world or in the task's frame."""
    R, p = [], []
    for row in poses_of(rows).values():
        axes, at = np.eye(3), None
        if row.body:
            i = skel.node(row.body)
            X = node_motion(skel, m, i)[0]
            axes, at = X.R, (X.p if row.point is None else X.point(_on_body(skel, row.body, row.point, row.at))) + skel.origin(i)
        else:
            at = momentum_rows(skel, m).com
        if row.frame:
            i = skel.node(row.frame)
            F = node_motion(skel, m, i)[0]
            axes, at = F.R.T @ axes, F.R.T @ (at - F.p - skel.origin(i))
        R.append(axes)
        p.append(at)
    return {"pose_R": np.array(R).reshape(-1, 3, 3), "pose_p": np.array(p).reshape(-1, 3)} if R else {}


def _center(skel: Skeleton, m: Motion) -> _Placed:
    h = momentum_rows(skel, m)
    share, zero = 1.0 / h.mass, np.zeros(3)
    linear = h.A[3:] * share
    return _Placed(h.com, linear, linear @ np.asarray(m.v), h.rate[3:] * share, np.zeros((3, skel.tree.nv)), zero, zero)


def _relative(x: _Placed, f: _Placed, R: Any) -> _Placed:
    """The same as seen from a body with axes R: u = d/dt R'(p - p_f), R'(w - w_f), and their rates."""
    r, w = x.p - f.p, f.w
    v = x.velocity - f.velocity
    u = v - cross(w, r)
    du = x.acceleration - f.acceleration - cross(f.alpha, r) - cross(w, v) - cross(w, u)
    turning = x.w - w
    linear = R.T @ (x.linear - f.linear + skew(r) @ f.angular)
    return _Placed(
        R.T @ r, linear, R.T @ u, R.T @ du, R.T @ (x.angular - f.angular), R.T @ turning, R.T @ (x.alpha - f.alpha - cross(w, turning))
    )
