"""Poses and motion of the bodies for given q and v.

`motion` walks a skeleton once, ground to tips, and returns poses, joint subspaces, velocities and bias accelerations of
all bodies. Everything is in world axes; positions are seen from each subsystem's own fixed origin (its first ground
point), so that a mechanism far from the world origin loses no digits.

Index -1 means ground wherever a node is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from linkwright import joints
from linkwright.mechanics.kinematics.skeleton import (
    LikeParts,
    NodeValues,
    Skeleton,
    like_parts,
    placed_part,
    pose_of,
    skeleton,
    start_coordinates,
    start_values,
)
from linkwright.model.description import Joint, PointRef
from linkwright.numerics.memory_and_threads import essentials
from linkwright.numerics.scalars import common_type, solve
from linkwright.numerics.spatial import (
    EYE,
    IDENTITY,
    Pose,
    array,
    cross,
    point_acceleration,
    point_velocity,
    quaternion_product,
    rotated_inertia,
    skew,
    turn,
    turn_back,
)
from linkwright.properties import cached_property

__all__ = ["Skeleton", "pose_of", "skeleton", "start_coordinates", "start_values"]


@dataclass(frozen=True, eq=False)
class Motion:
    """How all nodes move. The recursion keeps everything at each node's own point N (the joint's frame on the carried body):
    there a hinge's subspace has no lever arm, a body's inertia about it is constant in the body, and nothing has to cancel.

    In space a turning joint starts new axes, those of N, and what it carries without turning shares them; in a plane all
    axes are the world's, which cost nothing there. X, S, V, A are the standard quantities in world axes at the subsystem's
    fixed origin, where twists simply add along a branch.
    """

    __getstate__ = essentials

    skel: Skeleton
    q: Any
    v: Any
    W: list[Any]  # the node's axes in the world
    B: list[Any]  # N in the node's axes
    Q: list[Any]  # the node's axes in the carrying node's, EYE where they are shared
    p: list[Any]  # N from the subsystem's origin, world axes
    r: list[Any]  # N from the carrying node's N, in its axes
    s_w: list[Any]  # (3, nv_i): angular velocity per v, signed so that it adds for reversed joints too
    s_v: list[Any]  # (3, nv_i): velocity of N per v
    w: list[Any]  # angular velocity
    u: list[Any]  # velocity of N
    dw: list[Any]  # angular acceleration at zero vdot
    du: list[Any]  # acceleration of N at zero vdot, gravity left out
    like: LikeParts | None = None  # classes by which it was made
    world_axes: bool = False

    @cached_property
    def R(self) -> list[Any]:
        """Axes of N in the world."""
        return [turn(W, B) for W, B in zip(self.W, self.B, strict=True)]

    @cached_property
    def X(self) -> Sequence[Pose]:
        """Body poses, world axes, position seen from the subsystem's origin."""
        return NodeValues(len(self.p), lambda i: Pose(self.R[i], self.p[i]) @ self.skel.X_NC[i])

    @cached_property
    def S(self) -> Sequence[Any]:
        """(6, nv_i) so that V = V_parent + S v."""

        def subspace(i: int) -> Any:
            s_w, s_v = turn(self.W[i], self.s_w[i]), turn(self.W[i], self.s_v[i])
            return np.concatenate([s_w, s_v + skew(self.p[i]) @ s_w])

        return NodeValues(len(self.p), subspace)

    @cached_property
    def V(self) -> Sequence[Any]:
        """Twists."""

        def twist(i: int) -> Any:
            w, u = turn(self.W[i], self.w[i]), turn(self.W[i], self.u[i])
            return np.concatenate([w, u - cross(w, self.p[i])])

        return NodeValues(len(self.p), twist)

    @cached_property
    def A(self) -> Sequence[Any]:
        """Spatial accelerations at zero vdot, gravity left out: rates of the twists."""
        return NodeValues(len(self.p), lambda i: self._at_origin(i, self.dw[i], self.du[i]))

    def at_origin(self, own: list[tuple[Any, Any]]) -> list[Any]:
        """Spatial accelerations from (angular acceleration, acceleration of N)."""
        return [self._at_origin(i, dw, du) for i, (dw, du) in enumerate(own)]

    def _at_origin(self, i: int, dw: Any, du: Any) -> Any:
        dw_W = turn(self.W[i], dw)
        return np.concatenate([dw_W, turn(self.W[i], du - cross(self.w[i], self.u[i])) - cross(dw_W, self.p[i])])

    @cached_property
    def moments(self) -> list[Any]:
        """First moments of mass about N."""
        return [turn(B, mass * c) for B, mass, c in zip(self.B, self.skel.mass, self.skel.com_N, strict=True)]

    @cached_property
    def inertias(self) -> list[Any]:
        """Inertias about N."""
        return [rotated_inertia(B, I) for B, I in zip(self.B, self.skel.inertia_N, strict=True)]

    def with_accelerations(self, A: list[Any]) -> Motion:
        """The same motion with accelerations in place of the bias ones."""
        out = replace(self, like=None)
        vars(out)["A"] = A
        return out


def motion(skel: Skeleton, q: Any, v: Any, *, world_axes: bool = False) -> Motion:
    """Forward recursion over the tree: position, velocity, bias acceleration  [RBDA ch. 5].

    A reversed joint carries its first body: X_WF = X_WM X_FM^-1, V_F = V_M - S v, and the joint file is asked the same
    questions as ever. `world_axes`: the turning degrees of freedom of floating bodies are taken along the world's axes instead of the
    moving ones, those of ball joints along the axes of N instead of the joint's (`turned_axes` maps between the two).
    """
    like = like_parts(skel)
    found = None if like is None else like.by_subsystem(("motion", world_axes), q, v, partial(_listed, world_axes=world_axes))
    if found is None:
        return _walked(skel, q, v, world_axes)
    arrays = [x[i : i + 11] for x in found for i in range(0, len(x), 11)]
    W, B, Q, p, r, s_w, s_v, w, u, dw, du = (list(x) for x in zip(*arrays, strict=True))
    return Motion(skel, q, v, W, B, Q, p, r, s_w, s_v, w, u, dw, du, like, world_axes)


def _listed(skel: Skeleton, q: Any, v: Any, world_axes: bool) -> list[Any]:
    """All arrays of a motion, node by node."""
    m = _walked(skel, q, v, world_axes)
    return [x for node in zip(m.W, m.B, m.Q, m.p, m.r, m.s_w, m.s_v, m.w, m.u, m.dw, m.du, strict=True) for x in node]


def _walked(skel: Skeleton, q: Any, v: Any, world_axes: bool) -> Motion:
    """The recursion over the nodes of a skeleton."""
    m = Motion(skel, q, v, [], [], [], [], [], [], [], [], [], [], [])
    still = (np.zeros(3),) * 4
    for i, n in enumerate(skel.tree.nodes):
        K, X, jt, qj, vj = n.parent, skel.X_KF[i], skel.types[i], q[n.q], v[n.v]
        W_K, B_K = (m.W[K], m.B[K]) if K >= 0 else (EYE, EYE)
        ball = skel.ball_axes[i]
        R_FM, p_FM = jt.pose(qj if ball is None else quaternion_product(qj, ball.q))  # of N from here on
        R_out = turn(B_K, X.R)
        R_N = R_out @ (R_FM.T if n.reversed else R_FM)
        F, sign = (R_N, -1.0) if n.reversed else (R_out, 1.0)
        r = (turn(B_K, X.p) if K >= 0 else X.p - skel.origins[i]) + sign * (F @ p_FM)
        carried = _carried((m.w[K], m.u[K], m.dw[K], m.du[K]), r) if K >= 0 else still
        own = _joint_motion(jt, qj, vj, R_FM, p_FM, n.reversed, skel.own_axes[i])
        if skel.own_axes[i]:
            carried = tuple(R_N.T @ x for x in carried) if K >= 0 else carried
            axes = (turn(W_K, R_N), EYE, R_N)
        else:
            own = tuple(F @ x for x in own)
            axes = (W_K, R_N, EYE)
        (w, u, dw, du), (s_w, s_v, b_w, b_v) = carried, own
        w_J, u_J = s_w @ vj, s_v @ vj
        if ball is not None:
            w_J, s_w = ball.R.T @ vj, EYE if world_axes else ball.R.T
        elif world_axes and skel.floats[i]:
            s_w = np.concatenate([EYE, s_w[:, 3:]], axis=1)
        for values, value in zip((m.W, m.B, m.Q), axes, strict=True):
            values.append(value)
        m.p.append(m.p[K] + turn(W_K, r) if K >= 0 else r)
        m.r.append(r)
        m.s_w.append(s_w)
        m.s_v.append(s_v)
        m.w.append(w + w_J)
        m.u.append(u + u_J)
        m.dw.append(dw + cross(w, w_J) + b_w if K >= 0 else b_w)
        m.du.append(du + cross(2.0 * w + w_J, u_J) + b_v if K >= 0 else cross(w_J, u_J) + b_v)
    return m


def _carried(moving: tuple[Any, ...], r: Any) -> tuple[Any, ...]:
    """Motion of the point r of a body: (w, u, dw, du) there."""
    w, u, dw, du = moving
    spin = cross(w, r)
    return w, u + spin, dw, du + cross(dw, r) + cross(w, spin)


def _joint_motion(jt: Any, q: Any, v: Any, R_FM: Any, p_FM: Any, backwards: bool, in_N: bool) -> tuple[Any, ...]:
    """(s_w, s_v, b_w, b_v): subspace and bias of a joint at N, in F's axes or in N's."""
    S, bias = jt.subspace(q), jt.bias(q, v)
    if backwards:  # N is F, and F moves against v
        return -S[:3], -S[3:], -bias[:3], -bias[3:]
    s_w, b_w = S[:3], bias[:3]
    s_v, b_v = (x[3:] - skew(p_FM) @ x[:3] for x in (S, bias))  # N is M
    if not in_N:
        return s_w, s_v, b_w, b_v
    s_w, b_w = jt.turning(q, v) or (R_FM.T @ s_w, R_FM.T @ b_w)
    return s_w, R_FM.T @ s_v, b_w, R_FM.T @ b_v


def turned_axes(skel: Skeleton, m: Motion) -> list[tuple[slice, Any]]:
    """(velocities, R) of floating bodies and of ball joints with axes of their own: turning rates along the axes they are solved in are
    R times those along the axes of the joint's moving frame."""
    every = [(n.v.start, B if ball is None else ball.R.T) for n, B, ball in zip(skel.tree.nodes, m.B, skel.ball_axes, strict=True)]
    return [(slice(at, at + 3), R) for i, (at, R) in enumerate(every) if skel.floats[i] or skel.ball_axes[i] is not None]


def node_accelerations(skel: Skeleton, m: Motion, a: Any) -> list[tuple[Any, Any]]:
    """(angular acceleration, acceleration of N) of all nodes for joint accelerations a."""
    more: list[tuple[Any, Any]] = []
    for i, n in enumerate(skel.tree.nodes):
        dw, du = m.s_w[i] @ a[n.v], m.s_v[i] @ a[n.v]
        if n.parent >= 0:
            dw_K, du_K = more[n.parent]
            dw, du = turn_back(m.Q[i], dw_K) + dw, turn_back(m.Q[i], du_K + cross(dw_K, m.r[i])) + du
        more.append((dw, du))
    return [(dw + b_w, du + b_v) for (dw, du), b_w, b_v in zip(more, m.dw, m.du, strict=True)]


def accelerations(skel: Skeleton, m: Motion, a: Any) -> list[Any]:
    """Spatial accelerations of all bodies at their subsystem's origin, for joint accelerations a."""
    return m.at_origin(node_accelerations(skel, m, a))


def node_columns(skel: Skeleton, m: Motion, node: int, arm: Any = None) -> Any:
    """(3, nv of the subsystem), in the node's axes: velocity of a body's point, `arm` from N, per velocity of the subsystem;
    without an arm the angular velocity."""
    nodes = skel.tree.nodes
    span = skel.tree.subsystems[nodes[node].subsystem].v
    support = skel.tree.support(node)
    kinds = common_type(np.zeros(1) if arm is None else arm, *(x[i] for i in support for x in (m.s_w, m.s_v, m.r, m.Q)))
    J = np.zeros((3, span.stop - span.start), dtype=kinds)
    down: Any = EYE  # from the axes of node i to those of the node asked for
    for i in reversed(support):
        column = m.s_w[i] if arm is None else m.s_v[i] - skew(arm) @ m.s_w[i]
        J[:, nodes[i].v.start - span.start : nodes[i].v.stop - span.start] = turn(down, column)
        arm = None if arm is None else turn(m.Q[i], arm) + m.r[i]
        down = turn(down, m.Q[i].T) if m.Q[i] is not EYE else down
    return J


def qdot(skel: Skeleton, q: Any, v: Any) -> np.ndarray:
    """dq/dt = N(q) v, joint by joint."""
    parts = [jt.qdot(q[n.q], v[n.v]) for jt, n in zip(skel.types, skel.tree.nodes, strict=True)]
    return np.concatenate(parts) if parts else np.zeros(0)


def node_motion(skel: Skeleton, m: Motion, node: int) -> tuple[Pose, Any, Any]:
    """(pose, twist, bias acceleration) of a node or of ground."""
    if node < 0:
        return IDENTITY, np.zeros(6), np.zeros(6)
    return m.X[node], m.V[node], m.A[node]


def body_jacobian(skel: Skeleton, m: Motion, node: int, nv: int | None = None) -> np.ndarray:
    """(6, nv): the body's twist at its subsystem's origin is this times v."""
    nv = skel.tree.nv if nv is None else nv
    J = np.zeros((6, nv), dtype=common_type(*(m.S[i] for i in skel.tree.support(node)), np.zeros(1)))
    for i in skel.tree.support(node):
        J[:, skel.tree.nodes[i].v] = m.S[i]
    return J


class Located(NamedTuple):
    """A point of a body: world position, velocity, bias acceleration; `arm` from its subsystem's origin."""

    node: int
    position: Any
    velocity: Any
    acceleration: Any
    arm: Any


def locate(skel: Skeleton, m: Motion, ref: PointRef) -> Located:
    """Position and motion of a named point."""
    node = skel.node(ref[0])
    return locate_at(skel, m, node, array(skel.tree.description.point(ref).at))


def locate_at(skel: Skeleton, m: Motion, node: int, p_B: Any) -> Located:
    """The same for a point given in the body's frame."""
    X, V, A = node_motion(skel, m, node)
    arm = X.point(p_B)
    return Located(node, arm + skel.origin(node), point_velocity(V, arm), point_acceleration(V, A, arm), arm)


class Relative(NamedTuple):
    """Frame M seen from frame F: pose, velocity [w; dp/dt] and its bias rate in F's axes, and maps from the twists."""

    R: Any
    p: Any
    w: Any  # angular velocity of M in F
    u: Any  # dp/dt
    dw: Any  # dw/dt, du/dt at zero joint accelerations
    du: Any
    first: int
    second: int
    E_first: Any  # (6, 6): [w; u] = E_second V_second + E_first V_first
    E_second: Any


def relative(skel: Skeleton, m: Motion, joint: Joint) -> Relative:
    """Relative motion of a joint's two frames, whether or not the joint is in the tree."""
    first, second = skel.node(joint.first), skel.node(joint.second)
    (X_1, V_1, A_1), (X_2, V_2, A_2) = node_motion(skel, m, first), node_motion(skel, m, second)
    X_F, X_M = X_1 @ pose_of(joint.frame_first), X_2 @ pose_of(joint.frame_second)
    between = skel.origin(second) - skel.origin(first)
    arm_1 = X_M.p + between  # the M point seen from the first body's origin
    u_W = point_velocity(V_2, X_M.p) - point_velocity(V_1, arm_1)
    w_W = V_2[:3] - V_1[:3]
    dw_W = A_2[:3] - A_1[:3] - cross(V_1[:3], w_W)
    du_W = point_acceleration(V_2, A_2, X_M.p) - point_acceleration(V_1, A_1, arm_1) - 2.0 * cross(V_1[:3], u_W)
    Rt = X_F.R.T
    return Relative(
        R=Rt @ X_M.R,
        p=Rt @ (arm_1 - X_F.p),
        w=Rt @ w_W,
        u=Rt @ u_W,
        dw=Rt @ dw_W,
        du=Rt @ du_W,
        first=first,
        second=second,
        E_first=-_twist_at(Rt, arm_1),
        E_second=_twist_at(Rt, X_M.p),
    )


def _twist_at(Rt: Any, p: Any) -> np.ndarray:
    """[w; velocity of the point p] in the axes of R, from a twist at the origin."""
    E = np.zeros((6, 6), dtype=common_type(Rt, p))
    E[:3, :3] = Rt
    E[3:, :3] = -Rt @ skew(p)
    E[3:, 3:] = Rt
    return E


def joint_coordinates(skel: Skeleton, m: Motion, joint: Joint, references: Any) -> np.ndarray:
    """q of any joint: the tree's own, or for a cut joint read from the poses, angles unwrapped toward `references`."""
    node = skel.tree.node_of_joint.get(joint.name)
    if node is not None:
        return m.q[skel.tree.nodes[node].q]
    r = relative(skel, m, joint)
    return joints.create(joint.type, joint.options).coordinates(r.R, r.p, references)


def counted_references(skel: Skeleton, q: Any, references: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Coordinates of all joints, cut or not, at q: the reference for the next unwrapping."""
    m = motion(skel, q, np.zeros(skel.tree.nv))
    tree = {n.joint.name: np.asarray(q[n.q]) for n in skel.tree.nodes}
    return {**tree, **_cut_coordinates(skel, m, references)}


def _cut_coordinates(skel: Skeleton, m: Motion, references: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Coordinates of the cut joints; of like ones by one code."""
    every = {name: skel.tree.description.joint(name) for name in skel.tree.cuts}
    out: dict[str, np.ndarray] = {}
    if m.like is not None and all(x.dtype.kind == "f" for x in (m.q, *(references[name] for name in every))):
        for (_, near), group in m.like.cut_groups(every.values(), {name: len(references[name]) for name in every}).items():
            ends = group[0][1]
            function = partial(_traced_coordinates, m.like.part(ends), group[0][0])
            code = m.like.code(("coordinates", group[0][0].name), m.like.width(ends) + near, function)
            if code is not None:
                rows = [[*m.like.placed(e, m.q, m.v), *references[joint.name].tolist()] for joint, e in group]
                out |= {joint.name: x[0] for (joint, _), x in zip(group, m.like.evaluated(code, rows, True), strict=True)}
    return {name: out[name] if name in out else joint_coordinates(skel, m, joint, references[name]) for name, joint in every.items()}


def _traced_coordinates(own: Skeleton, joint: Joint, x: Any) -> list[Any]:
    """Coordinates of a cut joint on a skeleton of its two subsystems; x as in `LikeParts.placed`, then references."""
    placed, moving, q, v, near = placed_part(own, x)
    return [joint_coordinates(placed, _walked(moving, q, v, False), joint, near)]


class JointRate(NamedTuple):
    """q and v of a joint, and v as a function of the two bodies' twists: v = G_first V_first + G_second V_second."""

    q: Any
    v: Any
    bias: Any  # dv/dt at zero accelerations of the tree
    first: int
    second: int
    G_first: Any
    G_second: Any


def joint_rate(skel: Skeleton, m: Motion, joint: Joint, references: Any) -> JointRate:
    """v = S^+ (twist of M in F) of any joint; a joint effort e acts as the wrenches G' e on its two bodies."""
    r = relative(skel, m, joint)
    jt = joints.create(joint.type, joint.options)
    node = skel.tree.node_of_joint.get(joint.name)
    own = node is not None and skel.tree.nodes[node].joint.first == joint.first  # not one of the same name the other way round
    q = m.q[skel.tree.nodes[node].q] if own and node is not None else jt.coordinates(r.R, r.p, references)
    S = jt.subspace(q)
    S_plus = solve(S.T @ S, S.T)
    at_F = np.concatenate([np.concatenate([np.eye(3), np.zeros((3, 3))], 1), np.concatenate([skew(r.p), np.eye(3)], 1)])
    G = S_plus @ at_F
    v = G @ np.concatenate([r.w, r.u])
    # rate of the twist at F's origin: d/dt (u + p x w) = du + u x w + p x dw
    rate = np.concatenate([r.dw, r.du + cross(r.u, r.w) + cross(r.p, r.dw)])
    bias = S_plus @ (rate - jt.bias(q, v))
    return JointRate(q, v, bias, r.first, r.second, G @ r.E_first, G @ r.E_second)


def displaced(skel: Skeleton, q: Any, step: Any) -> np.ndarray:
    """q moved by a finite step in the space of v; quaternions by their exponential, so they stay unit. Any leading axes."""
    if skel.tree.nq == skel.tree.nv:  # no quaternions
        return q + step
    balls, spins, others, rates = skel.turns
    out = np.empty(np.broadcast_shapes(q.shape[:-1], step.shape[:-1]) + q.shape[-1:], dtype=np.result_type(q, step))
    out[..., others] = q[..., others] + step[..., rates]
    out[..., balls] = _turned(q[..., balls], step[..., spins])
    return out


def _turned(q: Any, a: Any) -> np.ndarray:
    """Quaternion q followed by the rotation vector a in the moving axes."""
    half = 0.5 * np.sqrt(np.sum(a * a, axis=-1, keepdims=True))
    w, r = np.cos(half), 0.5 * np.sinc(half / np.pi) * a
    s, u = q[..., :1], q[..., 1:]
    across = u[..., (1, 2, 0)] * r[..., (2, 0, 1)] - u[..., (2, 0, 1)] * r[..., (1, 2, 0)]
    out = np.concatenate([s * w - np.sum(u * r, axis=-1, keepdims=True), s * r + w * u + across], axis=-1)
    return out / np.sqrt(np.sum(out * out, axis=-1, keepdims=True))
