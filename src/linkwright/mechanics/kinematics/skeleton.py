"""The constants of a spanning tree as arrays: joint frames, mass data, origins; what `kinematics` and `dynamics` walk.

A node's own frame N is its joint's frame on the carried body: there the joint's subspace is simplest, and everything fixed
in the body (center, inertia, the frames of the joints it carries) is turned into it once, here. A ball joint has no axis that is simplest:
there N takes the body's axes where the body is simpler in them (a rod along one of them). Entries of round-off size
in rotations (a right angle built from sines) become exact zeros and ones, so that they cost nothing when traced.

Index -1 means ground wherever a node is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from linkwright import elements, joints
from linkwright.errors import ModelError, UsageError, nearest
from linkwright.mechanics.kinematics.transmission import Structure, structure
from linkwright.model.description import EYE3, Body, Description, Joint, Placement
from linkwright.numerics.memory_and_threads import Store, Stores, essentials
from linkwright.numerics.spatial import Pose, array, rotated_inertia, rotation_quaternion
from linkwright.properties import cached_property
from linkwright.topology.tree import Node, Subsystem, Tree

AXIS_ROUND_OFF = 4e-16  # entries of rotations, 2 EPSILON: what two turns of one axis leave


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
            raise ModelError(f"there is no body '{body}'.", None, nearest(body, nodes, "Bodies"))
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
    out[np.abs(out) < AXIS_ROUND_OFF * max(float(np.abs(x).max()) for x in (a, *terms) if x.dtype.kind == "f")] = 0.0
    return out


def snapped(X: Pose) -> Pose:
    """A pose whose rotation has exact zeros and ones where it differs from them by round-off."""
    return Pose(_exact_units(X.R), tidy(X.p))


def _exact_units(R: Any) -> Any:
    if R.dtype.kind != "f":
        return R
    out = np.where(np.abs(R) < AXIS_ROUND_OFF, 0.0, R)
    return np.where(np.abs(np.abs(out) - 1.0) < AXIS_ROUND_OFF, np.sign(out), out)


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


# ----------------------------------------------------------------------------------------------------
# Like subsystems of a large mechanism (cells of a chain, bays of a lift): what is done for one of them is done for all
# Subsystems with the same joints, frames and masses form a class. A quantity of one subsystem (its motion, its inertia) or of a cut joint
# between two is traced once a class, on a skeleton of these subsystems alone; the straight-line code then serves all members: on floats for
# all of them at once, on traced symbols one after the other, which gives the nodes that tracing each member would give. Time and memory of
# first use follow the number of classes where they would follow the number of bodies. Small mechanisms have no classes.

FEWEST_NODES = 48  # bodies of a mechanism that is looked at
FEWEST = 8  # members of a class


class NodeValues(Sequence[Any]):
    """Values of the nodes, each computed when it is asked for: of many bodies a few are."""

    def __init__(self, count: int, value: Callable[[int], Any]):
        self._known: list[Any] = [None] * count
        self._value = value

    def __len__(self) -> int:
        return len(self._known)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[k] for k in range(len(self))[i]]
        found = self._known[i]
        if found is None:
            found = self._known[i] = self._value(range(len(self))[i])
        return found


class ResultForm(NamedTuple):
    """One array of a code's results."""

    fixed: Any  # its constants
    shape: tuple[int, ...]
    places: list[int]  # of all other entries
    which: list[int]  # of the code's results go there
    traced: bool  # it is an array of symbols, even if its entries are constants


class LikeCode:
    """A function of a row of numbers with arrays as results, traced once."""

    def __init__(self, size: int, function: Callable[[Any], Sequence[Any]]):
        from linkwright.compiler.graph import Sym, TraceGraph  # here, because importing it is no part of starting up
        from linkwright.compiler.python_text import Straight

        g = TraceGraph()
        wanted: list[Any] = []
        self.forms: list[ResultForm] = []
        for x in function(g.input("x", size)):
            flat = np.ravel(x)
            places = [i for i, y in enumerate(flat) if type(y) is Sym] if flat.dtype.kind == "O" else []
            fixed = np.array([0.0 if type(y) is Sym else float(y) for y in flat]) if flat.dtype.kind == "O" else x
            fixed = fixed if places or fixed is x else fixed.reshape(np.shape(x))  # EYE stays the object it is
            which = list(range(len(wanted), len(wanted) + len(places)))
            self.forms.append(ResultForm(fixed, np.shape(x), places, which, flat.dtype.kind == "O"))
            wanted += [flat[i] for i in places]
        self.code = Straight(g.program([("y", np.array(wanted, dtype=object))]))

    def on_symbols(self, x: Sequence[Any]) -> list[Any]:
        """The results for numbers and symbols."""
        y = self.code.on_symbols(x)
        out: list[Any] = []
        for fixed, shape, places, which, traced in self.forms:
            if not places:
                out.append(fixed.astype(object) if traced else fixed)
                continue
            entries = fixed.astype(object)
            for i, k in zip(places, which, strict=True):
                entries[i] = y[k]
            out.append(entries.reshape(shape))
        return out

    def on_rows(self, x: np.ndarray) -> list[Any]:
        """The results for all rows of floats: each with one entry a row, or the constant that all have."""
        y = self.code.on_columns(list(x.T))
        out: list[Any] = []
        for fixed, shape, places, which, _ in self.forms:
            if not places:
                out.append([fixed] * len(x))
                continue
            entries = np.tile(fixed, (len(x), 1))
            for i, k in zip(places, which, strict=True):
                entries[:, i] = y[k]
            out.append(list(entries.reshape(len(x), *shape)))
        return out


class LikeParts:
    """The classes of a skeleton's subsystems, and the code of each."""

    def __init__(self, skel: Skeleton):
        self.skel = skel
        found: dict[Any, list[int]] = {}
        for s in skel.tree.subsystems:
            found.setdefault(_form(skel, s), []).append(s.index)
        self.classes = [tuple(x) for x in found.values()]
        self.of = {s: number for number, some in enumerate(self.classes) for s in some}
        self.codes: dict[Any, LikeCode | None] = {}
        self.groups: dict[Any, Any] = {}  # of cut joints
        self.parts: dict[tuple[int, ...], Skeleton] = {}  # of the first member of each class
        self.tables: dict[str, Any] = {}  # that other rooms make once

    def __reduce__(self) -> Any:
        """By the skeleton: code is traced again when it is needed."""
        return like_parts, (self.skel,)

    @property
    def worthwhile(self) -> bool:
        return max((len(x) for x in self.classes), default=0) >= FEWEST

    def code(self, key: Any, size: int, function: Callable[[Any], Sequence[Any]]) -> LikeCode | None:
        """Code by a key, traced at first use; None where it cannot be traced."""
        if key not in self.codes:
            try:
                self.codes[key] = LikeCode(size, function)
            except (UsageError, TypeError):  # a branch on a traced value: each member is evaluated by itself
                self.codes[key] = None
        return self.codes[key]

    def part(self, subsystems: Sequence[int]) -> Skeleton:
        """The skeleton of some subsystems alone."""
        key = tuple(subsystems)
        if key not in self.parts:
            self.parts[key] = part(self.skel, subsystems)
        return self.parts[key]

    def placed(self, subsystems: Sequence[int], q: Any, v: Any) -> list[Any]:
        """Coordinates, then velocities of some subsystems, then their origins."""
        every = [self.skel.tree.subsystems[s] for s in subsystems]
        origins = [x for s in every for x in self.skel.origins[s.nodes[0]].tolist()]
        return [x for s in every for x in q[s.q].tolist()] + [x for s in every for x in v[s.v].tolist()] + origins

    def width(self, subsystems: Sequence[int]) -> int:
        """How many numbers that are."""
        every = [self.skel.tree.subsystems[s] for s in subsystems]
        return sum(s.q.stop - s.q.start + s.v.stop - s.v.start + 3 for s in every)

    def cut_groups(self, joints: Iterable[Joint], near: Mapping[str, int]) -> dict[Any, list[tuple[Joint, tuple[int, ...]]]]:
        """Cut joints with the subsystems they join, by class and number of their references."""
        names = tuple(near)
        if names not in self.groups:
            groups: dict[Any, list[tuple[Joint, tuple[int, ...]]]] = {}
            for joint in joints:
                key, ends = self._joined(joint)
                groups.setdefault((key, near[joint.name]), []).append((joint, ends))
            self.groups[names] = groups
        return self.groups[names]

    def _joined(self, joint: Joint) -> tuple[Any, tuple[int, ...]]:
        """All that the rows of a cut joint depend on, and its subsystems."""
        tree, origins = self.skel.tree, self.skel.origins
        at = [self.skel.node(body) for body in (joint.first, joint.second)]
        ends = tuple(dict.fromkeys(tree.nodes[n].subsystem for n in at if n >= 0))
        first = {s: tree.subsystems[s].nodes[0] for s in ends}
        where = tuple((-1, 0) if n < 0 else (ends.index(s := tree.nodes[n].subsystem), n - first[s]) for n in at)
        zeros = tuple(tuple(x != 0.0 for x in origins[i].tolist()) for i in first.values())
        forms = tuple(self.of[s] for s in ends)
        return (joint.type, joint.options, joint.frame_first, joint.frame_second, where, forms, zeros), ends

    def evaluated(self, code: LikeCode, rows: Sequence[Sequence[Any]], floats: bool) -> list[list[Any]]:
        """The results of code, member by member."""
        if floats:
            return [list(x) for x in zip(*code.on_rows(np.array(rows, dtype=float)), strict=True)]
        return [code.on_symbols(x) for x in rows]

    def by_subsystem(self, name: Any, q: Any, v: Any, function: Callable[[Skeleton, Any, Any], Sequence[Any]]) -> list[list[Any]] | None:
        """Arrays of every subsystem, from a function of (skeleton, q, v) of one; None if that cannot be traced, or for numbers
        of another kind than floats and symbols: complex ones, or those that count operations."""
        kinds = {x.dtype.kind if isinstance(x, np.ndarray) else "" for x in (q, v)}
        if not kinds <= {"f", "O"} or (kinds != {"f"} and not _symbols(q, v)):
            return None
        out: list[list[Any]] = [[] for _ in self.skel.tree.subsystems]
        for number, members in enumerate(self.classes):
            own = self.part(members[:1])
            code = self.code((name, number), self.width(members[:1]), lambda x, own=own: function(*placed_part(own, x)[1:4]))
            if code is None:
                return None
            results = self.evaluated(code, [self.placed((s,), q, v) for s in members], kinds == {"f"})
            for s, found in zip(members, results, strict=True):
                out[s] = found
        return out


def _symbols(*arrays: np.ndarray) -> bool:
    """True if all entries are floats or traced symbols."""
    from linkwright.compiler.graph import Sym

    return {type(x) for array in arrays for x in array.flat} <= {Sym, float, int, np.float64}


LIKE: Store[str, LikeParts | None] = Store()  # the classes of a skeleton


def like_parts(skel: Skeleton) -> LikeParts | None:
    """The classes of a large mechanism with like subsystems, made once; else None."""
    known = LIKE.of(skel)
    if "all" not in known:
        known["all"] = None
        if len(skel.tree.nodes) >= FEWEST_NODES and not any(isinstance(x, np.ndarray) and x.dtype.kind == "O" for x in _numbers(skel)):
            found = LikeParts(skel)
            known["all"] = found if found.worthwhile else None
    return known["all"]


def placed_part(own: Skeleton, x: Any) -> tuple[Skeleton, Skeleton, Any, Any, Any]:
    """(skeleton with these origins, skeleton to move, q, v, the rest) of a row as in `LikeParts.placed`; origins on an axis stay there.

    Motion depends on the origin of a floating body only: others count from it, and the origin of any member gives the same.
    """
    nq, nv, systems = own.tree.nq, own.tree.nv, own.tree.subsystems
    stop = nq + nv + 3 * len(systems)
    rows = x[nq + nv : stop].reshape(-1, 3)
    origins = [np.array([o if old != 0.0 else 0.0 for o, old in zip(rows[s.index], own.origins[s.nodes[0]], strict=True)]) for s in systems]
    floats = [_apart(own, s.nodes[0]) for s in systems]
    moving = [origins[n.subsystem] if floats[n.subsystem] else old for n, old in zip(own.tree.nodes, own.origins, strict=True)]
    placed = _alone(replace(own, origins=tuple(origins[n.subsystem] for n in own.tree.nodes)))
    return placed, _alone(replace(own, origins=tuple(moving))), x[:nq], x[nq : nq + nv], x[stop:]


def _numbers(skel: Skeleton) -> Any:
    for X in (*skel.X_PF, *skel.X_CM):
        yield from X
    yield from (np.asarray(m) for m in (*skel.mass, *skel.armature))
    yield from skel.com
    yield from skel.inertia


def _form(skel: Skeleton, s: Subsystem) -> tuple[Any, ...]:
    """All that motion and inertia of a subsystem depend on."""
    form: list[Any] = []
    for i in s.nodes:
        n, X = skel.tree.nodes[i], skel.X_KF[i]
        apart = n.parent < 0 and _apart(skel, i)
        at = X.p - skel.origins[i] if n.parent < 0 and not apart else X.p
        arrays = (X.R, at, *skel.X_NC[i], skel.com[i], skel.inertia[i])
        form.append((n.joint.type, n.joint.options, n.reversed, n.parent - s.nodes[0] if n.parent >= 0 else -1, skel.floats[i]))
        form.append(tuple(x != 0.0 for x in skel.origins[i].tolist()) if apart else ())
        ball = skel.ball_axes[i]
        form.append(() if ball is None else ball.R.tobytes())
        form.append((float(skel.mass[i]), float(n.joint.armature), *((x + 0.0).tobytes() for x in arrays)))  # + 0.0: no negative zeros
    return tuple(form)


def _apart(skel: Skeleton, root: int) -> bool:
    """True if a subsystem does not begin at its origin: one that floats."""
    return bool(np.any(skel.X_PF[root].p != skel.origins[root]))


def part(skel: Skeleton, subsystems: Sequence[int]) -> Skeleton:
    """The skeleton of some subsystems alone, with numbers of its own for nodes and entries."""
    nodes: list[Node] = []
    systems: list[Subsystem] = []
    old: list[int] = []
    nq = nv = 0
    for number, s in enumerate(skel.tree.subsystems[k] for k in subsystems):
        first, at_q, at_v = len(nodes), nq - s.q.start, nv - s.v.start
        for i in s.nodes:
            n = skel.tree.nodes[i]
            own = {"q": slice(n.q.start + at_q, n.q.stop + at_q), "v": slice(n.v.start + at_v, n.v.stop + at_v)}
            nodes.append(replace(n, parent=-1 if n.parent < 0 else n.parent - s.nodes[0] + first, subsystem=number, **own))
        old += s.nodes
        nq, nv = s.q.stop + at_q, s.v.stop + at_v
        span = slice(s.q.start + at_q, nq), slice(s.v.start + at_v, nv)
        systems.append(Subsystem(number, tuple(range(first, len(nodes))), s.bodies, *span))
    tree = Tree(skel.tree.description, tuple(nodes), tuple(systems), (), ())
    fields = ("types", "X_PF", "X_CM", "origins", "mass", "com", "inertia", "ball_axes")
    return _alone(replace(skel, tree=tree, **{name: tuple(getattr(skel, name)[i] for i in old) for name in fields}))


def _alone(skel: Skeleton) -> Skeleton:
    """The skeleton, in which no classes are looked for."""
    LIKE.of(skel)["all"] = None
    return skel


def velocity_kinds(skel: Skeleton) -> list[str]:
    """'angle' or 'length' for every entry of v."""
    return [kind for jt in skel.types for kind in joints.velocity_kinds(jt)]


def joint_points(skel: Skeleton) -> np.ndarray:
    """(n, 3): joints and rod ends of the drawn position, in the world."""
    d = skel.tree.description
    points = [(pose_of(d.body(j.first).start) @ pose_of(j.frame_first)).p for j in d.joints]
    points += [pose_of(d.body(body).start).point(array(d.point((body, p)).at)) for r, _ in elements.lengths(d) for body, p in r.between]
    return np.array(points, dtype=float).reshape(-1, 3)
