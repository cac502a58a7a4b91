"""Spherical loops: all axes of the loop pass through one point, its center (wrists, the agile eye, parallel shoulders).

A point of such a loop stays on a sphere about the center, so that one of the three rows of a closing point follows from the others in
every position, and three of the five rows of a closing hinge do; but only if the axes meet to round-off. With axes as files give them,
rounded to a few digits, no position closes the loop. A closing point therefore becomes a floating bearing along the ray from the
center: it holds the two directions across the ray, and the numbers of the file stay as they are. In loops closed by hinges, axes that
meet within `MEETING` are moved through the center, each by the shortest way, and a joint has the same distance from it on both bodies.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwright.api import Description, Joint, Pose, is_hinge, joints, pose_of, spatial
from linkwright.rings.exchange.reading.structure_recognition.closing_points import along_axis
from linkwright.rings.exchange.reading.structure_recognition.frame_poses import placement, sides, size
from linkwright.rings.exchange.reading.structure_recognition.graph_paths import Step, circuits, path
from linkwright.rings.exchange.reading.structure_recognition.rigid_groups import quoted

MEETING = 1e-3  # share of the mechanism's size: axes nearer than this to one point are meant to meet there
SPOKEN = 1e-9  # share of the size: smaller corrections are round-off


@dataclass(frozen=True)
class SphericalLoops:
    """A description whose spherical loops close, and sentences about it."""

    description: Description
    sentences: tuple[str, ...] = ()


def spherical_loops(d: Description, closing: Sequence[str]) -> SphericalLoops:
    """Make floating bearings of the points that close spherical loops, and the axes of spherical loops of hinges meet in one point."""
    sentences: list[str] = []
    bearings: set[str] = set()
    for name in closing:
        joint = d.joint(name)
        steps = path(d, joint.first, joint.second, set(closing)) if joints.is_ball(joints.create(joint.type, joint.options)) else None
        center = None if steps is None else _center(d, steps)
        if steps is None or center is None:
            continue
        rays = [_point(d, body, frame.at) - center for body, frame in _ends(joint)]
        if min(float(np.sqrt(r @ r)) for r in rays) <= 10.0 * MEETING * size(d):
            continue  # a point in the center: every motion of the loop keeps it there
        own = (
            pose_of(d.body(body).start).R.T @ spatial.normalize(ray) for body, ray in zip((joint.first, joint.second), rays, strict=True)
        )
        d = _with_joint(d, along_axis(d, joint, "floating_bearing", *own))
        bearings.add(name)
        inside = quoted(s.joint.name for s in steps)
        sentences.append(
            f"the axes of {inside} meet in one point: '{name}' closes their loop across the ray from there (a floating bearing)."
        )
    d, said = _meeting(d, bearings)
    return SphericalLoops(d, (*sentences, *said))


def _ends(joint: Joint) -> tuple[tuple[str, Any], tuple[str, Any]]:
    return (joint.first, joint.frame_first), (joint.second, joint.frame_second)


def _with_joint(d: Description, joint: Joint) -> Description:
    return replace(d, joints=tuple(joint if j.name == joint.name else j for j in d.joints))


def _point(d: Description, body: str, at: Any) -> np.ndarray:
    """A place on a body in the world, in the file's pose."""
    X = pose_of(d.body(body).start)
    return X.p + X.R @ np.array(at, float)


def _center(d: Description, steps: Sequence[Step]) -> np.ndarray | None:
    """The point that is nearest to the axes of all hinges on the way, in the world in the file's pose; None where they do not meet."""
    turning = [s.joint for s in steps if joints.create(s.joint.type, s.joint.options).nv]
    fewest = 3  # turns between the sides of the closure, below which nothing moves
    if len(turning) < fewest or not all(is_hinge(joints.create(j.type, j.options)) for j in turning):
        return None
    lines = [(F.p, F.R[:, 2]) for j in turning for F in sides(d, j)]
    across = [np.eye(3) - np.outer(z, z) for _, z in lines]
    A = np.sum(across, axis=0) / len(lines)
    spread = 1e-2  # rad: axes that are nearer to one direction than this do not say where they meet
    if np.linalg.eigvalsh(A)[0] < spread**2:
        return None
    center = np.linalg.solve(A, np.mean([P @ p for P, (p, _) in zip(across, lines, strict=True)], axis=0))
    off = max(float(np.linalg.norm(P @ (center - p))) for P, (p, _) in zip(across, lines, strict=True))
    return center if off <= MEETING * size(d) else None


# -------------------------------------------------------------------- axes made to meet


def _meeting(d: Description, bearings: Collection[str]) -> tuple[Description, list[str]]:
    """Move the joints of spherical loops of hinges so that each body has one center for all of them."""
    sentences: list[str] = []
    centers: dict[str, list[np.ndarray]] = {}  # of each body, in its axes
    placed: dict[str, np.ndarray] = {}  # center of a joint that was moved, on its first body
    exact = 1e-15  # share of the size: what poses multiplied with each other leave
    for circuit in circuits(d):
        center = None if any(s.joint.name in bearings for s in circuit) else _center(d, circuit)
        if center is None:
            continue
        own = _own_centers(d, circuit, center, centers)
        names = {s.joint.name for s in circuit}
        if any(np.linalg.norm(placed[n] - own[d.joint(n).first]) > exact * size(d) for n in names & placed.keys()):
            continue  # an axis with two centers, of two loops: the first keeps it
        moved = 0.0
        for name in sorted(names):
            joint, step = _through(d.joint(name), own)
            placed[name] = own[joint.first]
            if step > exact * size(d):
                d, moved = _with_joint(d, joint), max(moved, step)
        if moved > SPOKEN * size(d):
            loop = quoted(s.joint.name for s in circuit)
            sentences.append(f"the axes of the spherical loop {loop} were made to meet in one point (moved by up to {moved:.2g} m).")
    return d, sentences


def _own_centers(d: Description, circuit: Sequence[Step], center: np.ndarray, known: dict[str, list[np.ndarray]]) -> dict[str, np.ndarray]:
    """The center on every body of a circuit: that of a loop before, where it has nearly the same, else the one given."""
    own: dict[str, np.ndarray] = {}
    for body in dict.fromkeys(b for s in circuit for b in (s.body, s.to)):
        X = pose_of(d.body(body).start)
        here = X.R.T @ (center - X.p)
        near = [c for c in known.setdefault(body, []) if float(np.linalg.norm(c - here)) < 2.0 * MEETING * size(d)]
        own[body] = near[0] if near else here
        known[body] += [] if near else [here]
    return own


def _through(j: Joint, own: dict[str, np.ndarray]) -> tuple[Joint, float]:
    """A joint whose axis passes through the centers of its bodies, as far from them on both; and how far a frame of it was moved."""
    frames = pose_of(j.frame_first), pose_of(j.frame_second)
    centers = own[j.first], own[j.second]
    along = 0.5 * sum(float((X.p - c) @ X.R[:, 2]) for X, c in zip(frames, centers, strict=True))
    new = [Pose(X.R, c + along * X.R[:, 2]) for X, c in zip(frames, centers, strict=True)]
    step = max(float(np.linalg.norm(X.p - Y.p)) for X, Y in zip(frames, new, strict=True))
    return replace(j, frame_first=placement(new[0]), frame_second=placement(new[1])), step
