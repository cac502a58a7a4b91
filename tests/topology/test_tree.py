"""The tree that a cut set leaves: the papers' decompositions, invariants on random graphs, and errors."""

from __future__ import annotations

from dataclasses import replace

import pytest

from linkwright.errors import ModelError, UsageError
from linkwright.joints import create, row_indices
from linkwright.model.description import GROUND, Coupling, Cylinder, Gear, Rod
from linkwright.topology import build_tree, rebind
from linkwright.topology.solution_order import block_pattern
from tests.refusals import refused
from tests.topology import graphs


def test_scraper_with_the_papers_cuts():
    tree = build_tree(graphs.scraper(), ["J8", "J9", "J10"])
    assert [s.bodies for s in tree.subsystems] == [("crank",), ("rocker", "coupler"), ("arm", "link5", "tool", "link7")]
    assert [n.joint.name for n in tree.nodes] == [f"J{i}" for i in range(1, 8)]
    assert [n.parent for n in tree.nodes] == [-1, -1, 1, -1, 3, 3, 5]
    assert (tree.nv, tree.nc) == (7, 6)
    # zero blocks named in the text under (25) of Koul et al.: J13, J21, J31, J32
    assert block_pattern(tree) == ((True, True, False), (False, True, True), (False, False, True))
    assert [loop.labels for loop in tree.loops] == [("tx", "ty")] * 3
    assert tree.loops[0].joints == ("J1", "J2", "J3", "J8")
    assert set(tree.loops[2].joints) == {"J5", "J6", "J7", "J10"}  # J4 carries both ends: not on the circuit


def test_three_rrr_with_the_papers_cuts():
    tree = build_tree(graphs.three_rrr(), ["J6", "J7"])
    assert [s.bodies for s in tree.subsystems] == [("link1", "link2", "platform", "link4", "link5"), ("link6",), ("link7",)]
    assert block_pattern(tree) == ((True, True, False), (True, False, True))


def test_excavator_with_the_papers_cuts():
    tree = build_tree(graphs.excavator(), ["15", "14", "5", "11"])
    assert [set(s.bodies) for s in tree.subsystems] == [{"#1", "#2", "#3", "#4"}, {"#6", "#5", "#7", "#8", "#9"}, {"#10", "#11"}]
    # (13) of Koul et al.; their loops 1-4 are closed by joints 15, 14, 5, 11
    assert block_pattern(tree) == ((True, True, False), (False, True, False), (True, True, False), (True, False, True))


def test_cuts_of_the_model_are_used_and_an_argument_overrides_them():
    model = graphs.four_bar(cuts=("D",))
    assert build_tree(model).cuts == ("D",)
    assert build_tree(model, ["B"]).cuts == ("B",)


def test_cuts_keep_the_order_given():
    tree = build_tree(graphs.scraper(), ["J10", "J8", "J9"])
    assert [loop.name for loop in tree.loops] == ["J10", "J8", "J9"]
    assert [(loop.rows.start, loop.rows.stop) for loop in tree.loops] == [(0, 2), (2, 4), (4, 6)]


def test_a_joint_that_carries_its_first_body_is_marked():
    tree = build_tree(graphs.four_bar(), ["B"])
    assert [(n.body, n.reversed) for n in tree.nodes] == [("crank", False), ("rocker", False), ("coupler", True)]


def test_platform_without_a_way_to_ground_floats():
    tree = build_tree(graphs.stewart(), [f"S{i}" for i in range(1, 7)])
    platform = tree.nodes[tree.node_of_body["platform"]]
    assert tree.floating == ("platform",)
    assert (tree.nv, tree.nc, tree.nq) == (24, 18, 25)
    assert (platform.joint.name, platform.joint.type, platform.joint.first, platform.parent) == ("platform", "free", GROUND, -1)
    assert tree.subsystems[-1].bodies == ("platform",)
    assert all(loop.subsystems == (i, 6) for i, loop in enumerate(tree.loops))


def test_floating_body_in_a_plane_has_three_velocities():
    tree = build_tree(graphs.three_rrr(), ["J3", "J4", "J5"])
    assert tree.floating == ("platform",)
    assert tree.nodes[tree.node_of_body["platform"]].joint.type == "planar"
    assert (tree.nv, tree.nc) == (9, 6)


def test_rods_couplings_and_gears_are_loops_after_the_cuts():
    model = graphs.four_bar(
        rods=(Rod("strut", (("crank", "P"), ("rocker", "Q")), 1.0),),
        couplings=(Coupling("c", "A", "D", 2.0),),
        gears=(Gear("g", "A", "B", 0.1, 0.2),),
    )
    tree = build_tree(model, ["C"])
    assert [(loop.name, loop.kind, loop.rows.start) for loop in tree.loops] == [
        ("C", "joint", 0), ("strut", "rod", 2), ("c", "coupling", 3), ("g", "gear", 4),
    ]  # fmt: skip
    assert tree.loops[1].joints == ("A", "D", "strut")
    assert [loop.subsystems for loop in tree.loops] == [(0, 1), (0, 1), (0, 1), (0,)]
    assert tree.nc == 5


def test_coupling_of_a_cut_joint_acts_along_its_circuit():
    tree = build_tree(graphs.four_bar(couplings=(Coupling("c", "A", "C", 2.0),)), ["C"])
    assert tree.loops[1].subsystems == (0, 1)
    assert set(tree.loops[1].joints) == {"A", "B", "D", "c"}


def test_a_body_on_rods_or_cylinders_alone_floats():
    ends = (("crank", "P"), ("plate", "Q"))
    for more in ({"rods": (Rod("r", ends, 1.0),)}, {"cylinders": (Cylinder("r", ends),)}):
        model = graphs.mechanism([("A", GROUND, "crank")], bodies=["crank", "plate"], **more)
        assert build_tree(model).floating == ("plate",)


def test_rebind_takes_other_numbers_into_the_same_structure():
    tree = build_tree(graphs.scraper(), ["J8", "J9", "J10"])
    moved = tuple(replace(j, frame_first=replace(j.frame_first, at=(9.0, 8.0, 7.0))) for j in tree.description.joints)
    again = rebind(tree, replace(tree.description, joints=moved))
    assert all(n.joint.frame_first.at == (9.0, 8.0, 7.0) for n in again.nodes)
    assert (again.loops, again.subsystems, again.cuts) == (tree.loops, tree.subsystems, tree.cuts)
    assert [(n.q, n.v, n.parent) for n in again.nodes] == [(n.q, n.v, n.parent) for n in tree.nodes]
    with refused(UsageError, name="tree"):
        rebind(tree, graphs.three_rrr())


def test_ground_alone_is_an_empty_tree():
    tree = build_tree(graphs.mechanism([]))
    assert (tree.nodes, tree.loops, tree.nv, tree.nc) == ((), (), 0, 0)


# --- random graphs against brute force -------------------------------------------------------------


def brute_force_circuit(tree, first: str, second: str) -> set[str]:
    """Tree joints whose removal parts two bodies: found by searching the tree once per joint."""
    edges = [(n.joint.name, n.joint.first, n.joint.second) for n in tree.nodes]
    parting = set()
    for out, _, _ in edges:
        reached = {first}
        while True:
            more = {x for name, a, b in edges if name != out and (a in reached) != (b in reached) for x in (a, b)} - reached
            if not more:
                break
            reached |= more
        if second not in reached:
            parting.add(out)
    return parting


@pytest.mark.parametrize("seed", range(60))
def test_invariants_on_random_graphs(seed):
    model = graphs.random_mechanism(seed, bodies=3 + seed % 9, loops=seed % 5)
    tree = build_tree(model)
    assert len(tree.cuts) == len(model.joints) - (len(model.bodies) - 1) + len(tree.floating)
    assert sorted(n.body for n in tree.nodes) == sorted(b.name for b in model.bodies[1:])
    assert {n.joint.name for n in tree.nodes} == {j.name for j in model.joints} - set(tree.cuts) | set(tree.floating)
    position = nv = nq = 0
    for i, node in enumerate(tree.nodes):
        parent = GROUND if node.parent < 0 else tree.nodes[node.parent].body
        ends = (node.joint.first, node.joint.second)
        assert node.parent < i and ends == ((node.body, parent) if node.reversed else (parent, node.body))
        assert node.parent < 0 or tree.nodes[node.parent].subsystem == node.subsystem
        kind = create(node.joint.type, node.joint.options)
        assert (node.v.start, node.v.stop, node.q.start, node.q.stop) == (nv, nv + kind.nv, nq, nq + kind.nq)
        nv, nq = nv + kind.nv, nq + kind.nq
    for s, subsystem in enumerate(tree.subsystems):
        assert subsystem.index == s and subsystem.nodes == tuple(range(position, position + len(subsystem.nodes)))
        assert sum(tree.nodes[i].parent < 0 for i in subsystem.nodes) == 1
        position += len(subsystem.nodes)
    assert position == len(tree.nodes)


@pytest.mark.parametrize("seed", range(60))
def test_loops_of_random_graphs_are_the_paths_found_by_brute_force(seed):
    model = graphs.random_mechanism(seed, bodies=3 + seed % 9, loops=1 + seed % 4)
    tree = build_tree(model)
    rods = {rod.name: rod for rod in model.rods}
    row = 0
    for loop in tree.loops:
        if loop.kind == "joint":
            joint = model.joint(loop.name)
            ends = joint.first, joint.second
            rows = len(row_indices(create(joint.type), model.planar))
        else:
            ends, rows = tuple(body for body, _ in rods[loop.name].between), 1
        circuit = brute_force_circuit(tree, *ends)
        assert set(loop.joints[:-1]) == circuit and loop.joints[-1] == loop.name
        assert set(loop.subsystems) == {tree.nodes[tree.node_of_joint[name]].subsystem for name in circuit}
        assert loop.rows == slice(row, row + rows) and len(loop.labels) == rows
        row += rows


# --- errors ---------------------------------------------------------------------------------------


def test_a_loose_body_is_named_with_a_remedy():
    model = graphs.mechanism([("A", GROUND, "crank")], bodies=["crank", "washer"])
    with refused(ModelError, name="body 'washer' is not joined to anything."):
        build_tree(model)


def test_an_island_is_named_with_a_remedy():
    model = graphs.mechanism([("A", GROUND, "crank"), ("B", "x", "y")])
    with pytest.raises(ModelError, match=r"'x', 'y' hang together, but nothing joins them to ground.*Add a joint between 'ground'"):
        build_tree(model)


def test_an_ungrounded_loop_is_named_with_a_remedy():
    model = graphs.mechanism([("A", GROUND, "crank"), ("B", "x", "y"), ("C", "y", "z"), ("D", "z", "x")], plane=None)
    with pytest.raises(ModelError, match=r"'x', 'y', 'z' form a loop by themselves \(B, C, D\).*joint of type free to 'ground'"):
        build_tree(model)


def test_a_joint_from_a_body_to_itself():
    with refused(ModelError, name="A", allowed=("ground", "crank")):
        build_tree(graphs.mechanism([("A", "crank", "crank")]))


def test_the_same_joint_twice():
    model = graphs.four_bar()
    twin = replace(model.joints[1], name="B2")
    with refused(ModelError, name="B"):
        build_tree(replace(model, joints=(*model.joints, twin)))


def test_two_joints_between_the_same_bodies_at_different_places_are_legal():
    model = graphs.mechanism([("A", GROUND, "door", "revolute"), ("B", GROUND, "door", "revolute")], plane=None)
    tree = build_tree(model)
    assert (tree.cuts, tree.nv, tree.nc) == (("B",), 1, 5)


def test_wrong_references_of_rods_couplings_and_gears():
    for more, message in (
        ({"rods": (Rod("r", (("crank", "P"), ("crank", "Q")), 1.0),)}, "rod 'r' has both ends on body 'crank'"),
        ({"rods": (Rod("r", (("crank", "P"), ("cranc", "Q")), 1.0),)}, "Did you mean 'crank'"),
        ({"couplings": (Coupling("c", "A", "X"),)}, "coupling 'c' names joint 'X', which does not exist"),
        ({"gears": (Gear("g", "A", "A", 0.1, 0.1),)}, "gear 'g' names joint 'A' twice"),
    ):
        with pytest.raises(ModelError, match=message):
            build_tree(graphs.four_bar(**more))


def test_wrong_names_in_cuts():
    with refused(ModelError, name="J80"):
        build_tree(graphs.scraper(), ["J80", "J9", "J10"])
    with refused(ModelError, name="J8"):
        build_tree(graphs.scraper(), ["J8", "J8", "J9"])


def test_too_few_cuts_name_the_loop_that_is_left():
    with refused(ModelError, name="cuts") as error:
        build_tree(graphs.scraper(), ["J8", "J9"])
    left = error.value.message.split("closed: ")[1].split(".")[0].split(" - ")
    assert set(left) == {"J5", "J6", "J7", "J10"}


def test_a_floating_body_that_shares_its_name_with_a_joint_floats_by_another():
    joints = [("A", GROUND, "x"), ("x", "x", "y"), ("C", GROUND, "y")]
    tree = build_tree(graphs.mechanism(joints), ["A", "x"])
    assert tree.floating == ("x",) and tree.nodes[tree.node_of_body["x"]].joint.name == "x_free"
