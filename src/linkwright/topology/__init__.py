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
from linkwright.topology.build import rebind, tree_of
from linkwright.topology.cuts import choose_cuts, given_cuts
from linkwright.topology.graph import read_graph
from linkwright.topology.inertia import InertiaTest
from linkwright.topology.tree import Loop, Node, Subsystem, Tree

__all__ = ["Loop", "Node", "Subsystem", "Tree", "build_tree", "choose_cuts", "rebind"]


MOST_KNOWN = 256  # structures whose cuts are remembered
_known: OrderedDict[Hashable, tuple[tuple[str, ...], str]] = OrderedDict()


def build_tree(description: Description, cuts: Sequence[str] | None = None, structure: Hashable = None) -> Tree:
    """Spanning tree, subsystems and loops of a numeric description.

    `cuts` (else `description.cuts`) names the joints to take out of the tree; without either the
    program chooses them for cheap forward dynamics; for a `structure` that was met before (`model.numbers`) the same ones again,
    unless other degrees of freedom move no inertia.
    """
    graph = read_graph(description)
    wanted = cuts if cuts is not None else description.cuts
    if wanted is not None:
        return tree_of(graph, given_cuts(graph, wanted), "chosen by the user")
    key = None if structure is None else (structure, tuple(d.joint for d in description.drives), InertiaTest(graph).facts)
    if key is None or key not in _known:
        names, _, reason = choose_cuts(description)
        if key is None:
            return tree_of(graph, [graph.joint_index[name] for name in names], reason)
        _known[key] = (names, reason)
        if len(_known) > MOST_KNOWN:
            _known.popitem(last=False)
    names, reason = _known[key]
    return tree_of(graph, [graph.joint_index[name] for name in names], reason)
