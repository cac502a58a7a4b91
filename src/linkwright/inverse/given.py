"""Loads of a motion whose accelerations, multipliers and efforts are known already: a simulated one.

Nothing is solved. The wrench in every joint follows body by body from the accelerations, the forces of the model, the
multipliers and the efforts that really acted, so it belongs to the motion as it was, whoever drove it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwright import forces, joints
from linkwright.description import Description, Joint
from linkwright.errors import UsageError
from linkwright.inverse.loads import Loads
from linkwright.inverse.methods import Solved
from linkwright.inverse.problem import Problem
from linkwright.kinematics import motion
from linkwright.loops import Loops
from linkwright.scalars import is_symbolic
from linkwright.terms import terms


def given_loads(
    loops: Loops, q: Any, v: Any, a: Any, t: Any, near: Mapping[str, Any], lam: Any, efforts: Mapping[str, Any] | None = None
) -> Loads:
    """The Loads of a state with known a, lam (rows of the tree's loops) and efforts by the names of coordinates or cylinders.

    The effort of a tree joint is what its equation of motion leaves: what the shaft hands over, a rotor's own inertia taken off.
    """
    skel = loops.skel
    d = skel.tree.description
    at = forces.Moment(skel, motion(skel, q, v), t, near)
    acting = [(f.from_outside, w) for f in forces.of_description(d) for w in f.wrenches(at)]
    T = terms(loops, q, v, t, near, [w for _, w in acting])
    place = T.place
    assert place is not None
    names = tuple(efforts or {})
    p = Problem(T, place, a, names, tuple(tuple(_unit_push(d, at, name)) for name in names))
    u = np.array([(efforts or {})[name] for name in names])
    free = np.zeros((T.nc + len(names), 0))
    if not is_symbolic(q):
        u = _balanced(p, lam, u)
        stress = Problem(T, place, a, (), ()).self_stress
        free = np.concatenate([stress, np.zeros((len(names), stress.shape[1]))])
    return Loads(p, lam, u, free, Solved(lam, u, ()), "given", tuple(w for outside, w in acting if outside))


def driven_coordinate(d: Description, name: str) -> tuple[Joint, int] | None:
    """(joint, entry) of a coordinate by name, `A` or `C.slide`; None for a cylinder or anything else."""
    every = {j.name: j for j in d.joints}
    if name in every and joints.create(every[name].type, every[name].options).nv:
        return every[name], 0
    head, _, part = name.rpartition(".")
    if head in every:
        known = joints.create(every[head].type, every[head].options).v_names
        if part in known:
            return every[head], known.index(part)
    return None


def _unit_push(d: Description, at: forces.Moment, name: str) -> forces.Wrenches:
    for c in d.cylinders:
        if c.name == name:
            return forces.push(forces.line(at, c.between), 1.0)
    found = driven_coordinate(d, name)
    if found is None:
        raise UsageError(f"an effort of '{name}' was recorded, but there is no such joint, coordinate or cylinder.")
    return forces.joint_effort(at, found[0], 1.0, found[1])


def _balanced(p: Problem, lam: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Efforts of tree joints from their own rows of M a + h - J' lam = tau; the others as they were recorded."""
    tree = p.place.loops.skel.tree
    d = tree.description
    rows: dict[int, int] = {}
    for i, name in enumerate(p.drives):
        found = driven_coordinate(d, name) if all(c.name != name for c in d.cylinders) else None
        if found is not None and found[0].name in tree.node_of_joint:
            rows[i] = tree.nodes[tree.node_of_joint[found[0].name]].v.start + found[1]
    if not rows:
        return u
    others = [i for i in range(len(u)) if i not in rows]
    need = p.g - p.terms.J.T @ lam - p.B[:, others] @ u[others]
    out = u.copy()
    for i, row in rows.items():
        out[i] = need[row]
    return out
