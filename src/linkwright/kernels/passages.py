"""The rule for singular passages on arrays from a native kernel: what the float path does, some thirty times faster.

A time stepper that meets a singular position asks for hundreds of evaluations there. The kernel `along` gives every term and its
rate along the motion in microseconds, the kernel `loop_rows` the rows at all nodes of the branch at once; what is left are
decompositions of small matrices. Only a moving mechanism whose bodies have mass is answered here; for any other the answer is
None, and the float path takes over, which is also the reference.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.mechanics.closing.newton import GOOD_ENOUGH, Bounds, Onto, PositionRows, Rule, onto
from linkwright.mechanics.closing.passage import SUSPECT, AccelerationRows, RowDerivatives, followed, mended
from linkwright.mechanics.closing.smooth_branch import STILL, Branch, accelerations, across, passing
from linkwright.mechanics.constraints.closure import block_places
from linkwright.mechanics.dynamics.terms import of_matrices
from linkwright.mechanics.formulations import Formulation, create
from linkwright.mechanics.formulations.forward import LOST, tangent
from linkwright.numerics.linalg import Factored, factor

if TYPE_CHECKING:
    from linkwright.kernels.kernels import Kernels

Inputs = dict[str, np.ndarray]
CLOSED = 1e-15  # dimensionless residual that no step improves
MOST_STEPS = 6
NEAR_ENOUGH = 1e-10  # offset from the loops, as a share of the smallest singular value, that no longer matters
TOO_FAR = 0.1  # and one from which Newton steps may lead to another branch
WEAKEST_ROW = 1e-7  # a smaller singular value moves positions by round-off rather than by what is wrong with them


class Scaled(NamedTuple):
    """Terms at one state, dimensionless, and how the rows change along the motion."""

    M: np.ndarray
    h: np.ndarray
    J: np.ndarray
    k: np.ndarray
    b: np.ndarray
    phi: np.ndarray
    flow: np.ndarray  # power of loads, power lost
    along: RowDerivatives


class TracedPassage:
    """Accelerations and projections of one `Kernels` at any rank."""

    def __init__(self, kernels: Kernels):
        self.kernels = kernels
        self._still = np.zeros(len(kernels.chosen.drivers))
        self._eq = kernels.equations(kernels.defaults["free"]).moved(self._still + 1.0, self._still, self._still)
        loops = self._eq.loops
        self.columns, self.rows = loops.columns, loops.row_scale
        self.kernel, self._loop_rows = kernels.get("along"), kernels.rows
        self._fields = {b.name: (b.span, b.shape) for b in self.kernel.outputs}

    @cached_property
    def _places(self) -> tuple[np.ndarray, ...]:
        """Places of the entries of the blocks of M and J in the dense matrices, their scales, and the scale of all of J."""
        nv, c = len(self.columns), self.columns
        T = self._eq.joint_axis_terms(self.kernels.start()[0], np.zeros(nv), np.zeros(1), self.kernels.defaults["near"])

        def places(blocks: list[tuple[slice, slice]]) -> np.ndarray:
            return np.concatenate([np.zeros(0, dtype=int), *(block_places(r, c, nv) for r, c in blocks)])

        in_M, in_J = places([(span, span) for span in T.spans]), places([(T.rows[i], T.spans[j]) for i, j in sorted(T.blocks)])
        scale = c / self.rows[:, None]
        return in_M, in_J, (c * c[:, None]).ravel()[in_M], scale.ravel()[in_J], scale

    def at(self, x: Inputs) -> Scaled:
        """All terms at a state."""
        y = self.kernel.packed(x)
        f = {name: y[span].reshape(shape) for name, (span, shape) in self._fields.items()}
        c, rows, n, m = self.columns, self.rows, len(self.columns), len(self.rows)
        in_M, in_J, of_M, of_J, scale = self._places
        M, J, Jdot = np.zeros(n * n), np.zeros(m * n), np.zeros(m * n)
        M[in_M], J[in_J], Jdot[in_J] = f["M"] * of_M, f["J"] * of_J, f["Jdot"] * of_J
        M, J, Jdot = M.reshape(n, n), J.reshape(m, n), Jdot.reshape(m, n)
        third = 3.0 * Jdot if "k_v" not in f else Jdot + f["k_v"] * scale
        return Scaled(
            M, f["h"] * c, J, f["k"] / rows, f["b"] / rows, f["phi"] / rows, f["flow"], RowDerivatives(Jdot, f["kdot"] / rows, third)
        )

    # ---------------------------------------------------------------- accelerations

    def rates(self, x: Inputs, formulation: str | Formulation = "auto") -> dict[str, np.ndarray] | None:
        """Accelerations and powers: on the interpolated branch near a singular position, elsewhere by J a = -k.

        All that the constraint force M a + h - tau does is done by the drivers: closed loops move only across theirs. A
        formulation that is named is used where no singular position is near.
        """
        v = x["v"] / self.columns
        speed = float(np.sqrt(v @ v))
        if speed < STILL:
            return None
        here = self.at(x)
        alpha, beta = x.get("gains", (0.0, 0.0))
        f = factor(here.J)
        load = x["tau"] * self.columns - here.h
        branch = self.branch(x, here, f, v)
        if branch is not None:
            if not branch.tangent(v):
                return None
            a = accelerations(here.M, load, branch.Q.T, branch.right - alpha * branch.off(v) + beta * branch.e)
        elif not self.rank or f.s[self.rank - 1] > LOST:
            Q, right = self._rows_on_loops(x, here, f, v, alpha, beta)
            if formulation == "auto":
                a = accelerations(here.M, load, Q, right)
            else:
                labels = self._eq.loops.skel.tree.velocity_joints
                a = create(formulation)(of_matrices(here.M, -load, Q, -right, labels=labels), np.zeros(len(v))).a
        else:
            k = here.k + alpha * (here.J @ v + here.b) + beta * here.phi
            rows = mended(here.J, k, speed, lambda: here.along, f, self.rank)
            pushes = self._pushes(f, rows, here, k, speed)
            a = None if pushes is None or len(pushes) != len(rows.A) else accelerations(here.M, load, rows.A, rows.r, pushes)
        if a is None or not np.isfinite(a).all():
            return None
        driven = v @ (here.M @ a - load) if len(self._still) else 0.0
        return {"a": a * self.columns, "power": np.array([x["tau"] @ x["v"] + driven, *here.flow])}

    @cached_property
    def rank(self) -> int:
        """Generic rank of J: rows that are independent in most positions."""
        return self.kernels.generic_rank

    def branch(self, x: Inputs, here: Scaled, f: Factored, v: np.ndarray) -> Branch | None:
        """The smooth branch, if a singular position is near."""
        near = passing(lambda: here.along.Jdot, float(np.sqrt(v @ v)), f, self.rank)
        if near is None:
            return None

        def closures(q: np.ndarray, dt: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            y = {**x, "q": q, "v": np.zeros(len(v)), "t": x["t"] + dt[:, None]}
            if len(self._still):  # drivers move on with constant acceleration
                y["drive"] = x["drive"] + dt[:, None] * (x["speed"] + 0.5 * dt[:, None] * x["acceleration"])
                y["speed"] = x["speed"] + dt[:, None] * x["acceleration"]
            found = self._loop_rows.at(**y)
            return found.phi / self.rows, found.J.scaled(1.0 / self.rows, self.columns).dense, found.b / self.rows

        return across(closures, self._eq.loops.displaced, x["q"], v, self.rank, near.reach)

    def _rows_on_loops(
        self, x: Inputs, here: Scaled, f: Factored, v: np.ndarray, alpha: float, beta: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rows Q'a = right of the generic rank, where a row is weak taken at the nearest position and velocity on the loops.

        Beside them by d, the right vector of a small s is wrong by d / s and the acceleration by d |v|^2 / s^2; a state of a run
        without projection, and every stage of a step, is beside them.
        """
        r = self.rank
        Q, U, s = f.Vt[:r], f.U[:, :r], f.s[:r]
        if not r or s[-1] >= SUSPECT:
            return Q, -(U.T @ (here.k + alpha * (here.J @ v + here.b) + beta * here.phi)) / s
        bounds = Bounds(r, lambda s, before: TOO_FAR * s, lambda s: NEAR_ENOUGH * s)
        found = self._onto(x, here, Rule(MOST_STEPS, bounds=bounds))
        f = found.factored or factor(found.rows.J)
        Q, U, s = f.Vt[:r], f.U[:, :r], f.s[:r]
        off = Q @ v + (U.T @ found.rows.b) / s
        here = self.at({**x, "q": found.q, "v": (v - Q.T @ off) * self.columns})
        return Q, -(U.T @ here.k) / s - alpha * off + beta * (Q @ found.e)

    def _pushes(self, f: Factored, rows: AccelerationRows, here: Scaled, k: np.ndarray, speed: float) -> np.ndarray | None:
        """Directions in which the constraints can push: see `forward`. None for a velocity along no branch."""
        retained = f.Vt[: int(np.sum(f.s > LOST))]
        if not rows.passages or len(retained) == len(k):
            return retained
        if not all(tangent(u, here.J, k, speed, here.along.Jdot) for u in rows.replaced.T):
            return None
        faint = [u for u in rows.replaced.T if np.linalg.norm(u @ here.J) <= LOST]
        more = np.array(faint).reshape(len(faint), len(k)) @ here.along.Jdot
        return np.concatenate([retained, more / np.sqrt(np.sum(more * more, axis=1, keepdims=True))])

    # ---------------------------------------------------------------- projection

    def projection(self, x: Inputs) -> dict[str, Any] | None:
        """Position onto the loops and velocity along them: on the interpolated branch near a singular position, elsewhere by
        Newton steps of the generic rank. A correction is at most the distance to the branch, round-off / s included."""
        here = self.at(x)
        v = x["v"] / self.columns
        out = {"residual": _largest(here.phi), "rate_residual": _largest(here.J @ v + here.b)}
        branch = self.branch(x, here, factor(here.J), v)
        if branch is not None:
            moved = float(np.sqrt(branch.e @ branch.e))
            q = self._eq.loops.displaced(x["q"], branch.Q @ branch.e)
            return out | {"q": q, "v": (v - branch.Q @ branch.off(v)) * self.columns, "correction": moved}
        found = self._onto(x, here, Rule(MOST_STEPS, CLOSED, WEAKEST_ROW, self.rank))
        if not found.residual < GOOD_ENOUGH:
            return None
        q, J, b = found.q, found.rows.J, found.rows.b

        def at(speeds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            now = self.at({**x, "q": q, "v": speeds * self.columns})
            return now.k, now.along.third - now.along.Jdot

        v = followed(factor(J, WEAKEST_ROW).at_most(self.rank), J @ v + b, v, at, self.rank)
        return out | {"q": q, "v": v * self.columns, "correction": float(found.moved)}

    def _onto(self, x: Inputs, here: Scaled, rule: Rule) -> Onto:
        """A position nearer to the loops than that of x, where the terms are `here`."""

        def rows(q: np.ndarray) -> PositionRows:
            there = self.at({**x, "q": q})
            return PositionRows(there.phi, there.J, there.b)

        return onto(rows, self._eq.loops.displaced, x["q"], rule, PositionRows(here.phi, here.J, here.b))


def _largest(x: np.ndarray) -> float:
    return float(np.abs(x).max(initial=0.0))
