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
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.compiler.derivatives import traced_rates
from linkwright.integrators.contact import ONE_SIDED, PLANAR, SPATIAL
from linkwright.mechanics.contact import Touch, contact_gaps, contact_terms
from linkwright.mechanics.contact import touches as touches_of
from linkwright.mechanics.dynamics.coordinate_efforts import coordinate_rows
from linkwright.mechanics.dynamics.tree import generalized
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import motion, qdot
from linkwright.numerics.scalars import eliminate, is_symbolic, maximum, minimum
from linkwright.simulation.rigid_stops import StopEnd
from linkwright.simulation.stabilizers.base import step_kernel as compiled

if TYPE_CHECKING:
    from linkwright.kernels.equations.dynamic import Equations
    from linkwright.kernels.kernel import Kernel
    from linkwright.kernels.kernels import Kernels
    from linkwright.mechanics.constraints.loops import Loops

RINGS = 2.0  # of 2 S A: beyond it the midpoint rule turns a damped speed round
LEAST_PIVOT = 1e-3  # of I + S A, whose pivots are above 1 where nothing pushes away from its rest


class OneSidedRows(NamedTuple):
    """What holds one way in a mechanism: ends of travels, and how many touches of surfaces, of so many rows each."""

    ends: tuple[StopEnd, ...] = ()
    touches: int = 0
    width: int = 2

    @property
    def blocks(self) -> int:
        return len(self.ends) + self.touches

    @property
    def count(self) -> int:
        return len(self.ends) + self.width * self.touches

    @property
    def kinds(self) -> tuple[int, ...]:
        """Kinds of the blocks of the contact problem."""
        return (*([ONE_SIDED] * len(self.ends)), *([PLANAR if self.width == 2 else SPATIAL] * self.touches))

    @property
    def normals(self) -> list[int]:
        """The row of the gap of each block."""
        n = len(self.ends)
        return [*range(n), *(n + self.width * i for i in range(self.touches))]

    @property
    def key(self) -> list[Any]:
        """What its kernels depend on, as JSON."""
        return [[[e.stop, e.coordinate, e.side, e.at, e.restitution, e.row] for e in self.ends], self.touches, self.width]

    def names(self, touches: Sequence[Touch]) -> tuple[str, ...]:
        """Names of the rows."""
        tangents = ("friction",) if self.width == 2 else ("friction.1", "friction.2")
        return (*(e.key for e in self.ends), *(f"{x.name}.{part}" for x in touches for part in ("normal", *tangents)))

    def units(self, loops: Loops) -> np.ndarray:
        """Length that a unit of each block's coordinate stands for: 1, or the characteristic length for an angle."""
        skel = loops.skel
        kinds = [e.constraint(skel).kinds[0] for e in self.ends]
        return np.array([*(1.0 if kind == "length" else loops.kappa for kind in kinds), *([1.0] * self.touches)])

    def read(self, loops: Loops, at: Instant) -> tuple[Any, Any]:
        """Gaps of the blocks and J of the rows."""
        units, gaps, rows = self.units(loops), [], []
        if self.ends:
            names = tuple(dict.fromkeys(e.coordinate for e in self.ends))
            found = coordinate_rows(loops, at, names)
            for e, unit in zip(self.ends, units, strict=False):
                i = names.index(e.coordinate)
                gaps.append(unit * (-e.side) * (found.value[i] - self._at(e, at)))
                rows.append(unit * (-e.side) * found.J[i])
        if self.touches:
            terms = contact_terms(loops.skel, at.q, at.v)
            gaps += list(terms["g"])
            rows += list(terms["J"])
        return _array(gaps), np.array(rows).reshape(self.count, len(at.v))

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
        own = touches_of(d) if self.touches else ()
        mu = [*(0.0 for _ in self.ends), *(x.mu for x in own)]
        return _array(mu), _array([*(e.restitution for e in self.ends), *(x.restitution for x in own)])


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
            out |= self._problem(free, at, before, dv, stiff, near, t)
        return {**out, "margin": np.array([margin])}

    def _problem(
        self, eq: Equations, at: Instant, v: Any, dv: Any, stiff: Stiff | None, near: Any, t: Any
    ) -> dict[str, Any]:
        gap, J = self.rows.read(eq.loops, at)
        X = eq.responses(at.q, at.v, J.T, t, near, multipliers=False)["G"]
        if stiff is not None:
            X = np.array([stiff.relaxed(x) for x in X.T]).T
        W = J @ X
        if stiff is None:
            for i in range(len(W)):
                W[i, :i] = W[:i, i]  # symmetric: half of it need not be computed
        return self._named(at, gap, J, X, W, v, dv)

    def _named(self, at: Instant, gap: Any, J: Any, X: Any, W: Any, v: Any, dv: Any) -> dict[str, Any]:
        mu, restitution = self.rows.laws(at)
        before, after = J[self.rows.normals] @ v, J @ (v + dv)
        return {"gap": gap, "before": before, "free": after, "moved": X.T, "mobility": W, "mu": mu, "restitution": restitution}

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
        gap, J = self.rows.read(eq.loops, at)
        X = np.array([kernels.fallbacks["response"]({**x, "tau": row})["dv"] for row in J]).T
        return {"rates": dv, **self._named(at, gap, J, X, J @ X, x["before"], dv)}


class Gaps(NamedTuple):
    """Gaps of what holds one way."""

    rows: OneSidedRows

    def __call__(self, eq: Equations, q: Any, v: Any, t: Any, near: Any) -> dict[str, Any]:
        skel = eq.loops.skel
        if not self.rows.ends:
            return {"gap": contact_gaps(skel, q)["g"]}
        at = Instant.moving(skel, motion(skel, q, v), t[0], skel.unpack(q, near))
        return {"gap": self.rows.read(eq.loops, at)[0]}


class Rows(NamedTuple):
    """Gaps and J of what holds one way."""

    rows: OneSidedRows

    def __call__(self, eq: Equations, q: Any, v: Any, t: Any, near: Any) -> dict[str, Any]:
        skel = eq.loops.skel
        gap, J = self.rows.read(eq.loops, Instant.moving(skel, motion(skel, q, v), t[0], skel.unpack(q, near)))
        return {"gap": gap, "J": J}


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
