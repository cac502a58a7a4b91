"""Velocity plans of a crank shaper and a four-bar against closed forms; instant centres against Aronhold and Kennedy's theorem."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import pytest

import linkwright as lw
from linkwright.design.velocity_plan import VelocityPlan, velocity_plan

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
    ).turn(steps=12)


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
    """How far the three centres of three bodies are from one line, relative; centres at infinity are directions."""
    rows = []
    for one, other in combinations(three, 2):
        c = plan.centre(one, other)
        assert (c.at is None) != (c.direction is None)  # all six bodies move against each other here
        row = np.array([*c.at, 1.0]) if c.at is not None else np.append(c.direction, 0.0)
        rows.append(row / np.linalg.norm(row))
    return abs(float(np.linalg.det(np.array(rows))))


def test_three_centres_lie_on_a_line() -> None:
    plan = velocity_plan(shaper(), "30 deg")
    assert len(plan.centres) == 15  # 6 * 5 / 2
    names = [b.name for b in plan.bodies]
    assert all(line(plan, three) < 1e-9 for three in combinations(names, 3))
    assert plan.centre("crank", "ground").at == pytest.approx([0.0, A], abs=1e-12)
    away = plan.centre("ram", "ground")
    assert away.at is None and np.abs(away.direction) == pytest.approx([0.0, 1.0], abs=1e-9)  # across the guide, either way
    text = str(plan)
    assert "P along slot" in text and "at infinity" in text and "joint B" in text


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(lw.UsageError, match="planar"):
        velocity_plan(lw.load("rssr").turn(steps=6))
    with pytest.raises(lw.UsageError, match="no body 'lver'"):
        velocity_plan(shaper(), "30 deg").centre("lver", "ram")
    swing = lw.load("four-bar", L1="0.8 m").turn(steps=12)
    with pytest.raises(lw.UsageError, match="outside the motion"):
        velocity_plan(swing, "179 deg")


def test_pictures_have_all_names() -> None:
    figure = shaper().plot("acceleration polygon", at="30 deg")
    texts = {t.get_text() for axes in figure.axes for t in axes.texts}
    assert {"o", "P", "B", "C", "P on lever"} <= texts
    centres = {t.get_text() for t in shaper().plot("instant centres", at="30 deg").axes[0].texts}
    assert {"1,2", "1,4", "2,4"} <= {code for text in centres for code in text.split()}
