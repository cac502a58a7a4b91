"""Rigid stops that rest together: shares of the load by hand and by Newton-Euler, one code for every set, controllers of one's own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.compiler.graph import TraceGraph
from tests.sweeps import sweep

GRIPPER = {
    "plane": "xy",
    "units": ["mm", "kg", "deg", "N"],
    "drawing": {"S": [0, 0], "P": [30, 25], "Q": [30, -25]},
    "bodies": {
        "ground": {},
        "piston": {"pins": ["S"], "mass": 0.2},
        "up": {"pins": ["S", "P"], "mass": 0.05},
        "down": {"pins": ["S", "Q"], "mass": 0.05},
        "jawU": {"pins": ["P"], "mass": 0.3},
        "jawD": {"pins": ["Q"], "mass": 0.3},
    },
    "joints": {
        "rod": {"type": "prismatic", "between": ["ground", "piston"], "at": "S", "axis": [1, 0]},
        "upper": {"type": "prismatic", "between": ["ground", "jawU"], "at": "P", "axis": [0, 1]},
        "lower": {"type": "prismatic", "between": ["ground", "jawD"], "at": "Q", "axis": [0, 1]},
    },
    "stops": {"upper": {"min": -15}, "lower": {"max": 15}},
    "drive": {"rod": "-100 N"},
}


def test_a_symmetric_gripper_shares_its_load():
    """Half of 100 N by each link; at rest the links reach from (x, 0) to (30, 10) mm with x from their length."""
    run = lw.load(GRIPPER).simulate(0.06)
    by_hand = 50.0 * 10.0 / np.sqrt(30.0**2 + 25.0**2 - 10.0**2)
    assert run["upper.stop.force"][-1] == pytest.approx(by_hand, rel=1e-9)
    assert run["lower.stop.force"][-1] == pytest.approx(-by_hand, rel=1e-9)
    assert run["P.load"][-1] == pytest.approx(run["Q.load"][-1], rel=1e-9)
    assert run["rod.load"][-1] == pytest.approx(0.0, abs=1e-7)  # no side load on the piston's guide
    assert not any(row.unique for row in run.bearings().rows)
    assert not run._each_loads[-1].tau_unique["upper"] and not run._each_loads[-1].tau_unique["lower"]
    assert any("'upper', 'lower' rest together" in note for note in run.notes)
    loads = run.checks()["loads"]
    assert loads.verdict == "unknown" and "drives" not in loads.text
    assert "stops that rest together share their push: lower, upper" in loads.text
    before = lw.load(GRIPPER).simulate(0.01)  # in the air everything is determinate, and the channels are there
    assert all(row.unique for row in before.bearings().rows) and not before["upper.stop.force"].any() and not before.notes


def test_stops_that_do_not_depend_on_each_other_are_unique():
    run = lw.load(chain(2)).simulate(1.0)
    assert run["A0.stop.torque"][-1] != 0.0 != run["A1.stop.torque"][-1]
    assert all(row.unique for row in run.bearings().rows) and not run.notes


# -------------------------------------------------------------------- against Newton-Euler


def star(rng, count):
    """A piston that pushes several jaws by a link each; every jaw is at a stop in the direction in which the piston drives it."""
    drawing, bodies, joints, stops, force = {}, {"ground": {}}, {}, {}, float(rng.uniform(50.0, 150.0))
    piston, ends, sides = [], [], []
    for i in range(count):
        turn = 2.0 * np.pi * (i + rng.uniform(-0.2, 0.2)) / count + 0.4
        S = np.array([0.02 * i, rng.uniform(-0.02, 0.02)])
        P = S + rng.uniform(0.1, 0.2) * np.array([np.cos(turn), np.sin(turn)])
        axis = np.array([np.cos(turn + rng.uniform(-0.6, 0.6)), np.sin(turn + rng.uniform(-0.6, 0.6))])
        axis /= np.linalg.norm(axis)
        drawing |= {f"S{i}": S.tolist(), f"P{i}": P.tolist()}
        piston.append(f"S{i}")
        bodies |= {f"link{i}": {"pins": [f"S{i}", f"P{i}"], "mass": 0.2}, f"jaw{i}": {"pins": [f"P{i}"], "mass": 0.4, "inertia": 1e-3}}
        joints[f"J{i}"] = {"type": "prismatic", "between": ["ground", f"jaw{i}"], "at": f"P{i}", "axis": axis.tolist()}
        side = np.sign((P - S)[0] / ((P - S) @ axis))  # of the jaw's way for a way of the piston along x
        stops[f"J{i}"] = {"max": 0.0} if side > 0 else {"min": 0.0}
        ends.append((S, P, axis))
        sides.append(side)
    bodies["piston"] = {"pins": piston, "mass": 0.5, "com": "S0", "inertia": 1e-3}
    joints["rod"] = {"type": "prismatic", "between": ["ground", "piston"], "at": "S0", "axis": [1, 0]}
    model = {"plane": "xy", "gravity": [0, -9.81], "drawing": drawing, "bodies": bodies, "joints": joints, "stops": stops}
    return {**model, "drive": {"rod": f"{force!r} N"}}, ends, np.array(sides), force


def least_by_statics(ends, sides, force, kappa):
    """Pushes along the axes from the balance of every body by itself, of least sum of F^2 + (M / kappa)^2 over guides, pins and stops.

    Unknowns: guide of the piston (force along y, moment), then for every jaw its pins S and P (forces on the link and on the jaw), its
    guide (force across the axis, moment) and its stop.
    """
    n, rows, right = 2 + 7 * len(ends), [], []

    def cross(r):  # moment of a force (x, y) at r
        return np.array([-r[1], r[0]])

    piston = np.zeros((3, n))
    piston[1, 0], piston[2, 1] = 1.0, 1.0
    for i, (S, P, axis) in enumerate(ends):
        at, link, jaw, across = 2 + 7 * i, np.zeros((3, n)), np.zeros((3, n)), np.array([-axis[1], axis[0]])
        piston[:2, at : at + 2], piston[2, at : at + 2] = -np.eye(2), -cross(S - ends[0][0])
        link[:2, at : at + 2], link[:2, at + 2 : at + 4] = np.eye(2), -np.eye(2)
        link[2, at + 2 : at + 4] = -cross(P - S)
        jaw[:2, at + 2 : at + 4], jaw[:2, at + 4], jaw[2, at + 5], jaw[:2, at + 6] = np.eye(2), across, 1.0, axis
        rows += [link, jaw]
        right += [[0.0, 0.2 * 9.81, (0.5 * (P - S))[0] * 0.2 * 9.81], [0.0, 0.4 * 9.81, 0.0]]
    A = np.concatenate([piston, *rows])
    b = np.concatenate([[-force, 0.5 * 9.81, 0.0], *right])
    size = np.ones(n)
    size[[1, *(2 + 7 * i + 5 for i in range(len(ends)))]] = kappa
    x = np.linalg.lstsq(A * size, b, rcond=None)[0]
    assert np.abs(A * size @ x - b).max() < 1e-9 * force
    stop = [2 + 7 * i + 6 for i in range(len(ends))]
    if (sides * x[stop] > 0.0).any():  # one would have to pull: the same with one-sided stops
        null = np.linalg.svd(A * size)[2][len(A) :].T
        limits = {"type": "ineq", "fun": lambda y: -sides * (x + null @ y)[stop], "jac": lambda y: -sides[:, None] * null[stop]}
        found = minimize(lambda y: y @ y, np.zeros(null.shape[1]), jac=lambda y: 2.0 * y, constraints=limits, method="SLSQP", tol=1e-14)
        x = x + null @ found.x
    return x[stop]


@sweep(("seed", "count"), [(1, 2), (5, 4), (2, 2), (3, 3), (4, 3)], now=1)
def test_random_mechanisms_against_newton_euler(seed, count):
    """The balance of every body by itself, in another formulation and with another solver; 1e-7 is what SLSQP ends with."""
    model, ends, sides, force = star(np.random.default_rng(seed), count)
    m = lw.load(model)
    run = m.simulate(0.02, sample_interval=0.01)
    wanted = least_by_statics(ends, sides, force, compiled_of(lw.compile(m)).loops.kappa)
    found = [run[f"J{i}.stop.force"][-1] for i in range(count)]
    np.testing.assert_allclose(found, wanted, atol=1e-7 * force)
    assert np.abs(run.v).max() < 1e-12
    if np.count_nonzero(np.abs(wanted) > 1e-6 * force) > 1:
        assert not all(row.unique for row in run.bearings().rows)


# -------------------------------------------------------------------- one code for every set


def chain(count):
    """Arms that hang on each other, every hinge between two stops: a robot's arm that falls into its limits."""
    drawing = {f"A{i}": [0.3 * i, 0] for i in range(count + 1)}
    bodies = {"ground": {"pins": ["A0"]}}
    for i in range(count):
        last = {"points": [f"A{i + 1}"]} if i == count - 1 else {}
        bodies[f"arm{i}"] = {"pins": [f"A{i}", *([] if last else [f"A{i + 1}"])], **last, "mass": 1.0 + 0.3 * i}
    stops = {f"A{i}": {"range": [-0.3 - 0.2 * i, 0.4]} for i in range(count)}
    return {"plane": "xy", "gravity": [0, -9.81], "drawing": drawing, "bodies": bodies, "stops": stops}


def sets_of(run):
    """Distinct sets of stops that push."""
    pushes = np.array([run[name] != 0.0 for name in run.channels if ".stop." in name])
    return {tuple(x) for x in pushes.T if x.any()}


def test_no_set_of_stops_is_traced_again(monkeypatch):
    s = lw.compile(lw.load(chain(4)))
    first = s.simulate(s.start, 0.3)
    assert len(sets_of(first)) >= 1 and first.checks().ok
    made, program = [], TraceGraph.program
    monkeypatch.setattr(TraceGraph, "program", lambda *x, **y: made.append(x) or program(*x, **y))
    run = s.simulate(s.start, 1.0)
    assert len(sets_of(run)) >= 4 > len(sets_of(first))
    assert not made  # neither rates, corrections and responses, nor what is watched, nor drives
    assert run.checks().ok


def test_a_control_law_in_a_run_that_meets_stops():
    """A law without a reference, sampled or not, also as a plain function; the push at rest balances weight and the law's torque."""
    for i, law in enumerate((
        lambda t, st: {"A0": 1.0, "A1": -0.1 * st["A1.v"]},
        lw.control.control_law(lambda t, st: {"A0": 1.0, "A1": -0.1 * st["A1.v"]}, drives=["A0", "A1"], every="10 ms"),
    )):  # fmt: skip
        m = lw.load({**chain(2), "drive": ["A0", "A1"]})
        run = m.simulate(0.7, sample_interval=0.1, control=law)
        still = lw.compile(m)
        u = still.inverse(still.assemble({"A0": run["A0"][-1], "A1": run["A1"][-1]})).u
        assert run["A0.stop.torque"][-1] + 1.0 == pytest.approx(u[0], rel=1e-6), i
        assert run["A1.stop.torque"][-1] == pytest.approx(u[1], rel=1e-6), i
        assert run.checks().ok


def test_a_control_law_continues_after_any_switch():
    """The same with a joint that is locked on the way: nothing here is about stops alone."""
    m = lw.load({**chain(2), "stops": {}, "drive": ["A0"]})
    law = lw.control.control_law(lambda t, st: {"A0": -0.1 * st["A0.v"]}, drives=["A0"])
    run = m.simulate(0.5, control=law, events=[lw.events.when("t", 0.2, do=lw.events.lock("A1"))])
    assert run.t[-1] == 0.5 and run["A1.v"][-1] == pytest.approx(0.0, abs=1e-12)
