"""Along a path: derivatives that do not depend on the steps, what a path may be, and what is told about it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.system.mechanism import mechanism_of
from tests.refusals import refused
from tests.sweeps import sweep

T, R = 1.2, 0.06
W = 2 * math.pi / T
ROBOT = {
    "name": "five", "plane": "xy", "gravity": [0, -9.81],
    "drawing": {"A": [0, 0], "E": [0.4, 0], "B": [-0.09, 0.285], "D": [0.49, 0.285], "P": [0.2, 0.51]},
    "bodies": {
        "ground": {"pins": ["A", "E"]},
        "left": {"along": {"A": 0, "B": 0.3}, "mass": 0.36}, "lrod": {"along": {"B": 0, "P": 0.4}, "mass": 0.48},
        "right": {"along": {"E": 0, "D": 0.3}, "mass": 0.36}, "rrod": {"along": {"D": 0, "P": 0.4}, "mass": 0.48},
    },
    "drive": ["A", "E"],
}  # fmt: skip


@pytest.fixture(scope="module")
def robot() -> lw.Mechanism:
    return lw.load(ROBOT)


def by_math(t: float) -> tuple[float, float]:
    if not 0.0 <= t <= T:
        raise ValueError("asked outside the motion")
    return 0.2 + R * math.sin(W * t), 0.45 + R * math.cos(W * t)


CIRCLES: dict[str, tuple[Any, float]] = {
    "traced": (lambda t: (0.2 + R * np.sin(W * t), 0.45 + R * np.cos(W * t)), 1e-12),
    "differences": (by_math, 1e-6),  # of accelerations of 1.6 m/s^2, by polynomials of degree eight
    "references": ([lw.control.sinusoid("60 mm", f"{1 / T} Hz", center=0.2), f"0.45 m + {R} m * cos({W} rad/s * t)"], 1e-12),
    "mixed": ([lambda t: 0.2 + R * math.sin(W * t), lw.control.sinusoid(R, f"{1 / T} Hz", phase="90 deg", center="450 mm")], 1e-6),
}


@sweep("way", CIRCLES, now=["traced", "mixed"])
def test_accelerations_are_the_paths_whatever_the_steps(robot: lw.Mechanism, way: str) -> None:
    path, most = CIRCLES[way]
    for steps in (2, 7):
        c = robot.follow({"lrod.P": path}, duration="1.2 s", steps=steps)
        exact = -R * W * W * np.array([np.sin(W * c.t), np.cos(W * c.t)])
        assert c.notes == () and c.events == ()
        np.testing.assert_allclose([c["lrod.P.ax"], c["lrod.P.ay"]], exact, atol=most)


def test_samples_say_how_well_they_tell_accelerations(robot: lw.Mechanism) -> None:
    path, _ = CIRCLES["traced"]
    found = {}
    for n in (13, 61):
        t = np.linspace(1.0, 1.0 + T, n)
        c = robot.follow({"lrod.P": [path(x) for x in t]}, t)
        assert (c.t == t).all()
        error = np.abs(c["lrod.P.ax"] + R * W * W * np.sin(W * t)).max() / (R * W * W)
        told = [float(note.split("about ")[1].split(" %")[0]) / 100 for note in c.notes if "known to about" in note]
        found[n] = error, told
    assert found[61] == (pytest.approx(0.0, abs=1e-3), [])
    assert found[13][0] > 1e-3 and found[13][1][0] > 0.5 * found[13][0]  # told, and not as less than it is


@pytest.mark.parametrize(
    ("path", "told"),
    [
        (lambda t: (0.2 + (0.05 if t > 0.5 else 0.0), 0.45), "jumps at t = 0.5 s by 0.05 m"),
        (lambda t: (0.2 + 0.1 * abs(t - 0.43), 0.45), "corner at t = 0.43 s: its speed jumps by 0.2 m/s"),  # traced
        (lambda t: (0.2 + 0.1 * max(t, 0.37), 0.45), "corner at t = 0.37 s: its speed jumps by 0.1 m/s"),  # a sample lies on neither
    ],
)
def test_jumps_and_corners_are_told_with_their_time(robot: lw.Mechanism, path: Callable[[float], Any], told: str) -> None:
    (note,) = robot.follow({"lrod.P": path}, steps=10).notes
    assert told in note and "No finite effort does that" in note


def test_a_singular_position_on_the_way_is_found_between_samples(robot: lw.Mechanism) -> None:
    """On x = 0.2 the rods are in one line at y = sqrt(0.3^2 - 0.2^2); the tip comes there at t = 0.7546440."""
    for steps in (7, 12):
        c = robot.follow({"lrod.P": lambda t: (0.2, 0.45 - 0.3 * t)}, steps=steps)
        (event,) = c.events
        assert event.name == "singular" and 0.45 - 0.3 * event.time == pytest.approx(math.sqrt(0.05), abs=1e-8)
        (note,) = c.notes
        assert "drives A and E cannot hold the mechanism at t = 0.75464 s" in note and "grow without bound" in note
    there = (0.45 - math.sqrt(0.05)) / 0.3
    (note,) = robot.follow({"lrod.P": lambda t: (0.2, 0.45 - 0.3 * t)}, [0.0, 0.5, there - 1e-4]).notes
    assert "nearly lose the mechanism" in note
    st = robot.system.assemble(point={"lrod.P": [0.2, 0.2236068]})  # 2.3e-9 m beside it
    authority = robot.system.controllable(st)
    assert authority and authority.nearly_lost and "but nearly not" in authority.text
    assert not robot.system.controllable(robot.system.start).nearly_lost


def test_a_path_that_leaves_the_reach_says_when(robot: lw.Mechanism) -> None:
    """Both legs stretched on x = 0.2: y = sqrt(0.7^2 - 0.2^2)."""
    with refused(lw.AssemblyError, name="lrod.P", loop="lrod.P") as problem:
        robot.follow({"lrod.P": lambda t: (0.2, 0.45 + 0.3 * t)}, steps=10)
    time = float(str(problem.value).split("at t = ")[1].split(" s")[0])
    assert time == pytest.approx((math.sqrt(0.45) - 0.45) / 0.3, abs=1e-4)  # a thousandth of a step
    with refused(lw.AssemblyError, loop="lrod.P"):
        robot.follow({"lrod.P": lambda t: (0.2, 0.9 + t)}, steps=10)


@pytest.mark.parametrize(
    ("path", "options", "said"),
    [
        (lambda t: (1, 2, 3, 4), {}, "must give 2 numbers, not a tuple of 4"),
        (lambda t: 0.3, {}, "must give 2 numbers, not 0.3"),
        (lambda t: (0.2, math.nan), {}, "gave nan at t = 0 s"),
        (lambda t: (0.2, 0.45 if t < 0.5 else math.nan), {}, r"gave nan at t = 0\.\d+ s"),
        (lambda t: (0.2, 0.45 if t < 0.5 else 1 / 0), {}, r"fails at t = 0\.\d+ s: ZeroDivisionError"),
        (lambda t, u: (0.2, 0.45), {}, "takes t alone"),
        ([0.2, 0.45, 0.1], {}, "has 3 entries for 11 times"),
        ([(0.2, 0.45)] * 10 + [(0.2, "x")], {}, "sample 10"),
        ([(0.2, 0.45)] * 4, {"t": [0, 1, 2, 3]}, "6 or more"),
        (lw.control.setpoint(0.3), {}, "needs 2 values"),
        ([0.2, 0.45], {"duration": -1}, "duration must be longer than zero, not -1"),
        ([0.2, 0.45], {"duration": "1 m"}, "duration must be time"),
        ([0.2, 0.45], {"steps": 0}, "steps must be a whole number from 1"),
        ([0.2, 0.45], {"t": [0, 1, 1]}, "t must be two or more finite times that increase"),
        ([0.2, 0.45], {"t": "now"}, "t must be a list of times"),
        ([0.2, 0.45], {"drives": ["Q"]}, "no joint or cylinder 'Q'"),
    ],
)
def test_what_is_no_path_is_refused_by_name(robot: lw.Mechanism, path: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(lw.LinkwrightError, match=said):
        robot.follow({"lrod.P": path}, **{"steps": 10, **({} if "t" in options else {"duration": 1}), **options})


def test_a_body_that_turns_past_half_a_turn_does_not_jump() -> None:
    """An angle by atan2 comes back by 2 pi; w and alpha do not."""
    bodies = {"ground": {"pins": ["O"]}, "arm": {"pins": ["O"], "points": ["Q"]}}
    crank = {"name": "crank", "plane": "xy", "drawing": {"O": [0, 0], "Q": [1, 0]}, "bodies": bodies}
    s = lw.load(crank).system
    p = s.pose(s.start, "arm").p
    assert np.abs(p).max() == 0.0  # the arm's origin stays where it is

    def path(t: float) -> tuple[float, float, float]:
        angle = 3.0 * t + t * t
        return 0.0, 0.0, math.atan2(math.sin(angle), math.cos(angle))

    c = mechanism_of(s).follow({"arm": path}, duration=2, steps=8)
    assert c.notes == ()
    np.testing.assert_allclose(c["O.v"], 3.0 + 2.0 * c.t, atol=1e-7)
    np.testing.assert_allclose(c["O.a"], 2.0, atol=1e-5)  # R turns with 7 rad/s: differences of its entries
