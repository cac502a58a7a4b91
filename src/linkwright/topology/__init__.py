"""From the graph of bodies and joints to a spanning tree, its subsystems and the loops that close it.

    tree = build_tree(description)                  cuts chosen by the program (or `cuts:` of the model)
    tree = build_tree(description, ["J8", "J9"])    cuts chosen by you

Pure graph and structural counts: nothing here evaluates a pose (numerical ranks are found above,
at assembled states). `order` finds the solve order of the subsystems, `report` prints.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence

from linkwright.model.description import Description
from linkwright.topology.cuts import choose_cuts, given_cuts
from linkwright.topology.graph import InertiaTest, all_plainly_full, check_twins, read_graph
from linkwright.topology.tree import Loop, Node, Subsystem, Tree, rebind, tree_of

__all__ = ["Loop", "Node", "Subsystem", "Tree", "build_tree", "choose_cuts", "rebind"]


MOST_KNOWN = 64  # structures whose trees are remembered
_known: OrderedDict[Hashable, Tree] = OrderedDict()


def build_tree(description: Description, cuts: Sequence[str] | None = None, structure: Hashable = None) -> Tree:
    """Spanning tree, subsystems and loops of a numeric description.

    `cuts` (else `description.cuts`) names the joints to take out of the tree; without either the
    program chooses them for cheap forward dynamics; for a `structure` that was met before (`model.numbers`) the same ones again,
    unless other degrees of freedom move no inertia.
    """
    wanted = cuts if cuts is not None else description.cuts
    drives = tuple(d.joint for d in description.drives)
    if wanted is None and (structure, drives, None) in _known and all_plainly_full(description):
        check_twins(description)
        return rebind(_known[structure, drives, None], description)
    graph = read_graph(description)
    if wanted is not None:
        return tree_of(graph, given_cuts(graph, wanted), "chosen by the user")
    key = None if structure is None else (structure, drives, InertiaTest(graph).facts)
    if key is not None and key in _known:
        return rebind(_known[key], description)
    names, _, reason = choose_cuts(description)
    tree = tree_of(graph, [graph.joint_index[name] for name in names], reason)
    if key is not None:
        _known[key] = tree
        if len(_known) > MOST_KNOWN:
            _known.popitem(last=False)
    return tree
