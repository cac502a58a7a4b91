"""Work of the three inverse methods: the counted computations give the float path's answers, and cost what is stated."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.api import compiled_of
from linkwright.mechanics.inverse.choice import joint_wrenches
from linkwright.mechanics.inverse.methods import every_constraint
from linkwright.numerics.pivot_order import pivot_order
from linkwright.numerics.scalars import eliminate
from linkwright.rings.papers import inverse_cost as bench
from linkwright.rings.papers.operation_counts import Counts, values
from linkwright.rings.papers.operation_recording import OperationGraph
from tests.reference import load
from tests.sweeps import sweep

PRINTED_SAVINGS = {  # percent over the traditional method: one cycle, optimization
    ("carpet-scraper-2007", "system"): (30.59, 52.19),
    ("carpet-scraper-2007", "subsystem"): (30.59, 52.19),
    ("rssr", "system"): (7.16, 3.70),
    ("rssr", "subsystem"): (9.15, 11.04),
}

SAHA = load("saha")
TORQUES = {
    "carpet-scraper-2007": SAHA["carpet_scraper"]["inverse_dynamics_w4p712"]["B_R|gravity_-Y_9.81"]["rows"],
    "rssr": SAHA["rssr"]["thin|gravity_-Y_9.81"]["rows"],
}
SIZES = {
    ("carpet-scraper-2007", "traditional"): (21,),
    ("carpet-scraper-2007", "system"): (7,),
    ("carpet-scraper-2007", "subsystem"): (4, 2, 1),
    ("rssr", "traditional"): (18,),
    ("rssr", "system"): (4,),
    ("rssr", "subsystem"): (3, 1),
}


@pytest.fixture(scope="module")
def rows() -> list[bench.MethodCost]:
    return bench.operation_table()


# -------------------------------------------------------------------- the recording scalar


def test_what_is_done_twice_counts_once_and_what_nobody_needs_not_at_all() -> None:
    g = OperationGraph()
    x, y = g.variables([2.0, 3.0])
    g.stage = "first"
    product, unused = x * y, x + y
    g.stage = "second"
    again = y * x - (-x) * y  # x y + x y: the product is there already, whatever its order and signs
    assert float(again) == 12.0 and float(unused) == 5.0
    assert g.live(product) == {"first": Counts(mul=1)}
    assert g.live(again) == {"first": Counts(mul=1), "second": Counts(add=1)}
    assert g.live(np.array([3.0, 0.0])) == {}


def test_folding_is_that_of_the_counting_scalar() -> None:
    g = OperationGraph()
    (x,) = g.variables([0.7])
    free = 1.0 * x + 0.0 - 0 * x
    negative = -x
    assert free is x and -negative is x
    assert g.live(3.0 - x / 4.0, 1.0 / np.cos(x) + np.sqrt(x)) == {"": Counts(add=2, mul=1, div=1, sqrt=1, trig=1)}
    assert float(3.0 - x / 4.0) == 3.0 - 0.7 * 0.25


@pytest.mark.parametrize("n", [1, 2, 3, 7, 21])
def test_a_dense_solve_costs_the_textbook_number(n: int) -> None:
    products = n * (n - 1) * (2 * n - 1) // 6 + n * (n - 1)  # factors, right side, back-substitution
    assert bench.dense_solve(n) == Counts(add=products, mul=products, div=n * (n + 1) // 2)


def test_pivots_avoid_new_nonzeros_and_small_entries() -> None:
    """An arrow matrix whose natural order fills it: from the other end nothing is filled; a tiny pivot is passed over."""
    n = 6
    A = np.diag(np.arange(2.0, n + 2.0))
    A[0], A[:, 0] = 1.0, 1.0
    r, c = pivot_order([A], A != 0.0)
    assert 0 not in r[:-2]  # the last two are alike
    g = OperationGraph()
    recorded = g.variables(A)
    recorded[A == 0.0] = 0.0
    z = eliminate(recorded, g.variables(np.ones(n)), (r, c), quotients=True)[0]
    assert g.live(z)[""].total == 8 * (n - 1) + 1  # a row of the shaft: factor, two updates, one entry back
    small = np.array([[1e-9, 1.0], [1.0, 0.0]])
    rows, columns = pivot_order([small], small != 0.0)
    assert list(small[rows, columns]) == [1.0, 1.0]


# -------------------------------------------------------------------- the three methods


@sweep("method", bench.COUNTED, now=["subsystem"])
@sweep("case", bench.CASES, now=["rssr"], ids=lambda c: c.model)
def test_counted_methods_give_the_float_paths_answers_in_one_order_of_pivots(case: bench.CostCase, method: str) -> None:
    """Torque and all reactions at every second angle listed to 1e-9, pivots chosen once at 30 deg: forces are of size 100."""
    system = case.system()
    orders = bench.counted(system, case.state(system), case.drive, method).solver.orders
    for row in TORQUES[case.model][::2]:
        st = case.state(system, row["deg"])
        out = bench.counted(system, st, case.drive, method, orders)
        loads = system.inverse(st, drives=[case.drive], method=method)
        z = values(out.results[0])
        assert z[-1] == pytest.approx(row["tau"], abs=1e-9) == loads.tau[case.drive]
        assert [(n, n) for n in out.solver.sizes] == list(loads.solved.sizes)
        p = loads.problem
        if method == "traditional":
            at = 0
            for c in every_constraint(p):
                part = c.rows(compiled_of(system).skel, p.place.motion, p.place.v, p.place.t, p.place.references)
                second = compiled_of(system).skel.node(system.description.joint(c.name).second)
                force = (dict(part.G)[second].T @ z[at : at + len(part.k)])[3:]
                np.testing.assert_allclose(force, loads.wrench[c.name].force, atol=1e-9, err_msg=c.name)
                at += len(part.k)
        else:
            np.testing.assert_allclose(z[:-1], loads.lam_all, atol=1e-9)
            same = joint_wrenches(p, np.concatenate([loads.lam_all, loads.u]), True)
            for ours, w in zip(out.results[1:], same, strict=True):
                np.testing.assert_allclose(values(ours), np.concatenate([w.moment, w.force]), atol=1e-9, err_msg=w.joint)


def test_counts_are_those_of_the_structure_not_of_the_position(rows: list[bench.MethodCost]) -> None:
    other = bench.operation_table(degrees=250.0)
    for a, b in zip(rows, other, strict=True):
        assert a.sizes == b.sizes == SIZES[a.model, a.method] and a.dense == b.dense
        for stage in set(bench.STAGES) - {"solve"}:  # pivots are chosen by size, so new nonzeros differ a little
            assert abs(a.stages[stage].total - b.stages[stage].total) <= 4
        assert abs(a.stages["solve"].total - b.stages["solve"].total) <= 0.25 * a.stages["solve"].total


def test_shared_stages_are_shared_and_each_method_saves(rows: list[bench.MethodCost]) -> None:
    for model in {r.model for r in rows}:
        traditional, system, subsystem = (r for r in rows if r.model == model)
        for r in (system, subsystem):
            # the same motion; of it, maximal coordinates need every body's point, the recursions its lever arms
            assert abs(r.stages["motion"].total - traditional.stages["motion"].total) <= 0.35 * traditional.stages["motion"].total
        assert traditional.stages["recursion"] == Counts()
        assert subsystem.folded <= system.folded < traditional.folded
        assert subsystem.full < system.full < 0.2 * traditional.full
        assert all(r.stages["solve"].total <= r.dense.total and r.folded <= r.full for r in (traditional, system, subsystem))
        assert subsystem.again == (subsystem.folded - subsystem.stages["motion"].total, subsystem.full - subsystem.stages["motion"].total)


def test_orders_are_the_papers_where_it_counts_right(rows: list[bench.MethodCost]) -> None:
    for r in rows:
        wrong = {("carpet-scraper-2007", "subsystem"): 39.0, ("rssr", "traditional"): 1944.0, ("rssr", "subsystem"): 34.0}
        want = wrong.get((r.model, r.method), r.printed.order)
        assert r.order == pytest.approx(want, abs=0.05)  # printed to one digit


def test_printed_savings_follow_from_printed_times_but_for_one(rows: list[bench.MethodCost]) -> None:
    off = set()
    for r in rows:
        if r.method != "traditional":
            cycle = bench.saving(rows, r, lambda x: x.printed.cycle)
            optimization = bench.saving(rows, r, lambda x: x.printed.optimization)
            printed = PRINTED_SAVINGS[r.model, r.method]
            assert optimization == pytest.approx(printed[1], abs=0.011)
            if abs(cycle - printed[0]) > 0.011:
                off.add((r.model, round(cycle, 1)))
    assert off == {("carpet-scraper-2007", 28.8)}


def test_table_picture_and_times(rows: list[bench.MethodCost]) -> None:
    from matplotlib.figure import Figure

    lines = bench.text(rows).splitlines()
    for r in rows:
        assert any(line.split()[:2] == [r.method, "+".join(map(str, r.sizes))] and f" {r.folded} " in line for line in lines)
    axes = Figure().add_subplot()
    bench.draw(axes, rows)
    assert sum(p.get_width() for p in axes.patches) == sum(r.folded for r in rows)
    found = bench.ratios(bench.CASES[1], rounds=1, whole=1, own=1)
    assert found["traditional"] == (1.0, 1.0) and all(x > 0.0 for pair in found.values() for x in pair)
