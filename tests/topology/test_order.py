"""Solve order, patterns and report: the papers' sequences, brute force on random graphs, and the printed tables."""

from __future__ import annotations

import itertools

import pytest

from linkwright.errors import UsageError
from linkwright.model.description import GROUND, Cylinder, Rod
from linkwright.topology import build_tree
from linkwright.topology.internals import grubler, grubler_count, report, tables, text
from linkwright.topology.solution_order import block_pattern, elimination_order, gicm_pattern, inverse_tree, solve_order, unknowns_of
from tests import ROOT
from tests.refusals import refused
from tests.sweeps import sweep
from tests.topology import graphs


def test_scraper_is_solved_4_2_1():
    steps = solve_order(build_tree(graphs.scraper(), ["J8", "J9", "J10"]))
    assert [(s.subsystems, s.size, s.unknowns) for s in steps] == [
        ((2,), (4, 4), ("J9", "J10")),
        ((1,), (2, 2), ("J8",)),
        ((0,), (1, 1), ("J1",)),
    ]
    assert all(s.determinate and not s.coupled for s in steps)


def test_three_rrr_is_solved_5_1_1():
    steps = solve_order(build_tree(graphs.three_rrr(), ["J6", "J7"]))
    assert [(s.subsystems, s.size) for s in steps] == [((0,), (5, 5)), ((1,), (1, 1)), ((2,), (1, 1))]


def test_three_rrr_split_2_2_3_is_one_coupled_group():
    (step,) = solve_order(build_tree(graphs.three_rrr(), ["J4", "J5"]))
    assert (step.subsystems, step.size, step.coupled, step.determinate) == ((0, 1, 2), (7, 7), True, True)


def test_stewart_is_one_coupled_group():
    (step,) = solve_order(build_tree(graphs.stewart()))
    assert (len(step.subsystems), step.size) == (7, (24, 24))


def test_four_bar_is_determinate_with_one_cut_and_not_with_the_other():
    # crank driven: cut B leaves rocker and coupler (2 rows, 2 velocities) first; cut C puts drive and rows together
    assert [s.size for s in solve_order(build_tree(graphs.four_bar(), ["B"]))] == [(2, 2), (1, 1)]
    assert [s.size for s in solve_order(build_tree(graphs.four_bar(), ["C"]))] == [(3, 3)]


def test_a_redundant_or_missing_drive_is_not_square():
    tree = build_tree(graphs.four_bar(), ["B"])
    assert [s.determinate for s in solve_order(tree, ["A", "D"])] == [False]
    assert [(s.size, s.determinate) for s in solve_order(tree, [])] == [((2, 2), True), ((1, 0), False)]


def test_driven_cylinders_and_cut_joints_act_on_their_whole_way():
    ram = (Cylinder("ram", (("crank", "P"), ("rocker", "Q"))),)
    tree = build_tree(graphs.four_bar(cylinders=ram), ["B"])
    assert unknowns_of(tree, ["ram"])[-1].subsystems == (0, 1)
    assert unknowns_of(tree, ["B"])[-1].subsystems == (0, 1)
    with refused(UsageError, name="rem"):
        solve_order(tree, ["rem"])


def brute_force_order(tree, drives):
    """Follow the rule literally over all subsets: least subsystems first, square before short, lowest numbers first."""
    unknowns = unknowns_of(tree, drives)
    nv = [s.v.stop - s.v.start for s in tree.subsystems]
    left, known, out = set(range(len(nv))), set(), []

    def acting(group):
        return {u for u, x in enumerate(unknowns) if u not in known and set(x.subsystems) & set(group)}

    def connected(group):
        reached = {group[0]}
        while True:
            more = {t for u in acting(reached) for t in unknowns[u].subsystems if t in group} - reached
            if not more:
                return reached == set(group)
            reached |= more

    while left:
        candidates = []
        for k in range(1, len(left) + 1):
            groups = [g for g in itertools.combinations(sorted(left), k) if connected(g)]
            surplus = [(sum(unknowns[u].count for u in acting(g)) - sum(nv[s] for s in g), g) for g in groups]
            candidates = [g for x, g in surplus if x == 0] or [g for x, g in surplus if x < 0]
            if candidates:
                break
        if candidates:
            group = candidates[0]
        else:
            return [*out, None]  # only non-square rests remain: checked for what they are below
        out.append(group)
        known |= acting(group)
        left -= set(group)
    return out


@sweep("seed", range(80), now=30)
def test_solve_order_by_brute_force_on_random_graphs(seed):
    model = graphs.random_mechanism(seed, bodies=5 + seed % 6, loops=1 + seed % 4)
    tree = build_tree(model)
    drives = [d.joint for d in model.drives]
    steps = solve_order(tree, drives)
    expected = brute_force_order(tree, drives)
    for step, group in zip(steps, expected, strict=False):
        if group is None:
            assert step.size[1] > step.size[0] and not step.determinate
            break
        assert step.subsystems == group
    assert sorted(s for step in steps for s in step.subsystems) == list(range(len(tree.subsystems)))
    names = [name for step in steps for name in step.unknowns]
    acting = [u.name for u in unknowns_of(tree, drives) if u.subsystems]
    assert sorted(names) == sorted(acting)


def test_inverse_tree_is_determinate_where_the_forward_tree_is_not():
    tree = inverse_tree(graphs.three_rrr())
    assert sorted(s.size for s in solve_order(tree)) == [(1, 1), (1, 1), (5, 5)]
    assert sorted(s.size for s in solve_order(inverse_tree(graphs.scraper()))) == [(1, 1), (2, 2), (4, 4)]
    assert sorted(s.size for s in solve_order(inverse_tree(graphs.four_bar()))) == [(1, 1), (2, 2)]


def test_gicm_pattern_of_the_scraper():
    tree = build_tree(graphs.scraper(), ["J8", "J9", "J10"])
    # blocks (1,1): subsystems 1, 2; (2,2): 2, 3; (3,3): 3; (1,2): 2; (2,3): 3; (1,3): none
    expected = [[{0, 1}, {1}, set()], [{1}, {1, 2}, {2}], [set(), {2}, {2}]]
    assert [[set(block) for block in line] for line in gicm_pattern(tree)] == expected
    assert sorted(elimination_order(tree)) == [0, 1, 2]


@pytest.mark.parametrize("seed", range(20))
def test_gicm_pattern_is_the_product_of_the_block_pattern(seed):
    tree = build_tree(graphs.random_mechanism(seed, bodies=8, loops=4))
    J, G = block_pattern(tree), gicm_pattern(tree)
    for i, k in itertools.product(range(len(J)), repeat=2):
        assert G[i][k] == {s for s in range(len(tree.subsystems)) if J[i][s] and J[k][s]}


def test_elimination_order_starts_at_the_ends_of_a_chain():
    # middle loop coupled to four others that are not coupled with each other: it must not come first
    joints = [("M", GROUND, "hub")]
    joints += [x for i in range(4) for x in ((f"g{i}", GROUND, f"c{i}"), (f"h{i}", f"c{i}", f"b{i}"), (f"k{i}", f"b{i}", "hub"))]
    tree = build_tree(graphs.mechanism(joints), [f"k{i}" for i in range(4)])
    assert sorted(elimination_order(tree)) == [0, 1, 2, 3]
    chain = build_tree(graphs.chain_of_loops(5), [f"C{i}" for i in range(1, 6)])
    assert elimination_order(chain)[0] in (0, 4)


@pytest.mark.parametrize(
    ("model", "mobility"),
    [
        (graphs.four_bar(), 1),  # 3*3 - 2*4
        (graphs.scraper(), 1),  # 3*7 - 2*10
        (graphs.three_rrr(), 3),  # 3*7 - 2*9
        (graphs.excavator(), 3),  # 3*11 - 2*15
        (graphs.stewart(), 6),  # 6*13 - 6*(4 + 5 + 3)
        (graphs.four_bar(plane=None), -2),  # 6*3 - 5*4: the count that planar loops in space get
    ],
)
def test_grubler(model, mobility):
    assert grubler(model) == mobility
    tree = build_tree(model)
    assert tree.nv - tree.nc == mobility  # whatever is cut, velocities less rows is the same count


@pytest.mark.parametrize("seed", range(30))
def test_grubler_does_not_depend_on_the_cut(seed):
    model = graphs.random_mechanism(seed, bodies=6, loops=3)
    tree = build_tree(model)
    assert tree.nv - tree.nc == grubler(model)


def test_grubler_counts_rods():
    model = graphs.four_bar(rods=(Rod("strut", (("crank", "P"), ("rocker", "Q")), 1.0),))
    assert grubler(model) == 0
    assert str(grubler_count(model)) == "3 x 3 - 8 - 1 = 0"


def test_report_shows_the_machinery_in_ascii():
    tree = build_tree(graphs.scraper(), ["J8", "J9", "J10"])
    page = report(tree)
    assert page.isascii()
    for phrase in ("3 x 7 - 20 = 1", "rocker coupler", "J1 - J2 - J3 - J8", "chosen by the user", "4x4", "2x2", "1x1"):
        assert phrase in page
    assert [table.title for table in tables(tree)][:4] == ["Bodies and joints", "Subsystems", "Loops", "Cut joints"]


def test_report_of_names_outside_ascii_and_of_trees_without_loops():
    tree = build_tree(graphs.mechanism([("Gelenk_ü", GROUND, "Kurbel")]))
    page = report(tree)
    assert page.isascii() and "Gelenk_\\xfc" in page
    assert "Loops" not in page


def test_tables_are_aligned():
    for table in tables(build_tree(graphs.excavator())):
        lines = text(table).splitlines()[2:]
        start = lines[0].index(table.heads[1]) if len(table.heads) > 1 else 0
        body = lines[1 : 1 + len(table.rows)]
        assert all(line[start - 1] == " " for line in body if len(line) > start)


def test_report_of_a_large_mechanism_stays_short():
    tree = build_tree(graphs.chain_of_loops(60))
    assert "too many to draw" in report(tree)


def test_the_manual_shows_what_the_program_prints():
    page = ROOT / "docs" / "explanation" / "topology.md"
    block = page.read_text(encoding="utf-8").split("```text\n7 moving")[1].split("```")[0]
    printed = report(build_tree(graphs.scraper(), ["J8", "J9", "J10"]))
    parts = ("7 moving" + block).strip().split("\n\n")
    assert len(parts) == 4 and all(part in printed for part in parts)
