"""Shapes and what they weigh, against closed forms; STL solids against the cube and the tetrahedron."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest

from linkwright.errors import ModelError
from linkwright.model.file import read
from linkwright.text.expressions import Expr
from tests.refusals import refused

SQUARE = {"A": [0, 0], "B": [2, 0], "C": [2, 1], "D": [0, 1]}


def body(description, **more):
    """A planar model around one body `b` that hangs on ground at A."""
    model = {
        "plane": "xy",
        "bodies": {"ground": {"points": ["A"]}, "b": description},
        "joints": {"J": {"type": "revolute", "between": ["ground", "b"], "at": "A"}},
    }
    return read({"drawing": SQUARE, **model, **more})


def local(description, name):
    return np.array(description.body("b").point(name).at)


def test_a_drawn_frame_has_its_origin_at_the_first_pin_and_x_to_the_second():
    d = body(
        {"pins": ["A", "C"], "points": ["B"]},
        joints={
            "J": {"type": "revolute", "between": ["ground", "b"], "at": "A"},
            "K": {"type": "fixed", "between": ["ground", "b"], "at": "C"},
        },
    )
    assert local(d, "A").tolist() == [0, 0, 0] and local(d, "C") == pytest.approx([math.sqrt(5), 0, 0])
    assert local(d, "B") == pytest.approx([4 / math.sqrt(5), -2 / math.sqrt(5), 0])
    start = d.body("b").start
    assert np.array(start.rotation) @ local(d, "B") + start.at == pytest.approx([2, 0, 0])


def test_stations_count_from_the_first_listed_and_x_follows_them():
    d = body({"along": {"A": 0.5, "B": 2.5, "M": -0.5}})
    assert local(d, "B").tolist() == [2, 0, 0] and local(d, "M").tolist() == [-1, 0, 0]
    assert d.body("b").start.at == (0.0, 0.0, 0.0)
    turned = body({"along": {"A": 0, "B": -2}})
    assert np.array(turned.body("b").start.rotation)[:, 0] == pytest.approx([-1, 0, 0])


def test_sides_place_corners_on_the_drawn_side():
    d = body({"points": ["A", "B", "C", "D"], "sides": {"A-B": 4, "A-C": 5, "B-C": 3, "B-D": 5, "A-D": 3}})
    assert local(d, "C") == pytest.approx([4, 3, 0]) and local(d, "D") == pytest.approx([0, 3, 0])
    mirrored = body({"points": ["A", "B", "C"], "sides": {"A-B": 4, "A-C": 5, "B-C": 3}}, drawing={"A": [0, 0], "B": [2, 0], "C": [2, -1]})
    assert local(mirrored, "C") == pytest.approx([4, -3, 0])


def test_a_rod_a_triangle_and_a_rectangle():
    rod = body({"along": {"A": 0, "B": 2}, "mass": 3}).body("b")
    assert rod.com == (1.0, 0.0, 0.0) and np.array(rod.inertia) == pytest.approx(np.diag([0, 1, 1]))
    plate = body({"points": {"A": [0, 0], "B": [2, 0], "C": [2, 1], "D": [0, 1]}, "mass": 6}).body("b")
    assert plate.com == pytest.approx((1, 0.5, 0))
    assert np.array(plate.inertia) == pytest.approx(np.diag([6 * 1 / 12, 6 * 4 / 12, 6 * 5 / 12]))
    a, b = 3.0, 1.5  # right triangle: m a^2/18, product of inertia m a b/36
    corner = body({"points": {"A": [0, 0], "B": [a, 0], "D": [0, b]}, "mass": 2}).body("b")
    assert corner.com == pytest.approx((a / 3, b / 3, 0))
    expected = [[2 * b * b / 18, 2 * a * b / 36, 0], [2 * a * b / 36, 2 * a * a / 18, 0], [0, 0, 2 * (a * a + b * b) / 18]]
    assert np.array(corner.inertia) == pytest.approx(np.array(expected))


def test_pins_on_one_line_make_a_rod_between_the_ends():
    b = body({"points": {"A": [0, 0], "B": [1, 1], "C": [3, 3]}, "mass": 12}).body("b")
    assert b.com == pytest.approx((1.5, 1.5, 0)) and b.inertia[2][2] == pytest.approx(18.0)


def test_marked_points_do_not_make_a_plate():
    b = body(
        {"pins": ["A", "B"], "points": ["D"], "mass": 3},
        joints={
            "J": {"type": "revolute", "between": ["ground", "b"], "at": "A"},
            "K": {"type": "fixed", "between": ["ground", "b"], "at": "B"},
        },
    ).body("b")
    assert b.inertia[2][2] == pytest.approx(1.0)


def test_bars_of_a_section_and_material():
    b = body({"along": {"A": 0, "B": "1 m"}, "bar": {"section": {"width": "20 mm", "height": "40 mm"}, "material": "steel"}}).body("b")
    m = 7850 * 0.02 * 0.04
    assert b.mass == pytest.approx(m)
    assert np.array(b.inertia) == pytest.approx(np.diag([m * (0.02**2 + 0.04**2) / 12, m * (1 + 0.02**2) / 12, m * (1 + 0.04**2) / 12]))
    tube = body({"along": {"A": 0, "B": 1}, "bar": {"section": {"diameter": 0.1, "inner": 0.08}, "density": 1000}}).body("b")
    m = 1000 * math.pi / 4 * (0.1**2 - 0.08**2)
    assert tube.mass == pytest.approx(m) and tube.inertia[0][0] == pytest.approx(m * (0.1**2 + 0.08**2) / 8)
    assert tube.inertia[2][2] == pytest.approx(m / 12 + m * (0.1**2 + 0.08**2) / 16)


def test_several_bars_share_the_mass_by_length():
    b = body({"points": {"A": [0, 0], "B": [2, 0], "C": [2, 1]}, "bars": [["A", "B"], ["B", "C"]], "mass": 3}).body("b")
    assert b.com == pytest.approx((4 / 3, 1 / 6, 0))
    about_origin = 2 * 4 / 3 + (1 / 12 + 4 + 0.25)  # rod 2 kg about its end; rod 1 kg, center at (2, 0.5)
    assert b.inertia[2][2] == pytest.approx(about_origin - 3 * (16 / 9 + 1 / 36))


def test_a_plate_with_thickness():
    b = body({"points": SQUARE, "plate": {"thickness": 0.1, "density": 10, "points": ["A", "B", "C", "D"]}}).body("b")
    assert b.mass == pytest.approx(2.0)
    assert np.array(b.inertia) == pytest.approx(np.diag([2 * (1 + 0.01) / 12, 2 * (4 + 0.01) / 12, 2 * 5 / 12]))


def test_masses_are_added_by_parallel_axes():
    d = body({"along": {"A": 0, "B": 2}, "mass": 3}, masses={"m": {"body": "b", "at": "B", "mass": 1}})
    b = d.body("b")
    assert b.mass == 4.0 and b.com == pytest.approx((1.25, 0, 0))
    assert b.inertia[2][2] == pytest.approx(1 + 3 * 0.25**2 + 0.75**2)
    alone = body({"along": {"A": 0, "B": 2}}, masses={"m": {"body": "b", "at": "B", "mass": 1}}).body("b")
    assert alone.mass == 1.0 and alone.com == (2.0, 0.0, 0.0) and not np.array(alone.inertia).any()


def test_com_and_inertia_that_are_given():
    b = body({"points": ["A", "B"], "mass": 2, "com": [1, 0.5], "inertia": 0.4}).body("b")
    assert b.com == (1.0, 0.5, 0.0) and np.array(b.inertia) == pytest.approx(np.diag([0.2, 0.2, 0.4]))
    assert body({"points": ["A", "B"], "mass": 2, "com": "B"}).body("b").com == (2.0, 0.0, 0.0)
    assert body({"points": ["A"], "mass": 2}).body("b").inertia == ((0.0,) * 3,) * 3


def test_a_radius_of_gyration_that_does_not_fit_is_remarked():
    assert not body({"along": {"A": 0, "B": 2}, "mass": 3, "inertia": 1.0}).warnings
    for odd in (200.0, 1e-6):
        (warning,) = body({"along": {"A": 0, "B": 2}, "mass": 3, "inertia": odd}).warnings
        assert "radius of gyration" in warning and "'b'" in warning


def test_shapes_stay_expressions_of_the_parameters():
    d = body({"points": {"A": [0, 0], "B": ["L", 0], "D": [0, "L/2"]}, "mass": "rho*L^2"}, parameters={"L": 2, "rho": 3})
    b = d.body("b")
    assert isinstance(b.mass, Expr) and isinstance(b.inertia[2][2], Expr)
    for size in (2.0, 3.0):
        numbers = d.numbers({"L": size}).body("b")
        m = 3 * size**2
        assert numbers.mass == pytest.approx(m) and numbers.com == pytest.approx((size / 3, size / 6, 0))
        assert numbers.inertia[2][2] == pytest.approx(m * (size**2 + size**2 / 4) / 18)
    step = d.numbers({"L": complex(2.0, 1e-20)}).body("b")
    assert step.inertia[2][2].imag / 1e-20 == pytest.approx(4 * 3 * 1.25 / 18 * 8, rel=1e-12)  # d/dL of 3 L^4 1.25/18


# ---------------------------------------------------------------- meshes

CUBE = [
    [(0, 0, 0), (0, 1, 0), (1, 1, 0)],
    [(0, 0, 0), (1, 1, 0), (1, 0, 0)],
    [(0, 0, 1), (1, 0, 1), (1, 1, 1)],
    [(0, 0, 1), (1, 1, 1), (0, 1, 1)],
    [(0, 0, 0), (1, 0, 0), (1, 0, 1)],
    [(0, 0, 0), (1, 0, 1), (0, 0, 1)],
    [(0, 1, 0), (0, 1, 1), (1, 1, 1)],
    [(0, 1, 0), (1, 1, 1), (1, 1, 0)],
    [(0, 0, 0), (0, 0, 1), (0, 1, 1)],
    [(0, 0, 0), (0, 1, 1), (0, 1, 0)],
    [(1, 0, 0), (1, 1, 0), (1, 1, 1)],
    [(1, 0, 0), (1, 1, 1), (1, 0, 1)],
]


def stl(path, triangles, binary=True):
    if binary:
        data = b" " * 80 + struct.pack("<I", len(triangles))
        data += b"".join(struct.pack("<12fH", 0, 0, 0, *(c for v in t for c in v), 0) for t in triangles)
        path.write_bytes(data)
    else:
        facets = "".join(
            "facet normal 0 0 0\nouter loop\n" + "".join(f"vertex {x} {y} {z}\n" for x, y, z in t) + "endloop\nendfacet\n"
            for t in triangles
        )
        path.write_text(f"solid s\n{facets}endsolid s\n")


def meshed(tmp_path, **mesh):
    model = tmp_path / "m.yaml"
    extra = "".join(f", {k}: {v}" for k, v in mesh.items())
    model.write_text(
        f"bodies:\n  ground: {{points: {{A: [0, 0, 0]}}}}\n  b: {{points: {{A: [0, 0, 0]}}, mesh: {{file: part.stl{extra}}}}}\n"
    )
    return read(model).body("b")


@pytest.mark.parametrize("binary", [True, False])
def test_a_cube_of_steel(tmp_path, binary):
    stl(tmp_path / "part.stl", [[(100 + 20 * x, 20 * y, 20 * z) for x, y, z in t] for t in CUBE], binary)
    b = meshed(tmp_path, material="steel", unit="mm")
    m = 7850 * 0.02**3
    assert b.mass == pytest.approx(m, rel=1e-6) and b.com == pytest.approx((0.11, 0.01, 0.01), rel=1e-6)
    assert np.array(b.inertia) == pytest.approx(np.eye(3) * m * 0.02**2 / 6, rel=1e-5, abs=1e-12)  # float32 coordinates


def test_a_tetrahedron_and_scaling_to_a_mass(tmp_path):
    a, b, c, d = (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)
    stl(tmp_path / "part.stl", [[a, c, b], [a, b, d], [a, d, c], [b, c, d]])
    t = meshed(tmp_path, density=6)
    assert t.mass == pytest.approx(1.0) and t.com == pytest.approx((0.25, 0.25, 0.25))
    # about the corner Ixx = m/5 and Ixy = -m/20; moved to the center: m/5 - m/8, -m/20 + m/16
    assert np.array(t.inertia) == pytest.approx(np.full((3, 3), 1 / 80) + np.eye(3) * (3 / 40 - 1 / 80))


@pytest.mark.parametrize(
    ("triangles", "reason"), [(CUBE[:-1], "open edges"), ([[t[0], t[2], t[1]] for t in CUBE], "inside out"), ([], "no triangles")]
)
def test_bad_meshes(tmp_path, triangles, reason):
    stl(tmp_path / "part.stl", triangles)
    with pytest.raises(ModelError, match=reason):
        meshed(tmp_path, density=1)


def test_missing_and_foreign_meshes(tmp_path):
    with refused(ModelError, line=3):
        meshed(tmp_path, density=1)
    (tmp_path / "part.stl").write_text("this is not a mesh")
    with refused(ModelError, line=3):
        meshed(tmp_path, density=1)
