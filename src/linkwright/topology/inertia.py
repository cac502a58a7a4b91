"""Degrees of freedom of a tree that move no inertia, found without kinematics.

A subsystem's inertia matrix is singular if a joint at its tip only carries massless bodies, if a
thin rod spins about itself or a point mass about its own place, or if there are more degrees of freedom
beyond a joint than the bodies there can resist. Trees with such degrees of freedom are avoided.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from linkwright.joints import create
from linkwright.model.description import Body, Description, Joint, Placement
from linkwright.numerics.spatial import Pose, spatial_inertia
from linkwright.topology.graph import FLOATING, Graph, Span

RELATIVE = 1e-10  # an inertia this small against the body's largest counts as none


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
            if _plainly_full(body, planar):
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


def all_plainly_full(d: Description) -> bool:
    """True if no body is in doubt: then `facts` are None."""
    return all(b.mass is None or _plainly_full(b, d.planar) for b in d.bodies[1:])


def _plainly_full(body: Body, planar: bool) -> bool:
    """True for a body whose mass and moments of inertia along its own axes leave no doubt; the others are decomposed."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia
    if body.mass is None or any(type(x) is not float for x in (body.mass, xx, xy, xz, yy, yz, zz)):
        return False
    least, largest = (zz, zz) if planar else (min(xx, yy, zz), max(xx, yy, zz))
    return body.mass > 0.0 and least > 2.0 * RELATIVE * largest and (planar or xy == xz == yz == 0.0)


def _floats(values: Any) -> np.ndarray:
    return np.real(np.asarray(values)).astype(float)


def _spatial_inertia(body: Body, frame: Placement, planar: bool) -> np.ndarray:
    """Inertia [angular; linear] about a frame's origin in its axes; in a plane (rotation, x, y) only."""
    across = Pose(_floats(frame.rotation).T, np.zeros(3))
    I = spatial_inertia(across, float(_floats(body.mass)), _floats(body.com) - _floats(frame.at), _floats(body.inertia))
    return I[np.ix_([2, 3, 4], [2, 3, 4])] if planar else I


def _sizes(I: np.ndarray) -> np.ndarray:
    """Bound on the inertia of an entry of each kind: the largest rotational and the largest translational one."""
    turns = len(I) // 2 if len(I) == 6 else 1
    diagonal = np.maximum(np.diag(I), 0.0)
    return np.array([diagonal[:turns].max()] * turns + [diagonal[turns:].max()] * (len(I) - turns))


def _rank(I: np.ndarray) -> int:
    root = np.sqrt(_sizes(I))  # of each: the product of two small masses would be zero
    root[root == 0.0] = 1.0
    return int(np.sum(np.linalg.eigvalsh(I / np.outer(root, root)) > RELATIVE))


def _moves_nothing(I: np.ndarray, S: np.ndarray) -> bool:
    """Is the inertia S' I S that the joint's own degrees of freedom see singular?"""
    if not S.size:
        return False
    weight = np.einsum("ij,i,ij->j", S, _sizes(I), S)  # the most each degree of freedom could weigh
    if np.any(weight <= 0.0):
        return True
    root = np.sqrt(weight)
    return bool(np.linalg.eigvalsh(S.T @ I @ S / np.outer(root, root))[0] <= RELATIVE)


def _subspace(joint: Joint, planar: bool) -> np.ndarray:
    """The joint's motion subspace where its two frames coincide."""
    kind = create(joint.type, joint.options)
    q = kind.coordinates(np.eye(3), np.zeros(3), np.zeros(kind.nq))
    S = _floats(kind.subspace(q)).reshape(6, kind.nv)
    return S[[2, 3, 4]] if planar else S
