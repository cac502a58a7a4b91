"""The slider-crank's three controllers [Aghili2005 VIII-B]: crank from 30 to 60 deg, gains 25/10 and 1/20, without and with gravity.

The error obeys e'' + 10 e' + 25 e = 0 from rest, which is (pi/6)(1 + 5 t) exp(-5 t). Efforts and RMS are those of the reference
file, obtained from the paper's matrices in closed form; its lambda and constraint forces have the sign opposite to ours.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwright as lw
from linkwright.results.trajectory import Trajectory
from tests.reference import load

DATA = load("aghili_hoang")
RMS, ENDS = DATA["slider_crank_controllers_rms"], DATA["slider_crank_closed_loop"]
GRAVITY = (0.0, 9.81)
CONTROLLERS = {
    "2act": lw.control.projected({"A": "60 deg"}, P=25, D=10, drives=["A", "B"]),
    "1act": lw.control.projected({"A": "60 deg"}, P=25, D=10, drives=["A"]),
    "hyb": lw.control.hybrid({"A": "60 deg"}, {"C.ty": 0}, P=25, D=10, F=1, I=20, drives=["A", "B"]),
}
FINE = 2e-3  # time between samples: Simpson's rule errs by about (FINE * 10)^4 / 180, 1e-9
TIMES = np.linspace(0.0, 5.0, 2501)


@pytest.fixture(scope="module")
def runs() -> dict[tuple[float, str], Trajectory]:
    found = {}
    for g in GRAVITY:
        s = lw.compile(lw.load("slider-crank-equal", g=g))
        st = s.assemble({"A": math.pi / 6}, {"A": 0.0})
        for name, control in CONTROLLERS.items():
            found[g, name] = s.simulate(st, 5.0, control=control, tolerance=1e-11, sample_interval=TIMES)
    return found


def efforts(run: Trajectory) -> np.ndarray:
    """(2, samples): a passive joint has none."""
    return np.array([run[f"{joint}.torque"] if f"{joint}.torque" in run.channels else np.zeros(len(run.t)) for joint in "AB"])


def rms(run: Trajectory, T: float) -> float:
    """The paper's norm, by Simpson's rule."""
    n = round(T / FINE)
    square = (efforts(run) ** 2).sum(axis=0)[: n + 1]
    return math.sqrt(FINE / 3.0 * (square[0] + square[-1] + 4.0 * square[1:-1:2].sum() + 2.0 * square[2:-1:2].sum()) / T)


def test_all_three_follow_the_error_equation(runs):
    """1e-8 is what is promised; tolerances of 1e-11 over 5 s give 1e-11. B = 2 pi - 2 A follows by the loop."""
    wanted = math.pi / 6 * (1.0 + 5.0 * TIMES) * np.exp(-5.0 * TIMES)
    for run in runs.values():
        assert np.abs(math.pi / 3 - run["A"] - wanted).max() < 1e-8
        assert np.abs(run["control.A.error"] - wanted).max() < 1e-8
        assert np.abs(run["B"] + 2.0 * run["A"] - 2.0 * math.pi).max() < 1e-9
        shared = [note for note in run.notes if note.startswith("efforts of the redundant drives A, B: least norm of the torques")]
        assert run.notes == (*shared, "controller: compiled")  # nothing was damped, nothing fell back to the slow path
    assert {kind for (_, kind), run in runs.items() if len(run.notes) == 2} == {"2act"}, "one freedom, two drives, no force to hold"


@pytest.mark.parametrize("T", [1, 2, 5])
def test_rms_torques_are_those_of_the_reference(runs, T):
    """1e-4 is what is promised; both are good to 1e-8."""
    for (g, name), run in runs.items():
        assert rms(run, T) == pytest.approx(RMS[f"g={g},velexp=2,T={T}"][name], rel=2e-8)


@pytest.mark.parametrize("g", GRAVITY)
def test_one_joint_takes_root_five_of_two(runs, g):
    """f = (I + H) f_par with f_par = x (1, -2) is x (5, 0) at every instant [Aghili2005 (74)]: sqrt(5) for any time and gravity."""
    two, one = efforts(runs[g, "2act"]), efforts(runs[g, "1act"])
    size = np.abs(one[0]).max()
    np.testing.assert_allclose(two[1], -2.0 * two[0], atol=1e-9 * size)
    np.testing.assert_allclose(one[0], 5.0 * two[0], atol=1e-9 * size)
    for T in (0.5, 1, 2, 5):
        assert rms(runs[g, "1act"], T) / rms(runs[g, "2act"], T) == pytest.approx(math.sqrt(5.0), rel=1e-9)


@pytest.mark.parametrize("g", GRAVITY)
@pytest.mark.parametrize("name", CONTROLLERS)
def test_efforts_and_multipliers_at_start_and_end(runs, g, name):
    """The reference ends after 3 s and prints lambda in the paper's sign; 1e-10 of the largest effort is its own accuracy."""
    known, run = ENDS[f"g={g},{name}"], runs[g, name]
    end = round(3.0 / FINE)
    f, lam = efforts(run), np.asarray(run["lam.C.ty"])
    np.testing.assert_allclose(f[:, 0], known["f0"], atol=3e-9)
    np.testing.assert_allclose(f[:, end], known["f_end"], atol=3e-9)
    np.testing.assert_allclose([lam[0], lam[end]], [-known["lam0"], -known["lam_end"]], atol=3e-9)
    if name == "hyb":
        assert np.abs(lam).max() < 1e-12  # lambda_d = 0 is held from the first instant


def test_the_law_printed_for_one_joint_is_unstable(runs):
    """(75) prints -3/5, -3/5, +6/5 where (I + H) f_par gives 1, 1, -2: the sign alone turns the loop round."""
    run = runs[9.81, "1act"]
    A, v = np.asarray(run["A"]), np.asarray(run["A.v"])
    c2, s2 = np.cos(2.0 * A), -np.sin(2.0 * A)  # of q2 = 2 pi - 2 q1
    u = 25.0 * (math.pi / 3 - A) - 10.0 * v
    right = (3.0 - 2.0 * c2) * u + 9.81 * np.cos(A) - 2.0 * s2 * v**2
    np.testing.assert_allclose(run["A.torque"], right, atol=1e-8)
    printed = -0.6 * (3.0 - 2.0 * c2) * u - 0.6 * 9.81 * np.cos(A) + 1.2 * s2 * v
    assert printed[0] < 0.0 < right[0]  # it pushes away from the set-point


def test_closed_laws_of_two_joints_with_force_control(runs):
    """(71) and (72) with the corrections q1' -> q1'^2 and m l^2 on u*; lambda_d = 0 and no integral: u2* = 0."""
    for g in GRAVITY:
        run = runs[g, "hyb"]
        A, v = np.asarray(run["A"]), np.asarray(run["A.v"])
        c2, s2 = np.cos(2.0 * A), -np.sin(2.0 * A)
        u = 25.0 * (math.pi / 3 - A) - 10.0 * v
        along = 0.2 * (3.0 - 2.0 * c2) * u + 0.2 * g * np.cos(A) - 0.4 * s2 * v**2
        across = 0.4 * (1.0 + c2) * u + 2.8 * g * np.cos(A) + 0.4 * s2 * v**2
        np.testing.assert_allclose(efforts(run), [along + across, -2.0 * along + 0.5 * across], atol=1e-8)
