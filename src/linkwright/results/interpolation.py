"""States between the samples of a run: quintic Hermite through q, v and a, then back onto the loops.

Between two samples h apart the polynomial is off by at most h^6/46080 times the sixth derivative of q; its first and second
derivatives, which become v and a, by orders h^5 and h^4. The projection that follows (shortest in the dimensionless metric;
positions, velocities, accelerations) removes the part of the error that opens loops. At a sample the sample is returned.
Recorded columns are interpolated linearly; multipliers too, and are then moved to balance the accelerations.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwright.mechanics.closing.newton import PositionRows, Rule, onto
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.skeleton import Skeleton
from linkwright.numerics.linalg import factor
from linkwright.properties import cached_property
from linkwright.results.cut_references import cut_references

ROUNDS = 6  # of Newton; from interpolation errors two or three do
WINDOW = 1e-3  # rows with smaller singular values are about to be lost: what they would correct is mostly round-off
INTERPOLATION_STEP = 1e-40  # complex step


class Samples(NamedTuple):
    """States of a run: one row a sample."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    references: np.ndarray  # of the cut joints


class Between(NamedTuple):
    """Positions of wanted times: after sample `low`, a share `s` of the way to the next; `exact` at the sample itself."""

    low: np.ndarray
    high: np.ndarray
    s: np.ndarray
    exact: np.ndarray

    def linear(self, values: np.ndarray) -> np.ndarray:
        """Values over the samples, taken linearly in between."""
        s = self.s.reshape(-1, *(1,) * (values.ndim - 1))
        between = values[self.low] + s * (values[self.high] - values[self.low])
        return np.where(self.exact.reshape(s.shape), values[self.low], between)


def places(t: np.ndarray, wanted: np.ndarray) -> Between:
    """The samples around each wanted time, which must lie in the range; where a time occurs twice (an impact), the later."""
    sign = 1.0 if t[-1] >= t[0] else -1.0
    low = np.clip(np.searchsorted(sign * t, sign * wanted, side="right") - 1, 0, len(t) - 1)
    high = np.minimum(low + 1, len(t) - 1)
    length = np.where(high > low, t[high] - t[low], 1.0)
    s = (wanted - t[low]) / length
    return Between(low, high, s, t[low] == wanted)


def states(loops: Loops, c: Samples, wanted: np.ndarray, closed: np.ndarray | None = None) -> Samples:
    """States at any times in the range; `closed` (samples, loops) says which loops are closed where some are switched off."""
    at = places(c.t, wanted)
    q, qd, qdd = _polynomial(loops.skel, c, at)
    v, a = _velocities(loops.skel, q, qd, qdd)
    rough = at.linear(c.references)
    keep = np.ones((len(wanted), len(loops.skel.tree.loops))) if closed is None else np.minimum(closed[at.low], closed[at.high])
    q, v, a = BatchProjection(loops, keep)(q, v, a, wanted, rough)
    planar = loops.skel.tree.description.planar  # then turns are those of the tree's joints, however many lie between samples
    first = loops.skel.unpack(c.q[0], c.references[0]) if planar else rough
    near = cut_references(loops.skel, wanted, q, v, first, loops, origin=c.q[0] if planar else None).rows
    exact = at.exact[:, None]
    parts = [np.where(exact, x[at.low], y) for x, y in ((c.q, q), (c.v, v), (c.a, a), (c.references, near))]
    return Samples(wanted, *parts)


# -------------------------------------------------------------------- the polynomial


def _polynomial(skel: Skeleton, c: Samples, at: Between) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q and its first two derivatives by time; quaternions normalized with theirs."""
    h = np.where(at.high > at.low, c.t[at.high] - c.t[at.low], 1.0)[:, None]
    ends = []
    for i in (at.low, at.high):
        q, v, a = c.q[i], c.v[i], c.a[i]
        qd = _rates(skel, q, v)
        ends.append((q, h * qd, h * h * (_rates(skel, q, a) + _turned(skel, q, qd, v))))
    (q0, d0, dd0), (q1, d1, dd1) = ends
    for span in _quaternions(skel):  # the same attitude on the other side of the sphere
        flip = np.where(np.sum(q0[:, span] * q1[:, span], axis=1) < 0.0, -1.0, 1.0)[:, None]
        for x in (q1, d1, dd1):
            x[:, span] *= flip
    s = at.s[:, None]
    d, e, f = q1 - q0 - d0 - 0.5 * dd0, d1 - d0 - dd0, dd1 - dd0
    c3, c4, c5 = 10.0 * d - 4.0 * e + 0.5 * f, -15.0 * d + 7.0 * e - f, 6.0 * d - 3.0 * e + 0.5 * f
    q = q0 + s * (d0 + s * (0.5 * dd0 + s * (c3 + s * (c4 + s * c5))))
    qd = (d0 + s * (dd0 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))) / h
    qdd = (dd0 + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5))) / (h * h)
    for span in _quaternions(skel):
        size = np.sqrt(np.sum(q[:, span] ** 2, axis=1))[:, None]
        for x in (q, qd, qdd):
            x[:, span] /= size
    return q, qd, qdd


def _quaternions(skel: Skeleton) -> list[slice]:
    starts = [n.q.start for n, jt in zip(skel.tree.nodes, skel.types, strict=True) if "quaternion" in jt.coordinate_kinds]
    return [slice(i, i + 4) for i in starts]


def _rates(skel: Skeleton, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """dq/dt = N(q) v of many states, joint by joint."""
    out = np.empty(q.shape, dtype=np.result_type(q, v))
    for n, jt in zip(skel.tree.nodes, skel.types, strict=True):
        out[:, n.q] = np.asarray(jt.qdot(q[:, n.q].T, v[:, n.v].T)).T
    return out


def _turned(skel: Skeleton, q: np.ndarray, qd: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(dN/dt) v, by a complex step along dq/dt."""
    return np.imag(_rates(skel, q + 1j * INTERPOLATION_STEP * qd, v)) / INTERPOLATION_STEP


def _velocities(skel: Skeleton, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """v and its rate from dq/dt = N v: the columns of N are orthogonal enough for least squares."""
    v, a = (np.empty((len(q), skel.tree.nv)) for _ in range(2))
    for n, jt in zip(skel.tree.nodes, skel.types, strict=True):
        own, size = q[:, n.q].T, n.v.stop - n.v.start
        if size == 0:
            continue
        units = np.eye(size)[:, :, None] + np.zeros(len(q))
        N = np.array([np.asarray(jt.qdot(own, e)) for e in units])  # (nv, nq, states): its columns
        f = factor(N.transpose(2, 1, 0), thin=True)
        v[:, n.v] = f.solve(qd[:, n.q])
        rest = np.asarray(jt.qdot(own + 1j * INTERPOLATION_STEP * qd[:, n.q].T, v[:, n.v].T)).T
        a[:, n.v] = f.solve(qdd[:, n.q] - np.imag(rest) / INTERPOLATION_STEP)
    return v, a


# -------------------------------------------------------------------- back onto the loops


class BatchProjection:
    """Positions, velocities and accelerations of many states onto the loops at once."""

    def __init__(self, loops: Loops, keep: np.ndarray):
        self.loops = loops
        sizes = [loop.rows.stop - loop.rows.start for loop in loops.skel.tree.loops]
        self.keep = np.repeat(keep, sizes, axis=1)  # (states, rows)

    @cached_property
    def _program(self) -> Any:
        from linkwright.compiler.graph import trace

        skel = self.loops.skel

        def closure(q: Any, v: Any, t: Any, near: Any) -> dict[str, Any]:
            at = Instant(skel, q, v, references=skel.unpack(q, near))
            c = self.loops.closure(at.motion, v, t[0], at.references)
            return {"phi": c.phi, "J": c.J, "b": c.b, "k": c.k}

        return trace(closure, q=skel.tree.nq, v=skel.tree.nv, t=1, near=skel.cut_size)

    def _closure(self, q: np.ndarray, v: np.ndarray, t: np.ndarray, near: np.ndarray) -> dict[str, np.ndarray]:
        """phi, J, b, k in dimensionless rows; J in dimensionless columns too."""
        from linkwright.compiler.program import interpret

        program, rows = self._program, self.loops.row_scale
        parts = {"q": q, "v": v, "t": t[:, None], "near": near}
        found = program.unpack(interpret(program, np.concatenate([parts[b.name] for b in program.inputs], axis=1)))
        out = {k: self.keep * found[k] / rows for k in ("phi", "b", "k")}
        out["J"] = self.keep[:, :, None] * found["J"] * self.loops.columns / rows[:, None]
        return out

    def __call__(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, t: np.ndarray, near: np.ndarray) -> tuple[np.ndarray, ...]:
        if not self.keep.any():
            return q, v, a
        columns = self.loops.columns

        def rows(positions: np.ndarray) -> PositionRows:
            c = self._closure(positions, v, t, near)
            return PositionRows(c["phi"], c["J"], c["b"])

        found = onto(rows, self.loops.displaced, q, Rule(ROUNDS, window=WINDOW))
        J, f = found.rows.J, factor(found.rows.J, WINDOW, thin=True)
        along = v - f.solve(np.einsum("nij,nj->ni", J, v / columns) + found.rows.b) * columns
        k = self._closure(found.q, along, t, near)["k"]
        return found.q, along, a - f.solve(np.einsum("nij,nj->ni", J, a / columns) + k) * columns
