"""Coordinates of the cut joints along a motion, with their whole turns counted; of ball joints quaternions without jumps.

In a plane the turns of a cut joint are a sum of those of the tree's joints, in space they follow from sample to sample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from linkwright import joints
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import joint_rate, motion, relative
from linkwright.mechanics.kinematics.skeleton import Skeleton
from linkwright.numerics.memory_and_threads import Store
from linkwright.results.channels import rotation_quaternions
from linkwright.results.channels.graph import Batch
from linkwright.results.records import CutReferences, turns_counted

WHOLE = 2.0 * np.pi


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


READS: Store[tuple[str, Callable[[Any, Instant], Any]], Callable[[Instant], Any]] = Store()  # what is read of a cut joint on symbols


def _read(skel: Skeleton, joint: Any, what: Callable[[Any, Instant], Any]) -> Callable[[Instant], Any]:
    """The same function at every call, so that it is traced once."""
    known, key = READS.of(skel), (joint.name, what)
    if key not in known:
        known[key] = partial(what, joint)
    return known[key]


def _resting(joint: Any, x: Instant) -> Any:
    r = joint_rate(x.skel, x.motion, joint, x.references[joint.name])
    return np.array([r.q, r.v, 0.0 * r.v])


def _moving(joint: Any, x: Instant) -> Any:
    r = joint_rate(x.skel, x.motion, joint, x.references[joint.name])
    return np.array([r.q, r.v, x.joint_accelerations(joint)])


def _pose(joint: Any, x: Instant) -> Any:
    r = relative(x.skel, x.motion, joint)
    return np.concatenate([r.R.ravel(), r.p])


def _cut_joints(batch: Batch, cuts: Sequence[Any]) -> dict[str, np.ndarray]:
    """(samples, 3, coordinates): q, v and a of cut joints by name; all are one program."""
    moving, skel = "a" in batch.rows, batch.symbols.skel
    all_three = _moving if moving else _resting
    found = batch.values({joint.name: _read(skel, joint, all_three) for joint in cuts})
    for joint in (j for j in cuts if j.name not in found):  # a joint type of the user's own that runs on numbers only
        known = [batch.rows[k] for k in ("q", "v", "near")]
        accelerations = batch.rows["a"] if moving else np.zeros_like(known[1])
        rows = zip(*known, accelerations, strict=True)
        one = [all_three(joint, Instant(skel, q, v, 0.0, skel.unpack(q, row), a)) for q, v, row, a in rows]
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
            columns, shares = _shares(batch.symbols.skel, joint, i, batch.rows["near"][0], begin)
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

    name = f"{joint.name} turned"
    found = batch.values({name: _read(batch.symbols.skel, joint, _pose)})[name]
    q = rotation_quaternions(found[:, :9])
    before = rows[:, :4] if given else np.concatenate([rows[:1, :4], q[:-1]])
    flip = np.where(np.sum(q * before, axis=1) < 0.0, -1.0, 1.0)
    return np.concatenate([q * (flip if given else np.cumprod(flip))[:, None], found[:, 9:]], axis=1)[:, : rows.shape[1]]
