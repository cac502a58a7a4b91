"""Equations of motion in operational space: in the velocities y' of a body or a point instead of the drives' coordinates x.

With y' = J x' and the reduced equations M x'' + h = u,

    Lambda y'' + mu = F        Lambda = (J M^-1 J')^-1,  mu = Lambda (J M^-1 h - Jdot x')

where u = J' F gives the drives' torques and forces that act on y like the force F there. Jbar = M^-1 J' Lambda is the dynamically
consistent inverse: motions of the drives outside of it do not accelerate y.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.errors import UsageError, nearest
from linkwright.kernels.equations.kinematic import largest
from linkwright.mechanics.kinematics.motion import accelerations, body_jacobian, motion
from linkwright.numerics.scalars import eliminate, minimum
from linkwright.numerics.spatial import array, cross, point_acceleration

if TYPE_CHECKING:
    from linkwright.kernels.equations.dynamic import Equations
    from linkwright.model.description import Description

TWIST = ("wx", "wy", "wz", "vx", "vy", "vz")  # of a body: angular velocity, velocity of its origin, world axes
AXES = ("x", "y", "z")  # of a point
DEPENDENT = 1e-10  # share of its diagonal entry below which a pivot of J M^-1 J' says that the rows of J depend on each other
AT_REST = 1e-12  # the same of what drives move at most: 1e-6 of its velocity


class TaskRow(NamedTuple):
    """One component of y'."""

    name: str
    body: str
    point: str | None  # None: of the body itself
    row: int  # of its twist, or of the point's velocity


def task_rows(description: Description, named: str | Sequence[str]) -> list[TaskRow]:
    """Components of bodies and points by name: `platform`, `platform.P`, or one of them, `platform.wz`, `platform.P.x`."""
    names = [named] if isinstance(named, str) else list(named)
    if not names:
        raise UsageError("operational space needs what moves in it: tasks='platform', or tasks=['platform.P', 'platform.wz'].")
    return [row for name in names for row in _rows(description, name)]


def _rows(d: Description, name: str) -> list[TaskRow]:
    body, _, rest = name.partition(".")
    bodies = [b.name for b in d.bodies[1:]]
    if body not in bodies:
        raise UsageError(f"there is no moving body '{body}' in '{name}'. {nearest(body, bodies, 'Bodies')}")
    if not rest or rest in TWIST:
        every = [TaskRow(f"{body}.{x}", body, None, i) for i, x in enumerate(TWIST) if not d.planar or x in ("wz", "vx", "vy")]
    else:
        point, _, axis = rest.partition(".")
        d.body(body).point(point)
        every = [TaskRow(f"{body}.{point}.{x}", body, point, i) for i, x in enumerate(AXES) if not d.planar or x != "z"]
        rest = axis
    chosen = [row for row in every if not rest or row.name == name]
    if not chosen:
        raise UsageError(f"'{name}' is not a component here; allowed are {', '.join(row.name for row in every)}.")
    return chosen


def operational(eq: Equations, q: Any, v: Any, t: Any, near: Any, rows: Sequence[TaskRow]) -> dict[str, Any]:
    """Lambda, mu, J, `rate` (Jdot x') and Jbar of these components."""
    skel = eq.loops.skel
    reduced = eq.reduced(q, v, t, near)
    m = motion(skel, q, v)
    spatial = accelerations(skel, m, reduced["a"])  # with drives that do not accelerate
    twists: dict[str, tuple[Any, Any]] = {}
    J, rate = [], []
    for row in rows:
        i = skel.node(row.body)
        if row.body not in twists:
            twists[row.body] = body_jacobian(skel, m, i) @ reduced["S"], spatial[i]
        T, A = twists[row.body]
        at = np.zeros(3) if row.point is None else array(skel.tree.description.body(row.body).point(row.point).at)
        place = m.X[i].p + m.X[i].R @ at
        if row.point is None and row.row < 3:
            J.append(T[row.row])
            rate.append(A[row.row])
            continue
        axis = row.row if row.point is not None else row.row - 3
        J.append(np.array([x[3 + axis] + cross(x[:3], place)[axis] for x in T.T]))
        rate.append(point_acceleration(m.V[i], A, place)[axis])
    kinds = np.array([1.0 if row.point is None and row.row < 3 else eq.loops.kappa for row in rows])
    moved = np.array([largest(column / eq.loops.columns) for column in reduced["S"].T])  # how far each drive moves anything
    return _inverted(np.array(J).reshape(len(rows), -1), np.array(rate), reduced, kinds, moved)


def _inverted(J: Any, rate: Any, reduced: dict[str, Any], kinds: np.ndarray, moved: Any) -> dict[str, Any]:
    """Lambda and the rest from J, Jdot x' and the reduced equations; M and J M^-1 J' are positive definite where rows are independent."""
    inverse, _ = eliminate(reduced["M"], np.eye(len(moved), dtype=reduced["M"].dtype))
    mobility = J @ inverse @ J.T
    Lambda, pivots = eliminate(mobility, np.eye(len(J), dtype=mobility.dtype))
    most = sum(moved[i] * moved[i] * inverse[i, i] for i in range(len(moved)))  # of a component of size 1 that follows every drive
    margin: Any = reduced["margin"][0]
    for k, pivot in enumerate(pivots):
        margin = minimum(margin, pivot / (DEPENDENT * mobility[k, k]) - 1.0)
        margin = minimum(margin, pivot / (AT_REST * kinds[k] ** 2 * most) - 1.0)
    mu = Lambda @ (J @ (inverse @ reduced["h"]) - rate)
    return {"Lambda": Lambda, "mu": mu, "J": J, "rate": rate, "Jbar": inverse @ J.T @ Lambda, "margin": np.array([margin])}
