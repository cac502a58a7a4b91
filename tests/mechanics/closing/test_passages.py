"""The quick answers in singular passages: kernels and small matrices against the float path, state by state."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.kernels.kernels import Variant
from linkwright.kernels.planning import samples
from linkwright.kernels.rank_revealing import RankRevealing, TracedPassage
from linkwright.mechanics.closing import singular_passage
from linkwright.mechanics.formulations import interpreted
from linkwright.numerics import memory_and_threads
from linkwright.numerics.linalg import factor
from linkwright.simulation.time_stepping import march
from tests.kernels.test_variants import WORKSHOP, close, cut_row, given, inputs
from tests.refusals import refused
from tests.sweeps import sweep

CROSSING = {
    "slider-crank-equal": ("slider-crank-equal", "A", 1.5 * np.pi, {}),
    "change point": ("change-point-four-bar", "A", np.pi, {}),
    "chain": ("parallelogram-chain", "G0", 0.0, {}),
    "redundant and passing": ("parallelogram-middle", "A", np.pi, {}),
    "with a rotor": ("change-point-four-bar", "A", np.pi, {"armature": (0.2, 0.0, 0.0), "power": True}),
    "driven through": ("change-point-four-bar", "A", np.pi, {"drivers": ("A",), "power": True}),
}


def crossing(case):
    model, drive, angle, how = CROSSING[case]
    s = lw.compile(lw.load(model))
    k = s.kernels.variant(Variant(**how))

    def row(distance):
        st = s.assemble({drive: angle + distance}, {drive: 3.0})
        near = np.concatenate([np.asarray(st.references[n], dtype=float) for n in s.tree.cuts])
        law = {"drive": np.array([angle + distance]), "speed": np.array([3.0]), "acceleration": np.zeros(1)} if k.chosen.drivers else {}
        return {"q": st.q, "v": st.v, "t": np.zeros(1), "tau": np.linspace(-1.0, 1.0, s.tree.nv), "near": near, **law}

    return s, k, row


@sweep("case", CROSSING, now=1)
def test_quick_rates_are_those_of_the_float_path(case):
    s, k, row = crossing(case)
    rank = RankRevealing(k)
    assert rank._traced is not None
    weakest = []
    for distance in (-0.3, -1e-2, 3e-4, 1e-5, -1e-7, 1e-9, 0.0):
        x = row(distance)
        traced, slow = rank._traced.rates(x), rank.slow_rates(x)
        assert traced is not None, "answered without the float path"
        close(traced["a"], slow["a"], 1e-7)  # both amplify round-off by 1/s in rows that are kept, s > 1e-3
        if k.chosen.power:
            close(traced["power"], slow["power"], 1e-7)
        f = factor(
            compiled_of(s).loops.dimensionless(
                compiled_of(s).loops.at(x["q"], x["v"], 0.0, k.equations().loops.skel.unpack(x["q"], x["near"]))
            )[1]
        )
        weakest.append(f.s[len(k.plan.keep or f.s) - 1])  # of the rows that are independent elsewhere
    assert min(weakest) < 1e-6 and max(weakest) > 1e-2, "from far off to the middle of the passage"


@pytest.mark.parametrize("case", ["slider-crank-equal", "change point", "chain", "redundant and passing"])
@sweep("distance", [0.2, 1e-9, 1e-4], now=2)
def test_quick_projections_are_those_of_the_float_path(case, distance, rng):
    s, k, row = crossing(case)
    rank, x = RankRevealing(k), row(distance)
    off = {**x, "q": x["q"] + 1e-7 * rng.normal(size=s.tree.nq), "v": x["v"] + 1e-6 * rng.normal(size=s.tree.nv)}
    traced, slow = rank.projection(off), rank.slow_projection(off)
    # the float path stops at a residual of 1e-13, this one at round-off; what a weak row leaves open is multiplied by 1/s
    np.testing.assert_allclose(traced["q"], slow["q"], atol=1e-10)
    np.testing.assert_allclose(traced["v"], slow["v"], atol=1e-8)
    for name in ("residual", "rate_residual"):
        assert traced[name] == pytest.approx(slow[name], rel=1e-6)
    assert traced["correction"] == pytest.approx(slow["correction"], rel=1e-4)
    again = rank.projection({**off, "q": traced["q"], "v": traced["v"]})
    assert again["residual"] < (1e-10 if distance < 0.1 else 1e-14)  # s d + d^2 remains of a lost row: s < 1e-3, d = 1e-7


@sweep(("model", "drivers"), [(WORKSHOP, ("A",)), ("carpet-scraper", ()), (WORKSHOP, ("z",)), ("stewart", ()), ("bennett", ())], now=2)
def test_rates_along_the_motion_are_exact(model, drivers, rng):
    """Forward mode while tracing against complex steps of the closure, drivers going on as they move."""
    s = lw.compile(lw.load(model))
    k = s.kernels.variant(Variant(drivers=drivers))
    st = samples(k.loops, s.start.q, dict(s.start.references), 2, seed=8)[1]
    law = given(k, st, rng.normal(size=len(drivers)))
    x = inputs(k, st, np.zeros(k.tree.nv), law)
    found = TracedPassage(k).at(x)
    eq = k.equations().moved(*(law.values() or ((), (), ())), at=0.3)
    right = singular_passage.along(eq.loops, st.q, st.v, 0.3, eq.loops.skel.unpack(st.q, cut_row(k, st)))
    T = eq.joint_axis_terms(st.q, st.v, np.array([0.3]), x["near"])
    close(found.along.Jdot, right.Jdot, 1e-12)
    close(found.along.kdot, right.kdot, 1e-12)
    close(found.along.third, right.third, 1e-12)
    close(found.J, T.dimensionless_J(), 1e-12)
    close(found.M, T.M * T.columns * T.columns[:, None], 1e-12)
    close(found.k, T.k / T.row_scale, 1e-12)


@pytest.mark.parametrize("formulation", interpreted())
def test_formulations_without_a_kernel_answer_time_loops_alike(formulation, rng):
    s = lw.compile(lw.load("carpet-scraper"))
    k = s.kernels.variant(Variant(drivers=("J1",), power=True))
    st = samples(k.loops, s.start.q, dict(s.start.references), 2, seed=8)[1]
    x = inputs(k, st, rng.normal(size=k.tree.nv), given(k, st, [0.4]))
    found, right = k.fallbacks[f"loop_rates by {formulation}"](x), RankRevealing(k).slow_rates(x, "kkt")
    close(found["a"], right["a"])
    close(found["power"], right["power"])


def chain(N, seconds, **how):
    """Error of the crank angle of N parallelograms: theta'' = g 3 (3 N + 1) / (2 (4 N + 1)) sin(theta), theta from upright."""
    s = lw.compile(lw.load("parallelogram-chain", N=N))
    run = march(compiled_of(s), s.start, seconds, samples=[seconds], **how)
    pull = 9.81 * 3 * (3 * N + 1) / (2 * (4 * N + 1))
    right = solve_ivp(lambda t, y: [y[1], pull * np.sin(y[0])], (0, seconds), [0.0, 1.0], method="DOP853", rtol=1e-13, atol=1e-13).y[0, -1]
    assert run.solution.status == "finished"
    cranks = [i for i, n in enumerate(s.names.q) if n.startswith("G")]
    assert np.ptp(run.q[-1, cranks]) < 1e-9, "all cranks parallel"
    return abs(run["G0"][-1] - np.pi / 2 - right), run.solution.counters["fallbacks"]


@pytest.mark.slow
@pytest.mark.parametrize("how", [{"tolerance": 1e-10}, {"method": "rk4", "step": 0.005}])
def test_ten_loops_lose_rank_at_once_and_all_stay_on_their_branch(how):
    error, answered = chain(10, 20.0, **how)
    assert error < 1e-6  # 20 passages; a loop that folds is off by radians
    assert 0 < answered < 200


@pytest.mark.slow
@pytest.mark.parametrize("how", [{"tolerance": 1e-10}, {"method": "rk4", "step": 0.005}])
def test_forty_loops_lose_rank_at_once_and_all_stay_on_their_branch(how):
    assert chain(40, 20.0, **how)[0] < 1e-6


def test_at_rest_the_float_path_explains():
    _, k, row = crossing("slider-crank-equal")
    x = row(0.0)
    with refused(lw.SingularityError, name="branch"):
        k.fallbacks["loop_rates"]({**x, "v": 0.0 * x["v"]})


def test_matrices_too_small_to_share_stay_on_one_thread():
    """Forty loops of a chain were a hundred times slower on a busy machine with all cores at each decomposition."""
    threads = memory_and_threads._threads()
    ask, tell = (lambda: 1, lambda n: None) if threads is None else threads
    found = ask()
    tell(2)  # the tests themselves run on one, see conftest.py
    before, inside = ask(), []
    try:
        for rows in (10, 26, 48, 160, 1000):
            with pytest.raises(KeyError), memory_and_threads.one_thread(rows):
                inside.append(ask())
                raise KeyError
            assert ask() == before
    finally:
        tell(found)
    assert before == (1 if threads is None else 2) and inside == [before, 1, 1, 1, before]


def test_decompositions_of_a_humanoid_stay_on_one_thread(monkeypatch):
    """A robot of 48 velocities: its singular values took 48 ms instead of 0.3 ms each on two busy cores, the range of an ankle a minute."""
    threads = memory_and_threads._threads()
    ask, tell = (lambda: 1, lambda n: None) if threads is None else threads
    found, seen, svd = ask(), [], np.linalg.svd
    monkeypatch.setattr(np.linalg, "svd", lambda *a, **k: seen.append(ask()) or svd(*a, **k))
    tell(2)
    try:
        assert factor(np.eye(48)).rank == 48
    finally:
        tell(found)
    assert seen == [1]
