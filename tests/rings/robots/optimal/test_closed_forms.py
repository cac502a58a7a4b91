"""Optimal motions whose solution is known: a mass on a guide, an inertia, a spring, a four-bar with one switch, the brachistochrone."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.linalg import expm
from scipy.optimize import brentq

import linkwright as lw
from linkwright.rings.robots.optimal import search

MASS = 2.0
SLIDE: dict[str, Any] = {
    "name": "mass", "plane": "xy", "gravity": [0, 0], "drawing": {"A": [0, 0]},
    "bodies": {"ground": {"points": ["A"]}, "mass": {"points": ["A"], "mass": MASS, "com": "A", "inertia": 0.1}},
    "joints": {"x": {"type": "prismatic", "between": ["ground", "mass"], "at": "A", "axis": [1, 0]}},
    "drive": ["x"],
}  # fmt: skip
INERTIA = 0.7
WHEEL = {
    "name": "wheel", "plane": "xy", "gravity": [0, 0], "drawing": {"A": [0, 0]},
    "bodies": {"ground": {"pins": ["A"]}, "wheel": {"pins": ["A"], "mass": 1.0, "com": "A", "inertia": INERTIA}},
    "drive": ["A"],
}  # fmt: skip
BEAD = {
    "name": "bead", "plane": "xy", "gravity": [0, -9.81], "drawing": {"O": [0, 0]},
    "bodies": {
        "ground": {"points": ["O"]}, "beam": {"points": ["O"], "mass": 0.0, "com": "O", "inertia": 0.0},
        "bead": {"points": ["O"], "mass": 1.0, "com": "O", "inertia": 0.0},
    },
    "joints": {
        "x": {"type": "prismatic", "between": ["ground", "beam"], "at": "O", "axis": [1, 0]},
        "y": {"type": "prismatic", "between": ["beam", "bead"], "at": "O", "axis": [0, 1]},
    },
    "drive": ["x", "y"],
}  # fmt: skip


@pytest.fixture(scope="module")
def slide() -> lw.Mechanism:
    return lw.load(SLIDE)


def test_a_mass_takes_twice_the_root_of_d_m_over_F(slide: lw.Mechanism) -> None:
    f = slide.optimal("least time", {"x": "0.5 m"}, limits={"x.force": "8 N"}, steps=10)
    assert abs(f.time - 2.0 * np.sqrt(0.5 * MASS / 8.0)) < 1e-8  # the switch is found, so that only the solver's tolerance is left
    assert f.ok
    np.testing.assert_allclose(f.switches, [0.5 * f.time], rtol=1e-8)


def test_unequal_forces_switch_where_they_must(slide: lw.Mechanism) -> None:
    f = slide.optimal("least time", {"x": 1.0}, limits={"x.force": (-6.0, 2.0)}, steps=13)
    first = np.sqrt(2.0 * 0.75 / (2.0 / MASS))  # a1 s1 = a2 s2: three quarters of the way are accelerated
    assert abs(f.time - first * (1.0 + 1.0 / 3.0)) < 1e-8
    np.testing.assert_allclose(f.switches, [first], rtol=1e-8)  # not a node of the first mesh


def test_a_search_that_fails_on_two_meshes_goes_on_from_the_coarsest(slide: lw.Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches on 16 and 8 intervals are said to fail. The motion on 4 is exact, because efforts of least effort are linear here."""
    solved = search._solved

    def refusing(task: Any, mesh: Any, *rest: Any, **options: Any) -> Any:
        program, found = solved(task, mesh, *rest, **options)
        return program, replace(found, reason="refused") if len(mesh.share) in (8, 16) else found

    monkeypatch.setattr(search, "_solved", refusing)
    f = slide.optimal("least effort", {"x": "0.5 m"}, duration="0.8 s", limits={"x.force": "20 N"}, steps=16)
    assert len(f.t) == 2 * 4 + 1
    assert abs(f.value - 12.0 * (MASS * 0.5 / 20.0) ** 2 / 0.8**3) < 1e-9


def test_least_effort_of_an_inertia_is_a_cubic() -> None:
    f = lw.load(WHEEL).optimal("least effort", {"A": "90 deg"}, duration="0.8 s", limits={"A.torque": "20 N m"}, steps=5)
    T, d = 0.8, 0.5 * np.pi
    z = f.t / T
    np.testing.assert_allclose(f["A"], d * z * z * (3.0 - 2.0 * z), atol=1e-9)  # efforts are linear: the rule is exact
    np.testing.assert_allclose(f["A.torque"], 6.0 * INERTIA * d / T**2 * (1.0 - 2.0 * z), atol=1e-8)
    assert abs(f.value - 12.0 * INERTIA**2 * d * d / T**3 / 20.0**2) < 1e-9


def test_least_energy_pushes_coasts_and_brakes(slide: lw.Mechanism) -> None:
    f = slide.optimal("least energy", {"x": 0.5}, duration=1.0, limits={"x.force": 8.0}, steps=20)
    v = 2.0 - np.sqrt(2.0)  # v T - v^2 / a = d with a = 4
    assert abs(f.value - 0.5 * MASS * v * v) < 2e-7  # of 0.34 J: the effort in the goal weighs 1e-4
    np.testing.assert_allclose(f.switches, [v / 4.0, 1.0 - v / 4.0], atol=1e-6)


def test_least_effort_on_a_spring_is_that_of_the_gramian() -> None:
    """x'' = -w^2 x + u: of all u between two states the least integral of u^2 is e' W^-1 e, W the Gramian [Brockett1970]."""
    k, T = 30.0, 1.3
    m = lw.load({**SLIDE, "springs": {"k": {"joint": "x", "stiffness": k}}})
    A, B = np.array([[0.0, 1.0], [-k / MASS, 0.0]]), np.array([[0.0], [1.0 / MASS]])
    big = expm(np.block([[-A, B @ B.T], [np.zeros((2, 2)), A.T]]) * T)  # van Loan: W = F' G
    W = big[2:, 2:].T @ big[:2, 2:]
    e = np.array([0.4, 0.0])
    exact = float(e @ np.linalg.solve(W, e)) / 10.0**2
    errors = []
    for steps in (16, 32):
        f = m.optimal("least effort", {"x": 0.4}, duration=T, limits={"x.force": 10.0}, steps=steps, tolerance=0.1)
        errors.append(abs(f.value - exact))
    assert errors[1] < 1e-5 * exact
    assert 3.5 < np.log2(errors[0] / errors[1]) < 4.6  # Simpson's rule, and efforts that are linear in every interval: order 4


def four_bar(theta: float, L: tuple[float, ...]) -> tuple[float, float]:
    """(inertia that the crank feels, potential energy) of a four-bar of uniform rods of 1 kg/m, on paper."""
    a, b, c, d = L
    B = a * np.array([np.cos(theta), np.sin(theta)])
    D = np.array([d, 0.0])
    r = D - B
    s = np.hypot(*r)
    along = (b * b - c * c + s * s) / (2.0 * s)
    C = B + along * r / s + np.sqrt(b * b - along * along) * np.array([-r[1], r[0]]) / s
    vB = a * np.array([-np.sin(theta), np.cos(theta)])
    # vC = w3 x (C - D), (vC - vB) . (C - B) = 0
    turn = np.array([-(C - D)[1], (C - D)[0]])
    w3 = float(vB @ (C - B)) / float(turn @ (C - B))
    vC = w3 * turn
    w2 = np.linalg.norm(vC - vB) / b
    vM = 0.5 * (vB + vC)
    inertia = a * a**2 / 3.0 + b * float(vM @ vM) + b * b**2 / 12.0 * w2**2 + c * c**2 / 3.0 * w3**2
    return inertia, 9.81 * (a * B[1] / 2.0 + b * (B[1] + C[1]) / 2.0 + c * C[1] / 2.0)


def test_least_time_of_a_four_bar_is_one_switch_in_the_phase_plane() -> None:
    L, u = (0.3, 0.9, 0.75, 1.0), 5.0
    first, last = np.radians([60.0, 200.0])
    _, V0 = four_bar(first, L)
    _, V1 = four_bar(last, L)
    switch = 0.5 * (first + last + (V1 - V0) / u)  # u (s - first) - u (last - s) = V1 - V0

    def rate(theta: float) -> float:
        inertia, V = four_bar(theta, L)
        work = u * (theta - first) + V0 - V if theta < switch else u * (last - theta) + V1 - V
        return float(np.sqrt(2.0 * work / inertia))

    total = 0.0
    for low, high in pairwise([first, switch, last]):  # theta = end +- z^2: no pole where the speed is zero
        end, sign = (low, 1.0) if low == first else (high, -1.0)
        total += quad(lambda z, end=end, sign=sign: 2.0 * z / rate(end + sign * z * z), 0.0, np.sqrt(high - low), epsabs=1e-11)[0]
    f = lw.load("four-bar").optimal("least time", {"A": last}, start={"A": first}, limits={"A.torque": u}, tolerance=1e-7)
    assert abs(f.time - total) < 1e-6
    assert abs(float(f.drives["A"](f.switches[0])) - switch) < 1e-5
    assert f["B.load"].max() > 0.0
    assert f.checks()["mesh error"].value < 1e-7


def test_a_bead_that_gets_no_energy_falls_along_a_cycloid() -> None:
    X, Y = 1.0, 0.6
    angle = brentq(lambda p: (p - np.sin(p)) / (1.0 - np.cos(p)) - X / Y, 0.1, 6.2)
    R = Y / (1.0 - np.cos(angle))
    m, errors = lw.load(BEAD), []
    limits = {"*.force": "40 N", "energy.total": (None, 0.0)}
    for steps in (10, 20):
        f = m.optimal("least time", {"x": X, "y": -Y, "x.v": "free", "y.v": "free"}, limits=limits, steps=steps, tolerance=0.5)
        errors.append(abs(f.time / (angle * np.sqrt(R / 9.81)) - 1.0))
    assert errors[1] < 1e-4 and np.log2(errors[0] / errors[1]) > 2.5  # the path is vertical at its start, where it is not smooth
    p = np.linspace(0.0, angle, 2000)
    there = np.interp(f["x"], R * (p - np.sin(p)), -R * (1.0 - np.cos(p)))
    assert np.abs(f["y"] - there).max() < 2e-3  # m, at the same errors


def test_a_fall_without_loss_goes_around_for_nothing() -> None:
    """A four-bar without friction turns once a second without any torque: gravity gives back what it takes."""
    f = lw.load("four-bar").optimal("least effort", periodic={"A": "360 deg"}, duration="1 s", limits={"A.torque": "5 N m"}, steps=40)
    assert np.abs(f["A.torque"]).max() < 1e-4  # N m, of 4.5 at constant speed
    E = f["energy.total"]
    assert np.ptp(E) < 1e-5 * np.ptp(f["energy.kinetic"])  # ten times the error between nodes
    np.testing.assert_allclose([f["A.v"][0], f["A"][-1] - f["A"][0]], [f["A.v"][-1], 2.0 * np.pi], rtol=1e-9)
