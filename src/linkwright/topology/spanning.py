"""Spanning trees of a graph in which some joints are bound to stay and some to go.

Joints that stay are contracted, and so are bridges, so that the trees counted and enumerated here
differ in joints that may really be cut.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from linkwright.topology.graph import FLOATING, DisjointSets, Graph, Span

LARGEST_COUNT = 300  # contracted graphs with more vertices are not counted: they have too many trees


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
