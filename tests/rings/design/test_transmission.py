"""Transmission and pressure angles against closed forms of textbooks, for links with two and three pins, sliders and cylinders."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.mechanics.kinematics import transmission
from linkwright.model import file as modelfile
from linkwright.model import library as models
from tests.sweeps import sweep


def model(at: dict[str, Any], bodies: dict[str, list[str]], drive: dict[str, Any], **more: Any) -> lw.Mechanism:
    shapes = {name: {"pins": pins} for name, pins in bodies.items()}
    return lw.load({"name": "linkage", "plane": "xy", "drawing": at, "bodies": shapes, "drive": drive, **more})


def between(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Angle between two lines, 0 .. 90 deg, from plain vectors (n, 2)."""
    cosine = np.abs(np.sum(p * q, axis=1)) / (np.linalg.norm(p, axis=1) * np.linalg.norm(q, axis=1))
    return np.arccos(np.clip(cosine, 0.0, 1.0))


def place(c: Any, point: str) -> np.ndarray:
    return np.asarray(c[point])[:, :2]


def test_a_four_bar_by_the_textbook() -> None:
    """cos(mu) = (b^2 + c^2 - a^2 - d^2 + 2 a d cos(A)) / (2 b c) [any textbook; crank a, coupler b, rocker c, ground d]."""
    c = lw.load("four-bar").cycle(steps=48)
    A, B, C, D = (place(c, p)[0] for p in ("ground.A", "crank.B", "coupler.C", "ground.D"))
    a, b, r, g = (float(np.linalg.norm(y - x)) for x, y in ((A, B), (B, C), (C, D), (A, D)))
    mu = np.arccos((b * b + r * r - a * a - g * g + 2 * a * g * np.cos(c["A"])) / (2 * b * r))
    assert np.abs(c["C.transmission_angle"] - np.minimum(mu, np.pi - mu)).max() < 1e-9
    # a pure torque on the rocker: the coupler is a two-force link, so sin(transmission) = cos(pressure)
    assert np.abs(np.sin(c["C.transmission_angle"]) - np.cos(c["C.pressure_angle"])).max() < 1e-9


CRANK, ROD, OFFSET = 0.1, 0.35, 0.04
SLIDER = {
    "name": "press", "plane": "xy",
    "drawing": {"A": [0, 0], "B": [0, CRANK], "C": [math.sqrt(ROD**2 - (CRANK - OFFSET) ** 2), OFFSET]},
    "bodies": {"ground": {"pins": ["A"]}, "crank": {"pins": ["A", "B"]}, "rod": {"pins": ["B", "C"]}, "ram": {"pins": ["C"]}},
    "joints": {"guide": {"type": "prismatic", "between": ["ground", "ram"], "at": "C", "axis": [1, 0]}},
    "drive": {"A": "60 rpm"},
}  # fmt: skip


def test_a_slider_crank_with_an_offset() -> None:
    """The rod leans against the guide by asin((r sin A - e)/l): transmission 90 deg minus that, pressure that."""
    m = lw.load(SLIDER)
    c = m.cycle(steps=48)
    lean = np.arcsin((CRANK * np.sin(c["A"]) - OFFSET) / ROD)
    assert np.abs(c["C.transmission_angle"] - (0.5 * np.pi - np.abs(lean))).max() < 1e-9
    assert np.abs(c["C.pressure_angle"] - np.abs(lean)).max() < 1e-9
    (found,) = m.info().transmission_angles
    assert found.low == pytest.approx(0.5 * np.pi - math.asin((CRANK + OFFSET) / ROD), abs=1e-9)
    assert math.degrees(found.at_low) == pytest.approx(270.0)


WATT = model(
    {"A": [0, 0], "B": [0.1, 0.15], "C": [0.55, 0.4], "D": [0.6, 0], "E": [0.75, 0.3], "F": [1.25, 0.45], "G": [1.3, 0]},
    {
        "ground": ["A", "D", "G"], "crank": ["A", "B"], "coupler": ["B", "C"], "rocker": ["D", "C", "E"],
        "rod": ["E", "F"], "output": ["G", "F"],
    },
    {"A": "60 rpm"},
)  # fmt: skip
STEPHENSON = model(
    {"A": [0, 0], "B": [0.1, 0.15], "C": [0.55, 0.4], "D": [0.6, 0], "P": [0.3, 0.6], "F": [0.8, 0.8], "G": [1.1, 0.3]},
    {
        "ground": ["A", "D", "G"], "crank": ["A", "B"], "coupler": ["B", "C", "P"], "rocker": ["D", "C"],
        "rod": ["P", "F"], "output": ["G", "F"],
    },
    {"A": "60 rpm"},
)  # fmt: skip


@sweep(
    ("m", "name", "points"),
    [
        (WATT, "F", ("rocker.E", "rod.F", "ground.G")),
        (WATT, "C", ("crank.B", "coupler.C", "ground.D")),
        (STEPHENSON, "C", ("crank.B", "coupler.C", "ground.D")),
        (STEPHENSON, "F", ("coupler.P", "rod.F", "ground.G")),
    ],
    now=1,
)
def test_six_bars_with_ternary_links_by_hand(m: lw.Mechanism, name: str, points: tuple[str, str, str]) -> None:
    """The line from the joint that pushes to the pin, against the line from there to the pivot; not the farthest pin of the link."""
    c = m.cycle(steps=36)
    pushed, pin, pivot = (place(c, p) for p in points)
    wanted = between(pin - pushed, pivot - pin)
    assert np.abs(c[f"{name}.transmission_angle"] - wanted).max() < 1e-8  # arccos loses half the digits at 0
    listed = {r.name: r for r in m.info().transmission_angles}
    found = listed[name]
    assert found.low <= wanted.min() + 1e-9 and found.low == pytest.approx(wanted.min(), abs=2e-2)
    assert set(listed) == {"C", "F"}


def test_pressure_angles_of_a_watt_six_bar_are_complementary_and_of_stephenson_only_at_the_output() -> None:
    """Watt: both couplers have two pins. Stephenson: the coupler carries the load on to the rod, so the rocker is only a guide."""
    watt, stephenson = WATT.cycle(steps=24), STEPHENSON.cycle(steps=24)
    for name in ("C", "F"):
        assert np.abs(watt[f"{name}.transmission_angle"] + watt[f"{name}.pressure_angle"] - 0.5 * np.pi).max() < 1e-9
    assert "C.pressure_angle" not in stephenson.channels and "F.pressure_angle" in stephenson.channels


@pytest.mark.parametrize(
    ("name", "pushing", "speed", "points"),
    [("C", "crank", "A.v", ("ground.A", "crank.B", "rocker.C")), ("F", "rocker", "rocker.angle.v", ("ground.D", "rocker.E", "output.F"))],
)
def test_pressure_by_virtual_work(name: str, pushing: str, speed: str, points: tuple[str, str, str]) -> None:
    """Power of a unit torque on the pushing link: its arm about the line of the two-force coupler gives the force, and the force the power
    at the pin, |F| |v| cos(pressure) with |F| = 1 / h, so cos(pressure) = h |w| / |v|: positions and speeds, no statics of ours."""
    c = WATT.cycle(steps=24)
    pivot, begin, end = (place(c, p) for p in points)
    line = (end - begin) / np.linalg.norm(end - begin, axis=1)[:, None]
    arm = begin - pivot
    h = np.abs(arm[:, 0] * line[:, 1] - arm[:, 1] * line[:, 0])
    cosine = h * np.abs(c[speed]) / c[f"{points[2]}.speed"]
    moving = c[f"{points[2]}.speed"] > 1e-6 * c[f"{points[2]}.speed"].max()
    assert moving.sum() >= 24 and np.ptp(cosine[moving]) > 0.1, f"the {pushing} pushes at angles that vary"
    assert np.abs(np.cos(c[f"{name}.pressure_angle"]) - cosine)[moving].max() < 1e-9  # round-off over the least speed


def test_a_cylinder_pushes_like_a_rod() -> None:
    m = lw.load({
        "name": "boom", "plane": "xy", "drawing": {"A": [0, 0], "P": [0.4, 0.5], "K": [0.9, -0.3]},
        "bodies": {"ground": {"pins": ["A"], "points": ["K"]}, "boom": {"pins": ["A"], "points": ["P"]}},
        "cylinders": {"lift": {"between": ["ground.K", "boom.P"]}}, "drive": {"lift": "0.1 m/s"},
    })  # fmt: skip
    c = m.cycle(steps=24)
    p, k = place(c, "boom.P"), np.array([0.9, -0.3])
    assert np.abs(c["lift.transmission_angle"] - between(p - k, p)).max() < 1e-7
    assert np.abs(c["lift.transmission_angle"] + c["lift.pressure_angle"] - 0.5 * np.pi).max() < 1e-9  # a cylinder is a two-force member
    assert not any(r.low == 0.0 for r in m.info().transmission_angles)  # a swing ends beside its dead centers


def test_a_slot_pushes_along_its_normal() -> None:
    """Quick-return: a pin on the crank slides in the slot of a lever; the slot runs through its pivot, so the push is always square."""
    m = lw.load({
        "name": "quick return", "plane": "xy", "drawing": {"A": [0, 0], "B": [0.1, 0], "D": [0, -0.3], "E": [0.2, 0.3]},
        "bodies": {"ground": {"pins": ["A", "D"]}, "crank": {"pins": ["A"], "points": ["B"]}, "lever": {"pins": ["D"], "points": ["E"]}},
        "joints": {"slot": {"type": "pin_slot", "between": ["lever", "crank"], "at": "B", "slot": [0.1, 0.3]}},
        "drive": {"A": "60 rpm"},
    })  # fmt: skip
    c = m.cycle(steps=24)
    assert np.abs(c["slot.transmission_angle"] - 0.5 * np.pi).max() < 1e-9 and np.abs(c["slot.pressure_angle"]).max() < 1e-7
    assert not m.info().transmission_angles  # one that does not change is not listed


def test_a_toggle_has_no_dead_center_where_its_links_are_in_line() -> None:
    """Punch press: upper and lower are in line at the end of the stroke, but the drive moves the ram on; 0 is not printed."""
    found = lw.load("punch-press").info()
    assert {r.name for r in found.transmission_angles} == {"K rod-upper", "R"} and all(
        r.low > math.radians(40.0) for r in found.transmission_angles
    )


@pytest.mark.slow
def test_left_out_by_name() -> None:
    over = lw.load("parallelogram-middle").info()  # parallel paths
    assert not over.transmission_angles and set(over.no_transmission) == {"coupler", "middle", "rocker"}
    group = lw.load("excavator").info()  # a triad of boom, link and cylinder; the dyads behind it have their angles
    assert set(group.no_transmission) == {"link", "lever", "boom", "boom_barrel", "boom_rod"} and len(group.transmission_angles) == 2
    assert not lw.load("rssr").info().transmission_angles  # in space
    assert set(over.no_transmission_because) == {"parallel paths share the force"} and over.no_transmission_because[0] in str(over)
    assert set(group.no_transmission_because) == {"in a group of three or more links that close together"}


def test_a_body_that_no_drive_moves_is_said_to_be_free() -> None:
    bodies = {"ground": {"pins": ["A"]}, "arm": {"pins": ["A", "B"]}, "bob": {"pins": ["B"], "points": ["P"]}}
    m = lw.load({"plane": "xy", "drawing": {"A": [0, 0], "B": [1, 0], "P": [2, 0]}, "bodies": bodies, "drive": {"A": "60 rpm"}})
    found = m.info()
    assert found.no_transmission == ("bob",)
    assert "no transmission angle for bob: the drives do not determine the motion" in str(found)


def test_info_finds_extremes_between_its_samples() -> None:
    fine = lw.load("wiper").cycle(steps=1440)["rocker.angle"]
    swing = next(r for r in lw.load("wiper").info().swings if r.name == "rocker.angle")
    assert swing.low == pytest.approx(fine.min(), abs=2e-5) and swing.high == pytest.approx(fine.max(), abs=2e-5)
    (flat,) = lw.load("change-point-four-bar").info().transmission_angles
    assert flat.low == pytest.approx(0.0, abs=1e-6) and flat.high == pytest.approx(np.pi / 2)


def test_transmission_does_not_depend_on_how_a_pin_is_split() -> None:
    one, two = (lw.load(n).info().transmission_angles for n in ("carpet-scraper", "carpet-scraper-2007"))
    assert len(one) == len(two) == 3
    for a, b in zip(sorted(one, key=lambda r: r.low), sorted(two, key=lambda r: r.low), strict=True):
        assert a.low == pytest.approx(b.low, abs=0.01)  # the two data sets differ in the third digit


def test_a_link_of_three_joints_is_turned_about_the_one_on_the_ground() -> None:
    """Jansen's upper triangle at its pin U: the push rod against the line to the triangle's pivot, whatever its third corner."""
    m = lw.load("jansen-leg")
    c, d = m.cycle(), m.description
    pivot = next(j.pin or j.name for j in d.joints if "shoulder" in (j.first, j.second) and "ground" in (j.first, j.second))
    ends = [c[f"upper_rod.{p}"] for p in ("U", "X")], [c["shoulder.U"], c[f"shoulder.{pivot}"]]
    a, b = (second - first for first, second in ends)
    angle = np.degrees(np.arccos(np.abs(np.sum(a * b, axis=1)) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)))
    listed = m.info().transmission_angles
    found = next(r for r in listed if r.name == "U")
    assert np.degrees([found.low, found.high]) == pytest.approx([angle.min(), angle.max()], abs=0.02)  # its extremes at samples
    assert not any(r.name.startswith(pivot) for r in listed)  # no angle at pins on the ground


def test_every_pair_at_a_pin_of_three_has_its_own_transmission_angle() -> None:
    """The rod-upper pair of a toggle press is what it is without the lower link and the ram."""
    whole = next(r for r in lw.load("punch-press").info().transmission_angles if r.name == "K rod-upper")
    c = lw.load("punch-press").cycle(steps=720)
    rod, upper = c["rod.angle"], c["upper.angle"]
    angle = np.abs((rod - upper + np.pi / 2) % np.pi - np.pi / 2)
    assert whole.low == pytest.approx(angle.min(), abs=2e-4)  # a parabola through samples 5 deg apart


def test_text_of_info() -> None:
    text = str(lw.load("wiper").info())
    assert "Transmission angle: 90 deg is ideal. Below 40 deg is poor in most designs." in text and "pressure angle up to 40.9" in text


@pytest.mark.parametrize(("name", "first"), [("parallelogram-chain", "T1 coupler1-crank1"), ("scissor-lift", "M1")])
def test_groups_of_a_long_mechanism_are_found_in_proportion_to_its_links(monkeypatch: pytest.MonkeyPatch, name: str, first: str) -> None:
    """A chain closes loop by loop, a lift bay by bay, whatever their number; elements are looked at a few times each."""
    looked: list[int] = []
    to_known = transmission._to_known
    monkeypatch.setattr(transmission, "_to_known", lambda *x: looked.append(1) or to_known(*x))
    counts = {}
    for n in (6, 60):
        looked.clear()
        found = transmission.structure(modelfile.read(models.path(name), N=n))
        counts[n] = len(looked)
        assert len(found.passings) - n in (0, 1) and found.passings[0].name == first and not found.left_out
        assert found.outputs[-1] == len(found.passings) - 1 and set(found.outputs[:-1]) == {None}
    assert counts[60] < 11 * counts[6]
