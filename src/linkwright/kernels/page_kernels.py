"""Small kernels that pages need beside those of `tracing`: what each body does, what acts on it, and on which branch it is.

    twists     (q, v)               w, u: angular velocity of every moving body and velocity of its origin
    bodies     (q, v, a)            com, force, moment, weight: center of mass, m a, rate of angular momentum about the center
    acting     (q, v, u, lam)       rows [moment, force, point] of drives, springs, loads, gears and rods on bodies; see `acting_on`
    efforts    (q, u)               tau: what the drives' efforts u are in the tree's coordinates
    flow       (q, v)               power: put in by loads and given forces, lost in dampers, friction and stops
    branch     (q)                  determinant of the driven closing conditions, scaled: its sign changes only in singular positions
    derivatives, speeds             motion channels: see `page_motion`

All of them are functions of the planned `Equations` over any scalar. World axes; bodies in the order of the tree's nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwright.kernels import page_motion
from linkwright.kernels.equations.dynamic import Equations
from linkwright.mechanics import forces
from linkwright.mechanics.closing.idle_motions import idle_rows, let_go
from linkwright.mechanics.constraints import DrivenDistance, acting_point, workless_wrenches
from linkwright.mechanics.constraints.belt import BeltConstraint
from linkwright.mechanics.constraints.driver import driven
from linkwright.mechanics.constraints.loops import Closure
from linkwright.mechanics.constraints.rod import RodConstraint
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.problem import unit_pushes
from linkwright.mechanics.kinematics.motion import Motion, accelerations, locate, motion, node_motion, pose_of
from linkwright.model.coordinates import lengths
from linkwright.model.curves.polynomial import Parabola
from linkwright.numerics.scalars import eliminate
from linkwright.numerics.spatial import cross, cross_wrench


class TracedKernel(NamedTuple):
    """A kernel that is traced only when it is exported: function(equations, *inputs, near), inputs by name."""

    function: Callable[..., Mapping[str, Any]]
    inputs: tuple[str, ...]
    masses: bool = False  # it needs them
    solve: str = "sslm"  # whose plan of elimination it uses


class AppliedWrench(NamedTuple):
    """Something that pushes a body: `wrench` at the origin of the body's subsystem, which it does at the world point `at`."""

    name: str
    kind: str  # drive, applied (a load of the model), element (springs, dampers, ...) or link (gears, rods, couplings)
    node: int
    wrench: Any
    at: Any


@dataclass(frozen=True)
class PageInstant:
    """The mechanism at one state, for reading who pushes."""

    eq: Equations
    m: Motion
    closure: Closure
    moment: Instant
    references: Any

    @classmethod
    def of(cls, eq: Equations, q: Any, v: Any, t: Any, near: Any) -> PageInstant:
        skel, here = eq.loops.skel, eq.loops.skel.unpack(q, near)
        m = motion(skel, q, v)
        return cls(eq, m, eq.loops.closure(m, v, t, here, False), Instant.moving(skel, m, t, here), here)

    def world(self, node: int, p_B: Any) -> Any:
        skel = self.eq.loops.skel
        return node_motion(skel, self.m, node)[0].point(p_B) + skel.origin(node)

    def joint_point(self, name: str) -> Any:
        skel = self.eq.loops.skel
        joint = skel.tree.description.joint(name)
        return self.world(skel.node(joint.second), pose_of(joint.frame_second).p)

    def end(self, between: Any, node: int) -> Any:
        skel = self.eq.loops.skel
        return next(x.position for x in (locate(skel, self.m, ref) for ref in between) if x.node == node)

    def com(self, node: int) -> Any:
        return self.world(node, self.eq.loops.skel.com[node])


def acting_on(eq: Equations, q: Any, v: Any, u: Any, lam: Any, t: Any, near: Any) -> list[AppliedWrench]:
    """Everything but joints and weight that pushes a moving body: drives, elements of the model, constraints that are no joints."""
    s = PageInstant.of(eq, q, v, t, near)
    found = [*_drives(s, u), *_elements(s), *_links(s, lam)]
    return [x for x in found if x.node >= 0]


def _drives(s: PageInstant, u: Any) -> list[AppliedWrench]:
    d, out = s.eq.loops.skel.tree.description, []
    distances = lengths(d)
    for name, effort in zip(s.eq.drives, u, strict=True):
        for node, w in unit_pushes(d, s.moment, [name])[0]:
            at = s.end(distances[name], node) if name in distances else s.joint_point(name)
            out.append(AppliedWrench(name, "drive", node, w * effort, at))
    return out


def _elements(s: PageInstant) -> list[AppliedWrench]:
    out = []
    for x in s.eq.loops.skel.tree.description.acting:
        for node, w in forces.ElementForce(x).wrenches(s.moment):
            kind = "applied" if getattr(x, "from_outside", False) else "element"
            out.append(AppliedWrench(x.name, kind, node, w, forces.acting_at(s.moment, x, node)))
    return out


def _links(s: PageInstant, lam: Any) -> list[AppliedWrench]:
    skel, out = s.eq.loops.skel, []
    cut = set(skel.tree.cuts)
    for c, part, rows in zip(s.eq.loops.constraints, s.closure.parts, s.closure.rows, strict=True):
        if c.name in cut:
            continue
        wrenches: dict[int, Any] = {}
        for node, G in part.G:
            wrenches[node] = wrenches.get(node, 0.0) + G.T @ lam[rows]
        if isinstance(c, BeltConstraint):
            out += [AppliedWrench(c.name, "link", node, w, at) for node, w, at in c.wrenches(skel, s.m, lam[rows])]
            continue
        for node, w in workless_wrenches(c, skel, s.m, part, lam[rows], s.references):
            wrenches[node] = wrenches.get(node, 0.0) + w
        touching = acting_point(c, skel, s.m, s.references)
        for node, w in wrenches.items():
            if touching is not None:
                at = touching
            else:
                at = s.end(c.between, node) if isinstance(c, RodConstraint | DrivenDistance) else s.com(node)
            out.append(AppliedWrench(c.name, "link", node, w, at))
    return out


# -------------------------------------------------------------------- what is traced


def twists(eq: Equations, q: Any, v: Any, near: Any) -> dict[str, Any]:
    m = motion(eq.loops.skel, q, v)
    w = [V[:3] for V in m.V]
    u = [V[3:] + cross(V[:3], X.p) for V, X in zip(m.V, m.X, strict=True)]
    return {"w": np.array(w).reshape(-1, 3), "u": np.array(u).reshape(-1, 3)}


def bodies(eq: Equations, q: Any, v: Any, a: Any, t: Any, near: Any) -> dict[str, Any]:
    skel = eq.loops.skel
    m = motion(skel, q, v)
    moved = accelerations(skel, m, _let_go(eq, q, v, a, t, near))
    rows: dict[str, list[Any]] = {"com": [], "force": [], "moment": [], "weight": []}
    for node, (I, V, A) in enumerate(zip(dynamics.body_inertias(skel, m), m.V, moved, strict=True)):
        arm = m.X[node].point(skel.com[node])
        needed = I @ A + cross_wrench(V, I @ V)  # moment and force that make it move so, about the subsystem's origin
        rows["com"].append(arm + skel.origin(node))
        rows["force"].append(needed[3:])
        rows["moment"].append(needed[:3] - cross(arm, needed[3:]))
        rows["weight"].append((I @ np.concatenate([np.zeros(3), skel.gravity]))[3:])
    return {name: np.array(values).reshape(-1, 3) for name, values in rows.items()}


def _let_go(eq: Equations, q: Any, v: Any, a: Any, t: Any, near: Any) -> Any:
    """a with idle degrees of freedom (a rod that spins between ball joints) accelerating freely, as the loads have them."""
    if not eq.plan.spinning:
        return a
    T = eq.joint_axis_terms(q, v, t, near)
    assert T.place is not None
    N = idle_rows(eq.plan, eq.loops.skel, T.place.motion).rows.T
    return a + N @ let_go(N, T.M, dynamics.inverse_tree(eq.loops.skel, T.place.motion, a, T.place.external))


def acting(eq: Equations, q: Any, v: Any, u: Any, lam: Any, t: Any, near: Any) -> dict[str, Any]:
    skel, rows = eq.loops.skel, []
    for x in acting_on(eq, q, v, u, lam, t[0], near):
        arm = x.at - skel.origin(x.node)
        rows.append(np.concatenate([x.wrench[:3] - cross(arm, x.wrench[3:]), x.wrench[3:], x.at]))
    return {"rows": np.array(rows).reshape(-1, 9)}


def efforts(eq: Equations, q: Any, u: Any, near: Any) -> dict[str, Any]:
    skel, here, still = eq.loops.skel, eq.loops.skel.unpack(q, near), np.zeros(eq.loops.skel.tree.nv)
    m = motion(skel, q, still)
    place = Instant(skel, q, still, 0.0, here, loops=eq.loops, motion=m, closure=eq.loops.closure(m, still, 0.0, here, False))
    return {"tau": eq._effort_columns(place) @ u}


def flow(eq: Equations, q: Any, v: Any, t: Any, near: Any) -> dict[str, Any]:
    skel = eq.loops.skel
    at = Instant(skel, q, v, t[0], eq.loops.skel.unpack(q, near))
    return {"power": np.array(eq._given_and_lost(at))}


def branch(eq: Equations, q: Any, near: Any) -> dict[str, Any]:
    skel, plan = eq.loops.skel, eq.plan
    laws = [driven(skel.tree.description, n, Parabola(1.0)) for n in eq.drives]  # the sign of J does not depend on the values
    loops = eq.loops.with_(laws)
    c = loops.at(q, np.zeros(skel.tree.nv), 0.0, eq.loops.skel.unpack(q, near))
    keep = [*(range(skel.tree.nc) if plan.keep is None else plan.keep), *range(skel.tree.nc, len(c.phi))]
    idle = idle_rows(plan, skel, motion(skel, q, np.zeros(skel.tree.nv)))
    J = np.concatenate([c.J[keep], idle.rows])
    _, pivots = eliminate(J, np.zeros(len(J)), plan.orders["kinematics"])
    product: Any = 1.0
    for pivot, least in zip(pivots, plan.nominal["kinematics"], strict=True):
        product = product * (pivot * (1e-6 / least) if least else pivot)  # nominal sizes are a millionth of the typical ones
    return {"determinant": np.array([product])}


TRACED: dict[str, TracedKernel] = {
    "twists": TracedKernel(twists, ("q", "v")),
    "bodies": TracedKernel(bodies, ("q", "v", "a", "t"), masses=True),
    "acting": TracedKernel(acting, ("q", "v", "u", "lam", "t")),
    "efforts": TracedKernel(efforts, ("q", "u")),
    "flow": TracedKernel(flow, ("q", "v", "t")),
    "branch": TracedKernel(branch, ("q",), solve="kinematics"),
    "derivatives": TracedKernel(page_motion.derivatives, ("q", "v", "a", "third", "t"), solve="kinematics"),
    "speeds": TracedKernel(page_motion.speeds, ("q", "v")),
}
