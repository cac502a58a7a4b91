"""Efforts along coordinates: their rows, what each does to a mechanism, and the forces that it causes in joints.

    a = a0 + sum_j X_j p_j        F_i = F0_i + sum_j F'_ij p_j        rates of the coordinates u' = J a + k

for efforts p_j along any coordinates: joints with friction, and whatever else may push (ends of rigid stops, touches of surfaces along
their normals and tangents). All is exact, because accelerations, multipliers and reactions are affine in the efforts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate
from math import prod
from typing import Any, NamedTuple

import numpy as np

from linkwright.mechanics import forces
from linkwright.mechanics.constraints.driver import driven
from linkwright.mechanics.constraints.single_row import free_rows
from linkwright.mechanics.contact import contact_pushes, contact_terms, tangent_count
from linkwright.mechanics.dynamics.reactions import JointWrench, constraint_part, every_joint_wrench, separating
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import motion, qdot
from linkwright.model.coordinates import lengths
from linkwright.model.curves.polynomial import Line, Parabola


class EffortTerms(NamedTuple):
    """Terms of some rows; n rows, nv velocities."""

    value: Any  # (n,) of the coordinates
    k: Any  # (n,)
    J: Any  # (n, nv)
    X: Any  # (n, nq + nv + 1) changes of dq/dt and v, and of the drivers' power, by a unit effort in each row
    F: Any  # (n, 3) force in the joint of each row without these efforts
    dF: Any  # (n, 3 n) by effort j in columns 3 j to 3 j + 2
    turns: Any  # (n,) of rows that rub: share of the bound at which they slide, times tanh(u / speed) of smooth ones; else 0

    def of(self, rows: Sequence[int], slides: Sequence[int] = (), shares: Sequence[float] = ()) -> EffortTerms:
        """The terms of some rows. An effort in a row that slides acts by a share along another row too (`slides`; -1: none)."""
        keep = list(rows)
        X, dF = self.X[keep], self.dF.reshape(len(self.dF), -1, 3)[keep][:, keep]
        for j, (other, share) in enumerate(zip(slides, shares, strict=True)):
            if other >= 0:
                X[j] += share * self.X[other]
                dF[:, j] += share * self.dF[keep, 3 * other : 3 * other + 3]
        return EffortTerms(*(x[keep] for x in self[:3]), X, self.F[keep], dF.reshape(len(keep), -1), self.turns[keep])


def effort_terms(y: np.ndarray, n: int, nq: int, nv: int) -> EffortTerms:
    """The terms in the outputs of their kernel."""
    return EffortTerms(*(y[first:end].reshape(shape) for first, end, shape in _places(n, nq, nv)))


@lru_cache(maxsize=64)
def _places(n: int, nq: int, nv: int) -> list[tuple[int, int, tuple[int, ...]]]:
    """First number, end and shape of each of the terms."""
    shapes = ((n,), (n,), (n, nv), (n, nq + nv + 1), (n, 3), (n, 3 * n), (n,))
    ends = list(accumulate((prod(s) for s in shapes), initial=0))
    return list(zip(ends, ends[1:], shapes, strict=False))


class CoordinateRows(NamedTuple):
    """Values, k and J of coordinates, and the wrenches on bodies of a unit effort along each."""

    value: Any
    k: Any
    J: Any
    pushes: list[forces.Wrenches]


def coordinate_rows(loops: Any, at: Instant, names: Sequence[str]) -> CoordinateRows:
    """Rows of coordinates, and of constraints that have a travel, by name at an instant."""
    d = loops.skel.tree.description
    lines = {name: forces.line(at, ends) for name, ends in lengths(d).items() if name in names}
    # the row of a distance is that of its square, divided by the length it follows: here its own
    laws = [Parabola(lines[x].length, lines[x].rate, 0.0) if x in lines else Line(0.0, 0.0) for x in names]
    free = free_rows(loops.skel)
    rows = [free[name] if name in free else driven(d, name, law) for name, law in zip(names, laws, strict=True)]
    c = replace(loops, constraints=tuple(rows)).at(at.q, at.v, at.t, at.references, at.motion)
    own = np.array([lines[x].length if x in lines else 0.0 for x in names])
    pushes = [[(node, G[0]) for node, G in part.G if node >= 0] for part in c.parts]
    return CoordinateRows(c.phi + own, c.k, c.J, pushes)


def open_rows(loops: Any, at: Instant, names: Sequence[str], touching: bool) -> CoordinateRows:
    """Rows of all that may hold one way: of coordinates, then of all touches, along their normals and tangents."""
    own = coordinate_rows(loops, at, names)
    if not touching:
        return own
    found = contact_terms(loops.skel, at.q, at.v)
    across = tangent_count(loops.skel.tree.description)
    gaps = np.array([x for g in found["g"] for x in (g, *([0.0 * g] * across))])  # along a tangent there is no place to hold
    several = zip(own[:3], (gaps, found["k"], found["J"]), strict=True)
    return CoordinateRows(*(np.concatenate(pair) for pair in several), [*own.pushes, *contact_pushes(loops.skel, found)])


class EffortRow(NamedTuple):
    """A coordinate along which an effort may act, and the joint whose force counts for it ("": none)."""

    coordinate: str
    joint: str = ""


class EffortRows(NamedTuple):
    """Several of them: coordinates that something else may hold, two rows for each touch of surfaces, and coordinates that rub."""

    held: tuple[str, ...]
    touches: int  # how many
    own: tuple[EffortRow, ...]

    @property
    def rows(self) -> tuple[EffortRow, ...]:
        return (*(EffortRow(name) for name in self.held), *([EffortRow("")] * (2 * self.touches)), *self.own)

    @property
    def first(self) -> int:
        """The first row that rubs."""
        return len(self.held) + 2 * self.touches

    def turns(self, place: Instant, J: Any) -> Any:
        """Share of its bound with which friction slides at the speeds of its rows, against them; smooth friction with its sign."""
        laws = {x.name: x for x in forces.friction_rows(place.skel.tree.description)}
        out: list[Any] = [0.0] * self.first
        for r, row in zip(self.own, J[self.first :], strict=True):
            x, v = laws[r.coordinate], row @ place.v
            out.append(x.sliding(v) * (1.0 if x.sticks else np.tanh(v / x.speed)))
        return np.array(out)

    def at(self, place: Instant) -> CoordinateRows:
        held = open_rows(place.loops, place, self.held, self.touches > 0)
        rubbing = coordinate_rows(place.loops, place, [r.coordinate for r in self.own])
        return CoordinateRows(*(np.concatenate(pair) for pair in zip(held[:3], rubbing[:3], strict=True)), [*held.pushes, *rubbing.pushes])

    def joint_forces(self, place: Instant, a: Any, lam: Any) -> Any:
        """(n, 3) forces in the joints of the rows, for known accelerations and multipliers."""
        acting = place.with_external((*place.external, *separating(place, lam)))
        return self._of_joints(acting, every_joint_wrench(acting, lam, a))

    def changes(self, calm: Instant, push: forces.Wrenches, a: Any, lam: Any) -> Any:
        """The same for a push and the accelerations and multipliers that it causes, at a `calm` place."""
        apart = zip(separating(calm, lam), separating(calm, 0.0 * lam), strict=True)  # without the pretension of belts
        acting = calm.with_external([*push, *((node, w - w0) for (node, w), (_, w0) in apart)])
        return self._of_joints(acting, every_joint_wrench(acting, lam, a))

    def _of_joints(self, place: Instant, wrenches: Sequence[JointWrench]) -> Any:
        wanted = {r.joint for r in self.rows}
        found = {w.joint: constraint_part(place, w).force for w in wrenches if w.joint in wanted}
        return np.array([found[r.joint] if r.joint else np.zeros(3) for r in self.rows])

    def by_differences(self, place: Instant, solve: Callable[[Any], Any]) -> EffortTerms:
        """The terms from forward dynamics for further efforts in the tree's coordinates, of any rank."""
        read, skel = self.at(place), place.skel
        calm = solve(np.zeros(skel.tree.nv))
        F = self.joint_forces(place, calm.a, calm.lam)
        X, dF = [], []
        for J, w in zip(read.J, read.pushes, strict=True):
            found = solve(J)
            a, driven_ = found.a - calm.a, (found.force - calm.force) @ place.v
            X.append(np.concatenate([qdot(skel, place.q, a), a, [driven_]]))
            dF.append(self.joint_forces(place.with_external((*place.external, *w)), found.a, found.lam) - F)
        turns = self.turns(place, read.J)
        return EffortTerms(read.value, read.k, read.J, np.array(X), F, np.concatenate(dF, axis=1), turns)


def calm(place: Instant) -> Instant:
    """The place at rest and without weight: what efforts change there is all that they change."""
    skel = replace(place.skel, gravity=np.zeros(3))
    loops, still = replace(place.loops, skel=skel), np.zeros(skel.tree.nv)
    m = motion(skel, place.q, still)
    closure = loops.at(place.q, still, place.t, place.references, m)
    return Instant(skel, place.q, still, place.t, place.references, loops=loops, motion=m, closure=closure)
