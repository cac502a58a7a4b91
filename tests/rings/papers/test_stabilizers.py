"""Items on stabilizers of Aghili and Hoang: their numbers against others, and that they are quick."""

from __future__ import annotations

import time

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.rings.papers import aghili, hoang_runs, hoang_stabilizers
from linkwright.rings.papers.hoang_stabilizers import WEIGHTS, adjusting_cost, rates_cost, step_cost

DIFFERS = {"post-adjusting in real time"}


ITEMS = [
    *(aghili.quadratic_convergence, aghili.passages, aghili.every_few_steps),
    *(hoang_stabilizers.cost, hoang_stabilizers.real_time, hoang_stabilizers.some_steps, hoang_stabilizers.fewer_variables),
]


@pytest.mark.parametrize("compute", [pytest.param(x, marks=pytest.mark.slow) if x is aghili.passages else x for x in ITEMS])
def test_every_item(compute):
    begin = time.process_time()
    item = compute()
    assert item.verdict == ("differs" if item.what in DIFFERS else "agrees"), f"{item.what}: {item.computed}, {item.deviation}"
    assert time.process_time() - begin < 4.0  # s: half of that with an empty cache


def test_iterates_are_those_of_the_pseudo_inverse():
    """By numpy's pinv on the slider-crank, whose two angles need no scaling; a fixed share of the step converges linearly."""
    s = lw.compile("slider-crank-equal")
    q = s.start.q + aghili.FAR * np.random.default_rng(3).normal(size=2)
    steps = [q]
    for _ in range(7):
        c = compiled_of(s).loops.at(steps[-1], np.zeros(2), 0.0, s.start.references)
        steps.append(steps[-1] - np.linalg.pinv(c.J) @ c.phi)
    found = aghili.iterates("slider-crank-equal")
    # each entry to round-off of the angles, some 1e-15
    np.testing.assert_allclose(found, [np.linalg.norm(x - steps[-1]) for x in steps[:-1]], atol=5e-15)
    assert [float(f"{e:.0e}") for e in found[:3]] == [3e-2, 4e-4, 5e-8]
    assert aghili.constant(found) < 1.0 < 1e4 < aghili.constant(tuple(0.1 * 0.3**k for k in range(12)))


def test_costs_are_sums_of_their_parts():
    """Four evaluations and one adjusting; every n-th step takes 1/n of that; the compiled run does as many of each."""
    assert step_cost(False, True, 5) == 4 * rates_cost(False) + adjusting_cost() / 5
    assert rates_cost(False) < rates_cost(True) < 1.1 * rates_cost(False)
    assert adjusting_cost(steps=1) < adjusting_cost() < adjusting_cost(hoang_stabilizers.ALL)
    s = hoang_runs.robot()
    for every in (1, 5):
        run = s.simulate(
            s.start,
            0.1,
            drive=hoang_runs.drive(1),
            integrator="rk4",
            step=0.002,
            stabilizer=lw.stabilizers.post_adjust(**WEIGHTS, every=every),
        )
        counters = run.proof.sim.pieces[0].solution.counters
        on_the_way = counters["projections"] / 500  # 450 samples lie inside steps and are adjusted if their step is
        assert on_the_way == pytest.approx(1.0 / every) and counters["evaluations"] == 4 * 50 + 1


def test_fewer_variables_take_less_of_the_compiled_code_too():
    s = hoang_runs.robot()
    sizes = []
    for dependent in (None, hoang_stabilizers.ALL):
        made = lw.stabilizers.post_adjust(dependent, **WEIGHTS).correction(
            s.kernels, s.start.q, s.start.references, tuple(hoang_runs.WANTED)
        )
        sizes.append(len(made.kernel.program.ops))
    assert sizes[0] < 0.9 * sizes[1]
