"""Channels of whole runs: each is read once on symbols and the program of it is run on arrays of all samples.

No Python per sample, and nothing to compile: operations go over thousands of samples at a time. What cannot be traced (a
quaternion of a cut ball joint chooses between formulas, loads of a cycle are solved for) is left to the caller, who reads it
sample by sample; both agree to round-off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from linkwright import joints
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.known_motion import Acted, loads_of_known_motion
from linkwright.mechanics.kinematics.motion import joint_rate, motion, relative
from linkwright.mechanics.kinematics.skeleton import Skeleton
from linkwright.numerics.result_stores import Store
from linkwright.results.channels import Channel, rotation_quaternions
from linkwright.results.records import CutReferences, turns_counted

VALUES_AT_ONCE = 4_000_000  # numbers held while a program runs
WHOLE = 2.0 * np.pi
UNTRACEABLE = (TypeError, AttributeError)  # what numpy says about functions a symbol does not have


class Batch:
    """A mechanism's instant on symbols: reads channels over arrays of samples.

    `rows` are the arrays by name, one row a sample: q, v, and where known a, t, near (of the cut joints). `acted` has the
    multipliers, efforts and wrenches of a run in such arrays.
    """

    def __init__(
        self, loops: Loops, rows: Mapping[str, np.ndarray], acted: Acted | None = None, design: Callable[[Any], Loops] | None = None
    ):
        """`design` gives the loops for symbols of the array `parameters`, where the numbers of the mechanism differ from row to row."""
        from linkwright.compiler.graph import TraceGraph

        self.n, self.acted = len(rows["q"]), acted
        self.rows = dict(rows)
        if acted is not None:
            self.act(acted)
        self.graph = TraceGraph()
        self._read: dict[str, Any] = {}
        self._inputs: dict[str, Any] = {name: self.graph.input(name, x.shape[1]) for name, x in self.rows.items()}
        self.loops = loops if design is None else design(self._inputs["parameters"])
        self.skel = self.loops.skel
        self._programs: dict[tuple[str, ...], Any] = {}
        self._codes: dict[tuple[str, ...], Any] = {}
        self.native, self.cores = False, None  # in machine code, which takes a while to make, on so many cores

    def act(self, acted: Acted) -> None:
        """Multipliers, efforts and wrenches from now on: of the same names as before."""
        self.acted = acted
        self.rows["lam"] = acted.lam
        self.rows |= {f"effort {name}": x[:, None] for name, x in acted.efforts.items()}
        self.rows |= {f"wrench {name}": x for name, x in acted.wrenches.items()}
        self.rows |= {f"friction {name}": x[:, None] for name, x in acted.rubbing.items()}

    def take(self, rows: Mapping[str, np.ndarray]) -> None:
        """Other samples from now on, in arrays of the same names."""
        self.n, self.rows = len(rows["q"]), dict(rows)

    def input(self, name: str) -> Any:
        """The symbols of one of the arrays."""
        return self._inputs[name]

    @cached_property
    def instant(self) -> Instant:
        x = self._inputs
        near = self.skel.unpack(x["q"], x["near"]) if "near" in x else None
        t = x["t"][0] if "t" in x else 0.0
        out = Instant(self.skel, x["q"], x["v"], t, near, x.get("a"), solver=None if self.acted is None else self._loads)
        out.terms = x
        return out

    def _loads(self, at: Instant) -> Any:
        x, acted = self._inputs, self.acted
        assert acted is not None
        efforts = {name: x[f"effort {name}"][0] for name in acted.efforts}
        wrenches = {name: x[f"wrench {name}"] for name in acted.wrenches}
        rubbing = {name: x[f"friction {name}"][0] for name in acted.rubbing}
        lam = x["lam"][: self.skel.tree.nc]
        known = Acted(lam, efforts, wrenches, rubbing=rubbing)
        return loads_of_known_motion(self.loops, at.q, at.v, at.known_a, at.t, at.references, known)

    def traced(self, name: str, read: Callable[[Instant], Any]) -> Any:
        """Result of `read` on the symbols; None if it needs numbers. Asked once for every name."""
        from linkwright.compiler.graph import TracingError

        if name not in self._read:
            try:
                self._read[name] = np.asarray(read(self.instant), dtype=object)
            except (TracingError, *UNTRACEABLE):
                self._read[name] = None
        return self._read[name]

    def values(self, named: Mapping[str, Callable[[Instant], Any]]) -> dict[str, np.ndarray]:
        """(n, ...) of everything that can be traced and comes out finite."""
        from linkwright.compiler.program import interpret

        if tuple(named) not in self._programs:
            found = {name: self.traced(name, read) for name, read in named.items()}
            self._programs[tuple(named)] = self.graph.program([(name, x) for name, x in found.items() if x is not None])
        program = self._programs[tuple(named)]
        if self.native:
            return self._run(program, tuple(named))
        size = max(64, VALUES_AT_ONCE // max(1, len(program.ops)))
        parts = []
        for first in range(0, self.n, size):
            packed = np.concatenate([self.rows[b.name][first : first + size] for b in program.inputs], axis=1)
            parts.append(interpret(program, packed))
        out = program.unpack(np.concatenate(parts) if parts else np.zeros((0, program.n_out)))
        return {name: x for name, x in out.items() if np.isfinite(x).all()}

    def slopes(self, channels: Sequence[Channel], changes: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Derivatives of channels, (n, ..., directions), from those of the arrays, (n, entries, directions); untraceable ones left out."""
        from linkwright.compiler.derivatives import jacobian

        found = {c.name: self.traced(c.name, c.read) for c in channels}
        program = self.graph.program([(name, x) for name, x in found.items() if x is not None])
        width = next(iter(changes.values())).shape[2]
        size = max(64, VALUES_AT_ONCE // max(1, len(program.ops) * (width + 1)))
        parts = []
        for first in range(0, self.n, size):
            some = slice(first, first + size)
            x = [column for b in program.inputs for column in self.rows[b.name][some].T]
            moved = [(b.start + i, changes[b.name][some, i]) for b in program.inputs if b.name in changes for i in range(b.size)]
            seeds = [{place: d[:, k] for place, d in moved if d[:, k].any()} for k in range(width)]
            D = jacobian(program, x, seeds).dense()
            parts.append(np.broadcast_to(D, (len(self.rows["q"][some]), *D.shape[-2:])))
        D = np.concatenate(parts)
        return {b.name: D[:, b.span].reshape(self.n, *b.shape, width) for b in program.outputs}

    def _run(self, program: Any, key: tuple[str, ...]) -> dict[str, np.ndarray]:
        """The same in machine code, with the same bits."""
        from linkwright.compiler.native import NativeCode
        from linkwright.compiler.program import without_unused

        if key not in self._codes:
            self._codes[key] = NativeCode.of(without_unused(program, list(self.rows)))
        code = self._codes[key]
        found, _ = code.call_many([self.rows[b.name] for b in code.inputs], self.cores)
        every = [np.broadcast_to(x, (self.n, *b.shape)) for b, x in zip(code.outputs, found, strict=True)]
        return {b.name: x for b, x in zip(code.outputs, every, strict=True) if np.isfinite(x).all()}

    def read(self, channels: Sequence[Channel]) -> dict[str, np.ndarray]:
        """Channels by name, those left out that have to be read sample by sample."""
        found = self.values({c.name: c.raw or c.read for c in channels})
        return {c.name: found[c.name] if c.cook is None else c.cook(found[c.name]) for c in channels if c.name in found}


# -------------------------------------------------------------------- references of the cut joints


class Before(NamedTuple):
    """Predecessor of each sample: the last accepted step before it, one row a sample."""

    t: np.ndarray
    references: np.ndarray  # coordinates of the cut joints, turns counted
    rates: np.ndarray  # and their rates


def cut_references(
    skel: Skeleton,
    t: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    near: Mapping[str, Any] | np.ndarray | Before,
    loops: Loops | None = None,
    a: np.ndarray | None = None,
    *,
    origin: np.ndarray | None = None,
) -> CutReferences:
    """Coordinates of the cut joints at every sample, turns counted.

    `near` is what the first sample continues from, by joint name (or the position q = `origin`, if that is given). In a plane the
    turns of a cut joint are a sum of those of the tree's joints, which count them, so that no sampling can miss one. In space
    they follow from sample to sample from the speeds, and from the accelerations if they are given. Other forms of `near`: an
    array with one row a sample, each right to less than half a turn; the steps before the samples.
    """
    return cut_motion(skel, t, q, v, near, loops, a, origin=origin)[0]


def cut_motion(
    skel: Skeleton,
    t: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    near: Mapping[str, Any] | np.ndarray | Before,
    loops: Loops | None = None,
    a: np.ndarray | None = None,
    *,
    origin: np.ndarray | None = None,
) -> tuple[CutReferences, np.ndarray]:
    """The same with the rates of the cut joints' coordinates (zero for quaternions)."""
    if isinstance(near, Before):
        rows = np.asarray(near.references, dtype=float)
    else:
        rows = near if isinstance(near, np.ndarray) else np.tile(skel.pack(near), (len(q), 1))
    rates = np.zeros(rows.shape)
    if not skel.cut_size or not len(q):
        return CutReferences(skel, q, rows), rates
    known = {"q": q, "v": v, "near": rows} | ({} if a is None else {"a": a})
    batch = Batch(Loops.of(skel) if loops is None else loops, known)
    count = _Count(t, near if isinstance(near, Before) else None, not isinstance(near, Mapping), skel.tree.description.planar, origin)
    out, at = np.array(rows, dtype=float), 0
    cuts = [skel.tree.description.joint(name) for name in skel.tree.cuts]
    every = [(joint, joints.create(joint.type, joint.options).coordinate_kinds) for joint in cuts]
    found = _cut_joints(batch, [joint for joint, kinds in every if len(kinds) and "quaternion" not in kinds])
    for joint, kinds in every:
        span = slice(at, at + len(kinds))
        if "quaternion" in kinds:
            out[:, span] = _turned(batch, joint, rows[:, span], count.given)
        elif len(kinds):
            out[:, span], rates[:, span] = _unwound(batch, joint, kinds, count, span, found[joint.name])
        at += len(kinds)
    return CutReferences(skel, q, out), rates


class _Count(NamedTuple):
    """How whole turns are counted."""

    t: np.ndarray
    before: Before | None
    given: bool  # a reference for every sample
    planar: bool
    origin: np.ndarray | None


def _cut_joints(batch: Batch, cuts: Sequence[Any]) -> dict[str, np.ndarray]:
    """(samples, 3, coordinates): q, v and a of cut joints by name; all are one program."""
    moving = "a" in batch.rows

    def all_three(x: Instant, joint: Any) -> Any:
        r = joint_rate(x.skel, x.motion, joint, x.references[joint.name])
        return np.array([r.q, r.v, x.joint_accelerations(joint) if moving else 0.0 * r.v])

    found = batch.values({joint.name: partial(all_three, joint=joint) for joint in cuts})
    for joint in (j for j in cuts if j.name not in found):  # a joint type of the user's own that runs on numbers only
        known = [batch.rows[k] for k in ("q", "v", "near")]
        accelerations = batch.rows["a"] if moving else np.zeros_like(known[1])
        rows = zip(*known, accelerations, strict=True)
        one = [all_three(Instant(batch.skel, q, v, 0.0, batch.skel.unpack(q, row), a), joint) for q, v, row, a in rows]
        found[joint.name] = np.array(one)
    return found


def _unwound(
    batch: Batch, joint: Any, kinds: Sequence[str], count: _Count, span: slice, found: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates of a cut joint with its turns counted, and their rates."""
    q, v, a = found.transpose(1, 0, 2)
    h = np.diff(count.t)
    for i in (i for i, kind in enumerate(kinds) if kind == "angle"):
        if count.before is not None:
            b = count.before
            expected = b.references[:, span][:, i] + 0.5 * (count.t - b.t) * (b.rates[:, span][:, i] + v[:, i])
            q[:, i] += WHOLE * np.rint((expected - q[:, i]) / WHOLE)
        elif not count.given and count.planar:
            begin, angle = (batch.rows["q"][0], q[0, i]) if count.origin is None else (count.origin, batch.rows["near"][0, span][i])
            columns, shares = _shares(batch.skel, joint, i, batch.rows["near"][0], begin)
            expected = angle + (batch.rows["q"][:, columns] - begin[columns]) @ shares
            q[:, i] += WHOLE * np.rint((expected - q[:, i]) / WHOLE)
        elif not count.given:  # Hermite: off by h^5/720 of the fifth derivative, by h^3/12 of the third without accelerations
            q[:, i] = turns_counted(q[:, i], 0.5 * h * (v[1:, i] + v[:-1, i]) - h * h / 12.0 * (a[1:, i] - a[:-1, i]))
    return q, v


def _shares(skel: Skeleton, joint: Any, i: int, cut: np.ndarray, q: np.ndarray) -> tuple[list[int], np.ndarray]:
    """How much coordinates of a planar tree turn a cut joint: places of those that do, and 1 or -1 in every position."""
    turns, moving = _spins(skel, q)
    ends = [skel.node(body) for body in (joint.first, joint.second)]
    shares: dict[int, float] = {}
    for node, sign in zip(ends, (-1.0, 1.0), strict=True):
        while node >= 0:
            n = skel.tree.nodes[node]
            for k in range(n.v.start, n.v.stop):
                shares[k] = shares.get(k, 0.0) + sign * turns[k]
            node = n.parent
    spin = sum(sign * (moving.V[node][2] if node >= 0 else 0.0) for node, sign in zip(ends, (-1.0, 1.0), strict=True))
    side = 1.0 if joint_rate(skel, moving, joint, skel.unpack(q, cut)[joint.name]).v[i] * spin > 0.0 else -1.0  # where the axis points
    columns = [k for k, share in shares.items() if share]
    return columns, np.array([side * shares[k] for k in columns])


SPINS: Store[str, tuple[np.ndarray, Any]] = Store()  # of a skeleton


def _spins(skel: Skeleton, q: np.ndarray) -> tuple[np.ndarray, Any]:
    """How much each coordinate of a planar tree turns its body against the one before, 1, -1 or 0, and a motion of all joints at once.
    Neither depends on q as far as it is read here: found once."""
    known = SPINS.of(skel).get("all")
    if known is None:
        nodes, nv = skel.tree.nodes, skel.tree.nv
        turns = np.zeros(nv)
        for j in range(max((n.v.stop - n.v.start for n in nodes), default=0)):  # the j-th coordinate of all joints at once
            own = [(i, n.v.start + j) for i, n in enumerate(nodes) if n.v.start + j < n.v.stop]
            v = np.zeros(nv)
            v[[k for _, k in own]] = 1.0
            m = motion(skel, q, v)
            for i, k in own:
                before = nodes[i].parent
                turns[k] = np.rint(m.V[i][2] - (m.V[before][2] if before >= 0 else 0.0))
        known = SPINS.of(skel)["all"] = turns, motion(skel, q, np.random.default_rng(0).uniform(1.0, 2.0, nv))
    return known


def _turned(batch: Batch, joint: Any, rows: np.ndarray, given: bool) -> np.ndarray:
    """Coordinates of a cut ball or free joint, its quaternions each on the side of the one before (or of its own reference)."""

    def pose(x: Instant) -> Any:
        r = relative(x.skel, x.motion, joint)
        return np.concatenate([r.R.ravel(), r.p])

    found = batch.values({f"{joint.name} turned": pose})[f"{joint.name} turned"]
    q = rotation_quaternions(found[:, :9])
    before = rows[:, :4] if given else np.concatenate([rows[:1, :4], q[:-1]])
    flip = np.where(np.sum(q * before, axis=1) < 0.0, -1.0, 1.0)
    return np.concatenate([q * (flip if given else np.cumprod(flip))[:, None], found[:, 9:]], axis=1)[:, : rows.shape[1]]
