"""Balancing with each inverse method: curves and gradients against other ways, counts against the recorded operations."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.rings.papers import chaudhary_balancing as paper
from linkwright.rings.papers import inverse_cost as counts
from linkwright.rings.papers.operation_recording import COST, OperationGraph, Recorded, RecordedProgram
from linkwright.system.inertia_regressor import regressor
from tests.sweeps import sweep

CASES = {case.model: case for case in counts.CASES}


def some_weights(search):
    """Random shares inside the limits."""
    rng, size = np.random.default_rng(2), search.blocks[0].size
    return np.concatenate([[rng.random(), *(rng.random(size) - 0.5)] for _ in search.blocks])


@sweep("model", CASES, now=["rssr"])
@sweep("method", paper.METHODS, now=1)
def test_shaking_by_reactions_is_the_rate_of_momentum(model, method):
    """Force and moment on ground from one method's reactions, against inertia forces that are linear in the masses."""
    case = CASES[model]
    search = paper.BalancingSearch(case, method)
    x = some_weights(search)
    found = search.curves(search.mass_data(x[None]))[:, 0]
    system, turn = paper.machine(case)
    about = paper.drive_point(system, case.drive)
    reg = regressor(system, turn, about)
    theta = reg.theta.copy()
    for k, b in enumerate(search.blocks):
        theta[reg.bodies.index(b.body)] += b.change(x[k * len(b.bounds) : (k + 1) * len(b.bounds)], reg.names)
    force, moment, _ = reg.curves(theta)
    right = np.array([moment[:-1, 2], *force[:-1, :2].T]) if len(found) == 3 else np.array([*moment[:-1].T, *force[:-1].T])
    np.testing.assert_allclose(found, right, atol=1e-9)  # of some hundred newtons; at two positions the crank is upright


def test_gradient_by_complex_steps():
    search = paper.BalancingSearch(CASES["rssr"], "subsystem")
    x = some_weights(search)
    value, slope = search.value(x)
    for k in range(len(x)):
        d = 1e-6 * np.eye(len(x))[k]
        assert (search.value(x + d)[0] - search.value(x - d)[0]) / 2e-6 == pytest.approx(slope[k], abs=1e-7)  # of 0.5, squares of 1e-6
    assert search.value(np.zeros(len(x)))[0] == pytest.approx(2.0, abs=1e-12) and value != 2.0


def test_a_recorded_program_does_the_same_again():
    """Every operation with arrays for other inputs; parts that do not change are done once."""

    def function(x, y):
        return -(x * y) + 2.0 / y - 3.0 * np.sqrt(x) / (1.5 - np.sin(y)) + (np.arctan2(x, 2.0) - x) / y, np.cos(y) * np.tanh(y) - np.exp(x)

    graph = OperationGraph()
    x, y = graph.variables([0.7, 1.3])
    results = list(function(x, y))
    program = RecordedProgram(graph, results, [x])
    a, b = np.array([[0.2], [0.9]]), np.linspace(0.5, 1.0, 5)
    known = program.once([(y, b)])
    for found, right in zip(program.run(known, [(x, a)]), function(a, b), strict=True):
        np.testing.assert_allclose(found, right, atol=1e-15)
    assert {node.name for node in program.nodes} <= set(COST) and 0 < len(program.again) < len(program.nodes)
    assert all(isinstance(node, Recorded) for node in program.again)


@sweep("model", CASES, now=["rssr"])
def test_counts_of_the_item(model):
    """What a position needs again is at most what it needs at first; the methods' sizes are the paper's; masses alone are shared."""
    case = CASES[model]
    every = {m: paper.evaluator(case, m) for m in paper.METHODS}
    assert [e.solves for e in every.values()] == ([(21,), (7,), (4, 2, 1)] if model != "rssr" else [(18,), (4,), (3, 1)])
    assert len({sum(e.count.masses.values()) for e in every.values()}) == 1
    for e in every.values():
        assert e.again(dense=False, factored=True) < e.again(dense=True, factored=True) < e.again(dense=True, factored=False)
        assert not {"motion"} & set(e.count.both) or e.count.both["motion"] == 0, "kinematics has no mass in it"
    # substitution with kept dense factors: n^2 products and divisions, n (n - 1) sums
    traditional, n = every["traditional"], every["traditional"].solves[0]
    rest = sum(k for stage, k in traditional.count.both.items() if stage != "solve")
    assert traditional.again(dense=True, factored=True) == rest + n * n + n * (n - 1)


def test_what_is_saved():
    """As printed by the item of Table 2; less than nothing where all factors are kept and zeros are folded."""
    case = CASES["carpet-scraper-2007"]
    found = {way: [round(paper.saved(case, m, way), 1) for m in paper.METHODS[1:]] for way in paper.WAYS}
    assert list(found.values()) == [[89.8, 92.7], [60.6, 64.9], [-8.9, -6.5]]


@pytest.mark.slow
def test_the_same_optimum_by_every_method():
    item = paper.rssr_balancing()
    assert item.verdict == "agrees" and "the same optimum by all three" in item.computed and "9.3 % more" in item.computed
