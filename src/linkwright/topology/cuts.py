"""Choice of the cut joints: the user's, checked, or the program's own.

The program keeps joints that carry something (an armature, a drive, spring, damper, friction, gear, coupling) and
screws, looks at every remaining spanning tree if there are not too many and at edge exchanges
from a shallow tree otherwise, and takes the one with the cheapest forward dynamics. In a large mechanism
bodies at regular distances may float, each with a small tree of its own (bays of a scissor lift). Trees with
degrees of freedom that move no inertia come last. The search is deterministic: equal costs keep the
joints written first in the tree, and its bounds count evaluations, not seconds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from linkwright import elements
from linkwright.errors import ModelError, counted, listing, nearest
from linkwright.joints import JOINTS
from linkwright.model.coordinates import joint_name
from linkwright.model.description import Description, Joint
from linkwright.properties import cached_property
from linkwright.topology.cost import forward_cost
from linkwright.topology.graph import FLOATING, DisjointSets, Graph, InertiaTest, Span, loop_left, read_graph, span

MOST_TREES = 2000  # exact search up to so many spanning trees
MOST_WORK = 60_000  # bodies and loops looked at by a search through exchanges, over all evaluations
MOST_FLOATING = 3  # bodies that are tried floating
LARGE = 16  # bodies beyond which whole sets of floating bodies are tried, so that no tree is deep: work would grow with its cube
RADII = (2, 3, 4)  # joints between such bodies

NOT_CUT = "whose armature turns with a speed of the tree. The speed of a cut joint is none."

Key = tuple[float, ...]
Judge = Callable[[Span, Sequence[int]], Key]

LARGEST_COUNT = 300  # contracted graphs with more vertices are not counted: they have too many trees


def given_cuts(graph: Graph, names: Sequence[str]) -> list[int]:
    """The user's cuts as joint numbers; a ModelError if a name is wrong or a loop is left."""
    cuts: list[int] = []
    for name in names:
        if name not in graph.joint_index:
            raise ModelError(f"cuts names joint '{name}', which does not exist.", None, nearest(name, graph.joint_index, "Joints"))
        e = graph.joint_index[name]
        if has_armature(graph.description.joints[e]):
            raise ModelError(
                f"cuts names joint '{name}', {NOT_CUT} Cut another joint of the loop.", graph.description.joints[e].where, name=name
            )
        if e in cuts:
            raise ModelError(f"cuts names joint '{name}' twice. Name every joint once.", name=name)
        cuts.append(e)
    tree = span(graph, cuts)
    if tree.left:
        loop = " - ".join(loop_left(graph, tree, tree.left[0]))
        raise ModelError(
            f"the cuts ({listing(names) or 'none'}) leave a loop closed: {loop}. Add one of these joints to cuts.", name="cuts"
        )
    return cuts


def has_armature(joint: Joint) -> bool:
    """True if an inertia moves with the joint's own speed; a symbol is one."""
    return not (isinstance(joint.armature, (int, float)) and joint.armature == 0.0)


def protected_joints(description: Description) -> dict[str, str]:
    """Joints that are not cut, with the reason; the most important reasons come first in the dict."""
    d = description
    out: dict[str, str] = {joint.name: "armature" for joint in d.joints if has_armature(joint)}
    for joint in d.joints:
        if reason := JOINTS[joint.type].uncut:
            out.setdefault(joint.name, reason)
    for x in elements.constraints(d):
        for name in elements.joint_names(x):
            out.setdefault(name, f"{x.constraint} {x.name}")
    for drive in d.drives:
        out.setdefault(drive.joint, "driven")
    for x in d.acting:
        for name in elements.joint_names(x):
            out.setdefault(joint_name(name), f"{x.word} {x.name}")
    names = {joint.name for joint in d.joints}
    return {name: why for name, why in out.items() if name in names}


def choose_cuts(description: Description) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """(joints to cut as written, floating bodies, why) for cheap forward dynamics."""
    graph = read_graph(description)
    inertia = InertiaTest(graph)

    def judge(tree: Span, cuts: Sequence[int]) -> Key:
        return inertia.faults(tree), forward_cost(graph, tree, cuts)

    found = search(graph, judge)
    faulty = inertia.faulty(found.tree) if found.key[0] else []
    reason = f"for cheap forward dynamics, {found.how}"
    retained = [f"{name} ({why})" for name, why in protected_joints(description).items()]
    if retained and found.cuts:
        reason += f"; not to be cut: {listing(retained, 6)}"
    if faulty:
        reason += f"; no tree gives every degree of freedom inertia (bodies {listing(graph.bodies[b] for b in faulty)})"
    return tuple(graph.name(e) for e in found.cuts), tuple(graph.bodies[b] for b in found.tree.floating), reason


@dataclass(frozen=True)
class Found:
    """The best tree of a search: its cuts, its key (smaller is better) and how it was found."""

    cuts: tuple[int, ...]
    tree: Span
    key: Key
    how: str


def search(graph: Graph, judge: Judge) -> Found:
    """The spanning tree with the smallest key; first without, then with a floating body."""
    retained, forced = _keep_protected(graph)
    plain = Space(graph, retained, forced)
    best = _best_in(plain, judge, 1.0)
    if not best.cuts:
        return best
    for b in _may_float(graph):
        found = _best_in(Space(graph, retained, forced, (b,)), judge, 1.0 / (1 + MOST_FLOATING))
        if found.key < best.key:
            best = replace(found, how=f"{found.how} with {graph.bodies[b]} floating")
    if len(graph.bodies) > LARGE:
        best = _many_afloat(graph, judge, best, retained, forced)
    if forced:
        names = listing(graph.name(e) for e in forced)
        best = replace(best, how=f"{best.how}; {names} had to be cut: every joint of that loop carries something")
    return best


def _many_afloat(graph: Graph, judge: Judge, best: Found, retained: tuple[int, ...], forced: tuple[int, ...]) -> Found:
    """The best tree, or one in which bodies at regular distances float with small trees of few different shapes."""
    spaces = [Space(graph, retained, forced, spaced(graph, radius)) for radius in RADII]
    every = [
        _found(graph, judge, shallow_tree(s), f"shallow trees of {counted(len(s.floating), 'floating body')}, {radius} joints apart")
        for radius, s in zip(RADII, spaces, strict=True)
        if s.floating
    ]
    least = min(every, key=lambda f: f.key, default=best)
    if best.key <= least.key:
        return best
    alike = 1.4  # times the least flops, at most, for trees of fewer different shapes, whose code is written once
    near = [f for f in every if f.key[:-1] == least.key[:-1] and f.key[-1] <= alike * least.key[-1]]
    return min(near, key=lambda f: (_different(graph, f.tree), f.key))


def _different(graph: Graph, tree: Span) -> int:
    """Bodies in trees of different shapes: how many there would be if like trees counted once."""
    place: dict[int, int] = {}
    shapes: dict[int, list[tuple[int, str]]] = {}
    for b in tree.order:
        shape = shapes.setdefault(tree.root[b], [])
        place[b] = len(shape)
        e = tree.carrier[b]
        shape.append((place.get(tree.parent[b], -1), "" if e == FLOATING else graph.description.joints[e].type))
    return sum(len(shape) for shape in {tuple(x) for x in shapes.values()})


def _keep_protected(graph: Graph) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Protected joints that stay in the tree, and those that must be cut because they close a loop of such joints."""
    groups = DisjointSets(len(graph.bodies))
    retained: list[int] = []
    forced: list[int] = []
    rowless = [joint.name for joint, size in zip(graph.description.joints, graph.sizes, strict=True) if not size.labels]
    for name in dict.fromkeys((*protected_joints(graph.description), *rowless)):
        e = graph.joint_index[name]
        joins = groups.merge(*graph.ends[e])
        if not joins and has_armature(graph.description.joints[e]):
            raise ModelError(
                f"every joint of a loop has an armature, '{name}' too, and one of them must be cut: there the loop is closed by a "
                "condition, and an armature has no speed to turn with. Leave the armature of one of these joints out.",
                graph.description.joints[e].where,
                name=name,
            )
        (retained if joins else forced).append(e)
    return tuple(retained), tuple(sorted(forced))


def _may_float(graph: Graph) -> list[int]:
    """Bodies worth a try on an implicit joint: away from ground, with three joints or more (four in a plane,
    where the hinge degrees of freedom that this saves cost next to nothing)."""
    fewest = 4 if graph.description.planar else 3
    ground = {graph.other(e, 0) for e in graph.adjacency[0]}
    bodies = [
        b
        for b in range(1, len(graph.bodies))
        if b not in ground and len(graph.adjacency[b]) >= fewest and graph.bodies[b] not in graph.joint_index
    ]
    return sorted(bodies, key=lambda b: (-len(graph.adjacency[b]), b))[:MOST_FLOATING]


def _found(graph: Graph, judge: Judge, cuts: tuple[int, ...], how: str) -> Found:
    tree = span(graph, cuts)
    return Found(cuts, tree, judge(tree, cuts), how)


def _best_in(space: Space, judge: Judge, share: float) -> Found:
    graph = space.graph
    trees = count_trees(space, MOST_TREES)
    found = partial(_found, graph, judge)
    if trees <= MOST_TREES * share:
        how = "the only spanning tree" if trees <= 1 else f"best of {trees} spanning trees"
        return min((found(cuts, how) for cuts in spanning_trees(space)), key=lambda f: f.key)
    best = found(shallow_tree(space), "best found by exchanging joints, from the shallowest tree")
    budget = int(share * MOST_WORK) // (len(graph.bodies) + len(graph.ends))
    improved = True
    while improved and budget > 0:
        improved = False
        for e in best.cuts:
            if budget <= 0:
                break
            tries = [found(cuts, best.how) for cuts in exchanges(space, best.tree, best.cuts, e)[:budget]]
            budget -= len(tries)
            better = min(tries, key=lambda f: f.key, default=best)
            if better.key < best.key:
                best, improved = better, True
    return best


# Spanning trees of a graph in which some joints are bound to stay and some to go.
#
# Joints that stay are contracted, and so are bridges, so that the trees counted and enumerated here
# differ in joints that may really be cut.


class Space:
    """All cut sets that keep `retained`, cut `forced`, and leave the bodies `floating` without a way to ground."""

    def __init__(self, graph: Graph, retained: tuple[int, ...] = (), forced: tuple[int, ...] = (), floating: tuple[int, ...] = ()):
        self.graph, self.retained, self.forced, self.floating = graph, retained, forced, floating
        self.groups = DisjointSets(len(graph.bodies))
        for e in retained:
            self.groups.merge(*graph.ends[e])
        for b in floating:
            self.groups.merge(0, b)
        bound = {*retained, *forced}
        self.choice = [e for e in range(len(graph.ends)) if e not in bound]

    @cached_property
    def loose(self) -> list[tuple[int, int, int]]:
        """(joint, group, group) of the joints that may be cut, bridges contracted; joints inside a group must be cut."""
        edges = [(e, self.groups.of(self.graph.ends[e][0]), self.groups.of(self.graph.ends[e][1])) for e in self.choice]
        bridges = _bridges(len(self.graph.bodies), edges)
        merged = DisjointSets(len(self.graph.bodies))
        for e, a, b in edges:
            if e in bridges:
                merged.merge(a, b)
        return [(e, merged.of(a), merged.of(b)) for e, a, b in edges if e not in bridges]

    def cuts(self, chosen: set[int]) -> tuple[int, ...]:
        """The cut set of a tree that takes `chosen` of the loose joints."""
        return tuple(sorted([*self.forced, *(e for e, _, _ in self.loose if e not in chosen)]))


def _bridges(n: int, edges: list[tuple[int, int, int]]) -> set[int]:
    """Edges whose removal disconnects: depth-first low points, without recursion."""
    at: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for e, a, b in edges:
        if a != b:
            at[a].append((e, b))
            at[b].append((e, a))
    seen, low = [0] * n, [0] * n
    clock = 0
    bridges: set[int] = set()
    for start in range(n):
        if seen[start] or not at[start]:
            continue
        clock += 1
        seen[start] = low[start] = clock
        stack = [(start, -1, iter(at[start]))]
        while stack:
            v, via, rest = stack[-1]
            for e, w in rest:
                if e == via:
                    continue
                if seen[w]:
                    low[v] = min(low[v], seen[w])
                else:
                    clock += 1
                    seen[w] = low[w] = clock
                    stack.append((w, e, iter(at[w])))
                    break
            else:
                stack.pop()
                if stack:
                    u = stack[-1][0]
                    low[u] = min(low[u], low[v])
                    if low[v] > seen[u]:
                        bridges.add(via)
    return bridges


def count_trees(space: Space, most: int) -> int:
    """How many spanning trees there are (Kirchhoff's theorem); `most` + 1 stands for more than `most`."""
    edges = [(a, b) for _, a, b in space.loose if a != b]
    names = {v: i for i, v in enumerate(sorted({v for edge in edges for v in edge}))}
    if not names:
        return 1
    if len(names) > LARGEST_COUNT:
        return most + 1
    L = np.zeros((len(names), len(names)))
    parts = DisjointSets(len(names))
    for a, b in edges:
        i, j = names[a], names[b]
        parts.merge(i, j)
        L[i, i] += 1
        L[j, j] += 1
        L[i, j] -= 1
        L[j, i] -= 1
    inner = [i for i in range(len(names)) if parts.of(i) != i]  # one vertex of every part is struck out
    logarithm = np.linalg.slogdet(L[np.ix_(inner, inner)])[1]
    return round(np.exp(logarithm)) if logarithm < np.log(most + 1) else most + 1


def spanning_trees(space: Space) -> Iterator[tuple[int, ...]]:
    """The cut sets of all spanning trees; those that keep the joints written first come first."""
    edges = [edge for edge in space.loose if edge[1] != edge[2]]
    n = len(space.graph.bodies)
    last_connected = DisjointSets(n)
    target = sum(last_connected.merge(a, b) for _, a, b in edges)
    stack: list[tuple[int, tuple[int, ...]]] = [(0, ())]  # next edge, positions taken so far
    while stack:
        k, taken = stack.pop()
        if len(taken) == target:
            yield space.cuts({edges[i][0] for i in taken})
            continue
        groups = DisjointSets(n)
        for i in taken:
            groups.merge(edges[i][1], edges[i][2])
        _, a, b = edges[k]
        if groups.of(a) == groups.of(b):
            stack.append((k + 1, taken))
            continue
        reach = len(taken) + sum(groups.merge(x, y) for _, x, y in edges[k + 1 :])
        if reach == target:  # the rest still connects without edge k
            stack.append((k + 1, taken))
        stack.append((k + 1, (*taken, k)))


def shallow_tree(space: Space) -> tuple[int, ...]:
    """The cut set of the tree grown breadth first from ground over the contracted graph."""
    graph, groups = space.graph, space.groups
    members: dict[int, list[int]] = {}
    for b in range(len(graph.bodies)):
        members.setdefault(groups.of(b), []).append(b)
    bound = {*space.retained, *space.forced}
    chosen: set[int] = set()
    seen: set[int] = set()
    for start in members:  # ground's group first; others only if rods or cylinders alone hold them
        if start in seen:
            continue
        seen.add(start)
        queue = deque(members[start])
        while queue:
            body = queue.popleft()
            for e in graph.adjacency[body]:
                group = groups.of(graph.other(e, body))
                if e not in bound and group not in seen:
                    seen.add(group)
                    chosen.add(e)
                    queue.extend(members[group])
    return space.cuts(chosen)


def spaced(graph: Graph, radius: int) -> tuple[int, ...]:
    """Bodies at least so many joints from ground and from one another, those nearest to ground first."""
    far = len(graph.bodies)
    distance = [far] * far
    order = [0]
    distance[0] = 0
    for body in order:  # grows meanwhile
        for e in graph.adjacency[body]:
            other = graph.other(e, body)
            if distance[other] == far:
                distance[other] = distance[body] + 1
                order.append(other)
    chosen: list[int] = []
    for body in order:
        if distance[body] >= radius and graph.bodies[body] not in graph.joint_index:
            chosen.append(body)
            distance[body] = 0
            queue = deque([body])
            while queue:
                at = queue.popleft()
                for e in graph.adjacency[at]:
                    other = graph.other(e, at)
                    if other and distance[at] + 1 < distance[other]:
                        distance[other] = distance[at] + 1
                        queue.append(other)
    return tuple(chosen)


def exchanges(space: Space, tree: Span, cuts: tuple[int, ...], joint: int) -> list[tuple[int, ...]]:
    """Cut sets in which another joint of the loop that `joint` closes is cut in its place."""
    if joint in space.forced:
        return []
    loose = {e for e, a, b in space.loose if a != b}
    if joint not in loose:
        return []
    rest = [e for e in cuts if e != joint]
    on_loop = sorted(tree.carrier[b] for b in tree.circuit(*space.graph.ends[joint]) if tree.carrier[b] != FLOATING)
    return [tuple(sorted([*rest, e])) for e in on_loop if e in loose]
