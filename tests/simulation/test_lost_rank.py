"""Rank lost along a smooth motion: three mechanisms whose motion is known by equations that are regular there.

delta-3ruu     one row lost, none redundant: the platform translates
three-cranks   one row lost, one redundant everywhere: a pendulum
sarrus         two rows lost when flat, one when stretched, one redundant everywhere: one degree of freedom
"""

from __future__ import annotations

import numpy as np
import pytest
import yaml

import linkwright as lw
from tests import ROOT
from tests.simulation.closed_forms import sarrus, three_cranks
from tests.simulation.translational_delta import Delta

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
    run = s.simulate(st, seconds, output=[seconds], **how)
    return float(np.abs(run["plat.Gplat"][-1] - right).max()), run


@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_delta_at_every_tolerance(delta, tolerance):
    error, run = delta_error(delta, (-0.33, 0.83, -0.52), 0.4, PLATFORM, tolerance=tolerance)
    assert error < allowed(tolerance) and run.checks().ok
    (passage,) = run.passages
    assert passage.kind == "rank" and passage.lost == 1 and passage.time == pytest.approx(0.32118, abs=1e-5)


@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_three_cranks_at_every_tolerance(cranks, tolerance):
    """-1 rad/s: stopped at 1e-11 when redundant rows were taken for passing ones."""
    run = cranks.simulate(cranks.assemble(v={"A": -1.0}), 3.0, tolerance=tolerance, output=[3.0])
    assert abs(run["A"][-1] - three_cranks(-1.0, 3.0)) < allowed(tolerance) and run.checks().ok
    assert [(p.kind, p.lost) for p in run.passages] == [("rank", 1)] * 4


@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_sarrus_with_certificate(linkage, tolerance):
    run = linkage.simulate(linkage.assemble(v={"a1": 0.5}), 1.0, tolerance=tolerance, output=[1.0])
    assert abs(run["top.T"][-1][2] - sarrus(1.0)) < allowed(tolerance) and run.checks().ok
    assert [p.lost for p in run.passages] == [2, 1, 2]  # flat, stretched, flat
    assert run.passages[0].time == pytest.approx(0.248405182, abs=1e-7) and run.passages[1].time == pytest.approx(0.405328958, abs=1e-7)


HOW = {
    **{f"{name} formulation": {"formulation": name} for name in ("kkt", "slm", "sslm", "nullspace", "projection", "auto")},
    **{f"{name} stabiliser": {"stabiliser": name} for name in ("project", "baumgarte", "post_adjust", "none")},
    "rk4": {"integrator": "rk4", "step": 1e-3},
    "rodas": {"integrator": "rodas", "tolerance": 1e-6},
}
ROUGH = {"rk4": 1e-5, "rodas": 1e-4, "baumgarte stabiliser": 1e-6, "none stabiliser": 1e-6}


@pytest.mark.parametrize("how", HOW)
def test_every_way_of_computing_passes(delta, cranks, linkage, how):
    limit = ROUGH.get(how, 2e-7)
    assert delta_error(delta, (-0.33, 0.83, -0.52), 0.4, PLATFORM, **HOW[how])[0] < limit
    run = cranks.simulate(cranks.assemble(v={"A": -1.0}), 1.5, output=[1.5], **HOW[how])
    assert abs(run["A"][-1] - three_cranks(-1.0, 1.5)) < limit
    run = linkage.simulate(linkage.assemble(v={"a1": 0.5}), 0.6, output=[0.6], **HOW[how])
    assert abs(run["top.T"][-1][2] - sarrus(0.6)) < limit


def test_smaller_steps_give_smaller_errors(delta):
    """rk4 got worse with smaller steps, because each step near the singular position moved the velocity off the branch."""
    errors = [delta_error(delta, (-0.33, 0.83, -0.52), 0.4, PLATFORM, integrator="rk4", step=h)[0] for h in (1e-3, 3e-4, 1e-4)]
    assert errors[0] < 1e-5 and errors[1] < 3e-8 and errors[2] < 1e-8  # the reference has eight digits


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
            run = cranks.simulate(cranks.assemble(v={"A": speed}), 3.0, tolerance=tolerance, output=[3.0])
            error = abs(run["A"][-1] - right)
            if not (error < allowed(tolerance) and run.passages):
                failed.append((speed, tolerance, error))
    assert not failed
