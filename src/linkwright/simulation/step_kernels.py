"""Kernels of a step by the midpoint rule: everything that one step needs at its middle, in one call.

    v_m = v + h a(q_m, w) / 2        dv = h a(q_m, v_m)        q_m: halfway, along v; w: v along the loops there

Both accelerations have one mass matrix, so the second costs a substitution. Coriolis forces at v_m make the rule of second order; forces of
elements are taken at v and are linear in the step,

    (I + A S) dv = h a        S = h D / 2 + h^2 K / 4,  D = -dQ/dv,  K = -dQ/dq,  A = da/dtau, loops eliminated

so that stiff springs, dampers and buffers do not limit its length. Where z = 2 S A of a coordinate exceeds 2, a damper would turn its speed
round: its entries of S are enlarged by 2 - 2 / z, which ends the motion that the damper takes in one step.

What holds one way are rows u = J v of this problem: ends of travels [n], touches of surfaces [n, t] or [n, t1, t2], friction of joints [t].
`moved` is what a unit impulse in each does to v, `mobility` = W = J A J' what it does to u. Rows of angles are lengths at the mechanism's
size, so that all impulses have one unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.compiler.derivatives import traced_rates
from linkwright.integrators.contact import FRICTION, ONE_SIDED, PLANAR, SPATIAL
from linkwright.mechanics.contact import Touch, contact_gaps, contact_terms
from linkwright.mechanics.contact import touches as touches_of
from linkwright.mechanics.dynamics.coordinate_efforts import EffortRow, EffortRows, calm, coordinate_rows
from linkwright.mechanics.dynamics.tree import generalized
from linkwright.mechanics.forces import friction_rows
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import motion, qdot
from linkwright.model.coordinates import coordinate
from linkwright.numerics.scalars import eliminate, is_symbolic, maximum, minimum, where
from linkwright.properties import cached_property
from linkwright.simulation.rigid_stops import SLOW, StopEnd
from linkwright.simulation.stabilizers.base import step_kernel as compiled

if TYPE_CHECKING:
    from linkwright.kernels.equations.dynamic import Equations
    from linkwright.kernels.kernel import Kernel
    from linkwright.kernels.kernels import Kernels
    from linkwright.mechanics.constraints.loops import Loops

RINGS = 2.0  # of 2 S A: beyond it the midpoint rule turns a damped speed round
LEAST_PIVOT = 1e-3  # of I + S A, whose pivots are above 1 where nothing pushes away from its rest


class StepRows(NamedTuple):
    """What stands at the rows of a step: gaps of the blocks, J, and of joints with friction also what each row does to their forces."""

    gap: Any
    J: Any
    F: Any = None  # (joints, 3) without impulses
    dF: Any = None  # (joints, 3, rows) by unit efforts


class OneSidedRows(NamedTuple):
    """What holds one way in a mechanism: ends of travels, how many touches of surfaces, of so many rows each, and joints that rub."""

    ends: tuple[StopEnd, ...] = ()
    touches: int = 0
    width: int = 2
    rubbing: tuple[EffortRow, ...] = ()

    @property
    def blocks(self) -> int:
        return len(self.ends) + self.touches + len(self.rubbing)

    @property
    def one_sided(self) -> int:
        """Blocks that have a gap."""
        return len(self.ends) + self.touches

    @property
    def count(self) -> int:
        return len(self.ends) + self.width * self.touches + len(self.rubbing)

    @property
    def kinds(self) -> tuple[int, ...]:
        """Kinds of the blocks of the contact problem."""
        touching = PLANAR if self.width == 2 else SPATIAL
        return (*([ONE_SIDED] * len(self.ends)), *([touching] * self.touches), *([FRICTION] * len(self.rubbing)))

    @property
    def normals(self) -> list[int]:
        """The first row of each block."""
        n, touching = len(self.ends), self.width * self.touches
        return [*range(n), *(n + self.width * i for i in range(self.touches)), *(n + touching + i for i in range(len(self.rubbing)))]

    @property
    def by_load(self) -> bool:
        """True if friction grows with the force in a joint."""
        return any(x.joint for x in self.rubbing)

    @property
    def key(self) -> list[Any]:
        """What its kernels depend on, as JSON."""
        ends = [[e.stop, e.coordinate, e.side, e.at, e.restitution, e.row] for e in self.ends]
        return [ends, self.touches, self.width, [list(x) for x in self.rubbing]]

    @property
    def held(self) -> tuple[str, ...]:
        """Coordinates with ends, each once."""
        return tuple(dict.fromkeys(e.coordinate for e in self.ends))

    def names(self, touches: Sequence[Touch]) -> tuple[str, ...]:
        """Names of the rows."""
        tangents = ("friction",) if self.width == 2 else ("friction.1", "friction.2")
        touching = (f"{x.name}.{part}" for x in touches for part in ("normal", *tangents))
        return (*(e.key for e in self.ends), *touching, *(f"{x.coordinate}.friction" for x in self.rubbing))

    def units(self, loops: Loops) -> np.ndarray:
        """Length that a unit of each block's coordinate stands for: 1, or the characteristic length for an angle."""
        skel = loops.skel
        lengths = [e.constraint(skel).kinds[0] == "length" for e in self.ends] + [True] * self.touches
        lengths += [coordinate(skel.tree.description, x.coordinate).kind == "length" for x in self.rubbing]
        return np.array([1.0 if length else loops.kappa for length in lengths])

    def read(self, loops: Loops, at: Instant) -> StepRows:
        """Gaps and J."""
        gaps, rows, units = [], [], self.units(loops)
        if self.ends:
            found = coordinate_rows(loops, at, self.held)
            for e, unit in zip(self.ends, units, strict=False):
                i = self.held.index(e.coordinate)
                gaps.append(unit * (-e.side) * (found.value[i] - self._at(e, at)))
                rows.append(unit * (-e.side) * found.J[i])
        if self.touches:
            terms = contact_terms(loops.skel, at.q, at.v)
            gaps += list(terms["g"])
            rows += list(terms["J"])
        if self.rubbing:
            own = coordinate_rows(loops, at, [x.coordinate for x in self.rubbing]).J
            rows += [unit * row for unit, row in zip(units[self.one_sided :], own, strict=True)]
        return StepRows(_array([*gaps, *([0.0] * len(self.rubbing))]), np.array(rows).reshape(self.count, len(at.v)))

    def loaded(self, place: Instant, a: Any, lam: Any, answers: Any, rows: StepRows) -> StepRows:
        """The same with the forces in joints: a, lam without impulses; `answers` to unit efforts in the rows, G and L."""
        every = EffortRows(self.held, self.touches, self.rubbing)
        pushes, units, first = every.at(place).pushes, self.units(place.loops), every.first
        own = [(self.held.index(e.coordinate), -e.side * unit) for e, unit in zip(self.ends, units, strict=False)]
        own += [(len(self.held) + i, 1.0) for i in range(2 * self.touches)]
        own += [(first + i, unit) for i, unit in enumerate(units[self.one_sided :])]
        still, changed = calm(place), []
        for (row, share), G, L in zip(own, answers["G"].T, answers["L"].T, strict=True):
            push = [(node, share * w) for node, w in pushes[row]]
            changed.append(every.changes(still, push, G, L)[first:])
        return rows._replace(F=every.joint_forces(place, a, lam)[first:], dF=np.array(changed).transpose(1, 2, 0))

    @staticmethod
    def _at(e: StopEnd, at: Instant) -> Any:
        """The end of a travel, which may be an input of the code."""
        if e.row:
            return e.at
        stop = next(s for s in at.skel.tree.description.rigid_stops if s.name == e.stop and s.joint == e.coordinate)
        end = stop.upper if e.side > 0.0 else stop.lower
        return e.at if _known(end) else end

    def laws(self, at: Instant) -> tuple[Any, Any]:
        """Friction and restitution of the blocks."""
        d = at.skel.tree.description
        own, rubs = touches_of(d) if self.touches else (), [0.0] * len(self.rubbing)
        mu = [*(0.0 for _ in self.ends), *(x.mu for x in own), *rubs]
        return _array(mu), _array([*(e.restitution for e in self.ends), *(x.restitution for x in own), *rubs])

    def bounds(self, loops: Loops, at: Instant, v: Any, h: Any, rows: StepRows) -> dict[str, Any]:
        """Bounds of the friction of joints as impulses, c |h F + dF p| + h C, with what they are at this speed; `creep`: speed over which
        friction turns round."""
        laws, units = {x.name: x for x in friction_rows(at.skel.tree.description)}, self.units(loops)[self.one_sided :]
        by_load, constant, creep = [], [], []
        for x, unit, u in zip(self.rubbing, units, rows.J[self.count - len(self.rubbing) :] @ v, strict=True):
            law = laws[x.coordinate]
            share = law.sliding(u / unit)
            if not (_known(share) and share == 1.0):
                share = where(u * u < (SLOW * loops.kappa) ** 2, 1.0, share)
            by_load.append(law.by_load * share / unit)
            constant.append(h * law.constant * share / unit)
            creep.append(unit * law.speed)
        n = len(self.rubbing)
        F = np.zeros((n, 3)) if rows.F is None else h * rows.F
        dF = np.zeros((n, 3, self.count)) if rows.dF is None else rows.dF
        return {"load": F, "lever": dF, "by_load": _array(by_load), "constant": _array(constant), "creep": _array(creep)}


def _array(values: list[Any]) -> Any:
    return np.array(values, dtype=float) if all(_known(x) for x in values) else np.array([*values, None], dtype=object)[:-1]


def _known(x: Any) -> bool:
    return isinstance(x, int | float | np.floating)


@dataclass(frozen=True)
class Stiff:
    """Forces that change within a step: (I + A S) dv = h a, solved in the coordinates that they depend on or act in."""

    places: list[int]
    S: Any  # of these coordinates
    A: Any  # columns of these coordinates

    @classmethod
    def of(cls, eq: Equations, at: Instant, Q: Any, near: Any, t: Any, h: Any) -> Stiff | None:
        """None where no force depends on the state."""
        if not is_symbolic(Q):
            return None
        q, v, n, unit = at.q, at.v, len(at.v), np.eye(len(at.v))
        damped = [traced_rates(Q, [(v[j], 1.0)]) for j in range(n)]
        sprung = [traced_rates(Q, list(zip(q, qdot(at.skel, q, unit[j]), strict=True))) for j in range(n)]
        S = np.array([-0.5 * h * d - 0.25 * h * h * k for d, k in zip(damped, sprung, strict=True)], dtype=object).T
        there = np.array([[not _zero(x) for x in row] for row in S])
        places = [int(i) for i in np.flatnonzero(there.any(axis=0) | there.any(axis=1))]
        if not places:
            return None
        A = eq.responses(q, v, unit[:, places], t, near, multipliers=False)["G"]
        S = S[np.ix_(places, places)]
        more = [_enlarged(2.0 * S[i, i] * A[k, i]) for i, k in enumerate(places)]
        for i, x in enumerate(more):
            for j, y in enumerate(more):
                if not _zero(S[i, j]):
                    S[i, j] = S[i, j] * (x if i == j else np.sqrt(x * y))
        return cls(places, S, A)

    @cached_property
    def _matrix(self) -> Any:
        return np.eye(len(self.places)) + self.S @ self.A[self.places]

    def relaxed(self, x: Any) -> Any:
        """(I + A S)^-1 x."""
        return x - self.A @ eliminate(self._matrix, self.S @ x[self.places])[0]

    @property
    def margin(self) -> Any:
        """Not positive where springs push away so much that no step of this length has an answer."""
        out: Any = np.inf
        for pivot in eliminate(self._matrix, np.zeros(len(self.places), dtype=object))[1]:
            out = pivot if out is np.inf else minimum(out, pivot)
        return out / LEAST_PIVOT - 1.0


def _enlarged(z: Any) -> Any:
    return 1.0 if _zero(z) else maximum(1.0, 2.0 - RINGS / maximum(z, 1.0))


def _zero(x: Any) -> bool:
    return _known(x) and x == 0.0


class MidpointStep(NamedTuple):
    """Change of v in a step, and the problem of its impulses, at the middle of the way."""

    rows: OneSidedRows

    def __call__(self, eq: Equations, q: Any, v: Any, t: Any, near: Any, tau: Any, interval: Any, before: Any) -> dict[str, Any]:
        skel, h = eq.loops.skel, interval[0]
        at = Instant.moving(skel, motion(skel, q, v), t[0], skel.unpack(q, near))
        Q = generalized(skel, at.motion, at.pushes(eq.forces)) if eq.forces else np.zeros(len(v))
        free, push = replace(eq, forces=()), tau + Q
        stiff = Stiff.of(free, at, Q, near, t, h)
        first = free.forward(q, v, push, t, near)
        half = 0.5 * h * first["a"] if stiff is None else 0.5 * stiff.relaxed(h * first["a"])
        dv = h * free.forward(q, before + half, push, t, near)["a"]
        margin = first["margin"][0]
        if stiff is not None:
            dv, margin = stiff.relaxed(dv), minimum(margin, stiff.margin)
        out = {"rates": dv}
        if self.rows.blocks:
            X, rows = self._answered(eq, free, at, push, before + half, stiff, near, t)
            out |= self._named(eq, at, rows, X, before, dv, h, stiff is None)
        return {**out, "margin": np.array([margin])}

    def _answered(
        self, eq: Equations, free: Equations, at: Instant, push: Any, v: Any, stiff: Stiff | None, near: Any, t: Any
    ) -> tuple[Any, StepRows]:
        """What unit impulses in the rows do to v, and the rows, with the forces of joints where these count."""
        rows = self.rows.read(eq.loops, at)
        answers = free.responses(at.q, at.v, rows.J.T, t, near, multipliers=self.rows.by_load)
        X = answers["G"]
        if self.rows.by_load:
            moving = free.forward(at.q, v, push, t, near)
            rows = self.rows.loaded(eq.place(at.q, v, t, near), moving["a"], moving["lam"], answers, rows)
        if stiff is not None:
            X = np.array([stiff.relaxed(x) for x in X.T]).T
        return X, rows

    def _named(self, eq: Equations, at: Instant, rows: StepRows, X: Any, v: Any, dv: Any, h: Any, symmetric: bool) -> dict[str, Any]:
        J = rows.J
        W = J @ X
        if symmetric:
            for i in range(len(W)):
                W[i, :i] = W[:i, i]  # half of it need not be computed
        mu, restitution = self.rows.laws(at)
        before, after = J[self.rows.normals] @ v, J @ (v + dv)
        out = {"gap": rows.gap, "before": before, "free": after, "moved": X.T, "mobility": W, "mu": mu, "restitution": restitution}
        return {**out, **self.rows.bounds(eq.loops, at, v, h, rows)} if self.rows.rubbing else out

    def rank_revealing(self, kernels: Kernels, x: dict[str, np.ndarray]) -> dict[str, Any]:
        """The same at a state that the kernel refuses, without the change of forces within the step."""
        h, rates = float(x["interval"][0]), kernels.fallbacks["loop_rates"]
        half = x["before"] + 0.5 * h * np.asarray(rates(x)["a"])
        dv = h * np.asarray(rates({**x, "v": half})["a"])
        if not self.rows.blocks:
            return {"rates": dv}
        eq = kernels.equations(x.get("parameters", kernels.defaults["parameters"]))
        skel = eq.loops.skel
        at = Instant.moving(skel, motion(skel, x["q"], x["v"]), float(x["t"][0]), skel.unpack(x["q"], x["near"]))
        rows = self.rows.read(eq.loops, at)
        X = np.array([kernels.fallbacks["response"]({**x, "tau": row})["dv"] for row in rows.J]).T
        return {"rates": dv, **self._named(eq, at, rows, X, x["before"], dv, h, True)}


class Gaps(NamedTuple):
    """Gaps of what holds one way."""

    rows: OneSidedRows

    def __call__(self, eq: Equations, q: Any, v: Any, t: Any, near: Any) -> dict[str, Any]:
        skel = eq.loops.skel
        if not self.rows.ends and not self.rows.rubbing:
            return {"gap": contact_gaps(skel, q)["g"]}
        at = Instant.moving(skel, motion(skel, q, v), t[0], skel.unpack(q, near))
        return {"gap": self.rows.read(eq.loops, at).gap}


class Rows(NamedTuple):
    """Gaps and J of what holds one way."""

    rows: OneSidedRows

    def __call__(self, eq: Equations, q: Any, v: Any, t: Any, near: Any) -> dict[str, Any]:
        skel = eq.loops.skel
        found = self.rows.read(eq.loops, Instant.moving(skel, motion(skel, q, v), t[0], skel.unpack(q, near)))
        return {"gap": found.gap, "J": found.J}


def rows_kernel(kernels: Kernels, rows: OneSidedRows) -> Kernel:
    """The kernel of gaps and J."""
    return compiled(kernels, "one_sided_rows", Rows(rows), rows.key, False)


def midpoint_kernel(kernels: Kernels, step: MidpointStep) -> Kernel:
    """The kernel of a step, with the rank-revealing path behind it."""
    answer = partial(step.rank_revealing, kernels)
    return compiled(kernels, "midpoint", step, step.rows.key, False, answer, pushed=True, timed=True)


def gaps_kernel(kernels: Kernels, rows: OneSidedRows) -> Kernel:
    """The kernel of the gaps."""
    return compiled(kernels, "gaps", Gaps(rows), rows.key, False)
