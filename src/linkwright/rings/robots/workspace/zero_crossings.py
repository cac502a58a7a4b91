"""Zeros of a function of the state on edges between poses, located to round-off: Illinois steps of all edges at once.

Edges whose ends have the same sign may hold two zeros: where the slopes at both ends point to zero, the cell is divided and searched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from linkwright.rings.robots.workspace.grid import PoseGrid
from linkwright.rings.robots.workspace.pose_solver import PoseSolver

Function = Callable[[np.ndarray], np.ndarray]
POLE = 1e-6  # the same, above which a change of sign is one through infinity
PARTS = 4  # into which a side of a doubtful cell is divided


class Crossings(NamedTuple):
    """Zeros on edges: nodes of the edge, share of it, state, pose coordinates and value there."""

    edges: np.ndarray  # (n, 2)
    share: np.ndarray
    q: np.ndarray
    poses: np.ndarray
    value: np.ndarray


def crossings(
    solver: PoseSolver, f: Function, poses: np.ndarray, q: np.ndarray, values: np.ndarray, edges: np.ndarray, *, to_end: bool = False
) -> Crossings:
    """Locate the zeros on those of the edges (pairs of rows of poses) whose ends have values of different signs.

    `to_end`: the second ends are ends of the reach, from which Newton's steps cannot begin.
    """
    fa, fb = values[edges[:, 0]], values[edges[:, 1]]
    edges = edges[np.isfinite(fa) & np.isfinite(fb) & ((fa < 0.0) != (fb < 0.0))]
    a, b = edges.T
    way = solver.coordinates.off(poses[b].copy(), poses[a])
    size = np.maximum(np.abs(values[a]), np.abs(values[b]))
    low, high, f_low, f_high = np.zeros(len(a)), np.ones(len(a)), values[a].copy(), values[b].copy()
    q_low, q_high = q[a].copy(), q[b].copy()
    share, at, best = np.full(len(a), np.nan), q[a].copy(), np.full(len(a), np.inf)
    last, left = np.zeros(len(a)), np.arange(len(a))
    refined = 60
    zero = 1e-14  # value of a located zero, against the larger one at the ends of its edge
    for _ in range(refined):
        if not len(left):
            break
        s = (low * f_high - high * f_low)[left] / (f_high - f_low)[left]
        nearer = ((s - low[left] < high[left] - s) | (to_end & (high[left] >= 1.0)))[:, None]
        x, ok = solver.solve(np.where(nearer, q_low[left], q_high[left]), poses[a[left]] + s[:, None] * way[left])
        left, s, x = left[ok], s[ok], x[ok]
        y = f(x)
        better = np.abs(y) < best[left]
        share[left], best[left] = np.where(better, s, share[left]), np.where(better, np.abs(y), best[left])
        at[left] = np.where(better[:, None], x, at[left])
        same = (y < 0.0) == (f_low[left] < 0.0)  # as at the lower end
        side = np.where(same, 1.0, -1.0)
        halved = np.where(side == last[left], 0.5, 1.0)
        f_high[left], f_low[left] = np.where(same, halved * f_high[left], y), np.where(same, y, halved * f_low[left])
        high[left], low[left] = np.where(same, high[left], s), np.where(same, s, low[left])
        q_low[left], q_high[left] = np.where(same[:, None], x, q_low[left]), np.where(same[:, None], q_high[left], x)
        last[left] = side
        left = left[(np.abs(y) > zero * size[left]) & (high[left] - low[left] > 1e-15) & np.isfinite(y)]
    found = np.flatnonzero(best <= POLE * size)
    where = poses[a[found]] + share[found, None] * way[found]
    return Crossings(edges[found], share[found], at[found], where, f(at[found]) if len(found) else np.zeros(0))


class DividedCells(NamedTuple):
    """Nodes of doubtful cells, each divided: poses, and triangles by their rows."""

    poses: np.ndarray
    near: np.ndarray  # node of the grid whose state is near
    edges: np.ndarray
    triangles: np.ndarray


def doubtful_cells(grid: PoseGrid, values: np.ndarray) -> np.ndarray:
    """Corners (cells, 4) of the cells along the first two axes in which a closed curve or a double crossing may hide."""
    if len(grid.axes) < 2:
        return np.zeros((0, 4), int)
    v = values.reshape(grid.shape)
    size = np.abs(v)
    slopes = [np.gradient(size, axis=k) if grid.shape[k] > 2 else np.zeros_like(size) for k in (0, 1)]
    corners = [size[i : size.shape[0] - 1 + i, j : size.shape[1] - 1 + j] for i in (0, 1) for j in (0, 1)]
    signs = [x < 0.0 for x in (v[i : v.shape[0] - 1 + i, j : v.shape[1] - 1 + j] for i in (0, 1) for j in (0, 1))]
    same = (signs[0] == signs[1]) & (signs[0] == signs[2]) & (signs[0] == signs[3])
    steep = np.zeros_like(corners[0], dtype=bool)
    valley = np.zeros_like(corners[0], dtype=bool)
    least = np.min(corners, axis=0)
    with np.errstate(invalid="ignore"):
        for k, slope in enumerate(slopes):
            cut = [slice(None)] * v.ndim
            for side in (0, 1):  # both edges along axis k
                cut[1 - k] = slice(side, v.shape[1 - k] - 1 + side)
                cut[k] = slice(None, -1)
                down = slope[tuple(cut)]
                cut[k] = slice(1, None)
                up = slope[tuple(cut)]
                valley |= (down < 0.0) & (up > 0.0)
                steep |= least < 0.5 * (np.abs(down) + np.abs(up))
    some = same & steep & valley & np.isfinite(least)
    index = grid.index
    nodes = [index[i : index.shape[0] - 1 + i, j : index.shape[1] - 1 + j][some] for i in (0, 1) for j in (0, 1)]
    return np.stack(nodes, axis=1)


def divided(grid: PoseGrid, cells: np.ndarray) -> DividedCells:
    """Divide cells into PARTS x PARTS."""
    n = PARTS + 1
    u, w = (x.ravel() for x in np.meshgrid(np.linspace(0.0, 1.0, n), np.linspace(0.0, 1.0, n), indexing="ij"))
    c = grid.poses[cells]  # (cells, 4, coordinates)
    weights = np.stack([(1 - u) * (1 - w), (1 - u) * w, u * (1 - w), u * w])
    poses = np.einsum("kp,ckn->cpn", weights, c).reshape(-1, c.shape[-1])
    near = cells[:, np.argmax(weights, axis=0)].ravel()
    local = PoseGrid((np.arange(n), np.arange(n)), (0, 1), np.zeros(2))
    first = (n * n * np.arange(len(cells)))[:, None, None]
    return DividedCells(poses, near, (local.edges + first).reshape(-1, 2), (local.simplices + first).reshape(-1, 3))
