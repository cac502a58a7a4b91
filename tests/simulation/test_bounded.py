"""Runs near singular positions end within a bounded number of evaluations: at their end, or with a message."""

from math import pi

import numpy as np
import pytest

import linkwright as lw
from linkwright.compiler.callbacks import DEGENERATE
from linkwright.integrators import Problem, StepKernel, integrate, integration, python_kernel
from linkwright.simulation import time_stepping
from tests import ROOT
from tests.sweeps import sweep

CASES = ROOT / "tests" / "data" / "passages"

RUNS = {  # model: (start, speeds, torque, options, duration, evaluations at most)
    "bennett": ({}, {"A": 5.0}, 2.0, {"integrator": "rodas", "tolerance": 1e-6}, 0.37, 20_000),
    "parallelogram-chain": ({"G0": pi}, {"G0": -57.7}, 6.5, {"integrator": "rodas", "tolerance": 2.6e-5}, 0.05, 40_000),
    "rssr-7r": ({}, {"crank": 15.0}, 2.0, {"integrator": "rodas", "tolerance": 8e-12}, 0.1, 60_000),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_runs_that_crept_or_broke(name):
    q, v, torque, options, duration, most = RUNS[name]
    s = lw.compile(name)
    joint = next(iter(v))
    try:
        run = s.simulate(s.assemble(q=q, v=v), duration, drive={joint: lw.drives.torque(torque)}, **options)
    except lw.SimulationError as error:
        run = error.run
        assert "ValueError" not in str(error) and "fault of the program" not in str(error)
    counters = run.proof.sim.pieces[-1].solution.counters
    assert counters["evaluations"] + counters["fallbacks"] < most
    assert run.certificate.status in ("finished", "failed", "open", "stuck")


@sweep("tolerance", [1e-8, 1e-11], now=1)
@sweep(("name", "speeds"), [("three-cranks", {"A": -1.0}), ("sarrus", {"a1": 0.5})], now=1)
def test_a_certificate_takes_no_more_evaluations_than_three_runs(monkeypatch, name, speeds, tolerance):
    """Two more runs for the error, finer ones where steps are few, and one step for each passage."""
    counted = []

    def counting(*args, **options):
        done = integrate(*args, **options)
        counted.append(done.counters["evaluations"] + done.counters["fallbacks"])
        return done

    for module in (time_stepping, time_stepping):
        monkeypatch.setattr(module, "integrate", counting)
    s = lw.compile(lw.load(CASES / f"{name}.yaml"))
    run = s.simulate(s.assemble(v=speeds), 1.0, tolerance=tolerance)
    own = sum(counted)
    assert run.certificate.ok and len(run.passages) > 1 and sum(counted) - own <= 3 * own


def test_a_run_that_creeps_by_the_rank_revealing_path_is_given_up(monkeypatch):
    """Every evaluation is answered by the second kernel, and the rates oscillate a million times in the run."""
    monkeypatch.setattr(integration, "WINDOWS", {"fallbacks": (2000, 1e5)})
    slow = python_kernel(lambda x: np.array([1e4 * np.cos(1e7 * x[1])]), 2, 1)

    def refused(x, y, w):
        return DEGENERATE

    rates = StepKernel(2, 1, 0, refused, 1, slow)
    done = integrate(Problem(rates, 1, 0), [0.0], 0.0, 1.0, "dopri5", engine="python")
    assert done.status == "stuck" and done.counters["fallbacks"] < 2000 + 7 * integration.LOOK_AFTER
