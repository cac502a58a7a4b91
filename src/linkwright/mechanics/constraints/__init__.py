"""Constraints besides the tree's joints: one file each, all with one shape.

A constraint is a frozen object made once from the skeleton; `rows(skel, m, v, t, references)` returns its
residual and derivatives at a motion:

    phi   residual, zero when satisfied
    G     [(node, (n, 6)), ...]: d phi/dt = sum of G V over those bodies + b; a multiplier lam acts
          on each body as the wrench G' lam (at the body's subsystem origin)
    k     second derivative of phi at zero joint accelerations
    b     d phi/dt at fixed q (prescribed motion), else zeros

J = sum of G times the bodies' Jacobians, so `phi' = J v + b` and `(J v + b)' = J a + k` hold exactly,
also where the loop is open. `references` maps joint names to reference coordinates: angles of cut joints
are unwrapped toward them, so turns are counted. Adding a kind: one file, one line in `CONSTRAINTS`.
"""

from __future__ import annotations

from typing import Any

from linkwright.mechanics.constraints.base import Constraint, ConstraintRows
from linkwright.mechanics.constraints.belt import BeltConstraint
from linkwright.mechanics.constraints.coupling import CouplingConstraint
from linkwright.mechanics.constraints.cut_joint import CutJoint
from linkwright.mechanics.constraints.driver import DrivenDistance, Driver
from linkwright.mechanics.constraints.gear import GearConstraint
from linkwright.mechanics.constraints.rod import RodConstraint
from linkwright.mechanics.constraints.target import PointTarget, PoseTarget
from linkwright.mechanics.kinematics.motion import Motion, Skeleton

# kind of a Loop, `constraint` of an element -> the constraint made of it
CONSTRAINTS: dict[str, Any] = {
    "joint": CutJoint.of,
    "rod": RodConstraint.of,
    "coupling": CouplingConstraint.of,
    "gear": GearConstraint.of,
    "belt": BeltConstraint.of,
}


def workless_wrenches(c: Constraint, skel: Skeleton, m: Motion, rows: ConstraintRows, lam: Any, references: Any) -> list[tuple[int, Any]]:
    """Wrenches of a constraint on bodies beyond those of its rows, without work: teeth press wheels apart, cams act at their contact,
    belts have a pretension."""
    if isinstance(c, GearConstraint):
        return c.separating_force(skel, m, lam)
    if isinstance(c, BeltConstraint):
        return c.workless_wrenches(skel, m, lam)
    if isinstance(c, CouplingConstraint) and c.cam is not None:
        return c.cam.contact_wrenches(skel, m, c.coordinate(skel, m, references), rows, lam)
    return []


def acting_point(c: Constraint, skel: Skeleton, m: Motion, references: Any) -> Any:
    """The world point at which the bodies of a constraint touch: pitch point of gears, contact of a cam; None of others."""
    if isinstance(c, GearConstraint):
        return c.pitch_point(skel, m)[0]
    if isinstance(c, CouplingConstraint) and c.cam is not None:
        return c.cam.world(skel, m, c.coordinate(skel, m, references))[0]
    return None


__all__ = [
    "CONSTRAINTS",
    "Constraint",
    "ConstraintRows",
    "DrivenDistance",
    "Driver",
    "PointTarget",
    "PoseTarget",
    "RodConstraint",
    "acting_point",
    "workless_wrenches",
]
