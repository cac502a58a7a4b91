"""Idle freedoms: a link between ball joints spins in place while everything else rests.

A link here is a group of bodies that only ball joints connect to the others (a rod, a telescopic leg), moving as one rigid body;
or a single body of such a group on ball and cylindrical joints (one half of a leg whose slide does not guide the angle). Motions
inside a group are freedoms like any other. In a part that no joint connects to ground (a floating robot) the group that floats is the
base: a push-rod spins on the robot, not the robot on its push-rod.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwright import joints
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.kinematics.motion import Motion, body_jacobian, motion
from linkwright.model.description import Description, Joint
from linkwright.numerics.linalg import factor

AT_REST = 1e-8  # dimensionless twist that counts as none
CYLINDRICAL = ("tx", "ty", "rx", "ry")  # rows of a joint that turns about an axis and slides along it


def idle_motions(loops: Loops, q: np.ndarray, null: np.ndarray, m: Motion | None = None) -> list[tuple[tuple[str, ...], np.ndarray]]:
    """(bodies, dimensionless velocity) of every independent spin of a link between ball joints; columns of `null` span the motions
    at q, and `m` is a motion at q, where one is known already."""
    skel = loops.skel
    links = _links(skel.tree.description)
    if not links or null.shape[1] == 0:
        return []
    m = motion(skel, q, np.zeros(skel.tree.nv)) if m is None else m
    twists = _twists(loops, m, null)
    out: list[tuple[tuple[str, ...], np.ndarray]] = []
    for link in links:
        resting = [T for body, T in twists.items() if body not in link]
        rigid = [twists[body] - twists[link[0]] for body in link[1:]]
        still = [*resting, *rigid]
        free = factor(np.concatenate(still), AT_REST).null if still else np.zeros((null.shape[1], 0))
        for y in free.T:
            spin = null @ y
            if factor(np.array([*(v for _, v in out), spin]).T, AT_REST).rank > len(out):
                out.append((link, spin))
    return out


def _twists(loops: Loops, m: Motion, null: np.ndarray) -> dict[str, np.ndarray]:
    """(6, motions) for each body: angular velocity, and velocity over kappa at one point for all bodies."""
    skel = loops.skel
    V = loops.columns[:, None] * null
    centre = skel.origin(0)
    out = {}
    for i, n in enumerate(skel.tree.nodes):
        T = body_jacobian(skel, m, i) @ V
        shifted = T[3:] + np.cross(T[:3], centre - skel.origin(i), axisa=0).T
        out[n.body] = np.concatenate([T[:3], shifted / loops.kappa])
    return out


def _links(d: Description) -> list[tuple[str, ...]]:
    """Groups of bodies held by two ball joints or more, and single bodies inside them that may spin on their own."""
    held = [j for j in d.joints if joints.JOINTS[j.type].rows]
    balls = [j for j in held if _ball(j)]
    if len(balls) < 2:
        return []
    groups = _connected(d, [j for j in held if not _ball(j)])
    fixed = {groups[d.bodies[0].name], *_bases(d, groups, _connected(d, held))}
    out: list[tuple[str, ...]] = []
    for head in dict.fromkeys(groups.values()):
        at = sum((groups[j.first] == head) != (groups[j.second] == head) for j in balls)
        if head in fixed or at < 2:
            continue
        bodies = [b.name for b in d.bodies if groups[b.name] == head]
        out += [(b,) for b in bodies if len(bodies) > 1 and _spins_alone(b, held)]
        out.append(tuple(bodies))
    return out


def _spins_alone(body: str, held: Sequence[Joint]) -> bool:
    """True for a body on ball and cylindrical joints alone, at least one of each."""
    rows = {joints.JOINTS[j.type].rows: _ball(j) for j in held if body in (j.first, j.second)}
    return any(rows.values()) and {r for r, ball in rows.items() if not ball} == {CYLINDRICAL}


def _ball(joint: Joint) -> bool:
    return joints.is_ball(joints.JOINTS[joint.type])


def _bases(d: Description, groups: dict[str, str], parts: dict[str, str]) -> list[str]:
    """The group that carries each floating part: one with a free joint, the largest of them."""
    ground = d.bodies[0].name
    free = {b for j in d.joints if not joints.JOINTS[j.type].rows for b in (j.first, j.second)}
    out = []
    for part in dict.fromkeys(parts.values()):
        if part == parts[ground]:
            continue
        bodies = [b.name for b in d.bodies if parts[b.name] == part]
        candidates = [b for b in bodies if b in free] or bodies
        out.append(max((groups[b] for b in candidates), key=lambda g: sum(x == g for x in groups.values())))
    return out


def _connected(d: Description, by: Sequence[Joint]) -> dict[str, str]:
    """The first body of the connected component of each body, over the given joints."""
    head = {b.name: b.name for b in d.bodies}

    def root(name: str) -> str:
        while head[name] != name:
            name = head[name]
        return name

    for j in by:
        a, b = root(j.first), root(j.second)
        head[b] = a
    return {name: root(name) for name in head}
