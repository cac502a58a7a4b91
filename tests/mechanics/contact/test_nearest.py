"""Gaps of outlines against distances found by brute force over their points, and against closed forms."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from linkwright.mechanics.contact.nearest import Boundary, Disc, Hole, Lobe, Rail, Rim, Round, Wall
from linkwright.model.curves.tables import periodic_spline

L_SHAPE = [np.array(p, float) for p in ((0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3))]
EDGES = [(i, (i + 1) % 6) for i in range(6)]


def sampled(points, closed=True, n=4000):
    """Many points on straight lines."""
    ends = [*points, points[0]] if closed else points
    return np.concatenate([np.linspace(a, b, n) for a, b in pairwise(ends)])


def inside(points, c):
    """Ray casting."""
    out = False
    for a, b in zip(points, [*points[1:], points[0]], strict=True):
        if (a[1] > c[1]) != (b[1] > c[1]) and c[0] < a[0] + (c[1] - a[1]) / (b[1] - a[1]) * (b[0] - a[0]):
            out = not out
    return out


def test_polygon_with_a_notch():
    """Brute force: the distance to its densest samples, negative inside."""
    every, outline = sampled(L_SHAPE), Boundary(L_SHAPE, EDGES, 1.0, 0.0, range(6))
    for c in np.random.default_rng(7).uniform(-1.5, 4.5, (60, 2)):
        distance = np.linalg.norm(every - c, axis=1).min() * (-1.0 if inside(L_SHAPE, c) else 1.0)
        found = outline.nearest(Round(c, 0.25))
        assert found.gap == pytest.approx(distance - 0.25, abs=1e-5)  # half the distance of two samples, squared over twice the distance
        assert np.linalg.norm(found.first - c) == pytest.approx(0.25, rel=1e-13)
        assert found.first - found.second == pytest.approx(found.gap * found.normal, abs=1e-12)


def test_a_round_in_a_notch_touches_an_edge_of_each_group():
    groups = [(0, 2, 4), (1, 3, 5)]
    found = [Boundary(L_SHAPE, EDGES, 1.0, 0.0, g, alone=True).nearest(Round(np.array([1.5, 1.5]), 0.5)) for g in groups]
    assert [x.gap for x in found] == pytest.approx([0.0, 0.0], abs=1e-15)
    assert {tuple(np.round(x.normal, 12)) for x in found} == {(0.0, 1.0), (1.0, 0.0)}


def test_a_round_on_a_corner_belongs_to_one_group():
    groups = [(0, 2, 4), (1, 3, 5)]
    c = np.array([3.0, 1.0]) + 0.5 * np.array([np.cos(1.0), np.sin(1.0)])
    gaps = [Boundary(L_SHAPE, EDGES, 1.0, 0.0, g, alone=True).nearest(Round(c, 0.5)).gap for g in groups]
    assert min(gaps) == pytest.approx(0.0, abs=1e-15) and max(gaps) > 1e-3


def test_front_and_back_of_a_thin_plate():
    """Touching the front, the back is no deep touch: for a group of edges without the front as well."""
    plate = [np.array(p, float) for p in ((0, 0), (4, 0), (4, 0.01), (0, 0.01))]
    edges = [(i, (i + 1) % 4) for i in range(4)]
    for depth in (1e-3, 0.0, -1e-12):
        for group in ((0, 2), (1, 3)):
            found = Boundary(plate, edges, 1.0, 0.0, group, alone=True).nearest(Round(np.array([2.0, 0.01 + depth]), 0.0))
            assert found.gap == pytest.approx(depth, abs=1e-15) if group == (0, 2) else found.gap > 0.0


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_rim(side):
    """Brute force over the arc; inside it counts from within the circle."""
    middle, half, R = 0.7, 1.1, 2.0

    def at(a):
        return R * np.array([np.cos(a), np.sin(a)])

    rim = Rim(np.zeros(2), R, at(middle) / R, np.cos(half), [at(middle - half), at(middle + half)], side)
    every = np.array([at(a) for a in np.linspace(middle - half, middle + half, 20001)])
    for c in np.random.default_rng(7).uniform(-3.5, 3.5, (60, 2)):
        angle = np.abs(np.angle(np.exp(1j * (np.arctan2(c[1], c[0]) - middle))))
        if angle < half and side * (np.linalg.norm(c) - R) < 0.0:
            continue  # in the solid
        distance = np.linalg.norm(every - c, axis=1).min()
        if angle >= half or side > 0.0:
            assert rim.nearest(Round(c, 0.1)).gap == pytest.approx(distance - 0.1, abs=1e-5)  # samples lie 2e-4 apart


def test_profile_of_a_circle_is_a_circle():
    """Radii over the angle of a circle beside its center; the spline through 180 of them is the circle to 1e-8."""
    angles = np.linspace(0.0, 2 * np.pi, 181)
    e, R = 0.3, 1.0
    radii = e * np.cos(angles) + np.sqrt(R * R - (e * np.sin(angles)) ** 2)
    radii[-1] = radii[0]
    turn = np.array([[np.cos(0.4), -np.sin(0.4)], [np.sin(0.4), np.cos(0.4)]])
    center = np.array([0.2, -0.1])
    lobe, disc = Lobe(center, turn, periodic_spline(angles, radii)), Disc(center + turn @ [e, 0.0], R)
    for c in np.random.default_rng(7).uniform(-3.0, 3.0, (40, 2)):
        x = Round(c, 0.2)
        if disc.nearest(x).gap < -0.5:
            continue
        mine, theirs = lobe.nearest(x), disc.nearest(x)
        assert mine.gap == pytest.approx(theirs.gap, abs=1e-8)
        assert mine.normal == pytest.approx(theirs.normal, abs=1e-6)
    for angle in np.linspace(0.0, 6.0, 13):
        n = np.array([np.cos(angle), np.sin(angle)])
        wall = Wall(np.array([0.1, 0.2]), n)
        assert lobe.on(wall).gap == pytest.approx(wall.nearest(Round(disc.center, R)).gap, abs=1e-8)


def test_closed_forms():
    n = np.array([0.6, 0.8])
    assert Wall(np.zeros(2), n).nearest(Round(3.0 * n, 1.0)).gap == pytest.approx(2.0)
    assert Disc(np.zeros(2), 2.0).nearest(Round(5.0 * n, 1.0)).gap == pytest.approx(2.0)
    assert Hole(np.zeros(2), 2.0).nearest(Round(0.25 * n, 1.5)).gap == pytest.approx(0.25)
    assert Rail(np.zeros(2), np.array([4.0, 0.0]), 0.5).nearest(Round(np.array([7.0, 4.0]), 1.0)).gap == pytest.approx(3.5)
    assert Hole(np.zeros(2), 2.0).nearest(Round(np.zeros(2), 1.5)).gap == pytest.approx(0.5)  # a pin in the middle of its hole
    assert np.all(np.isfinite(Hole(np.zeros(2), 2.0).nearest(Round(np.zeros(2), 1.5)).normal))


def test_what_is_at_the_back_of_a_bowl_is_not_in_it():
    """A disc far behind the rim of a bowl is as far from it as from a circle, a point just beyond the rim is in the solid."""
    bowl = Rim(np.zeros(2), 1.0, np.array([1.0, 0.0]), np.cos(0.7), [np.array([np.cos(x), np.sin(x)]) for x in (-0.7, 0.7)], -1.0)
    assert bowl.nearest(Round(np.array([4.0, 0.0]), 0.5)).gap == pytest.approx(2.5)
    assert bowl.nearest(Round(np.array([1.01, 0.0]), 0.0)).gap == pytest.approx(-0.01)
    assert bowl.nearest(Round(np.array([0.4, 0.0]), 0.5)).gap == pytest.approx(0.1)
