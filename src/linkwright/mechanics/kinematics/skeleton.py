"""The constants of a spanning tree as arrays: joint frames, mass data, origins; what `kinematics` and `dynamics` walk.

A node's own frame N is its joint's frame on the carried body: there the joint's subspace is simplest, and everything fixed
in the body (center, inertia, the frames of the joints it carries) is turned into it once, here. A ball joint has no axis that is simplest:
there N takes the body's axes where the body is simpler in them (a rod along one of them). Entries of round-off size
in rotations (a right angle built from sines) become exact zeros and ones, so that they cost nothing when traced.

Index -1 means ground wherever a node is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linkwright import joints
from linkwright.errors import ModelError, nearest
from linkwright.mechanics.kinematics.transmission import Structure, structure
from linkwright.model.description import EYE3, Body, Description, Joint, Placement
from linkwright.numerics.pickling import essentials
from linkwright.numerics.spatial import Pose, array, rotated_inertia, rotation_quaternion
from linkwright.numerics.stores import Stores
from linkwright.topology.tree import Tree

ROUND_OFF = 4e-16


def pose_of(placement: Placement) -> Pose:
    """The pose of a placement, cached with it: it is asked for at every state."""
    known = vars(placement)
    if "_pose" not in known:
        R = np.eye(3) if placement.rotation is EYE3 else _exact_units(array(placement.rotation))
        known["_pose"] = Pose(R, array(placement.at))
        for x in known["_pose"]:
            x.flags.writeable = False
    return known["_pose"]


def _poses_of(placements: Sequence[Placement]) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (n, 3, 3) and origins (n, 3) of placements; if all are floats each is cached with its own."""
    R = _exact_units(array([x.rotation for x in placements]).reshape(-1, 3, 3))
    p = array([x.at for x in placements]).reshape(-1, 3)
    if R.dtype.kind != "f" or p.dtype.kind != "f":
        return R, p
    R.flags.writeable = p.flags.writeable = False
    for x, rotation, at in zip(placements, R, p, strict=True):
        vars(x).setdefault("_pose", Pose(rotation, at))
    return R, p


class Augmented(NamedTuple):
    """Composite masses, and per node first moment and inertia about N of the body with its point masses, in N's axes."""

    mass: tuple[Any, ...]
    moment: tuple[Any, ...]
    inertia: tuple[Any, ...]
    slides: tuple[bool, ...]  # the node's joint moves along: what it carries is not a point mass on the carrier


class BallAxes(NamedTuple):
    """Axes of N in the joint's frame on the carried body, and the quaternion of that rotation: numbers, also in a traced skeleton."""

    R: np.ndarray
    q: np.ndarray


@dataclass(frozen=True)
class Skeleton:
    """The constants of a tree: joint types and frames, origins of the subsystems, mass data of the nodes."""

    __getstate__ = essentials

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
    ball_axes: tuple[BallAxes | None, ...]  # of nodes on a ball joint whose N is not the joint's frame

    @cached_property
    def transmission(self) -> Structure:
        """Places at which power is passed on from link to link."""
        return structure(self.tree.description)

    @cached_property
    def X_NC(self) -> tuple[Pose, ...]:
        """The carried body's frame in its own node frame N."""
        turned = (X if own is None else Pose(X.R @ own.R, X.p) for X, own in zip(self.X_CM, self.ball_axes, strict=True))
        return tuple(snapped(X.inverse()) for X in turned)

    @cached_property
    def X_KF(self) -> tuple[Pose, ...]:
        """The joint's frame on the carrying body, in the carrying node's own frame K."""
        return tuple(snapped(self.X_NC[n.parent] @ X) if n.parent >= 0 else X for n, X in zip(self.tree.nodes, self.X_PF, strict=True))

    @cached_property
    def com_N(self) -> tuple[np.ndarray, ...]:
        """Centers of mass in N."""
        return tuple(tidy(X.point(c), X.p, c) for X, c in zip(self.X_NC, self.com, strict=True))

    @cached_property
    def inertia_N(self) -> tuple[np.ndarray, ...]:
        """Inertias about the origin of N, in N's axes."""
        return tuple(
            tidy(rotated_inertia(X.R, I) + m * (c @ c * np.eye(3) - np.outer(c, c)))
            for X, I, m, c in zip(self.X_NC, self.inertia, self.mass, self.com_N, strict=True)
        )

    @cached_property
    def armature(self) -> tuple[Any, ...]:
        """Inertias that turn or slide with the joints' own speeds, one entry for every velocity."""
        return tuple(n.joint.armature for n in self.tree.nodes for _ in range(n.v.stop - n.v.start))

    @cached_property
    def turns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Places of quaternions in q, (joints, 4), and of their angular velocities in v, (joints, 3); of all other entries in both."""
        balls = [(n.q.start, n.v.start) for jt, n in zip(self.types, self.tree.nodes, strict=True) if "quaternion" in jt.coordinate_kinds]
        q = np.array([range(i, i + 4) for i, _ in balls], dtype=int).reshape(-1, 4)
        v = np.array([range(i, i + 3) for _, i in balls], dtype=int).reshape(-1, 3)
        return q, v, np.setdiff1d(np.arange(self.tree.nq), q), np.setdiff1d(np.arange(self.tree.nv), v)

    @cached_property
    def floats(self) -> tuple[bool, ...]:
        """Nodes on a free joint."""
        return tuple(not jt.rows and not n.reversed for jt, n in zip(self.types, self.tree.nodes, strict=True))

    @cached_property
    def own_axes(self) -> tuple[bool, ...]:
        """Nodes whose joint turns them, in space: there vectors are shortest in the node's own axes. A floating body stays in
        the world's, where its translations are."""
        turns = [any(kind != "length" for kind in jt.coordinate_kinds) for jt in self.types]
        return tuple(not self.tree.description.planar and t and not f for t, f in zip(turns, self.floats, strict=True))

    @cached_property
    def augmented(self) -> Augmented:
        """Bodies with what they carry counted as point masses at the joints that stay in place on them."""
        nodes, mass = self.tree.nodes, list(self.mass)
        slides = tuple(not jt.keeps_origin for jt in self.types)
        moment = [m * c for m, c in zip(self.mass, self.com_N, strict=True)]
        inertia = list(self.inertia_N)
        for i in reversed(range(len(nodes))):
            K, r = nodes[i].parent, self.X_KF[i].p
            if K >= 0:
                mass[K] = mass[K] + mass[i]
                if not slides[i]:
                    moment[K] = moment[K] + mass[i] * r
                    inertia[K] = inertia[K] + mass[i] * (r @ r * np.eye(3) - np.outer(r, r))
        return Augmented(tuple(mass), tuple(moment), tuple(inertia), slides)

    @cached_property
    def stores(self) -> Stores:
        """Results that rooms compute once for this skeleton; not pickled."""
        return {}

    @cached_property
    def cut_spans(self) -> dict[str, slice]:
        """Entries of each cut joint in a packed row of references."""
        ends = np.cumsum([0, *(len(self.start_coordinates[name]) for name in self.tree.cuts)])
        return {name: slice(int(a), int(b)) for name, a, b in zip(self.tree.cuts, ends, ends[1:], strict=False)}

    @property
    def cut_size(self) -> int:
        """Entries of a packed row of references."""
        return max((span.stop for span in self.cut_spans.values()), default=0)

    def pack(self, references: Mapping[str, Any]) -> np.ndarray:
        """Return the reference coordinates of the cut joints in one row; those of the tree joints are in q."""
        return np.concatenate([np.zeros(0), *(np.asarray(references[name], dtype=float) for name in self.tree.cuts)])

    def unpack(self, q: Any, row: Any) -> dict[str, Any]:
        """Return the reference coordinates of every joint from q and a packed row, over any scalar."""
        own = {n.joint.name: q[n.q] for n in self.tree.nodes}
        return own | {name: row[span] for name, span in self.cut_spans.items()}

    def origin(self, node: int) -> np.ndarray:
        return self.origins[node] if node >= 0 else np.zeros(3)

    def node(self, body: str) -> int:
        """Index of a body's node, -1 for ground."""
        nodes = self.tree.node_of_body
        if body not in nodes:
            raise ModelError(f"there is no body '{body}'. {nearest(body, nodes, 'Bodies')}")
        return nodes[body]


def skeleton(tree: Tree, numeric: Skeleton | None = None, start: dict[str, Any] | None = None) -> Skeleton:
    """Collect a tree's constants; its description may hold floats or traced parameters, then with what is decided on numbers as in a
    `numeric` skeleton, and coordinates in the drawing as in `start`."""
    d = tree.description
    bodies = [d.body(n.body) for n in tree.nodes]
    drawn = start_coordinates(tree) if start is None else start
    X_PF, X_CM = [], []
    for n in tree.nodes:
        first, second = pose_of(n.joint.frame_first), pose_of(n.joint.frame_second)
        X_PF.append(second if n.reversed else first)
        X_CM.append(first if n.reversed else second)
    types = tuple(joints.create(n.joint.type, n.joint.options) for n in tree.nodes)
    roots = {n.subsystem: _ground_point(n.joint, X, body) for n, X, body in zip(tree.nodes, X_PF, bodies, strict=True) if n.parent < 0}
    return Skeleton(
        tree=tree,
        types=types,
        X_PF=tuple(X_PF),
        X_CM=tuple(X_CM),
        origins=tuple(roots[n.subsystem] for n in tree.nodes),
        mass=tuple(0.0 if b.mass is None else b.mass for b in bodies),
        com=tuple(array(b.com) for b in bodies),
        inertia=tuple(array(b.inertia) for b in bodies),
        gravity=array(d.gravity),
        start_coordinates=drawn,
        ball_axes=tuple(_ball_axes(tree, i, types[i], X) for i, X in enumerate(X_CM)) if numeric is None else numeric.ball_axes,
    )


def _ball_axes(tree: Tree, i: int, jt: Any, X_CM: Pose) -> BallAxes | None:
    """The body's axes, where its center, inertia and joints have more zeros in them than in the joint's frame."""
    n, d = tree.nodes[i], tree.description
    body = d.body(n.body)
    if d.planar or n.reversed or jt.coordinate_kinds != ("quaternion",) * 4 or X_CM.R.dtype.kind != "f":
        return None
    ends = [(j.frame_first if j.first == n.body else j.frame_second).at for j in d.joints if n.body in (j.first, j.second)]
    arms, inertia = array([body.com, *ends]), array(body.inertia)
    if any(x.dtype.kind != "f" for x in (arms, inertia)):
        return None
    R = X_CM.R.T
    here, there = ((np.count_nonzero(tidy(x)) for x in pair) for pair in ((arms, inertia), (arms @ R.T, rotated_inertia(R, inertia))))
    return BallAxes(R, rotation_quaternion(R)) if sum(here) < sum(there) else None


def tidy(a: Any, *terms: Any) -> Any:
    """Entries far below the largest one, of the array or of the terms it is a sum of, are zero."""
    if a.dtype.kind != "f" or a.size == 0:
        return a
    out = a.copy()
    out[np.abs(out) < ROUND_OFF * max(float(np.abs(x).max()) for x in (a, *terms) if x.dtype.kind == "f")] = 0.0
    return out


def snapped(X: Pose) -> Pose:
    """A pose whose rotation has exact zeros and ones where it differs from them by round-off."""
    return Pose(_exact_units(X.R), tidy(X.p))


def _exact_units(R: Any) -> Any:
    if R.dtype.kind != "f":
        return R
    out = np.where(np.abs(R) < ROUND_OFF, 0.0, R)
    return np.where(np.abs(np.abs(out) - 1.0) < ROUND_OFF, np.sign(out), out)


def start_coordinates(tree: Tree) -> dict[str, np.ndarray]:
    """Coordinates of all joints in the drawn position, read from the bodies' start poses.

    A sketch does not close exactly; what a joint cannot follow is left out here and closed by assembly.
    Whole turns are counted from the values in `start:`.
    """
    d = tree.description
    return drawn_coordinates(d, list({**{j.name: j for j in d.joints}, **{n.joint.name: n.joint for n in tree.nodes}}.values()))


def drawn_coordinates(d: Description, every: Sequence[Joint]) -> dict[str, np.ndarray]:
    """The same of some joints; of numbers that are symbols, where bodies start is one of them."""
    wanted = start_values(d)
    R, p = drawn_relative(d, every) if every else ((), ())
    out = {}
    for joint, R_FM, p_FM in zip(every, R, p, strict=True):
        jt = joints.create(joint.type, joint.options)
        near = np.array([1.0] + [0.0] * (jt.nq - 1)) if "quaternion" in jt.coordinate_kinds else np.zeros(jt.nq)
        for i, part in enumerate(jt.q_names if wanted else ()):
            near[i] = wanted.get(f"{joint.name}.{part}" if part else joint.name, near[i])
        out[joint.name] = jt.coordinates(R_FM, p_FM, near)
    return out


def counted_joints(d: Description) -> list[str]:
    """Joints from whose coordinates in the drawing couplings, gears and belts count."""
    return list(dict.fromkeys(name for x in d.ties if x.counts for name in x.joints))


def counted_coordinates(d: Description) -> dict[str, np.ndarray]:
    """Coordinates of these joints in the drawing, of numbers that may be symbols."""
    return drawn_coordinates(d, [d.joint(name) for name in counted_joints(d)])


def drawn_relative(d: Description, every: Sequence[Joint]) -> tuple[np.ndarray, np.ndarray]:
    """Frames of the second bodies of joints in those of the first, in the drawn position: rotations (n, 3, 3) and origins (n, 3)."""
    (R_1, p_1), (R_2, p_2) = _poses_of([d.body(j.first).start for j in every]), _poses_of([d.body(j.second).start for j in every])
    (R_F, p_F), (R_M, p_M) = _poses_of([j.frame_first for j in every]), _poses_of([j.frame_second for j in every])
    back = np.swapaxes(R_1 @ R_F, 1, 2)
    apart = (R_2 @ p_M[:, :, None] + p_2[:, :, None]) - (R_1 @ p_F[:, :, None] + p_1[:, :, None])
    return back @ R_2 @ R_M, (back @ apart)[:, :, 0]


def _ground_point(joint: Joint, X: Pose, body: Body) -> np.ndarray:
    """A fixed point near the subsystem: its root joint on ground, or the start of a floating body."""
    floating = joints.JOINTS[joint.type].floats and joint.name == body.name
    return array(body.start.at) if floating else X.p


def start_values(d: Description) -> dict[str, float]:
    """`start:` by single coordinates: a list given for a joint with several is spread over their names."""
    out = {}
    for name, value in d.start:
        if not isinstance(value, tuple):
            out[name] = float(value)
            continue
        if name.endswith((".quat", ".rpy")):  # decides no count of turns
            continue
        head, tail = (name.removesuffix(".v"), ".v") if name.endswith(".v") else (name, "")
        joint = d.joint(head)
        jt = joints.create(joint.type, joint.options)
        parts = jt.v_names if tail else jt.q_names
        out.update({f"{head}.{part}{tail}": float(x) for part, x in zip(parts, value, strict=True)})
    return out
