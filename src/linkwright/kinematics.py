"""Where the bodies are and how they move, for given q and v.

`Skeleton` holds a tree's constants as arrays (joint frames, mass data); `motion` walks it once,
ground to tips, and returns poses, joint subspaces, twists and bias accelerations of all bodies.
Everything is in world axes; each subsystem has its own fixed origin (its first ground point), so
that a mechanism far from the world origin loses no digits and twists simply add along a branch.

Index -1 means ground wherever a node is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwright import joints
from linkwright.description import Body, Description, Joint, Placement, PointRef
from linkwright.errors import ModelError, nearest
from linkwright.scalars import common_type, solve
from linkwright.spatial import IDENTITY, Pose, array, cross, cross_twist, point_acceleration, point_velocity, shift_twist, skew
from linkwright.topology.tree import Tree


def pose_of(placement: Placement) -> Pose:
    return Pose(array(placement.rotation), array(placement.at))


@dataclass(frozen=True)
class Skeleton:
    """The constants of a tree: joint types and frames, origins of the subsystems, mass data of the nodes."""

    tree: Tree
    types: tuple[Any, ...]  # joint type of each node
    X_PF: tuple[Pose, ...]  # the joint's frame on the carrying body
    X_CM: tuple[Pose, ...]  # the joint's frame on the carried body
    origins: tuple[np.ndarray, ...]  # of each node's subsystem, in the world
    mass: tuple[Any, ...]
    com: tuple[np.ndarray, ...]
    inertia: tuple[np.ndarray, ...]
    gravity: np.ndarray
    start_coordinates: dict[str, np.ndarray]  # q of every joint, cut or not, in the drawing

    def origin(self, node: int) -> np.ndarray:
        return self.origins[node] if node >= 0 else np.zeros(3)

    def node(self, body: str) -> int:
        """Index of a body's node, -1 for ground."""
        nodes = self.tree.node_of_body
        if body not in nodes:
            raise ModelError(f"there is no body '{body}'. {nearest(body, nodes, 'Bodies')}")
        return nodes[body]


def skeleton(tree: Tree) -> Skeleton:
    """Collect a tree's constants; its description may hold floats or traced parameters."""
    d = tree.description
    bodies = [d.body(n.body) for n in tree.nodes]
    X_PF, X_CM = [], []
    for n in tree.nodes:
        first, second = pose_of(n.joint.frame_first), pose_of(n.joint.frame_second)
        X_PF.append(second if n.reversed else first)
        X_CM.append(first if n.reversed else second)
    roots = {n.subsystem: _ground_point(n.joint, X, body) for n, X, body in zip(tree.nodes, X_PF, bodies, strict=True) if n.parent < 0}
    return Skeleton(
        tree=tree,
        types=tuple(joints.create(n.joint.type, n.joint.options) for n in tree.nodes),
        X_PF=tuple(X_PF),
        X_CM=tuple(X_CM),
        origins=tuple(roots[n.subsystem] for n in tree.nodes),
        mass=tuple(0.0 if b.mass is None else b.mass for b in bodies),
        com=tuple(array(b.com) for b in bodies),
        inertia=tuple(array(b.inertia) for b in bodies),
        gravity=array(d.gravity),
        start_coordinates=start_coordinates(tree),
    )


def start_coordinates(tree: Tree) -> dict[str, np.ndarray]:
    """Coordinates of all joints in the drawn position, read from the bodies' start poses.

    A sketch does not close exactly; what a joint cannot follow is left out here and closed by assembly.
    Whole turns are counted from the values in `start:`.
    """
    d = tree.description
    wanted = start_values(d)
    out = {}
    for joint in {**{j.name: j for j in d.joints}, **{n.joint.name: n.joint for n in tree.nodes}}.values():
        X_F = pose_of(d.body(joint.first).start) @ pose_of(joint.frame_first)
        X_M = pose_of(d.body(joint.second).start) @ pose_of(joint.frame_second)
        X = X_F.inverse() @ X_M
        jt = joints.create(joint.type, joint.options)
        near = np.array([1.0] + [0.0] * (jt.nq - 1)) if "quaternion" in jt.coordinate_kinds else np.zeros(jt.nq)
        for i, part in enumerate(jt.q_names):
            near[i] = wanted.get(f"{joint.name}.{part}" if part else joint.name, near[i])
        out[joint.name] = jt.coordinates(X.R, X.p, near)
    return out


def _ground_point(joint: Joint, X: Pose, body: Body) -> np.ndarray:
    """A fixed point near the subsystem: its root joint on ground, or the start of a floating body."""
    floating = joint.type in ("free", "planar") and joint.name == body.name
    return array(body.start.at) if floating else X.p


def start_values(d: Description) -> dict[str, float]:
    """`start:` by single coordinates: a list given for a joint with several is spread over their names."""
    out = {}
    for name, value in d.start:
        if not isinstance(value, tuple):
            out[name] = float(value)
            continue
        head, tail = (name.removesuffix(".v"), ".v") if name.endswith(".v") else (name, "")
        joint = d.joint(head)
        jt = joints.create(joint.type, joint.options)
        parts = jt.v_names if tail else jt.q_names
        out.update({f"{head}.{part}{tail}": float(x) for part, x in zip(parts, value, strict=True)})
    return out


class Motion(NamedTuple):
    """Poses, subspaces, twists and bias accelerations of all nodes, each at its subsystem's origin."""

    X: list[Pose]  # body poses, world axes, position seen from the subsystem's origin
    S: list[Any]  # (6, nv_i), signed so that V = V_parent + S v also for reversed joints
    V: list[Any]  # twists
    A: list[Any]  # accelerations at zero vdot, gravity left out


def motion(skel: Skeleton, q: Any, v: Any) -> Motion:
    """Forward recursion over the tree: position, velocity, bias acceleration  [RBDA ch. 5].

    A reversed joint carries its first body: X_WF = X_WM X_FM^-1, V_F = V_M - S v, and the
    joint file is asked the same questions as ever.
    """
    m = Motion([], [], [], [])
    rest = np.zeros(6)
    for i, n in enumerate(skel.tree.nodes):
        X_P, V_P, A_P = (m.X[n.parent], m.V[n.parent], m.A[n.parent]) if n.parent >= 0 else (Pose(IDENTITY.R, -skel.origins[i]), rest, rest)
        jt, qj, vj = skel.types[i], q[n.q], v[n.v]
        X_FM = Pose(*jt.pose(qj))
        X_out = X_P @ skel.X_PF[i]  # the joint's frame on the carrying body
        X_in = X_out @ (X_FM.inverse() if n.reversed else X_FM)
        X_F, sign = (X_in, -1.0) if n.reversed else (X_out, 1.0)
        S = sign * shift_twist(X_F, jt.subspace(qj))
        V_J = S @ vj
        V = V_P + V_J
        V_F = V if n.reversed else V_P
        m.X.append(X_in @ skel.X_CM[i].inverse())
        m.S.append(S)
        m.V.append(V)
        m.A.append(A_P + cross_twist(V_F, V_J) + sign * shift_twist(X_F, jt.bias(qj, vj)))
    return m


def accelerations(skel: Skeleton, m: Motion, a: Any) -> list[Any]:
    """Accelerations of all bodies for joint accelerations a: bias plus S a along each path."""
    A: list[Any] = []
    for i, n in enumerate(skel.tree.nodes):
        above = A[n.parent] - m.A[n.parent] if n.parent >= 0 else 0.0
        A.append(m.A[i] + above + m.S[i] @ a[n.v])
    return A


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
    """Where a named point is and how it moves."""
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


def joint_coordinates(skel: Skeleton, m: Motion, joint: Joint, near: Any) -> np.ndarray:
    """q of any joint, cut or not, read from the poses; angles unwrapped towards `near`."""
    r = relative(skel, m, joint)
    return joints.create(joint.type, joint.options).coordinates(r.R, r.p, near)


class JointRate(NamedTuple):
    """q and v of a joint, and v as a function of the two bodies' twists: v = G_first V_first + G_second V_second."""

    q: Any
    v: Any
    bias: Any  # dv/dt at zero accelerations of the tree
    first: int
    second: int
    G_first: Any
    G_second: Any


def joint_rate(skel: Skeleton, m: Motion, joint: Joint, near: Any) -> JointRate:
    """v = S^+ (twist of M in F) of any joint; a joint effort e acts as the wrenches G' e on its two bodies."""
    r = relative(skel, m, joint)
    jt = joints.create(joint.type, joint.options)
    q = jt.coordinates(r.R, r.p, near)
    S = jt.subspace(q)
    S_plus = solve(S.T @ S, S.T)
    at_F = np.concatenate([np.concatenate([np.eye(3), np.zeros((3, 3))], 1), np.concatenate([skew(r.p), np.eye(3)], 1)])
    G = S_plus @ at_F
    v = G @ np.concatenate([r.w, r.u])
    # rate of the twist at F's origin: d/dt (u + p x w) = du + u x w + p x dw
    rate = np.concatenate([r.dw, r.du + cross(r.u, r.w) + cross(r.p, r.dw)])
    bias = S_plus @ (rate - jt.bias(q, v))
    return JointRate(q, v, bias, r.first, r.second, G @ r.E_first, G @ r.E_second)


def velocity_kinds(skel: Skeleton) -> list[str]:
    """'angle' or 'length' for every entry of v."""
    out: list[str] = []
    for jt in skel.types:
        kinds = jt.coordinate_kinds
        out += ["angle"] * 3 + list(kinds[4:]) if "quaternion" in kinds else list(kinds)
    return out


def joint_points(skel: Skeleton) -> np.ndarray:
    """(n, 3): joints and rod ends of the drawn position, in the world."""
    d = skel.tree.description
    points = [(pose_of(d.body(j.first).start) @ pose_of(j.frame_first)).p for j in d.joints]
    points += [pose_of(d.body(body).start).point(array(d.point((body, p)).at)) for r in d.rods for body, p in r.between]
    return np.array(points, dtype=float).reshape(-1, 3)


def displaced(skel: Skeleton, q: Any, step: Any) -> np.ndarray:
    """q moved by a finite step in the space of v; quaternions by their exponential, so they stay unit."""
    out = []
    for jt, n in zip(skel.types, skel.tree.nodes, strict=True):
        qj, dj = q[n.q], step[n.v]
        if "quaternion" in jt.coordinate_kinds:
            out.append(np.concatenate([_turned(qj[:4], dj[:3]), qj[4:] + dj[3:]]))
        else:
            out.append(qj + dj)
    return np.concatenate(out) if out else np.zeros(0)


def _turned(q: Any, a: Any) -> np.ndarray:
    """Quaternion q followed by the rotation vector a in the moving axes."""
    half = 0.5 * np.sqrt(a @ a)
    w, r = np.cos(half), 0.5 * np.sinc(half / np.pi) * np.asarray(a)
    s, u = q[0], q[1:]
    out = np.concatenate([[s * w - u @ r], s * r + w * u + cross(u, r)])
    return out / np.sqrt(out @ out)
