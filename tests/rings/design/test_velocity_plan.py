"""Velocity plans of a crank shaper and a four-bar against closed forms; instant centers against Aronhold and Kennedy's theorem."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import pytest

import linkwright as lw
from linkwright import drives
from linkwright.rings.design.velocity_plan import VelocityPlan, velocity_plan
from tests.refusals import refused

W = 2.0 * np.pi  # rad/s, 60 rpm
R, A = 0.1, 0.25  # crank, distance of the bearings: m


@cache
def shaper() -> lw.Trajectory:
    x, y = R, A  # the crank at 0 deg
    return lw.load(
        {
            "plane": "xy",
            "drawing": {"O": [0, 0], "E": [0, A], "P": [x, y], "B": [2 * x, 2 * y], "C": [-0.1, 0.45]},
            "bodies": {
                "ground": {"pins": ["O", "E"]},
                "crank": {"pins": ["E", "P"]},
                "block": {"pins": ["P"]},
                "lever": {"pins": ["O", "B"]},
                "link": {"pins": ["B", "C"]},
                "ram": {"pins": ["C"]},
            },
            "joints": {
                "slot": {"type": "prismatic", "between": ["lever", "block"], "at": "P", "axis": [x, y]},
                "guide": {"type": "prismatic", "between": ["ground", "ram"], "at": "C", "axis": [1, 0]},
            },
            "drive": {"E": "60 rpm"},
        }
    ).cycle(steps=12)


def by_hand(angle: float) -> tuple[float, float, float, float]:
    """(s', s'', lever's w, its alpha) of the vector loop A j + R e^(i angle) = s e^(i phi)."""
    z, v, a = 1j * A + R * np.exp(1j * angle), 1j * W * R * np.exp(1j * angle), -W * W * R * np.exp(1j * angle)
    e, s = z / abs(z), abs(z)
    rate, w = (v / e).real, (v / e).imag / s
    return rate, (a / e).real + s * w * w, w, ((a / e).imag - 2.0 * rate * w) / s


@pytest.mark.parametrize("at", [30.0, 47.3, 200.0])  # a sample, between two, beyond half a turn
def test_shaper_with_coriolis(at: float) -> None:
    plan = velocity_plan(shaper(), f"{at} deg")
    rate, rate2, w, alpha = by_hand(np.radians(at))
    lever = next(b for b in plan.bodies if b.name == "lever")
    assert (lever.w, lever.alpha) == pytest.approx((w, alpha), abs=1e-9)  # rad/s^2, of some 30: closed to round-off
    (slide,) = plan.slides
    assert (slide.joint, slide.guide, slide.point) == ("slot", "lever", "P")
    assert np.linalg.norm(slide.v) == pytest.approx(abs(rate), abs=1e-10)
    assert np.linalg.norm(slide.coriolis) == pytest.approx(abs(2 * w * rate), abs=1e-9)
    assert np.linalg.norm(slide.sliding) == pytest.approx(abs(rate2), abs=1e-9)
    assert abs(slide.coriolis @ slide.v) < 1e-12  # across the slot
    tips = {p.name: p for p in plan.points}
    assert np.linalg.norm(tips["P"].v) == pytest.approx(R * W) and np.linalg.norm(tips["P"].a) == pytest.approx(R * W * W)
    for link in plan.links:  # a relative velocity is across the link; the polygon of accelerations closes
        one, other = (tips[name] for name in link.points)
        assert abs((other.at - one.at) @ link.v) < 1e-12
        assert link.normal + link.tangential == pytest.approx(other.a - one.a, abs=1e-9)


def line(plan: VelocityPlan, three: tuple[str, ...]) -> float:
    """How far the three centers of three bodies are from one line, relative; centers at infinity are directions."""
    rows = []
    for one, other in combinations(three, 2):
        c = plan.center(one, other)
        assert (c.at is None) != (c.direction is None)  # all six bodies move against each other here
        row = np.array([*c.at, 1.0]) if c.at is not None else np.append(c.direction, 0.0)
        rows.append(row / np.linalg.norm(row))
    return abs(float(np.linalg.det(np.array(rows))))


def test_three_centers_lie_on_a_line() -> None:
    plan = velocity_plan(shaper(), "30 deg")
    assert len(plan.centers) == 15  # 6 * 5 / 2
    names = [b.name for b in plan.bodies]
    assert all(line(plan, three) < 1e-9 for three in combinations(names, 3))
    assert plan.center("crank", "ground").at == pytest.approx([0.0, A], abs=1e-12)
    away = plan.center("ram", "ground")
    assert away.at is None and np.abs(away.direction) == pytest.approx([0.0, 1.0], abs=1e-9)  # across the guide, either way
    text = str(plan)
    assert "P along slot" in text and "at infinity" in text and "joint B" in text


def test_what_cannot_be_drawn_is_refused() -> None:
    with refused(lw.UsageError, name="plane"):
        velocity_plan(lw.load("rssr").cycle(steps=6))
    with refused(lw.UsageError, name="lver"):
        velocity_plan(shaper(), "30 deg").center("lver", "ram")
    swing = lw.load("four-bar", L1="0.8 m").cycle(steps=12)
    with refused(lw.UsageError, name="at"):
        velocity_plan(swing, "179 deg")


@cache
def inverted(pinned: bool = True) -> lw.Mechanism:
    """A crank whose rod slides through a block that turns on the ground pin O; or a rod in a barrel, which is pinned beyond the slide."""
    drawing = {"O": [0, 0], "E": [0, A], "P": [R, A], "Q": [0.3 * R, 0.3 * A]}
    slot = {"type": "prismatic", "between": ["rod", "block"], "at": "O", "axis": [R, A]}
    barrel = {"type": "prismatic", "between": ["block", "rod"], "at": "Q", "axis": [R, A]}
    return lw.load(
        {
            "plane": "xy",
            "drawing": drawing if not pinned else {k: v for k, v in drawing.items() if k != "Q"},
            "bodies": {"ground": {"pins": ["O", "E"]}, "crank": {"pins": ["E", "P"]}, "rod": {"pins": ["P"]}, "block": {"pins": ["O"]}},
            "joints": {"slot": slot if pinned else barrel},
            "drive": {"E": "60 rpm"},
        }
    )


def test_slides_at_a_ground_pin_and_without_a_pin() -> None:
    """The rod passes O with the velocity by which the crank pin's distance from O changes; both polygons are drawn."""
    c = inverted().cycle(steps=12)
    rate, rate2, w, _ = by_hand(np.radians(30.0))
    (slide,) = velocity_plan(c, "30 deg").slides
    assert (slide.guide, slide.point) == ("rod", "O") and not slide.block_v.any() and not slide.block_a.any()
    assert np.linalg.norm(slide.v) == pytest.approx(abs(rate), abs=1e-10)
    assert np.linalg.norm(slide.coriolis) == pytest.approx(abs(2.0 * w * rate), abs=1e-9)
    assert np.linalg.norm(slide.sliding) == pytest.approx(abs(rate2), abs=1e-9)
    assert "O along slot" in str(velocity_plan(c, "30 deg"))
    (slide,) = velocity_plan(inverted(False).cycle(steps=12), "30 deg").slides
    assert (slide.guide, slide.point) == ("block", "rod") and np.linalg.norm(slide.v) == pytest.approx(abs(rate), abs=1e-10)
    for kind, motion, name in (("velocity", c, "O on rod"), ("acceleration", inverted(False).cycle(steps=12), "rod on block")):
        assert name in {t.get_text() for t in motion.plot(f"{kind} polygon", at="30 deg").axes[1].texts}


def test_permanent_centers_are_those_of_pins_and_sliders() -> None:
    """Three bodies on one pin have one center there, each pair of them; the center of a pin in a slot is beside it."""
    leg = velocity_plan(lw.load("jansen-leg").cycle(steps=12), "30 deg")
    three = [leg.center(*pair) for pair in combinations(("crank", "upper_rod", "lower_rod"), 2)]
    assert [x.joint for x in three] == ["X"] * 3
    assert all(x.at == pytest.approx(three[0].at, abs=1e-9) for x in three)
    quick = lw.load(
        {
            "plane": "xy",
            "drawing": {"O": [0, 0], "E": [0, A], "P": [R, A]},
            "bodies": {"ground": {"pins": ["O", "E"]}, "crank": {"pins": ["E"], "points": ["P"]}, "lever": {"pins": ["O"]}},
            "joints": {"slot": {"type": "pin_slot", "between": ["lever", "crank"], "at": "P", "slot": [R, A]}},
            "drive": {"E": "60 rpm"},
        }
    )
    plan = velocity_plan(quick.cycle(steps=12), "30 deg")
    center = plan.center("lever", "crank")
    assert center.joint == "" and abs(center.at[0]) < 1e-9  # on the line of both bearings, by Aronhold and Kennedy
    assert {x.joint for x in plan.centers} == {"O", "E", ""}


def test_a_run_is_read_on_its_own_branch() -> None:
    """Between samples of a run that starts with the loop closed the other way, velocities are those of that branch, not of a cycle."""
    system = lw.load("four-bar").system
    own = system.start
    (other,) = (x for x in system.branches({"A": float(own["A"])}) if abs(float(x["D"]) - float(own["D"])) > 0.1)
    run = system.simulate(system.assemble({"A": float(own["A"])}, {"A": W}, guess=other), "0.2 s", drive={"A": drives.speed(W)})
    a, spin = run["A"], run["D.v"]
    middle = float(np.mean(a[10:12]))
    plan = velocity_plan(run, middle)
    rocker = next(x for x in plan.bodies if x.name == "rocker")
    assert min(spin[10:12]) < rocker.w < max(spin[10:12])


def test_a_planar_joint_has_no_pin() -> None:
    """A plate that floats over an arm has no point in common with it."""
    heavy = {"mass": 1, "inertia": 0.1}
    bodies = {"ground": {"pins": ["A"]}, "arm": {**heavy, "pins": ["A"], "points": ["P"]}, "plate": {**heavy, "points": ["F"]}}
    joints = {"float": {"type": "planar", "between": ["arm", "plate"], "at": "F"}}
    drawing = {"A": [0, 0], "P": [0.3, 0], "F": [0.2, 0.1]}
    m = lw.load({"plane": "xy", "drawing": drawing, "bodies": bodies, "joints": joints, "start": {"A.v": W}})
    plan = velocity_plan(m.simulate("0.01 s"))
    assert [(x.name, x.bodies) for x in plan.points] == [("P", ("arm",)), ("F", ("plate",))]
    assert plan.center("arm", "plate").joint == "" and plan.center("arm", "ground").joint == "A"


def test_pictures_have_all_names() -> None:
    figure = shaper().plot("acceleration polygon", at="30 deg")
    texts = {t.get_text() for axes in figure.axes for t in axes.texts}
    assert {"o", "P", "B", "C", "P on lever"} <= texts
    centers = {t.get_text() for t in shaper().plot("instant centers", at="30 deg").axes[0].texts}
    assert {"1,2", "1,4", "2,4"} <= {code for text in centers for code in text.split()}
