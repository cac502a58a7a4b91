"""Robots under control: spatial paths, model error with its bound, redundant motors, motors of a paper's robot."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import trapezoid

import linkwright as lw
from tests import ROOT

DATA = json.loads((ROOT / "tests" / "data" / "aghili_hoang.json").read_text())
W = 8.0  # rad/s: one round of a path takes 0.79 s


def heavier(m, factor: float):
    """The same mechanism with all masses and inertias times a factor."""

    def more(b):
        return replace(b, mass=factor * b.mass, inertia=tuple(tuple(factor * x for x in row) for row in b.inertia)) if b.mass else b

    return lw.Mechanism(replace(m.description, bodies=tuple(more(b) for b in m.description.bodies)))


def lissajous(center, sizes):
    """A closed curve in space that begins at rest: x and z as 1 - cos, y as sin^3, in texts and for numpy."""
    (x, y, z), (a, b, c) = center, sizes
    written = [f"{x} m + {a} m*(1 - cos({W} rad/s*t))", f"{y} m + {b} m*sin({W} rad/s*t)^3", f"{z} m + {c} m*(1 - cos({2 * W} rad/s*t))"]

    def numbers(t):
        return np.stack([x + a * (1 - np.cos(W * t)), y + b * np.sin(W * t) ** 3, z + c * (1 - np.cos(2 * W * t))], axis=1)

    def acceleration(t):
        s, k = np.sin(W * t), np.cos(W * t)
        return W * W * np.stack([a * k, b * (6 * s * k * k - 3 * s**3), 4 * c * np.cos(2 * W * t)], axis=1)

    return written, numbers, acceleration


def bound_of_mass_error(s, run, point, acceleration, P, factor):
    """|e| of a critically damped loop whose model has all masses and gravity forces `factor` times too large.

    m a + h = factor (m (theta_d'' + D e' + P e) + h) gives e'' + factor D e' + factor P e = -(factor - 1) (theta_d'' - a_0), a_0 the
    acceleration without efforts. For D = 2 sqrt(P) and factor > 1 that loop is overdamped, its response to an impulse positive with
    the area 1 / (factor P): |e| stays below (factor - 1) max |theta_d'' - a_0| / (factor P).
    """
    largest = 0.0
    for i in range(0, len(run.t), 4):
        found = s.forward(run.state(i))
        fallen = np.array([float(found[f"{point}.a{x}"]) for x in "xyz"])
        largest = max(largest, float(np.linalg.norm(acceleration(run.t[i : i + 1])[0] - fallen)))
    return (factor - 1.0) * largest / (factor * P)


def follows(name, reference, point, sizes, turn=(), wrong=False):
    """Distances from a path at all samples, and their bound where the controller's masses are 20 % too large."""
    m, P = lw.load(name), 900.0
    s = m.system
    written, numbers, acceleration = lissajous(s.point(s.start, point), sizes)
    law = lw.control.projected({reference: [*written, *turn]}, P=P, model=heavier(m, 1.2) if wrong else None)
    run = s.simulate(s.start, 0.8, control=law, tolerance=1e-8, sample_interval=0.02)
    assert "controller: compiled" in run.notes
    assert np.ptp(run[point], axis=0).min() > 0.05, "it moves in all directions"
    far = np.linalg.norm(run[point] - numbers(run.t), axis=1)
    return far, bound_of_mass_error(s, run, point, acceleration, P, 1.2) if wrong else 1e-6, run


STEWART = ("stewart", "platform", "platform.C", (0.06, 0.08, 0.03))
TURN = (f"8 deg*sin({W} rad/s*t)^3", f"5 deg*(1 - cos({W} rad/s*t))", f"10 deg*sin({2 * W} rad/s*t)^3")
DELTA = ("delta", "platform.C", "platform.C", (-0.08, 0.1, 0.04))


def about(axis, angle):
    """A rotation about x, y or z."""
    R, (i, j) = np.eye(3), [(1, 2), (2, 0), (0, 1)][axis]
    R[i, i] = R[j, j] = np.cos(angle)
    R[j, i], R[i, j] = np.sin(angle), -np.sin(angle)
    return R


@pytest.mark.slow
def test_stewart_platform_follows_a_path_and_turns():
    far, bound, run = follows(*STEWART, TURN)
    assert far.max() < bound == 1e-6
    for i in (7, 22, 40):  # roll first, then pitch, then yaw, about the axes of the world
        s, k = np.sin(W * run.t[i]), np.cos(W * run.t[i])
        x, y, z = np.radians([8 * s**3, 5 * (1 - k), 10 * np.sin(2 * W * run.t[i]) ** 3])
        R = about(2, z) @ about(1, y) @ about(0, x)
        assert np.abs(lw.load("stewart").system.pose(run.state(i), "platform").R - R).max() < 1e-6


@pytest.mark.slow
def test_stewart_platform_with_masses_known_to_20_percent():
    """Gravity alone makes 0.2 * 9.81 / (1.2 * 900) = 1.8 mm; the bound, 3.4 mm, is met within a fifth."""
    far, bound, _ = follows(*STEWART, TURN, wrong=True)
    assert 1e-3 < 0.8 * bound < far.max() <= bound < 4e-3


@pytest.mark.slow
def test_delta_robot_follows_a_path():
    far, bound, _ = follows(*DELTA)
    assert far.max() < bound == 1e-6


@pytest.mark.slow
def test_delta_robot_with_masses_known_to_20_percent():
    far, bound, _ = follows(*DELTA, wrong=True)
    assert 1e-3 < 0.8 * bound < far.max() <= bound < 5e-3


# ---------------------------------------------------------------- more motors than freedoms

FEW = ["J1", "J8", "J9"]
MORE = [*FEW, "J2", "J3", "J4", "J5", "J6", "J7"]


def rms(run, drives):
    """[Aghili2005 VIII]; samples are even."""
    squares = sum(run[f"{d}.torque"] ** 2 for d in drives)
    return float(np.sqrt(trapezoid(squares, run.t) / (run.t[-1] - run.t[0])))


@pytest.fixture(scope="module")
def arms():
    """The 3-RRR, and the same task for the three motors at its base, and for all nine joints."""
    s = lw.compile("3-rrr")
    task = {
        "J1": lw.control.minimum_jerk(1.24, "1 s"),
        "J8": lw.control.minimum_jerk(4.3883, "1 s"),
        "J9": lw.control.minimum_jerk(5.9637, "1 s"),
    }
    runs = {
        len(d): s.simulate(s.start, 1.0, control=lw.control.projected(task, P=100, drives=d), tolerance=1e-9, sample_interval=0.01)
        for d in (FEW, MORE)
    }
    return s, task, runs


def test_more_motors_than_freedoms_need_less_effort(arms):
    _, _, runs = arms
    assert rms(runs[9], MORE) < 0.8 * rms(runs[3], FEW)
    for run in runs.values():  # the same motion all the while
        assert np.abs(run.q - runs[3].q).max() < 1e-8
        assert max(np.abs(run[f"control.{j}.error"]).max() for j in FEW) < 1e-8


def test_redundant_efforts_are_the_least_ones_wherever_the_loops_are_cut(arms):
    """Any other efforts with the same accelerations differ by a null vector of what the drives do: they are longer."""
    s, task, runs = arms
    run, rng = runs[9], np.random.default_rng(5)
    other = lw.compile("3-rrr", cuts=["J2", "J5"], engine="python")
    c = other.control(lw.control.projected(task, P=100, drives=MORE), other.start)
    for i in (0, 30, 77):
        st = run.state(i)
        u = np.array([run[f"{d}.torque"][i] for d in MORE])
        there = c(other.mirror(st) if i else other.start)
        # 1e-8 of some 100 N m: the state is a simulated one, and the two systems eliminate different loops
        assert np.abs(u - [there[d] for d in MORE]).max() < 1e-8 * np.abs(u).max()
        free = s.forward(st).a
        G = np.stack([s.forward(st, {d: 1.0}).a - free for d in MORE], axis=1)
        wanted = s.forward(st, dict(zip(MORE, u, strict=True))).a - free
        least = np.linalg.pinv(G, rcond=1e-9) @ wanted
        assert np.abs(u - least).max() < 1e-8 * np.abs(u).max()
        idle = np.linalg.svd(G)[2][3:]
        assert np.linalg.norm(u + idle.T @ rng.normal(size=len(idle))) > np.linalg.norm(u)


# ---------------------------------------------------------------- a robot with DC motors [Hoang2023 sec. 5]

WANTED = {"A1": 0.4, "A2": 0.8, "A3": 1.0}


def test_pd_task_with_motors_reaches_the_reference_states_and_settles():
    """The PD law as joint torque, back-EMF kept: states of a solution in quadruple precision; 0.0031 rad are left at 2.5 s."""
    s = lw.compile("3-rrr-motors")
    law = lw.control.pd(WANTED, P=150, D=50)
    acting = lw.control.actuator(motor=True, back_emf=False)
    run = s.simulate(s.start, 2.5, control=law, actuators=acting, tolerance=1e-10, sample_interval=[0.1, 0.5, 1.0, 2.5])
    states = DATA["hoang_3rrr"]["case2 PD=joint torque (k=1,c=10)"]["states"]
    for i, t in enumerate(("0.1", "0.5", "1.0")):
        # errors of 1e-9 have grown by up to 165 at 0.1 s and 25 at 0.5 s
        assert run.q[i] == pytest.approx(states[t]["q"], abs=1e-6) and run.v[i] == pytest.approx(states[t]["qdot"], abs=1e-5)
    left = max(abs(run[j][-1] - x) for j, x in WANTED.items())
    assert left == pytest.approx(0.0031, abs=1e-4) and left < 0.01 * abs(run["control.A3.error"][0])
    assert np.abs(run["motor.A3.voltage"]).max() <= 34.0
