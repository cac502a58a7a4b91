"""Like subsystems of a large mechanism (cells of a chain, bays of a lift): what is done for one of them is done for all.

Subsystems with the same joints, frames and masses form a class. A quantity of one subsystem (its motion, its inertia) or of a cut joint
between two is traced once a class, on a skeleton of these subsystems alone; the straight-line code then serves all members: on floats for
all of them at once, on traced symbols one after the other, which gives the nodes that tracing each member would give. Time and memory of
first use follow the number of classes where they would follow the number of bodies. Small mechanisms have no classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.errors import UsageError
from linkwright.model.description import Joint
from linkwright.numerics.stores import Store
from linkwright.topology.tree import Node, Subsystem, Tree

if TYPE_CHECKING:
    from linkwright.mechanics.kinematics.skeleton import Skeleton

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
