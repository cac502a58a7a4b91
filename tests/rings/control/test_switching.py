"""Constraints that appear, vanish or lose rank while a controller is at work, and drives that lose their grip."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UsageError
from tests.refusals import refused

ALONG = "-0.075 m + 0.225 m*sin(pi*t/(1 s) + pi/9)"  # the task of [Aghili2005 IX]
ALL = ["J1", "J2", "J3"]


@pytest.fixture(scope="module")
def arm():
    return lw.compile("3r-slider")


def worst(run, *names):
    return max(float(np.abs(run[f"control.{n}.error"]).max()) for n in names)


# ---------------------------------------------------------------- constraints come and go


def test_a_constraint_vanishes_and_the_motion_goes_on(arm):
    """The tip leaves its slider: three freedoms instead of two, of which two are followed as before; the third is free."""
    law = lw.control.projected({"hand.E.x": ALONG, "hand.angle": "0 deg"}, P=100, drives=ALL)
    run = arm.simulate(arm.start, 0.8, control=law, events=[lw.events.when("t", 0.4, do=lw.events.release("tip"))], sample_interval=0.01)
    assert worst(run, "hand.E.x", "hand.angle") < 1e-8
    off = np.abs(run["hand.E.y"] + 0.27)
    assert off[run.t <= 0.4].max() < 1e-12 and off[-1] > 0.05
    assert any("t = 0.4 s" in note and "drives move 3 degrees of freedom" in note for note in run.notes)


def reaching(x, y, L1=0.30, L2=0.25, L3=0.10):
    """Angles of the arm with its tip at (x, y) and its hand level, elbow as in the model."""
    wrist = x - L3
    elbow = -math.acos((wrist**2 + y**2 - L1**2 - L2**2) / (2 * L1 * L2))
    shoulder = math.atan2(y, wrist) - math.atan2(L2 * math.sin(elbow), L1 + L2 * math.cos(elbow))
    return [shoulder, elbow, -shoulder - elbow]


def test_a_constraint_appears_and_the_motion_goes_on(arm):
    """The hand comes down on its slider, which takes hold of it: an impact throws x and angle off, and they come back as
    e'' + 20 e' + 100 e = 0 says, by the same controller on a mechanism with one freedom less."""
    q, before = np.array(reaching(0.0, -0.25)), np.array(reaching(0.0, -0.25 + 1e-6))
    start = arm.state(q, (q - before) / 2e-6)  # down at 0.5 m/s
    law = lw.control.projected({"hand.E.x": lw.control.minimum_jerk("0.05 m", "0.5 s"), "hand.angle": "0 deg"}, P=100, drives=["J1", "J2"])
    caught = lw.events.when("hand.E.y", "-0.27 m", direction="falling", do=lw.events.engage("tip"))
    run = arm.simulate(start, 0.5, off=["tip"], control=law, events=[caught], sample_interval=0.005, tolerance=1e-10)
    (event,) = run.events
    assert event.values["energy lost"] > 1e-3 and 0.02 < event.time < 0.1
    after = run.t > event.time
    assert np.abs(run["hand.E.y"][after] + 0.27).max() < 1e-9 and np.abs(run["lam.tip.ty"][after]).max() > 0.01
    t = run.t[after] - run.t[after][0]
    for name in ("hand.E.x", "hand.angle"):
        e = run[f"control.{name}.error"]
        rate = np.gradient(e[after], run.t[after], edge_order=2)[0]
        closed = (e[after][0] + (rate + 10.0 * e[after][0]) * t) * np.exp(-10.0 * t)
        assert np.abs(e[~after]).max() < 1e-6 < 1e-4 < np.abs(e[after]).max()
        # the rate is a difference of samples 5 ms apart: 1 % of it
        assert np.abs(e[after] - closed).max() < 0.02 * np.abs(e[after]).max()


def test_references_go_on_across_a_switch(arm):
    """What begins where the coordinate stood at the start of the run does not begin again."""
    law = lw.control.projected(
        {"hand.E.x": lw.control.minimum_jerk("0.1 m", "0.5 s"), "hand.angle": lw.control.sinusoid("5 deg", "1 Hz")}, P=100, drives=ALL
    )
    still = arm.state(arm.start.q)
    release = [lw.events.when("t", 0.2, do=lw.events.release("tip"))]
    plain, switched = (arm.simulate(still, 0.5, control=law, events=e, sample_interval=0.005) for e in ([], release))
    for name in ("hand.E.x", "hand.angle"):
        assert np.abs(switched[f"control.{name}.reference"] - plain[f"control.{name}.reference"]).max() < 1e-12
        # the sinusoid begins with 0.55 rad/s, the hand at rest: 0.55 t exp(-10 t) is left after half a second
        assert np.abs(switched[f"control.{name}.error"])[-1] < 2e-3


def test_more_is_followed_than_can_move_once_a_constraint_appears(arm):
    """x, y and angle of a free hand; then its slider holds y, which was wanted there anyway: x and angle go on."""
    law = lw.control.projected({"hand.E.x": ALONG, "hand.E.y": "-0.27 m", "hand.angle": "0 deg"}, P=100, drives=ALL)
    engage = [lw.events.when("t", 0.4, do=lw.events.engage("tip"))]
    run = arm.simulate(arm.start, 0.8, off=["tip"], control=law, events=engage, sample_interval=0.01)
    assert worst(run, "hand.E.x", "hand.E.y", "hand.angle") < 1e-6
    assert any("t = 0.4 s" in note and "2 degrees of freedom" in note for note in run.notes)
    efforts = np.stack([run[f"{j}.torque"] for j in ALL])
    assert np.isfinite(efforts).all() and np.abs(efforts).max() < 10.0
    # held by its slider, the hand needs less: the two ways to push against it are left alone
    free = arm.simulate(arm.start, 0.8, off=["tip"], control=law, sample_interval=0.01)
    late = run.t > 0.41
    assert sum(np.sum(run[f"{j}.torque"][late] ** 2) for j in ALL) < sum(np.sum(free[f"{j}.torque"][late] ** 2) for j in ALL)


# ---------------------------------------------------------------- singular positions


@pytest.mark.parametrize("drives", [["A", "B"], ["A"]], ids=["both joints", "one joint"])
def test_through_a_singular_position_under_control(drives):
    """60 to 120 deg through A = 90 deg, where the loop loses rank. The slider's branch goes on smoothly and so do the efforts of one
    joint alone, though at the point itself it could not push the folded branch: no effort near it exceeds those 5 deg beside."""
    s = lw.load("slider-crank-equal").system
    law = lw.control.projected({"A": lw.control.minimum_jerk("120 deg", "1 s")}, P=100, drives=drives)
    run = s.simulate(s.assemble({"A": "60 deg"}), 1.0, control=law, sample_interval=0.002)
    assert worst(run, "A") < 1e-6 and run["A", "deg"][-1] == pytest.approx(120.0, abs=1e-4)
    assert np.abs(run["B"] - (2 * math.pi - 2 * run["A"])).max() < 1e-6, "it is still on the slider's branch"
    efforts = np.abs(np.stack([run[f"{d}.torque"] for d in drives])).max(axis=0)
    away = np.abs(run["A", "deg"] - 90.0)
    assert np.isfinite(efforts).all() and efforts[away < 5].max() <= efforts[np.abs(away - 5) < 0.5].max()
    assert run.certificate.smallest_singular_value < 1e-9 and run["control.damping"].max() == 0.0


@pytest.fixture(scope="module")
def lost():
    """The motors' robot, a state next to which its cranks lose the platform (det Phi_x = 0), and one beyond."""
    s = lw.compile("3-rrr-motors")
    volts = {"A1": lw.drives.voltage(5), "A2": lw.drives.voltage(-5), "A3": lw.drives.voltage(5)}
    run = s.simulate(s.start, 0.47, drive=volts, sample_interval=0.001)
    i = int(np.flatnonzero(np.diff(np.sign(run["det.dependent"])))[1])
    return s, s.state(run.q[i - 40]), run.state(i), s.state(run.q[i + 40])


def pose(s, st):
    return [*s.point(st, "platform.C")[:2], float(st["P.angle"])]


def test_drives_that_lose_their_grip_are_damped_and_say_so(lost):
    s, before, _, beyond = lost
    found = {}
    for damping in (0.1, 0.02, 0.0):
        law = lw.control.projected({"platform": [lw.control.minimum_jerk(x, "0.5 s") for x in pose(s, beyond)]}, P=100, damping=damping)
        run = s.simulate(before, 1.0, control=law, sample_interval=0.001, tolerance=1e-8)
        found[damping] = max(float(np.abs(run[f"{j}.torque"]).max()) for j in ("A1", "A2", "A3"))
        told = [n for n in run.notes if "lose control authority" in n]
        assert bool(told) == (damping > 0.0) == bool(run["control.damping"].max() > 0.0)
        assert "P.angle" in "".join(told) or not damping
        # what was let go on the way comes back as exp(-10 t)
        assert pose(s, run.state(-1)) == pytest.approx(pose(s, beyond), abs=0.02), "it is through"
    assert found[0.1] < found[0.02] < 0.1 * found[0.0]


def test_a_controller_that_begins_without_grip_is_refused(lost):
    """Exactly there the platform moves with all cranks at rest: nobody can push that motion, and it is named."""
    s, _, near, _ = lost
    low, platform = np.array(pose(s, near)), [s.names.v.index(n) for n in ("P.x", "P.y", "P.angle")]
    direction = np.array([near.v[i] for i in platform])

    def det(t):
        st = s.assemble(pose={"platform": tuple(low + t * direction)}, guess=near)
        return float(np.linalg.det(s.closure(st).J[:, platform])), st

    a, b = 0.0, 0.002
    sign = np.sign(det(a)[0])
    assert sign != np.sign(det(b)[0])
    while b - a > 1e-15:
        middle = 0.5 * (a + b)
        a, b = (middle, b) if np.sign(det(middle)[0]) == sign else (a, middle)
    there = det(a)[1]
    with refused(UsageError, name="projected"):
        s.simulate(there, 0.1, control=lw.control.projected({"platform": pose(s, there)}))
    with refused(UsageError, name="computed_torque"):
        s.control(lw.control.computed_torque({"platform": pose(s, there)}), there)
