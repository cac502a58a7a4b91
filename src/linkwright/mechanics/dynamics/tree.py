"""Dynamics of the spanning tree: inertia, bias forces, energy, momentum, and both recursions.

    M(q) a + h(q, v) = tau        (per subsystem; loops enter through J' lam above this layer)

h holds Coriolis and gravity forces minus everything the forces of the model do. M holds the armatures of the joints, which turn with the
joints' own speeds and have no place in space: they add efforts in the joints, and neither weight nor momentum. Recursions run in world
axes; wrenches of forces come and go at the subsystem's origin, where they add without transformation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from linkwright.errors import UsageError
from linkwright.mechanics.kinematics.motion import Motion, Skeleton, motion, node_accelerations, turned_axes
from linkwright.numerics.scalars import common_type, solve
from linkwright.numerics.spatial import cross, cross_wrench, rotated_inertia, skew, spatial_inertia, turn, turn_back

External = Iterable[tuple[int, Any]]  # (node, wrench at the node's origin)


def body_inertias(skel: Skeleton, m: Motion) -> list[np.ndarray]:
    """(6, 6) inertia of every body about its subsystem's origin."""
    return [spatial_inertia(X, mass, com, I) for X, mass, com, I in zip(m.X, skel.mass, skel.com, skel.inertia, strict=True)]


def inertia_blocks(skel: Skeleton, m: Motion) -> list[np.ndarray]:
    """I_j of every subsystem, with the armatures of its joints."""
    return with_rotors(skel, _composite_inertias(skel, m), rotors(skel, m, skel.armature))


def _composite_inertias(skel: Skeleton, m: Motion) -> list[np.ndarray]:
    """Inertia of every subsystem: composite-rigid-body algorithm  [RBDA ch. 6], each composite about its own node's point.

    What a body carries on joints that stay in place on it counts as point masses at those joints first: their part of the
    inertia turns with the body and is constant in its axes.
    """
    if m.like is not None:
        found = m.like.by_subsystem(("inertia", m.world_axes), m.q, m.v, partial(_inertia, world_axes=m.world_axes))
        if found is not None:
            return [x[0] for x in found]
    nodes, bodies = skel.tree.nodes, skel.augmented
    I_C = [rotated_inertia(B, I) for B, I in zip(m.B, bodies.inertia, strict=True)]
    h_C = [turn(B, h) for B, h in zip(m.B, bodies.moment, strict=True)]
    out = []
    for sub in skel.tree.subsystems:
        first, size = sub.v.start, sub.v.stop - sub.v.start
        kinds = common_type(np.zeros(1), *(x[i] for i in sub.nodes for x in (I_C, h_C, m.s_w, m.s_v, m.r, m.Q)))
        M = np.zeros((size, size), dtype=kinds)
        for i in reversed(sub.nodes):
            mass, h, K = bodies.mass[i], h_C[i], nodes[i].parent
            moment, force = I_C[i] @ m.s_w[i] + skew(h) @ m.s_v[i], mass * m.s_v[i] - skew(h) @ m.s_w[i]
            own = slice(nodes[i].v.start - first, nodes[i].v.stop - first)
            j = i
            while j >= 0:
                above = slice(nodes[j].v.start - first, nodes[j].v.stop - first)
                M[above, own] = m.s_w[j].T @ moment + m.s_v[j].T @ force
                if j != i:
                    M[own, above] = M[above, own].T
                moment, force = turn(m.Q[j], moment), turn(m.Q[j], force)
                moment, j = moment + skew(m.r[j]) @ force, nodes[j].parent
            if K >= 0:
                r, h, slides = m.r[i], turn(m.Q[i], h), bodies.slides[i]
                I_C[K] = I_C[K] + rotated_inertia(m.Q[i], I_C[i]) + _shifted(r, h, mass if slides else 0.0)
                h_C[K] = h_C[K] + h + (mass * r if slides else 0.0)
        out.append(M)
    return out


def _inertia(skel: Skeleton, q: Any, v: Any, world_axes: bool) -> list[Any]:
    """I of the one subsystem of a skeleton."""
    return _composite_inertias(skel, motion(skel, q, v, world_axes=world_axes))


def _shifted(r: Any, h: Any, mass: Any) -> np.ndarray:
    """Increase of an inertia with first moment h when taken about a point -r away: 2 r.h 1 - r h' - h r' + m (r.r 1 - r r')."""
    g = h + 0.5 * mass * r
    both = r @ g
    out = np.zeros((3, 3), dtype=common_type(r, h))
    for i in range(3):
        for j in range(i):
            out[i, j] = out[j, i] = -(r[i] * g[j] + g[i] * r[j])
        out[i, i] = 2.0 * (both - r[i] * g[i])
    return out


def rotors(skel: Skeleton, m: Motion, armature: Any) -> dict[int, Any]:
    """node -> (nv_i, nv_i): inertias of rotors that turn with the joints' own speeds, where there are any; for quaternion
    joints along the world's axes if that is how the motion counts their turning rates."""
    if all(isinstance(x, (int, float)) and x == 0.0 for x in armature):
        return {}
    turned = {span.start: R for span, R in turned_axes(skel, m)} if m.world_axes else {}
    out = {}
    for i, n in enumerate(skel.tree.nodes):
        own = np.asarray(armature[n.v.start : n.v.stop])
        if any(not isinstance(x, (int, float)) or x != 0.0 for x in own.tolist()):
            D: Any = np.diag(own)
            if n.v.start in turned and not _alike(own[:3]):
                R = turned[n.v.start]
                D = np.array(D, dtype=common_type(R))
                D[:3, :3] = R @ D[:3, :3] @ R.T
            out[i] = D
    return out


def _alike(values: Any) -> bool:
    """True if all are the same number or the same symbol: the same about any axes."""
    first = values[0]
    return all(x is first or (isinstance(x, float) and isinstance(first, float) and x == first) for x in values)


def with_rotors(skel: Skeleton, blocks: list[Any], extra: Mapping[int, Any]) -> list[Any]:
    """Inertias of the subsystems with those of rotors on their joints."""
    out = list(blocks)
    for i, D in extra.items():
        n = skel.tree.nodes[i]
        first = skel.tree.subsystems[n.subsystem].v.start
        own = slice(n.v.start - first, n.v.stop - first)
        M = np.array(out[n.subsystem], dtype=common_type(out[n.subsystem], D))
        M[own, own] = M[own, own] + D
        out[n.subsystem] = M
    return out


def rotor_efforts(skel: Skeleton, extra: Mapping[int, Any], a: Any) -> Any:
    """Efforts of the joints for the rotors alone."""
    out = np.zeros(skel.tree.nv, dtype=common_type(a, *extra.values()))
    for i, D in extra.items():
        span = skel.tree.nodes[i].v
        out[span] = D @ a[span]
    return out


def mass_matrix(skel: Skeleton, m: Motion) -> np.ndarray:
    """M of the whole tree; block diagonal over subsystems."""
    blocks = inertia_blocks(skel, m)
    M = np.zeros((skel.tree.nv, skel.tree.nv), dtype=common_type(np.zeros(1), *blocks))
    for sub, block in zip(skel.tree.subsystems, blocks, strict=True):
        M[sub.v, sub.v] = block
    return M


def newton_euler(skel: Skeleton, m: Motion, acc: list[tuple[Any, Any]], external: External = ()) -> list[tuple[Any, Any]]:
    """(moment about N, force) each body's joint must provide for that body alone: inertia force minus gravity and external
    wrenches; acc are (angular acceleration, acceleration of N)."""
    out = []
    for i, (dw, du) in enumerate(acc):
        h, I, w, fall = m.moments[i], m.inertias[i], m.w[i], du - turn_back(m.W[i], skel.gravity)
        force = skel.mass[i] * fall + cross(dw, h) + cross(w, cross(w, h))
        moment = I @ dw + cross(w, I @ w) + cross(h, fall)
        out.append((moment, force))
    for node, wrench in external:
        moment, force = out[node]
        there = wrench[:3] - cross(m.p[node], wrench[3:])
        out[node] = moment - turn_back(m.W[node], there), force - turn_back(m.W[node], wrench[3:])
    return out


def _with_children(skel: Skeleton, m: Motion, alone: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Recursive Newton-Euler, tips first: what each joint carries for its body and everything beyond  [Chaudhary2007 (11)].

    Sums over *all* children (the paper prints one).
    """
    F = list(alone)
    for i in reversed(range(len(F))):
        K = skel.tree.nodes[i].parent
        if K >= 0:
            moment, force = turn(m.Q[i], F[i][0]), turn(m.Q[i], F[i][1])
            F[K] = F[K][0] + moment + cross(m.r[i], force), F[K][1] + force
    return F


def _at_origin(m: Motion, own: list[tuple[Any, Any]]) -> list[Any]:
    world = [(turn(W, moment), turn(W, force)) for W, (moment, force) in zip(m.W, own, strict=True)]
    return [np.concatenate([moment + cross(p, force), force]) for (moment, force), p in zip(world, m.p, strict=True)]


def net_wrenches(skel: Skeleton, m: Motion, a: Any, external: External = ()) -> list[Any]:
    """Wrench that each body's joint must carry for that body, at the subsystem's origin, for joint accelerations a."""
    return _at_origin(m, newton_euler(skel, m, node_accelerations(skel, m, a), external))


def joint_wrenches(skel: Skeleton, m: Motion, a: Any, external: External = ()) -> list[Any]:
    """The wrench every carried body receives through its tree joint, at the subsystem's origin, in world axes."""
    return _at_origin(m, _with_children(skel, m, newton_euler(skel, m, node_accelerations(skel, m, a), external)))


def inverse_tree(skel: Skeleton, m: Motion, a: Any, external: External = ()) -> np.ndarray:
    """Joint efforts of the open tree for accelerations a."""
    tau, own = _efforts(skel, m, node_accelerations(skel, m, a), external), rotors(skel, m, skel.armature)
    return tau + rotor_efforts(skel, own, a) if own else tau


def _efforts(skel: Skeleton, m: Motion, acc: list[tuple[Any, Any]], external: External) -> np.ndarray:
    F = _with_children(skel, m, newton_euler(skel, m, acc, external))
    tau = np.zeros(skel.tree.nv, dtype=common_type(np.zeros(1), *(x for pair in F for x in pair), *m.s_w, *m.s_v))
    for n, s_w, s_v, (moment, force) in zip(skel.tree.nodes, m.s_w, m.s_v, F, strict=True):
        tau[n.v] = s_w.T @ moment + s_v.T @ force
    return tau


def bias_force(skel: Skeleton, m: Motion, external: External = ()) -> np.ndarray:
    """h: the efforts needed at zero acceleration."""
    external = list(external)
    if m.like is not None and not external:
        found = m.like.by_subsystem(("bias", m.world_axes), m.q, m.v, partial(_bias, world_axes=m.world_axes))
        if found is not None:
            return np.concatenate([x[0] for x in found])
    return _efforts(skel, m, list(zip(m.dw, m.du, strict=True)), external)


def _bias(skel: Skeleton, q: Any, v: Any, world_axes: bool) -> list[Any]:
    """h of the one subsystem of a skeleton."""
    return [bias_force(skel, motion(skel, q, v, world_axes=world_axes))]


def generalized(skel: Skeleton, m: Motion, wrenches: External) -> np.ndarray:
    """Wrenches on bodies as efforts in the tree's coordinates."""
    wrenches = list(wrenches)
    tau = np.zeros(skel.tree.nv, dtype=common_type(np.zeros(1), *m.S, *(w for _, w in wrenches)))
    for node, w in wrenches:
        for i in skel.tree.support(node):
            tau[skel.tree.nodes[i].v] += m.S[i].T @ w
    return tau


def forward_tree(skel: Skeleton, m: Motion, tau: Any, external: External = (), extra: Mapping[int, Any] | None = None) -> np.ndarray:
    """Accelerations of the open tree in O(n): the articulated-body recursion  [RBDA ch. 7]; `extra` are rotors besides the armatures.

    The DeNOC recursion of the papers is the same elimination (U D U' of the inertia, tips first).
    """
    nodes, n = skel.tree.nodes, len(skel.tree.nodes)
    I_A, own_inertias = body_inertias(skel, m), (rotors(skel, m, skel.armature), extra or {})
    weight = np.concatenate([np.zeros(3), skel.gravity])
    own = [m.A[i] - (m.A[k.parent] if k.parent >= 0 else 0.0) for i, k in enumerate(nodes)]
    p_A = [cross_wrench(V, I @ V) for V, I in zip(m.V, I_A, strict=True)]
    for node, wrench in external:
        p_A[node] = p_A[node] - wrench
    retained: list[Any] = [None] * n
    for i in reversed(range(n)):
        S, U = m.S[i], I_A[i] @ m.S[i]
        D, u = S.T @ U, tau[nodes[i].v] - S.T @ p_A[i]
        D = D + sum((inertias[i] for inertias in own_inertias if i in inertias), 0.0)
        retained[i] = (U, D, u)
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
        U, D, u = retained[i]
        if len(u):
            a[node.v] = solve(D, u - U.T @ A_i)
            A_i = A_i + m.S[i] @ a[node.v]
        A.append(A_i)
    return a


def kinetic_energy(skel: Skeleton, m: Motion) -> Any:
    """Sum of m u.u / 2 + u.(w x h) + w.I w / 2, each about its node's point, and of the armatures of the joints."""
    total: Any = 0.0
    for i, I in enumerate(skel.armature):
        if not isinstance(I, float) or I != 0.0:
            total = total + 0.5 * I * m.v[i] * m.v[i]
    for mass, h, I, w, u in zip(skel.mass, m.moments, m.inertias, m.w, m.u, strict=True):
        total = total + 0.5 * (mass * (u @ u) + w @ (I @ w)) + u @ cross(w, h)
    return total


def potential_energy(skel: Skeleton, m: Motion) -> Any:
    """Of gravity, zero where all centers of mass are at the world origin's height."""
    total = 0.0
    for i, X in enumerate(m.X):
        total = total - skel.mass[i] * (skel.gravity @ (X.point(skel.com[i]) + skel.origins[i]))
    return total


def momentum(skel: Skeleton, m: Motion, about: Any = None) -> tuple[Any, Any]:
    """Return the (linear, angular) momentum of all bodies; angular about the world origin or a given point."""
    linear, angular = np.zeros(3), np.zeros(3)
    for i, (V, I) in enumerate(zip(m.V, body_inertias(skel, m), strict=True)):
        h = I @ V
        linear = linear + h[3:]
        angular = angular + h[:3] + cross(skel.origins[i], h[3:])
    if about is not None:
        angular = angular - cross(moment_point(about), linear)
    return linear, angular


def moment_point(about: Any) -> np.ndarray:
    """Return the point that moments are about, in world axes; raise UsageError for anything else."""
    try:
        place = np.asarray(about, dtype=float)
    except (TypeError, ValueError):
        place = np.empty(0)
    if place.shape != (3,) or not np.isfinite(place).all():
        raise UsageError(
            f'about is a place in world axes, three numbers in m, not {about!r}. For a point of a body give s.point(st, "shank.F").',
            name="about",
            value=about,
        )
    return place
