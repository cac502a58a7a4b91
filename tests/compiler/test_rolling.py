"""Programs that repeat themselves: code written once for all repeats gives the bits of code written out."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.compiler import llvm, repeats, schedule, state_lanes
from linkwright.compiler.graph import trace
from linkwright.compiler.native import NativeCode
from linkwright.numerics.scalars import minimum, where
from linkwright.rings.papers.chain_cost import chain
from tests.sweeps import sweep


def cells(n, uneven=0):
    """n cells in a row: each reads its own inputs and constants and what the cell before hands on; then back through them."""
    lengths = 1.1 + np.arange(n) % 5 / 7.0

    def function(x, v, g):
        passed, kept, smallest = 0.3, [], 1.0
        for i in range(n):
            s, c = np.sin(x[i]), np.cos(x[i])
            pivot = 2.0 + lengths[i] * c * c - 0.1 * passed
            passed = (s * v[i] - g[0] * passed + lengths[i] * x[i]) / pivot
            kept.append((passed, pivot, where(s < 0.25, c, passed)))
            smallest = minimum(smallest, pivot)
        back, a = 0.0, []
        for passed, pivot, chosen in reversed(kept):
            back = passed - back * chosen / pivot
            a.append(back)
        more = {"extra": np.array([p for p, _, _ in kept[: n // 2]])} if uneven else {}
        return {"a": np.array(a[::-1]), **more, "margin": np.array([smallest])}

    return trace(function, x=n, v=n, g=1)


def codes(program):
    """The program as code written out and as rolled code, each for one state and for many."""
    rolled = [schedule.schedule(program, one=one, cut_above=100) for one in (True, False)]
    flat = [schedule.Schedule(tuple(p.ops), *_cut(p, program), program.n_in, program.n_out, p.margin) for p in rolled]
    assert all(any(isinstance(piece, repeats.Series) for piece in p.pieces) for p in rolled)
    makers = {"one": llvm.compile_one, "many": state_lanes.compile_many}
    plans = [dict(zip(makers, pair, strict=True)) for pair in (flat, rolled)]
    return [NativeCode(lambda kind, plan=plan: makers[kind](program, plan=plan[kind])) for plan in plans]


def _cut(plan, program):
    results = schedule.arranged(program)[1]
    return schedule.cut(plan.ops, schedule.steps(plan.ops, results), results, 120)


@pytest.mark.slow
@pytest.mark.parametrize("program", [cells(300), cells(301, uneven=1)], ids=["even", "uneven"])
def test_rolled_code_gives_the_same_bits(program):
    flat, rolled = codes(program)
    x = np.random.default_rng(0).normal(size=(11, program.n_in))
    x[3, 5] = 1e9  # an angle that needs exact reduction
    for row in x:
        (y, status), (z, other) = flat.call(row), rolled.call(row)
        assert np.array_equal(y, z) and status == other
    rows = [x[:, b.start : b.start + b.size] for b in program.inputs]
    (wide, status), (again, other) = flat.call_many(rows), rolled.call_many(rows)
    assert all(np.array_equal(a, b) for a, b in zip(wide, again, strict=True)) and np.array_equal(status, other)
    assert np.array_equal(np.concatenate([a[4].ravel() for a in again]), rolled.call(x[4])[0])
    x[2, 0] = np.nan
    assert rolled.call(x[2])[1] & 1


@pytest.mark.parametrize("extra", [0, 1, 5, 14])
def test_every_output_that_is_not_finite_is_seen(extra, monkeypatch):
    """Outputs are looked through four vectors at a time, then the rest of them one by one."""
    n = llvm.MANY_OUTPUTS + extra
    program = trace(lambda x: {"y": x * x, "margin": np.array([x[0] - 0.5])}, x=n)
    monkeypatch.setattr(schedule, "CUT_ABOVE", 100)
    plans = {"one": schedule.schedule(program, one=True, cut_above=100), "many": schedule.schedule(program, cut_above=100)}
    makers = {"one": llvm.compile_one, "many": state_lanes.compile_many}
    code = NativeCode(lambda kind: makers[kind](program, plan=plans[kind]))
    assert n + 1 > llvm.MANY_OUTPUTS and code.call(np.ones(n))[1] == 0 and code.call(np.zeros(n))[1] == 2
    x = np.ones((9, n))
    for i in (*range(9), n - 3, n - 1):
        bad = np.ones(n)
        bad[i] = 1e200
        assert code.call(bad)[1] & 1
        x[i % 9, i] = -1e200
    x[7] = 1.0
    status = code.call_many([x])[1]
    assert [s & 1 for s in status] == [int(np.abs(row).max() > 1e150) for row in x]


@sweep("kernel", ["forward", "inverse"], now=1)
def test_legs_share_their_code(kernel):
    k = lw.compile("stewart").kernel(kernel)
    plan = schedule.schedule(k.program)
    assert {piece.count for piece in plan.pieces if isinstance(piece, repeats.Series)} == {6}
    assert plan.steps < 0.5 * sum(len(p.steps) * getattr(p, "count", 1) for p in plan.pieces)
    x = np.random.default_rng(1).normal(size=(9, k.program.n_in))
    found = NativeCode(lambda kind: state_lanes.compile_many(k.program, plan=plan) if kind == "many" else llvm.compile_one(k.program))
    every, status = found.call_many([x[:, b.start : b.start + b.size].reshape(-1, *b.shape) for b in k.program.inputs])
    for i, row in enumerate(x):
        y, word = found.call(row)
        assert word == status[i] and np.array_equal(y, np.concatenate([a[i].ravel() for a in every]), equal_nan=True)


@pytest.mark.slow
def test_code_does_not_grow_with_the_number_of_cells():
    sizes = {n: schedule.schedule(chain(n).kernel("forward").program, one=True) for n in (40, 80)}
    assert sizes[80].steps < 1.2 * sizes[40].steps < 2000
    text = {n: len(llvm.one_text(plan, llvm.host())) for n, plan in sizes.items()}
    assert text[80] < 1.5 * text[40]


def test_programs_without_repeats_stay_as_they_are():
    rng = np.random.default_rng(0)
    picks = rng.integers(20, size=(400, 2))

    def function(x):
        values = list(x)
        for i, (a, b) in enumerate(picks):
            values.append(values[-1 - a % len(values)] * values[-1 - b % len(values)] if i % 3 else values[a] - values[b])
        return {"y": np.array(values[-5:])}

    plan = schedule.schedule(trace(function, x=20), cut_above=50)
    assert all(isinstance(piece, schedule.ProgramPiece) for piece in plan.pieces)
