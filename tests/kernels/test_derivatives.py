"""Derivatives of programs against complex step (exact to round-off), finite differences and the closures of mechanisms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.compiler.derivatives import jacobian, places, replay
from linkwright.compiler.graph import Sym, TraceGraph
from linkwright.compiler.program import Op, Program, interpret
from linkwright.errors import UsageError
from linkwright.mechanics.kinematics.motion import qdot
from tests.compiler.samples import every_operation, forward_of, random_program
from tests.refusals import refused

STEP = 1e-200  # complex step has no subtraction, so the step may be as small as numbers go


def complex_step(program: Program, x: np.ndarray) -> np.ndarray:
    """d results / d x, entry by entry."""
    columns = []
    for k in range(len(x)):
        z = x.astype(complex)
        z[k] += 1j * STEP
        columns.append([np.imag(r) / STEP for r in replay(program, z)])
    return np.array(columns).T


def traced_jacobian(program: Program, seeds: list) -> Program:
    """A program with the results and their derivatives."""
    g = TraceGraph()
    x = g.input("x", program.n_in)
    found = jacobian(program, x, seeds)
    return g.program([("y", found.results), ("J", found.dense())])


def traced_values(program: Program) -> Program:
    """A program with the results alone, traced as `traced_jacobian` traces them."""
    g = TraceGraph()
    return g.program([("y", replay(program, g.input("x", program.n_in)))])


def test_random_programs_against_complex_step(rng: np.random.Generator) -> None:
    seen = set()
    for _ in range(25):
        program, x = random_program(rng), rng.normal(size=6)
        seen |= {op[0] for op in program.ops}
        expected = complex_step(program, x)
        scale = 1.0 + np.abs(expected).max()
        both = traced_jacobian(program, list(range(6)))
        found = both.unpack(interpret(both, x))
        alone = traced_values(program)
        np.testing.assert_array_equal(found["y"], alone.unpack(interpret(alone, x))["y"])
        # a divisor that tracing finds constant is inverted once: two roundings instead of one
        np.testing.assert_allclose(found["y"], interpret(program, x), rtol=1e-15 * len(program.ops))
        np.testing.assert_allclose(found["J"], expected, atol=1e-10 * scale)
        on_numbers = jacobian(program, x, range(6))
        np.testing.assert_allclose(on_numbers.dense().astype(float), expected, atol=1e-10 * scale)
    assert seen == set(Op)


def test_every_operation_against_finite_differences(rng: np.random.Generator) -> None:
    """Independent of the replay on complex numbers; sixth-order differences with this step are good to 1e-11 or so."""
    program = every_operation()
    x = np.concatenate([rng.uniform(0.8, 1.6, 3), rng.normal(size=4)])
    h, weights = 3e-3, {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
    J = np.zeros((program.n_out, 7))
    for k in range(7):
        for n, w in weights.items():
            e = np.eye(7)[k] * n * h
            J[:, k] += w * (interpret(program, x + e) - interpret(program, x - e)) / h
    huge = np.abs(interpret(program, x)) > 1e300  # a constant output: its difference is 0, its derivative too
    found = jacobian(program, x, range(7)).dense().astype(float)
    np.testing.assert_allclose(found[~huge], J[~huge], atol=1e-10 * (1 + np.abs(J[~huge]).max()))
    assert not found[huge].any()


def test_replay_on_floats_is_the_interpreter(rng: np.random.Generator) -> None:
    for _ in range(10):
        program, x = random_program(rng), rng.normal(size=6)
        np.testing.assert_array_equal(replay(program, x), interpret(program, x))
    program = every_operation()
    x = np.array([0.7, 1.2, 0.9, np.nan, 0.0, -1.0, 2.0])
    np.testing.assert_array_equal(np.array(replay(program, x), dtype=float), interpret(program, x))


def test_replay_in_its_own_graph_makes_nothing_new() -> None:
    program, _ = forward_of("carpet-scraper")
    g = TraceGraph()
    results = replay(program, g.input("x", program.n_in))
    nodes = len(g.op)
    again = replay(program, [Sym(g, i) for i in range(program.n_in)])
    assert len(g.op) == nodes and [r.i for r in again] == [r.i for r in results]
    assert g.program([("y", results)]).operations == program.operations


@pytest.mark.parametrize("name", ["carpet-scraper", "3-rrr", "stewart", "rssr"])
def test_closure_jacobian_of_mechanisms(name: str) -> None:
    """J is d phi / dq written by hand; with quaternions the directions are those of unit velocities."""
    s = lw.compile(lw.load(name))
    nq, nv = s.tree.nq, s.tree.nv
    g = TraceGraph()
    q, v = g.input("q", nq), g.input("v", nv)
    closure = compiled_of(s).loops.at(q, v, 0.0, s.start.references)
    phi = g.program([("phi", closure.phi)])
    directions = [{i: x for i, x in enumerate(qdot(compiled_of(s).loops.skel, q, e)) if type(x) is Sym or x != 0} for e in np.eye(nv)]
    found = jacobian(phi, np.concatenate([q, v]), directions)
    both = g.program([("ours", found.dense()), ("theirs", closure.J)])
    values = both.unpack(interpret(both, np.concatenate([s.start.q, np.zeros(nv)])))
    np.testing.assert_allclose(values["ours"], values["theirs"], atol=1e-12)
    assert found.nonzeros <= sum(block.size for block in closure.blocks.values())  # a loop moves with the subsystems along it only


def test_bias_of_closure_is_the_second_derivative_along_the_motion() -> None:
    """(J v)' = J a + k: the directional derivative of J v along v is k."""
    s = lw.compile(lw.load("carpet-scraper"))
    nq, nv = s.tree.nq, s.tree.nv
    g = TraceGraph()
    q, v = g.input("q", nq), g.input("v", nv)
    closure = compiled_of(s).loops.at(q, v, 0.0, s.start.references)
    rate = g.program([("rate", closure.J @ v)])
    found = jacobian(rate, np.concatenate([q, v]), [dict(enumerate(v))])
    both = g.program([("ours", found.dense()[:, 0]), ("k", closure.k)])
    values = both.unpack(interpret(both, np.concatenate([s.start.q, np.linspace(-1, 2, nv)])))
    np.testing.assert_allclose(values["ours"], values["k"], atol=1e-12)


def test_derivatives_share_subexpressions() -> None:
    g = TraceGraph()
    (x,) = g.input("x", 1)
    product = 1.0
    for n in range(1, 9):
        product = product * np.sin(n * x)
    program = g.program([("y", [product])])
    both = traced_jacobian(program, [0])
    # per factor: one cosine, and d = d s + p n c; nothing is computed twice
    assert both.operations <= program.operations + 5 * 8
    x0 = 0.4
    slope = math.prod(math.sin(n * x0) for n in range(1, 9)) * sum(n / math.tan(n * x0) for n in range(1, 9))
    np.testing.assert_allclose(interpret(both, np.array([x0]))[1], slope, rtol=1e-12)


def test_zeros_are_folded() -> None:
    g = TraceGraph()
    x, y = g.input("x", 2)
    program = g.program([("r", [x * 2.0 + 1.0, np.rint(x) + y, x - x * 1.0, y * y])])
    found = jacobian(program, TraceGraph().input("x", 2), [0, 1])
    assert found.columns[0] == {0: 2.0}
    assert set(found.columns[1]) == {1, 3} and found.columns[1][1] == 1.0


def test_the_branch_not_taken_does_not_spoil_the_derivative() -> None:
    """where(x > 0, sqrt(x), 0) at x = 0: the root's slope is infinite, but zero was chosen."""
    g = TraceGraph()
    (x,) = g.input("x", 1)
    program = g.program([("y", [(x > 0.0).where(np.sqrt(x), 0.0)])])
    both = traced_jacobian(program, [0])
    np.testing.assert_array_equal(interpret(both, np.array([[0.0], [4.0]])), [[0.0, 0.0], [2.0, 0.25]])


def test_powers_with_zero_base() -> None:
    g = TraceGraph()
    x, y = g.input("x", 2)
    program = g.program([("r", [x**2.5, np.float64(0.0) ** y])])
    found = jacobian(program, [0.0, 1.5], [0, 1])
    np.testing.assert_array_equal(found.dense().astype(float), np.zeros((2, 2)))


def test_inputs_by_name_and_wrong_calls() -> None:
    program, _ = forward_of("four-bar")
    assert places(program, "v", "q") == [3, 4, 5, 0, 1, 2]
    with refused(UsageError, name="w"):
        places(program, "w")
    with refused(UsageError, name="program"):
        replay(program, [1.0, 2.0])
    with refused(UsageError, name="seeds"):
        jacobian(program, np.zeros(9), [0, 9])
