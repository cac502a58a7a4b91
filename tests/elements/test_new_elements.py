"""Bushings, tethers, freewheels, torsion bars and constant-force springs against closed forms and against other elements."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwright as lw
from linkwright.model.file import read_text

ARM = """name: arm
plane: xy
drawing: {O: [0, 0], P: [0.5, 0], W: [0.5, 1.2]}
bodies:
  ground: {pins: [O], points: [W]}
  arm: {pins: [O], points: [P], mass: 2, com: P, inertia: 0}
"""
BOX = """name: box
%s
bodies:
  ground: {points: {G: [0, 0, 0]}}
  box: {points: {G: [0, 0, 0]}, mass: 3, com: [0, 0, 0], inertia: [0.01, 0.02, 0.03]}
"""
# default tolerance of a run, 1e-9 a step; some hundred steps
RUN = 1e-6


def mechanism(text: str) -> lw.Mechanism:
    return lw.Mechanism(read_text(text))


def test_a_body_on_a_bushing_floats_by_itself() -> None:
    """It needs no joint, and sinks by m g / k with the period of m and k; a moment turns it by M / kt."""
    text = BOX.replace("[0, 0, 0]", "[0, 0]").replace("[0.01, 0.02, 0.03]", "0.03") % "plane: xy\ngravity: [0, -10]"
    text += "bushings: {b: {between: [ground.G, box.G], stiffness: [300, 1200], torsion: 12}}\nloads: {l: {on: box, moment: 0.6}}\n"
    m = mechanism(text)
    assert m.system.mobility.freedoms == 3 and m.system.tree.floating == ("box",)
    run = m.simulate(1.0, sample_interval=0.05)
    np.testing.assert_allclose(run["box.G.y"], -3 * 10 / 1200 * (1.0 - np.cos(20.0 * run.t)), atol=RUN * 0.02)
    np.testing.assert_allclose(run["box.angle"], 0.6 / 12 * (1.0 - np.cos(20.0 * run.t)), atol=RUN)
    np.testing.assert_allclose(run["b.moment"], -12 * run["box.angle"], atol=1e-9)


def test_a_progressive_bushing_is_a_duffing_oscillator() -> None:
    """Its period by the complete elliptic integral: T = 4 K(m) / sqrt(w0^2 (1 + e)), m = e / (2 (1 + e)), e = (amplitude / travel)^2."""
    from scipy.special import ellipk

    text = BOX % "joints: {f: {type: free, connect: [ground.G, box.G]}}"
    m = mechanism(text + "bushings: {b: {between: [ground.G, box.G], stiffness: 300, torsion: 12, travel: 0.05}}\n")
    amplitude = 0.04
    e = (amplitude / 0.05) ** 2
    period = 4.0 * ellipk(0.5 * e / (1.0 + e)) / math.sqrt(300 / 3 * (1.0 + e))
    run = m.simulate(2.0 * period, start={"f.x": amplitude}, sample_interval=period / 4.0)
    np.testing.assert_allclose(run["f.x"], amplitude * np.array([1, 0, -1, 0, 1, 0, -1, 0, 1]), atol=RUN)
    pressed = m.simulate(0.0, start={"f.x": 0.05})  # at the deflection `travel` the force is twice the linear one
    assert pressed["b.force.x"][0] == pytest.approx(-2.0 * 300 * 0.05, rel=1e-12)


def test_a_bushing_is_springs_and_dampers_in_a_planar_joint() -> None:
    base = BOX.replace("[0, 0, 0]", "[0, 0]").replace("[0.01, 0.02, 0.03]", "0.03")
    joint = "joints: {f: {type: planar, connect: [ground.G, box.G]}}"
    base = base % f"plane: xy\n{joint}\nstart: {{f.x: 0.02, f.y: -0.01, f.angle: 0.3, f.vx: 0.5}}"
    rubber = "bushings: {b: {between: [ground.G, box.G], stiffness: [300, 1200], damping: [2, 3], torsion: 12, torsional_damping: 0.1}}\n"
    springs = "springs: {x: {joint: f.x, stiffness: 300}, y: {joint: f.y, stiffness: 1200}, a: {joint: f.angle, stiffness: 12}}\n"
    dampers = "dampers: {x: {joint: f.x, coefficient: 2}, y: {joint: f.y, coefficient: 3}, a: {joint: f.angle, coefficient: 0.1}}\n"
    one, other = mechanism(base + rubber).simulate(1.0), mechanism(base + springs + dampers).simulate(1.0)
    np.testing.assert_allclose(one.q[-1], other.q[-1], atol=1e-9)


def test_a_tether_pulls_only_when_taut() -> None:
    m = mechanism(ARM + "gravity: [0, -9.81]\ntethers: {tie: {between: [ground.W, arm.P], stiffness: 800, length: 1.3}}\n")
    run = m.simulate(1.5, sample_interval=0.005)
    far = np.hypot(run["arm.P.x"] - 0.5, run["arm.P.y"] - 1.2)
    np.testing.assert_allclose(run["tie.force"], -800.0 * np.maximum(far - 1.3, 0.0), atol=1e-6)
    assert (run["tie.force"] == 0.0).any() and run["tie.force"].min() < -1.0
    assert run.certificate.ok and "ended on break points" in str(run.certificate)


def test_a_freewheel_holds_one_way_and_runs_free_the_other() -> None:
    """A load that swings the arm down is held by creep: tanh(v/speed) = load/capacity; upwards it only drags."""
    clutch = "freewheels: {c: {joint: O, capacity: 40, speed: 0.001, drag: 0.5, blocks: %s}}\n"
    held = mechanism(ARM + "gravity: [0, -9.81]\n" + clutch % "backward").simulate(0.5)
    load = 2 * 9.81 * 0.5
    assert held["O.v"][-1] == pytest.approx(-0.001 * math.atanh(load / 40.0), rel=1e-4)  # the arm has turned by some 1e-4 rad
    assert held["c.torque"][-1] == pytest.approx(load, rel=1e-6)
    free = mechanism(ARM + "gravity: [0, -9.81]\n" + clutch % "forward").simulate(0.2)
    assert free["c.torque"][-1] == pytest.approx(0.5, rel=1e-9)
    assert free.certificate.ok and held.certificate.ok


def test_a_torsion_bar_runs_onto_its_ends() -> None:
    bar = "springs: {b: {joint: O, stiffness: 20, free_position: 0.1, end_stiffness: 3000, min: -0.2, max: 0.3}}\n"
    m = mechanism(ARM + bar)
    for angle, torque in ((0.1, 0.0), (0.25, -20 * 0.15), (0.32, -20 * 0.22 - 3000 * 0.02), (-0.3, 20 * 0.4 + 3000 * 0.1)):
        assert m.simulate(0.0, start={"O": angle})["b.torque"][0] == pytest.approx(torque, rel=1e-12)
    run = m.simulate(1.0, start={"O": -0.25})
    assert run.certificate.ok and run["O"].max() > 0.3
    np.testing.assert_allclose(run["energy.total"], run["energy.total"][0], rtol=RUN)


def test_a_constant_force_spring_pulls_alike_at_every_length() -> None:
    m = mechanism(ARM + "springs: {s: {type: constant, between: [ground.W, arm.P], force: 7}}\n")
    run = m.simulate(1.0, sample_interval=0.05)
    np.testing.assert_allclose(run["s.force"], -7.0, rtol=1e-12)
    far = np.hypot(run["arm.P.x"] - 0.5, run["arm.P.y"] - 1.2)
    kinetic = 0.5 * 2 * (0.5 * run["O.v"]) ** 2
    np.testing.assert_allclose(kinetic, 7.0 * (far[0] - far), atol=RUN)


def test_springs_and_dampers_in_joints_have_channels() -> None:
    text = ARM + "springs: {k: {joint: O, stiffness: 20}}\ndampers: {d: {joint: O, coefficient: 0.3}}\n"
    run = mechanism(text).simulate(0.4, start={"O": 0.3})
    np.testing.assert_allclose(run["k.torque"], -20.0 * run["O"], atol=1e-12)
    np.testing.assert_allclose(run["d.torque"], -0.3 * run["O.v"], atol=1e-12)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("bushings: {b: {between: [ground.W, arm.P], stiffness: -1}}", "bushing 'b': stiffness is -1 N/m, it must be 0 or more"),
        ("bushings: {b: {between: [ground.W, arm.P], stiffnes: 1}}", "Did you mean 'stiffness'"),
        ("freewheels: {c: {joint: O, capacity: 3, blocks: up}}", "freewheel 'c': blocks is backward or forward, not 'up'"),
        ("freewheels: {c: {joint: O}}", "capacity"),
        ("springs: {b: {joint: O, stiffness: 1, end_stiffness: 3, min: 1, max: -1}}", "the lower end 1 rad is not below the upper -1 rad"),
        ("tethers: {tie: {between: [ground.W, arm.P], stiffness: 0}}", "tether 'tie': stiffness is 0 N/m, it must be greater than zero"),
        ("springs: {s: {type: constant, between: [ground.W, arm.P]}}", "force"),
    ],
)
def test_messages_come_from_the_contract(entry: str, said: str) -> None:
    with pytest.raises(lw.errors.ModelError) as caught:
        read_text(ARM + entry + "\n", "arm.yaml")
    assert said in str(caught.value) and "arm.yaml:7" in str(caught.value)


SUSPENSION = """name: trailing-arm
plane: xy
units: [mm, kg, deg]
drawing: {A: [0, 0], B: [0, 300], W: [450, 150]}
bodies:
  ground: {points: [A, B]}
  arm: {points: [A, B, W], mass: 12, inertia: 0.4 kg m^2}
bushings:
  front: {between: [ground.A, arm.A], stiffness: [4 kN/mm, 1 kN/mm], damping: 2 N s/mm}
  rear: {between: [ground.B, arm.B], stiffness: [2 kN/mm, 0.5 kN/mm], damping: 2 N s/mm}
loads: {side: {on: arm.W, force: [0 N, 2 kN]}}
"""


def test_elastokinematics_of_a_trailing_arm() -> None:
    """Toe of a wheel under a side force: all forces on the arm are in balance, by hand; for small loads as the linear theory has it."""
    st = mechanism(SUSPENSION).settle()
    A, B, W = (np.array([st[f"arm.{p}.x"], st[f"arm.{p}.y"]]) for p in "ABW")
    forces = ((A, -np.array([4e6, 1e6]) * A), (B, -np.array([2e6, 0.5e6]) * (B - [0.0, 0.3])), (W, np.array([0.0, 2000.0])))
    np.testing.assert_allclose(sum(f for _, f in forces), 0.0, atol=1e-6)  # N, of 2 kN
    assert sum(p[0] * f[1] - p[1] * f[0] for p, f in forces) == pytest.approx(0.0, abs=1e-6)  # N m, of 0.9 kN m
    small = mechanism(SUSPENSION.replace("2 kN]", "0.002 kN]")).settle()
    # springs of 4 and 2 MN/m, 0.3 m apart, act in series against the moment 2 N x 0.45 m: theta = M / (b^2 k1 k2 / (k1 + k2))
    assert small["arm.angle"] == pytest.approx(2 * 0.45 / (0.3**2 * 4e6 * 2e6 / 6e6), rel=1e-4)
