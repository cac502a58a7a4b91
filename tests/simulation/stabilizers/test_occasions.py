"""Projection in the Euclidean metric, positions only, every n steps and above a gap: what is corrected, when, and what a run says of it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.kernels.kernels import Variant
from linkwright.mechanics.formulations import FORMULATIONS
from linkwright.mechanics.kinematics.motion import displaced
from linkwright.rings import cli
from linkwright.simulation.run_batch import run_batch
from linkwright.simulation.stabilizers import Project, create
from linkwright.simulation.stabilizers.dependent import difference
from tests.integrators.problems import ADAPTIVE
from tests.refusals import refused
from tests.sweeps import sweep

STEP = 0.002  # s: loops of the robot drift by 1e-10 to 1e-9 of its size in a step
VOLTS = {"A1": lw.drives.voltage("5 V"), "A2": lw.drives.voltage("-5 V"), "A3": lw.drives.voltage("5 V")}
PUBLISHED = lw.stabilizers.project(metric="euclidean", velocities=False)  # [Aghili2005 (36), (37)]


@cache
def model(name, engine=None):
    return lw.compile(lw.load(name), **({"engine": engine} if engine else {}))


def disturbed(s, seed, size=1e-3):
    rng, c = np.random.default_rng(seed), compiled_of(s).loops.columns
    return displaced(compiled_of(s).skel, s.start.q, size * c * rng.normal(size=s.tree.nv)), 0.3 * c * rng.normal(size=s.tree.nv)


def run(stabilizer, duration=0.1, **options):
    s = model("3-rrr-motors")
    return s.simulate(
        s.start, duration, drive=VOLTS, **{"integrator": "rk4", "step": STEP, "sample_interval": "steps", **options}, stabilizer=stabilizer
    )


def gaps(found):
    """Largest gap of positions after every step, dimensionless."""
    loops = compiled_of(model("3-rrr-motors")).loops
    states = [found.state(i) for i in range(len(found))]
    return np.array([np.abs(loops.at(st.q, st.v, st.t, st.references).phi / loops.row_scale).max() for st in states])


@sweep("name", ["carpet-scraper", "parallelogram-middle", "excavator", "stewart"], now=3)
@pytest.mark.parametrize("engine", [None, "python"])
def test_one_step_is_the_pseudo_inverse_of_the_dimensionless_jacobian(name, engine):
    """By numpy's pinv, with lengths in the mechanism's size; quaternions, sliding joints and redundant rows among them."""
    s = model(name, engine)
    q, v = disturbed(s, 4, 1e-5)
    found = Project("euclidean").correction(s.kernels, s.start.q, s.start.references)
    done = found.kernel(q, v, tau=np.zeros(s.tree.nv))
    at, c, r = compiled_of(s).loops.at(q, v, 0.0, s.start.references), compiled_of(s).loops.columns, compiled_of(s).loops.row_scale
    keep = list(range(len(r)) if s.kernels.plan.keep is None else s.kernels.plan.keep)
    inverse = np.linalg.pinv((at.J * c / r[:, None])[keep])
    np.testing.assert_allclose(difference(compiled_of(s).skel, done.q, q) / c, -inverse @ (at.phi / r)[keep], atol=1e-12)
    np.testing.assert_allclose((done.v - v) / c, -inverse @ ((at.J @ v + at.b) / r)[keep], atol=1e-11)
    assert done.residual[0] == pytest.approx(np.abs((at.phi / r)[keep]).max(), rel=1e-9)


def test_the_two_metrics_move_different_coordinates_by_least_amounts():
    """Each is shorter in its own metric; positions only leaves the velocity to the last bit."""
    s = model("carpet-scraper")
    q, v = disturbed(s, 2, 1e-5)
    steps = {}
    for metric in ("mass", "euclidean"):
        for velocities in (True, False):
            x = Project(metric, velocities).correction(s.kernels, s.start.q, s.start.references)
            done = x.kernel(q, v, tau=np.zeros(7))
            steps[metric] = difference(compiled_of(s).skel, done.q, q)
            assert (done.v == v).all() != velocities
            assert (np.asarray(x.answer({"q": q, "v": v, "t": np.zeros(1)})["v"]) == v).all() != velocities
    M, c = s.terms(s.start).M, compiled_of(s).loops.columns
    lengths = {k: (x @ M @ x, (x / c) @ (x / c)) for k, x in steps.items()}
    assert lengths["mass"][0] < 0.9 * lengths["euclidean"][0] and lengths["euclidean"][1] < 0.9 * lengths["mass"][1]


@pytest.mark.parametrize("engine", ["native", "python"])
@pytest.mark.parametrize("stabilizer", ["project(every=5)", "project(metric=euclidean, every=5)", "post_adjust(A=1e9, every=5)"])
def test_every_fifth_step_is_corrected_and_no_other(stabilizer, engine):
    """Between corrections the steps are those of a run without any, to the last bit."""
    found = run(stabilizer, 24 * STEP, engine=engine)
    open_by = gaps(found)
    fifth = np.arange(len(open_by)) % 5 == 0
    assert open_by[fifth].max() < 1e-14 < 1e-12 < open_by[5:][~fifth[5:]].min()
    free = run("none", 4 * STEP, engine=engine)
    np.testing.assert_array_equal(found.q[:5], free.q)
    assert (found.q[5] != run("none", 5 * STEP, engine=engine).q[5]).any()


def test_loops_are_corrected_above_a_gap_only():
    bound = 2e-11
    found = run(f"project(above={bound})", 60 * STEP)
    open_by = gaps(found)
    calls = sum(p.solution.counters["projections"] for p in found.proof.sim.pieces)
    corrected = open_by[1:] < 1e-14
    assert open_by.max() <= bound and 0 < corrected.sum() < 30 and calls == 2 * corrected.sum()
    assert run("project(above=1)").q.tolist() == run("none").q.tolist()


@pytest.mark.parametrize("stabilizer", [PUBLISHED, "project(every=7)", "post_adjust(every=3)", "project(above=1e-10)"])
@sweep("integrator", ADAPTIVE, later=["dopri5"])
def test_adaptive_runs_are_as_exact_as_with_every_step_corrected(stabilizer, integrator):
    """Corrections that belong to several steps are not refused as jumps; samples and events inside steps included."""
    how = {"integrator": integrator, "step": None, "sample_interval": np.linspace(0.0, 0.3, 31)}
    found, exact = run(stabilizer, 0.3, **how), run("project", 0.3, **{**how, "integrator": "dopri", "tolerance": 1e-12})
    assert found.certificate.refused == 0 and np.abs(found.q - exact.q).max() < 1e-5


def test_corrections_of_many_steps_are_no_jumps():
    """After a hundred steps the correction is far above the error of the last; refused, the run would end at 1.9 s."""
    s = model("carpet-scraper")
    found = s.simulate(s.assemble({"J1": 0.3}, {"J1": 4.0}), 3.0, tolerance=1e-7, stabilizer="project(every=100)", sample_interval=3.0)
    assert found.certificate.status == "finished" and found.certificate.refused == 0


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_any_formulation(formulation):
    found = run(lw.stabilizers.project(metric="euclidean", velocities=False, every=4), 12 * STEP, formulation=formulation)
    np.testing.assert_allclose(found.q[-1], run("project", 12 * STEP).q[-1], atol=1e-9)


@pytest.mark.parametrize(
    "stabilizer", ["project(metric=euclidean, every=4)", "project(above=1e-9)", "post_adjust(every=3)", "baumgarte+project(every=2)"]
)
@pytest.mark.parametrize("runs", [3, 8])
def test_batches_have_the_bits_of_single_runs(stabilizer, runs, monkeypatch):
    """In lanes or one by one."""
    from linkwright.integrators import parallel_runs

    monkeypatch.setattr(parallel_runs, "STAGES_FOR_LANES", 400)
    blocks = []
    call = parallel_runs._Worker.call
    monkeypatch.setattr(parallel_runs._Worker, "call", lambda self, lanes: (blocks.append(lanes), call(self, lanes))[1])
    s = model("carpet-scraper")
    starts = [s.assemble({"J1": 0.2 + 0.01 * i}, {"J1": 2.0}) for i in range(runs)]
    how = {"integrator": "rk4", "step": 1e-3, "stabilizer": stabilizer, "sample_interval": np.linspace(0.0, 0.05, 9)}
    batch = run_batch(compiled_of(s), starts, 0.05, threads=1, **how)
    for i in (0, runs - 1):
        np.testing.assert_array_equal(batch["state q"][i], s.simulate(starts[i], 0.05, **how).q)
    assert set(blocks) == {8 if runs == 8 else 1}


def test_prescribed_motions_and_free_numbers():
    """Rows of drivers are corrected as those of loops are."""
    s = model("3-rrr-motors")
    kernels = s.kernels.variant(Variant(drivers=("A1",)))
    q, v = disturbed(s, 6, 1e-6)
    found = Project("euclidean").correction(kernels, s.start.q, s.start.references)
    law = {"drive": q[:1] + 2e-6, "speed": np.array([0.7]), "acceleration": np.zeros(1)}
    done = found.kernel(q, v, tau=np.zeros(6), **law)
    assert done.q[0] == pytest.approx(q[0] + 2e-6, abs=1e-12) and done.v[0] == pytest.approx(0.7, abs=1e-12)


def test_a_run_says_that_loops_were_open():
    """The certificate measures every step, so that a rare correction is seen; corrections after every step stay without a note."""
    often = run("project")
    assert often.certificate.ok and not _about_loops(often)
    for stabilizer in ("project(every=10)", "post_adjust(above=1e-5)"):
        found = run(stabilizer, 0.5)
        c = found.certificate
        assert c.position_residual > 1e-9 and not c.ok and not c.checks()["loops"]
        assert found.certificate.position_residual == pytest.approx(gaps(found).max(), rel=1e-6)
        (note,) = _about_loops(found)
        assert "after every" in note and "step" in note and note in str(c)
        assert found.settings["stabilizer"]["every"] in (1, 10) and create(stabilizer).text in c.stabilizer
    positions = run(PUBLISHED, 0.5)
    checks = positions.certificate.checks()
    assert checks["loops"] and not checks["velocities"] and "of positions" in _about_loops(positions)[0]


def _about_loops(found):
    return [n for n in found.notes if "loops may be open" in n]


def test_derivatives_of_a_run_are_those_of_the_default_only():
    s = model("carpet-scraper")
    found = s.simulate(s.assemble({"J1": 0.3}, {"J1": 4.0}), 0.01, stabilizer="project(every=2)")
    with refused(lw.UsageError, name="integrator"):
        found.derivatives(["crank.mass"])


def test_the_command_line_takes_options(capsys):
    assert (
        cli.main(
            [
                "simulate",
                "slider-crank-equal",
                "0.2",
                "--undriven",
                "--stabilizer",
                "project(metric=euclidean, every=3)",
                "--step",
                "10 ms",
                "--integrator",
                "rk4",
            ]
        )
        == 0
    )
    assert "Euclidean metric after every 3rd step" in " ".join(capsys.readouterr().out.split())
    assert cli.main(["simulate", "slider-crank-equal", "0.2", "--stabilizer", "project(metric=taxi)"]) != 0
    assert "no metric 'taxi'" in capsys.readouterr().err
