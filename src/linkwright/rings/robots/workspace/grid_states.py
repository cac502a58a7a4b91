"""States of all poses of a grid on one working mode: from neighbor to neighbor, and along lines where steps of the grid are too long."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwright.rings.robots.workspace.grid import PoseGrid
from linkwright.rings.robots.workspace.pose_solver import PoseSolver
from linkwright.rings.robots.workspace.reach_ends import line_ends

SEEDS = 12  # poses along each axis to which straight lines lead from the start
MOST_SEEDS = 1728


@dataclass(frozen=True, eq=False)
class ReachedPoses:
    """States by node, and the ends of the reach on edges."""

    q: np.ndarray  # (nodes, nq), NaN where a pose is out of reach
    ok: np.ndarray  # (nodes,)
    ends: dict[tuple[int, int], tuple[float, np.ndarray]]  # (node in reach, node out of reach) -> share of the edge, state
    lost: int  # edges on which neither the other node nor the end of the reach was found


def filled(solver: PoseSolver, grid: PoseGrid, q: np.ndarray, pose: np.ndarray) -> ReachedPoses:
    """Return the states of all poses that can be reached from a state with its pose, without a singularity of type I on the way."""
    poses = grid.poses
    Q, ok = np.full((len(poses), len(q)), np.nan), np.zeros(len(poses), bool)
    seeds = _seeds(grid)
    found = line_ends(solver, np.tile(q, (len(seeds), 1)), np.tile(pose, (len(seeds), 1)), poses[seeds])
    there = seeds[found.reached]
    Q[there], ok[there] = found.q[found.reached], True
    ends: dict[tuple[int, int], tuple[float, np.ndarray]] = {}
    tried: set[tuple[int, int]] = set()
    lost = 0
    aside = grid.neighbors if grid.divided < len(grid.axes) else np.zeros((0, 2), int)
    every = np.unique(np.concatenate([grid.edges, grid.edges[:, ::-1], aside]), axis=0)
    _spread(solver, grid, Q, ok)
    while True:
        rim = every[ok[every[:, 0]] & ~ok[every[:, 1]]]
        rim = np.array([e for e in rim.tolist() if tuple(e) not in tried], dtype=int).reshape(-1, 2)
        if not len(rim):
            break
        a, b = rim.T
        found = line_ends(solver, Q[a], poses[a], poses[b])
        tried |= {(int(x), int(y)) for x, y in rim}
        ends |= {(int(a[i]), int(b[i])): (float(found.s[i]), found.q[i]) for i in np.flatnonzero(found.folded)}
        lost += int((~found.folded & ~found.reached).sum())
        fresh = np.flatnonzero(found.reached & ~ok[b])
        Q[b[fresh]], ok[b[fresh]] = found.q[fresh], True
        if len(fresh):
            _spread(solver, grid, Q, ok)
    return ReachedPoses(Q, ok, {e: x for e, x in ends.items() if ok[e[0]] and not ok[e[1]]}, lost)


def _seeds(grid: PoseGrid) -> np.ndarray:
    """Some nodes, evenly spread."""
    per_axis = max(2, min(SEEDS, int(MOST_SEEDS ** (1.0 / len(grid.axes)))))
    some = [np.unique(np.round(np.linspace(0, n - 1, min(per_axis, n))).astype(int)) for n in grid.shape]
    return grid.index[np.ix_(*some)].ravel()


def _spread(solver: PoseSolver, grid: PoseGrid, Q: np.ndarray, ok: np.ndarray) -> None:
    """Solve neighbors of known poses until none is left; each pair of neighbors is tried once."""
    pairs, poses = grid.neighbors, grid.poses
    pairs = pairs[~ok[pairs[:, 1]]]
    while len(pairs):
        ready = ok[pairs[:, 0]] & ~ok[pairs[:, 1]]
        chosen = np.flatnonzero(ready)
        if not len(chosen):
            return
        _, first = np.unique(pairs[chosen, 1], return_index=True)  # one way to each
        chosen = chosen[first]
        a, b = pairs[chosen].T
        q, good = solver.solve(Q[a], poses[b])
        Q[b[good]], ok[b[good]] = q[good], True
        keep = np.ones(len(pairs), bool)
        keep[chosen] = False
        pairs = pairs[keep & ~ok[pairs[:, 1]]]
