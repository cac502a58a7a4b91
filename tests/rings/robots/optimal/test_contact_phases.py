"""Scheduled contacts: closed forms of standing, hopping and rolling, the event-driven run as the judge, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from tests.refusals import refused
from tests.rings.robots.optimal.walkers import (
    FOOT,
    INERTIA,
    LENGTH,
    ROTOR,
    SPOKES,
    STRIDE,
    TRUNK,
    WHEEL,
    G,
    hopper,
    leg_with_a_loop,
    rimless_wheel,
    rolling_speeds,
)

STAND = {"hold": "tread"}


@pytest.fixture(scope="module")
def hop() -> lw.Mechanism:
    return lw.load(hopper())


def test_a_leg_rises_as_fast_as_its_foot_stays_down(hop: lw.Mechanism) -> None:
    """Full force up, then as much pull as the foot's weight: a double integrator whose brake is that the floor does not pull."""
    force, way = 80.0, 0.2
    phases = [{**STAND, "duration": "0.09..0.115 s"}, {**STAND, "duration": "0.1..0.2 s"}]
    f = hop.optimal("least time", {"leg": 0.3 + way}, phases=phases, limits={"leg.force": force}, steps=8)
    up, down = force / TRUNK - G, G * (1.0 + FOOT / TRUNK)
    top = np.sqrt(2.0 * way * up * down / (up + down))
    assert abs(f.time - (top / up + top / down)) < 1e-8  # the phases meet at the switch, so that only the solver's tolerance is left
    assert abs(f.phases[0].end - top / up) < 1e-8
    assert abs(f["leg.force"][-1] + FOOT * G) < 1e-5 and abs(f["tread.force"][-1]) < 1e-5  # the bound is met to the solver's 1e-9 of 40 N
    assert max(map(abs, f.replay().deviation.values())) < 1e-9


def test_a_periodic_hop_is_what_the_event_driven_run_makes(hop: lw.Mechanism) -> None:
    phases = [{**STAND, "duration": "0.1..0.6 s"}, {"duration": "0.2 s"}]
    f = hop.optimal("least effort", phases=phases, periodic=True, limits={"leg.force": "200 N", "leg": "0.2..0.6 m"}, steps=16)
    assert f.ok
    stance, flight = f.phases
    weight = (TRUNK + FOOT) * G * f.time
    t = f.t[f.t <= stance.end + 1e-12]
    h = np.diff(t)[::2]
    push = f["tread.force"][: len(t)].copy()
    push[-1] = 2.0 * push[-2] - push[-3]  # the sample at the switch has the force after it, and forces are linear in an interval
    pushed = float((h / 3.0 * (push[:-1:2] + 4.0 * push[1::2] + push[2::2])).sum())
    assert abs(pushed + sum(stance.impulses.values()) - weight) < 1e-6 * weight  # momentum of a period
    assert flight.impulses == {} and abs(flight.end - flight.start - 0.2) < 1e-9
    landing = f["y.v"][-1]
    assert abs(stance.impulses["tread"] + FOOT * landing) < 1e-9 and abs(stance.lost - 0.5 * FOOT * landing**2) < 1e-9
    assert [e.name for e in f.trajectory.events] == ["tread touches", "tread leaves"]
    replay = f.replay()
    assert max(map(abs, replay.deviation.values())) < 1e-9  # the run integrates to 1e-10
    leaves = [e.time for e in replay.run.events if e.name == "tread leaves"]
    np.testing.assert_allclose(leaves, [stance.end], atol=1e-7)


@pytest.mark.slow
def test_a_rimless_wheel_needs_no_torque_in_its_limit_cycle() -> None:
    m = lw.load(rimless_wheel())
    f = m.optimal(
        "least effort", phases=[{"hold": "first", "duration": "0.2..0.6 s"}], steps=12, limits={"motor.torque": "1 N m"},
        periodic={"base.x": STRIDE, "base.angle": "free", "motor": "free"},
    )  # fmt: skip
    before, after = rolling_speeds()
    assert np.abs(f["motor.torque"]).max() < 1e-6
    np.testing.assert_allclose(-f["base.angle.v"][[-1, 0]], [before, after], rtol=1e-6)  # 12 intervals, each accurate to 1e-6 or better
    assert abs(f["base.angle"][-1] - f["base.angle"][0] + 2.0 * np.pi / SPOKES) < 1e-6
    lost = 0.5 * (INERTIA + (WHEEL + ROTOR) * LENGTH**2) * (before**2 - after**2)
    assert abs(f.phases[0].lost - lost) < 5e-6 * lost  # the squares of both speeds, which are accurate to 1e-6
    replay = f.replay()
    assert max(map(abs, replay.deviation.values())) < 1e-5  # an inverted pendulum, which multiplies small differences
    hits = [e.time for e in replay.run.events if e.name == "second touches"]
    np.testing.assert_allclose(hits, [f.time], atol=1e-5)


def test_a_mirrored_period_exchanges_two_masses() -> None:
    """Each mass ends at rest where the other one began: least effort of a way d in T is 12 m^2 d^2 / T^3, twice."""
    bodies = {name: {"points": {"P": [0, 0]}, "mass": 2.0, "com": [0, 0], "inertia": 0.1} for name in ("left", "right")}
    m = lw.load({
        "name": "two masses", "plane": "xy", "gravity": [0, 0], "bodies": {"ground": {"points": {"O": [0, 0]}}, **bodies},
        "joints": {k: {"type": "prismatic", "connect": ["ground.O", f"{x}.P"], "axis": [1, 0]} for k, x in (("a", "left"), ("b", "right"))},
        "drive": ["a", "b"],
    })  # fmt: skip
    f = m.optimal(
        "least effort", start={"a": 0.0, "b": 0.7}, periodic={"a": "b", "b": "a"}, duration=0.8, limits={"*.force": 40.0}, steps=5
    )
    np.testing.assert_allclose([f["a"][-1], f["b"][-1], f["a.v"][-1], f["b.v"][-1]], [0.7, 0.0, 0.0, 0.0], atol=1e-9)
    assert abs(f.value - 2.0 * 12.0 * (2.0 * 0.7 / 40.0) ** 2 / 0.8**3) < 1e-9


@pytest.mark.slow  # 15 s: two meshes, and the events of the replay
def test_a_leg_with_a_loop_hops_as_planned() -> None:
    m = lw.load(leg_with_a_loop())
    limits = {
        "*.torque": "60 N m", "hip": "-70..-10 deg", "motor": "10..70 deg", "base": "0.35..0.75 m", "hip.v": "15 rad/s",
        "motor.v": "15 rad/s",
    }  # fmt: skip
    phases = [{"hold": "foot", "duration": "0.2..0.4 s"}, {"duration": "0.2 s"}]
    f = m.optimal("least effort", phases=phases, periodic=True, limits=limits, steps=20, tolerance=1e-5)
    assert f.ok
    force, friction = f["foot.force"], f["foot.friction"]
    assert force.min() >= 0.0 and (np.abs(friction) <= 0.8 * force + 1e-6).all()
    assert np.abs(f.trajectory.q[0] - f.trajectory.q[-1]).max() < 1e-9
    replay = f.replay()
    assert max(map(abs, replay.deviation.values())) < 1e-3  # an error of 1e-5 in each interval, which a leg without feedback amplifies
    lands = [e.time for e in replay.run.events if e.name == "foot touches"]
    np.testing.assert_allclose(lands, [f.time], atol=1e-4)
    run = replay.run
    for name in ("knee.load", "foot.force"):  # reactions have the forces of contact, which the run finds by itself
        there = np.interp(f.t[2:20], run.t, run[name])
        np.testing.assert_allclose(f[name][2:20], there, rtol=2e-2)  # forces are linear in an interval: 2 % at its middle and ends


@pytest.mark.parametrize(
    "phases",
    [
        "tread", [], [{"hold": "tread", "until": 3}], ["tread"], [{"hold": "step"}], [{**STAND, "duration": "-1 s"}],
        [{**STAND, "duration": "3 kg"}],
    ],
)  # fmt: skip
def test_phases_are_refused(hop: lw.Mechanism, phases: Any) -> None:
    with pytest.raises(lw.UsageError):
        hop.optimal("least time", {"leg": 0.5}, phases=phases, limits={"leg.force": 80.0})


def test_what_cannot_be_held_is_named(hop: lw.Mechanism) -> None:
    with refused(lw.UsageError, name="phases", value=0.1):
        hop.optimal("least time", {"leg": 0.5}, start={"y": 0.1}, phases=[STAND], limits={"leg.force": 80.0})
    with refused(lw.UsageError, name="phases", value=0.5):
        lw.load(hopper(restitution=0.5)).optimal("least time", {"leg": 0.5}, phases=[STAND], limits={"leg.force": 80.0})
    with refused(lw.UsageError, name="duration", value=3.0):
        hop.optimal("least effort", {"leg": 0.5}, duration=3.0, phases=[{**STAND, "duration": "0.2..1 s"}])
    with refused(lw.UsageError, name="phases"):
        lw.load("five-bar").optimal("least time", {"A": "100 deg"}, phases=[STAND])


def test_contacts_in_space_are_refused() -> None:
    ball = {
        "name": "ball", "gravity": [0, 0, -G],
        "bodies": {
            "ground": {"points": {"O": [0, 0, 0]}},
            "sledge": {"points": {"S": [0, 0, 0]}, "mass": 1, "com": [0, 0, 0], "inertia": [0.1, 0.1, 0.1]},
            "ball": {"points": {"C": [0, 0, 0]}, "mass": 1, "com": [0, 0, 0], "inertia": [0.1, 0.1, 0.1]},
        },
        "joints": {
            "x": {"type": "prismatic", "connect": ["ground.O", "sledge.S"], "axis": [1, 0, 0]},
            "z": {"type": "prismatic", "connect": ["sledge.S", "ball.C"], "axis": [0, 0, 1]},
        },
        "surfaces": {"skin": {"sphere": "ball.C", "radius": 0.1}, "floor": {"plane": "ground.O", "normal": [0, 0, 1]}},
        "contacts": {"step": {"between": ["skin", "floor"]}}, "drive": ["x", "z"], "start": {"z": 0.1},
    }  # fmt: skip
    with refused(lw.UsageError, name="phases"):
        lw.load(ball).optimal("least time", {"x": 1.0}, phases=[{"hold": "step"}], limits={"*.force": 20.0})
