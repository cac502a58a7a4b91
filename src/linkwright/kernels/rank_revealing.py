"""Answers to states that a kernel cannot solve: the rank-revealing float path on the kernel's own inputs.

A kernel whose pivots degenerate hands the state to the functions here: singular passages get their limit, redundant rows
least reactions, and what has no answer an explanation. One object serves one `Kernels`, the mechanism as written or a variant
of it: drivers are where the inputs say, rotors and loops left out are those of its equations.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.mechanics import inverse
from linkwright.mechanics.closing.newton import Bounds, Onto, PositionRows, Rule, close, onto
from linkwright.mechanics.closing.singular_passage import SUSPECT, AccelerationRows, RowDerivatives, branch_velocity, followed, mended
from linkwright.mechanics.closing.smooth_branch import STILL, Branch, accelerations, across, on_loops, passing
from linkwright.mechanics.constraints.loops import block_places
from linkwright.mechanics.dynamics.coordinate_efforts import EffortRows
from linkwright.mechanics.dynamics.terms import Terms, of_matrices
from linkwright.mechanics.formulations import FORMULATIONS, Formulation, create
from linkwright.mechanics.formulations.forward import LOST, Forward, forward, tangent
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import qdot
from linkwright.numerics.linalg import Factored, factor
from linkwright.numerics.memory_and_threads import one_thread
from linkwright.numerics.tolerances import CLOSED_AT_BEST, CLOSED_FLOOR
from linkwright.properties import cached_property

if TYPE_CHECKING:
    from linkwright.kernels.equations.dynamic import Equations
    from linkwright.kernels.kernel import Fallback
    from linkwright.kernels.kernels import Kernels

Inputs = dict[str, np.ndarray]

MOST_STEPS = 6
LEAST_OFFSET = 1e-10  # offset from the loops, as a share of the smallest singular value, that no longer matters
WEAKEST_ROW = 1e-7  # a smaller singular value moves positions by round-off rather than by what is wrong with them


def answers(kernels: Kernels) -> dict[str, Fallback]:
    """Answers to the states that these kernels cannot solve, by kernel."""
    return RankRevealing(kernels).answers


class RankRevealing:
    """Answers to the kernels of one mechanism, by the names of their inputs and outputs."""

    def __init__(self, kernels: Kernels):
        self.kernels = kernels

    @cached_property
    def answers(self) -> dict[str, Fallback]:
        """By kernel; those not named here have no other way than their own."""
        return {
            "forward": self.forward,
            "rates": self.rates,
            "inverse": self.inverse,
            "loads": self.inverse,
            "projection": self.projection,
            "loop_rates": self.rates,
            "response": self.response,
            "loop_projection": self.projection,
            **{f"loop_rates by {name}": partial(self.rates, formulation=name) for name in FORMULATIONS},
        }

    # ---------------------------------------------------------------- dynamics

    def forward(self, x: Inputs) -> dict[str, Any]:
        found = self._forward(x)
        return {"a": found.a, "lam": found.lam}

    def rates(self, x: Inputs, formulation: str | Formulation = "auto") -> dict[str, Any]:
        with one_thread(self._rows):
            traced = self._traced.rates(x, formulation) if self._traced is not None else None
        return self.slow_rates(x, formulation) if traced is None else {"qdot": self._qdot(x), **traced}

    def slow_rates(self, x: Inputs, formulation: str | Formulation = "auto") -> dict[str, Any]:
        """The same by the float path, and by any formulation."""
        found = self._forward(x, formulation)
        out = {"qdot": self._qdot(x), "a": found.a}
        if self.kernels.chosen.power:
            eq, near, t = self._equations(x)
            given = eq.powers(x["q"], x["v"], x["tau"], found.lam, np.array([t]), near)[1:]
            # lam has a pole in a passage, the force J' lam has none, and what it does is done by the drivers
            driven = found.force @ x["v"] if eq.drivers else 0.0
            out["power"] = np.array([x["tau"] @ x["v"] + driven, *given])
        return out

    def response(self, x: Inputs) -> dict[str, Any]:
        """Response to an effort alone: the rates are affine in efforts, also in the limit at a singular position."""
        pushed, calm = self.rates(x), self.rates({**x, "tau": 0.0 * x["tau"]})
        dv = pushed["a"] - calm["a"]
        power = pushed["power"][0] - calm["power"][0] - x["tau"] @ x["v"] if self.kernels.chosen.power else 0.0
        return {"dq": qdot(self.kernels.loops.skel, x["q"], dv), "dv": dv, "power": np.array([power])}

    def effort_terms(self, x: Inputs, rows: EffortRows) -> dict[str, Any]:
        """Terms of efforts along coordinates."""
        T = self._terms(x)
        assert T.place is not None
        found = rows.by_differences(T.place, lambda more: forward(T, x["tau"] + more, rank=self.kernels.generic_rank))
        return found._asdict()

    def _qdot(self, x: Inputs) -> np.ndarray:
        return x["v"] if len(x["q"]) == len(x["v"]) else qdot(self.kernels.loops.skel, x["q"], x["v"])

    @cached_property
    def _rows(self) -> int:
        return self.kernels.sizes.nv + self.kernels.sizes.nc

    @cached_property
    def _traced(self) -> TracedPassage | None:
        """Arrays from native code, where there is any and no body without mass."""
        if not self.kernels.get("terms").native or self.kernels.plan.saddle is not None:
            return None
        return TracedPassage(self.kernels)

    def inverse(self, x: Inputs) -> dict[str, Any]:
        eq, cut, t = self._equations(x, "inverse")
        near = eq.loops.skel.unpack(x["q"], cut)
        at = Instant(eq.loops.skel, x["q"], x["v"], t, near)
        pushes = at.pushes(eq.forces)
        found = inverse.solve(eq.loops, x["q"], x["v"], x["a"], t, near, pushes, eq.drives, "system")
        wrenches = [np.concatenate([found.wrench[j].moment, found.wrench[j].force]) for j in eq.joints]
        return {"u": found.u, "lam": found.lam_all, "wrench": np.array(wrenches)}

    # ---------------------------------------------------------------- kinematics

    def projection(self, x: Inputs) -> dict[str, Any]:
        """Position onto the loops and velocity along them without leaving the branch, by the rule of `smooth_branch`."""
        with one_thread(self._rows):
            traced = self._traced.projection(x) if self._traced is not None else None
        return self.slow_projection(x) if traced is None else traced

    def slow_projection(self, x: Inputs) -> dict[str, Any]:
        """The same by the float path."""
        eq, cut, t = self._equations(x)
        near = eq.loops.skel.unpack(x["q"], cut)
        before, rows, c = eq.loops.at(x["q"], x["v"], t, near), eq.loops.row_scale, eq.loops.columns
        branch, _ = on_loops(eq.loops, x["q"], x["v"], t, near, self.kernels.generic_rank)
        if branch is not None:
            q, v = eq.loops.displaced(x["q"], branch.Q @ branch.e), x["v"] - branch.Q @ branch.off(x["v"] / c) * c
            moved = float(np.linalg.norm(branch.e))
        else:
            done = close(eq.loops, x["q"], near, t, window=WEAKEST_ROW)
            q, moved = done.at.q, done.moved
            v = branch_velocity(eq.loops, q, x["v"], t, done.at.references, WEAKEST_ROW)
        return {
            "q": q,
            "v": v,
            "residual": np.abs(before.phi / rows).max(initial=0.0),
            "rate_residual": np.abs((before.J @ x["v"] + before.b) / rows).max(initial=0.0),
            "correction": moved,
        }

    # ---------------------------------------------------------------- the float path

    def _equations(self, x: Inputs, solve: str = "sslm") -> tuple[Equations, np.ndarray, float]:
        """Equations at these values of the parameters and drivers, reference coordinates of the cut joints, time."""
        defaults = self.kernels.defaults
        t = float(x.get("t", np.zeros(1))[0])
        eq = self.kernels.equations(x.get("parameters", defaults["parameters"]), solve)
        if eq.drivers:
            eq = eq.moved(x["drive"], x["speed"], x["acceleration"], at=t)
        return eq, x.get("near", defaults["near"]), t

    def _terms(self, x: Inputs) -> Terms:
        eq, cut, t = self._equations(x)
        return eq.joint_axis_terms(x["q"], x["v"], np.array([t]), cut)

    def _forward(self, x: Inputs, formulation: str | Formulation = "auto") -> Forward:
        there = self._terms(x)
        if "gains" in x:
            from linkwright.kernels.equations.dynamic import stabilized  # here, because importing it is no part of starting up

            there = stabilized(there, x["v"], x["gains"])
        return forward(there, x["tau"], formulation, rank=self.kernels.generic_rank, gains=x.get("gains"))


# The rule for singular passages on arrays from a native kernel: what the float path does, some thirty times faster.
#
# A time stepper that meets a singular position asks for hundreds of evaluations there. The kernel `along` gives every term and its
# rate along the motion in microseconds, the kernel `loop_rows` the rows at all nodes of the branch at once; what is left are
# decompositions of small matrices. Only a moving mechanism whose bodies have mass is answered here; for any other the answer is
# None, and the float path takes over, which is also the reference.


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
        self._eq = kernels.equations(kernels.defaults["parameters"]).moved(self._still + 1.0, self._still, self._still)
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
        too_far = 0.1  # share of a singular value: a correction from which Newton steps may lead to another branch
        bounds = Bounds(r, lambda s, before: too_far * s, lambda s: LEAST_OFFSET * s)
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
        found = self._onto(x, here, Rule(MOST_STEPS, CLOSED_FLOOR, WEAKEST_ROW, self.rank))
        if not found.residual < CLOSED_AT_BEST:
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
