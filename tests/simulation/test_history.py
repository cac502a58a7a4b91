"""The same call gives the same bits: whatever was computed before, and however the clock cuts a time loop into slices."""

from math import pi

import numpy as np
import pytest

import linkwright as lw
from linkwright.integrators import integration
from linkwright.simulation import certificate_evidence
from tests.sweeps import sweep


def outcome(s, q, v, duration, **options):
    """Everything a run leaves behind, as bits and text."""
    joint = s.names.v[0]
    try:
        st = s.assemble(q={joint: q}, v={joint: v})
        run = s.simulate(st, duration, drive={joint: lw.drives.torque(3.0)}, sample_interval=None, **options)
        said = ""
    except lw.SimulationError as error:
        run, said = error.run, str(error)
    return st.q.tobytes(), st.v.tobytes(), run.t.tobytes(), run.q.tobytes(), run.v.tobytes(), run.a.tobytes(), said, str(run.checks())


@sweep("name", ["four-bar", "parallelogram-middle"], now=1)
@sweep("q", [pi, 0.3], now=1)  # a regular start, and the stretched position where several branches meet
def test_a_call_after_twelve_others_equals_the_first_one(name, q):
    asked = {"q": q, "v": -20.0, "duration": 0.05, "integrator": "dopri", "tolerance": 1e-7}
    s = lw.compile(name)
    first = outcome(s, **asked)
    rng = np.random.default_rng(12)
    for _ in range(12):
        method = str(rng.choice(["dopri", "dopri5"]))
        outcome(s, rng.uniform(0.2, 2.5), 10.0 * rng.normal(), 0.02, integrator=method, tolerance=10.0 ** rng.uniform(-10, -5))
    assert outcome(s, **asked) == first
    assert outcome(lw.compile(name), **asked) == first


@pytest.mark.slow
def test_slices_of_the_time_loop_do_not_show(monkeypatch):
    s = lw.compile("parallelogram-chain")
    st = s.assemble(q={"G0": 1.0}, v={"G0": 20.0})

    def run():
        done = s.simulate(st, 1.0, tolerance=1e-7)
        return done.q.tobytes(), done["B3"].tobytes(), str(done.checks())

    want = run()
    monkeypatch.setattr(integration, "SLICE_SECONDS", 0.0)  # a look at the keyboard after every step
    assert run() == want


def test_long_runs_are_digested_in_parts_of_fixed_length(monkeypatch):
    """Parts change nothing but memory: residuals, energies, branch and turns of the cut joint are those of the whole run."""
    s = lw.compile("slider-crank-equal")
    st = s.assemble(q={"A": 0.3}, v={"A": 40.0})

    def run():
        done = s.simulate(st, 1.0, drive={"A": lw.drives.torque(1.0)})
        return str(done.checks()), done["C.angle"].tobytes()

    want = run()
    monkeypatch.setattr(certificate_evidence, "BUFFERED", 800)
    monkeypatch.setattr(certificate_evidence, "PART", 100)
    assert run() == want


def test_a_hopeless_run_ends_at_a_step_and_not_at_a_time(monkeypatch):
    """An input a hundred million times faster than the run is long: it is given up after a number of steps, always the same one."""
    from linkwright.integrators import Problem, integrate, python_kernel

    def shaken(x):
        return np.array([1e4 * np.cos(1e8 * x[1])])

    def ends():
        done = integrate(Problem(python_kernel(shaken, 2, 1), 1, 0), [0.0], 0.0, 1.0, "dopri5", engine="python")
        return done.status, done.end_time, done.counters["steps"], done.counters["rejected"]

    first = ends()
    assert first[0] == "stuck"
    monkeypatch.setattr(integration, "SLICE_SECONDS", 1e-5)
    assert ends() == first
