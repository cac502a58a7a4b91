"""Inputs that were found by fuzzing, made small: each stands for a class, and is refused or used."""

from __future__ import annotations

import math
import random
import tracemalloc
import warnings
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.files import Unreadable
from linkwright.mechanics.formulations import FORMULATIONS
from linkwright.model.edits import perform
from linkwright.model.meshes import read_corners
from linkwright.rings.design.motor_choice import _undominated
from linkwright.rings.exchange.import_report import ImportedModelWarning
from linkwright.rings.studio import live
from tests.rings.exchange.reading.sketches import drawings

BARS: dict[str, Any] = {
    "plane": "xy",
    "drawing": {"A": [0, 0], "M": [1, 0], "D": [2, 0], "B": [0.6, 0.8], "N": [1.6, 0.8], "C": [2.6, 0.8]},
    "bodies": {
        "ground": {"pins": ["A", "D", "M"]},
        "crank": {"pins": ["A", "B"], "mass": 1},
        "middle": {"pins": ["M", "N"], "mass": 1},
        "rocker": {"pins": ["D", "C"], "mass": 1e12},
        "coupler": {"pins": ["B", "C", "N"], "mass": 2},
    },
}


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_lengths_beside_which_nothing_has_a_digit_are_refused() -> None:
    with pytest.raises(lw.ModelError, match="1e\\+13 m is out of any proportion"):
        lw.load({**BARS, "drawing": {**BARS["drawing"], "A": [0, 1e13]}})


@pytest.mark.parametrize(
    "shape",
    [{"plate": {"points": ["A", "B", "C"], "thickness": 1e12, "density": 1e20}}, {"bar": {"section": {"diameter": 1e9}, "density": 1e20}}],
)
def test_masses_of_shapes_out_of_proportion_are_refused(shape: dict[str, Any]) -> None:
    """Every number is allowed by itself."""
    points = {"A": [0, 0], "B": [1, 0]} | ({"C": [0, 1]} if "plate" in shape else {})
    with pytest.raises(lw.ModelError, match=r"mass of its (plate|bar): .* is out of any proportion"):
        lw.load({"plane": "xy", "bodies": {"ground": {}, "disc": {"points": points, **shape}}})


def test_an_axis_whose_square_is_no_number_is_a_direction() -> None:
    chain = {"yaw": {"type": "revolute", "axis": [0, 0, 1]}, "roll": {"type": "revolute", "axis": [1e-300, 0, 0]}}
    joints = {"hip": {"between": ["ground", "thigh"], "at": [0, 0, 1], "chain": chain}}
    assert len(lw.load({"bodies": {"ground": {}, "thigh": {}}, "joints": joints}).description.joints) == 2


def test_masses_of_very_different_size_leave_a_page() -> None:
    """A pivot is lost beside another in an over-constrained linkage: the rank-revealing path computes."""
    assert live.contents(lw.load(BARS).system)[0]


def test_references_that_jump_by_thousands_of_turns_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "motion.csv", "t [s];A [deg]\n0;0\n0.1;10\n0.2;25\n0.3;1000001\n0.4;80\n")
    with pytest.raises(lw.UsageError, match=r"the path of 'A' turns .* times between t = 0\.\d+ s and"):
        lw.load("wiper").follow({"A": lw.control.from_csv(path)}, duration="0.3 s", steps=6)


def test_tables_of_points_hold_finite_numbers(tmp_path: Path) -> None:
    with pytest.raises(lw.UsageError, match=r"path\.csv:2: 'inf' is not a finite number"):
        lw.synthesize(path=written(tmp_path, "path.csv", "1;2\n30;inf\n3;4\n"))


def test_drawings_with_coordinates_beyond_numbers(tmp_path: Path) -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><g transform="scale(10)"><path d="M 0 0 L 1.7e308 0"/></g></svg>'
    with pytest.raises(lw.ModelError, match="too large for numbers"):
        lw.load(written(tmp_path, "m.svg", svg))
    circle = '<svg xmlns="http://www.w3.org/2000/svg"><circle r="1.8e308"/><circle r="1e200"/></svg>'
    with pytest.raises(lw.ModelError):
        lw.load(written(tmp_path, "m.svg", circle))


def test_what_the_reader_of_dxf_says_of_its_objects_is_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, "m.dxf", "0\nSECTION\n  2\nTABLES\n  0\nLTYPE\n  0\nLWPOLYLINE\n")
    with pytest.raises(lw.ModelError, match=r"cannot be read as DXF\. Save it again"):
        lw.load(path)
    assert lw.load(drawings.saved(drawings.wiper(), tmp_path / "sound.dxf")).description.bodies


def test_a_point_whose_coordinates_cannot_be_drawn() -> None:
    with pytest.raises(lw.UsageError, match="A on 'rocker' has no place that can be drawn"):
        perform("bodies:\n  rocker:\n    along:\n", "m.yaml", [{"do": "add_point", "at": [1e-300, 0], "body": "rocker"}])


def test_warnings_of_mujoco_are_in_the_report(tmp_path: Path) -> None:
    """Two hinges at one place: its inertia matrix is singular. Its warning is no warning of ours, which would end a strict program."""
    text = """<mujoco><default><geom type="capsule" size="0.02"/></default><worldbody><body><joint/><joint/>
    <geom fromto="0 0 0 0.3 0 1"/></body></worldbody></mujoco>"""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ImportedModelWarning)
        m = lw.load(written(tmp_path, "m.xml", text))
    assert str(m.imported).count("MuJoCo: Inertia matrix is too close to singular") == 1


@pytest.mark.parametrize(("whole", "damaged"), [(b"'shape'", b"'shape("), (b"(), }", b"(1L)}")])
def test_headers_of_arrays_that_are_no_python(whole: bytes, damaged: bytes, tmp_path: Path) -> None:
    """Arrays whose header does not end, or is one of Python 2, in a run saved as npz, which is not compressed here."""
    saved = lw.load("wiper").cycle(steps=2).save(tmp_path / "run.npz")
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(tmp_path / "damaged.npz", "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(whole, damaged, 1))
    with pytest.raises(lw.LinkwrightError, match=r"damaged\.npz' is damaged or was changed by another program: (the header of|shape is)"):
        lw.load_result(tmp_path / "damaged.npz")


def test_ends_of_ropes_with_a_radius_say_which_way_they_are_wound() -> None:
    """A radius without a direction had no effect, and saving lost it."""
    rope = {"path": [{"joint": "B", "radius": 0.12, "turn": "ccw"}, {"at": "ground.T", "radius": 0.09}]}
    bodies = {"ground": {"pins": ["B"], "points": ["T"]}, "drum": {"pins": ["B"], "mass": 1}}
    model = {"plane": "xy", "drawing": {"B": [0.4, 0], "T": [0.9, 1.2]}, "bodies": bodies}
    with pytest.raises(lw.ModelError, match=r"`turn: ccw` or `turn: cw`; a rope .* has no radius there: `ground\.T`"):
        lw.load({**model, "belts": {"rope": rope}})
    assert lw.load({**model, "belts": {"rope": {"path": [rope["path"][0], "ground.T"]}}}).description.belts


def test_motors_by_the_thousand_are_compared_in_little_memory() -> None:
    """Against all pairs for some; for 20,000 of them all pairs would be 1.2 GB."""
    rng = random.Random(7)
    every = [SimpleNamespace(heat=rng.randrange(9) / 4, mass=rng.choice((None, 1.0, 2.0)), price=rng.randrange(4)) for _ in range(20_000)]

    def betters(a: Any, b: Any) -> bool:
        mine, theirs = ((x.heat, x.mass or 0.0, x.price) for x in (a, b))
        return mine != theirs and all(p <= q for p, q in zip(mine, theirs, strict=True))

    some = every[:60]
    assert _undominated(some) == [x for x in some if not any(betters(y, x) for y in some)]
    tracemalloc.start()
    try:
        assert _undominated(every) and tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


TRIPOD = """
drawing: {C: [0, 0, 0.6]}
bodies:
  plate: {points: [C], mass: 8, com: C, inertia: [0.2, 0.2, 0.4]}
repeat:
  k: 1..3
  drawing:
    "B{k}": [0.5*cos(120 deg*(k-1)), 0.5*sin(120 deg*(k-1)), 0]
    "P{k}": [0.3*cos(120 deg*(k-1)), 0.3*sin(120 deg*(k-1)), 0.6]
    "M{k}": [0.4*cos(120 deg*(k-1)), 0.4*sin(120 deg*(k-1)), 0.3]
  bodies:
    ground: {points: ["B{k}"]}
    "barrel{k}": {pins: ["B{k}", "M{k}"], mass: 1.5, bar: {section: {diameter: 50 mm, inner: 40 mm}}}
    "rod{k}": {pins: ["P{k}", "M{k}"], mass: 0.8, bar: {section: {diameter: 25 mm}}}
  joints:
    "hinge{k}":
      {type: revolute, between: [ground, "barrel{k}"], at: "B{k}", axis: [-sin(120 deg*(k-1)), cos(120 deg*(k-1.000000000001)), 0]}
    "leg{k}":
      {type: prismatic, between: ["barrel{k}", "rod{k}"], at: "M{k}", axis: [-cos(120 deg*(k-1)), -sin(120 deg*(k-1)), 3]}
    "ball{k}": {type: spherical, between: ["rod{k}", plate], at: "P{k}"}
"""


def test_pivots_that_vanish_exactly_end_an_order_of_elimination(tmp_path: Path) -> None:
    """Hinges turned by 1e-12 rad, without drives: a subsystem that waits has a pivot of zero, which was divided by."""
    s = lw.load(written(tmp_path, "tripod.yaml", TRIPOD)).system
    tau = [10.0] * len(s.start.v)
    a, exact = s.kernel("forward")(s.start.q, s.start.v, tau).a, s.forward(s.start, tau, formulation="kkt").a
    assert max(abs(a - exact)) < 1e-9 * max(abs(exact))


def test_a_pivot_that_is_zero_in_one_order_is_no_reason_to_refuse() -> None:
    """Legs of point masses: in one order of elimination a pivot is the number zero, by which Python does not divide. The equations are
    regular (all motions of the loops move a mass), and nothing acts: everything stays at rest."""
    legs: dict[str, Any] = {}
    bodies: dict[str, Any] = {"ground": {}, "plate": {"mass": 0.008}}
    for k in range(3):
        turn = math.radians(120 * k)
        bodies |= {f"barrel{k}": {"mass": 1.5}, f"rod{k}": {"mass": 0.8}}
        axis = [-math.sin(turn), math.cos(turn), 0.0]
        legs |= {
            f"hinge{k}": {"type": "revolute", "between": ["ground", f"barrel{k}"], "at": [1.0, math.sin(120.0), 0.0], "axis": axis},
            f"leg{k}": {"type": "prismatic", "between": [f"barrel{k}", f"rod{k}"], "at": [float(k), 1.5 * math.sin(turn), 0.3]},
            f"ball{k}": {"type": "spherical", "between": [f"rod{k}", "plate"], "at": [2.0 * math.cos(turn), 2.0, 0.6]},
        }
    s = lw.load({"bodies": bodies, "joints": legs}).system
    t = s.terms(s.start)
    free = np.linalg.svd(t.J)[2][np.linalg.matrix_rank(t.J) :].T
    assert np.linalg.eigvalsh(free.T @ t.M @ free).min() > 0.01
    pushes = {"leg0": 1.0}
    found = [s.forward(s.start, pushes, formulation=name).a for name in FORMULATIONS]
    assert np.abs(found[0]).max() > 0.1 and np.allclose(found, found[0], rtol=1e-9, atol=1e-9)
    run = s.simulate(s.start, 0.1, progress=False)
    assert run.checks().ok and np.array_equal(run.q[-1], run.q[0])


def test_names_that_look_like_hexadecimal_numbers_reach_the_page() -> None:
    """YAML reads 0x1F as 31; in the page's copy of a model it is a name."""
    bodies = {"ground": {"pins": ["0x1F"]}, "arm": {"pins": ["0x1F"], "points": ["B"], "mass": 1}}
    m = lw.load({"plane": "xy", "drawing": {"0x1F": [0, 0], "B": [1, 0]}, "bodies": bodies, "drive": {"0x1F": "1 rad/s"}})
    assert "0x1F" in live.contents(m.system)[1]["model"]["text"]


def test_points_of_a_curve_that_coincide_but_for_round_off(tmp_path: Path) -> None:
    path = written(tmp_path, "motion.csv", "0;0\n1e-300;10\n")
    with pytest.raises(lw.UsageError, match="no curve is computed through points at 0 and 1e-300: too near"):
        lw.load("wiper").follow({"A": lw.control.from_csv(path)}, duration="0.3 s", steps=6)


def test_signaling_nans_of_a_binary_mesh_are_refused_without_a_warning(tmp_path: Path) -> None:
    corner = bytes.fromhex("0100807f")  # a NaN of four bytes that sets a flag of the processor when it becomes one of eight
    path = tmp_path / "part.stl"
    path.write_bytes(bytes(80) + (1).to_bytes(4, "little") + bytes(12) + 9 * corner + bytes(2))
    with pytest.raises(Unreadable, match="not finite"):
        read_corners(path)
