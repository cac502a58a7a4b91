"""Loss of control authority along a path: positions in which some motion leaves all of them at rest.

There no effort holds the mechanism, and on the way there efforts grow without bound. The determinant of the drives' speeds on the
motions of the loops changes its sign where a path goes through such a position, wherever samples lie.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from linkwright.drives.base import target
from linkwright.mechanics.constraints.loops import Loops, scale
from linkwright.motion.controllability import Reach, controllable, drive_rows, reach_of
from linkwright.results.records import RunEvent
from linkwright.results.state import State
from linkwright.results.trajectory import Trajectory

HALVINGS = 10  # and then a straight line: it errs by the square of what is left
LOST = 1e-2  # share of the control authority beside it that may be left where the sign is found to change: 2^-10 of it is expected
WEAK = 1e-2  # share of the best control authority along the path below which a sample is reported
LISTED = 4  # places listed
SEE = "See 'linkwright docs singular-positions'"


class Authority(NamedTuple):
    """At one state: the smallest singular value, and the determinant with the motions it is meant over."""

    smallest: float
    signed: float
    reach: Reach

    def beside(self, other: Authority) -> float:
        """This determinant with the motions oriented as another state's."""
        turned = other.reach.null.T @ self.reach.null
        return self.signed * float(np.sign(np.linalg.det(turned))) if turned.shape[0] == turned.shape[1] else 0.0


def with_authority_notes(
    loops: Loops, c: Trajectory, drives: Sequence[str], between: Callable[[int, float], State], speeds: np.ndarray | None = None
) -> Trajectory:
    """The trajectory with notes on its drives, and events "singular" where they lose control authority.

    between(i, share) is the state between samples i and i + 1; speeds (n, nv, drives) are the velocities per unit speed of each drive, if
    these are known.
    """
    if not drives:
        return c
    shares = None if speeds is None else authority_shares(loops, drives, speeds)
    if shares is not None:
        return replace(c, notes=(*c.notes, *_weak(c, drives, list(shares))))
    at = [_authority(loops, c.state(i), drives) for i in range(len(c))]
    best = max((g.smallest for g in at if np.isfinite(g.smallest)), default=0.0)
    if best == 0.0 or any(len(g.reach.singular_values) > len(drives) for g in at):
        return c  # too few drives: asking for efforts reports it
    passed = [_place(c, i, 0.0) for i, g in enumerate(at) if not g.reach.ok]
    for i, (a, b) in enumerate(pairwise(at)):
        if a.reach.ok and b.reach.ok and a.signed * b.beside(a) < 0.0:
            share = _crossing(loops, drives, a, b, lambda x, i=i: between(i, x))
            passed += [] if share is None else [_place(c, i, share)]
    passed.sort()
    notes = _lost(loops, c, drives, passed) if passed else _weak(c, drives, [g.smallest / best for g in at])
    return replace(c, notes=(*c.notes, *notes), events=(*c.events, *(RunEvent(x, "singular") for x in passed)))


def authority_shares(loops: Loops, drives: Sequence[str], speeds: np.ndarray) -> np.ndarray | None:
    """Control authority at every sample as a share of the best; None where its sign changes between two of them.

    With N an orthonormal basis of the motions and R the drives' speeds on it, the dimensionless speeds S are N R^-1: singular values of
    R are the inverses of those of S, and det(S_a' S_b) is negative where det R changes its sign between a and b.
    """
    S = speeds / loops.columns[:, None] * scale([target(loops.skel, name).position_kind for name in drives], loops.kappa)
    if (np.linalg.det(S[:-1].transpose(0, 2, 1) @ S[1:]) <= 0.0).any():
        return None
    smallest = 1.0 / np.linalg.svd(S, compute_uv=False)[:, 0]
    return smallest / smallest.max()


def _named(drives: Sequence[str]) -> str:
    return f"drive{'s' * (len(drives) > 1)} {' and '.join(drives)}"


def _lost(loops: Loops, c: Trajectory, drives: Sequence[str], passed: Sequence[float]) -> list[str]:
    times = ", ".join(f"{x:.5g}" for x in passed[:LISTED]) + (f" and {len(passed) - LISTED} times more" if len(passed) > LISTED else "")
    st = c.state(int(np.argmin(np.abs(c.t - passed[0]))))
    motion = controllable(loops, st, drive_rows(loops, st, drives), drives).motion
    return [
        f"{_named(drives)} cannot hold the mechanism at t = {times} s: a singular position, in which no drive acts on the motion where "
        f"{motion}. Toward it efforts and loads grow without bound: peak values depend on how close the nearest sample is. {SEE}"
    ]


def _weak(c: Trajectory, drives: Sequence[str], share: Sequence[float]) -> list[str]:
    i = int(np.argmin(share))
    if share[i] > WEAK:
        return []
    return [
        f"{_named(drives)} nearly lose{'s' * (len(drives) == 1)} the mechanism at t = {c.t[i]:.5g} s: {100 * share[i]:.2g} % of the "
        f"control authority they have elsewhere on the path is left, and efforts grow with its inverse. {SEE}"
    ]


def _place(c: Trajectory, i: int, share: float) -> float:
    return float(c.t[i] + share * (c.t[i + 1] - c.t[i]) if share else c.t[i])


def _authority(loops: Loops, st: State, drives: Sequence[str]) -> Authority:
    reach = reach_of(loops, st, drive_rows(loops, st, drives), drives)
    square = reach.null.shape[1] == len(drives) and len(drives) > 0
    return Authority(reach.smallest, float(np.linalg.det(reach.seen)) if square else 0.0, reach)


def _crossing(loops: Loops, drives: Sequence[str], a: Authority, b: Authority, between: Callable[[float], State]) -> float | None:
    """The share of the way at which the sign changes; None where it was only the motions that turned between the samples."""
    low, high, left, right = 0.0, 1.0, a, b
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        here = _authority(loops, between(middle), drives)
        if left.signed * here.beside(left) > 0.0:
            low, left = middle, here
        else:
            high, right = middle, here
    if not min(left.smallest, right.smallest) < LOST * max(a.smallest, b.smallest):
        return None
    beyond = right.beside(left)
    return low + (high - low) * left.signed / (left.signed - beyond) if left.signed != beyond else low
