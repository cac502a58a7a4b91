"""Working modes of a pose: all states with the same pose, by random starts of Newton in batches until no new one is found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwright.api import closing, joints
from linkwright.rings.robots.workspace.joint_margins import JointLimits, joint_frame
from linkwright.rings.robots.workspace.pose_solver import PoseSolver, determinant, solved

STARTS = 512  # in each round
QUIET_ROUNDS = 3  # rounds without a new mode that end the search
LONGEST = 0.6  # dimensionless step


@dataclass(frozen=True, eq=False)
class WorkingModes:
    """States with one pose, that of the start first, and how they were found."""

    q: np.ndarray
    starts: int
    share: float  # starts that converged
    seldom: int  # starts that led to the mode found least often


def working_modes(solver: PoseSolver, q: np.ndarray, pose: np.ndarray, limits: JointLimits | None = None, seed: int = 0) -> WorkingModes:
    """Return all states with a pose that were found, nearest to q first."""
    rng, core = np.random.default_rng(seed), solver.core
    kinds = [kind for joint in core.skel.types for kind in joints.velocity_kinds(joint)]
    span = np.array([np.pi if kind == "angle" else 2.0 * core.loops.kappa for kind in kinds]) / core.loops.columns
    found, keys, counts = q[None].copy(), _key(solver, q[None]), [0]
    starts, good, quiet, rounds = 0, 0, 0, 0
    most_rounds = 30
    same = 1e-5  # dimensionless difference of the places of joints
    while quiet < QUIET_ROUNDS and rounds < most_rounds:
        rounds += 1
        begin = solver.moved(np.tile(q, (STARTS, 1)), rng.uniform(-1.0, 1.0, (STARTS, len(span))) * span)
        ends = _settled(solver, begin, np.tile(pose, (STARTS, 1)))
        starts, good, quiet = starts + STARTS, good + len(ends), quiet + 1
        if limits is not None and len(ends):
            ends = ends[limits.least(ends) >= 0.0]
        for x, key in zip(ends, _key(solver, ends), strict=True):
            off = np.abs(keys - key).max(axis=1)
            if off.min() < same:
                counts[int(off.argmin())] += 1
            else:
                found, keys, quiet = np.concatenate([found, x[None]]), np.concatenate([keys, key[None]]), 0
                counts.append(1)
    far = np.abs(keys - keys[0]).sum(axis=1)
    return WorkingModes(found[np.argsort(far, kind="stable")], starts, good / starts, min(counts))


def _key(solver: PoseSolver, q: np.ndarray) -> np.ndarray:
    """Places of all joints on both of their bodies: equal for links that only spin about the line of their joints."""
    core = solver.core
    poses = core.kernels.get("poses").batch((q,), {})
    places = []
    for j in core.description.joints:
        places += [joint_frame(core, poses, body, f)[1] for body, f in ((j.first, j.frame_first), (j.second, j.frame_second))]
    return np.concatenate(places, axis=1) / core.loops.kappa


def _settled(solver: PoseSolver, q: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """States to which Newton's steps lead, at most LONGEST each; without those in a singularity of type I."""

    def steps(x: np.ndarray, at: np.ndarray) -> np.ndarray:
        rows = solver.rows(x)
        return solved(rows.A, -solver.residual(rows, pose[at]))

    ends, done = closing.onto_each(steps, solver.moved, q, closing.EachRule(most=60, last=1e-10, longest=LONGEST))
    ends = ends[done]
    if not len(ends):
        return ends
    A = solver.rows(ends).A
    lengths = np.prod(np.sqrt((A * A).sum(axis=2)), axis=1)
    regular = 1e-7  # det A against the product of its rows' lengths: below, the pose is a singularity of type I
    return ends[np.abs(determinant(A)) > regular * lengths]
