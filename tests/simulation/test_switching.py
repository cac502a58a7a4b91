"""Events and what they do: zero crossings, stopping, locks, constraints that take hold with an impact or let go."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import ChannelError, UsageError
from tests.refusals import refused

PENDULUM = {
    "name": "pendulum",
    "plane": "xy",
    "gravity": [0, -9.81],
    "drawing": {"O": [0, 0], "P": [1, 0], "Q": [1.28, 0.96]},
    "bodies": {
        "ground": {"pins": ["O"]},
        "upper": {"pins": ["O", "P"], "mass": 1, "com": "P", "inertia": 0},
        "lower": {"pins": ["P"], "points": ["Q"], "along": {"P": 0, "Q": 1}, "mass": 2, "com": "Q", "inertia": 0},
    },
}


@pytest.fixture(scope="module")
def double():
    """Two point masses on massless rods, a double pendulum."""
    return lw.compile(lw.load(PENDULUM))


@pytest.fixture(scope="module")
def scraper():
    s = lw.compile(lw.load("carpet-scraper"))
    return s, s.assemble({"J1": 0.0}, {"J1": 4.7124})


def test_events_are_noted_in_order_with_their_units(scraper):
    s, st = scraper
    run = s.simulate(
        st, 1.0, events=[lw.events.when("J1", "30 deg"), lw.events.when("t", "0.2 s", name="later"), lambda t, q, v: v[0] - 5.0]
    )
    assert [e.name for e in run.events][:2] == ["J1", "<lambda>"] or [e.name for e in run.events][:2] == ["<lambda>", "J1"]
    named = {e.name: e.time for e in run.events}
    assert named["later"] == pytest.approx(0.2, abs=1e-12)
    assert float(run.at(named["J1"])["J1", "deg"]) == pytest.approx(30.0, abs=1e-6)
    times = [e.time for e in run.events]
    assert times == sorted(times)


def test_a_condition_stops_the_run(scraper):
    s, st = scraper
    run = s.simulate(st, 5.0, events=[lw.events.when("J1.v", direction="falling", do="stop")], sample_interval=0.01)
    assert run.certificate.status == "event" and 0.6 < run.t[-1] < 0.62 < 5.0
    assert run.certificate.duration == pytest.approx(0.6149915732, abs=1e-8)  # where the reference swing turns back


def test_locking_a_joint_is_an_inelastic_impact(double):
    """The elbow locks while it bends at w: angular momentum about the fixed pivot stays, the relative motion's energy is lost."""
    st = double.assemble({"O": 0.0, "P": 0.5 * math.pi}, {"O": 1.0, "P": 3.0})
    run = double.simulate(
        st, 0.6, events=[lw.events.when("t", 0.3, do=lw.events.lock("P"), name="latch")], tolerance=1e-11, sample_interval=0.001
    )
    (event,) = run.events
    before = double.simulate(st, 0.3, tolerance=1e-11, sample_interval=[0.3])
    q, v = before.q[-1], before.v[-1]
    M = double.M(before.state(-1))
    inertia = M[0, 0] if double.names.v[0] == "O" else M[1, 1]
    momentum = float(M[double.names.v.index("O")] @ v)  # about O, of both masses
    after = momentum / inertia
    assert run["O.v"][run.t > 0.3][0] == pytest.approx(after, abs=0.02)  # one sample later
    lost = 0.5 * v @ M @ v - 0.5 * inertia * after**2
    assert event.values["energy lost"] == pytest.approx(lost, rel=1e-8) and lost > 0.5
    assert event.values["did"] == "lock P" and run.certificate.impact_losses == pytest.approx(lost, rel=1e-8)
    held = run["P"][run.t > 0.3]
    assert np.ptp(held) < 1e-12 and np.abs(run["P.v"][run.t > 0.301]).max() < 1e-12 and held[0] == pytest.approx(q[1], abs=1e-8)
    assert run.checks().ok, "the balance holds with the loss counted"
    reach = float(np.linalg.norm(run["lower.Q"][-1]))
    free = double.simulate(st, 0.6, tolerance=1e-11, sample_interval=[0.6])
    assert abs(free["P"][-1] - held[-1]) > 0.1 and 0.5 < reach < 2.0


def test_a_time_that_is_past_does_not_come_again():
    """Equations without time: an event of the time, watched again after a lock, is on the side of the present."""
    m = lw.load("wiper")
    events = [lw.events.when("t", 0.05, do=lw.events.lock("A")), lw.events.when("t", 0.1, do=lw.events.unlock("A"))]
    run = m.simulate("0.15 s", drive={"A": lw.drives.torque("2 N m")}, events=events)
    assert [(e.values["did"], round(e.time, 9)) for e in run.events] == [("lock A", 0.05), ("unlock A", 0.1)]
    assert run["A.v"][-1] > 0.1  # it moves again


def test_a_lock_can_be_opened_again(double):
    st = double.assemble({"O": 0.0, "P": 0.3}, {"O": 0.5})
    events = [lw.events.when("t", 0.1, do=lw.events.lock("P")), lw.events.when("t", 0.4, do=lw.events.unlock("P"))]
    run = double.simulate(st, 0.8, events=events, tolerance=1e-10, sample_interval=0.01)
    inside = (run.t > 0.1) & (run.t <= 0.4)
    assert np.ptp(run["P"][inside]) < 1e-12 and np.ptp(run["P"][run.t > 0.4]) > 0.1
    assert [e.values["did"] for e in run.events] == ["lock P", "unlock P"]
    assert run.events[1].values["energy lost"] == pytest.approx(0.0, abs=1e-12), "letting go loses nothing"
    assert run.checks().ok


def tethered():
    """A pendulum's bob on a second rod, which is a constraint of its own and can be switched."""
    return lw.compile(lw.load({**PENDULUM, "rods": {"tether": {"between": ["ground.O", "lower.Q"], "length": 1.6}}}))


def test_a_rod_that_breaks_and_one_that_catches():
    """The tether is slack until the bob comes to its length; then the radial speed is lost at once, the rest stays."""
    s = tethered()
    st = s.state([0.0, -2.2], [0.0, 0.0])
    distance = lw.events.when(
        lambda x: x["lower.Q.x"] ** 2 + x["lower.Q.y"] ** 2, 1.6**2, direction="rising", do=lw.events.engage("tether"), name="taut"
    )
    off = lw.compile(lw.load(PENDULUM)).simulate(
        lw.compile(lw.load(PENDULUM)).state(st.q), 2.0, events=[lw.events.when(distance.function, 1.6**2, do="stop")]
    )
    run = s.simulate(s.state(st.q, st.v), 1.5, off=["tether"], events=[distance], tolerance=1e-10, sample_interval=0.005)
    (event,) = run.events
    assert event.time == pytest.approx(off.certificate.duration, abs=1e-6)
    reach = np.linalg.norm(run["lower.Q"], axis=1)
    assert reach[run.t < event.time].max() < 1.6 + 1e-6 and np.abs(reach[run.t > event.time] - 1.6).max() < 1e-12
    v, n = np.array([off["lower.Q.vx"][-1], off["lower.Q.vy"][-1]]), off["lower.Q"][-1] / 1.6
    assert event.values["energy lost"] > 0.05 and abs(v @ n) > 0.1, "it came with a radial speed"
    assert run.checks().ok
    assert (run["lam.tether"][run.t < event.time] == 0.0).all() and np.abs(run["lam.tether"][run.t > event.time]).min() > 0.0
    taut = run.t > event.time  # while it is slack there is no row to lose; then it is the lever of the tether about the joint P
    arm, along = run["lower.Q"] - run["lower.P"], run["lower.Q"] / reach[:, None]
    lever = np.abs(arm[:, 0] * along[:, 1] - arm[:, 1] * along[:, 0]) / compiled_of(s).loops.kappa
    np.testing.assert_allclose(run["singular.J"], np.where(taut, lever, 1.0), atol=1e-12)
    assert run.certificate.smallest_singular_value == run.certificate.smallest_dependent == pytest.approx(lever[taut].min(), abs=1e-12)
    again = s.simulate(
        run.state(-1),
        0.5,
        events=[lw.events.when("t", run.t[-1] + 0.1, do=lw.events.release("tether"), name="cut")],
        tolerance=1e-10,
        sample_interval=0.01,
    )
    later = np.linalg.norm(again["lower.Q"], axis=1)
    assert np.ptp(later[:10]) < 1e-9 and np.ptp(later[12:]) > 1e-3 and again.checks().ok


def test_what_cannot_be_switched_is_said(double, scraper):
    s, st = scraper
    with refused(UsageError, name="J1"):
        s.simulate(st, 1.0, events=[lw.events.when("t", 0.5, do=lw.events.release("J1"))])
    with refused(UsageError, name="nothing", allowed=("J8", "J9", "J10")):
        s.simulate(st, 1.0, off=["nothing"])
    with pytest.raises(lw.SimulationError, match="cannot take hold"):
        t = tethered()
        t.simulate(t.state([0.0, -2.2]), 0.2, off=["tether"], events=[lw.events.when("t", 0.1, do=lw.events.engage("tether"))])
    with refused(UsageError, name="direction", value="up"):
        lw.events.when("J1", direction="up")
    with refused(UsageError, value="explode"):
        lw.events.when("J1", do="explode")
    with refused(ChannelError, name="J1.w", allowed=("J1", "J1.v", "J1.a", "J1.load")):
        s.simulate(st, 1.0, events=["J1.w"])
    with refused(UsageError, name="<lambda>"):
        s.simulate(st, 1.0, events=[lw.events.when(lambda st: st["J1"], "3 deg")])


def test_a_sampled_function_that_remembers_is_asked_once_a_sample():
    """Events that fall on a sample do not ask it again; locked meanwhile it is not asked, and afterwards holds what it held."""
    s, asked = lw.load("five-bar").system, []

    def counting(t):
        asked.append(round(float(t), 6))
        return 0.1 * len(asked)

    other = lw.drives.torque(lambda t: 1.0 + t, every="10 ms")
    for joint, times in (("E", [0.0, 0.01, 0.02, 0.03, 0.04]), ("A", [0.0, 0.01, 0.02, 0.04])):
        asked.clear()
        drive = {"A": lw.drives.torque(counting, every="10 ms")} | ({"E": other} if joint == "A" else {})
        events = [lw.events.when("t", 0.02, do=lw.events.lock(joint)), lw.events.when("t", 0.034, do=lw.events.unlock(joint))]
        run = s.simulate(s.start, 0.048, drive=drive, events=events, sample_interval=0.006)
        assert asked == times
        free = (run.t < 0.02) | (run.t > 0.034)
        count = np.searchsorted(times, run.t[free] + 1e-9)
        assert np.allclose(run["A.torque"][free], 0.1 * count, atol=1e-12)
        if joint == "A":
            assert np.allclose(run["E.torque"], 1.0 + np.floor(run.t / 0.01 + 1e-9) * 0.01, atol=1e-12)
