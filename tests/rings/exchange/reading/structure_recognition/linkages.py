"""A four-bar as other programs give it: a tree of hinges, and closures as points or welds. Closed in the drawn position."""

from __future__ import annotations

import numpy as np

from linkwright.model.description import GROUND, Body, Description, Joint, Placement, Vec3

C_COUPLER, C_ROCKER = (0.7, 0.3, 0.0), (-0.1, 0.6, 0.0)  # the closing point on either body


def rod(name: str, along: Vec3, mass: float, at: Vec3) -> Body:
    """A rod from the origin of its frame, slightly thick."""
    r = np.array(along)
    inertia = mass / 12.0 * (r @ r * np.eye(3) - np.outer(r, r)) + 1e-4 * mass * np.eye(3)
    rows = tuple(tuple(float(x) for x in row) for row in inertia)
    return Body(name, (), mass, tuple(0.5 * x for x in along), rows, Placement(at))


def about_x(angle: float) -> tuple[Vec3, Vec3, Vec3]:
    c, s = float(np.cos(angle)), float(np.sin(angle))
    return ((1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c))


def tree(tilt: float = 0.0) -> tuple[tuple[Body, ...], tuple[Joint, ...]]:
    """Ground, crank, coupler and rocker on the hinges A, B and D; the axis of B may be tilted."""
    bodies = (
        Body(GROUND),
        rod("crank", (0.0, 0.3, 0.0), 0.3, (0.0, 0.0, 0.0)),
        rod("coupler", C_COUPLER, 0.9, (0.0, 0.3, 0.0)),
        rod("rocker", C_ROCKER, 0.8, (0.8, 0.0, 0.0)),
    )
    joints = (
        Joint("A", "revolute", GROUND, "crank"),
        Joint("B", "revolute", "crank", "coupler", Placement((0.0, 0.3, 0.0), about_x(tilt)), Placement((0.0, 0.0, 0.0), about_x(tilt))),
        Joint("D", "revolute", GROUND, "rocker", Placement((0.8, 0.0, 0.0))),
    )
    return bodies, joints


def closure(name: str, kind: str, shift: Vec3 = (0.0, 0.0, 0.0)) -> Joint:
    """A joint between coupler and rocker, `shift` from the closing point on both."""
    first, second = (tuple(a + b for a, b in zip(at, shift, strict=True)) for at in (C_COUPLER, C_ROCKER))
    return Joint(name, kind, "coupler", "rocker", Placement(first), Placement(second))


def four_bar(*closures: Joint, tilt: float = 0.0) -> Description:
    bodies, joints = tree(tilt)
    return Description("four-bar", bodies, (*joints, *closures), gravity=(0.0, -9.81, 0.0))


def planar_four_bar() -> Description:
    """The same mechanism as a model in the plane."""
    bodies, joints = tree()
    return Description("four-bar", bodies, (*joints, closure("C", "revolute")), gravity=(0.0, -9.81, 0.0), plane="xy")
