"""Built-in models with contact: what must hold in their runs, against closed forms and published figures."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import fsolve

import linkwright as lw
from linkwright.errors import UsageError

G = 9.81


def test_the_gripper_holds_its_part_if_friction_is_enough():
    """Both jaws together hold m g, so mu >= m g / (2 F), with the push F that the run itself shows; below it the part slides."""
    held = lw.load("gripper").simulate(0.1)
    corners = [f"grip.{jaw}.{k}" for jaw in ("jaw_left", "jaw_right") for k in (1, 2)]
    push = sum(held[f"{x}.force"][0] for x in corners)
    least = 0.3 * G / push
    assert held.events == () and held.certificate.ok
    assert np.ptp(held["part.P.y"]) < 1e-14 and np.abs(held["part.P.vy"]).max() < 1e-14  # round-off of 0.1 m
    assert lw.load("gripper", mu=least * (1.0 + 1e-6)).simulate(0.02)["part.P.vy"][-1] == pytest.approx(0.0, abs=1e-14)
    falls = lw.load("gripper", mu=0.9 * least).simulate(0.02)
    # jaws hang straight and do not move at first, so the part accelerates with a tenth of g
    assert falls["part.P.ay"][0] == pytest.approx(-0.1 * G, rel=1e-9) and falls["part.P.vy"][-1] < -0.01


def test_the_table_of_a_run_has_every_number_of_every_touch():
    """Also of touches whose name has a dot, a side or a place."""
    run = lw.load("gripper").simulate(0.01, sample_interval=0.005)
    numbers = ("gap", "slip", "force", "friction", "state")
    names = [f"grip.{jaw}.{k}.{x}" for jaw in ("jaw_left", "jaw_right") for k in (1, 2) for x in numbers]
    columns = {x.name for x in run.table().columns}
    assert columns >= set(names) and set(run._ipython_key_completions_()) >= set(names)


def test_the_geneva_wheel_follows_its_closed_form():
    """Engaged it turns by beta = atan2(a sin alpha, C - a cos alpha), up to the play over the shortest arm; else the disc holds it."""
    run, C = lw.load("geneva").simulate(1.0), 0.1
    a, alpha = C * np.sin(np.pi / 4), np.asarray(run["A"]) - 2.0 * np.pi
    beta = np.arctan2(a * np.sin(alpha), C - a * np.cos(alpha))
    wheel, play = np.asarray(run["W"]), 2e-5
    engaged = np.abs(alpha) < np.pi / 4
    arm = C - a
    assert np.abs(wheel + beta + np.pi / 4)[engaged].max() < 1.01 * play / arm  # an arm in the slot turns by the play over its length
    # the disc blocks a turn at an angle theta of its rim by C sin(theta); at the time of entry little is left of it
    assert np.abs(wheel[alpha < -np.pi / 3]).max() < 2.0 * play / (C * np.sin(np.pi / 12))
    assert run.certificate.ok and run.certificate.touch_depth < 1e-12 * C


def test_the_follower_lifts_off_above_its_speed():
    """At the top N = m (g - e w^2) + F0 + 2 k e, so it lifts from w^2 = (m g + F0 + 2 k e) / (m e) on, at the angle where N = 0."""
    m, k, preload, e = 0.5, 2000.0, 20.0, 0.01
    limit = np.sqrt((m * G + preload + 2.0 * k * e) / (m * e))

    def leaves(share: float) -> list[float]:
        w = share * limit
        run = lw.load("cam-follower", **{"drive.A": w}).simulate(2.0 * np.pi / w)
        assert run.certificate.ok
        return [x.time * w for x in run.events if x.name == "cam leaves"]

    assert leaves(1.0 - 1e-4) == []
    w = 1.1 * limit
    sine = (m * G + preload + k * e) / (m * e * w**2 - k * e)  # of the angle from half the stroke
    assert leaves(1.1)[0] == pytest.approx(np.pi / 2 + np.arcsin(sine), abs=1e-9)


def test_the_pin_stays_in_its_hole():
    """With play the slider differs from that of an ideal pin by little more than the play, and never leaves the hole."""
    run, play = lw.load("slider-crank-clearance").simulate(0.2), 1e-4
    r, rod, A = 0.05, 0.18, np.asarray(run["A"])
    ideal = r * np.cos(A) + np.sqrt(rod**2 - (r * np.sin(A)) ** 2)
    obliquity = 1.0 / np.cos(np.arcsin(r / rod))  # a change of length along the rod moves the slider by so much more
    assert np.abs(run["slider.C.x"] - ideal).max() < 1.01 * play * (obliquity + np.tan(np.arcsin(r / rod)))
    assert np.hypot(run["B.x"], run["B.y"]).max() < play * (1.0 + 1e-9)
    assert run.certificate.ok and any(x.name == "B.contact leaves" for x in run.events)
    assert run.certificate.least_impact_loss > -1e-12  # although the motor gives energy in impacts


def test_the_woodpecker_pecks_at_a_steady_pace():
    """Its weight alone is lost. With exact angles a peck takes 0.131 s and 14.4 mm; Glocker's linear equations have 0.146 s and 19.5 mm,
    and `tests/simulation/contact/test_machines.py` has both beside another program."""
    run = lw.load("woodpecker").simulate(0.8)
    pecks = np.array([x.time for x in run.events if x.name == "peck touches"])
    assert len(pecks) >= 5 and np.ptp(np.diff(pecks)[2:]) < 1e-4
    low = np.interp(pecks[-2:], run.t, run["fall"])
    weight = 0.0048 * G * (low[0] - low[1])  # of sleeve and bird: in a steady motion all of it is lost
    sinks = np.interp(pecks[-2:] - 1e-3, run.t, run["energy.total"])  # off the instant of the impact
    assert sinks[0] - sinks[1] == pytest.approx(weight, rel=2e-2)  # samples are 1.6 ms apart
    assert run.certificate.ok


def locked(teeth: int = 12, R: float = 50.0, depth: float = 6.0) -> tuple[float, np.ndarray]:
    """Angle of a wheel whose tooth its pawl has locked, and center of the tip: 1 mm from the radius in front and from the back behind."""
    P, arm = np.array([50.0, 49.0]), np.hypot(50.0, 2.0)
    pitch, start = 2.0 * np.pi / teeth, np.radians(3.0 + 60.0)  # of the tooth that points up least

    def off(x: np.ndarray) -> list[float]:
        c, turn = x[:2], x[2] + start
        front = np.array([np.cos(turn + pitch), np.sin(turn + pitch)])
        tip, root = R * np.array([np.cos(turn), np.sin(turn)]), (R - depth) * front
        back = (root - tip) / np.linalg.norm(root - tip)
        out = np.array([back[1], -back[0]])
        return [front[1] * c[0] - front[0] * c[1] - 1.0, (c - tip) @ out - 1.0, np.linalg.norm(c - P) - arm]

    x, _, done, why = fsolve(off, [1.0, 46.0, 0.0], xtol=1e-13, full_output=True)
    assert done == 1, why
    return float(x[2]), x[:2]


def test_the_ratchet_locks_where_its_tip_lies_in_the_gap():
    """Angle and forces by hand: the tip touches a front and a back, and moments about both axles are zero."""
    run = lw.load("ratchet", torque=-0.05, mu=0.0).simulate(0.5)
    angle, tip = locked()
    assert run["A"][-1] == pytest.approx(angle, abs=1e-12) and run.certificate.ok
    front, back = run["click.1.force"][-1], run["click.2.force"][-1]
    spring = 0.05 * (np.radians(35.0) - run["P"][-1])
    c, turn = tip / 1e3, angle + np.radians(93.0)
    along = np.array([np.cos(turn), np.sin(turn)])
    n1 = np.array([along[1], -along[0]])  # out of the front
    a, b = 0.050 * np.array([np.cos(turn - np.pi / 6), np.sin(turn - np.pi / 6)]), 0.044 * along
    n2 = np.array([(b - a)[1], -(b - a)[0]]) / np.linalg.norm(b - a)
    arm = c - np.array([0.050, 0.049])
    moments = [[r[0] * n[1] - r[1] * n[0] for n in (n1, n2)] for r in (c, arm)]
    by_hand = np.linalg.solve(moments, [-0.05, -spring])
    np.testing.assert_allclose([front, back], by_hand, rtol=1e-10)
    assert front > 1.0  # N: nearly all of the torque, over 46 mm


def test_the_ratchet_clicks_once_a_tooth():
    run = lw.load("ratchet").simulate(1.1)
    clicks = [float(np.interp(x.time, run.t, run["A"])) for x in run.events if x.name == "click.2 touches"]
    np.testing.assert_allclose(np.diff(clicks[1:]), np.radians(30.0), atol=1e-4)  # read between samples
    assert np.degrees(run["A"][-1]) > 120.0 and run.certificate.ok


def toggle(rest: float = np.radians(6.0)) -> tuple[float, float]:
    """Clamping force behind the dead center, and force on the rest: rubber, and the moment that the force keeps about the handle's pin."""
    r, rod = 0.025, 0.060
    pushed = 0.002 - (r + rod - r * np.cos(rest) - np.sqrt(rod**2 - (r * np.sin(rest)) ** 2))
    force, lean = 200e3 * pushed, np.arcsin(r * np.sin(rest) / rod)
    return force, force * np.sin(rest + lean) / np.cos(lean) / np.cos(rest)


def test_the_toggle_clamp_stays_locked():
    """A torque closes it and then is gone: both forces by hand, and the part holds against what friction can take, mu F."""
    run = lw.load("toggle-clamp").simulate(1.2)
    force, rests = toggle()
    assert run["grip.force"][-1] == pytest.approx(force, rel=1e-12) and run["rest.force"][-1] == pytest.approx(rests, rel=1e-11)
    assert np.degrees(run["D"][-1]) == pytest.approx(186.0, abs=1e-10) and abs(run["D.v"][-1]) < 1e-14
    assert run["grip.friction"][-1] == pytest.approx(100.0, rel=1e-11) and abs(run["part.W.vy"][-1]) < 1e-14
    assert [x.name for x in run.events] == ["grip touches", "rest touches"] and run.certificate.ok
    slips = lw.load("toggle-clamp", pull="110 N", mu=110.0 / force * (1.0 - 1e-6)).simulate(0.95)
    assert slips.events[-1].name == "grip slips"
    holds = lw.load("toggle-clamp", pull="110 N", mu=110.0 / force * (1.0 + 1e-6)).simulate(0.95)
    assert holds.events[-1].name == "rest touches"


def test_a_cycle_has_the_ideal_joint_and_its_lost_motion(tmp_path):
    c = lw.load("slider-crank-clearance").cycle(steps=12)
    c.save(tmp_path / "cycle.npz")
    again = lw.load_result(tmp_path / "cycle.npz")
    for name in ("slider.C.x.lost_motion", "B.load"):
        np.testing.assert_array_equal(again[name], c[name])
    assert c.full_turn and any("clearance" in x for x in c.notes)
    assert np.isfinite(c["B.load"]).all() and c.measure("max slider.C.x.lost_motion") > 0.0


def test_a_cycle_says_that_it_holds_no_contact():
    m = lw.load("geneva")
    assert m.description.touch_laws
    with pytest.raises(UsageError) as caught:
        m.cycle()
    assert caught.value.name and "contact" in str(caught.value)


@pytest.mark.slow  # many runs; tests/simulation/contact has a quick one
@pytest.mark.parametrize(
    ("name", "vary", "wanted", "least"),
    [
        # mu F on each side of the part carries half of its weight; it may slip by 0.1 mm/s in 50 ms
        ("gripper", {"close.force": "1 N..60 N"}, "end part.P.vy > -0.1 mm/s", 0.3 * (G - 1e-4 / 0.05) / (2.0 * 0.4)),
        # at the top m e w^2 = m g + k (10 mm + 2 e) + 1 N
        ("cam-follower", {"return.stiffness": "1 N/mm..4 N/mm"}, "min cam.contact > 1 N", (0.5 * (0.01 * 125.0**2 - G) + 1.0) / 0.03),
    ],
    ids=["gripper", "cam"],
)
def test_the_weakest_spring_that_is_enough(name, vary, wanted, least):
    """Optimized over runs, from springs that hold and from one that lets the follower fly."""
    (number,) = vary
    case = lw.Run(0.05 if name == "gripper" else 0.06)
    best = lw.load(name).optimize(f"min {number}", vary, wanted, case, count=4, starts=2, progress=False)
    assert best.feasible and best.numbers[number] == pytest.approx(least, rel=1e-3)  # samples of the run, and 1e-4 of the range
