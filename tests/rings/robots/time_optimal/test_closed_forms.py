"""Fastest motions whose duration is known: a mass on a guide, a link under gravity, friction, smooth laws, least loss, heat."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp, trapezoid

import linkwright as lw
from linkwright.rings.robots.time_optimal.reachability import LimitRows, fastest_profile, interval

SLIDE = {
    "name": "mass", "plane": "xy", "gravity": [0, 0], "drawing": {"A": [0, 0]},
    "bodies": {"ground": {"points": ["A"]}, "mass": {"points": ["A"], "mass": 1.0, "com": "A", "inertia": 0.1}},
    "joints": {"x": {"type": "prismatic", "between": ["ground", "mass"], "at": "A", "axis": [1, 0]}},
    "drive": ["x"],
}  # fmt: skip
M, L, G = 1.3, 0.6, 9.81
LINK = {
    "name": "link", "plane": "xy", "gravity": [0, -G], "drawing": {"A": [0, 0], "B": [L, 0]},
    "bodies": {"ground": {"pins": ["A"]}, "link": {"pins": ["A"], "points": ["B"], "mass": M, "com": "B", "inertia": 0.0}},
    "drive": ["A"],
}  # fmt: skip
LINE = {"x": lambda s: s}


@pytest.fixture(scope="module")
def slide() -> lw.Mechanism:
    return lw.load(SLIDE)


@pytest.fixture(scope="module")
def link() -> lw.Mechanism:
    return lw.load(LINK)


def test_a_mass_moved_by_a_force_takes_two_seconds(slide: lw.Mechanism) -> None:
    f = slide.time_optimal(LINE, {"x.force": "1 N"}, steps=100)
    assert abs(f.time - 2.0) < 1e-10  # the switch is on the grid, so that nothing is approximated
    assert set(f.active) == {"x.force"} and f.ok
    np.testing.assert_allclose(f["x.force"][:50], 1.0)
    np.testing.assert_allclose(f["x.force"][50:], -1.0)


def test_a_speed_limit_makes_a_trapezium(slide: lw.Mechanism) -> None:
    f = slide.time_optimal(LINE, {"x.force": "1 N", "x.v": "0.5 m/s"}, steps=400)
    assert abs(f.time - (0.5 + 0.5 + 0.75 / 0.5)) < 1e-4  # exact but for the two intervals in which the limit changes
    assert set(f.active) == {"x.force", "x.v"}
    assert f["x.v"].max() <= 0.5 * (1 + 1e-9)


def test_unequal_forces_switch_where_they_must(slide: lw.Mechanism) -> None:
    f = slide.time_optimal(LINE, {"x.force": (-3.0, 1.0)}, steps=400)
    assert abs(f.time - np.sqrt(2.0 * (1.0 + 1.0 / 3.0))) < 1e-5  # v^2 / 2 = 3/4
    assert f["x.force"].min() > -3.0 - 1e-9 and f["x.force"].max() < 1.0 + 1e-9


def test_a_link_under_gravity_agrees_with_the_phase_plane(link: lw.Mechanism) -> None:
    """Full torque up to a switch, then the opposite; energies give the speed at every angle, the switch and the time by quadrature."""
    inertia, most, low, high = M * L * L, 12.0, -0.6, 1.1

    def up(a: float) -> float:  # x = w^2 of the two arcs, by energy
        return 2.0 / inertia * (most * (a - low) - M * G * L * (np.sin(a) - np.sin(low)))

    def down(a: float) -> float:
        return 2.0 / inertia * (most * (high - a) - M * G * L * (np.sin(a) - np.sin(high)))

    from scipy.optimize import brentq

    switch = brentq(lambda a: up(a) - down(a), low, high)

    def lasts(arc: Callable[[float], float], end: float, sign: float) -> float:  # r^2 is the way from the end: no singular integrand
        return 2.0 * quad(lambda r: r / np.sqrt(arc(end + sign * r * r)), 0.0, np.sqrt(abs(switch - end)))[0]

    exact = lasts(up, low, 1.0) + lasts(down, high, -1.0)
    errors = []
    for steps in (100, 200, 400):
        f = link.time_optimal({"A": lambda s: low + (high - low) * s}, {"A.torque": f"{most} N m"}, steps=steps)
        errors.append(abs(f.time - exact) / exact)
        assert set(f.active) == {"A.torque"} and f.ok
    assert errors[2] < 5e-6
    assert np.log2(errors[0] / errors[2]) > 2.0 * 1.7  # second order: 4 of two halvings, and where the torque jumps in its interval


def test_viscous_and_coulomb_friction_agree_with_the_phase_plane() -> None:
    """dx/ds = 2 (F -+ c - d sqrt(x)) / m, forward from the start and backward from the end, until they meet."""
    c, d, most = 0.3, 0.8, 1.0
    m = lw.load({**SLIDE, "friction": {"x": {"coulomb": c, "viscous": d, "speed": "1e-4 m/s"}}})
    f = m.time_optimal(LINE, {"x.force": f"{most} N"}, steps=400)

    def arc(force: float, way: float) -> solve_ivp:
        # in time: v' = way * (force - way friction ...)
        return solve_ivp(
            lambda t, y: [y[1], force - way * (c + d * y[1])], (0.0, 4.0), [0.0, 0.0], rtol=1e-10, atol=1e-12, dense_output=True
        )

    ahead, back = arc(most, 1.0), arc(most, -1.0)  # braking read backward: friction helps
    t1 = np.linspace(0.0, 4.0, 40001)
    s1, v1 = ahead.sol(t1)
    t2 = np.linspace(0.0, 2.0, 40001)
    s2, v2 = back.sol(t2)
    at = np.interp(1.0 - s1, s2, v2)
    i = int(np.argmax(v1 >= at))
    exact = t1[i] + np.interp(1.0 - s1[i], s2, t2)
    assert abs(f.time - exact) < 2e-3 * exact  # the force jumps within one of 400 intervals
    assert f.ok and max(x.share for x in f.used) > 0.999


def test_smooth_laws_have_their_known_peaks(slide: lw.Mechanism) -> None:
    peaks = {"quintic": 10.0 / np.sqrt(3.0), "septic": 84.0 * np.sqrt(5.0) / 25.0, "s-curve": 8.0}  # largest second derivative of the law
    for law, peak in peaks.items():
        f = slide.time_optimal(LINE, {"x.force": "1 N"}, law=law, steps=400)
        assert abs(f.time - np.sqrt(peak)) < 2e-4 * f.time, law
        assert f.ok and f.time > 2.0
    jerk = slide.time_optimal(LINE, {"x.force": "1000 N", "x.jerk": 32.0}, law="s-curve", steps=200)
    assert abs(jerk.time - 1.0) < 1e-9  # jerk 32 L / T^3


def test_least_loss_of_a_mass_is_a_parabola_of_speed(slide: lw.Mechanism) -> None:
    """Minimize the integral of F^2 from rest to rest in T: F = 6 m L / T^2 (1 - 2 t / T), integral 12 m^2 L^2 / T^3."""
    f = slide.time_optimal(LINE, {"x.force": "10 N"}, law="least energy", duration="1.5 s", steps=200)
    assert abs(f.time - 1.5) < 1e-9
    loss = trapezoid(f["x.force"] ** 2, f.t)
    assert abs(loss - 12.0 / 1.5**3) < 0.01 * 12.0 / 1.5**3
    np.testing.assert_allclose(f["x.force"][5:195], (6.0 / 1.5**2 * (1.0 - 2.0 * f.t / 1.5))[5:195], atol=0.06)


def test_heat_bounds_the_rms_force(slide: lw.Mechanism) -> None:
    """An RMS force of R alone: F as above, with 12 / T^3 = R^2 T."""
    R = 1.2
    f = slide.time_optimal(LINE, {"x.force": "50 N", "rms x.force": f"{R} N"}, steps=200)
    assert abs(f.time - (12.0 / R**2) ** 0.25) < 3e-6 * f.time  # the trapezoidal rule: 1.6e-6 at 200 steps, a quarter of it at 400
    rms = f.used[1].share
    assert 0.995 < rms <= 1.0 + 1e-3 and f.used[1].name == "rms x.force"
    rested = slide.time_optimal(LINE, {"x.force": "50 N", "rms x.force": f"{R} N"}, steps=200, pause="2 s")
    assert rested.time < 0.8 * f.time
    smooth = slide.time_optimal(LINE, {"x.force": "50 N", "rms x.force": f"{R} N"}, steps=200, law="quintic")
    assert smooth.time > f.time and smooth.ok
    T = slide.time_optimal(LINE, {"x.force": "50 N", "rms x.force": f"{R} N"}, steps=200, law="quintic", pause="2 s").time
    assert abs(120.0 / 7.0 / T**3 - R**2 * (T + 2.0)) < 1e-3 * R**2 * (T + 2.0)  # integral of the squared second derivative: 120 / 7


def test_intervals_of_random_rows_agree_with_linear_programming() -> None:
    from scipy.optimize import linprog

    rng = np.random.default_rng(3)
    for _ in range(40):
        A, B = rng.normal(size=(2, 12))
        C = rng.uniform(0.0, 1.0, 12)
        found = interval(A, B, C, 1e4, 0.0)
        ends = [linprog([0.0, sign], A_ub=np.c_[A, B], b_ub=C, bounds=[(None, None), (0.0, 1e4)]).x[1] for sign in (1.0, -1.0)]
        assert found is not None
        np.testing.assert_allclose(found, ends, atol=1e-7 * max(1.0, ends[1]))


def test_profiles_of_a_double_integrator_are_exact_on_any_grid() -> None:
    s = np.linspace(0.0, 1.0, 51) ** 1.3
    one = np.ones((51, 2))
    profile = fastest_profile(LimitRows(one * [1, -1], 0.0 * one, one, np.zeros(2, dtype=int)), s, 1e8)
    assert 2.0 <= profile.time < 2.001
