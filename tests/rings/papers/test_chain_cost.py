"""Work of the formulations on N four-bar loops in a row: right results first, then how the counts grow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from linkwright.api import compiled_of
from linkwright.mechanics.dynamics.terms import terms
from linkwright.mechanics.formulations import create
from linkwright.mechanics.formulations.forward import forward
from linkwright.rings.papers import chain_cost as bench
from linkwright.rings.papers.operation_counts import values
from linkwright.system.system import System
from linkwright.topology import build_tree
from tests.sweeps import sweep


def test_the_cuts_are_those_the_program_chooses() -> None:
    system = bench.chain(5)
    assert build_tree(system.description).cuts == system.tree.cuts
    assert all(len(loop.subsystems) == 2 for loop in system.tree.loops)


@pytest.mark.parametrize(
    ("formulation", "full"), [("sslm", False), ("sslm", True), ("slm", False), ("slm", True), ("kkt", False), ("kkt", True)]
)
def test_counting_does_not_change_the_result(formulation: str, full: bool) -> None:
    n, angle = 6, 0.7
    system = bench.chain(n)
    q, v = bench.moving_state(system, angle)
    raw = bench.forward_counted(system, formulation, q, v, np.zeros(len(v)), full=full).result
    same = create(formulation)(terms(compiled_of(system).loops, q, v), np.zeros(len(v)))
    # round-off of a different order of summation; entries are of size 10, conditioning below 1e3
    np.testing.assert_allclose(values(raw.a), same.a, atol=1e-11)
    np.testing.assert_allclose(values(raw.lam), same.lam, atol=1e-11)
    # closed form of the parallel motion (header of the model), gravity only
    cranks = [node.v.start for node in system.tree.nodes if node.parent < 0]
    np.testing.assert_allclose(values(raw.a)[cranks], -9.81 * 3 * (3 * n + 1) / (2 * (4 * n + 1)) * np.cos(angle), rtol=1e-11)


@sweep("full", [True, False], now=1)
def test_subsystem_multipliers_take_a_constant_number_of_operations_a_loop(full: bool) -> None:
    totals = {n: bench.operations(n, "sslm", full=full).total for n in (1, 2, 3, 8, 16, 32, 64)}
    step = totals[3] - totals[2]
    # inner loops are all alike, so the count is exactly a straight line
    assert all(total == totals[1] + (n - 1) * step for n, total in totals.items())
    assert 1.98 < totals[64] / totals[32] < 2.02


@pytest.mark.slow
def test_256_loops() -> None:
    assert bench.operations(256, "sslm").total / bench.operations(32, "sslm").total == pytest.approx(8.0, rel=0.01)


@sweep("formulation", ["slm", "kkt"], now=["kkt"])
def test_system_matrices_cost_the_cube_unless_their_zeros_are_folded(formulation: str) -> None:
    full = [bench.operations(n, formulation, full=True).total for n in (16, 32)]
    folded = [bench.operations(n, formulation).total for n in (16, 32)]
    assert 7.0 < full[1] / full[0] < 8.2
    assert 1.98 < folded[1] / folded[0] < 2.02
    assert full[1] > 50 * bench.operations(32, "sslm", full=True).total


def test_sslm_is_not_harmed_by_the_order_in_which_loops_are_listed(rng: np.random.Generator) -> None:
    n = 16
    tidy = bench.chain(n)
    q, v = bench.moving_state(tidy)

    def work(system: System, formulation: str) -> int:
        return bench.forward_counted(system, formulation, q, v, np.ones(len(v))).counts.total

    for _ in range(4):
        shuffled = System(tidy.description, [f"B{i}" for i in rng.permutation(np.arange(1, n + 1))])
        # its own order walks the chain from the ends inwards; from the far end a loop costs 8 operations less
        assert 0.97 < work(shuffled, "sslm") / work(tidy, "sslm") <= 1.0
        assert work(shuffled, "slm") > 1.05 * work(tidy, "slm")  # new nonzeros, although zeros are folded


@pytest.mark.parametrize("path", ["sslm counted", "auto on floats"])
def test_no_matrix_of_system_size_is_formed(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest two-dimensional array that is created does not grow with the chain, and M and J stay in blocks."""

    def largest(n: int) -> int:
        system = bench.chain(n)
        q, v = bench.moving_state(system)
        sizes = [0]
        zeros = np.zeros

        def watched(shape: Any, *args: Any, **options: Any) -> np.ndarray:
            out = zeros(shape, *args, **options)
            sizes.append(out.size if out.ndim == 2 else 0)
            return out

        with monkeypatch.context() as patch:
            patch.setattr(np, "zeros", watched)
            if path == "auto on floats":
                t = terms(compiled_of(system).loops, q, v)
                assert forward(t, np.ones(len(v))).formulation == "sslm"
                assert t.place is not None and not {"M", "J"} & {*vars(t), *vars(t.place.closure)}
            else:
                bench.forward_counted(system, "sslm", q, v, np.ones(len(v)))
        return max(sizes)

    assert largest(4) == largest(16) == 36  # a body's inertia


def test_the_table_and_the_picture_show_every_curve() -> None:
    from matplotlib.figure import Figure

    rows = bench.operation_table((1, 2, 4), full_to=2)
    assert [(r.loops, r.formulation, r.matrices) for r in rows[:3]] == [(1, "sslm", "full"), (1, "sslm", "folded"), (1, "slm", "full")]
    assert len(rows) == 2 * 3 + 2 * 4 and rows[-1].per_loop == rows[-1].counts.total / 4
    assert bench.text(rows).splitlines()[-1].split() == ["4", *(str(r.counts.total) for r in rows[-2:])]
    axes = Figure().add_subplot()
    bench.draw(axes, rows)
    assert len(axes.lines) == 6
    drawn = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
    for kind in ("full", "folded"):
        assert drawn[bench.LABELS[f"sslm {kind}"]] == [r.counts.total for r in rows if (r.formulation, r.matrices) == ("sslm", kind)]
