"""Curves, surfaces, contents and hidden curves on functions that are known."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.api import compiled_of
from linkwright.rings.robots.workspace import level_sets
from linkwright.rings.robots.workspace.grid import PoseGrid
from linkwright.rings.robots.workspace.pose_coordinates import pose_coordinates
from linkwright.rings.robots.workspace.pose_solver import pose_solver
from linkwright.rings.robots.workspace.zero_crossings import crossings, divided, doubtful_cells
from tests.rings.robots.workspace.robots import robot


def cut(grid: PoseGrid, f):
    """Edges that a function changes sign on, inner node (f > 0) first, and the share at which it is zero if linear."""
    v = f(grid.poses)
    edges = grid.edges[(v[grid.edges[:, 0]] > 0.0) != (v[grid.edges[:, 1]] > 0.0)]
    edges = np.where((v[edges[:, :1]] > 0.0), edges, edges[:, ::-1])
    return v > 0.0, edges, v[edges[:, 0]] / (v[edges[:, 0]] - v[edges[:, 1]])


@pytest.mark.parametrize("n", [2, 3])
def test_content_of_a_half_space(n):
    """A plane cuts simplices into pieces whose content is exact."""
    grid = PoseGrid(tuple(np.linspace(0.0, 1.0, 4 + k) for k in range(n)), tuple(range(n)), np.zeros(n))
    normal = np.array([1.0, 0.37, 0.21][:n])
    inside, edges, share = cut(grid, lambda x: 0.6 - x @ normal)
    points = np.random.default_rng(1).uniform(0.0, 1.0, (400_000, n))
    counted = float((points @ normal < 0.6).mean())
    assert level_sets.content(grid.simplices, grid.poses, inside, edges, share) == pytest.approx(counted, abs=3e-3)
    everything = level_sets.content(grid.simplices, grid.poses, np.ones(len(grid.poses), bool), edges[:0], share[:0])
    assert everything == pytest.approx(1.0, rel=1e-12)


def test_a_circle_is_one_closed_curve():
    grid = PoseGrid((np.linspace(-1, 1, 30), np.linspace(-1, 1, 31)), (0, 1), np.zeros(2))
    _, edges, _ = cut(grid, lambda x: 0.5 - (x**2).sum(axis=1))
    lines = level_sets.polylines(grid.simplices, edges, len(grid.poses))
    assert len(lines) == 1 and lines[0][0] == lines[0][-1] and len(lines[0]) == len(edges) + 1


def test_a_sphere_is_one_closed_surface():
    """Euler's formula: corners - edges + triangles = 2."""
    grid = PoseGrid(tuple(np.linspace(-1, 1, n) for n in (9, 10, 11)), (0, 1, 2), np.zeros(3))
    _, edges, _ = cut(grid, lambda x: 0.5 - (x**2).sum(axis=1))
    found = level_sets.triangles(grid.simplices, edges, len(grid.poses))
    sides = {tuple(sorted(pair)) for t in found.tolist() for pair in ((t[0], t[1]), (t[1], t[2]), (t[0], t[2]))}
    assert len(set(found.ravel().tolist())) == len(edges)
    assert len(edges) - len(sides) + len(found) == 2


def test_a_closed_curve_inside_one_cell_is_found():
    s = robot("3-rpr")
    solver = pose_solver(compiled_of(s), pose_coordinates(s.description, ["platform"], 3), compiled_of(s).drive_names, 3)
    base = np.array([0.35, 0.3, 0.0])
    grid = PoseGrid((np.linspace(0.2, 0.5, 7), np.linspace(0.2, 0.5, 7)), (0, 1), base)  # cells of 50 mm
    center, radius = np.array([0.327, 0.372]), 0.018

    def f(q):
        return ((solver.rows(q).c[:, :2] - center) ** 2).sum(axis=1) - radius**2

    q, ok = solver.solve(np.tile(s.start.q, (49, 1)), grid.poses)
    assert ok.all()
    assert not len(crossings(solver, f, grid.poses, q, f(q), grid.edges).share)
    part = divided(grid, doubtful_cells(grid, f(q)))
    states, ok = solver.solve(q[part.near], part.poses)
    found = crossings(solver, f, part.poses, states, f(states), part.edges)
    assert ok.all() and len(found.share) >= 4
    assert np.hypot(*(found.poses[:, :2] - center).T) == pytest.approx(radius, abs=1e-12)
    lines = level_sets.polylines(part.triangles, found.edges, len(states))
    assert any(line[0] == line[-1] for line in lines)
