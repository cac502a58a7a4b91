"""Grashof's types against the limits of motion found by closing the loops; the Gruebler count beside the true mobility."""

from __future__ import annotations

import pytest

import linkwright as lw
from linkwright.rings.design.grashof import four_bars
from tests.refusals import refused

# crank, coupler, rocker, ground: lengths whose type follows from Grashof's rule by hand
TYPES = [
    ((0.3, 0.9, 0.75, 1.0), "crank-rocker"),  # 0.3 + 1.0 < 0.9 + 0.75, the crank is shortest
    ((0.75, 0.9, 0.3, 1.0), "crank-rocker"),  # the driven link rocks
    ((0.8, 0.9, 0.75, 0.4), "double-crank"),
    ((0.8, 0.3, 0.75, 1.0), "double-rocker"),
    ((0.8, 0.9, 0.75, 1.0), "triple-rocker"),  # 0.75 + 1.0 > 0.8 + 0.9
    ((0.65, 0.9, 0.75, 1.0), "change-point"),
]


def four_bar(lengths: tuple[float, ...]) -> lw.Mechanism:
    a, b, c, d = lengths
    return lw.load(
        {
            "plane": "xy",
            "units": ["mm"],
            "drawing": {"A": [0, 0], "B": [100, 600], "C": [900, 700], "D": [1000 * d, 0]},
            "bodies": {
                "ground": {"pins": ["A", "D"]},
                "crank": {"along": {"A": 0, "B": 1000 * a}},
                "coupler": {"along": {"B": 0, "C": 1000 * b}},
                "rocker": {"along": {"D": 0, "C": 1000 * c}},
            },
            "drive": {"A": "10 rpm"},
        }
    )


@pytest.mark.parametrize(("lengths", "kind"), TYPES)
def test_types_agree_with_the_reach(lengths: tuple[float, ...], kind: str) -> None:
    m = four_bar(lengths)
    (found,) = four_bars(m.description)
    assert found.kind == kind and found.pins == ("A", "B", "C", "D") and found.bodies == ("crank", "coupler", "rocker", "ground")
    assert found.lengths == pytest.approx(lengths, abs=1e-12)
    if kind != "change-point":  # links that turn fully, by closing the loops on the way round
        full = [m.limits(pin).full_turn for pin in ("A", "D")]
        turns = {"double-crank": [True, True], "crank-rocker": [min(lengths) == lengths[0], min(lengths) == lengths[2]]}
        assert full == turns.get(kind, [False, False])


def test_info_has_type_and_count() -> None:
    text = str(four_bar((0.3, 0.9, 0.75, 1.0)).info())
    assert "four-bar A-B-C-D: crank-rocker, Grashof: crank 300 + ground 1000 < rocker 750 + coupler 900 mm" in text
    assert "Gruebler" not in text  # 3 x 3 - 8 = 1 is right
    bennett = lw.load("bennett").info()
    assert (bennett.freedoms, bennett.mobility, bennett.grubler, bennett.four_bars) == (1, 1, -2, ())  # hinges: 5 rows each, 6 * 3 - 20
    assert "Gruebler count 6 x 3 - 20 = -2" in str(bennett)


def test_loops_through_pins_of_three_bodies() -> None:
    """Jansen's leg: both rods are on the crank's pin X, shoulder and thigh on the bearing G: two four-bars with one crank."""
    found = four_bars(lw.load("jansen-leg").description)
    assert {x.bodies for x in found} == {("crank", "upper_rod", "shoulder", "ground"), ("crank", "lower_rod", "thigh", "ground")}
    assert found[0].lengths[0] == pytest.approx(0.15)  # Jansen's m = 15 cm


def test_coarse_turns_say_so_and_static_flywheels_refuse() -> None:
    from linkwright.rings.design.cycle_loads import cycle_loads

    wiper = lw.load("wiper")
    assert "figures belong to 12 steps" in cycle_loads(wiper.cycle(steps=12)).notes[0]
    assert not cycle_loads(wiper.cycle(steps=72)).notes
    press = lw.load(
        {
            "plane": "xy",
            "drawing": {"A": [0, 0], "B": [0, 0.05], "C": [0, -0.15]},
            "bodies": {
                "ground": {"pins": ["A"]},
                "crank": {"pins": ["A", "B"], "mass": 1},
                "rod": {"pins": ["B", "C"], "mass": 1},
                "ram": {"pins": ["C"], "mass": 1},
            },
            "joints": {"guide": {"type": "prismatic", "between": ["ground", "ram"], "at": "C", "axis": [0, 1]}},
            "loads": {"punch": {"on": "ram.C", "force": ["0 N", "5 kN * max(0, min(1, -ram.C.vy/(1 mm/s)))"]}},
            "drive": {"A": "60 rpm"},
        }
    )
    with refused(lw.UsageError, name="torque"):
        press.cycle(steps=72, speed=0).flywheel(0.1, speed="60 rpm")


def test_meters_written_as_millimeters_are_doubted() -> None:
    """0.9 kg in a link of 0.9 mm: denser than osmium by far; the same file in meters is plausible."""
    model = {
        "plane": "xy",
        "gravity": [0, "-9.81 m/s^2"],
        "drawing": {"A": [0, 0], "B": [0.9, 0]},
        "bodies": {"ground": {"pins": ["A"]}, "arm": {"pins": ["A"], "points": ["B"], "mass": "0.9 kg"}},
    }
    assert lw.load({**model, "units": ["m"]}).info().notes == ()
    (doubt,) = lw.load({**model, "units": ["mm"]}).info().notes
    assert "the largest distance on one body is 0.9 mm" in doubt and "check the unit" in doubt
    (doubt,) = lw.load({**model, "units": ["mm"], "drawing": {"A": [0, 0], "B": [0.9, 0.9]}}).info().notes
    assert "the largest distance on one body is 1.273 mm" in doubt  # along the diagonal
