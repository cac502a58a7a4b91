"""The result of topology: a spanning tree with numbered nodes, its subsystems, and what closes the loops.

Node order is topological and subsystem by subsystem: a parent comes before its children and the
nodes of one subsystem are contiguous, so M is block diagonal and every block is a slice.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from linkwright.model.description import Description, Joint
from linkwright.numerics.pickling import essentials


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
