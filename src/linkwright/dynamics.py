"""Dynamics of the spanning tree: inertia, bias forces, energy, momentum, and both recursions.

    M(q) a + h(q, v) = tau        (per subsystem; loops enter through J' lam above this layer)

h holds Coriolis and gravity forces minus everything the forces of the model do. All recursions run in
world axes at the subsystem's origin, so composite inertias and wrenches add without transformation.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from linkwright.kinematics import Motion, Skeleton, accelerations
from linkwright.scalars import common_type, solve
from linkwright.spatial import cross, cross_wrench, spatial_inertia

External = Iterable[tuple[int, Any]]  # (node, wrench at the node's origin)


def body_inertias(skel: Skeleton, m: Motion) -> list[np.ndarray]:
    """(6, 6) inertia of every body about its subsystem's origin."""
    return [spatial_inertia(X, mass, com, I) for X, mass, com, I in zip(m.X, skel.mass, skel.com, skel.inertia, strict=True)]


def inertia_blocks(skel: Skeleton, m: Motion) -> list[np.ndarray]:
    """I_j of every subsystem: composite-rigid-body algorithm  [RBDA ch. 6]."""
    nodes = skel.tree.nodes
    I_C = body_inertias(skel, m)
    out = []
    for sub in skel.tree.subsystems:
        first, size = sub.v.start, sub.v.stop - sub.v.start
        M = np.zeros((size, size), dtype=common_type(np.zeros(1), *(I_C[i] for i in sub.nodes), *(m.S[i] for i in sub.nodes)))
        for i in reversed(sub.nodes):
            F = I_C[i] @ m.S[i]
            own = slice(nodes[i].v.start - first, nodes[i].v.stop - first)
            for j in skel.tree.support(i):
                above = slice(nodes[j].v.start - first, nodes[j].v.stop - first)
                M[above, own] = m.S[j].T @ F
                M[own, above] = M[above, own].T
            if nodes[i].parent >= 0:
                I_C[nodes[i].parent] = I_C[nodes[i].parent] + I_C[i]
        out.append(M)
    return out


def mass_matrix(skel: Skeleton, m: Motion) -> np.ndarray:
    """M of the whole tree; block diagonal over subsystems."""
    blocks = inertia_blocks(skel, m)
    M = np.zeros((skel.tree.nv, skel.tree.nv), dtype=common_type(np.zeros(1), *blocks))
    for sub, block in zip(skel.tree.subsystems, blocks, strict=True):
        M[sub.v, sub.v] = block
    return M


def net_wrenches(skel: Skeleton, m: Motion, A: list[Any], external: External = ()) -> list[Any]:
    """What each body's joint must carry for itself: inertia force minus gravity and external wrenches."""
    F = []
    weight = np.concatenate([np.zeros(3), skel.gravity])
    for I, V, acc in zip(body_inertias(skel, m), m.V, A, strict=True):
        F.append(I @ (acc - weight) + cross_wrench(V, I @ V))
    for node, wrench in external:
        F[node] = F[node] - wrench
    return F


def joint_wrenches(skel: Skeleton, m: Motion, a: Any, external: External = ()) -> list[Any]:
    """Recursive Newton-Euler: the wrench every carried body receives through its tree joint  [Chaudhary2007 (11)].

    At the subsystem's origin, in world axes; sums over *all* children (the paper prints one).
    """
    F = net_wrenches(skel, m, accelerations(skel, m, a), external)
    for i in reversed(range(len(F))):
        parent = skel.tree.nodes[i].parent
        if parent >= 0:
            F[parent] = F[parent] + F[i]
    return F


def inverse_tree(skel: Skeleton, m: Motion, a: Any, external: External = ()) -> np.ndarray:
    """Joint efforts of the open tree for accelerations a."""
    F = joint_wrenches(skel, m, a, external)
    tau = np.zeros(skel.tree.nv, dtype=common_type(np.zeros(1), *F, *m.S))
    for n, S, f in zip(skel.tree.nodes, m.S, F, strict=True):
        tau[n.v] = S.T @ f
    return tau


def bias_force(skel: Skeleton, m: Motion, external: External = ()) -> np.ndarray:
    """h: the efforts needed at zero acceleration."""
    return inverse_tree(skel, m, np.zeros(skel.tree.nv), external)


def generalised(skel: Skeleton, m: Motion, wrenches: External) -> np.ndarray:
    """Wrenches on bodies as efforts in the tree's coordinates."""
    wrenches = list(wrenches)
    tau = np.zeros(skel.tree.nv, dtype=common_type(np.zeros(1), *m.S, *(w for _, w in wrenches)))
    for node, w in wrenches:
        for i in skel.tree.support(node):
            tau[skel.tree.nodes[i].v] += m.S[i].T @ w
    return tau


def forward_tree(skel: Skeleton, m: Motion, tau: Any, external: External = ()) -> np.ndarray:
    """Accelerations of the open tree in O(n): the articulated-body recursion  [RBDA ch. 7].

    The DeNOC recursion of the papers is the same elimination (U D U' of the inertia, tips first).
    """
    nodes, n = skel.tree.nodes, len(skel.tree.nodes)
    I_A = body_inertias(skel, m)
    weight = np.concatenate([np.zeros(3), skel.gravity])
    own = [m.A[i] - (m.A[k.parent] if k.parent >= 0 else 0.0) for i, k in enumerate(nodes)]
    p_A = [cross_wrench(V, I @ V) for V, I in zip(m.V, I_A, strict=True)]
    for node, wrench in external:
        p_A[node] = p_A[node] - wrench
    kept: list[Any] = [None] * n
    for i in reversed(range(n)):
        S, U = m.S[i], I_A[i] @ m.S[i]
        D, u = S.T @ U, tau[nodes[i].v] - S.T @ p_A[i]
        kept[i] = (U, D, u)
        if nodes[i].parent >= 0:
            k = nodes[i].parent
            I_a = I_A[i] - (U @ solve(D, U.T) if len(u) else 0.0)
            I_A[k] = I_A[k] + I_a
            p_A[k] = p_A[k] + p_A[i] + I_a @ own[i] + (U @ solve(D, u) if len(u) else 0.0)
    a = np.zeros(skel.tree.nv, dtype=common_type(np.zeros(1), np.asarray(tau), *I_A, *p_A))
    A: list[Any] = []
    for i, node in enumerate(nodes):
        above = A[node.parent] if node.parent >= 0 else -weight
        A_i = above + own[i]
        U, D, u = kept[i]
        if len(u):
            a[node.v] = solve(D, u - U.T @ A_i)
            A_i = A_i + m.S[i] @ a[node.v]
        A.append(A_i)
    return a


def kinetic_energy(skel: Skeleton, m: Motion) -> Any:
    return sum(0.5 * (V @ (I @ V)) for V, I in zip(m.V, body_inertias(skel, m), strict=True))


def potential_energy(skel: Skeleton, m: Motion) -> Any:
    """Of gravity, zero where all centres of mass are at the world origin's height."""
    total = 0.0
    for i, X in enumerate(m.X):
        total = total - skel.mass[i] * (skel.gravity @ (X.point(skel.com[i]) + skel.origins[i]))
    return total


def momentum(skel: Skeleton, m: Motion, about: Any = None) -> tuple[Any, Any]:
    """(linear, angular) momentum of all bodies; angular about the world origin or a given point."""
    linear, angular = np.zeros(3), np.zeros(3)
    for i, (V, I) in enumerate(zip(m.V, body_inertias(skel, m), strict=True)):
        h = I @ V
        linear = linear + h[3:]
        angular = angular + h[:3] + cross(skel.origins[i], h[3:])
    if about is not None:
        angular = angular - cross(np.asarray(about), linear)
    return linear, angular
