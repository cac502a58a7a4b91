"""Reachable workspace: places that a body reaches in any of some orientations, and in how many of them.

The end of the reach between two places is that of the orientation with which the line between them leads farthest. Where one orientation
varies and there are no limits of joints, that orientation is sought between the given ones (golden section of all lines at once).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from linkwright.rings.robots.workspace.grid import PoseGrid
from linkwright.rings.robots.workspace.grid_states import ReachedPoses, filled
from linkwright.rings.robots.workspace.mode_workspace import OUT, MapTask
from linkwright.rings.robots.workspace.pose_solver import PoseSolver
from linkwright.rings.robots.workspace.reach_ends import line_ends
from linkwright.rings.robots.workspace.result import LocatedPoints
from linkwright.rings.robots.workspace.zero_crossings import crossings

GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)


@dataclass(frozen=True, eq=False)
class ReachablePlaces:
    """Arrays over the places: reach in any orientation, share of the orientations, a state, located ends."""

    inside: np.ndarray
    share: np.ndarray
    q: np.ndarray
    why: np.ndarray
    reasons: tuple[str, ...]
    located: list[LocatedPoints]
    refined: bool
    lost: int


@dataclass(frozen=True, eq=False)
class _BestEnds:
    """Ends of lines between two places, each with its best orientation so far."""

    edges: np.ndarray  # (lines, 2) places
    turned: np.ndarray  # place of the best orientation
    share: np.ndarray
    q: np.ndarray
    kind: np.ndarray  # 0 type I, 1 limit


def reachable(task: MapTask, q: np.ndarray, pose: np.ndarray, places: int) -> ReachablePlaces:
    """Return what the first `places` axes of the task's grid reach in any of the orientations of its other axes."""
    solver, grid = task.solver, replace(task.grid, cells=places)
    found = filled(solver, grid, q, pose)
    margins = np.full(len(found.ok), np.inf)
    if task.limits.ranges and found.ok.any():
        margins[found.ok] = task.limits.least(found.q[found.ok])
    ok = found.ok & (margins >= 0.0)
    plane = PoseGrid(grid.axes[:places], grid.places[:places], grid.base)
    table = ok.reshape(len(plane.poses), -1)
    inside = table.any(axis=1)
    first = np.argmax(table, axis=1)
    states = found.q.reshape(*table.shape, -1)[np.arange(len(table)), first]
    refined = not task.limits.ranges and len(grid.axes) == places + 1
    ends = _best(task, grid, found, ok, margins, inside, table.shape[1])
    if refined and len(ends.share):
        ends = _refined(solver, grid, found, ends, table.shape[1])
    a, b = plane.poses[ends.edges[:, 0]], plane.poses[ends.edges[:, 1]]
    points = plane.place(a + ends.share[:, None] * (b - a))
    zero = solver.determinants(q[None])[0][0]
    determinant = solver.determinants(ends.q)[0] / zero if len(ends.q) else np.zeros(0)
    located = [
        LocatedPoints(kind, ends.edges[some], ends.share[some], points[some], determinant[some], ends.q[some])
        for k, kind in enumerate(("type I", "limit"))
        for some in [ends.kind == k]
        if some.any()
    ]
    beyond = found.ok.reshape(table.shape).any(axis=1) & ~inside
    why = np.where(inside, 0, np.where(beyond, 2, 1))
    reasons = ("", OUT, "beyond limits of joints")
    return ReachablePlaces(inside, table.mean(axis=1), states, why, reasons, located, refined, found.lost)


def _best(
    task: MapTask, grid: PoseGrid, found: ReachedPoses, ok: np.ndarray, margins: np.ndarray, inside: np.ndarray, turns: int
) -> _BestEnds:
    """Of every edge from a place in reach to one out of it the farthest end in a given orientation."""
    rows: list[tuple[int, int, float, np.ndarray, int]] = [(a, b, s, q, 0) for (a, b), (s, q) in found.ends.items()]
    if task.limits.ranges:
        rows = [x for x, good in zip(rows, task.limits.least(np.array([x[3] for x in rows])) >= 0.0, strict=True) if good] if rows else []
        least = np.where(found.ok, margins, np.nan)
        at = crossings(task.solver, task.limits.least, grid.poses, found.q, least, grid.edges)
        for (a, b), s, q in zip(at.edges.tolist(), at.share.tolist(), at.q, strict=True):
            rows.append((a, b, s, q, 1) if ok[a] else (b, a, 1.0 - s, q, 1))
    best: dict[tuple[int, int], tuple[float, int, np.ndarray, int]] = {}
    for a, b, s, q, kind in rows:
        edge = (a // turns, b // turns)
        if ok[a] and inside[edge[0]] and not inside[edge[1]] and s > best.get(edge, (-1.0,))[0]:
            best[edge] = (s, a % turns, q, kind)
    n = found.q.shape[1]
    return _BestEnds(
        np.array(list(best), dtype=int).reshape(-1, 2),
        np.array([x[1] for x in best.values()], dtype=int),
        np.array([x[0] for x in best.values()]),
        np.array([x[2] for x in best.values()]).reshape(-1, n),
        np.array([x[3] for x in best.values()], dtype=int),
    )


def _refined(solver: PoseSolver, grid: PoseGrid, found: ReachedPoses, ends: _BestEnds, turns: int) -> _BestEnds:
    """The same with the best orientation between the given ones."""
    place, values = grid.places[-1], grid.axes[-1]
    inner = ends.edges[:, 0] * turns + ends.turned
    outer = ends.edges[:, 1] * turns + ends.turned
    share, states = ends.share.copy(), ends.q.copy()

    def tried(angle: np.ndarray) -> np.ndarray:
        """Shares of the lines in these orientations, -1 where they cannot begin; better ones are stored."""
        here, there, goal = (grid.poses[i].copy() for i in (inner, inner, outer))
        there[:, place] = goal[:, place] = angle
        turned = line_ends(solver, found.q[inner], here, there)
        some = np.flatnonzero(turned.reached)
        out = np.full(len(angle), -1.0)
        end = line_ends(solver, turned.q[some], there[some], goal[some])
        out[some] = np.where(end.folded | end.reached, end.s, -1.0)
        better = out[some] > share[some]
        share[some[better]], states[some[better]] = out[some[better]], end.q[better]
        return out

    low, high = values[np.maximum(ends.turned - 1, 0)], values[np.minimum(ends.turned + 1, len(values) - 1)]
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    f_left, f_right = tried(left), tried(right)
    steps = 26  # of the golden section: to 4e-6 of twice the distance of two orientations
    for _ in range(steps):
        to_left = f_left > f_right
        low, high = np.where(to_left, low, left), np.where(to_left, right, high)
        fresh = np.where(to_left, high - GOLDEN * (high - low), low + GOLDEN * (high - low))
        f = tried(fresh)
        left, right = np.where(to_left, fresh, right), np.where(to_left, left, fresh)
        f_left, f_right = np.where(to_left, f, f_right), np.where(to_left, f_left, f)
    return replace(ends, share=share, q=states)
