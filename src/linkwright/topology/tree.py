"""The result of topology: a spanning tree with numbered nodes, its subsystems, and what closes the loops.

Node order is topological and subsystem by subsystem: a parent comes before its children and the
nodes of one subsystem are contiguous, so M is block diagonal and every block is a slice.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from linkwright import elements
from linkwright.errors import UsageError
from linkwright.model.description import Description, Joint
from linkwright.numerics.memory_and_threads import essentials
from linkwright.properties import cached_property
from linkwright.topology.cuts import choose_cuts, given_cuts
from linkwright.topology.graph import FLOATING, Graph, InertiaTest, Span, read_graph, span


@dataclass(frozen=True)
class Node:
    """A moving body and the tree joint that carries it."""

    body: str
    joint: Joint  # an implicit one (floating body) has the body's name and joins it to ground
    parent: int  # index of the carrying node, -1 for ground
    reversed: bool  # the tree carries the joint's *first* body
    subsystem: int
    q: slice
    v: slice


@dataclass(frozen=True)
class Subsystem:
    """A branch of the tree that grows from ground."""

    index: int
    nodes: tuple[int, ...]
    bodies: tuple[str, ...]
    q: slice
    v: slice


@dataclass(frozen=True)
class Loop:
    """One closing condition: a cut joint, rod, coupling or gear, and the circuit it closes."""

    name: str  # of the cut joint, rod, coupling or gear
    kind: str  # "joint", "rod", "coupling", "gear"
    rows: slice  # its rows in phi, J, k
    labels: tuple[str, ...]  # one label a row, e.g. ("tx", "ty")
    joints: tuple[str, ...]  # names of the joints around the circuit, the closing one last
    subsystems: tuple[int, ...]  # those with a nonzero block J_ij


@dataclass(frozen=True)
class Tree:
    """Spanning tree, cuts, subsystems and loops of a description (cached by its numbers)."""

    __getstate__ = essentials

    description: Description
    nodes: tuple[Node, ...]
    subsystems: tuple[Subsystem, ...]
    loops: tuple[Loop, ...]
    cuts: tuple[str, ...]  # joints taken out of the tree
    floating: tuple[str, ...] = ()  # bodies on an implicit free or planar joint
    reason: str = ""  # why these cuts, for people

    @property
    def nq(self) -> int:
        return self.nodes[-1].q.stop if self.nodes else 0

    @property
    def nv(self) -> int:
        return self.nodes[-1].v.stop if self.nodes else 0

    @property
    def nc(self) -> int:
        return self.loops[-1].rows.stop if self.loops else 0

    @cached_property
    def velocity_joints(self) -> tuple[str, ...]:
        """Joint of every velocity."""
        return tuple(n.joint.name for n in self.nodes for _ in range(n.v.stop - n.v.start))

    @cached_property
    def node_of_body(self) -> dict[str, int]:
        """body name -> node index; ground -> -1."""
        return {self.description.bodies[0].name: -1, **{n.body: i for i, n in enumerate(self.nodes)}}

    @cached_property
    def node_of_joint(self) -> dict[str, int]:
        """tree joint name -> node index (cut joints are not in it)."""
        return {n.joint.name: i for i, n in enumerate(self.nodes)}

    @cached_property
    def supports(self) -> tuple[tuple[int, ...], ...]:
        """For every node the nodes from ground to it, itself included."""
        out: list[tuple[int, ...]] = []
        for i, n in enumerate(self.nodes):
            out.append((*(out[n.parent] if n.parent >= 0 else ()), i))
        return tuple(out)

    def support(self, i: int) -> tuple[int, ...]:
        """Nodes from ground to node i; empty for ground (-1)."""
        return self.supports[i] if i >= 0 else ()


# ----------------------------------------------------------------------------------------------------
# Number the nodes of a spanning tree, slice its subsystems, and list the loops with their circuits


def tree_of(graph: Graph, cuts: Sequence[int], reason: str) -> Tree:
    """The complete Tree for a cut set that leaves no loop."""
    tree = span(graph, cuts)
    nodes = _nodes(graph, tree)
    return Tree(
        graph.description,
        nodes,
        _subsystems(nodes),
        _loops(graph, tree, cuts, nodes),
        tuple(graph.name(e) for e in cuts),
        tuple(graph.bodies[b] for b in tree.floating),
        reason,
    )


def floating_joint(description: Description, body: str) -> Joint:
    """The implicit joint of a floating body, from ground, frames identity: it has the body's name, with `_free` added while a joint of the
    model has that name (in MJCF bodies and joints often share theirs)."""
    name, taken = body, {j.name for j in description.joints}
    while name in taken:
        name += "_free"
    return Joint(name, "planar" if description.planar else "free", description.bodies[0].name, body)


def _nodes(graph: Graph, tree: Span) -> tuple[Node, ...]:
    position = {0: -1, **{body: i for i, body in enumerate(tree.order)}}
    subsystem_of_root: dict[int, int] = {}
    nodes: list[Node] = []
    nq = nv = 0
    for body in tree.order:
        e = tree.carrier[body]
        size = graph.size(e)
        joint = floating_joint(graph.description, graph.bodies[body]) if e == FLOATING else graph.description.joints[e]
        s = subsystem_of_root.setdefault(tree.root[body], len(subsystem_of_root))
        is_reversed = e != FLOATING and graph.ends[e][0] == body
        nodes.append(
            Node(graph.bodies[body], joint, position[tree.parent[body]], is_reversed, s, slice(nq, nq + size.nq), slice(nv, nv + size.nv))
        )
        nq, nv = nq + size.nq, nv + size.nv
    return tuple(nodes)


def _subsystems(nodes: Sequence[Node]) -> tuple[Subsystem, ...]:
    members: list[list[int]] = []
    for i, node in enumerate(nodes):
        if node.subsystem == len(members):
            members.append([])
        members[node.subsystem].append(i)
    return tuple(
        Subsystem(
            s,
            tuple(m),
            tuple(nodes[i].body for i in m),
            slice(nodes[m[0]].q.start, nodes[m[-1]].q.stop),
            slice(nodes[m[0]].v.start, nodes[m[-1]].v.stop),
        )
        for s, m in enumerate(members)
    )


def closing_conditions(graph: Graph, tree: Span, cuts: Iterable[int]) -> list[tuple[str, str, tuple[str, ...], list[int]]]:
    """(name, kind, row labels, bodies whose carrying joints it constrains) of everything that closes a loop.

    Order: cut joints as given, then rods, couplings, gears and belts as written.
    """
    d = graph.description
    out: list[tuple[str, str, tuple[str, ...], list[int]]] = []
    for e in cuts:
        out.append((graph.name(e), "joint", graph.sizes[e].labels, tree.circuit(*graph.ends[e])))
    for x in elements.constraints(d):
        pairs = [(graph.index[a], graph.index[b]) for a, b in x.body_pairs if a != b]
        ways = [tree.circuit(a, b) for a, b in pairs]
        if not x.body_pairs:
            ways = [joint_bodies(graph, tree, graph.joint_index[name]) for name in elements.joint_names(x)]
        out.append((x.name, x.constraint, x.labels, list(dict.fromkeys(b for way in ways for b in way))))
    return out


def joint_bodies(graph: Graph, tree: Span, joint: int) -> list[int]:
    """The bodies whose carrying joints decide a joint's coordinate: one if it is in the tree, the circuit if it is cut."""
    a, b = graph.ends[joint]
    for body in (a, b):
        if tree.carrier[body] == joint:
            return [body]
    return tree.circuit(a, b)


def _loops(graph: Graph, tree: Span, cuts: Sequence[int], nodes: Sequence[Node]) -> tuple[Loop, ...]:
    position = {body: i for i, body in enumerate(tree.order)}
    loops: list[Loop] = []
    row = 0
    for name, kind, labels, bodies in closing_conditions(graph, tree, cuts):
        on_way = [nodes[position[b]] for b in bodies]
        loops.append(
            Loop(
                name,
                kind,
                slice(row, row + len(labels)),
                labels,
                (*(n.joint.name for n in on_way), name),
                tuple(sorted({n.subsystem for n in on_way if n.v.stop > n.v.start})) if labels else (),
            )
        )
        row += len(labels)
    return tuple(loops)


def rebind(tree: Tree, description: Description) -> Tree:
    """The same tree with the numbers of another description (same bodies and joints, any scalars)."""
    old = tree.description
    for what in ("bodies", "joints", *elements.CLOSING):
        if [t.name for t in getattr(old, what)] != [t.name for t in getattr(description, what)]:
            raise UsageError(f"the tree was built for other {what}: build a new one with build_tree(description).", name="tree")
    joints = {joint.name: joint for joint in description.joints}
    for joint in old.joints:
        new = joints[joint.name]
        if (new.type, new.first, new.second) != (joint.type, joint.first, joint.second):
            raise UsageError(
                f"joint '{joint.name}' has another type or other bodies: build a new tree with build_tree(description).", name=joint.name
            )
    nodes = tuple(replace(n, joint=joints[n.joint.name]) if n.joint.name in joints else n for n in tree.nodes)
    return replace(tree, description=description, nodes=nodes)


# ---------------------------------------------------------------- the tree of a description

MOST_BUILT = 64  # structures whose trees are remembered
_built: OrderedDict[Hashable, Tree] = OrderedDict()


def build_tree(description: Description, cuts: Sequence[str] | None = None, structure: Hashable = None) -> Tree:
    """Spanning tree, subsystems and loops of a numeric description.

    `cuts` (else `description.cuts`) names the joints to take out of the tree; without either the
    program chooses them for cheap forward dynamics; for a `structure` that was met before (`model.numbers`) the same ones again,
    unless other degrees of freedom move no inertia.
    """
    wanted = cuts if cuts is not None else description.cuts
    drives = tuple(d.joint for d in description.drives)
    if wanted is None and (structure, drives, None) in _built and description.full_inertias:
        description.need_no_twins()
        return rebind(_built[structure, drives, None], description)
    graph = read_graph(description)
    if wanted is not None:
        return tree_of(graph, given_cuts(graph, wanted), "chosen by the user")
    key = None if structure is None else (structure, drives, InertiaTest(graph).facts)
    if key is not None and key in _built:
        return rebind(_built[key], description)
    names, _, reason = choose_cuts(description)
    tree = tree_of(graph, [graph.joint_index[name] for name in names], reason)
    if key is not None:
        _built[key] = tree
        if len(_built) > MOST_BUILT:
            _built.popitem(last=False)
    return tree
