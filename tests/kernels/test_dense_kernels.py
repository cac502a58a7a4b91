"""Kernels of the formulations nullspace and projection: native rank-revealing loops against the float path."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linkwright as lw
from linkwright.compiler import loops
from linkwright.errors import UsageError
from linkwright.model import library as models
from linkwright.numerics.linalg import factor
from linkwright.results.state import State
from tests.kernels.mechanisms import apart, cut_coordinates, float_forward, random_kernels, shipped

FORMULATIONS = ("nullspace", "projection")
LARGE = ("delta", "stewart", "carpet-scraper-2007")  # seconds each, by check-slow; the last is the scraper with other numbers
ALLOWED = 1e-10  # relative to their size; measured 1e-11 on delta, 1e-13 and less elsewhere


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in LARGE)) for n in models.names()])
def test_every_shipped_model(name):
    case, rng = shipped(name), np.random.default_rng(3)
    s = case.system
    Q, V = np.array([x.q for x in case.states]), np.array([x.v for x in case.states])
    near = np.array([cut_coordinates(s, x.near) for x in case.states])
    tau = rng.normal(size=V.shape)
    for formulation in FORMULATIONS:
        kernel = s.kernel("forward", formulation)
        found = kernel(Q, V, tau, near=near)
        assert found._fields == ("a", "lam")
        for i, x in enumerate(case.states):
            right = s.forward(State(s.skel, x.q, x.v, x.near), tau[i], formulation=formulation).solution
            assert apart(found.a[i], right.a) < ALLOWED, formulation
            assert apart(found.lam[i], right.lam) < ALLOWED, formulation
        if s.tree.nv > 20:
            continue  # other code for one state, which takes its time to compile
        one = kernel(Q[0], V[0], tau[0])
        assert apart(one.a, found.a[0]) < 1e-13 and apart(one.lam, found.lam[0]) < 1e-11  # kernels of one and many round apart


@pytest.mark.parametrize("seed", [pytest.param(n, marks=[pytest.mark.slow] * (n % 2 == 0)) for n in range(20)])
def test_random_mechanisms(seed):
    """Every fifth one has a loop twice: multipliers of least reactions, and never a call of the float path."""
    kernels, x, rng = random_kernels(seed)
    tau = rng.normal(size=len(x.v))
    right = float_forward(kernels.loops, x, tau)
    s = factor(right.terms.dimensionless_J()).s
    calls = []

    def answer(inputs):
        calls.append(inputs)
        return {"a": right.a, "lam": right.lam}

    kernels = replace(kernels, answers=lambda k: {"forward": answer, "least": answer}, made={}, engine="python")
    for formulation in FORMULATIONS:
        kernel = kernels.get("forward", formulation)
        kernel.native = loops.available()  # programs interpreted, because compiling these takes seconds; loops native
        found = kernel(x.q, x.v, tau)
        assert apart(found.a, right.a) < ALLOWED, formulation
        assert apart(found.lam, right.lam) < ALLOWED, formulation
    assert not calls or min(s[s > 1e-9]) < 3e-3, "only what may be a passage is handed over"


def test_many_states_are_shared_among_threads_and_equal_one_by_one():
    case = shipped("carpet-scraper")
    s, rng = case.system, np.random.default_rng(1)
    x, kernel = case.states[0], s.kernel("forward", "projection")
    V = np.array([x.v]) * rng.uniform(0.1, 2.0, (40, 50, 1))
    tau = rng.normal(size=s.tree.nv)
    found = kernel(x.q, V, tau)
    assert found.a.shape == (40, 50, 7) and found.lam.shape == (40, 50, 6)
    for at in ((0, 0), (17, 3), (39, 49)):
        alone = kernel(x.q, V[at], tau)
        assert apart(found.a[at], alone.a) < 1e-12 and apart(found.lam[at], alone.lam) < 1e-11
    empty = kernel(np.zeros((0, 7)), np.zeros((0, 7)), np.zeros((0, 7)))
    assert empty.a.shape == (0, 7)


def test_a_lost_row_is_handed_over_in_a_batch_of_healthy_ones():
    s = lw.compile(lw.load("slider-crank", gravity=0))
    angles = np.array([1.2, 1.5 * np.pi, 2.0])
    Q, V = np.stack([angles, 2 * np.pi - 2 * angles], axis=1), np.array([[1.1, -2.2]] * 3)
    a = s.kernel("forward", "nullspace")(Q, V, [1.0, 0.0]).a
    right = (1.0 - 2 * np.sin(2 * angles) * 1.1**2) / (3 - 2 * np.cos(2 * angles))  # the one equation of motion on the branch
    np.testing.assert_allclose(a, np.stack([right, -2 * right], axis=1), atol=1e-9)
    redundant = lw.compile(lw.load("parallelogram-middle"))
    st = redundant.start
    flat = redundant.assemble({"A": 0.0}, {"A": 2.0})
    assert redundant.forward(flat).solution.passages == redundant.forward(flat).solution.redundant == 1
    both = redundant.kernel("forward", "projection")(np.array([st.q, flat.q]), np.array([st.v, flat.v]), np.zeros(redundant.tree.nv))
    for i, x in enumerate((st, flat)):
        right = redundant.forward(x).solution
        assert apart(both.a[i], right.a) < 1e-9 and apart(both.lam[i], right.lam) < 1e-9


def test_wrong_inputs_and_calls_are_named():
    s = lw.compile(lw.load("four-bar"))
    kernel, st = s.kernel("forward", "nullspace"), s.start
    q = st.q.copy()
    q[1] = np.nan
    with pytest.raises(UsageError, match=r"'q'.*B"):
        kernel(q, st.v, np.zeros(3))
    both = kernel(np.array([st.q, st.q]), st.v, np.array([[0.0, 0.0, 0.0], [0.0, 0.0, np.inf]]))
    assert both.ok.tolist() == [True, False] and "'tau'" in both.why[1] and "D" in both.why[1]
    with pytest.raises(UsageError, match="shape"):
        kernel(st.q, st.v, np.zeros(2))
    with pytest.raises(UsageError, match="missing"):
        kernel(st.q, st.v)
    with pytest.raises(UsageError, match="straight-line"):
        kernel.c()
    with pytest.raises(UsageError, match="forward dynamics only"):
        s.kernel("rates", "projection")
    assert "nullspace" in repr(kernel)


def test_without_native_code_the_loops_run_as_python():
    native, python = (lw.compile(lw.load("bennett"), engine=engine) for engine in ("native", "python"))
    st = native.start
    tau = np.array([0.3, -0.2, 0.1])
    for formulation in FORMULATIONS:
        got, want = (s.kernel("forward", formulation)(st.q, st.v, tau) for s in (python, native))
        assert apart(got.a, want.a) < 1e-12 and apart(got.lam, want.lam) < 1e-11
