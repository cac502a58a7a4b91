"""Through singular positions, against one-freedom equations: fixed and adaptive steps, curved branches, forty loops at once."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

import linkwright as lw
from benchmarks.bench.known_motions import change_point_error
from linkwright.simulation import singularity_crossings
from tests.reference import load
from tests.refusals import refused
from tests.simulation.closed_forms import parallelograms, slider_crank
from tests.sweeps import sweep

START = 2.0 * math.pi / 3.0
STEPS = np.linspace(0.006, 0.014, 17)
ANGLES = np.linspace(0.3, 0.405, 15)  # of the change-point four-bar: nine passages in 5 s


@pytest.fixture(scope="module")
def crank():
    return lw.compile(lw.load("slider-crank-equal"))


@pytest.fixture(scope="module")
def change_point():
    return lw.compile(lw.load("change-point-four-bar"))


def swing(crank, seconds, **how):
    return crank.simulate(crank.assemble({"A": START}), seconds, drive={"A": lw.drives.torque(1.0)}, sample_interval=[seconds], **how)


@pytest.mark.slow
def test_the_slider_crank_with_every_step_size(crank):
    """Without the rule for passages most of these runs leave the branch and are off by radians."""
    right = slider_crank(START, 0.0, [5.0])[0]
    for step in STEPS:
        run = swing(crank, 5.0, integrator="rk4", step=step)
        assert abs(run["A"][-1] - right) < 1e-3, step
        assert [p.kind for p in run.passages] == ["rank"] * 4, step
    assert abs(swing(crank, 5.0, tolerance=1e-10)["A"][-1] - right) < 1e-7  # 1e-6 would do


@pytest.mark.slow
def test_a_minute_on_the_branch(crank):
    """Sixty seconds, hundreds of passages: fixed steps stay on the branch (their angle is off by many turns), adaptive ones
    also keep the angle."""
    for step in STEPS[::4]:
        run = swing(crank, 60.0, integrator="rk4", step=step)
        assert abs(run["B"][-1] + 2 * run["A"][-1] - 2 * math.pi) < 1e-9, step
    run = swing(crank, 60.0, tolerance=1e-10)
    assert abs(run["A"][-1] - slider_crank(START, 0.0, [60.0])[0]) < 1e-4
    assert abs(run["B"][-1] + 2 * run["A"][-1] - 2 * math.pi) < 1e-9


def test_a_passage_is_reported_with_its_time_and_what_means_nothing_there(crank):
    exact = load("aghili_hoang")["slider_crank_aghili"]["g=9.81"]["singular_crossings"]
    run = swing(crank, 5.0, tolerance=1e-11)
    for p, x in zip(run.passages, exact.values(), strict=False):
        assert p.time == pytest.approx(x["t"], abs=1e-8) and p.lost == 1 and p.singular_values[0] < 1e-7
        assert p.meaningless == ("C.ty",)
    assert run.certificate.rank_passages == 4 and "branches meet" in str(run.checks())
    labels = [run.certificate.branch_start, *(p.branch for p in run.passages)]
    assert labels == ["-", "+", "-", "+", "-"] and run.certificate.branch_end == "-"
    at = run.passages[0].time
    near = crank.simulate(
        crank.assemble({"A": START}), 2.0, drive={"A": lw.drives.torque(1.0)}, sample_interval=[at - 0.01, at - 0.001, at, at + 0.001]
    )
    lam = np.abs(near["lam.C"])
    assert lam[1] > 5 * lam[0], "a pole"
    assert near["singular.J"][2] < 1e-4 < near["singular.J"][0]


def test_at_rest_where_branches_meet_nothing_is_decided(crank):
    st = crank.state([1.5 * math.pi, -math.pi])
    with refused(lw.SimulationError, name="no answer") as caught:
        crank.simulate(st, 1.0, drive={"A": lw.drives.torque(1.0)})
    assert len(caught.value.run) <= 1 and isinstance(caught.value.__cause__, lw.SingularityError)


def curved(change_point, angle, **how):
    run = change_point.simulate(change_point.assemble({"A": angle}, {"A": 12.0}), 5.0, sample_interval=[5.0], **how)
    odd = [k for k in range(-3, 40) if angle < (2 * k + 1) * math.pi < run["A"][-1]]
    assert run.certificate.rank_passages == len(odd) == 9
    return abs(change_point_error(angle, 12.0, 5.0, run["A"][-1]))


@sweep("angle", [ANGLES[-1], ANGLES[0]], now=1)
def test_change_points_of_a_four_bar(change_point, angle):
    assert curved(change_point, angle, integrator="rk4", step=0.002) < 1e-3
    if angle == ANGLES[0]:
        assert curved(change_point, angle, tolerance=1e-10) < 1e-6


@pytest.mark.slow
def test_change_points_from_fifteen_angles(change_point):
    for angle in ANGLES:
        assert curved(change_point, angle, tolerance=1e-10) < 1e-6
        assert curved(change_point, angle, integrator="rk4", step=0.002) < 1e-3


def chain(n, **how):
    s = lw.compile(lw.load("parallelogram-chain", N=n))
    run = s.simulate(s.start, 20.0, sample_interval=[20.0], **how)
    right = parallelograms(n, [20.0])[0]
    assert abs(run["G0"][-1] - math.pi / 2 - right) < 1e-6  # the crank's tip is 1 m away: 1e-3 would do
    return run


@pytest.mark.slow
def test_ten_parallelograms_stay_parallel():
    """All ten loops are singular at once, twenty times: error of the crank's angle, its tip being 1 m away."""
    run = chain(10, tolerance=1e-10)
    assert run.certificate.rank_passages == 20 and {p.lost for p in run.passages} == {10}


def test_three_parallelograms_stay_parallel_with_fixed_steps():
    run = chain(3, integrator="rk4", step=0.005)
    assert run.certificate.rank_passages == 20 and {p.lost for p in run.passages} == {3}


@pytest.mark.slow
def test_ten_parallelograms_stay_parallel_with_fixed_steps():
    run = chain(10, integrator="rk4", step=0.005)
    assert run.certificate.rank_passages == 20 and {p.lost for p in run.passages} == {10}


@pytest.mark.slow  # ten of them are in `make test`
def test_forty_parallelograms_stay_parallel():
    c = chain(40, tolerance=1e-10).certificate
    # loops closed to round-off; energy, which is constant here, kept to the tolerance in each of a few hundred steps
    assert c.status == "finished" and c.position_residual < 1e-12 and c.energy_imbalance < 1e-9 * c.energy_turned_over


@pytest.mark.slow
def test_forty_parallelograms_report_their_passages():
    for how in ({"integrator": "rk4", "step": 0.005}, {"tolerance": 1e-10}):
        run = chain(40, **how)
        assert run.certificate.rank_passages == 20 and {p.lost for p in run.passages} == {40}


def test_a_determinant_is_an_event_where_it_passes_zero():
    """The slider-crank loses rank with the crank upright: there, and only there, det.dependent changes its sign."""
    s = lw.load("slider-crank-equal").system
    st = s.assemble(q={"A": "30 deg"}, v={"A": 3.0})
    run = s.simulate(st, 1.0, events=[lw.events.when("det.dependent"), lw.events.when("A", "90 deg", name="upright")], sample_interval=0.1)
    named = {e.name: e.time for e in run.events}
    assert len(run.events) == 2 and abs(named["det.dependent"] - named["upright"]) < 1e-9  # two roots of one curve
    short = s.simulate(st, 1.0, events=[lw.events.when("singular.J", 0.01)], largest_step=0.002, sample_interval=0.1)
    assert len(short.events) == 2 and abs(0.5 * sum(e.time for e in short.events) - named["upright"]) < 1e-4  # down and up again


@pytest.mark.parametrize("power", [1, 3, 5, 9])
def test_determinants_with_several_factors_are_located(power):
    """Three equal legs that stretch together give a triple root, on which secants are slow: taken as near as it was found."""
    line = SimpleNamespace(t=0.0, h=1.0, at=lambda t: np.array([t]))
    found = singularity_crossings._root(
        lambda q: (q[:, 0] - 0.3) ** power, line, SimpleNamespace(reach=lambda before, t: None), np.zeros(1), "rank"
    )
    assert found.time == pytest.approx(0.3, abs=1e-9)


@pytest.mark.parametrize("share", [0.105, 0.5017, 0.835])
def test_a_determinant_with_a_triple_zero_is_located(share):
    """Three rows lost at once: bisection to round-off of the time took more than its hundred steps, and raised an error."""
    curve = singularity_crossings.Quintic(0.26489135675455966, 7.266120412835475e-05, np.eye(6, 1, k=-1))  # q is the share of the step
    watch = SimpleNamespace(reach=lambda row, t: None)
    root = singularity_crossings._root(lambda q: (q[:, 0] - share) ** 3, curve, watch, np.zeros(2), "block")
    assert root.q[0] == pytest.approx(share, abs=1e-9) and root.time == pytest.approx(curve.t + share * curve.h, abs=1e-12)
