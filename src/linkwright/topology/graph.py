"""The graph of bodies and joints as plain integers: adjacency, checks, and the tree that a cut set leaves.

Bodies are numbered as written with ground 0, joints as written. Nothing here knows geometry; a
joint counts by its degrees of freedom (`nv`) and by the rows it has when cut (`labels`).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright import elements
from linkwright.errors import ModelError, listing, nearest
from linkwright.joints import create, row_indices
from linkwright.model.description import NO_INERTIA_SHARE, Body, Description, Joint, Placement
from linkwright.numerics.memory_and_threads import essentials
from linkwright.numerics.spatial import Pose, spatial_inertia
from linkwright.properties import cached_property

FLOATING = -1  # in place of a joint's index: the body hangs on an implicit joint


@dataclass(frozen=True)
class JointSize:
    """Sizes of a joint: coordinates, velocities, and a label for each row when it is cut."""

    nq: int
    nv: int
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Graph:
    """Bodies (ground 0) and joints (`ends`: first and second body) of a description, by number."""

    __getstate__ = essentials

    description: Description
    bodies: tuple[str, ...]
    ends: tuple[tuple[int, int], ...]
    sizes: tuple[JointSize, ...]
    floating_size: JointSize  # of the implicit joint of a floating body

    @cached_property
    def index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.bodies)}

    @cached_property
    def joint_index(self) -> dict[str, int]:
        return {joint.name: i for i, joint in enumerate(self.description.joints)}

    @cached_property
    def adjacency(self) -> tuple[tuple[int, ...], ...]:
        """For every body its joints, as written."""
        at: list[list[int]] = [[] for _ in self.bodies]
        for e, (a, b) in enumerate(self.ends):
            at[a].append(e)
            at[b].append(e)
        return tuple(tuple(edges) for edges in at)

    def other(self, joint: int, body: int) -> int:
        a, b = self.ends[joint]
        return b if body == a else a

    def name(self, joint: int) -> str:
        return self.description.joints[joint].name

    def size(self, joint: int) -> JointSize:
        return self.floating_size if joint == FLOATING else self.sizes[joint]


@dataclass(frozen=True)
class Span:
    """A spanning tree. `order` lists the moving bodies, parents first, subsystem by subsystem."""

    order: tuple[int, ...]
    parent: tuple[int, ...]  # body -> carrying body, -1 for ground itself
    carrier: tuple[int, ...]  # body -> joint that carries it, FLOATING for an implicit one (and for ground)
    root: tuple[int, ...]  # body -> first body of its subsystem, 0 for ground
    depth: tuple[int, ...]  # body -> number of joints to ground
    left: tuple[int, ...] = ()  # joints that still close a loop

    @cached_property
    def floating(self) -> tuple[int, ...]:
        return tuple(b for b in self.order if self.carrier[b] == FLOATING)

    def path(self, a: int, b: int) -> tuple[list[int], list[int]]:
        """The bodies from a and from b up to, but without, the body where the two ways meet."""
        from_a: list[int] = []
        from_b: list[int] = []
        while a != b:
            if self.depth[a] >= self.depth[b]:
                from_a.append(a)
                a = self.parent[a]
            else:
                from_b.append(b)
                b = self.parent[b]
        return from_a, from_b

    def meet(self, a: int, b: int) -> int:
        """The body where the ways from a and b to ground meet (0: ground)."""
        if self.root[a] != self.root[b]:
            return 0
        depth, parent = self.depth, self.parent
        while a != b:
            if depth[a] >= depth[b]:
                a = parent[a]
            else:
                b = parent[b]
        return a

    def circuit(self, a: int, b: int) -> list[int]:
        """The bodies whose carrying joints lie on the way from a to b, in that order."""
        from_a, from_b = self.path(a, b)
        return from_a + from_b[::-1]


def read_graph(description: Description) -> Graph:
    """The graph of a description; a ModelError if it is not one connected mechanism on ground."""
    index = {body.name: i for i, body in enumerate(description.bodies)}
    ends: list[tuple[int, int]] = []
    for joint in description.joints:
        for name in (joint.first, joint.second):
            if name not in index:
                raise ModelError(
                    f"joint '{joint.name}' joins body '{name}', which does not exist.", joint.where, nearest(name, index, "Bodies")
                )
        if joint.first == joint.second:
            raise ModelError(
                f"joint '{joint.name}' joins body '{joint.first}' to itself. A joint needs two different bodies. Bodies: {listing(index)}.",
                joint.where,
                name=joint.name,
                allowed=index,
            )
        ends.append((index[joint.first], index[joint.second]))
    graph = Graph(
        description,
        tuple(index),
        tuple(ends),
        _sizes(description),
        _size(create("planar" if description.planar else "free"), description.planar),
    )
    description.need_no_twins()
    _check_references(graph)
    _check_grounded(graph)
    return graph


def _size(kind: Any, planar: bool) -> JointSize:
    return JointSize(kind.nq, kind.nv, tuple(kind.rows[i] for i in row_indices(kind, planar)))


def _sizes(description: Description) -> tuple[JointSize, ...]:
    known: dict[str, JointSize] = {}
    for joint in description.joints:
        if joint.type not in known:
            known[joint.type] = _size(create(joint.type, joint.options), description.planar)
    return tuple(known[joint.type] for joint in description.joints)


def _check_references(graph: Graph) -> None:
    """Rods join two different bodies; couplings and gears name different joints."""
    for x in elements.constraints(graph.description):
        if elements.acts(x) == elements.LINE and x.body_pairs[0][0] == x.body_pairs[0][1]:
            both = x.body_pairs[0][0]
            raise ModelError(
                f"{x.word} '{x.name}' has both ends on body '{both}': it holds nothing. Name another body.", x.where, name=x.name
            )
    for thing in (x for x in elements.constraints(graph.description) if elements.is_tied(x)):
        kind = thing.constraint
        for name in thing.joints:
            if name not in graph.joint_index:
                raise ModelError(
                    f"{kind} '{thing.name}' names joint '{name}', which does not exist.",
                    thing.where,
                    nearest(name, graph.joint_index, "Joints"),
                )
        twice = [name for name in thing.joints if thing.joints.count(name) > 1]
        if twice:
            raise ModelError(
                f"{kind} '{thing.name}' names joint '{twice[0]}' twice. It needs two different joints.", thing.where, name=thing.name
            )


class DisjointSets:
    """Disjoint sets of 0 .. n-1 that can be merged."""

    def __init__(self, n: int):
        self.up = list(range(n))

    def of(self, i: int) -> int:
        up = self.up
        while up[i] != i:
            up[i] = up[up[i]]
            i = up[i]
        return i

    def merge(self, a: int, b: int) -> bool:
        """Join the sets of a and b; False if they were one already. The smaller number represents both."""
        a, b = self.of(a), self.of(b)
        if a == b:
            return False
        self.up[max(a, b)] = min(a, b)
        return True


def distance_ends(graph: Graph) -> list[tuple[int, int]]:
    """The body pairs held by rods, cylinders and bushings, or that may touch: they connect, though they are no joints."""
    things = [x for x in elements.every(graph.description) if x.joins]
    pairs: list[tuple[int, int]] = []
    for thing in things:
        (first, _), (second, _) = thing.between
        a, b = graph.index.get(first, -1), graph.index.get(second, -1)
        if a < 0 or b < 0:
            wrong = first if a < 0 else second
            raise ModelError(
                f"'{thing.name}' ends on body '{wrong}', which does not exist.", thing.where, nearest(wrong, graph.index, "Bodies")
            )
        pairs.append((a, b))
    return [*pairs, *((graph.index[a], graph.index[b]) for a, b in graph.description.touching)]


def _check_grounded(graph: Graph) -> None:
    groups = DisjointSets(len(graph.bodies))
    for a, b in (*graph.ends, *distance_ends(graph)):
        groups.merge(a, b)
    loose = [b for b in range(len(graph.bodies)) if groups.of(b) != 0]
    if not loose:
        return
    first = groups.of(loose[0])
    island = [b for b in loose if groups.of(b) == first]
    joints = [e for e, (a, _) in enumerate(graph.ends) if groups.of(a) == first]
    names = listing(f"'{graph.bodies[b]}'" for b in island)
    float_type = "planar" if graph.description.planar else "free"
    remedy = (
        f"Add a joint between '{graph.bodies[0]}' (or a body that hangs on it) and one of them. "
        f"If they float, give one a joint of type {float_type} to '{graph.bodies[0]}'."
    )
    if len(joints) >= len(island):
        what = f"bodies {names} form a loop by themselves ({listing(graph.name(e) for e in joints)}), but nothing joins them to ground."
    elif len(island) > 1:
        what = f"bodies {names} hang together, but nothing joins them to ground."
    else:
        what = f"body {names} is not joined to anything."
        remedy = f"Name one of its pins in another body or in '{graph.bodies[0]}', or remove the body. " + remedy
    raise ModelError(f"{what} {remedy}", graph.description.bodies[island[0]].where, name=what)


def span(graph: Graph, cuts: Collection[int]) -> Span:
    """The tree that is left when `cuts` are taken out, depth first, children in the order of their joints.

    Groups of bodies without a way to ground float: the one with most connections hangs on an
    implicit joint. Joints that still close a loop are listed in `left`.
    """
    walk = _Walk(graph, cuts)
    walk.grow([(e, graph.other(e, 0), 0) for e in graph.adjacency[0] if e not in walk.cuts])
    if len(walk.order) + 1 < len(graph.bodies):
        for root in _floating_roots(graph, walk):
            walk.grow([(FLOATING, root, 0)])
    return Span(tuple(walk.order), tuple(walk.parent), tuple(walk.carrier), tuple(walk.root), tuple(walk.depth), tuple(sorted(walk.left)))


class _Walk:
    """Depth-first growth of a forest from ground."""

    def __init__(self, graph: Graph, cuts: Iterable[int]):
        n = len(graph.bodies)
        self.graph, self.cuts = graph, frozenset(cuts)
        self.parent, self.carrier, self.root, self.depth = [-1] * n, [FLOATING] * n, [0] * n, [0] * n
        self.seen = [True] + [False] * (n - 1)
        self.order: list[int] = []
        self.left: set[int] = set()

    def grow(self, starts: list[tuple[int, int, int]]) -> None:
        stack = starts[::-1]
        adjacency, ends, seen = self.graph.adjacency, self.graph.ends, self.seen
        while stack:
            joint, body, parent = stack.pop()
            if seen[body]:
                self.left.add(joint)
                continue
            seen[body] = True
            self.order.append(body)
            self.parent[body], self.carrier[body] = parent, joint
            self.root[body] = self.root[parent] or body
            self.depth[body] = self.depth[parent] + 1
            for e in reversed(adjacency[body]):
                if e != joint and e not in self.cuts and e not in self.left:
                    a, b = ends[e]
                    stack.append((e, b if body == a else a, body))


def _floating_roots(graph: Graph, walk: _Walk) -> list[int]:
    """One body for each group without a way to ground: most joints and rods first, then as written."""
    groups = DisjointSets(len(graph.bodies))
    for e, (a, b) in enumerate(graph.ends):
        if e not in walk.cuts:
            groups.merge(a, b)
    weight = [len(edges) for edges in graph.adjacency]
    for a, b in distance_ends(graph):
        weight[a] += 1
        weight[b] += 1
    best: dict[int, int] = {}
    for b in range(1, len(graph.bodies)):
        if not walk.seen[b]:
            g = groups.of(b)
            if g not in best or weight[b] > weight[best[g]]:
                best[g] = b
    return sorted(best.values())


def loop_left(graph: Graph, tree: Span, joint: int) -> list[str]:
    """Names of the joints around the loop that `joint` closes."""
    a, b = graph.ends[joint]
    return [graph.name(tree.carrier[i]) for i in tree.circuit(a, b) if tree.carrier[i] != FLOATING] + [graph.name(joint)]


# ----------------------------------------------------------------------------------------------------
# Degrees of freedom of a tree that move no inertia, found without kinematics
# A subsystem's inertia matrix is singular if a joint at its tip only carries massless bodies, if a
# thin rod spins about itself or a point mass about its own place, or if there are more degrees of freedom
# beyond a joint than the bodies there can resist. Trees with such degrees of freedom are avoided.



class InertiaTest:
    """Counts, for spanning trees of one graph, the joints whose degrees of freedom carry no inertia."""

    def __init__(self, graph: Graph):
        self.graph = graph
        planar = graph.description.planar
        full = 3 if planar else 6
        self.rank = [full] * len(graph.bodies)
        self.idle: set[tuple[int, int]] = set()  # (joint, body it carries): a degree of freedom of the joint does not move that body's mass
        self.idle_afloat: set[int] = set()
        joints = graph.description.joints
        self.resisting = {e for e, j in enumerate(joints) if not isinstance(j.armature, (int, float)) or j.armature != 0.0}  # armatures
        for b, body in enumerate(graph.description.bodies):
            if b == 0 or body.mass is None:  # mass not given: kinematics only, nothing to judge
                continue
            if body.full_inertia(planar):
                continue
            self.rank[b] = _rank(_spatial_inertia(body, Placement(at=body.com), planar))
            if self.rank[b] == full:
                continue
            self.idle_afloat.add(b)
            for e in graph.adjacency[b]:
                joint = graph.description.joints[e]
                frame = joint.frame_second if graph.ends[e][1] == b else joint.frame_first
                if e not in self.resisting and _moves_nothing(_spatial_inertia(body, frame, planar), _subspace(joint, planar)):
                    self.idle.add((e, b))
        self.always_sound = all(r == full for r in self.rank[1:])

    @property
    def facts(self) -> Hashable:
        """All that it knows of the numbers of the bodies; None if every body has full inertia."""
        return None if self.always_sound else (tuple(self.rank), frozenset(self.idle), frozenset(self.resisting))

    def faults(self, tree: Span) -> int:
        """How many joints of the tree have a degree of freedom that moves no inertia (0: every subsystem is sound)."""
        if self.always_sound:
            return 0
        return len(self.faulty(tree))

    def faulty(self, tree: Span) -> list[int]:
        """The bodies whose carrying joints have such a degree of freedom."""
        n = len(self.rank)
        freedoms, resisted, massive = [0] * n, [0] * n, [0] * n
        bad: list[int] = []
        for b in reversed(tree.order):
            e = tree.carrier[b]
            freedoms[b] += 0 if e in self.resisting else self.graph.size(e).nv
            resisted[b] += self.rank[b]
            massive[b] += self.rank[b] > 0
            alone = massive[b] == 1 and self.rank[b] > 0  # no mass beyond b itself
            if freedoms[b] > resisted[b] or (alone and (b in self.idle_afloat if e == FLOATING else (e, b) in self.idle)):
                bad.append(b)
            p = tree.parent[b]
            if p:
                freedoms[p] += freedoms[b]
                resisted[p] += resisted[b]
                massive[p] += massive[b]
        return bad[::-1]


def _floats(values: Any) -> np.ndarray:
    return np.real(np.asarray(values)).astype(float)


def _spatial_inertia(body: Body, frame: Placement, planar: bool) -> np.ndarray:
    """Inertia [angular; linear] about a frame's origin in its axes; in a plane (rotation, x, y) only."""
    across = Pose(_floats(frame.rotation).T, np.zeros(3))
    I = spatial_inertia(across, float(_floats(body.mass)), _floats(body.com) - _floats(frame.at), _floats(body.inertia))
    return I[np.ix_([2, 3, 4], [2, 3, 4])] if planar else I


def _inertia_sizes(I: np.ndarray) -> np.ndarray:
    """Bound on the inertia of an entry of each kind: the largest rotational and the largest translational one."""
    turns = len(I) // 2 if len(I) == 6 else 1
    diagonal = np.maximum(np.diag(I), 0.0)
    return np.array([diagonal[:turns].max()] * turns + [diagonal[turns:].max()] * (len(I) - turns))


def _rank(I: np.ndarray) -> int:
    root = np.sqrt(_inertia_sizes(I))  # of each: the product of two small masses would be zero
    root[root == 0.0] = 1.0
    return int(np.sum(np.linalg.eigvalsh(I / np.outer(root, root)) > NO_INERTIA_SHARE))


def _moves_nothing(I: np.ndarray, S: np.ndarray) -> bool:
    """Is the inertia S' I S that the joint's own degrees of freedom see singular?"""
    if not S.size:
        return False
    weight = np.einsum("ij,i,ij->j", S, _inertia_sizes(I), S)  # the most each degree of freedom could weigh
    if np.any(weight <= 0.0):
        return True
    root = np.sqrt(weight)
    return bool(np.linalg.eigvalsh(S.T @ I @ S / np.outer(root, root))[0] <= NO_INERTIA_SHARE)


def _subspace(joint: Joint, planar: bool) -> np.ndarray:
    """The joint's motion subspace where its two frames coincide."""
    kind = create(joint.type, joint.options)
    q = kind.coordinates(np.eye(3), np.zeros(3), np.zeros(kind.nq))
    S = _floats(kind.subspace(q)).reshape(6, kind.nv)
    return S[[2, 3, 4]] if planar else S
