"""Assembly modes: the different ways a mechanism with few loops can be put together.

Deterministic multi-start: many random joint positions are closed with the given joints held, and the results are sorted by the poses of
the bodies. How many starts brought nothing new bounds what may be missing; it does not prove completeness (`motion.assembly_modes` does,
where the loops are polynomials in the poses). A rod between a universal and a ball joint may sit in them the other
way round, turned by half a turn about its own line: that is another set of coordinates of the same assembly mode, and counted as a flip.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from linkwright import elements
from linkwright.mechanics.closing.newton import Closed, close
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.kinematics.motion import Motion, motion
from linkwright.numerics.tolerances import CLOSED_AT_BEST, SAME_POSITION


class AssemblyMode(NamedTuple):
    """An assembly mode: the position found first, and in how many further sets of coordinates its bodies have the same poses."""

    closed: Closed
    flips: int


class Search(NamedTuple):
    """Modes that random starts found, how many starts closed, and how many of the last ones only repeated what was known."""

    modes: list[AssemblyMode]
    starts: int
    quiet: int

    @property
    def share(self) -> float:
        """The share of starts above which a mode would have been found by the last ones with 95 % confidence."""
        return 1.0 - 0.05 ** (1.0 / self.quiet) if self.quiet else 1.0


def distinct_positions(loops: Loops, q: np.ndarray, references: Mapping[str, Any], *, most: int | None = None, tries: int = 400) -> Search:
    """Different closed configurations, nearest to q first; at most `most` of them."""
    rng = np.random.default_rng(20130717)
    found: list[_Found] = []
    here, _ = _signatures(loops, q)
    quiet = starts = 0
    for attempt in range(tries):
        done = close(loops, q if attempt == 0 else _random_position(loops, q, rng), references, most=60)
        if done.residual > CLOSED_AT_BEST:
            continue
        starts += 1
        places, poses = _signatures(loops, done.at.q)
        known = next((f for f in found if np.abs(places - f.places).max() < SAME_POSITION), None)
        if known is not None:
            if not any(np.abs(poses - other).max() < SAME_POSITION for other in known.poses):
                known.poses.append(poses)
            quiet += 1
            if quiet > max(40, 12 * len(found)):
                break  # the last dozens of starts only repeated what is known
            continue
        quiet = 0
        found.append(_Found(float(np.abs(places - here).max()), done, places, [poses]))
        if most is not None and len(found) >= most:
            break
    modes = [AssemblyMode(f.closed, len(f.poses) - 1) for f in sorted(found, key=lambda f: f.distance)]
    return Search(modes, starts, quiet)


def apart(loops: Loops, q: np.ndarray, other: np.ndarray) -> float:
    """Return how far the places of the bodies differ at two positions, dimensionless."""
    return float(np.abs(_signatures(loops, q)[0] - _signatures(loops, other)[0]).max())


class _Found(NamedTuple):
    distance: float
    closed: Closed
    places: np.ndarray
    poses: list[np.ndarray]


def _signatures(loops: Loops, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(places, poses), dimensionless: joint points of every body, or its pose if they are in one place; and the poses of all."""
    m = motion(loops.skel, q, np.zeros(loops.skel.tree.nv))
    poses = [np.concatenate([X.p / loops.kappa, X.R.ravel()]) for X in m.X]
    places = [_joint_points(loops, m, i) for i in range(len(m.X))]
    return np.concatenate([y if y is not None else x for x, y in zip(poses, places, strict=True)]), np.concatenate(poses)


def _joint_points(loops: Loops, m: Motion, node: int) -> np.ndarray | None:
    """Points of the joints and rods of a body; None if they are all in one place, which does not determine its pose."""
    d, body = loops.skel.tree.description, loops.skel.tree.nodes[node].body
    at = [j.frame_first.at if j.first == body else j.frame_second.at for j in d.joints if body in (j.first, j.second)]
    at += [d.point(ref).at for x in elements.every(d) if x.joins for ref in x.between if ref[0] == body]
    points = np.array(at, dtype=float).reshape(-1, 3)
    if len(points) < 2 or np.ptp(points, axis=0).max() < SAME_POSITION * loops.kappa:
        return None
    return np.concatenate([m.X[node].point(p) for p in points]) / loops.kappa


def _random_position(loops: Loops, q: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    out = np.array(q)
    for jt, n in zip(loops.skel.types, loops.skel.tree.nodes, strict=True):
        part = out[n.q]
        for i, kind in enumerate(jt.coordinate_kinds):
            if kind == "angle":
                part[i] = rng.uniform(-np.pi, np.pi)
            elif kind == "length":
                part[i] += loops.kappa * rng.normal()
            else:
                part[i] = rng.normal()
        if "quaternion" in jt.coordinate_kinds:
            part[:4] /= np.linalg.norm(part[:4])
        out[n.q] = part
    return out
