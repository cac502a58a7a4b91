"""Kernels of the motion channels of a page: third derivatives, and what is read of joints that are no part of the tree.

    derivatives   (q, v, a, third, t)  jerk of the tree's joints for the drives' third derivatives; `body` and `rate`: angular acceleration
                                       and acceleration of the origin of every body, and their rates; `beside`: coordinate, speed,
                                       acceleration and jerk of the coordinates `beside` the tree; `sides`: directions of push and lever
                                       at every transmission angle; `cams`: lift, pressure angle and curvature of every cam, and the
                                       follower's effort per unit of contact force
    speeds        (q, v)               `beside`: rates of the same coordinates, linear in v

The equations are those of `results.channels.driven_motion`, solved in the order of the plan. World axes. Bodies are in the order of the
tree's nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwright.kernels.equations.dynamic import Equations
from linkwright.mechanics.closing.idle_motions import idle_rows
from linkwright.mechanics.constraints.coupling import cam_of
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.effort_places import effort_place
from linkwright.mechanics.kinematics.skeleton import Skeleton
from linkwright.model.coordinates import Distance, JointCoordinate, coordinates
from linkwright.numerics.scalars import eliminate
from linkwright.numerics.spatial import point_acceleration


def beside(skel: Skeleton) -> list[JointCoordinate | Distance]:
    """Return the coordinates that are not entries of q: those of joints that are cut, and lengths of cylinders."""
    tree = skel.tree
    return [x for x in coordinates(tree.description) if isinstance(x, Distance) or x.joint.name not in tree.node_of_joint]


def speeds(eq: Equations, q: Any, v: Any, near: Any) -> dict[str, Any]:
    skel = eq.loops.skel
    x = Instant(skel, q, v, 0.0, skel.unpack(q, near))
    return {"beside": np.array([x.travel_rate(c) for c in beside(skel)])}


def derivatives(eq: Equations, q: Any, v: Any, a: Any, third: Any, t: Any, near: Any) -> dict[str, Any]:
    skel = eq.loops.skel
    x = Instant(skel, q, v, t[0], skel.unpack(q, near), a)
    j = _jerk(eq, x, third)
    rows = []
    for c in beside(skel):
        rows.append([x.travel(c), x.travel_rate(c), x.travel_acceleration(c), x.rate(lambda y, c=c: y.travel_acceleration(c), j)])
    return {
        "jerk": j,
        "body": _body_accelerations(x),
        "rate": x.rate(_body_accelerations, j),
        "beside": np.array(rows).reshape(-1, 4),
        "sides": np.array([p.sides(x) for p in skel.transmission.passings]).reshape(-1, 4),
        "cams": np.array([_cam(x, c.name) for c in skel.tree.description.cams]).reshape(-1, 4),
    }


def _cam(x: Instant, name: str) -> list[Any]:
    cam = cam_of(x.skel, name)
    q = x.coordinates(cam.first)[0]
    found = cam.at(q)
    return [cam.lift(q), cam.pressure_angle(found), cam.curvature(found), found.work]


def _body_accelerations(x: Instant) -> Any:
    """(bodies, 6): angular acceleration and acceleration of the origin."""
    m = x.motion
    rows: Sequence[Any] = [np.concatenate([A[:3], point_acceleration(m.V[i], A, m.X[i].p)]) for i, A in enumerate(x.A)]
    return np.array(rows).reshape(-1, 6)


def _jerk(eq: Equations, x: Instant, third: Any) -> Any:
    """j of A j = [0; third] - d/dt [J a + k; accelerations of the drives] with a held."""
    d, nc, nv = x.skel.tree.description, x.skel.tree.nc, x.skel.tree.nv
    places = [p for p in (effort_place(d, name) for name in eq.drives) if p is not None]

    def accelerations(y: Instant) -> Any:
        c = eq.loops.at(y.q, y.v, y.t, y.references, y.motion)
        return np.concatenate([np.asarray(c.J) @ y.known_a + c.k, [p.acceleration(y) for p in places if p.acceleration is not None]])

    chosen = [*(range(nc) if eq.plan.keep is None else eq.plan.keep), *range(nc, nc + len(places))]
    J = np.concatenate([np.asarray(eq.loops.at(x.q, x.v, x.t, x.references, x.motion).J), *(p.rows(x) for p in places)])
    needed = np.concatenate([np.zeros(nc), third]) - x.rate(accelerations, np.zeros(nv))
    idle = idle_rows(eq.plan, x.skel, x.motion).rows
    j, _ = eliminate(np.concatenate([J[chosen], idle]), np.concatenate([needed[chosen], np.zeros(len(idle))]), eq.plan.orders["kinematics"])
    return j
