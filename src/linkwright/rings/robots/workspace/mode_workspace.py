"""The workspace of one working mode over a grid: states, reach, located points of all kinds, measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.rings.robots.workspace.grid import PoseGrid
from linkwright.rings.robots.workspace.grid_states import ReachedPoses, filled
from linkwright.rings.robots.workspace.joint_margins import JointLimits
from linkwright.rings.robots.workspace.measures import RobotData, measured
from linkwright.rings.robots.workspace.pose_solver import AT_ONCE, PoseSolver
from linkwright.rings.robots.workspace.result import LocatedPoints
from linkwright.rings.robots.workspace.zero_crossings import Crossings, crossings, divided, doubtful_cells

OUT = "out of reach"
NEAR_ZERO = 1e-6  # determinant of type II at a located point, 1 at the start


@dataclass(frozen=True, eq=False)
class MapTask:
    """All of a map but the mode: solver, grid, limits, data of drives and payload, names of the measures."""

    solver: PoseSolver
    grid: PoseGrid
    limits: JointLimits
    data: RobotData
    dynamic: bool
    names: Sequence[str]


@dataclass(frozen=True, eq=False)
class ComputedMap:
    """Arrays over the nodes of a grid and located points."""

    reached: ReachedPoses
    inside: np.ndarray
    why: np.ndarray
    reasons: tuple[str, ...]
    values: dict[str, np.ndarray]
    located: list[LocatedPoints]


def computed(task: MapTask, q: np.ndarray, pose: np.ndarray) -> ComputedMap:
    """Compute the map of the working mode of a state."""
    solver, grid = task.solver, task.grid
    found = filled(solver, grid, q, pose)
    at = found.q[found.ok]
    nodes, n = len(found.ok), len(at)
    first, second = np.full(nodes, np.nan), np.full(nodes, np.nan)
    scale = np.array([x[0] for x in solver.determinants(q[None])])
    scale = np.where(np.abs(scale) > 1e-300, scale, 1.0)  # positive on the start's side of singularities
    first[found.ok], second[found.ok] = (x / s for x, s in zip(solver.determinants(at), scale, strict=True))
    zero = 1e-12  # share of the largest determinant that is round-off: a pose of the grid is singular itself
    first, second = (np.where(np.abs(x) <= zero * np.nanmax(np.abs(x), initial=0.0), np.abs(x), x) for x in (first, second))
    margins = np.full((nodes, len(task.limits.ranges)), np.nan)
    if task.limits.ranges and n:
        margins[found.ok] = np.concatenate([task.limits.margins(at[i : i + AT_ONCE]) for i in range(0, n, AT_ONCE)])
    inside = found.ok & ~(margins < 0.0).any(axis=1)
    why = np.where(found.ok, 0, 1)
    if task.limits.ranges:
        why = np.where(found.ok & ~inside, 2 + np.argmin(np.where(np.isnan(margins), np.inf, margins), axis=1), why)
    reasons = ("", OUT, *(f"beyond the limit of {name}" for name in task.limits.ranges))
    values = {"type1": first, "type2": second}
    if any(name not in values for name in task.names) and inside.any():
        for name, x in measured(solver, found.q[inside], task.data, task.dynamic).items():
            if name in task.names:
                values[name] = np.full(nodes, np.nan)
                values[name][inside] = x
    located = _located(task, found, first, second, margins, scale)
    chosen = {name: np.where(inside, values.get(name, np.nan), np.nan) for name in ("type1", "type2", *task.names)}
    return ComputedMap(found, inside, why, reasons, chosen, located)


def _located(
    task: MapTask, found: ReachedPoses, first: np.ndarray, second: np.ndarray, margins: np.ndarray, scale: np.ndarray
) -> list[LocatedPoints]:
    """Points of singularities and limits on edges of the grid, within the limits; then those of divided cells."""
    solver, grid = task.solver, task.grid
    poses = grid.poses

    def within_limits(
        kind: str, edges: Any, share: Any, where: np.ndarray, q: np.ndarray, determinant: np.ndarray, **more: Any
    ) -> LocatedPoints:
        good = task.limits.least(q) >= 0.0 if task.limits.ranges and kind != "limit" and len(q) else np.ones(len(q), bool)
        points = LocatedPoints(kind, np.asarray(edges), np.asarray(share), grid.place(where), determinant, q, **more)
        return (
            points
            if good.all()
            else points._replace(**{k: getattr(points, k)[good] for k in ("edges", "share", "points", "determinant", "q")})
        )

    out = []
    ends = np.array(list(found.ends), dtype=int).reshape(-1, 2)
    share = np.array([s for s, _ in found.ends.values()])
    states = np.array([q for _, q in found.ends.values()]).reshape(len(ends), -1) if len(ends) else np.zeros((0, found.q.shape[1]))
    way = solver.coordinates.off(poses[ends[:, 1]].copy(), poses[ends[:, 0]])
    out.append(within_limits("type I", ends, share, poses[ends[:, 0]] + share[:, None] * way, states, _relative(solver, states, 0, scale)))

    def type_two(q: np.ndarray) -> np.ndarray:
        return _relative(solver, q, 1, scale)

    passed = crossings(solver, lambda q: _relative(solver, q, 0, scale), poses, found.q, first, grid.edges)
    out.append(within_limits("type I", passed.edges, passed.share, passed.poses, passed.q, passed.value))
    lost = crossings(solver, type_two, poses, found.q, second, grid.edges)
    rim = _to_ends(solver, found, ends, share, states, poses, way)
    values = type_two(rim.q)
    true = np.abs(values) < NEAR_ZERO  # else only a leg is singular
    both = [np.concatenate([getattr(lost, k), getattr(rim, k)[true]]) for k in ("edges", "share", "poses", "q")]
    out.append(within_limits("type II", *both, np.concatenate([lost.value, values[true]])))
    if task.limits.ranges:
        least = np.where(found.ok, np.where(np.isnan(margins), np.inf, margins).min(axis=1), np.nan)
        at = crossings(solver, task.limits.least, poses, found.q, least, grid.edges)
        inner = least[at.edges[:, 0]] >= 0.0
        edges, share = np.where(inner[:, None], at.edges, at.edges[:, ::-1]), np.where(inner, at.share, 1.0 - at.share)
        out.append(within_limits("limit", edges, share, at.poses, at.q, type_two(at.q)))
    cells = doubtful_cells(grid, second) if grid.divided == 2 else np.zeros((0, 4), int)
    if len(cells):
        part = divided(grid, cells)
        q, ok = solver.solve(found.q[part.near], part.poses)
        values = np.full(len(q), np.nan)
        values[ok] = type_two(q[ok])
        hidden = crossings(solver, type_two, part.poses, q, values, part.edges)
        if len(hidden.share):
            out.append(
                within_limits(
                    "type II", hidden.edges, hidden.share, hidden.poses, hidden.q, hidden.value, simplices=part.triangles, nodes=len(q)
                )
            )
    return [x for x in out if len(x.share)]


def _to_ends(
    solver: PoseSolver, found: ReachedPoses, ends: np.ndarray, share: np.ndarray, states: np.ndarray, poses: np.ndarray, way: np.ndarray
) -> Crossings:
    """Zeros of type II between poses in reach and the end of the reach on the same edge."""
    n, inner = len(ends), ends[:, 0]
    q = np.concatenate([found.q[inner], states])
    pairs = np.stack([np.arange(n), n + np.arange(n)], axis=1)
    where = np.concatenate([poses[inner], poses[inner] + share[:, None] * way])
    at = crossings(solver, solver.drives_held, where, q, solver.drives_held(q), pairs, to_end=True)
    return at._replace(edges=ends[at.edges[:, 0]], share=at.share * share[at.edges[:, 0]])


def _relative(solver: PoseSolver, q: np.ndarray, which: int, scale: np.ndarray) -> np.ndarray:
    return solver.determinants(q)[which] / scale[which]
