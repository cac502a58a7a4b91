"""Singular positions met on the way: when, of which kind, how singular, and which multipliers mean nothing there.

    rank          J loses rank: branches meet, the run passes on the smooth one; multipliers of the lost rows have a pole
    drives        J is regular, but the driven (independent) coordinates do not determine the motion: no control authority
    independent   J is regular, but the dependent coordinates rest while the independent ones move: dead center of the output

A determinant that changes its sign between two accepted steps, or touches zero (two rows lost at once), shows that there was one; the
place inside the step is found on the quintic through positions, velocities and accelerations at both ends, and corrected once: the
error of the quintic is c x^3 (1 - x)^3 at the share x of the step, to leading order, and c follows from integrating to a place well
before the root, where the loops are regular. That integration is bounded; where it does not arrive the place on the quintic is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwright.errors import counted
from linkwright.mechanics.closing.coordinate_partition import Partition
from linkwright.numerics.linalg import SparseStack, factor

TOUCHED = 0.3  # share of the larger neighbor below which a smallest determinant may have touched zero between the steps
BESIDE = 0.1  # of a step, before the root: there the quintic is compared with the motion
GOLDEN = 0.5 * (5.0**0.5 - 1.0)
LOST = 1e-5  # a singular value of J below this at the located time is a lost row
SAME_PASSAGE = 1e-6  # s: determinants that vanish that close together vanish at once
CARRIES = 1e-3  # share of a row in a lost direction from which on its multiplier is meaningless


class Passage(NamedTuple):
    """One singular position passed."""

    time: float
    kind: str  # rank, drives, coordinates or independent
    lost: int  # rows lost at once
    singular_values: tuple[float, ...]  # of the dimensionless J, smallest first, at most four
    meaningless: tuple[str, ...]  # multipliers without meaning here
    branch: str  # label after it
    geometry: str = ""  # what is special about the links there, where it has such a reading: "crank1 and r1 are in line (...)"

    def __str__(self) -> str:
        what = {
            "rank": f"J loses {counted(self.lost, 'row')}: branches meet",
            "drives": "the drives do not determine the motion",
            "coordinates": "the independent coordinates do not determine the motion",
            "independent": "the dependent coordinates rest",
        }[self.kind]
        s = ", ".join(f"{x:.1e}" for x in self.singular_values[:2])
        values = f"smallest singular values {s}" if self.kind == "rank" else f"J itself keeps its rank, smallest singular values {s}"
        return f"t = {self.time:.9g} s: {what}{'; ' if self.geometry else ''}{self.geometry} ({values})"


class Bracket(NamedTuple):
    """Two neighboring steps between which determinants changed sign, or may have touched zero: then no block is named."""

    before: np.ndarray  # t, y
    after: np.ndarray
    blocks: tuple[int, ...]  # of the dependent part
    independent: bool  # the determinant of the independent part
    signs: np.ndarray  # of the blocks after it


@dataclass(frozen=True)
class Watch:
    """How to look at a run: J at positions, accelerations at states, the state at a time inside a step."""

    jacobians: Callable[[np.ndarray], SparseStack]  # (positions, nq) -> dimensionless J
    accelerations: Callable[[np.ndarray], np.ndarray]  # rows (t, y) -> a
    rates: Callable[[np.ndarray, np.ndarray], np.ndarray]  # q, v -> dq/dt
    reach: Callable[[np.ndarray, float], np.ndarray | None]  # row (t, y), time -> q there, None if it is not reached
    geometry: Callable[[np.ndarray, Sequence[int]], str]  # q, velocities that are held -> what is special about the links there
    labels: Sequence[str]  # of the rows of J
    driven: bool  # the independent coordinates are the drives
    nq: int
    nv: int


def brackets(part: Partition, rows: np.ndarray, J: SparseStack) -> list[Bracket]:
    """Steps between which signs change; a determinant that is exactly zero counts with the step before it."""
    if not part.blocks or len(rows) < 2:
        return []
    sizes = part.determinants(J)
    signs = _filled(np.sign(sizes))
    changed = signs[1:] != signs[:-1]
    if part.square:
        other = _filled(np.sign(J.part(part.rows, part.independent).determinants())[:, None])
        flips = (other[1:] != other[:-1])[:, 0]
    else:
        flips = np.zeros(len(rows) - 1, dtype=bool)
    found = changed.any(axis=1) | flips
    touched = _touched(np.abs(sizes), found)
    return [
        Bracket(rows[i], rows[i + 1], tuple(map(int, np.flatnonzero(changed[i]))), bool(flips[i]), signs[i + 1])
        for i in np.flatnonzero(found | touched).tolist()
    ]


def _touched(sizes: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Intervals on both sides of a step at which the size of a determinant has a pronounced minimum, without a change of sign."""
    low, before, after = sizes[1:-1], sizes[:-2], sizes[2:]
    least = ((low <= before) & (low <= after) & (low < TOUCHED * np.maximum(before, after))).any(axis=1)
    least &= ~(found[:-1] | found[1:])
    out = np.zeros(len(sizes) - 1, dtype=bool)
    out[:-1] |= least
    out[1:] |= least
    return out


def _filled(signs: np.ndarray) -> np.ndarray:
    """Zeros take the sign before them (the first ones that after them)."""
    out = signs.copy()
    for column in out.T:
        for i in range(1, len(column)):
            if column[i] == 0.0:
                column[i] = column[i - 1]
        for i in range(len(column) - 2, -1, -1):
            if column[i] == 0.0:
                column[i] = column[i + 1]
    return out


def located(watch: Watch, part: Partition, found: Bracket) -> list[Passage]:
    """The passages of one bracket in order of time; determinants that vanish together are one."""
    curve = Quintic.of(watch, found.before, found.after)
    times = [] if found.blocks or found.independent else _touching(watch, len(part.rows), curve)
    for kind, count in (("block", len(found.blocks)), ("independent", int(found.independent))):
        for i in range(count):
            measure = _measure(watch, part, kind, found.blocks[i] if kind == "block" else 0)
            known = next((x for x in times if kind == "block" and _changes(measure, curve, x.time)), None)
            times.append(_root(measure, curve, watch, found.before, kind) if known is None else known)
    out: list[Passage] = []
    for t, q, kinds in _clusters(times):
        J = np.asarray(watch.jacobians(q[None])[0])
        rank, rows = len(part.rows), list(part.rows)
        s = factor(J).s[:rank]
        lost = int(np.count_nonzero(s < LOST))
        if not lost and (kinds == {"touch"} or ("block" in kinds and factor(J[:, list(part.dependent)]).s[rank - 1] > LOST)):
            continue  # of redundant rows the chosen ones became dependent: neither J nor the coordinates are singular
        kind = "rank" if lost else ("drives" if watch.driven else "coordinates") if "block" in kinds else "independent"
        faint = factor(J[rows]).U[:, rank - lost :]
        dead = [watch.labels[row] for row, share in zip(rows, faint, strict=True) if np.abs(share).max(initial=0.0) > CARRIES]
        held = () if lost else part.dependent if kind == "independent" else part.independent
        values = tuple(float(x) for x in s[::-1][:4])
        out.append(Passage(t, kind, lost, values, tuple(dead), label(found.signs), watch.geometry(q, held)))
    return out


def label(signs: np.ndarray) -> str:
    """The branch as text: one sign a block."""
    return "".join("+" if s > 0 else "-" if s < 0 else "0" for s in signs)


def _measure(watch: Watch, part: Partition, kind: str, block: int) -> Callable[[np.ndarray], np.ndarray]:
    """(positions, nq) -> the determinant that changes sign."""
    if kind == "independent":
        return lambda q: watch.jacobians(q).part(part.rows, part.independent).determinants()
    rows, columns = part.blocks[block]
    return lambda q: watch.jacobians(q).part(rows, columns).determinants()


class Quintic(NamedTuple):
    """Positions inside a step, through both ends with two derivatives."""

    t: float
    h: float
    c: np.ndarray  # (6, nq), powers of the share of the step

    @classmethod
    def of(cls, watch: Watch, before: np.ndarray, after: np.ndarray) -> Quintic:
        nq, nv, h = watch.nq, watch.nv, after[0] - before[0]
        a = watch.accelerations(np.array([before, after]))
        ends = []
        for row, acc in zip((before, after), a, strict=True):
            q, v = row[1 : 1 + nq], row[1 + nq : 1 + nq + nv]
            e = 1e-6 * h  # second derivative of q by differences of dq/dt along the motion: exact for angles, enough for quaternions
            dq = watch.rates(q, v)
            ddq = (watch.rates(q + e * dq, v + e * acc) - watch.rates(q - e * dq, v - e * acc)) / (2.0 * e)
            ends.append((q, h * dq, h * h * ddq))
        (q0, v0, a0), (q1, v1, a1) = ends
        d, w, s = q1 - q0 - v0 - 0.5 * a0, v1 - v0 - a0, a1 - a0
        c = np.array([q0, v0, 0.5 * a0, 10 * d - 4 * w + 0.5 * s, -15 * d + 7 * w - s, 6 * d - 3 * w + 0.5 * s])
        return cls(float(before[0]), float(h), c)

    def at(self, t: float) -> np.ndarray:
        x = (t - self.t) / self.h
        return np.array([x**k for k in range(6)]) @ self.c


def _changes(measure: Any, curve: Quintic, t: float) -> bool:
    """True if a determinant changes sign within the time that counts as the same."""
    q = np.array([curve.at(t - SAME_PASSAGE), curve.at(t + SAME_PASSAGE)])
    a, b = measure(q)
    return bool(a * b < 0.0)


class Root(NamedTuple):
    """A zero of a determinant: its time, the position there, and which determinant it is: block, independent or touch."""

    time: float
    q: np.ndarray
    kind: str


def _root(measure: Any, curve: Quintic, watch: Watch, before: np.ndarray, kind: str) -> Root:
    """Place of the sign change: a root on the quintic, then one correction on the motion itself."""
    from scipy.optimize import brentq

    a, b = curve.t, curve.t + curve.h
    ends = measure(np.array([curve.at(a), curve.at(b)]))
    if ends[0] * ends[1] < 0.0:
        find: Any = brentq
        share, _ = find(lambda x: float(measure(curve.at(a + x * curve.h)[None])[0]), 0.0, 1.0, xtol=1e-13, full_output=True, disp=False)
        t = a + float(share) * curve.h
    else:
        t = a if abs(ends[0]) <= abs(ends[1]) else b
    e = min(1e-4 * curve.h, t - a, b - t)
    off = _quintic_error(watch, curve, before, t) if e > 0.0 else None
    if off is None:
        return Root(t, curve.at(t), kind)
    low, high = measure(np.array([curve.at(t - e), curve.at(t + e)]))
    slope = (high - low) / (2.0 * e)
    there = curve.at(t) + off
    shift = 0.0 if slope == 0.0 else -float(measure(there[None])[0]) / slope
    shift = float(np.clip(t + (shift if abs(shift) < 0.1 * curve.h else 0.0), a, b)) - t
    return Root(t + shift, there + shift * (curve.at(t + e) - curve.at(t - e)) / (2.0 * e), kind)


def _quintic_error(watch: Watch, curve: Quintic, before: np.ndarray, t: float) -> np.ndarray | None:
    """Position of the motion less that of the quintic at t, from one place before it; None if that is not reached."""
    x = (t - curve.t) / curve.h
    y = max(x - BESIDE, 0.5 * x)
    at = curve.t + y * curve.h
    there = watch.reach(before, at)
    return None if there is None else (there - curve.at(at)) * (x * (1.0 - x) / (y * (1.0 - y))) ** 3


def _touching(watch: Watch, rank: int, curve: Quintic) -> list[Root]:
    """Time at which the smallest singular value that counts touches zero inside a step; none if it only comes near."""

    def smallest(x: float) -> float:
        return float(np.linalg.svd(watch.jacobians(curve.at(x)[None]).dense[0], compute_uv=False)[rank - 1])

    a, b = curve.t, curve.t + curve.h
    x, y = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
    low, high = smallest(x), smallest(y)
    first = max(low, high)
    for i in range(40):  # golden section: to 1e-8 of the step
        if i == 12 and min(low, high) > 0.05 * first:
            return []  # a smooth minimum: zero is not touched
        if low < high:
            b, y, high = y, x, low
            x = b - GOLDEN * (b - a)
            low = smallest(x)
        else:
            a, x, low = x, y, high
            y = a + GOLDEN * (b - a)
            high = smallest(y)
    t = 0.5 * (a + b)
    return [Root(t, curve.at(t), "touch")] if smallest(t) < LOST else []


def _clusters(roots: Sequence[Root]) -> list[tuple[float, np.ndarray, set[str]]]:
    """(time, position, kinds) of roots that are the same instant."""
    out: list[tuple[float, np.ndarray, set[str]]] = []
    for root in sorted(roots, key=lambda x: x.time):
        if out and root.time - out[-1][0] <= SAME_PASSAGE:
            out[-1][2].add(root.kind)
        else:
            out.append((root.time, root.q, {root.kind}))
    return out
