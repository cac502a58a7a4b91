"""Primitives by their volumes, fewer triangles by what they keep, outlines by the places they cover."""

from __future__ import annotations

import math

import numpy as np
import pytest
import trimesh

from linkwright.model.meshes import PRIMITIVES, Surface, outline, primitive, simplified
from linkwright.model.meshes.primitives import AROUND, RINGS
from linkwright.numerics.spatial import quaternion_rotation
from tests.model.meshes.shapes import covers, plate, winding

NGON = 0.5 * AROUND * math.sin(2 * math.pi / AROUND)  # area of the polygon in a unit circle


def solid(s: Surface) -> trimesh.Trimesh:
    return trimesh.Trimesh(s.vertices, s.faces, process=False)


def test_primitives_are_closed_and_have_the_volume_of_their_corners() -> None:
    assert solid(primitive("box", (1, 2, 3))).volume == pytest.approx(6.0)
    assert solid(primitive("cylinder", (0.5, 2, 0))).volume == pytest.approx(NGON * 0.25 * 2, rel=1e-12)
    a = np.linspace(0, 0.5 * np.pi, RINGS + 1)
    r, z = np.cos(a), np.sin(a)
    cap = NGON * float(np.sum(np.diff(z) * (r[1:] ** 2 + r[1:] * r[:-1] + r[:-1] ** 2) / 3))  # frustums of pyramids
    assert solid(primitive("sphere", (0.7, 0, 0))).volume == pytest.approx(2 * cap * 0.7**3, rel=1e-12)
    assert solid(primitive("capsule", (0.7, 2, 0))).volume == pytest.approx(2 * cap * 0.7**3 + NGON * 0.49 * 2, rel=1e-12)
    for shape in PRIMITIVES:
        found = solid(primitive(shape, (0.5, 1.0, 1.5)))
        assert found.is_watertight and found.is_winding_consistent, shape


def test_capsules_and_cylinders_lie_along_z_about_the_origin() -> None:
    for shape, half in (("cylinder", 1.0), ("capsule", 1.5)):
        v = primitive(shape, (0.5, 2.0, 0.0)).vertices
        np.testing.assert_allclose([v.min(axis=0)[2], v.max(axis=0)[2], v[:, 0].max()], [-half, half, 0.5], atol=1e-12)


def test_a_surface_with_few_triangles_stays_as_it_is() -> None:
    found = simplified(plate().triangles, 5000)
    assert len(found.faces) == len(plate().faces) and solid(found).is_watertight
    assert solid(found).volume == pytest.approx(plate().volume, rel=1e-9)


def test_sharp_edges_survive() -> None:
    """A box of 12,288 triangles with 300 has the planes of the box: its vertices are on them, and its volume is that of the box."""
    dense = trimesh.creation.box((1, 2, 3))
    for _ in range(5):
        dense = dense.subdivide()
    found = simplified(dense.triangles, 300)
    assert 50 < len(found.faces) <= 300
    away = np.abs(np.abs(found.vertices) - [0.5, 1.0, 1.5]).min(axis=1)
    assert away.max() < 1e-6  # 1e-3 of the normals' spread is where a plane counts as none; exact planes meet to round-off
    assert solid(found).volume == pytest.approx(6.0, rel=1e-6)


@pytest.mark.parametrize("most", [200, 1000, 4000])
def test_a_sphere_keeps_its_shape_within_its_cells(most: int) -> None:
    ball = trimesh.creation.icosphere(subdivisions=5)
    found = simplified(ball.triangles, most)
    assert 0.4 * most < len(found.faces) <= most
    radii = np.linalg.norm(found.vertices, axis=1)
    assert np.abs(radii - 1.0).max() < 4.0 / most**0.5 / 2  # half a cell of a grid with about sqrt(most / 4) cells across


def test_a_mirrored_surface_is_turned_outside_again() -> None:
    found = primitive("box", (1, 2, 3)).moved(np.eye(3), np.zeros(3), np.array([-1.0, 1.0, 2.0]))
    assert solid(found).volume == pytest.approx(12.0)


def test_the_outline_of_a_plate_is_two_circles_and_its_area_is_that_of_the_ring() -> None:
    lines = outline(simplified(plate().triangles, 5000))
    assert len(lines) == 2
    area = [0.5 * float(np.sum(p[:, 0] * np.roll(p[:, 1], -1) - p[:, 1] * np.roll(p[:, 0], -1))) for p in lines]
    assert area[0] > 0 > area[1] and sum(area) == pytest.approx(plate().volume / 1.0, rel=2e-3)  # lines are straight within 5e-4 of 4 m


@pytest.mark.parametrize("seed", range(6))
def test_the_outline_covers_what_the_triangles_cover(seed: int) -> None:
    """Any solid from any side, against a test of single triangles; places within a thousandth of an edge are left out."""
    rng = np.random.default_rng(seed)
    parts = [plate(24), trimesh.creation.box((1, 3, 0.5)), trimesh.creation.torus(1.5, 0.3), trimesh.creation.capsule(2.0, 0.4)]
    R = quaternion_rotation(rng.normal(size=4))
    if seed == 5:  # open: half of a sphere
        ball = trimesh.creation.icosphere(subdivisions=2)
        corners = ball.triangles[ball.triangles_center[:, 0] > 0]
    else:
        corners = np.concatenate([p.triangles + rng.normal(size=3) for p in parts[seed % 2 : seed % 2 + 2]])
    surface = simplified(corners, 100_000).moved(R, np.zeros(3), np.ones(3))
    places = rng.uniform(surface.vertices[:, :2].min(axis=0), surface.vertices[:, :2].max(axis=0), (400, 2))
    lines = outline(surface)
    edges = np.concatenate([np.stack([p, np.roll(p, -1, axis=0)], axis=1) for p in lines])
    d, r = edges[:, 1] - edges[:, 0], places[:, None] - edges[None, :, 0]
    t = np.clip((r * d).sum(axis=2) / np.maximum((d * d).sum(axis=1), 1e-30), 0, 1)
    near = np.linalg.norm(r - t[..., None] * d, axis=2).min(axis=1) < 2e-3 * np.ptp(surface.vertices[:, :2])
    clear = places[~near]
    assert len(clear) > 200
    np.testing.assert_array_equal(winding(lines, clear) != 0, covers(surface.corners, clear))
