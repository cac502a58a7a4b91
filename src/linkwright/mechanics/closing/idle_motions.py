"""Idle degrees of freedom: a link between ball joints spins in place while everything else rests.

A link here is a group of bodies that only ball joints connect to the others (a rod, a telescopic leg), moving as one rigid body;
or a single body of such a group on ball and cylindrical joints (one half of a leg whose slide does not guide the angle). Motions
inside a group are degrees of freedom like any other. A group that carries further bodies on hinges, or whose spin changes the length of a
cylinder, spring or damper, does not idle. The group with a free joint is the base of a floating robot: a push-rod spins on the robot,
not the robot on its push-rod.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from linkwright import joints
from linkwright.elements import FRAMES, LINE
from linkwright.mechanics.constraints.driver import EliminationPlan, Spin
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.kinematics.motion import Motion, Skeleton, body_jacobian, locate, locate_at, motion, node_motion, pose_of
from linkwright.model.description import Description, Joint
from linkwright.numerics.connected_groups import Groups
from linkwright.numerics.linalg import factor
from linkwright.numerics.memory_and_threads import Store
from linkwright.numerics.scalars import eliminate, is_symbolic, real, where
from linkwright.numerics.spatial import cross

SAME_LINE = 1e-8  # sine of the angle between directions that are one
GIMBAL = 1e-9  # volume of the axes of three hinges below which they are no ball
NO_INERTIA = 1e-14  # inertia of a spin, of that of the joint it moves, which is round-off
CYLINDRICAL = ("tx", "ty", "rx", "ry")  # rows of a joint that turns about an axis and slides along it


def idle_motions(loops: Loops, q: np.ndarray, null: np.ndarray, m: Motion | None = None) -> list[tuple[tuple[str, ...], np.ndarray]]:
    """(bodies, dimensionless velocity) of every independent spin of a link between ball joints; columns of `null` span the motions
    at q, and `m` is a motion at q, where one is known already."""
    skel = loops.skel
    links = links_of(skel)
    if not links or null.shape[1] == 0:
        return []
    m = motion(skel, q, np.zeros(skel.tree.nv)) if m is None else m
    twists = _twists(loops, m, null)
    stretches = _stretches(loops, m, twists)
    out: list[tuple[tuple[str, ...], np.ndarray]] = []
    at_rest = 1e-8  # dimensionless twist that counts as none
    for link, inner in ((x.bodies, x.inner) for x in links):
        resting = [T for body, T in twists.items() if body not in link and body not in inner]
        rigid = [twists[body] - twists[link[0]] for body in link[1:]]
        still = [*resting, *rigid, *stretches]
        free = factor(np.concatenate(still), at_rest).null if still else np.zeros((null.shape[1], 0))
        for y in free.T:
            spin = null @ y
            if factor(np.array([*(v for _, v in out), spin]).T, at_rest).rank > len(out):
                out.append((link, spin))
    return out


def spin_lines(loops: Loops, samples: Sequence[tuple[np.ndarray, np.ndarray]], constant: Sequence[Sequence[float]]) -> tuple[Spin, ...]:
    """The idle motions at all sampled (q, null space) as spins of links about lines; none if one of them is anything else.

    `constant`: the same directions of v, where they do not depend on the position.
    """
    skel = loops.skel
    if constant:
        found = [_constant_spin(skel, np.asarray(row, dtype=float)) for row in constant]
        return tuple(x for x in found if x is not None) if None not in found else ()
    every: tuple[Spin, ...] | None = None
    for q, null in samples:
        motions = idle_motions(loops, q, null)
        known = {link.bodies: link.spin for link in links_of(skel)}
        spins = tuple(known[link] for link, _ in motions)
        if every not in (None, spins) or len(set(spins)) < len(spins):
            return ()
        every, m = spins, motion(skel, q, np.zeros(skel.tree.nv))
        for spin, (_, v) in zip(spins, motions, strict=True):
            moved = _moving(skel, m, spin)
            if moved is None or factor(np.array([moved[0] / loops.columns, v]), SAME_LINE).rank > 1:
                return ()
    return every or ()


def spin_rows(skel: Skeleton, spins: Sequence[Spin]) -> Iterator[tuple[Any, ...]]:
    """Idle directions of v that are the same in every position, from the lines of links, over any scalar."""
    for spin in (x for x in spins if x.entry >= 0):
        node = skel.tree.node_of_joint[spin.first]
        span, d = skel.tree.nodes[node].v, _line(skel, node, spin.second)
        unit = spin.entry - span.start
        row: list[Any] = [0.0] * skel.tree.nv
        row[span] = [1.0 if i == unit else d[i] / d[unit] for i in range(3)]
        yield tuple(row)


class IdleRows(NamedTuple):
    """Idle directions of v, one a row, and their rates times v: rows a + rate is the rate of rows v."""

    rows: Any
    rate: Any


def idle_rows(plan: EliminationPlan, skel: Skeleton, m: Motion) -> IdleRows:
    """The idle directions of a plan at a motion, over any scalar."""
    nv = skel.tree.nv
    moving = [x for x in (_moving(skel, m, spin) for spin in plan.moving_spins) if x is not None]
    rows = [*plan.idle, *(row for row, _ in moving)]
    rates = [*([0.0] * len(plan.idle)), *(rate @ m.v for _, rate in moving)]
    return IdleRows(np.array(rows).reshape(-1, nv) if rows else np.zeros((0, nv)), np.array(rates) if rates else np.zeros(0))


def let_go(N: Any, M: Any, needed: Any) -> Any:
    """Idle accelerations y, one for each column of N, at which N' (M N y + needed) = 0: nothing drives a spin. Over any scalar; a spin
    without inertia (of a thin rod) stays as it is."""
    K, right = N.T @ M @ N, -(N.T @ needed)
    rows = []
    for i, least in enumerate(NO_INERTIA * ((N * N).T @ np.diagonal(M))):
        thin = where(real(K[i, i]) <= real(least), 1.0, 0.0)
        K[i, i] = K[i, i] + thin * (1.0 + least)
        rows.append((1.0 - thin) * right[i])
    y, _ = eliminate(K, np.array(rows).reshape(right.shape))
    return y


def spun_in_place(loops: Loops, first: Motion, last: Motion, tolerance: float) -> set[str]:
    """Bodies that between two positions of the same loops have only turned by an idle spin: each about the line of its link, those of
    a link that spins as a whole by the same angle."""
    skel, out = loops.skel, set()
    links = links_of(skel)
    alone = {link.bodies[0] for link in links if len(link.bodies) == 1}
    for link, inner, spin in ((x.bodies, x.inner, x.spin) for x in links):
        lines = [_axis(skel, m, spin) for m in (first, last)]
        gap = max(np.abs(lines[0].at - lines[1].at).max() / loops.kappa, np.abs(lines[0].u - lines[1].u).max())
        turned: list[np.ndarray] = []
        for node in (skel.node(body) for body in link):
            A, B, origin = first.X[node], last.X[node], skel.origin(node)
            R = B.R @ A.R.T
            arms = [X.p + origin - line.at for X, line in zip((A, B), lines, strict=True)]
            gap = max(gap, np.abs(R @ lines[0].u - lines[1].u).max(), np.abs(R @ arms[0] - arms[1]).max() / loops.kappa)
            turned += [] if skel.tree.nodes[node].body in alone and len(link) > 1 else [R]
        gap = max([gap, *(np.abs(R - turned[0]).max() for R in turned[1:])])
        out |= {*link, *inner} if gap < tolerance else set()
    return out


IDLE: Store[str, list[_Link]] = Store()  # the links of a skeleton


def links_of(skel: Skeleton) -> list[_Link]:
    """The links of a mechanism that may spin in place, found once."""
    known = IDLE.of(skel)
    if "all" not in known:
        known["all"] = _links(skel.tree.description)
    return known["all"]


def resting(loops: Loops, q: np.ndarray, v: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Accelerations (dimensionless) along idle motions with which spins at rest stay at rest: those of their directions, which move in
    v. Zero for bodies on ball joints in the tree: there the direction changes across v."""
    skel, zero = loops.skel, np.zeros(len(loops.columns))
    floating = set(skel.tree.floating)
    wanted = {x.bodies: x.spin for x in links_of(skel) if len(x.bodies) > 1 or x.inner or floating & {*x.bodies}}
    if not wanted or null.shape[1] == 0:
        return zero
    m = motion(skel, q, v)
    found = [_moving(skel, m, wanted[link]) for link, _ in idle_motions(loops, q, null, m) if link in wanted]
    rows, rates = (np.array([x[i] / loops.columns for x in found if x is not None]).reshape(-1, len(zero)) for i in (0, 1))
    return rows.T @ factor(rows @ rows.T).solve(-(rates @ (v / loops.columns))) if len(rows) else zero


def _constant_spin(skel: Skeleton, row: np.ndarray) -> Spin | None:
    """The spin of a body on its ball joint about the line to another joint, from its direction in v."""
    moved = np.flatnonzero(row)
    node = next((i for i, n in enumerate(skel.tree.nodes) if n.v.start <= moved[0] < n.v.stop), -1)
    n = skel.tree.nodes[node]
    if not joints.is_ball(skel.types[node]) or n.reversed or moved[-1] >= n.v.stop:
        return None
    w, entry = row[n.v], int(moved[np.argmin(np.abs(row[moved] - 1.0))])
    others = [j.name for j in skel.tree.description.joints if n.body in (j.first, j.second) and j.name != n.joint.name]
    lines = {name: _line(skel, node, name) for name in others}
    along = [name for name, d in lines.items() if np.linalg.norm(np.cross(d, w)) < SAME_LINE * np.linalg.norm(d) * np.linalg.norm(w)]
    if not along or abs(row[entry] - 1.0) > SAME_LINE:
        return None
    return Spin((n.body,), n.joint.name, along[0], entry)


def _line(skel: Skeleton, node: int, other: str) -> Any:
    """From the joint that carries a body to another of its joints, in the axes of the first."""
    body, joint = skel.tree.nodes[node].body, skel.tree.description.joint(other)
    d, ball = skel.X_NC[node].point(pose_of(joint.frame_first if joint.first == body else joint.frame_second).p), skel.ball_axes[node]
    return d if ball is None else ball.R @ d  # N may have axes of its own


class _Axis(NamedTuple):
    """Line about which a link spins: a point, a unit vector, and their rates, world axes."""

    at: Any
    u: Any
    at_rate: Any
    u_rate: Any


def _axis(skel: Skeleton, m: Motion, spin: Spin) -> _Axis:
    d = skel.tree.description
    ends = []
    for name in (spin.first, spin.second):
        j = d.joint(name)
        groups = {j.first: j.frame_first, j.second: j.frame_second}
        body = next((b for b in groups if b in spin.bodies), j.first)  # either body of a ball joint has its center
        ends.append(locate_at(skel, m, skel.node(body), pose_of(groups[body]).p))
    first, second = ends
    r, rate = second.position - first.position, second.velocity - first.velocity
    length = (r @ r) ** 0.5
    u = r / length
    return _Axis(first.position, u, first.velocity, (rate - u * (u @ rate)) / length)


def _hinge_rates(skel: Skeleton, m: Motion, chain: Sequence[str], line: _Axis) -> dict[str, tuple[Any, Any]] | None:
    """(rate, its own rate) of three hinges at one point, in order toward a link, while it turns with u and what they hang on rests:
    A r = u, A r' = u' - A' r with their axes as columns of A. None where the axes lie in one plane."""
    d, axes, moved = skel.tree.description, [], []
    every = [d.joint(name) for name in chain]
    for k, j in enumerate(every):
        other = every[k + 1] if k < 2 else every[1]
        toward = (j.second in (other.first, other.second)) == (k < 2)
        X, V, _ = node_motion(skel, m, skel.node(j.second))
        axis = (X.R @ pose_of(j.frame_second).R)[:, 2] * (1.0 if toward else -1.0)
        axes.append(axis)
        moved.append(cross(V[:3], axis))
    a, b, c = axes
    normals = [cross(b, c), cross(c, a), cross(a, b)]
    volume = a @ normals[0]
    if not is_symbolic(np.array([volume])) and abs(volume) < GIMBAL:
        return None
    r = [(n @ line.u) / volume for n in normals]
    left = line.u_rate - sum(x * y for x, y in zip(moved, r, strict=True))
    return {j.name: (x, (n @ left) / volume) for j, x, n in zip(every, r, normals, strict=True)}


def _moving(skel: Skeleton, m: Motion, spin: Spin) -> tuple[Any, Any] | None:
    """(direction, its rate) of a spin in v: angular velocity u of the link's bodies about its line, every other body at rest. Only joints
    between the link and others move: v of a joint is then that of u. None if one is not a ball, cylindrical or free joint."""
    line, nv = _axis(skel, m, spin), skel.tree.nv
    hinged = [_hinge_rates(skel, m, chain, line) for chain in spin.chains]
    if any(x is None for x in hinged):
        return None
    turning = {name: rates for x in hinged if x is not None for name, rates in x.items()}
    parts = []
    for jt, n in zip(skel.types, skel.tree.nodes, strict=True):
        j = n.joint
        if j.name in turning and j == skel.tree.description.joint(j.name):
            parts.append((n.v, [turning[j.name][0]], [turning[j.name][1]]))
            continue
        if (j.first in spin.bodies) == (j.second in spin.bodies):
            continue
        sign = 1.0 if j.second in spin.bodies else -1.0
        (X_1, _, _), (X_2, V_2, _) = (node_motion(skel, m, skel.node(b)) for b in (j.first, j.second))
        R_F, R_M = X_1.R @ pose_of(j.frame_first).R, X_2.R @ pose_of(j.frame_second).R
        if jt.rows == CYLINDRICAL:
            angle, travel = sign * (R_F[:, 2] @ line.u), 0.0 * line.u[0]
            parts.append((n.v, [angle, travel], [travel, travel]))
        elif joints.is_ball(jt) or not jt.rows:
            w, w_rate = sign * (R_M.T @ line.u), sign * (R_M.T @ (line.u_rate - cross(V_2[:3], line.u)))
            shift: tuple[Any, Any] = (np.zeros(0), np.zeros(0))
            if not jt.rows:  # a floating body: velocity of its origin, in F's axes
                if sign < 0.0 or skel.node(j.first) >= 0:
                    return None
                o = locate_at(skel, m, skel.node(j.second), pose_of(j.frame_second).p)
                arm, arm_rate = o.position - line.at, o.velocity - line.at_rate
                shift = R_F.T @ cross(line.u, arm), R_F.T @ (cross(line.u_rate, arm) + cross(line.u, arm_rate))
            parts.append((n.v, [*w, *shift[0]], [*w_rate, *shift[1]]))
        else:
            return None
    row, rate = ([0.0] * nv for _ in range(2))
    for span, direction, change in parts:
        row[span], rate[span] = direction, change
    return (np.array(row), np.array(rate)) if parts else None


def _twists(loops: Loops, m: Motion, null: np.ndarray) -> dict[str, np.ndarray]:
    """(6, motions) for each body: angular velocity, and velocity over kappa at one point for all bodies."""
    skel = loops.skel
    V = loops.columns[:, None] * null
    center = skel.origin(0)
    out = {}
    for i, n in enumerate(skel.tree.nodes):
        T = body_jacobian(skel, m, i) @ V
        shifted = T[3:] + np.cross(T[:3], center - skel.origin(i), axisa=0).T
        out[n.body] = np.concatenate([T[:3], shifted / loops.kappa])
    return out


def _stretches(loops: Loops, m: Motion, twists: dict[str, np.ndarray]) -> list[np.ndarray]:
    """(1, motions) for each cylinder, spring and damper between two points: the rate of its length over kappa."""
    skel, ground = loops.skel, np.zeros_like(next(iter(twists.values())))
    d, center, out = skel.tree.description, skel.origin(0), []
    for a, b in (x.between for x in d.acting if x.acts in (LINE, FRAMES)):
        p, q = (locate(skel, m, ref).position for ref in (a, b))
        line = (q - p) / (float(np.linalg.norm(q - p)) or 1.0)
        first, second = (twists.get(ref[0], ground) for ref in (a, b))
        wrench = (np.concatenate([np.cross(x - center, line) / loops.kappa, line]) for x in (p, q))
        out.append((-(next(wrench) @ first) + next(wrench) @ second)[None])
    return out


class _Ball(NamedTuple):
    """A connection of two bodies that turns about one point: a ball joint, or three hinges there through two small bodies."""

    joints: tuple[str, ...]
    inner: tuple[str, ...]
    ends: tuple[str, str]


class _Link(NamedTuple):
    """Bodies between balls that move as one, those inside their balls, and the spin that they may have."""

    bodies: tuple[str, ...]
    inner: tuple[str, ...]
    spin: Spin


def _links(d: Description) -> list[_Link]:
    """Groups of bodies held by two ball joints or more, and single bodies inside them that may spin on their own."""
    held = [j for j in d.joints if joints.JOINTS[j.type].rows]
    balls = [_Ball((j.name,), (), (j.first, j.second)) for j in held if _ball(j)] + _hinged_balls(d, held)
    if len(balls) < 2:
        return []
    used, inside = {name for ball in balls for name in ball.joints}, {b for ball in balls for b in ball.inner}
    groups = _connected(d, [j for j in held if j.name not in used])
    fixed = {groups[d.bodies[0].name], *_bases(d, groups, _connected(d, held))}
    out: list[_Link] = []
    for head in dict.fromkeys(groups.values()):
        at = [ball for ball in balls if (groups[ball.ends[0]] == head) != (groups[ball.ends[1]] == head)]
        bodies = tuple(b.name for b in d.bodies if groups[b.name] == head)
        if head in fixed or len(at) < 2 or bodies[0] in inside or _carries(d, bodies, held):
            continue
        inner = tuple(b for ball in at for b in ball.inner)
        if inner and not (_small(d, inner, bodies) and _in_loop(d, held, bodies, inner, at)):
            continue
        ways = [ball.joints if groups[ball.ends[1]] == head else ball.joints[::-1] for ball in at]
        chains = tuple(names for names in ways if len(names) > 1)
        alone = [(b,) for b in bodies if len(bodies) > 1 and _spins_alone(b, held)]
        out += [_Link(x, inner, Spin(x, ways[0][-1], ways[1][-1], -1, chains)) for x in (*alone, bodies)]
    return out


def _hinged_balls(d: Description, held: Sequence[Joint]) -> list[_Ball]:
    """Chains of three hinges without drives whose axes meet in one point, through two bodies that nothing else holds."""
    driven = {x.joint.partition(".")[0] for x in d.drives}
    hinges = {j.name: j for j in held if joints.is_hinge(joints.JOINTS[j.type]) and j.name not in driven}
    at = {b.name: [j for j in held if b.name in (j.first, j.second)] for b in d.bodies}
    crosses = {b for b, js in at.items() if len(js) == 2 and all(j.name in hinges for j in js) and _meet(b, js)} - {d.bodies[0].name}
    out = []
    for j in hinges.values():
        if {j.first, j.second} <= crosses and j.first != j.second:
            ways = [(next(x for x in at[b] if x is not j), b) for b in (j.first, j.second)]
            ends = [x.second if x.first == b else x.first for x, b in ways]
            if not crosses & set(ends) and len(set(ends)) == 2:
                out.append(_Ball((ways[0][0].name, j.name, ways[1][0].name), (j.first, j.second), (ends[0], ends[1])))
    return out


def _meet(body: str, two: Sequence[Joint]) -> bool:
    """True if the frames of two hinges on a body have one origin and different axes."""
    X, Y = (pose_of(j.frame_first if j.first == body else j.frame_second) for j in two)
    apart, size = np.linalg.norm(X.p - Y.p), max(np.linalg.norm(X.p), np.linalg.norm(Y.p), 1e-3)
    return bool(apart < SAME_LINE * size and np.linalg.norm(np.cross(X.R[:, 2], Y.R[:, 2])) > 1e-3)


def _small(d: Description, inner: Sequence[str], bodies: Sequence[str]) -> bool:
    """True if the bodies inside the balls of a link are there for their joints only."""
    masses = [sum(float(d.body(b).mass or 0.0) for b in names) for names in (inner, bodies)]
    small = 1e-3  # mass of bodies inside balls, of that of the link, up to which they are there for their joints only
    return masses[0] <= small * masses[1]


def _in_loop(d: Description, held: Sequence[Joint], bodies: Sequence[str], inner: Sequence[str], at: Sequence[_Ball]) -> bool:
    """True if the bodies at the ends of a link hang together without it: the upper arm of a serial robot is no rod."""
    rest = _connected(d, [j for j in held if not {j.first, j.second} & {*bodies, *inner}])
    return len({rest[b] for ball in at for b in ball.ends if b not in bodies}) == 1


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
