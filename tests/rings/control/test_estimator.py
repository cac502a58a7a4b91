"""State estimation on the loops: the textbook filter in a linear case, statistics over drawn motions, batch least squares, closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import least_squares, minimize_scalar
from scipy.stats import chi2

import linkwright as lw
from linkwright.errors import LinkwrightError, SimulationError, UsageError
from linkwright.rings.control.estimator import Estimator
from linkwright.system.system import System
from tests.refusals import refused

# Two masses on one rail, each on a spring to ground and with a damper: linear, without loops.
MASSES = {
    "name": "masses", "plane": "xy", "gravity": [0, 0],
    "drawing": {"A": [0, 0], "B": [1, 0]},
    "bodies": {
        "ground": {"points": ["A", "B"]}, "first": {"points": ["A"], "mass": 2, "com": "A", "inertia": 1},
        "second": {"points": ["B"], "mass": 1, "com": "B", "inertia": 1},
    },
    "joints": {
        "left": {"type": "prismatic", "between": ["ground", "first"], "at": "A", "axis": [1, 0]},
        "right": {"type": "prismatic", "between": ["ground", "second"], "at": "B", "axis": [1, 0]},
    },
    "springs": {
        "k1": {"joint": "left", "stiffness": 30, "free_position": 0}, "k2": {"joint": "right", "stiffness": 50, "free_position": 0},
    },
    "dampers": {"d1": {"joint": "left", "coefficient": 0.4}, "d2": {"joint": "right", "coefficient": 0.1}},
}  # fmt: skip
# A rotor that nothing turns, and one that carries a closed four-bar through space.
ROTOR = {
    "name": "rotor", "plane": "xy", "gravity": [0, 0], "drawing": {"A": [0, 0]},
    "bodies": {"ground": {"pins": ["A"]}, "wheel": {"pins": ["A"], "mass": 1, "com": "A", "inertia": 0.1}},
}  # fmt: skip
SATELLITE = {
    "name": "satellite", "gravity": [0, 0, 0],
    "drawing": {"O": [0, 0, 0], "A": [0, 0, 0], "B": [0, 0.1, 0], "C": [0.3, 0.25, 0], "D": [0.3, 0, 0]},
    "bodies": {
        "ground": {"points": ["O"]},
        "trunk": {"points": ["O", "A", "D"], "mass": 3, "com": [0.15, 0, 0.05], "inertia": [0.02, 0.05, 0.06]},
        "crank": {"points": ["A", "B"], "mass": 0.3, "com": [0, 0.05, 0], "inertia": [0.001, 0.001, 0.001]},
        "coupler": {"points": ["B", "C"], "mass": 0.5, "com": [0.15, 0.17, 0], "inertia": [0.002, 0.004, 0.005]},
        "rocker": {"points": ["C", "D"], "mass": 0.4, "com": [0.3, 0.12, 0], "inertia": [0.002, 0.001, 0.002]},
    },
    "joints": {
        "base": {"type": "free", "between": ["ground", "trunk"], "at": "O"},
        **{n: {"type": "revolute", "between": b, "at": n, "axis": [0, 0, 1]} for n, b in
           {"A": ["trunk", "crank"], "B": ["crank", "coupler"], "C": ["coupler", "rocker"], "D": ["trunk", "rocker"]}.items()},
    },
    "drive": {"A": "0 N m"},
}  # fmt: skip


@pytest.fixture(scope="module")
def wiper() -> System:
    return lw.compile("wiper")


@pytest.fixture(scope="module")
def masses() -> System:
    return lw.compile(lw.load(MASSES))


@pytest.fixture(scope="module")
def ankle() -> System:
    return lw.compile("ankle")


@pytest.fixture(scope="module")
def satellite() -> System:
    return lw.compile(lw.load(SATELLITE))


def drawn(e: Estimator, rng: np.random.Generator) -> Any:
    """A state whose deviation from the estimate has the covariance of the estimate."""
    m = 2 * e.basis.shape[1]
    w, V = np.linalg.eigh(e.covariance[:m, :m])
    x = V @ (np.sqrt(np.maximum(w, 0.0)) * rng.standard_normal(m))
    return e._steps.state(e._steps.moved(e._belief.chart, x))


def motion(e: Estimator, rng: np.random.Generator, count: int, push: dict[str, Any], bias: Any = 0.0) -> Any:
    """True states and readings of a motion that begins where the estimate may be, under efforts that the estimator does not know."""
    sizes = e._efforts(push)
    st = drawn(e, rng)
    states, table = [st], []
    for _ in range(count):
        st = e.system.step(st, sizes * rng.standard_normal(len(sizes)), e.every)
        states.append(st)
        at = e._steps.placed(st)
        clean = e._readout(at.q, at.v, e._steps.accelerations(at, e._effort)[0], at.t, at.near).value
        clean[e._biased] += bias
        z = clean + e._deviations * rng.standard_normal(len(clean))
        table.append({r.name: e._shaped(z[None], r)[0] for r in e.readings})
    return states, table


# ---------------------------------------------------------------- linear


def rk4(A: np.ndarray, h: float) -> np.ndarray:
    """What a step of rk4 makes of x' = A x."""
    z = A * h
    return np.eye(len(A)) + z @ (np.eye(len(A)) + z @ (np.eye(len(A)) / 2 + z @ (np.eye(len(A)) / 6 + z / 24)))


def test_a_linear_case_is_the_textbook_filter(masses: System) -> None:
    h, count, rng = 0.02, 60, np.random.default_rng(5)
    M, K, D = np.diag([2.0, 1.0]), np.diag([30.0, 50.0]), np.diag([0.4, 0.1])
    W = np.linalg.inv(M)
    A = np.block([[np.zeros((2, 2)), np.eye(2), np.zeros((2, 2))], [-W @ K, -W @ D, W], [np.zeros((2, 6))]])
    step = rk4(A, h)
    F, G = step[:4, :4], step[:4, 4:]
    H, R, Q = np.array([[1.0, 0, 0, 0], [0, 0, 0, 1.0]]), np.diag([0.01**2, 0.05**2]), np.diag([0.3**2, 0.7**2])
    x, P = np.zeros(4), np.diag([0.1, 0.2, 0.5, 0.4]) ** 2
    e = masses.estimator(
        {"left": 0.01, "right.v": 0.05}, every=h, disturbance={"left": 0.3, "right": 0.7},
        uncertainty={"left": 0.1, "right": 0.2, "left.v": 0.5, "right.v": 0.4},
    )  # fmt: skip
    for _ in range(count):
        tau, z = rng.standard_normal(2), rng.standard_normal(2)
        x, P = F @ x + G @ tau, F @ P @ F.T + G @ Q @ G.T
        S = H @ P @ H.T + R
        gain = P @ H.T @ np.linalg.inv(S)
        nis = (z - H @ x) @ np.linalg.inv(S) @ (z - H @ x)
        x, P = x + gain @ (z - H @ x), (np.eye(4) - gain @ H) @ P
        st = e.step({"left": tau[0], "right": tau[1]}, {"left": z[0], "right.v": z[1]})
        full = np.kron(np.eye(2), e.basis) @ e.covariance @ np.kron(np.eye(2), e.basis).T
        np.testing.assert_allclose([*st.q, *st.v], x, rtol=0, atol=1e-13)  # round-off of sums below 10
        np.testing.assert_allclose(full, P, rtol=0, atol=1e-14)
        assert abs(e.nis - nis) < 1e-10 * nis
    assert abs(e.deviation("right.v") - np.sqrt(P[3, 3])) < 1e-13


def test_both_methods_agree_where_readings_are_linear(masses: System) -> None:
    found = []
    for method in ("extended", "iterated"):
        e = masses.estimator({"left": 0.01, "right.v": 0.05}, every=0.02, method=method)
        found.append((e.step(None, {"left": 0.3, "right.v": -1.0}), e.covariance))
    np.testing.assert_allclose(found[0][0].q, found[1][0].q, rtol=0, atol=1e-13)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=0, atol=1e-14)


# ---------------------------------------------------------------- exact derivatives


@pytest.mark.parametrize("name", ["wiper", "ankle", "satellite"])
def test_transition_and_readings_are_differentiated_exactly(name: str, request: pytest.FixtureRequest) -> None:
    s: System = request.getfixturevalue(name)
    imu = lw.control.imu(gyro=0.01, accelerometer=0.1, gyro_bias=0.1)
    sensors = {"wiper": {"A": 0.01, "rocker": imu}, "ankle": {"left": 0.01, "foot": imu}, "satellite": {"A": 0.01, "trunk.A": imu}}[name]
    e = s.estimator(sensors, every=0.01, start=moving(s))
    chart, m, h = e._belief.chart, 2 * e._belief.chart.n, 1e-5
    np.testing.assert_allclose(chart.W @ chart.T, np.eye(m), atol=1e-12)
    tau = 0.1 * np.ones(s.tree.nv)
    e._effort = tau
    found = e._steps.predicted(chart.state, tau, 0.01)
    after = e._steps.chart(found.state)
    F, H = after.W @ found.by_y @ chart.T, e._expected(e._belief, list(range(e._readout.count)))[1][:, :m]
    q = e._steps.quaternions
    for k in range(m):
        ends, seen = [], []
        for sign in (1.0, -1.0):
            at = e._steps.moved(chart, sign * h * np.eye(m)[k])
            st = s.step(e._steps.state(at), tau, 0.01)
            ends.append(after.of(e._steps.placed(st), q))
            seen.append(e._readout(at.q, at.v, e._steps.accelerations(at, tau)[0], at.t, at.near).value)
        for exact, (up, down) in ((F[:, k], ends), (H[:, k], seen)):  # central differences: h^2 and round-off / h
            assert np.abs(exact - (up - down) / (2 * h)).max() < 2e-6 * max(1.0, np.abs(exact).max())


def moving(s: System) -> Any:
    """A state in motion, off the drawn position."""
    if s.description.name == "satellite":
        return s.assemble(q={"A": "20 deg"}, v={"A": 2.0, "base.wx": 0.5, "base.wy": -0.8, "base.wz": 0.4, "base.x": 0.3})
    return s.assemble(v={d.joint: 1.0 + 0.5 * i for i, d in enumerate(s.description.drives)})


def test_an_imu_feels_the_support_and_the_centrifugal_force() -> None:
    """On a wheel that turns steadily at 30 deg and 2 rad/s: gravity from below, and 0.1 m from the axis w^2 r toward it."""
    with_point = {**ROTOR["bodies"]["wheel"], "points": {"P": [0.1, 0]}}
    wheel = {**ROTOR, "gravity": [0, -9.81], "bodies": {**ROTOR["bodies"], "wheel": with_point}}
    s = lw.compile(lw.load(wheel))
    imu = lw.control.imu(gyro=1e-9, accelerometer=1e-9)
    e = s.estimator({"wheel": imu, "wheel.P": imu}, every="10 ms", start=s.assemble(q={"A": "30 deg"}, v={"A": 2.0}))
    run = s.simulate(s.assemble(q={"A": "30 deg"}, v={"A": 2.0}), "20 ms", sample_interval="10 ms")
    seen = e.simulated_readings(run)
    up = 9.81 * np.array([0.5, np.sqrt(0.75)])  # in the axes of the wheel
    np.testing.assert_allclose(seen["wheel.accelerometer"][0], up, atol=1e-7)  # a hundred standard deviations
    np.testing.assert_allclose(seen["wheel.P.accelerometer"][0], up - [0.1 * 2.0**2, 0.0], atol=1e-7)
    np.testing.assert_allclose(seen["wheel.gyro"][:, 0], 2.0, atol=1e-7)


# ---------------------------------------------------------------- consistency

CASES = {
    "wiper": ({"A": "0.5 deg"}, {"A": 0.4}, {"A": "5 deg", "A.v": "1 rad/s"}),
    "ankle": ({"left": lw.control.encoder(4096), "foot": lw.control.imu(gyro="0.5 deg/s", accelerometer="0.2 m/s^2", gyro_bias="3 deg/s")},
              {"left": 0.5, "right": 0.5}, lw.control.noise(angle="1 deg", angular_speed="10 deg/s")),
    "satellite": ({"A": "0.2 deg", "base.x": "2 mm", "base.y": "2 mm", "base.z": "2 mm",
                   "coupler": lw.control.imu(gyro=0.02, gyro_bias=0.1),
                   "base.rpy": "1 deg"},
                  {"A": 0.05, "base": [0.1, 0.1, 0.1, 1.0, 1.0, 1.0]},
                  lw.control.noise(angle="3 deg", length="1 cm", angular_speed=0.2, speed=0.1)),
}  # fmt: skip


@pytest.mark.parametrize("name", list(CASES))
def test_errors_have_the_covariance_that_is_claimed(name: str, request: pytest.FixtureRequest) -> None:
    s: System = request.getfixturevalue(name)
    sensors, push, uncertainty = CASES[name]
    e = s.estimator(sensors, every="5 ms", disturbance=push, start=moving(s), uncertainty=uncertainty)
    rng, runs, count = np.random.default_rng(11), 16, 8
    nees, nis, size = 0.0, 0.0, 0
    for _ in range(runs):
        e.reset()
        bias = e._bias_start * rng.standard_normal(len(e._bias_start))
        states, table = motion(e, rng, count, push, bias)
        for z in table:
            e.step(None, z)
            nis, size = nis + e.nis, size + e.measured
        nees += e.nees(states[-1], dict(zip(e.bias, bias, strict=True)))
        assert np.abs(s.closure(e.state).phi).max(initial=0.0) < 1e-14
        for first in e._steps.quaternions:
            assert abs(np.linalg.norm(e.state.q[first : first + 4]) - 1.0) < 1e-15
    states_total = runs * len(e.covariance)
    for value, freedoms in ((nees, states_total), (nis, size)):  # bounds that a consistent filter leaves once in a thousand seeds
        assert chi2.ppf(0.0005, freedoms) < value < chi2.ppf(0.9995, freedoms)



def test_a_filter_that_trusts_its_sensors_too_much_is_found_out(wiper: System) -> None:
    uncertainty = {"A": "5 deg", "A.v": "1 rad/s"}
    honest = wiper.estimator({"A": "1 deg"}, every="5 ms", start=moving(wiper), uncertainty=uncertainty)
    rash = wiper.estimator({"A": "0.5 deg"}, every="5 ms", start=moving(wiper), uncertainty=uncertainty)
    _, table = motion(honest, np.random.default_rng(2), 60, {})
    nis = {}
    for e in (honest, rash):
        for z in table:
            e.step(None, z)
            nis[e] = nis.get(e, 0.0) + e.nis
    assert chi2.ppf(0.0005, 60) < nis[honest] < chi2.ppf(0.9995, 60) < nis[rash]


def test_passive_joints_are_recovered_within_their_deviations() -> None:
    s = lw.compile("five-bar")
    start = s.assemble(q={"A": "100 deg", "E": "80 deg"}, v={"A": 2.0, "E": -1.0})
    run = s.simulate(start, "0.3 s", sample_interval="5 ms")
    e = s.estimator({"A": "0.2 deg", "E": "0.2 deg"}, every="5 ms", start=s.assemble(q={"A": "95 deg", "E": "84 deg"}))
    guess = e.state
    found = e.run(e.simulated_readings(run, seed=4))
    assert len(found) == len(run) == 61 and np.allclose(found.t, run.t, atol=1e-12)
    for name in ("B", "C", "D"):  # none of them has a sensor
        assert abs(float(guess[name]) - run[name][0]) > 0.02
        off = abs(found[name] - run[name])[-30:]
        assert (off < 5.0 * found[f"{name}.deviation"][-30:]).all() and off.max() < np.radians(1.0)
    assert max(np.abs(s.closure(found.state(i)).phi).max() for i in range(len(found))) < 1e-14
    c = found.state(60)
    assert abs(c["B.v"] - run["B.v"][-1]) < 5.0 * found["B.v.deviation"][-1]


# ---------------------------------------------------------------- other methods


def test_an_update_of_the_iterated_filter_is_the_most_probable_state(wiper: System) -> None:
    """One angle of the rocker, read after a poor guess of the crank: against a search over assembled states."""
    start, sigma, prior = wiper.assemble(q={"A": "50 deg"}), 0.002, np.radians(30.0)
    e = wiper.estimator({"rocker.angle": sigma}, every=0.01, start=start, uncertainty={"A": prior, "A.v": 1.0}, method="iterated")
    P, S = e.covariance[0, 0], e.basis[:, 0]
    seen = float(wiper.assemble(q={"A": "100 deg"})["rocker.angle"])
    columns = wiper.kernels.loops.columns

    def cost(angle: float) -> float:
        st = wiper.assemble(q={"A": angle}, guess=start)
        c = (S / columns) @ ((st.q - start.q) / columns)
        return c * c / P + (seen - float(st["rocker.angle"])) ** 2 / sigma**2

    best = minimize_scalar(cost, bounds=(0.9, 2.2), method="bounded", options={"xatol": 1e-9})
    st = e.update({"rocker.angle": seen})
    assert abs(float(st["A"]) - best.x) < 1e-6  # of a search that compares costs: the root of round-off
    plain = wiper.estimator({"rocker.angle": sigma}, every=0.01, start=start, uncertainty={"A": prior, "A.v": 1.0})
    assert abs(float(plain.update({"rocker.angle": seen})["A"]) - best.x) > 0.01


def test_the_iterated_filter_beats_the_extended_one_where_readings_are_curved(wiper: System) -> None:
    rng, off = np.random.default_rng(3), {"extended": [], "iterated": []}
    start = wiper.assemble(q={"A": "80 deg"})
    sensor, spread = {"rocker.angle": 0.0005}, {"A": "12 deg", "A.v": 0.01}
    filters = {m: wiper.estimator(sensor, every=0.01, start=start, uncertainty=spread, method=m) for m in off}
    for _ in range(40):
        true = wiper.assemble(q={"A": np.radians(80.0 + 12.0 * rng.standard_normal())}, guess=start)
        z = float(true["rocker.angle"]) + 0.0005 * rng.standard_normal()
        for method, seen in off.items():
            filters[method].reset()
            st = filters[method].update({"rocker.angle": z})
            seen.append(float(st["A"] - true["A"]))
    rms = {k: float(np.sqrt(np.mean(np.square(x)))) for k, x in off.items()}
    assert rms["iterated"] < 0.2 * rms["extended"]


def test_a_short_horizon_agrees_with_batch_least_squares(wiper: System) -> None:
    """Without disturbances the filter and one fit of the start to all readings have the same answer, up to the curvature of the motion."""
    start, sizes, sigma, count = moving(wiper), np.array([np.radians(2.0), 0.2]), np.radians(0.1), 15
    e = wiper.estimator(
        {"rocker.angle": sigma}, every=0.01, start=start, uncertainty={"A": sizes[0], "A.v": sizes[1]}, method="iterated"
    )
    _, table = motion(e, np.random.default_rng(8), count, {})
    first = np.array([float(start["A"]), float(start["A.v"])])

    def states(x: np.ndarray) -> list[Any]:
        st, out = wiper.assemble(q={"A": x[0]}, v={"A": x[1]}, guess=start), []
        for _ in table:
            st = wiper.step(st, None, 0.01)
            out.append(st)
        return out

    def left(x: np.ndarray) -> np.ndarray:
        seen = [(float(st["rocker.angle"]) - float(z["rocker.angle"])) / sigma for st, z in zip(states(x), table, strict=True)]
        return np.array([*((x - first) / sizes), *seen])

    fit = least_squares(left, first, x_scale=sizes, diff_step=1e-6, xtol=1e-12)
    for z in table:
        e.step(None, z)
    end, h = states(fit.x)[-1], 1e-5
    ends = [[(float(a[n]) - float(b[n])) / (2 * h) for n in ("A", "A.v")]
            for a, b in ((states(fit.x + h * d)[-1], states(fit.x - h * d)[-1]) for d in np.eye(2))]  # fmt: skip
    cov = np.array(ends).T @ np.linalg.inv(fit.jac.T @ fit.jac) @ np.array(ends)
    for i, name in enumerate(("A", "A.v")):
        spread = e.deviation(name)
        assert abs(float(e.state[name]) - float(end[name])) < 0.05 * spread
        assert abs(spread - np.sqrt(cov[i, i])) < 0.03 * spread


# ---------------------------------------------------------------- observability


def test_a_gyro_with_a_bias_does_not_show_angle_nor_speed_of_a_rotor() -> None:
    s = lw.compile(lw.load(ROTOR))
    e = s.estimator({"wheel": lw.control.imu(gyro=0.01, gyro_bias=0.1)}, every=0.01)
    found = e.observability()
    assert (found.rank, found.states, found.ok) == (1, 3, False)
    assert set(found.names) == {"A", "A.v", "wheel.gyro.z.bias"}
    assert set(found.unobservable) == {"A", "A.v - wheel.gyro.z.bias"}
    assert "A.v - wheel.gyro.z.bias" in found.why and list(found.table().columns[1].values) == [False, False, False]
    with_encoder = s.estimator({"A": 0.01, "wheel": lw.control.imu(gyro=0.01, gyro_bias=0.1)}, every=0.01).observability()
    assert with_encoder.ok and not with_encoder.unobservable and with_encoder.rank == 3


def test_places_of_a_free_base_are_named(satellite: System) -> None:
    found = satellite.estimator({"A": 0.001, "trunk": lw.control.imu(gyro=0.001)}, every=0.05, start=moving(satellite)).observability(60)
    assert found.states == 14
    pure = [x for x in found.unobservable if " " not in x]  # nothing in space tells where it is, or where it points
    assert {"base.x", "base.y", "base.z", "base.x.v", "base.y.v", "base.z.v"} <= {*pure, *found.names} and found.rank == 14 - 9


# ---------------------------------------------------------------- ways to use it


def test_online_and_offline_are_the_same(wiper: System) -> None:
    run = wiper.simulate(moving(wiper), "0.1 s", drive={"A": lw.drives.torque("0.5 N m")}, sample_interval="10 ms")
    e = wiper.estimator({"A": "1 deg", "rocker": lw.control.imu(gyro="1 deg/s", gyro_bias="5 deg/s")}, every="10 ms")
    table = e.simulated_readings(run, seed=9, bias={"rocker.gyro.z": 0.05})
    table["A"][4] = np.nan
    found = e.run(table, {"A": np.full(11, 0.5)}, channels=["rocker.angle"])
    e.reset()
    e.update({"A": table["A"][0], "rocker.gyro": table["rocker.gyro"][0]})
    for k in range(1, 11):
        st = e.step({"A": "0.5 N m"}, {"A": None if k == 4 else float(table["A"][k]), "rocker.gyro": table["rocker.gyro"][k]})
        assert e.measured == (1 if k == 4 else 2)
        pairs = [(st.q, found.q[k]), (st.v, found.v[k]), (e.bias["rocker.gyro.z"], found["rocker.gyro.z.bias"][k])]
        pairs += [(e.bias_deviation["rocker.gyro.z"], found["rocker.gyro.z.bias.deviation"][k])]
        for one, other in pairs:  # times of a table are sums of steps to round-off
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
    assert abs(found["rocker.angle.deviation"][-1] - e.deviation("rocker.angle")) < 1e-12 and abs(e.t - 0.1) < 1e-12
    assert abs(np.degrees(e.deviation("rocker.angle")) - e.deviation("rocker.angle", "deg")) < 1e-12
    assert found.notes and found["nis"].shape == (11,) and found.dimension("rocker.gyro.z.bias") == "angular speed"


def test_a_recorded_run_brings_its_torques(wiper: System) -> None:
    run = wiper.simulate(moving(wiper), "0.1 s", drive={"A": lw.drives.torque("0.5 N m")}, sample_interval="10 ms")
    e = wiper.estimator({"A": "0.01 deg"}, every="10 ms", start=wiper.assemble(q={"A": "61 deg"}, v={"A": 0.5}))
    found = e.run(run)
    assert abs(found["A"][-1] - run["A"][-1]) < 1e-4 and abs(found["A.v"][-1] - run["A.v"][-1]) < 5e-3
    function = e.run(run, lambda t: {"A": 0.5})
    assert np.abs(function["A"] - found["A"]).max() < 1e-12


def test_a_controller_in_a_run_takes_the_estimate() -> None:
    """A five-bar upright, which falls by itself, held by state feedback from encoders alone."""
    s = lw.compile("five-bar")
    st = s.assemble({"A": "90 deg", "E": "90 deg"})
    lqr = s.control(lw.control.lqr(st, every="2 ms"), st)
    e = s.estimator({"A": lw.control.encoder(20000), "E": lw.control.encoder(20000)}, every="2 ms", start=st,
                    disturbance={"A": 0.05, "E": 0.05}, uncertainty=lw.control.noise(angle="1 deg", angular_speed="5 deg/s"))  # fmt: skip
    begin = s.assemble({"A": "90.5 deg", "E": "89.8 deg"})
    run = s.simulate(begin, "0.3 s", control=lw.control.control_law(e.law(lqr, seed=3), every="2 ms", drives=["A", "E"]))
    assert np.abs(run["A", "deg"] - 90.0).max() < 1.0 and np.abs(run["E", "deg"] - 90.0).max() < 1.0
    fallen = s.simulate(begin, "0.3 s", control=lw.control.control_law(lambda t, x: {"A": 0.0, "E": 0.0}, every="2 ms", drives=["A", "E"]))
    assert max(abs(fallen["A", "deg"][-1] - 90.0), abs(fallen["E", "deg"][-1] - 90.0)) > 5.0


def test_what_sensors_are_given_as(wiper: System) -> None:
    e = wiper.estimator(
        {"A": lw.control.encoder(360), "B": lw.control.sensor("1 deg", bias="2 deg", drift="0.1 deg"), "coupler.P": "1 mm", "A.a": 0.1},
        every="5 ms",
    )
    sizes = {r.name: (r.deviation, r.bias, r.drift) for r in e.readings}
    assert np.allclose(sizes["A"], (np.radians(1.0) / np.sqrt(12.0), 0.0, 0.0), rtol=1e-14)
    assert np.allclose(sizes["B"], np.radians([1.0, 2.0, 0.1]), rtol=1e-14)
    assert sizes["coupler.P"][0] == 0.001 and sizes["A.a"][0] == 0.1
    before = e.bias_deviation["B"]
    e.step()
    assert abs(e.bias_deviation["B"] ** 2 - before**2 - np.radians(0.1) ** 2 * 0.005) < 1e-12  # the variance of a random walk
    e.step(None, {"A": "60 deg", "coupler.P": [np.nan, np.nan]})
    assert e.measured == 1


# ---------------------------------------------------------------- refusals


def test_wrong_sensors_are_refused(wiper: System) -> None:
    wrong: list[tuple[Any, str]] = [
        ({}, "sensors"), ("A", "sensors"), ({"Q": 1.0}, "Q"), ({"A.torque": 1.0}, "A.torque"), ({"A": -1.0}, "A"), ({"A": 0.0}, "A"),
        ({"A": lw.control.encoder(length="1 um")}, "A"), ({"A.v": lw.control.encoder(100)}, "A.v"),
        ({"wheel": lw.control.imu(gyro=1.0)}, "wheel"), ({"energy.total": 1.0}, "energy.total"),
    ]  # fmt: skip
    for given, name in wrong:
        with refused(LinkwrightError, name=name):
            wiper.estimator(given, every=0.01)
    with refused(UsageError, name="imu"):
        lw.control.imu()
    with refused(UsageError, name="gyro"):
        lw.control.imu(gyro_bias=1.0, accelerometer=1.0)
    with refused(UsageError, name="drift"):
        lw.control.sensor("1 deg", drift="1 deg")


def test_wrong_options_are_refused(wiper: System) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"every": 0}, "every"), ({"every": "soon"}, "soon"), ({"method": "magic"}, "method"), ({"substeps": 0}, "substeps"),
        ({"disturbance": 3}, "disturbance"), ({"disturbance": {"Q": 1}}, "Q"), ({"disturbance": {"A": -1}}, "A"),
        ({"uncertainty": {"A": 1}}, "uncertainty"), ({"uncertainty": {"A": 1, "B": 1}}, "uncertainty"),
        ({"uncertainty": 3}, "uncertainty"), ({"uncertainty": {"A": -1, "A.v": 1}}, "A"),
    ]  # fmt: skip
    for options, name in wrong:
        given: dict[str, Any] = {"every": 0.01, **options}
        with refused(LinkwrightError, name=name):
            wiper.estimator({"A": 0.01}, **given)


def test_wrong_readings_are_refused(wiper: System) -> None:
    e = wiper.estimator({"A": 0.01}, every=0.01)
    before = e.state
    wrong: list[tuple[Any, str]] = [
        ({"B": 1.0}, "B"), ({"A": [1.0, 2.0]}, "A"), ({"A": "far"}, "far"), ({"A": np.inf}, "A"), (3, "readings")
    ]  # fmt: skip
    for readings, name in wrong:
        with refused(UsageError, name=name):
            e.update(readings)
    with refused(UsageError, name="tau"):
        e.predict([np.nan, 0.0, 0.0])
    for table, name in (({"A": [1]}, "table"), ({"t": [1, 0], "A": [1, 1]}, "t"), ({"t": [0, 1]}, "table"), ({"t": [0, 1], "A": [1]}, "A")):
        with refused(UsageError, name=name):
            e.run(table)
    with refused(UsageError, name="A"):
        e.run({"t": [0.0, 0.01], "A": [1.0, 1.0]}, {"A": [1.0]})
    with refused(UsageError, name="samples"):
        e.observability(0)
    with refused(SimulationError, name="estimator"):  # far outside of what the rocker can reach
        wiper.estimator({"rocker.C.x": 1e-6}, every=0.01, uncertainty={"A": 1e3, "A.v": 1}).update({"rocker.C.x": 1e3})
    assert np.array_equal(e.state.q, before.q)
