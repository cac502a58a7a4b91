"""Long chains and lifts: kernels against the float path, the loops and the balance of power; orders are ranked as their operations are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.compiler import repeats, schedule
from linkwright.kernels import planning
from linkwright.kernels.tracing import trace
from linkwright.mechanics.dynamics.terms import terms
from linkwright.mechanics.formulations import create
from linkwright.mechanics.formulations.kkt import saddle
from linkwright.mechanics.formulations.sslm import Sslm
from linkwright.model import file as modelfile
from linkwright.model import library as models
from linkwright.rings.papers.chain_cost import chain, moving_state
from tests.sweeps import sweep


@sweep("n", [5, 40, 90], now=1)
def test_forward_dynamics_of_a_chain(n):
    s = chain(n)
    q, v = moving_state(s)
    tau = np.random.default_rng(n).normal(size=len(v))
    found = s.kernel("forward")(q, v, tau)
    T = terms(compiled_of(s).loops, q, v)
    raw = create("kkt")(T, tau)
    size = np.abs(raw.a).max()
    assert np.abs(found.a - raw.a).max() < 1e-12 * n * size and np.abs(found.lam - raw.lam).max() < 1e-12 * n * np.abs(raw.lam).max()
    assert np.abs(T.J @ found.a + T.k).max() < 1e-13 * n * size
    assert abs(v @ (T.M @ found.a + T.h - tau)) < 1e-12 * n * size  # loop forces do no work


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 120])
def test_forward_dynamics_of_a_lift(n):
    """Cuts as they are chosen: bodies float at regular distances, bays share their code, and the result is that of the whole matrix."""
    s = lw.compile(modelfile.read(models.path("scissor-lift"), N=n))
    program = s.kernel("forward").program
    assert program.operations < 1000 * n and len(s.tree.floating) >= n - 1
    assert any(isinstance(p, repeats.Series) for p in schedule.schedule(program, one=True).pieces)
    q, v = s.start.q, s.assemble(v={"slide": 0.1}).v
    tau = np.random.default_rng(n).normal(size=len(v))
    found, T = s.kernel("forward")(q, v, tau), terms(compiled_of(s).loops, q, v)
    a = found.a
    size = np.abs(saddle(T, tau)).max() * max(np.abs(a).max(), np.abs(found.lam).max())
    # a lift of n bays is a slender beam: round-off of multipliers grows with its leverage
    assert np.abs(T.M @ a + T.h - tau - T.J.T @ found.lam).max() < 1e-12 * n * size and np.abs(T.J @ a + T.k).max() < 1e-12 * n * size


def test_a_long_chain_is_planned_without_decompositions(monkeypatch):
    s = chain(90)

    def refused(*_args, **_options):
        raise AssertionError("a singular value decomposition of a large matrix")

    monkeypatch.setattr(np.linalg, "svd", refused)
    assert s.kernels.plan.keep is None and len(s.kernels.plan.order) == 90


@sweep("name", ["3-rrr", "stewart", "delta"], now=1)
def test_orders_are_ranked_as_their_operations(name):
    kernels = lw.compile(name).kernels
    eq, state, best = replace(kernels._numeric, plan=kernels.plan), kernels._samples[-1], kernels.plan
    count = eq.loops.skel.tree.nc if best.single else len(eq.loops.constraints)
    orders = {tuple(i for i in best.order if i < count), best.order}
    found = []
    for axes in ("first",) if name == "3-rrr" else ("first", "second"):
        for order in sorted(orders):
            other = replace(eq, plan=replace(best, order=order, axes=axes, nominal={}))
            program = trace("forward", replace(kernels.sizes, parameters=0), lambda _, other=other: other, formulation="sslm")
            T = other.ordered(planning._solved_terms(other, state))
            found.append((planning.elimination_work(T, order), program.operations, order, axes))
    assert [x[1] for x in sorted(found)] == sorted(x[1] for x in found)
    assert min(found)[2:] == (best.order, best.axes)


@pytest.mark.slow
def test_rows_of_an_arm_with_two_rods_wait_for_the_platform():
    """Of the six rows of an arm five have pivots before the platform moves; an order of whole loops must take the platform first."""
    kernels = lw.compile("delta").kernels
    best, nc = kernels.plan, kernels.loops.skel.tree.nc
    assert best.single and sorted(best.order)[:nc] == list(range(nc))
    after = best.order[best.order.index(max(best.order)) + 1 :]
    assert sorted(row // 6 for row in after) == [0, 1, 2]
    eq = replace(kernels._numeric, plan=best)
    for s in planning.samples(kernels.loops, *kernels.start(), seed=4):
        T = planning._solved_terms(eq, s)
        rows, tau = eq.ordered(T), T.h + T.columns
        n, saddle = T.nv, np.block([[T.M, -T.J.T], [T.J, np.zeros((T.nc, T.nc))]])
        z = np.linalg.solve(saddle, np.concatenate([tau - T.h, -T.k]))
        raw = Sslm(recursion=False)(rows, tau)
        scale = np.abs(T.columns)  # the saddle-point matrix has a condition of 1e8 and more: rods are light
        assert np.abs((raw.a - z[:n]) / scale).max() < 1e-7 * np.abs(z[:n] / scale).max()
        np.testing.assert_allclose(rows.J, T.J)


def test_drive_force_of_a_lift_whose_bodies_float():
    """Cuts as they are chosen against cuts between the bays."""
    n = 12
    d = modelfile.read(models.path("scissor-lift"), N=n)
    cuts = ["R0", f"L{n}", *(x for i in range(1, n) for x in (f"L{i}", f"R{i}"))]
    chosen, given = lw.compile(d), lw.compile(d, cuts=cuts)
    assert chosen.tree.floating and chosen.tree.cuts != given.tree.cuts
    one, two = (s.inverse(s.assemble(v={"slide": 0.1})).u[0] for s in (chosen, given))
    assert abs(one - two) < 1e-9 * abs(two)  # condition of a lift of n bays


def test_constants_among_many_outputs_are_delivered_in_short_pieces():
    """J of a chain has four entries a row; LLVM's time grows with the square of the stores of one function."""
    s = chain(40)
    q, v = moving_state(s)
    kernel = s.kernel("closure")
    pieces = schedule.schedule(kernel.program, one=True).pieces
    late = [p for p in pieces if not p.steps]
    assert len(late) > 20 and max(sum(map(len, p.results.values())) for p in late) <= schedule.STORES
    assert np.abs(kernel(q, v).J - compiled_of(s).loops.at(q, v, 0.0, compiled_of(s).loops.skel.start_coordinates).J).max() < 1e-14
