"""Runs with contact in space against closed forms: slopes, rolling, bouncing, a coin in a circle, a block on its corners, a gripper."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import linkwright as lw
from linkwright.errors import UsageError
from tests.refusals import refused
from tests.simulation.contact.models import G, ball, block, flying, flying_in_space, run

UPRIGHT = [1.0, 0.0, 0.0, 0.0]
NONE = [0.0] * 6


def slope(degrees: float, azimuth: float = 0.3) -> tuple[float, float, float]:
    """Gravity on a slope that falls in a direction of the floor."""
    a = np.radians(degrees)
    return G * np.sin(a) * np.cos(azimuth), G * np.sin(a) * np.sin(azimuth), -G * np.cos(a)


def test_a_ball_slides_askew_until_it_rolls():
    """After 2 v / (7 mu g) at five sevenths of its speed in each direction; two sevenths of the energy are lost."""
    r, mu, v = 0.1, 0.3, np.hypot(2.0, 1.0)
    found = run(ball(r, mu=mu), [*UPRIGHT, 0, 0, r], [0, 0, 0, 2, 1, 0], 1.0, tolerance=1e-11)
    (event,) = found.events
    assert event.name == "step sticks" and event.time == pytest.approx(2.0 * v / (7.0 * mu * G), rel=1e-14)
    np.testing.assert_allclose(found.v[-1][3:5], [10.0 / 7.0, 5.0 / 7.0], rtol=1e-14)
    assert found["work.contact"][-1] == pytest.approx(v**2 / 7.0, rel=1e-13)
    before = found.t < event.time
    np.testing.assert_allclose(found["step.friction"], np.where(before, mu * G, 0.0), atol=1e-12)
    np.testing.assert_allclose(found["step.friction.x"][before], -mu * G * 2.0 / v, rtol=1e-9)  # against the slip, which is small at last
    np.testing.assert_allclose(found["step.force"], G, rtol=1e-13)
    np.testing.assert_allclose(found["step.slip.y"][before][0], 1.0)
    c = found.certificate
    assert c.ok and c.energy_imbalance < 1e-13 and c.touch_excess < 1e-13


def test_a_spinning_ball_keeps_its_momentum_about_the_point_of_contact():
    """v + 2/5 r (n x w) is the same before and after, whatever the spin: v after rolling is 5/7 of it."""
    r, w, v = 0.1, np.array([30.0, -10.0, 50.0]), np.array([2.0, 1.0, 0.0])
    found = run(ball(r, mu=0.3), [*UPRIGHT, 0, 0, r], [*w, *v], 1.0, tolerance=1e-11)
    after = 5.0 / 7.0 * (v + 0.4 * r * np.cross(w, [0.0, 0.0, 1.0]))
    np.testing.assert_allclose(found.v[-1][3:], after, atol=1e-9)  # tolerance of the run, with the ball turned many times
    spin = (found["b.O.z"].max() - r, found.certificate.energy_imbalance)
    assert max(spin) < 1e-10


def test_a_ball_rolls_down_a_slope():
    """Without slip at five sevenths of the acceleration."""
    found = run(ball(0.1, slope(20.0), mu=0.5), [*UPRIGHT, 0, 0, 0.1], NONE, 1.0)
    way = np.array([np.cos(0.3), np.sin(0.3)])
    np.testing.assert_allclose(found.v[-1][3:5], 5.0 / 7.0 * G * np.sin(np.radians(20.0)) * way, rtol=1e-12)
    assert set(found["step.state"]) == {1.0}


def test_a_ball_bounces_askew():
    """Impacts after t1 (1 + 2 e + 2 e^2 ..); the first one makes it roll in an instant, because friction suffices."""
    e, h = 0.8, 1.0
    found = run(ball(0.1, mu=0.5, restitution=e), [*UPRIGHT, 0, 0, 0.1 + h], [0, 0, 0, 0.7, 1.4, 0], 3.6)
    hits = [x.time for x in found.events if x.name == "step touches"]
    t1 = np.sqrt(2.0 * h / G)
    np.testing.assert_allclose(hits[:10], [t1 * (1.0 + 2.0 * sum(e**k for k in range(1, n + 1))) for n in range(10)], rtol=1e-11)
    np.testing.assert_allclose(found.v[-1][3:5], [0.5, 1.0], rtol=1e-12)
    assert found["step.impulse"].max() == pytest.approx((1.0 + e) * np.sqrt(2.0 * G * h), rel=1e-12)


def test_equal_steps_give_the_same_motion_and_friction():
    """A ball that slides askew, at 1 ms: impulses act along the slip at the end of a step, which keeps its direction."""
    m = lw.load({**ball(0.1, mu=0.3), "start": {"base.z": 0.1, "base.x.v": 2.0, "base.y.v": 1.0}})
    found = m.simulate(0.5, contact="stepping", step=1e-3)
    np.testing.assert_allclose(found.v[-1][3:5], [10.0 / 7.0, 5.0 / 7.0], rtol=1e-12)
    np.testing.assert_allclose(found["step.friction.x"][1:200], -0.3 * G * 2.0 / np.sqrt(5.0), rtol=1e-9)
    np.testing.assert_allclose(found["step.friction"][1:200], 0.3 * G, rtol=1e-9)


def test_a_block_that_falls_on_a_corner_comes_to_rest_by_equal_steps():
    """Impacts and what is lifted out of the floor, in space: it ends flat on one of its faces, without a speed."""
    q = np.array([1.0, 0.1, 0.2, 0.0])
    system = lw.compile(lw.load(block(mu=0.3)))
    start = system.state(np.array([*q / np.linalg.norm(q), 0.0, 0.0, 0.5]), np.array(NONE))
    found = system.simulate(start, 1.0, contact="stepping", step=1e-3)
    assert found["b.O.z"][-1] == pytest.approx(0.1, abs=1e-11) and np.abs(found.v[-1]).max() < 1e-12
    assert found.certificate.touch_depth < 1e-11  # of steps, 1e-12 of the size


def test_steps_in_space_refuse_friction_in_joints():
    model = gripper(0.5, 12.0) | {"friction": {"L": {"mu": 0.1}}}
    with refused(UsageError, name="L"):
        lw.load(model).simulate(0.1, contact="stepping", step=1e-3)


def coin(radius: float, lean: float, turns: float) -> tuple[np.ndarray, np.ndarray]:
    """Angular velocity and velocity of the center of a thin coin that rolls in a steady circle, its axis leaning from the vertical, by the
    balance of moments about its center: dL/dt = a x m (dv/dt + g), all of them turning about the vertical."""
    axis, up = np.array([np.sin(lean), 0.0, np.cos(lean)]), np.array([0.0, 0.0, 1.0])
    down = (up @ axis) * axis - up
    arm = radius * down / np.linalg.norm(down)
    inertia = 0.25 * radius**2 * (np.eye(3) + np.outer(axis, axis))

    def moves(spin: float) -> tuple[np.ndarray, np.ndarray]:
        w = turns * up + spin * axis
        return w, np.cross(w, -arm)

    def off(spin: float) -> float:
        w, v = moves(spin)
        force = np.cross(turns * up, v) + G * up
        return (np.cross(turns * up, inertia @ w) - np.cross(arm, force))[1]

    return moves(brentq(off, -100.0, 100.0, xtol=1e-14))


def test_a_coin_rolls_in_a_circle():
    a, lean, turns = 0.3, np.radians(70.0), 2.0
    w, v = coin(a, lean, turns)
    R = np.array([[np.cos(lean), 0, np.sin(lean)], [0, 1, 0], [-np.sin(lean), 0, np.cos(lean)]])
    model = flying_in_space(
        {"roll": {"between": ["rim", "floor"], "mu": 5}},
        {"rim": {"disc": "b.O", "axis": [0, 0, 1], "radius": a}},
        inertia=[0.25 * a**2, 0.25 * a**2, 0.5 * a**2],
    )
    q = [np.cos(lean / 2), 0, np.sin(lean / 2), 0, 0, 0, a * np.sin(lean)]
    found = run(model, q, [*(R.T @ w), *v], 3.0, tolerance=1e-11)
    radius = np.linalg.norm(v) / turns
    center = np.cross([0.0, 0.0, 1.0], v)[:2] / turns
    np.testing.assert_allclose(np.hypot(found["b.O.x"] - center[0], found["b.O.y"] - center[1]), radius, rtol=1e-9)
    np.testing.assert_allclose(found["b.O.z"], a * np.sin(lean), rtol=1e-10)
    np.testing.assert_allclose(found["roll.force"], G, rtol=1e-9)
    np.testing.assert_allclose(found["roll.friction"], np.linalg.norm(v) * turns, rtol=1e-9)
    assert found["roll.slip"].max() < 1e-13


@pytest.mark.parametrize("share", [1.0 + 1e-9, 1.0 - 1e-9, 0.5])
def test_a_block_on_a_slope_slides_below_the_tangent_of_its_angle(share):
    """On four corners, down a slope that is askew to its edges: decided to 1e-9 of mu, and the forces share its weight."""
    a, mu = np.radians(20.0), float(np.tan(np.radians(20.0)) * share)
    found = run(block(slope(20.0), mu=mu), [*UPRIGHT, 0, 0, 0.1], NONE, 1.0)
    speed = max(G * (np.sin(a) - mu * np.cos(a)), 0.0)
    np.testing.assert_allclose(found.v[-1][3:5], speed * np.array([np.cos(0.3), np.sin(0.3)]), atol=1e-14)
    assert np.abs(found.v[-1][:3]).max() < 1e-13
    corners = [f"feet.{i}" for i in range(1, 5)]
    assert sum(found[f"{x}.force"][-1] for x in corners) == pytest.approx(2.0 * G * np.cos(a), rel=1e-12)
    pushed = [found[f"{x}.friction.x"][-1] for x in corners]
    assert sum(pushed) == pytest.approx(-2.0 * min(G * np.sin(a), mu * G * np.cos(a)) * np.cos(0.3), rel=1e-8)
    assert not found.events
    if share < 0.9:  # runs again with other tolerances, which takes long near the threshold
        c = found.certificate
        assert c.ok and c.touch_depth < 1e-15 and c.touch_excess < 1e-8 and "feet.1" in c.touch_shared


def test_a_block_that_falls_flat_stays_flat():
    """All four corners strike at once; what fell is lost, and nothing rocks."""
    found = run(block(mu=0.3), [*UPRIGHT, 0, 0, 0.3], NONE, 0.5)
    assert sum(x.values["energy lost"] for x in found.events) == pytest.approx(2.0 * G * 0.2, rel=1e-12)
    assert np.abs(found.v[-1]).max() < 1e-14 and found.certificate.touch_depth < 1e-15


def test_a_block_that_spins_as_it_slides_comes_to_rest():
    """Corners pass through rest one by one; all energy is in the work of friction."""
    found = run(block(mu=0.3), [*UPRIGHT, 0, 0, 0.1], [0, 0, 6.0, 1.0, 0.5, 0], 1.0)
    energy = 0.5 * 2.0 * 1.25 + 0.5 * (2.0 / 12.0 * 0.52) * 36.0
    assert found["work.contact"][-1] == pytest.approx(energy, rel=1e-8)
    assert np.abs(found.v[-1]).max() < 1e-12 and found.certificate.ok
    np.testing.assert_allclose(found["b.O.z"], 0.1, atol=1e-15)


def test_a_box_tumbles_and_its_balance_of_energy_holds():
    q = np.array([1.0, 0.2, 0.3, 0.1])
    found = run(block(mu=0.3, restitution=0.2), [*q / np.linalg.norm(q), 0, 0, 0.7], [1, 2, 0.5, 0.3, 0.2, 0], 2.0)
    c = found.certificate
    assert c.ok and c.touch_depth < 1e-14 and c.energy_imbalance < 1e-8 * c.energy_turned_over and c.least_impact_loss >= 0.0
    assert np.abs(found.v[-1]).max() < 1e-9 and c.touch_impacts > 10


def test_a_planar_model_in_space_moves_as_in_the_plane():
    """A rod with round ends falls on the floor, slides and rests."""
    law = {"mu": 0.3, "restitution": 0.4}
    flat = flying({"step": {"between": ["rod", "floor"], **law}}, {"rod": {"capsule": ["b.P", "b.Q"], "radius": 0.05}},
                  {"P": [-0.3, 0], "Q": [0.3, 0]}, inertia=0.06)  # fmt: skip
    deep = {**flat, "space": True, "surfaces": {**flat["surfaces"], "floor": {"plane": "ground.G", "normal": [0, 1]}}}
    start = {"start": {"base.y": 0.5, "base.angle": 0.7, "base.vx": 1.5}}
    one, two = (lw.load({**x, **start}).simulate(1.5, sample_interval=0.01, tolerance=1e-10) for x in (flat, deep))
    assert [x.name for x in one.events] == [x.name for x in two.events]
    np.testing.assert_allclose([x.time for x in one.events], [x.time for x in two.events], rtol=1e-8)
    np.testing.assert_allclose(two["b.O.x"], one["b.O.x"], atol=1e-8)  # bounces amplify the tolerance
    np.testing.assert_allclose(two["step.2.force"][-1], one["step.2.force"][-1], rtol=1e-8)


def gripper(mu: float, force: float) -> dict[str, Any]:
    """Two capsules that slide along x press a ball of 1 kg between them."""
    finger = {"points": {"P": [0, 0, -0.1], "Q": [0, 0, 0.1]}, "mass": 0.2, "com": [0, 0, 0], "inertia": [1e-3, 1e-3, 1e-3]}
    return {
        "gravity": [0, 0, -G],
        "bodies": {
            "ground": {"points": {"G": [0, 0, 0]}},
            "left": finger,
            "right": finger,
            "ball": {"points": {"O": [0, 0, 0]}, "mass": 1, "com": [0, 0, 0], "inertia": [1e-3] * 3},
        },
        "joints": {
            "L": {"type": "prismatic", "between": ["ground", "left"], "at": [-0.07, 0, 0], "axis": [1, 0, 0]},
            "R": {"type": "prismatic", "between": ["ground", "right"], "at": [0.07, 0, 0], "axis": [1, 0, 0]},
            "free": {"type": "free", "between": ["ground", "ball"], "at": [0, 0, 0]},
        },
        "guess": {"left": {"at": [-0.07, 0, 0]}, "right": {"at": [0.07, 0, 0]}},
        "surfaces": {
            **{name: {"capsule": [f"{name}.P", f"{name}.Q"], "radius": 0.02} for name in ("left", "right")},
            "skin": {"sphere": "ball.O", "radius": 0.05},
        },
        "contacts": {"grip": {"between": [["left", "right"], "skin"], "mu": mu}},
        "drive": {"L": {"force": force}, "R": {"force": -force}},
    }


@pytest.mark.parametrize("share", [1.001, 0.999])
def test_a_gripper_holds_above_its_friction(share):
    """It holds if mu is at least m g / (2 F), and lets go with g - 2 mu F / m."""
    force = 12.0
    mu = share * G / (2.0 * force)
    found = lw.load(gripper(mu, force)).simulate(0.2)
    assert found["ball.O.vz"][-1] == pytest.approx(-max(G - 2.0 * mu * force, 0.0) * 0.2, abs=1e-12)
    np.testing.assert_allclose(found["grip.left.force"], force, rtol=1e-10)


def test_surfaces_that_overlap_or_lie_flat_are_refused():
    with refused(UsageError, name="step"):
        run(ball(0.1), [*UPRIGHT, 0, 0, 0.05], NONE, 0.1)
    flat = flying_in_space({"roll": {"between": ["rim", "floor"]}}, {"rim": {"disc": "b.O", "axis": [0, 0, 1], "radius": 0.1}})
    with refused(UsageError, name="roll"):
        run(flat, [*UPRIGHT, 0, 0, 0], NONE, 0.1)
