"""Mechanisms in the time loops: reference motions, energy, singular passages, stabilizers, turns of cut joints, events."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.integrate import solve_ivp

import linkwright as lw
from benchmarks.bench import known_motions
from linkwright.api import compiled_of
from linkwright.errors import ChannelError, UsageError
from linkwright.mechanics.closing.newton import consistent_velocity
from linkwright.mechanics.dynamics.terms import terms
from linkwright.mechanics.formulations.forward import forward
from linkwright.mechanics.kinematics.motion import qdot
from linkwright.model import library as models
from linkwright.results.state import State
from linkwright.simulation.events import When
from linkwright.simulation.kernel_rows import RowLayout
from linkwright.simulation.time_stepping import march, problem
from tests.integrators.problems import every_method
from tests.reference import load
from tests.refusals import refused
from tests.simulation.closed_forms import slider_crank
from tests.sweeps import sweep

SCRAPER = load("saha")["carpet_scraper"]["forward_dynamics"]["A_R"]


@pytest.fixture(scope="module")
def scraper():
    s = lw.compile(lw.load("carpet-scraper"), cuts=["J8", "J9", "J10"])
    return s, s.assemble({"J1": 0.0}, {"J1": 4.7124})


@pytest.fixture(scope="module")
def crank():
    return lw.compile(lw.load("slider-crank-equal"))


@pytest.fixture(scope="module")
def change_point():
    return lw.compile(lw.load("change-point-four-bar"))


def total(run):
    return (run.energy.kinetic + run.energy.potential)[:, 0]


def gap(s, run, every=7):
    """Largest dimensionless residual of the loops on the way."""
    return max(np.abs(s.closure(run.state(i)).phi / compiled_of(s).loops.row_scale).max() for i in range(0, len(run.t), every))


# -------------------------------------------------------------------- reference motions


def test_the_scraper_moves_as_the_reference_says(scraper):
    s, st = scraper
    states = SCRAPER["states"]
    run = march(compiled_of(s), st, 1.0, tolerance=1e-10, samples=[x["t"] for x in states])
    assert run.solution.check().counters["fallbacks"] == 0
    assert len(states) == 3
    for i, x in enumerate(states):  # references of 20 digits
        assert run["J1"][i] == pytest.approx(x["theta1"], abs=1e-9)
        assert run["J1.v"][i] == pytest.approx(x["theta1_dot"], abs=1e-9)
        turned = run.q[i] - np.array(x["theta_rel"])
        np.testing.assert_allclose(turned - 2 * np.pi * np.round(turned / (2 * np.pi)), 0.0, atol=1e-9)


def test_energy_of_the_scraper_stays(scraper):
    s, st = scraper
    run = march(compiled_of(s), st, 5.0, tolerance=1e-10)
    assert run.solution.status == "finished" and run.t[-1] == 5.0
    assert np.abs(total(run) - SCRAPER["energy_J"]).max() < 1e-8
    assert run.solution.counters["position residual"] < 3e-13 and gap(s, run, 50) < 1e-13
    turning = SCRAPER["turning_points_rad"]
    assert run["J1"].min() >= turning[0] - 1e-9 and run["J1"].max() <= turning[1] + 1e-9


@pytest.mark.slow
def test_a_stewart_platform_keeps_energy_and_unit_quaternions():
    s = lw.compile(lw.load("stewart"))
    rng = np.random.default_rng(2)
    v = consistent_velocity(compiled_of(s).loops, s.start.q, rng.normal(size=s.tree.nv), s.start.references)
    st = State(compiled_of(s).skel, s.start.q, v, s.start.references)
    run = march(compiled_of(s), st, 0.5, tolerance=1e-11)
    E = total(run)
    assert np.ptp(E) < 1e-8 * np.abs(run.energy.kinetic).max()
    first = problem(compiled_of(s)).quaternions[0]
    assert np.abs(np.linalg.norm(run.q[:, first : first + 4], axis=1) - 1.0).max() < 1e-15
    assert np.abs(run.q[-1, first : first + 4] - run.q[0, first : first + 4]).max() > 0.01, "the platform turns"

    def rates(t, y):
        q, v = np.split(y, [s.tree.nq])
        at = State(compiled_of(s).skel, q, v, st.references, t)
        T = terms(compiled_of(s).loops, q, v, t, st.references, compiled_of(s).applied(at))
        return np.concatenate([qdot(compiled_of(s).skel, q, v), forward(T, np.zeros(s.tree.nv)).a])

    slow = solve_ivp(rates, (0.0, 0.1), np.concatenate([st.q, st.v]), method="DOP853", rtol=1e-8, atol=1e-8)
    quick = march(compiled_of(s), st, 0.1, tolerance=1e-9, samples=[0.1])
    np.testing.assert_allclose(quick.solution.y[-1], slow.y[:, -1], atol=1e-6)


# -------------------------------------------------------------------- singular passages


@pytest.mark.parametrize("start", [math.radians(120), 2.0, 2.2, 2.4])
def test_the_slider_crank_passes_its_singular_positions(crank, start):
    """Four passages in 5 s; a run that leaves the branch is off by radians."""
    run = march(compiled_of(crank), crank.assemble({"A": start}), 5.0, tau={"A": 1.0}, tolerance=1e-10)
    right = slider_crank(start, 0.0, [5.0])[0]
    assert run.solution.check() and run["A"][-1] == pytest.approx(right, abs=1e-7)
    assert np.abs(run["B"] + 2 * run["A"] - 2 * np.pi).max() < 1e-6, "on the branch all the way"
    fixed = march(compiled_of(crank), crank.assemble({"A": start}), 5.0, tau={"A": 1.0}, method="rk4", step=0.01)
    assert fixed["A"][-1] == pytest.approx(right, abs=1e-3)


@pytest.mark.parametrize("how", [{"tolerance": 1e-10}, {"method": "rk4", "step": 0.002}])
def test_a_start_in_a_singular_position_is_handed_over_and_taken_back(crank, how):
    angle, speed = 1.5 * np.pi, 1.1
    st = crank.state([angle, 2 * np.pi - 2 * angle], [speed, -2 * speed])
    runs = [march(compiled_of(crank), st, 0.4, tau=[1.0, 0.0], engine=engine, **how) for engine in ("native", "python")]
    counters = runs[0].solution.counters
    assert 0 < counters["fallbacks"] < 0.3 * counters["evaluations"], "the rest is native again"
    assert runs[0]["A"][-1] == pytest.approx(slider_crank(angle, speed, [0.4])[0], abs=1e-8)
    np.testing.assert_array_equal(runs[0].solution.y, runs[1].solution.y)
    with refused(lw.SingularityError, name="branch"):
        march(compiled_of(crank), crank.state([angle, 2 * np.pi - 2 * angle]), 0.4, tau=[1.0, 0.0], **how).solution.check()


@pytest.mark.parametrize(("how", "allowed"), [({"tolerance": 1e-10}, 1e-6), ({"method": "rk4", "step": 0.002}, 1e-3)])
def test_a_curved_branch_is_followed_through_its_change_points(change_point, how, allowed):
    st = change_point.start  # 0.3 rad, 12 rad/s
    run = march(compiled_of(change_point), st, 0.9, samples=[0.9], **how)
    M, V = known_motions.change_point(np.array([0.3]))
    assert abs(0.5 * M[0] * 144 + V[0] - st["energy.total"]) < 1e-12
    end = run["A"][-1]
    assert end > 3 * np.pi, "two passages"
    assert abs(known_motions.change_point_error(0.3, 12.0, 0.9, end)) < allowed
    assert run.solution.counters["fallbacks"] > 0


# -------------------------------------------------------------------- stabilizers and engines


def test_stabilizers_hold_the_loops_as_well_as_they_can(scraper):
    s, st = scraper
    held = {kind: gap(s, march(compiled_of(s), st, 2.0, tolerance=1e-6, stabilizer=kind), 3) for kind in ("project", "baumgarte", "none")}
    assert held["project"] < 1e-14  # round-off
    assert 1e-12 < held["baumgarte"] < 0.1 * held["none"] < 1e-5
    stiffer = march(compiled_of(s), st, 2.0, tolerance=1e-6, stabilizer="baumgarte", gains=(80.0, 1600.0))
    assert gap(s, stiffer, 3) < held["baumgarte"]
    for wrong in ({"stabilizer": "projekt"}, {"gains": (1.0, 1.0)}, {"tau": [1.0]}, {"tau": {"J99": 1.0}}, {"tau": [math.nan] * 7}):
        with pytest.raises(UsageError):
            problem(s, **wrong)


@sweep("name", ["carpet-scraper", "bennett", "stewart"], now=1)
def test_the_float_path_behind_a_loop_answers_like_its_kernels(name):
    """At regular states both must agree. Off the loops what Baumgarte's terms add must: kernels may take rows along other
    axes that turn with a body, which adds the gaps times its speed, but not the gaps times the gains."""
    s, rng = lw.compile(lw.load(name)), np.random.default_rng(4)
    nq, nv = s.tree.nq, s.tree.nv
    v = consistent_velocity(compiled_of(s).loops, s.start.q, rng.normal(size=nv) * compiled_of(s).loops.columns, s.start.references)
    tau, kernel = rng.normal(size=nv), s.kernel("loop_rates", baumgarte=True)

    def both(q, v, gains):
        x = np.concatenate([q, v, np.zeros(1), tau, gains, s.kernels.defaults["near"]])
        y, status = kernel.code.call(x[: kernel.code.n_in])
        found = s.kernels.fallbacks["loop_rates"](RowLayout.of(compiled_of(s), True).named(x))
        assert status == 0
        np.testing.assert_allclose(y[:nq], found["qdot"], atol=1e-13)
        return y[nq : nq + nv], found["a"]

    native, slow = both(s.start.q, v, (30.0, 200.0))
    np.testing.assert_allclose(native, slow, atol=1e-10 * (1.0 + np.abs(slow).max()))  # conditioning below 1e5
    if name != "bennett":  # whose redundant loops cannot be opened a little
        off = 1e-5 * rng.normal(size=nv) * compiled_of(s).loops.columns
        for q, speeds, gains in ((compiled_of(s).displaced(s.start, off), v, (0.0, 2e6)), (s.start.q, v + off, (2e5, 0.0))):
            (native, slow), (bare, _) = both(q, speeds, gains), both(q, speeds, (0.0, 0.0))
            assert np.abs(native - slow).max() < 1e-3 * np.abs(native - bare).max()


@sweep(("method", "how"), every_method(0.01, 1e-8, rodas=1e-6), now=2)
def test_both_engines_give_the_same_bits(scraper, method, how):
    s, st = scraper
    events = [When(lambda x: x["J1.v"] - 5.0, "fast", 1), When(lambda t, q, v: q[0] - 0.5)]
    given = {"method": method, "events": events, "samples": np.linspace(0.0, 0.3, 7), **how}
    runs = [march(compiled_of(s), st, 0.3, engine=engine, **given).solution for engine in ("native", "python")]
    np.testing.assert_array_equal(runs[0].y, runs[1].y)
    assert runs[0].counters == runs[1].counters
    assert [(e.name, e.time) for e in runs[0].events] == [(e.name, e.time) for e in runs[1].events]
    assert [e.name for e in runs[0].events] == ["fast", "<lambda>"]


def test_without_native_code_the_same_programs_are_interpreted(scraper):
    s, st = scraper
    slow = lw.compile(lw.load("carpet-scraper"), cuts=["J8", "J9", "J10"], engine="python")
    runs = [march(compiled_of(x), st, 0.03, method="rk4", step=0.01, events=["J1.v"], engine="python") for x in (s, slow)]
    np.testing.assert_allclose(runs[1].solution.y, runs[0].solution.y, atol=1e-12)  # sums are fused in one of them


def test_an_interrupt_keeps_what_was_done(scraper):
    s, st = scraper
    whole = march(compiled_of(s), st, 2.0, tolerance=1e-8)

    def press(t, h):
        if t > 1.0:
            raise KeyboardInterrupt

    run = march(compiled_of(s), st, 2.0, tolerance=1e-8, progress=press, slice_steps=5)
    assert run.solution.status == "interrupted" and 1.0 < run.t[-1] < 1.5
    np.testing.assert_array_equal(run.q, whole.q[: len(run.t)])


# -------------------------------------------------------------------- turns, events, parameters


def wound_up(cut):
    """A four-bar whose crank winds up a torsion spring, with the crank's joint in the tree or cut."""
    document = yaml.safe_load((Path(models.__file__).parent / "four-bar.yaml").read_text())
    document["springs"] = {"s": {"joint": "A", "stiffness": 0.05, "free_position": 0}}
    document["start"] = {"A": "60 deg", "A.v": 20}
    return lw.compile(lw.load(document), cuts=[cut])


@sweep("how", [{"method": "rk4", "step": 0.001}, {"tolerance": 1e-10}], now=1)
def test_turns_of_a_cut_joint_are_counted(how):
    """Several turns of a joint with a spring: one motion, whichever joint is cut."""
    times, angles = np.linspace(0.0, 1.5, 16), []
    for cut in ("C", "A"):
        s = wound_up(cut)
        run = march(compiled_of(s), s.start, 1.5, samples=times, events=[When(lambda st: st["A"] - 10.0, "ten")], **how)
        assert run.solution.check() and len(run.t) == 16
        assert np.ptp(total(run)) < (1e-7 if "tolerance" in how else 1e-4)
        angles.append([run.state(i)["A"] for i in range(16)])
        assert [e.name for e in run.solution.events] == ["ten"]
        steps = march(compiled_of(s), s.start, 0.5, **how).t
        assert np.all(np.diff(steps) > 0.0) and steps[0] == 0.0 and steps[-1] == 0.5
        if "step" in how:
            np.testing.assert_allclose(steps, 0.001 * np.arange(501), atol=1e-12)
    for wrong in ({"samples": [0.1, 2.0]}, {"samples": [-0.1]}, {"method": "euler"}):
        with pytest.raises(UsageError):
            march(compiled_of(s), s.start, 0.2, **{**how, **wrong})
    assert angles[0][-1] > 4 * np.pi
    np.testing.assert_allclose(angles[1], angles[0], atol=1e-7 if "tolerance" in how else 1e-3)


def test_events_are_compiled_or_called_back(scraper):
    s, st = scraper
    traced = march(compiled_of(s), st, 1.0, events=[When("J1.v", "turns back", -1, True)])
    python = march(compiled_of(s), st, 1.0, events=[When(lambda x: float(x["J1.v"]), "turns back", -1, True)])
    assert traced.solution.status == python.solution.status == "event"
    assert traced.solution.end_time == pytest.approx(python.solution.end_time, abs=1e-8)  # other steps: turns might be asked for
    assert traced["J1"][-1] == pytest.approx(SCRAPER["turning_points_rad"][1], abs=1e-8)
    with refused(ChannelError, name="J1.w", allowed=("J1", "J1.v", "J1.a")):
        problem(compiled_of(s), events=["J1.w"])
    with refused(UsageError, name="<lambda>"):
        problem(compiled_of(s), events=[lambda a, b: a])
    with refused(UsageError, name="<lambda>"):
        problem(compiled_of(s), events=[lambda t, q, v: q])


def test_free_parameters_are_parameters_of_a_run():
    folded, free = lw.compile(lw.load("four-bar", L1=0.25)), lw.compile(lw.load("four-bar"), parameters=["L1"])
    st = folded.assemble({"A": 1.0}, {"A": 10.0})
    ends = [march(compiled_of(s), st, 0.5, tolerance=1e-10, **more) for s, more in ((folded, {}), (free, {"parameters": {"L1": 0.25}}))]
    np.testing.assert_allclose(ends[1].q[-1], ends[0].q[-1], atol=1e-11)
    np.testing.assert_allclose(total(ends[1])[0], total(ends[0])[0], rtol=1e-12)
