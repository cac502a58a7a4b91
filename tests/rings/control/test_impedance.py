"""Impedance control against the linear response of a mass, a damper and a spring between the reference and a wall."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

import linkwright as lw
from linkwright.errors import UsageError

WALL = 400.0  # N/m


def response(t, M, D, K, f, x0, v0):
    """M x'' + D x' + K x = f, all constant."""
    n = len(x0)
    Mi = np.linalg.inv(M)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-Mi @ K, -Mi @ D]])
    end = np.concatenate([np.linalg.solve(K, f), np.zeros(n)])
    return np.array([(end + expm(A * s) @ (np.concatenate([x0, v0]) - end))[:n] for s in t])


@pytest.fixture(scope="module")
def cart():
    """A cart of 3 kg that leans on a wall, relaxed where the cart starts."""
    model = {
        "plane": "xy",
        "drawing": {"O": [0, 0], "W": [1, 0]},
        "bodies": {"ground": {"points": ["O", "W"]}, "cart": {"points": ["O"], "mass": "3 kg", "com": "O"}},
        "joints": {"X": {"type": "prismatic", "between": ["ground", "cart"], "at": "O", "axis": [1, 0]}},
        "springs": {"wall": {"between": ["ground.W", "cart.O"], "stiffness": f"{WALL} N/m", "free_length": "1 m"}},
        "drive": {"X": {"force": 0}},
    }
    return lw.load(model)


@pytest.fixture(scope="module")
def five():
    """A five-bar; at its tip a wall, 400 N/m along x and 8 N s/m across, and a weight of 2 N."""
    model = {
        "plane": "xy",
        "gravity": [0, "-9.81 m/s^2"],
        "drawing": {"A": [0, 0], "B": [0, 0.08], "C": [0.1, 0.276], "D": [0.2, 0.08], "E": [0.2, 0]},
        "bodies": {
            "ground": {"pins": ["A", "E"]},
            "left": {"pins": ["A", "B"], "mass": "0.2 kg"},
            "left_rod": {"pins": ["B", "C"], "mass": "0.3 kg"},
            "right_rod": {"pins": ["D", "C"], "mass": "0.3 kg"},
            "right": {"pins": ["E", "D"], "mass": "0.2 kg"},
        },
        "loads": {
            "wall": {"on": "left_rod.C", "force": [f"-{WALL} N/m * (left_rod.C.x - 0.1 m)", "-8 N s/m * left_rod.C.vy"]},
            "weight": {"on": "left_rod.C", "force": [0, "-2 N"]},
        },
        "drive": {"A": {"torque": 0}, "E": {"torque": 0}},
    }
    return lw.load(model)


@pytest.mark.parametrize("M", [None, 1.2, 7.0])
@pytest.mark.parametrize("D", [30.0, None])
def test_a_cart_against_a_wall_it_does_not_know(cart, M, D):
    """m x'' + D x' + (K + k) x = K x_d, m the wanted mass, or the cart's own 3 kg; D critical for m and K if it is not given."""
    K, m = 900.0, 3.0 if M is None else M
    law = lw.control.impedance({"X": "40 mm"}, K=K, D=D, M=M, off=["wall"])
    run = cart.simulate(0.5, control=law, sample_interval=0.02, tolerance=1e-11)
    d = 2 * np.sqrt(K * m) if D is None else D
    wanted = response(run.t, np.eye(1) * m, np.eye(1) * d, np.eye(1) * (K + WALL), np.array([K * 0.04]), np.zeros(1), np.zeros(1))
    assert np.abs(run["X"] - wanted[:, 0]).max() < 1e-10
    if M is not None:
        assert np.abs(run["control.X.sensed"] + WALL * run["X"]).max() < 1e-9


def test_joint_impedance_of_a_loop_under_an_outer_wrench():
    """M e'' + D e' + K e = -f at the crank of a slider-crank: a torque of 3 N m on the crank is all that is outside."""
    s = lw.load("slider-crank-equal").system
    st = s.assemble({"A": "40 deg"})
    law = lw.control.impedance({"A": "40 deg"}, K=60, D=9, M=0.7, drives=["A", "B"])
    run = s.simulate(st, 0.5, control=law, wrench={"crank": [0, 0, 3, 0, 0, 0]}, sample_interval=0.02, tolerance=1e-11)
    one = np.eye(1)
    wanted = response(run.t, 0.7 * one, 9 * one, 60 * one, np.array([3.0 + 60 * st["A"]]), np.array([st["A"]]), np.zeros(1))
    assert np.abs(run["A"] - wanted[:, 0]).max() < 1e-9
    assert np.abs(run["control.A.sensed"] - 3.0).max() < 1e-8


K5, D5 = np.array([[800.0, 100.0], [100.0, 300.0]]), np.array([[60.0, 5.0], [5.0, 40.0]])
M5 = np.array([[1.5, 0.3], [0.3, 0.9]])
TO = np.array([0.13, 0.26])
REFERENCE = {"left_rod.C": ["130 mm", "260 mm"]}


def test_the_tip_of_a_five_bar_meets_a_wall_with_the_mass_damping_and_stiffness_wanted(five):
    """Two coupled equations: (D + D_wall) and (K + K_wall) beside M, the weight as a force, however the posture changes."""
    law = lw.control.impedance(REFERENCE, K=K5, D=D5, M=M5, off=["wall", "weight"])
    run = five.simulate(0.4, control=law, sample_interval=0.02, tolerance=1e-11)
    x0 = np.array([run["left_rod.C.x"][0], run["left_rod.C.y"][0]])
    f = K5 @ TO + np.array([WALL * 0.1, -2.0])
    wanted = response(run.t, M5, D5 + np.diag([0.0, 8.0]), K5 + np.diag([WALL, 0.0]), f, x0, np.zeros(2))
    assert np.abs(np.array([run["left_rod.C.x"], run["left_rod.C.y"]]).T - wanted).max() < 1e-9
    assert np.abs(run["control.left_rod.C.x.sensed"] + WALL * (run["left_rod.C.x"] - 0.1)).max() < 1e-8


def test_without_a_mass_the_tip_rests_where_wall_and_stiffness_balance(five):
    """No sensor: the inertia changes with the posture, the equilibrium K (x_d - x) + f = 0 and critical damping at the start do not."""
    law = lw.control.impedance(REFERENCE, K=K5, off=["wall", "weight"])
    run = five.simulate(2.5, control=law, sample_interval=0.5)
    end = np.linalg.solve(K5 + np.diag([WALL, 0.0]), K5 @ TO + np.array([WALL * 0.1, -2.0]))
    assert np.abs(np.array([run["left_rod.C.x"], run["left_rod.C.y"]])[:, -1] - end).max() < 1e-6
    assert not any(name.endswith(".sensed") for name in run.columns)


def test_default_damping_is_critical_in_every_direction(five):
    """Closed loop about the start, linearized: poles of each mode are double, -sqrt(eigenvalues of M^-1 K)."""
    at = {"left_rod.C": ["100 mm", "276 mm"]}
    s = five.system
    for M in (M5, None):
        law = lw.control.impedance(at, K=K5, M=M)
        poles = s.linearize(s.start, control=law).poles
        inertia = _inertia(s) if M is None else M5
        w = np.sqrt(np.linalg.eigvals(np.linalg.inv(inertia) @ K5).real)
        assert np.allclose(np.sort(poles.real), np.sort(-np.repeat(w, 2)), rtol=1e-5)  # of double poles round-off shows its root
        assert np.abs(poles.imag).max() < 1e-5 * w.max()


def _inertia(s):
    """Inertia at the tip from kinetic energies, T = x' M x' / 2, of states with unit speeds of the tip."""
    T = [s.assemble(v={"left_rod.C": v}, guess=s.start)["energy.kinetic"] for v in ([1, 0], [0, 1], [1, 1])]
    both = T[2] - T[0] - T[1]
    return np.array([[2 * T[0], both], [both, 2 * T[1]]])


def test_a_sampled_impedance_reads_force_sensors(cart):
    """Forces are read at every sample, the first too; noise of the sensor adds to it; called alone, sensors are given by name."""
    law = lw.control.impedance({"X": "40 mm"}, K=900, D=60, M=1.0, off=["wall"], every="1 ms")
    fine = cart.simulate(0.3, control=law, sample_interval=0.01)
    wanted = response(fine.t, np.eye(1), 60 * np.eye(1), (900 + WALL) * np.eye(1), np.array([36.0]), np.zeros(1), np.zeros(1))
    assert np.abs(fine["X"] - wanted[:, 0]).max() < 1.5e-3, "held for 1 ms: 36 m/s^2 for half a sample more at every moment"
    noisy = cart.simulate(0.3, control=law, noise=lw.control.noise(force="0.5 N", seed=3), sample_interval=0.001)
    spread = np.std(noisy["control.X.sensed"][:-1] + WALL * noisy["X"][:-1])
    assert 0.45 < spread < 0.55, "of 300 normal deviates of 0.5 N"
    c = cart.system.control(law, cart.system.start)
    e = 0.04
    assert c(cart.system.start, force={"X": "-6 N"})["X"] == pytest.approx(3.0 * (900 * e - 6.0) + 6.0)
    assert c(cart.system.start)["X"] == pytest.approx(3.0 * 900 * e), "the wall is relaxed at the start"


@pytest.mark.parametrize(("M", "stable"), [(1.0, True), (0.02, False)])
def test_a_sampled_impedance_is_linearized_from_sample_to_sample(cart, M, stable):
    """z of the closed loop against the plant 3 x'' + k x = u, held for 10 ms, u = 3 (K e + D e' - k x) / M + k x."""
    K, D, every, m = 900.0, 60.0, 0.01, 3.0
    law = lw.control.impedance({"X": 0.0}, K=K, D=D, M=M, off=["wall"], every=every)
    found = cart.system.linearize(cart.system.start, control=law)
    held = expm(np.array([[0, 1, 0], [-WALL / m, 0, 1 / m], [0, 0, 0]]) * every)
    gain = np.array([[WALL - m * (K + WALL) / M, -m * D / M]])
    z = np.linalg.eigvals(held[:2, :2] + held[:2, 2:] @ gain)
    assert np.allclose(np.sort_complex(found.z), np.sort_complex(z), rtol=1e-8)
    assert found.stable is stable


def test_a_rough_model_does_not_change_what_the_sensor_reads(cart):
    """With a model of 2 kg the sensor still reads the wall alone: 3 x'' = 2 (K e + D e' + f) / M, in closed form."""
    law = lw.control.impedance({"X": "40 mm"}, K=900, D=60, M=1.5, off=["wall"], model={"cart.mass": "2 kg"})
    run = cart.simulate(0.3, control=law, sample_interval=0.02, tolerance=1e-11)
    assert np.abs(run["control.X.sensed"] + WALL * run["X"]).max() < 1e-9
    k = 2.0 / 1.5  # efforts: 2 (springs + f) / 1.5 - f; then f acts itself
    one = np.eye(1)
    wanted = response(run.t, 3 * one, 60 * k * one, (900 + WALL) * k * one, np.array([36.0 * k]), np.zeros(1), np.zeros(1))
    assert np.abs(run["X"] - wanted[:, 0]).max() < 1e-9


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"K": -1.0}, "K"),
        ({"K": 10.0, "M": 0.0}, "positive"),
        ({"K": np.eye(2)}, "1 x 1"),
        ({"K": {"Y": 3}}, "Y"),
        ({"K": "soft"}, "K"),
        ({"K": 10.0, "M": float("nan")}, "M"),
        ({"K": [["a"]]}, "numbers"),
    ],
)
def test_gains_that_cannot_be_are_refused(cart, how, said):
    with pytest.raises(UsageError, match=said):
        cart.simulate(0.1, control=lw.control.impedance({"X": 0}, **how))
