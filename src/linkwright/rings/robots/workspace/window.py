"""Ranges of axes that were left open: a window around the start, enlarged until the reach ends in it, then trimmed to the reach."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwright.rings.robots.workspace.grid import PoseGrid
from linkwright.rings.robots.workspace.grid_states import filled
from linkwright.rings.robots.workspace.joint_margins import JointLimits
from linkwright.rings.robots.workspace.pose_solver import PoseSolver

FIRST = 1.5  # half of the first window, in characteristic lengths
LARGER = 1.8
MOST = 5
ROOM = 0.04  # share of the reach that is left free around it
NODES = {1: 61, 2: 25, 3: 13, 4: 9}


def window(
    solver: PoseSolver,
    q: np.ndarray,
    pose: np.ndarray,
    base: np.ndarray,
    places: Sequence[int],
    known: Sequence[np.ndarray | None],
    limits: JointLimits,
) -> tuple[list[tuple[float, float]], list[int]]:
    """Return (low, high) of each axis, known or found, and the axes on which the reach continues beyond the window."""
    kinds = [solver.coordinates.kinds[p] for p in places]
    half = FIRST * solver.core.loops.kappa
    ends = [
        (float(k[0]), float(k[-1]))
        if k is not None
        else (base[p] - np.pi, base[p] + np.pi)
        if kind == "angle"
        else (pose[p] - half, pose[p] + half)
        for k, p, kind in zip(known, places, kinds, strict=True)
    ]
    open_axes = [i for i, k in enumerate(known) if k is None]
    for attempt in range(MOST + 1):
        grid = PoseGrid(tuple(np.linspace(*e, NODES[len(places)]) for e in ends), tuple(places), base)
        found = filled(solver, grid, q, pose)
        inside = found.ok.copy()
        if limits.ranges and inside.any():
            inside[inside] = limits.least(found.q[inside]) >= 0.0
        inside = inside.reshape(grid.shape)
        spans = [np.flatnonzero(inside.any(axis=tuple(a for a in range(inside.ndim) if a != i))) for i in range(inside.ndim)]
        touching = [
            i for i in open_axes if kinds[i] == "length" and len(spans[i]) and (spans[i][0] == 0 or spans[i][-1] == grid.shape[i] - 1)
        ]
        if not touching or attempt == MOST:
            break
        for i in touching:
            middle, reach = 0.5 * sum(ends[i]), 0.5 * (ends[i][1] - ends[i][0])
            ends[i] = (middle - LARGER * reach, middle + LARGER * reach)
    for i in open_axes:
        if len(spans[i]) and i not in touching:
            values = grid.axes[i]
            low, high = values[max(spans[i][0] - 1, 0)], values[min(spans[i][-1] + 1, len(values) - 1)]
            room = ROOM * (high - low)
            ends[i] = (float(low - room), float(high + room)) if kinds[i] == "length" else (float(low), float(high))
    return ends, touching
