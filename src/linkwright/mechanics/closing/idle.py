"""Idle degrees of freedom: a link between ball joints spins in place while everything else rests.

A link here is a group of bodies that only ball joints connect to the others (a rod, a telescopic leg), moving as one rigid body;
or a single body of such a group on ball and cylindrical joints (one half of a leg whose slide does not guide the angle). Motions
inside a group are degrees of freedom like any other. A group that carries further bodies on hinges, or whose spin changes the length of a
cylinder, spring or damper, does not idle. The group with a free joint is the base of a floating robot: a push-rod spins on the robot,
not the robot on its push-rod.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from linkwright import joints
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.kinematics.motion import Motion, Skeleton, body_jacobian, locate, motion, pose_of
from linkwright.model.description import Description, Joint
from linkwright.numerics.groups import Groups
from linkwright.numerics.linalg import factor

SAME_LINE = 1e-8  # sine of the angle between directions that are one
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
    stretches = _stretches(loops, m, twists)
    out: list[tuple[tuple[str, ...], np.ndarray]] = []
    for link in links:
        resting = [T for body, T in twists.items() if body not in link]
        rigid = [twists[body] - twists[link[0]] for body in link[1:]]
        still = [*resting, *rigid, *stretches]
        free = factor(np.concatenate(still), AT_REST).null if still else np.zeros((null.shape[1], 0))
        for y in free.T:
            spin = null @ y
            if factor(np.array([*(v for _, v in out), spin]).T, AT_REST).rank > len(out):
                out.append((link, spin))
    return out


def spin_lines(skel: Skeleton, rows: Sequence[Sequence[float]]) -> tuple[tuple[int, str, int], ...]:
    """(node, other joint of its body, entry of v that is one) of every idle direction that turns a body on its ball joint about the line
    to the other joint; none if one of them is anything else."""
    out = []
    for row in np.array(rows, dtype=float).reshape(len(rows), skel.tree.nv):
        moved = np.flatnonzero(row)
        node = next((i for i, n in enumerate(skel.tree.nodes) if n.v.start <= moved[0] < n.v.stop), -1)
        n = skel.tree.nodes[node]
        if not joints.is_ball(skel.types[node]) or n.reversed or moved[-1] >= n.v.stop:
            return ()
        w, entry = row[n.v], int(moved[np.argmin(np.abs(row[moved] - 1.0))])
        others = [j.name for j in skel.tree.description.joints if n.body in (j.first, j.second) and j.name != n.joint.name]
        lines = {name: _line(skel, node, name) for name in others}
        along = [name for name, d in lines.items() if np.linalg.norm(np.cross(d, w)) < SAME_LINE * np.linalg.norm(d) * np.linalg.norm(w)]
        if not along or abs(row[entry] - 1.0) > SAME_LINE:
            return ()
        out.append((node, along[0], entry))
    return tuple(out)


def spin_rows(skel: Skeleton, spins: Sequence[tuple[int, str, int]]) -> Iterator[tuple[Any, ...]]:
    """Idle directions of v from the lines of links, over any scalar."""
    for node, other, entry in spins:
        span, d = skel.tree.nodes[node].v, _line(skel, node, other)
        unit = entry - span.start
        row: list[Any] = [0.0] * skel.tree.nv
        row[span] = [1.0 if i == unit else d[i] / d[unit] for i in range(3)]
        yield tuple(row)


def _line(skel: Skeleton, node: int, other: str) -> Any:
    """From the joint that carries a body to another of its joints, in the axes of the first."""
    body, joint = skel.tree.nodes[node].body, skel.tree.description.joint(other)
    d, ball = skel.X_NC[node].point(pose_of(joint.frame_first if joint.first == body else joint.frame_second).p), skel.ball_axes[node]
    return d if ball is None else ball.R @ d  # N may have axes of its own


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


def _stretches(loops: Loops, m: Motion, twists: dict[str, np.ndarray]) -> list[np.ndarray]:
    """(1, motions) for each cylinder, spring and damper between two points: the rate of its length over kappa."""
    skel, ground = loops.skel, np.zeros_like(next(iter(twists.values())))
    d, centre, out = skel.tree.description, skel.origin(0), []
    pairs = (getattr(x, "between", None) for x in d.acting)
    for a, b in (x for x in pairs if x):
        p, q = (locate(skel, m, ref).position for ref in (a, b))
        line = (q - p) / (float(np.linalg.norm(q - p)) or 1.0)
        first, second = (twists.get(ref[0], ground) for ref in (a, b))
        wrench = (np.concatenate([np.cross(x - centre, line) / loops.kappa, line]) for x in (p, q))
        out.append((-(next(wrench) @ first) + next(wrench) @ second)[None])
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
        bodies = [b.name for b in d.bodies if groups[b.name] == head]
        if head in fixed or at < 2 or _carries(d, bodies, held):
            continue
        out += [(b,) for b in bodies if len(bodies) > 1 and _spins_alone(b, held)]
        out.append(tuple(bodies))
    return out


def _spins_alone(body: str, held: Sequence[Joint]) -> bool:
    """True for a body on ball and cylindrical joints alone, at least one of each."""
    rows = {joints.JOINTS[j.type].rows: _ball(j) for j in held if body in (j.first, j.second)}
    return any(rows.values()) and {r for r, ball in rows.items() if not ball} == {CYLINDRICAL}


def _ball(joint: Joint) -> bool:
    return joints.is_ball(joints.JOINTS[joint.type])


def _carries(d: Description, bodies: Sequence[str], held: Sequence[Joint]) -> bool:
    """True if a body of the group hangs on one joint alone (welded bodies count as one): it moves with the spin, so this is no link."""
    piece = _connected(d, [j for j in held if not joints.JOINTS[j.type].nv])
    hung = [sum((piece[j.first] == piece[b]) != (piece[j.second] == piece[b]) for j in held) for b in bodies]
    return min(hung) < 2


def _bases(d: Description, groups: dict[str, str], parts: dict[str, str]) -> list[str]:
    """The group that carries each part: the only one with a free joint; in a floating part of several the largest."""
    ground = d.bodies[0].name
    free = {b for j in d.joints if not joints.JOINTS[j.type].rows for b in (j.first, j.second)} - {ground}
    out = []
    for part in dict.fromkeys(parts.values()):
        candidates = list(dict.fromkeys(groups[b.name] for b in d.bodies if parts[b.name] == part and b.name in free))
        if len(candidates) == 1 or (candidates and part != parts[ground]):
            out.append(max(candidates, key=lambda g: sum(x == g for x in groups.values())))
    return out


def _connected(d: Description, by: Sequence[Joint]) -> dict[str, str]:
    """The first body of the connected component of each body, over the given joints."""
    groups = Groups(b.name for b in d.bodies)
    for j in by:
        groups.join(j.first, j.second)
    return groups.roots()
