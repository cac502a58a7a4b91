"""Optima against closed forms, gradients against differences, certificates against what they claim."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.design.optimization.request import problem
from tests.refusals import refused
from tests.rings.design.optimization.models import ARM, BALANCED, SLIDER_CRANK

STATIC = lw.Cycle(speed=0, steps=90)
QUICK: dict[str, Any] = {"count": 64, "starts": 3}


def test_a_spring_that_balances_an_arm_exactly() -> None:
    r = lw.load(ARM).optimize("min peak O.torque", ["k"], case=STATIC, **QUICK)
    assert r.feasible
    assert abs(r.numbers["k"] / BALANCED - 1.0) < 1e-10  # k a b = m g l; round-off of a linear problem
    assert r.value < 1e-10 * r.goals[0].before


def test_least_squares_and_extremes_meet_where_the_goal_vanishes() -> None:
    found = [lw.load(ARM).optimize(f"min {how} O.torque", ["k"], case=STATIC, **QUICK).numbers["k"] for how in ("rms", "peak", "range")]
    assert np.ptp(found) < 1e-8 * BALANCED


@pytest.mark.slow
def test_a_stroke_is_twice_the_crank() -> None:
    r = lw.load(SLIDER_CRANK).optimize("min rms A.torque", {"r": None, "rod": "150..250 mm"}, "range guide = 100 mm", **QUICK)
    assert abs(r.numbers["r"] - 0.05) < 1e-9  # of an in-line slider-crank, exactly
    assert r.kkt < 1e-6


@pytest.mark.slow
def test_the_best_transmission_of_a_slider_crank_has_the_longest_rod() -> None:
    m = lw.load(SLIDER_CRANK)
    vary = {"r": None, "rod": "150..250 mm", "e": "-50..50 mm"}
    r = m.optimize("max min C.transmission_angle", vary, "range guide = 100 mm", count=64, starts=4)
    # an in-line slider-crank: cos(mu) = r / rod at its worst, and any offset makes it worse
    assert abs(np.cos(r.value) - 0.05 / 0.25) < 1e-7
    assert abs(r.numbers["e"]) < 1e-6 and abs(r.numbers["rod"] - 0.25) < 1e-9
    assert {b.what: b.end for b in r.binding}["rod"] == "max"
    assert r.certificate is not None and r.certificate.agreeing >= 2


@pytest.mark.slow
def test_the_gain_of_what_binds_is_the_derivative_of_the_optimum() -> None:
    m = lw.load(SLIDER_CRANK)

    def best(rod: float) -> Any:
        return m.optimize("max min C.transmission_angle", {"r": None, "rod": f"150..{rod} mm"}, "range guide = 100 mm", **QUICK)

    gain = next(b.gain for b in best(250).binding if b.what == "rod")
    slope = (best(251).value - best(249).value) / 0.002
    assert abs(gain / slope - 1.0) < 1e-4  # central difference over 2 mm of 250


def test_gradients_of_goals_and_limits_are_those_of_differences() -> None:
    vary = {"r": None, "rod": "150..250 mm", "e": "-50..50 mm", "slider.mass": "0.5..2 kg"}
    texts = ["range guide while 100..180 deg < 1 mm", "A.torque < 9 N m", "mean C.load < 1 N", "std C.load < 1 N", "mass < 3 kg"]
    p = problem(lw.load(SLIDER_CRANK).description, "min rms A.torque", vary, texts, "cycle")
    u, h = np.array([0.4, 0.6, 0.55, 0.3]), 1e-6
    for q in p.quantities:
        ours = q.gradient(p.point(u)) * p.span
        theirs = np.array([(q.value(p.point(u + h * e)) - q.value(p.point(u - h * e))) / (2 * h) for e in np.eye(4)])
        # second-order differences: h^2 of the third derivative, and round-off over h
        assert np.allclose(ours, theirs, rtol=1e-6, atol=1e-7 * np.abs(theirs).max()), q.name


def test_functions_are_goals_with_exact_gradients() -> None:
    def work(c: Any) -> Any:
        return np.mean(c["A.torque"] ** 2)

    m = lw.load(SLIDER_CRANK)
    vary = {"r": "30..60 mm", "rod": "150..250 mm"}
    p = problem(m.description, work, vary, (), "cycle")
    q, h = p.goals[0].terms[0][1], 1e-6
    u = np.array([0.5, 0.5])
    theirs = [(q.value(p.point(u + h * e)) - q.value(p.point(u - h * e))) / (2 * h) for e in np.eye(2)]
    assert np.allclose(q.gradient(p.point(u)) * p.span, theirs, rtol=1e-6)
    by_function = m.optimize(work, vary, "range guide > 80 mm", starts=1)
    by_text = m.optimize("min rms A.torque", vary, "range guide > 80 mm", starts=1)
    assert np.allclose(list(by_function.numbers.values()), list(by_text.numbers.values()), rtol=1e-3)  # a mean of samples, not of time


def test_a_function_without_derivative_is_refused() -> None:
    with refused(lw.UsageError, name="<lambda>"):
        lw.load(SLIDER_CRANK).optimize(lambda c: np.abs(c["A.torque"]).max(), {"r": None}, starts=1)


def test_a_run_is_optimized_as_a_turn_is() -> None:
    m = lw.load(ARM)
    run = lw.Run("0.4 s", drive={}, sample_interval="20 ms")
    r = m.optimize("min peak O.v", ["k"], case=run, count=4, starts=1)
    assert abs(r.numbers["k"] / BALANCED - 1.0) < 1e-6  # balanced in every position, it stays at rest


@pytest.mark.slow
def test_the_same_call_gives_the_same_design() -> None:
    vary = {"r": None, "rod": "150..250 mm"}
    first, second = (lw.load(SLIDER_CRANK).optimize("min rms A.torque", vary, "range guide > 90 mm", **QUICK) for _ in range(2))
    assert first.numbers == second.numbers and first.designs == second.designs


def test_ctrl_c_leaves_the_best_design_so_far() -> None:
    seen: list[Any] = []

    def stop(news: Any) -> None:
        seen.append(news)
        if news["best"] is not None and news["stage"].startswith("local"):
            raise KeyboardInterrupt

    r = lw.load(SLIDER_CRANK).optimize("min rms A.torque", {"r": None, "rod": "150..250 mm"}, count=64, starts=2, progress=stop)
    assert r.interrupted and r.feasible and r.certificate is None
    assert r.value <= r.goals[0].before and seen[-1]["designs"] > 64


@pytest.mark.slow
def test_enough_ends_the_search() -> None:
    calls = {"vary": {"r": None, "rod": "150..250 mm"}, "count": 64, "starts": 8}
    whole = lw.load(SLIDER_CRANK).optimize("min range guide", **calls)
    short = lw.load(SLIDER_CRANK).optimize("min range guide", enough="70 mm", **calls)
    assert short.value <= 0.070 and short.designs < whole.designs


@pytest.mark.slow
def test_searches_agree() -> None:
    vary = {"r": None, "rod": "150..250 mm"}
    found = [
        lw.load(SLIDER_CRANK).optimize("min rms A.torque", vary, "range guide > 100 mm", search=s, count=256, starts=4).value
        for s in ("sobol", "de", "cma")
    ]
    assert np.ptp(found) < 1e-6 * found[0]


def test_solvers_agree() -> None:
    vary = {"r": None, "rod": "150..250 mm"}
    found = [
        lw.load(SLIDER_CRANK).optimize("min rms A.torque", vary, "range guide > 100 mm", solver=s, count=0, starts=1).value
        for s in ("slsqp", "trust-constr")
    ]
    assert abs(found[0] - found[1]) < 1e-5 * found[0]  # trust-constr stops a little inside its barrier
