"""Which joints to take out of the tree."""

from __future__ import annotations

from collections.abc import Sequence

from linkwright.description import Description
from linkwright.errors import ModelError, nearest
from linkwright.topology.graph import Graph, Groups, loop_left, read_graph, span


def given_cuts(graph: Graph, names: Sequence[str]) -> list[int]:
    """The user's cuts as joint numbers; a ModelError if a name is wrong or a loop is left."""
    cuts: list[int] = []
    for name in names:
        if name not in graph.joint_index:
            raise ModelError(f"cuts names joint '{name}', which does not exist. {nearest(name, graph.joint_index, 'Joints')}")
        e = graph.joint_index[name]
        if e in cuts:
            raise ModelError(f"cuts names joint '{name}' twice. Name every joint once.")
        cuts.append(e)
    tree = span(graph, cuts)
    if tree.left:
        loop = " - ".join(loop_left(graph, tree, tree.left[0]))
        raise ModelError(f"the cuts ({', '.join(names) or 'none'}) leave a loop closed: {loop}. Add one of these joints to cuts.")
    return cuts


def choose_cuts(description: Description) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """(cut joints, floating bodies, why): joints with drives stay, then the tree is grown breadth first."""
    graph = read_graph(description)
    driven = {drive.joint for drive in description.drives}
    groups = Groups(len(graph.bodies))
    kept = {e for e, (a, b) in enumerate(graph.ends) if graph.name(e) in driven and groups.merge(a, b)}
    front = [0]
    for body in front:
        for e in graph.adjacency[body]:
            other = graph.other(e, body)
            if other not in front:
                front.append(other)
                if groups.merge(body, other):
                    kept.add(e)
    kept |= {e for e, (a, b) in enumerate(graph.ends) if groups.merge(a, b)}
    cuts = [e for e in range(len(graph.ends)) if e not in kept]
    tree = span(graph, cuts)
    return tuple(graph.name(e) for e in cuts), tuple(graph.bodies[b] for b in tree.floating), "breadth first"
