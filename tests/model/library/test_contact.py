"""Built-in models with contact: what must hold in their runs, against closed forms and published figures."""

from __future__ import annotations

import numpy as np
import pytest

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
    """A limit cycle near that of Glocker's linear equations, 0.146 s and 19.5 mm a peck. Angles up to 0.28 rad are exact here, where
    cosines differ by 4 %, and with them the play of the sleeve of 0.6 mm by a tenth of it."""
    run = lw.load("woodpecker").simulate(0.8)
    pecks = np.array([x.time for x in run.events if x.name == "peck touches"])
    assert len(pecks) >= 5 and np.ptp(np.diff(pecks)[2:]) < 1e-4
    assert np.diff(pecks)[-1] == pytest.approx(0.146, rel=0.15)
    low = np.interp(pecks[-2:], run.t, run["fall"])
    assert low[0] - low[1] == pytest.approx(19.45e-3, rel=0.3)
    weight = 0.0048 * G * (low[0] - low[1])  # of sleeve and bird: in a steady motion all of it is lost
    sinks = np.interp(pecks[-2:] - 1e-3, run.t, run["energy.total"])  # off the instant of the impact
    assert sinks[0] - sinks[1] == pytest.approx(weight, rel=2e-2)  # samples are 1.6 ms apart
    assert run.certificate.ok


@pytest.mark.parametrize("name", ["geneva", "slider-crank-clearance"])
def test_a_cycle_says_that_it_holds_no_contact(name):
    m = lw.load(name)
    assert m.description.touch_laws
    with pytest.raises(UsageError) as caught:
        m.cycle()
    assert caught.value.name and "contact" in str(caught.value)
