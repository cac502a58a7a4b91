"""Long chains: kernels against the float path, the loops and the balance of power; orders are ranked as their operations are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linkwright as lw
from linkwright.kernels import planning
from linkwright.kernels.tracing import trace
from linkwright.mechanics.dynamics.terms import terms
from linkwright.mechanics.formulations import create
from linkwright.papers.chain_cost import chain, moving_state


@pytest.mark.parametrize("n", [5, 40, 90])
def test_forward_dynamics_of_a_chain(n):
    s = chain(n)
    q, v = moving_state(s)
    tau = np.random.default_rng(n).normal(size=len(v))
    found = s.kernel("forward")(q, v, tau)
    T = terms(s.loops, q, v)
    raw = create("kkt")(T, tau)
    size = np.abs(raw.a).max()
    assert np.abs(found.a - raw.a).max() < 1e-12 * n * size and np.abs(found.lam - raw.lam).max() < 1e-12 * n * np.abs(raw.lam).max()
    assert np.abs(T.J @ found.a + T.k).max() < 1e-13 * n * size
    assert abs(v @ (T.M @ found.a + T.h - tau)) < 1e-12 * n * size  # loop forces do no work


def test_a_long_chain_is_planned_without_decompositions(monkeypatch):
    s = chain(90)

    def refused(*_args, **_options):
        raise AssertionError("a singular value decomposition of a large matrix")

    monkeypatch.setattr(np.linalg, "svd", refused)
    assert s.kernels.plan.keep is None and len(s.kernels.plan.order) == 90


@pytest.mark.parametrize("name", ["stewart", "delta", "3-rrr"])
def test_orders_are_ranked_as_their_operations(name):
    kernels = lw.compile(name).kernels
    eq, state, best = replace(kernels._numeric, plan=kernels.plan), kernels._samples[-1], kernels.plan
    count = len(eq.loops.constraints)
    orders = {tuple(i for i in best.order if i < count), best.order}
    found = []
    for axes in ("first",) if name == "3-rrr" else ("first", "second"):
        for order in sorted(orders):
            other = replace(eq, plan=replace(best, order=order, axes=axes, nominal={}))
            program = trace("forward", replace(kernels.sizes, free=0), lambda free, other=other: other, formulation="sslm")
            found.append((planning.elimination_work(planning._solved_terms(other, state), order), program.operations, order, axes))
    assert [x[1] for x in sorted(found)] == sorted(x[1] for x in found)
    assert min(found)[2:] == (best.order, best.axes)
