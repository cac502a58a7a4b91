"""Dry friction in joints while surfaces touch, stops hold and impacts happen: closed forms, inverse dynamics, equations written by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwright as lw
from tests.refusals import refused
from tests.simulation.contact.models import G

WAY = {"type": "planar", "between": ["ground", "ball"], "at": "O"}


def struck_rod(d: float, c: float, e: float, mass: float = 0.7, speed: float = 3.0, **more: Any) -> dict[str, Any]:
    """Without weight: a ball strikes a rod of 2 kg at right angles, `d` from its pin, whose friction is c times its load."""
    return {
        "plane": "xy", "gravity": [0, 0], "drawing": {"A": [0, 0], "B": [1, 0], "O": [d, 0.2]},
        "bodies": {
            "ground": {"pins": ["A"], "points": ["O"]},
            "rod": {"pins": ["A"], "points": ["B"], "mass": 2, "com": [0.5, 0], "inertia": 0.2},
            "ball": {"points": ["O"], "mass": mass, "com": "O", "inertia": 0.01},
        },
        "joints": {"way": {**WAY, "at": "O"}},
        "surfaces": {"side": {"line": "rod.A", "normal": [0, 1]}, "rim": {"circle": "ball.O", "radius": 0.1}},
        "contacts": {"hit": {"between": ["rim", "side"], "restitution": e}},
        "friction": {"A": {"mu": 0.5, "radius": 2.0 * c}}, "start": {"way.vy": -speed}, **more,
    }  # fmt: skip


@pytest.mark.parametrize(("d", "e"), [(0.8, 0.0), (0.8, 0.6), (0.4, 0.6)])
def test_an_impact_on_a_rod_rubs_its_pin(d, e):
    """J w = P d - c |M a w - P|, m (V - v) = P, w d - v = e V: the friction impulse is c times the impulse of the pin, which changes sides
    at the center of percussion, 0.7. Afterwards M a (w^2, w') loads the pin: w = w0 / (1 + k w0 t) with k / sqrt(1 + k^2) = c M a / J."""
    c, m, M, a, J, V = 0.1, 0.7, 2.0, 0.5, 0.2 + 2 * 0.25, 3.0
    found = lw.load(struck_rod(d, c, e)).simulate(0.5, tolerance=1e-12)
    hit = next(x for x in found.events if x.name == "hit touches")
    answers = []
    for side in (1.0, -1.0):
        w, P = np.linalg.solve([[J + side * c * M * a, -(d + side * c)], [d, 1.0 / m]], [0.0, (1.0 + e) * V])
        answers += [(w, P)] if side * (M * a * w - P) > 0.0 else []
    ((w, P),) = answers
    assert found["hit.impulse"].sum() == pytest.approx(P, rel=1e-10)
    loss = 0.5 * m * (V**2 - (V - P / m) ** 2) - 0.5 * J * w**2
    assert hit.values["energy lost"] == pytest.approx(loss, rel=1e-10) and hit.time == pytest.approx(0.1 / V, rel=1e-12)
    if e:
        i = int(np.searchsorted(found.t, hit.time + 1e-9))
        later, k = found.t[i:] - hit.time, c * M * a / J
        np.testing.assert_allclose(-found["A.v"][i:], w / (1.0 + k / np.sqrt(1.0 - k * k) * w * later), rtol=1e-9)
    assert found.certificate.ok and found.certificate.least_impact_loss >= 0.0


def test_a_rod_struck_near_its_pin_does_not_move():
    """Nearer to the pin than c the friction holds: P d <= c P. The ball bounces as off a wall."""
    for d, moves in ((0.0999, False), (0.1001, True)):
        found = lw.load(struck_rod(d, 0.1, 0.6)).simulate(0.2)
        assert (np.abs(found["A.v"]).max() > 1e-6) == moves
        if not moves:
            assert found["way.vy"][-1] == pytest.approx(0.6 * 3.0, rel=1e-12) and not np.any(found["A.v"])
            assert found["hit.impulse"].sum() == pytest.approx(0.7 * 1.6 * 3.0, rel=1e-12)


@pytest.mark.parametrize(("turns", "sticks"), [(-4.0, False), (-1.0, True)])
def test_an_impact_at_a_stop_rubs_another_joint(turns, sticks):
    """Two bars at right angles without weight; the second one is at its stop and drives on. M (w+ - w-) = e_B P - e_A s with the matrix of
    the double pendulum, s = c times the impulse of pin A, which is the change of all momentum, or less where A then stands."""
    c, e, l1, a1, a2, m1, m2 = 0.05, 0.4, 0.5, 0.2, 0.3, 1.5, 0.8
    model = {
        "plane": "xy", "units": ["m", "deg"], "gravity": [0, 0], "drawing": {"A": [0, 0], "B": [l1, 0], "C": [l1, a2]},
        "bodies": {
            "ground": {"pins": ["A"]},
            "first": {"pins": ["A", "B"], "mass": m1, "com": [a1, 0.0], "inertia": 0.02},
            "second": {"pins": ["B"], "points": ["C"], "mass": m2, "com": "C", "inertia": 0.01},
        },
        "friction": {"A": {"mu": 0.5, "radius": 2 * c}},
    }  # fmt: skip
    end = float(lw.load(model).system.start["B"])
    s = lw.load(model | {"stops": {"B": {"range": [-5, f"{end} rad"], "restitution": e}}}).system
    w = np.array([turns, 3.5])
    J1, J2 = np.array([[0.0, 0.0], [a1, 0.0]]), np.array([[-a2, -a2], [l1, 0.0]])  # velocities of both centers
    M = m1 * J1.T @ J1 + m2 * J2.T @ J2 + np.array([[0.02 + 0.01, 0.01], [0.01, 0.01]])
    A, wanted = np.linalg.inv(M), []
    for way in (1.0, -1.0):
        s_A, new = 0.0, w
        for _ in range(100):
            P = (-(1 + e) * w[1] + way * s_A * A[1, 0]) / A[1, 1]
            new = w + A @ [-way * s_A, P]
            s_A = c * np.linalg.norm((m1 * J1 + m2 * J2) @ (new - w))
        wanted += [new] if way * new[0] > 0.0 else []
    assert len(wanted) == (0 if sticks else 1)
    after = np.array([0.0, -e * w[1]]) if sticks else wanted[0]
    found = s.simulate(s.state(s.start.q, w), 0.01)
    np.testing.assert_allclose(found.v[0], after, rtol=1e-12, atol=1e-14)
    assert abs(after[0] - (w + A @ [0.0, -(1 + e) * w[1] / A[1, 1]])[0]) > 0.05  # without friction it is another motion


def test_a_pendulum_lands_and_rests_for_ever():
    """(w^2)' / 2 = (m g a cos - c |F|) / J while it falls, with the load of the pin by hand; then nothing moves any more."""
    c, m, a, J = 0.05, 2.0, 0.6, 0.3 + 2 * 0.36
    model = {
        "plane": "xy", "gravity": [0, -G], "drawing": {"A": [0, 0], "B": [1, 0]},
        "bodies": {
            "ground": {"pins": ["A"], "points": {"O": [0, -0.5]}},
            "arm": {"pins": ["A"], "points": ["B"], "mass": m, "com": [a, 0], "inertia": 0.3},
        },
        "surfaces": {"tip": {"circle": "arm.B", "radius": 0.05}, "floor": {"line": "ground.O", "normal": [0, 1]}},
        "contacts": {"hit": {"between": ["tip", "floor"], "mu": 0.3, "restitution": 0.4}},
        "friction": {"A": {"mu": 0.2, "radius": 5 * c}},
    }  # fmt: skip

    def falls(_: float, y: np.ndarray) -> list[float]:
        x, w = y  # downward
        dw = m * G * a * np.cos(x) / J
        for _ in range(14):  # radial and tangential load, weight included
            F = np.hypot(m * (w * w * a + G * np.sin(x)), m * (G * np.cos(x) - a * dw))
            dw = (m * G * a * np.cos(x) - c * F) / J
        return [w, dw]

    def lands(_: float, y: np.ndarray) -> float:
        return y[0] - np.arcsin(0.45)

    lands.terminal = True
    done = solve_ivp(falls, (0, 2), [0.0, 0.0], events=lands, rtol=1e-12, atol=1e-13, method="DOP853")
    found = lw.load(model).simulate(20.0, tolerance=1e-12, sample_interval=0.02)
    hits = [x for x in found.events if x.name == "hit touches"]
    assert hits[0].time == pytest.approx(float(done.t[-1]), abs=1e-10)
    assert hits[0].values["energy lost"] == pytest.approx(0.5 * J * (1 - 0.16) * float(done.y[1, -1]) ** 2, rel=1e-9)
    rest = found.t > 5.0
    assert np.abs(found["A.v"][rest]).max() < 1e-12 and np.ptp(found["A"][rest]) < 1e-12
    assert found["A"][-1] == pytest.approx(-np.arcsin(0.45), abs=1e-12) and found.certificate.ok
    assert found["hit.force"][-1] > 0.0 and found.certificate.touch_open < 1e-12


def two_blocks(mu: tuple[float, float], slope: float, gap: float, **more: Any) -> dict[str, Any]:
    """Blocks of 1 kg and 3 kg in guides down a slope, the first one above."""
    axis = [float(np.cos(slope)), -float(np.sin(slope))]
    first, second = np.zeros(2), (0.2 + gap) * np.array(axis)
    return {
        "plane": "xy", "gravity": [0, -G], "drawing": {"P": first.tolist(), "Q": second.tolist()},
        "bodies": {
            "ground": {}, "upper": {"points": ["P"], "mass": 1, "com": "P", "inertia": 0.1},
            "lower": {"points": ["Q"], "mass": 3, "com": "Q", "inertia": 0.1},
        },
        "joints": {
            "S": {"type": "prismatic", "between": ["ground", "upper"], "at": "P", "axis": axis},
            "T": {"type": "prismatic", "between": ["ground", "lower"], "at": "Q", "axis": axis},
        },
        "surfaces": {"a": {"circle": "upper.P", "radius": 0.1}, "b": {"circle": "lower.Q", "radius": 0.1}},
        "contacts": {"meet": {"between": ["a", "b"], "mu": 0.4}},
        "friction": {"S": {"mu": mu[0]}, "T": {"mu": mu[1]}}, **more,
    }  # fmt: skip


def test_two_blocks_meet_on_a_slope():
    """The lower one slides slower; they meet without bounce and go on, the upper one pushing with m M (mu' - mu) g cos / (m + M)."""
    slope, mu, gap = np.radians(30.0), (0.1, 0.3), 0.3
    found = lw.load(two_blocks(mu, slope, gap)).simulate(2.0, tolerance=1e-12)
    a1, a2 = (G * (np.sin(slope) - x * np.cos(slope)) for x in mu)
    t = np.sqrt(2 * gap / (a1 - a2))
    (hit,) = [x for x in found.events if x.name == "meet touches"]
    v = (a1 + 3 * a2) * t / 4
    assert hit.time == pytest.approx(t, rel=1e-12)
    assert hit.values["energy lost"] == pytest.approx(0.5 * 0.75 * ((a1 - a2) * t) ** 2, rel=1e-11)
    later = 2.0 - t
    assert found["S.v"][-1] == pytest.approx(v + 0.25 * (a1 + 3 * a2) * later, rel=1e-12) == found["T.v"][-1]
    assert found["meet.force"][-1] == pytest.approx(0.75 * (mu[1] - mu[0]) * G * np.cos(slope), rel=1e-11)
    assert found["S.friction"][-1] == pytest.approx(-mu[0] * G * np.cos(slope), rel=1e-12)
    assert found.certificate.ok and found.certificate.energy_imbalance < 1e-10


@pytest.mark.parametrize(("mu", "rests"), [(0.75, True), (0.70, False)])
def test_a_block_that_sticks_holds_another_one(mu, rests):
    """tan 30 deg = 0.577: the upper block alone slides (0.1), the lower one alone rests. Together they rest where the mean of their
    friction, weighed by their masses, is above the tangent; then for ever, after v^2 / (2 a)."""
    slope, gap = np.radians(30.0), 0.05
    found = lw.load(two_blocks((0.1, mu), slope, gap)).simulate(5.0)
    together = G * (np.sin(slope) - (0.1 + 3 * mu) / 4 * np.cos(slope))
    assert (together < 0.0) == rests or mu == 0.70
    a1 = G * (np.sin(slope) - 0.1 * np.cos(slope))
    v = np.sqrt(2 * a1 * gap) / 4
    if together < 0.0:
        assert found["T"][-1] - found["T"][0] == pytest.approx(v * v / (2 * -together), rel=1e-9)
        assert np.abs(found.v[-1]).max() < 1e-12 and found["meet.force"][-1] > 0.0
        assert found["meet.force"][-1] >= G * (np.sin(slope) - 0.1 * np.cos(slope)) - 1e-9  # what the upper one cannot hold itself
    else:
        t = 5.0 - np.sqrt(2 * gap / a1)
        assert found["T.v"][-1] == pytest.approx(v + together * t, rel=1e-9)
    assert found.certificate.ok


def pressing_slider(**more: Any) -> dict[str, Any]:
    """A slider-crank that rubs by its loads in three pins and in its slider, and pushes a plate on a spring, also along it."""
    pin = {"mu": 0.1, "radius": 0.02}
    return {
        "plane": "xy", "units": ["m", "deg"], "gravity": [0, -G],
        "drawing": {"A": [0, 0], "B": [0.1, 0.0], "C": [0.4, 0.0], "P": [0.42, 0.0], "K": [0.4, 0.0]},
        "bodies": {
            "ground": {"pins": ["A"]}, "crank": {"pins": ["A", "B"], "mass": 1}, "rod": {"pins": ["B", "C"], "mass": 1.5},
            "slide": {"pins": ["C"], "points": ["P"], "mass": 2, "com": "C", "inertia": 1e-3},
            "plate": {"points": ["K"], "mass": 0.5, "com": "K", "inertia": 1e-3},
        },
        "joints": {
            "S": {"type": "prismatic", "between": ["ground", "slide"], "at": "C", "axis": [1, 0]},
            "T": {"type": "prismatic", "between": ["ground", "plate"], "at": "K", "axis": [np.cos(0.2), np.sin(0.2)]},
        },
        "springs": {"s": {"joint": "T", "stiffness": "3000 N/m"}},
        "surfaces": {"nose": {"circle": "slide.P", "radius": 0.005}, "face": {"line": "plate.K", "normal": [-1, 0]}},
        "contacts": {"push": {"between": ["nose", "face"], "mu": 0.3}},
        "friction": {"A": pin, "B": pin, "C": {"mu": 0.2, "radius": 0.01}, "S": {"mu": 0.15, "coulomb": "5 N"}, "T": {"mu": 0.1}},
        **more,
    }  # fmt: skip


@pytest.mark.parametrize("method", ["dopri8", "rodas"])
def test_a_pressing_slider_crank_obeys_inverse_dynamics(method):
    """Five joints rub by their loads while the nose slides along the plate: the accelerations of the run need no torque in inverse
    dynamics of the same mechanism without contact, under the forces that the run gives for it. They are also the rates of its speeds:
    differences over 0.2 ms, to 1e-3 of the largest."""
    m = lw.load(pressing_slider())
    s = m.system
    run = s.simulate(s.assemble(q={"A": np.radians(-60.0)}, v={"A": 12.0}), 0.15, drive={}, integrator=method, sample_interval=2e-4)
    bare = {k: x for k, x in pressing_slider().items() if k not in ("contacts", "surfaces")}
    free = lw.load({**bare, "drive": {"A": "1 rad/s", "T": "1 m/s"}}).system
    both = np.flatnonzero((run["push.state"] == 2) & (np.abs(run["A.v"]) > 0.5) & (np.abs(run["T.v"]) > 1e-3) & (np.abs(run["S.v"]) > 1e-3))
    assert len(both) > 20
    inside = both[np.isin(both - 1, both) & np.isin(both + 1, both)]
    rates = (run["A.v"][inside + 1] - run["A.v"][inside - 1]) / 4e-4
    assert np.abs(rates - run["A.a"][inside]).max() < 1e-3 * np.abs(rates).max()
    for i in both[:: max(1, len(both) // 12)]:
        q, v = dict(zip(s.names.q, run.q[i], strict=True)), dict(zip(s.names.v, run.v[i], strict=True))
        st = free.state(np.array([q[n] for n in free.names.q]), np.array([v[n] for n in free.names.v]))
        force = np.array([-run["push.force"][i], -run["push.friction"][i], 0.0])  # normal (-1, 0), tangent (0, -1)
        x = np.array([run["slide.P.x"][i] + 0.005, run["slide.P.y"][i], 0.0])
        wrench = {}
        for body, sign in (("slide", 1.0), ("plate", -1.0)):
            arm = x - np.append(run[body][i], 0.0)
            wrench[body] = np.concatenate([np.cross(arm, sign * force), sign * force])
        loads = free.inverse(st, {"A": float(run["A.a"][i]), "T": float(run["T.a"][i])}, wrench=wrench)
        size = abs(force[0]) * 0.1
        assert abs(loads.tau["A"]) < 1e-9 * size and abs(loads.tau["T"]) < 1e-9 * abs(force[0]), (i, loads.tau, force)
    assert run.certificate.ok and run.certificate.friction_excess < 1e-12


def test_a_joint_that_locks_itself_is_refused_while_something_touches():
    """A rod leans on a block that slides toward its foot: Painleve's paradox in a guide from mu = 4/3 on. A ball lies on the floor."""
    for mu, answers in ((1.2, True), (1.5, False)):
        model = {
            "plane": "xy", "gravity": [0, -G], "drawing": {"F": [0, 0], "T": [1, 2], "O": [3, 0]},
            "bodies": {
                "ground": {"points": ["O"]}, "foot": {"points": ["F"], "mass": 1e-9, "com": "F", "inertia": 1e-9},
                "rod": {"points": ["F", "T"], "mass": 1, "com": [0.5, 1.0], "inertia": 5 / 12},
                "ball": {"points": ["O"], "mass": 1, "com": "O", "inertia": 0.1},
            },
            "joints": {
                "S": {"type": "prismatic", "between": ["ground", "foot"], "at": "F", "axis": [1, 0]},
                "F": {"type": "revolute", "between": ["foot", "rod"], "at": "F"},
                "base": {"type": "planar", "between": ["ground", "ball"], "at": "O"},
            },
            "surfaces": {"floor": {"line": "ground.O", "normal": [0, 1]}, "rim": {"circle": "ball.O", "radius": 0.0}},
            "contacts": {"lies": {"between": ["rim", "floor"], "mu": 0.3}},
            "friction": {"S": {"mu": mu}}, "start": {"S.v": -3.0},
        }  # fmt: skip
        m = lw.load(model)
        if answers:
            assert m.simulate(1e-3).certificate.ok
            continue
        with refused(lw.UsageError, name="S"):
            m.simulate(1e-3)


def test_what_touches_at_rest_never_pulls():
    """Both blocks can hold themselves. Equal shares of their bounds would let the upper one hold the lower one by a contact that pulls, so
    they touch without a force; with less friction the upper one leans on the lower one."""
    slope = np.radians(30.0)
    for mu, pushes in (((1.2, 0.8), False), ((0.6, 1.2), True)):
        found = lw.load(two_blocks(mu, slope, 0.0)).simulate(1.0)
        assert not np.any(found.v) and np.all(found["meet.force"] >= 0.0) and found.certificate.ok
        assert (found["meet.force"][-1] > 0.0) == pushes
        np.testing.assert_allclose(found["S.friction"] + found["T.friction"], -4 * G * np.sin(slope), rtol=1e-9)


@pytest.mark.parametrize("law", [{"mu": 0.3}, {"coulomb": 0.2}])
def test_a_rope_becomes_taut_while_joints_rub(law):
    """A double pendulum falls into a slack rope: energy with both losses, the length of the rope, and friction against speed."""
    lever = {"radius": 0.1} if "mu" in law else {}
    model = {
        "plane": "xy", "gravity": [0, -G], "drawing": {"A": [0, 0], "B": [1, 0], "C": [1.5, 0], "O": [0, 0.3]},
        "bodies": {
            "ground": {"pins": ["A"], "points": ["O"]}, "upper": {"pins": ["A", "B"], "mass": 1},
            "lower": {"pins": ["B"], "points": ["C"], "mass": 1, "com": [1.25, 0], "inertia": 0.02},
        },
        "rods": {"rope": {"between": ["ground.O", "lower.C"], "length": 1.55, "slack": True}},
        "friction": {name: {**law, **lever} for name in "AB"},
    }  # fmt: skip
    found = lw.load(model).simulate(2.0, tolerance=1e-11, sample_interval=0.005)
    assert found.events[0].name == "rope becomes taut" and found.events[0].values["energy lost"] > 1e-3
    assert (np.hypot(found["lower.C.x"], found["lower.C.y"] - 0.3) - 1.55).max() < 1e-12
    c = found.certificate
    assert c.ok and c.energy_imbalance < 1e-8 * c.energy_turned_over and c.friction_excess < 1e-12
    for name in "AB":
        assert (found[f"{name}.friction"] * found[f"{name}.v"]).max() <= 1e-9
