"""Rank lost along a smooth motion: three mechanisms whose motion is known by equations that are regular there.

delta-3ruu     one row lost, none redundant: the platform translates
three-cranks   one row lost, one redundant everywhere: a pendulum
sarrus         two rows lost when flat, one when stretched, one redundant everywhere: one degree of freedom
"""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from scipy.integrate import solve_ivp

import linkwright as lw
from linkwright.mechanics.formulations import FORMULATIONS
from linkwright.simulation.stabilizers import STABILIZERS
from tests import ROOT
from tests.refusals import refused
from tests.simulation.closed_forms import sarrus, three_cranks
from tests.simulation.translational_delta import Delta
from tests.sweeps import sweep

CASES = ROOT / "tests" / "data" / "passages"
TOLERANCES = [1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12]
PLATFORM = (-0.14162012, 0.20759998, -0.65841513)  # of delta-3ruu at 0.4 s by tests/simulation/translational_delta.py
SPEEDS = np.linspace(-4.0, -0.5, 29)


def allowed(tolerance: float) -> float:
    """Error at the end: the errors of some hundred steps add up; 2e-8 for what the references leave open and round-off grows to."""
    return max(1000.0 * tolerance, 2e-8)


@pytest.fixture(scope="module")
def delta():
    return lw.compile(lw.load(CASES / "delta-3ruu.yaml"))


@pytest.fixture(scope="module")
def cranks():
    return lw.compile(lw.load(CASES / "three-cranks.yaml"))


@pytest.fixture(scope="module")
def linkage():
    return lw.compile(lw.load(CASES / "sarrus.yaml"))


def delta_error(s, speeds, seconds, right, **how):
    st = s.assemble(v=dict(zip(("A0", "A1", "A2"), speeds, strict=True)))
    run = s.simulate(st, seconds, sample_interval=[seconds], **how)
    return float(np.abs(run["plat.Gplat"][-1] - right).max()), run


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_delta_at_every_tolerance(delta, tolerance):
    error, run = delta_error(delta, (-0.33, 0.83, -0.52), 0.4, PLATFORM, tolerance=tolerance)
    assert error < allowed(tolerance) and run.certificate.ok
    (passage,) = run.passages
    assert passage.kind == "rank" and passage.lost == 1 and passage.time == pytest.approx(0.32118, abs=1e-5)


@sweep("tolerance", TOLERANCES, now=[1e-6, 1e-12])
def test_three_cranks_at_every_tolerance(cranks, tolerance):
    """-1 rad/s: stopped at 1e-11 when redundant rows were taken for passing ones."""
    run = cranks.simulate(cranks.assemble(v={"A": -1.0}), 3.0, tolerance=tolerance, sample_interval=[3.0])
    assert abs(run["A"][-1] - three_cranks(-1.0, 3.0)) < allowed(tolerance) and run.certificate.ok
    assert [(p.kind, p.lost) for p in run.passages] == [("rank", 1)] * 4


@sweep("tolerance", TOLERANCES, now=[1e-09, 1e-12])
def test_sarrus_with_certificate(linkage, tolerance):
    run = linkage.simulate(linkage.assemble(v={"a1": 0.5}), 1.0, tolerance=tolerance, sample_interval=[1.0])
    assert abs(run["top.T"][-1][2] - sarrus(1.0)) < allowed(tolerance) and run.certificate.ok
    assert [p.lost for p in run.passages] == [2, 1, 2]  # flat, stretched, flat
    assert run.passages[0].time == pytest.approx(0.248405182, abs=1e-7) and run.passages[1].time == pytest.approx(0.405328958, abs=1e-7)


HOW = {
    **{f"{name} formulation": {"formulation": name} for name in (*FORMULATIONS, "auto")},
    **{f"{name} stabilizer": {"stabilizer": name} for name in STABILIZERS},
    "rk4": {"integrator": "rk4", "step": 1e-3},
    "rodas": {"integrator": "rodas", "tolerance": 1e-6},
}
ROUGH = {"rk4": 1e-5, "rodas": 1e-4, "baumgarte stabilizer": 1e-6, "none stabilizer": 1e-6}


@sweep("how", HOW, now=["auto formulation", "rk4", "rodas"])
def test_every_way_of_computing_passes(delta, cranks, linkage, how):
    limit = ROUGH.get(how, 2e-7)
    assert delta_error(delta, (-0.33, 0.83, -0.52), 0.4, PLATFORM, **HOW[how])[0] < limit
    run = cranks.simulate(cranks.assemble(v={"A": -1.0}), 1.5, sample_interval=[1.5], **HOW[how])
    assert abs(run["A"][-1] - three_cranks(-1.0, 1.5)) < limit
    run = linkage.simulate(linkage.assemble(v={"a1": 0.5}), 0.6, sample_interval=[0.6], **HOW[how])
    assert abs(run["top.T"][-1][2] - sarrus(0.6)) < limit


def test_smaller_steps_give_smaller_errors(delta):
    """rk4 got worse with smaller steps, because each step near the singular position moved the velocity off the branch."""
    errors = [delta_error(delta, (-0.33, 0.83, -0.52), 0.4, PLATFORM, integrator="rk4", step=h)[0] for h in (1e-3, 3e-4, 1e-4)]
    assert errors[0] < 1e-5 and errors[1] < 3e-8 and errors[2] < 1e-8  # the reference has eight digits


@sweep("beyond", [1e-6, 1e-4, 0.0], now=2)
def test_a_run_begins_in_a_singular_position(beyond):
    """Closed to 1e-13, a start there was off its branch by 2e-7, and no step could correct that. The branch is in the model's file."""
    s = lw.compile("change-point-four-bar")
    st = s.assemble(q={"A": np.pi + beyond}, v={"A": 3.0})
    assert st["A"] == pytest.approx(np.pi + beyond, abs=1e-14) and st["A.v"] == pytest.approx(3.0, abs=1e-14)
    run = s.simulate(st, 0.5, sample_interval=[0.0, 0.5])
    at_c = run["D"] - run["A"] - run["B"] - np.pi  # angle between rocker and coupler, less half a turn
    assert np.abs(np.sin(at_c / 2) ** 2 - 1.0 * 0.5 / (0.8 * 0.7) * np.cos(run["A"] / 2) ** 2).max() < 1e-10
    assert run["A"][-1] > 6.0 and run.certificate.ok  # more than half a turn, loops closed, energy conserved


def test_rest_in_a_singular_position_is_named_as_such():
    """The loops are closed to 1e-13 there, the singular value is 6e-7: neither zero nor of any use."""
    s = lw.compile("change-point-four-bar")
    with refused(lw.SimulationError, name="no answer"):
        s.simulate(s.assemble(q={"A": np.pi}), 0.5)


@sweep("gap", [-1e-6, 1e-6, 1e-8], now=1)
def test_links_that_just_miss_a_change_point_follow_the_bend(gap):
    """A ground link longer than at the change point turns the crank back, a shorter one lets it through."""
    s = lw.compile(lw.load("change-point-four-bar", l0=1.0 + gap))
    run = s.simulate(s.assemble(q={"A": 2.6}, v={"A": 6.0}), 0.1, tolerance=1e-8, sample_interval=[0.0, 0.1])
    assert (run["A.v"][-1] < 0.0) == (gap > 0.0)
    assert run.proof.sim.pieces[-1].solution.counters["fallbacks"] < 1000


def test_redundant_rows_that_drift_apart_are_no_passages(cranks):
    """Open by 1e-9, the redundant row looks independent; sign changes of its round-off were reported as seven more passages."""
    run = cranks.simulate(cranks.assemble(v={"A": -1.0}), 1.5, stabilizer="none", sample_interval=0.1)
    times = solve_ivp(lambda t, y: [y[1], 9.81 * 1.4 / 0.48 * np.sin(y[0])], (0, 1.5), [0, 1], events=lambda t, y: np.cos(y[0]), rtol=1e-10)
    assert [(p.kind, p.lost) for p in run.passages] == [("rank", 1)] * 2
    np.testing.assert_allclose([p.time for p in run.passages], times.t_events[0], atol=1e-6)
    np.testing.assert_allclose(run["singular.J"], cranks.simulate(run.at(0.0), 1.5, sample_interval=0.1)["singular.J"], atol=1e-6)


@sweep("how", [{"integrator": "rk4", "step": 2e-3}, {"tolerance": 1e-6}], now=1)
def test_loops_that_drift_open_are_named_where_nothing_closes_them(cranks, how):
    with refused(lw.SimulationError, name="not finite") as caught:
        cranks.simulate(cranks.assemble(v={"A": -1.0}), 12.0, stabilizer="none", **how)
    assert "tolerance=" not in str(caught.value) and "step=" not in str(caught.value) and not caught.value.run.checks().ok


@pytest.mark.slow
def test_delta_from_random_starts():
    s = lw.compile(lw.load(CASES / "delta-3ruu.yaml"))
    exact = Delta(yaml.safe_load((CASES / "delta-3ruu.yaml").read_text()))
    rng = np.random.default_rng(7)
    failed = []
    for speeds in rng.uniform(-1.5, 1.5, (30, 3)):
        right = s.start["plat.Gplat"] + exact.displacement(speeds, 0.6)
        for tolerance in TOLERANCES:
            error, run = delta_error(s, speeds, 0.6, right, tolerance=tolerance)
            if not (error < allowed(tolerance) and run.checks()):
                failed.append((speeds, tolerance, error))
    assert not failed


@pytest.mark.slow
def test_three_cranks_at_all_speeds(cranks):
    failed = []
    for speed in SPEEDS:
        right = three_cranks(speed, 3.0)
        for tolerance in TOLERANCES:
            run = cranks.simulate(cranks.assemble(v={"A": speed}), 3.0, tolerance=tolerance, sample_interval=[3.0])
            error = abs(run["A"][-1] - right)
            if not (error < allowed(tolerance) and run.passages):
                failed.append((speed, tolerance, error))
    assert not failed
