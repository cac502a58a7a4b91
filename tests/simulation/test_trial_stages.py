"""A stage of a step is a trial: where the equations have no solution for it, the step is rejected, and the run does not end by it."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.simulation.run_batch import run_batch
from tests.refusals import refused
from tests.sweeps import sweep

CASES = Path(__file__).parent.parent / "data" / "trial_stages"
NAMES = ("hinge-and-ball", "loops-with-a-stop", "sliders-with-a-stop")  # a kink over 70 um/s; soft stops that a trial goes far beyond


def case(name):
    c = json.loads((CASES / f"{name}.json").read_text())
    s = lw.load(c["model"]).system
    return s, s.state(c["q"], c["v"]), c["duration"]


@sweep("name", NAMES, now=1)
def test_a_trial_beyond_all_proportion_does_not_end_a_run(name, recwarn):
    """These runs ended with "numbers overflow", "without inertia" and "a fault of the program". Rodas comes to the same motion."""
    s, st, duration = case(name)
    run = s.simulate(st, duration, sample_interval=0.01)
    other = s.simulate(st, duration, sample_interval=0.01, integrator="rodas")
    assert run.certificate.status == "finished" and run.certificate.ok
    # both estimate their errors below 1e-7; chaotic growth over 1.4 s takes up to 100 times of it
    np.testing.assert_allclose(run.q, other.q, atol=1e-5)
    assert not [w for w in recwarn if issubclass(w.category, RuntimeWarning)]


@pytest.mark.parametrize("options", [{"engine": "python"}, {"formulation": "nullspace"}, {"integrator": "dopri5", "tolerance": 1e-7}])
def test_in_every_engine_and_formulation(options):
    s, st, duration = case("hinge-and-ball")
    run, reference = s.simulate(st, duration, **options), s.simulate(st, duration, integrator="rodas")
    np.testing.assert_allclose(run.q[-1], reference.q[-1], atol=1e-5)


def test_in_a_batch():
    s, st, duration = case("hinge-and-ball")
    runs = run_batch(compiled_of(s), [st] * 3, duration, sample_interval=[duration])
    assert runs.ok.all()
    np.testing.assert_allclose(runs["state q"][:, -1], np.tile(s.simulate(st, duration).q[-1], (3, 1)), atol=1e-7)


def test_a_fixed_step_that_is_too_long_is_named_as_the_cause():
    """The kink is far steeper than the step is short: nothing feeds energy to the motion, and nothing overflows in the model."""
    s, st, duration = case("hinge-and-ball")
    with refused(lw.SimulationError, name="no answer") as caught:
        s.simulate(st, duration, integrator="rk4", step=0.01)
    assert not [w for w in ("overflow", "fault of the program", "runs away", "inertia") if w in str(caught.value)]
    assert "Leave out integrator= for adaptive steps" in str(caught.value)  # which the first test does


def test_numbers_that_a_function_cannot_take_reject_a_step():
    """exp of a trial speed overflows in Python's own arithmetic; at the speeds of the motion, below 10 rad/s, it does not."""
    s = lw.compile("four-bar")
    st, steep = s.assemble(v={"A": 9.0}), {"A": lw.drives.torque(lambda t, x: -math.expm1(70.0 * (float(x["A.v"]) - 9.0)))}
    run = s.simulate(st, 0.02, drive=steep, tolerance=1e-7)
    assert run.certificate.status == "finished" and run["A.v"].max() < 9.5


def test_an_error_that_stays_is_still_the_cause():
    """Where every shorter step meets it, what was raised ends the run, at the place where it begins."""

    def only_until(t):
        return 1.0 / (0.0 if t > 0.1 else 1.0)

    s = lw.compile("four-bar")
    with refused(lw.SimulationError, name="no answer") as caught:
        s.simulate(s.assemble(v={"A": 1.0}), 1.0, drive={"A": lw.drives.torque(only_until)})
    assert str(caught.value).startswith("t = 0.1 s:")  # steps shrink before it
