"""The rule for singular passages on arrays from a native kernel: what the float path does, some thirty times faster.

A time loop that meets a singular position asks for hundreds of evaluations there. The kernel `along` gives every term and its
rate along the motion in microseconds; what is left are decompositions of small matrices. Only the usual cases are answered
here, rows that are kept, lost or redundant in a moving mechanism whose bodies have mass; for any other the answer is
None, and the float path takes over, which is also the reference.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.formulations import Formulation, create
from linkwright.forward import LOST, tangent
from linkwright.kinematics import displaced
from linkwright.linalg import Factored, factor
from linkwright.passage import Along, Rows, followed, mended
from linkwright.terms import of_matrices

if TYPE_CHECKING:
    from linkwright.compiler.kernels import Kernels

Inputs = dict[str, np.ndarray]
AT_REST = 1e-9  # dimensionless speed below which no motion tells the branch
CLOSED = 1e-15  # dimensionless residual that no step improves
MOST_STEPS = 6
FINE = 1e-9  # residuals below which a state is so near to the loops that also weak rows tell where they are
FAINT = 1e-5  # singular values below which even then they do not
SQUEEZED = 0.5  # a Newton step must leave no more than this share of the residual


class Instant(NamedTuple):
    """Terms at one state, dimensionless, and how the rows change along the motion."""

    M: np.ndarray
    h: np.ndarray
    J: np.ndarray
    k: np.ndarray
    b: np.ndarray
    phi: np.ndarray
    flow: np.ndarray  # power of loads, power lost
    along: Along


class QuickPassage:
    """Accelerations and projections of one `Kernels` at any rank."""

    def __init__(self, kernels: Kernels):
        self.kernels = kernels
        self._still = np.zeros(len(kernels.chosen.drivers))
        self._eq = kernels.equations(kernels.defaults["free"]).moved(self._still + 1.0, self._still, self._still)
        loops = self._eq.loops
        self.skel, self.columns, self.rows = loops.skel, loops.columns, loops.row_scale
        self.kernel = kernels.get("along")
        self._fields = {b.name: (b.span, b.shape) for b in self.kernel.outputs}

    @cached_property
    def _places(self) -> tuple[np.ndarray, ...]:
        """Where the entries of the blocks of M and J stand in the dense matrices, their scales, and the scale of all of J."""
        nv, c = len(self.columns), self.columns
        T = self._eq.usual_terms(self.kernels.start()[0], np.zeros(nv), np.zeros(1), self.kernels.defaults["near"])

        def places(blocks: list[tuple[slice, slice]]) -> np.ndarray:
            return np.concatenate([np.zeros(0, dtype=int), *(_flat(r, c, nv) for r, c in blocks)])

        in_M, in_J = places([(span, span) for span in T.spans]), places([(T.rows[i], T.spans[j]) for i, j in sorted(T.blocks)])
        scale = c / self.rows[:, None]
        return in_M, in_J, (c * c[:, None]).ravel()[in_M], scale.ravel()[in_J], scale

    def at(self, x: Inputs) -> Instant:
        """All terms at a state."""
        y = self.kernel.packed(x)
        f = {name: y[span].reshape(shape) for name, (span, shape) in self._fields.items()}
        c, rows, n, m = self.columns, self.rows, len(self.columns), len(self.rows)
        in_M, in_J, of_M, of_J, scale = self._places
        M, J, Jdot = np.zeros(n * n), np.zeros(m * n), np.zeros(m * n)
        M[in_M], J[in_J], Jdot[in_J] = f["M"] * of_M, f["J"] * of_J, f["Jdot"] * of_J
        M, J, Jdot = M.reshape(n, n), J.reshape(m, n), Jdot.reshape(m, n)
        third = 3.0 * Jdot if "k_v" not in f else Jdot + f["k_v"] * scale
        return Instant(M, f["h"] * c, J, f["k"] / rows, f["b"] / rows, f["phi"] / rows, f["flow"], Along(Jdot, f["kdot"] / rows, third))

    # ---------------------------------------------------------------- accelerations

    def rates(self, x: Inputs, formulation: str | Formulation = "auto") -> dict[str, np.ndarray] | None:
        """a by the rows that hold here, J a = -k or what takes the place of a lost row; and the powers, where the drivers' is
        all that the constraint force M a + h - tau does: closed loops move only across theirs. A formulation that is named
        does the work where no row is lost."""
        v = x["v"] / self.columns
        speed = float(np.sqrt(v @ v))
        if speed < AT_REST:
            return None
        here = self.at(x)
        k = here.k
        if "gains" in x:
            k = k + x["gains"][0] * (here.J @ v + here.b) + x["gains"][1] * here.phi
        f = factor(here.J)
        rows = mended(here.J, k, speed, lambda: here.along, f)
        tau = x["tau"] * self.columns
        if formulation != "auto" and not rows.passages:
            a = create(formulation)(of_matrices(here.M, here.h, here.J, k), tau).a
        else:
            a = self._solved(here, rows, self._pushes(f, rows, here, k, speed), tau)
        if a is None or not np.isfinite(a).all():
            return None
        driven = v @ (here.M @ a + here.h - tau) if len(self._still) else 0.0
        return {"a": a * self.columns, "power": np.array([tau @ v + driven, *here.flow])}

    def _solved(self, here: Instant, rows: Rows, pushes: np.ndarray | None, tau: np.ndarray) -> np.ndarray | None:
        """a with M a + h - tau along the pushes and the rows fulfilled."""
        n, m = len(tau), len(rows.A)
        if pushes is None or len(pushes) != m:
            return None
        S = np.zeros((n + m, n + m))
        S[:n, :n], S[:n, n:], S[n:, :n] = here.M, -pushes.T, rows.A
        try:
            return np.linalg.solve(S, np.concatenate([tau - here.h, rows.r]))[:n]
        except np.linalg.LinAlgError:
            return None

    def _pushes(self, f: Factored, rows: Rows, here: Instant, k: np.ndarray, speed: float) -> np.ndarray | None:
        """Directions in which the constraints can push: see `forward`. None for a velocity along no branch."""
        kept = f.Vt[: int(np.sum(f.s > LOST))]
        if not rows.passages or len(kept) == len(k):
            return kept
        if not all(tangent(u, here.J, k, speed, here.along.Jdot) for u in rows.replaced.T):
            return None
        faint = [u for u in rows.replaced.T if np.linalg.norm(u @ here.J) <= LOST]
        more = np.array(faint).reshape(len(faint), len(k)) @ here.along.Jdot
        return np.concatenate([kept, more / np.sqrt(np.sum(more * more, axis=1, keepdims=True))])

    # ---------------------------------------------------------------- projection

    def projection(self, x: Inputs, window: float) -> dict[str, Any] | None:
        """Back onto the loops along every row that is not about to be lost, then the velocity along the branch.

        phi is s d + d^2 in a row of singular value s for a state that is off by d: where d is known to be far below s the row
        corrects it (left alone, d would add up over the steps inside the window); the round-off in phi moves it by 1e-16 / s.
        """
        here = self.at(x)
        v = x["v"] / self.columns
        out = {"residual": _largest(here.phi), "rate_residual": _largest(here.J @ v + here.b)}
        fine = out["residual"] < FINE and out["rate_residual"] < FINE * (1.0 + float(np.sqrt(v @ v)))
        q, moved, before = x["q"], 0.0, out["residual"]
        for _ in range(MOST_STEPS):
            if before <= CLOSED:
                break
            step = -factor(here.J, FAINT if fine else window).solve(here.phi)
            trial = self._displaced(q, step * self.columns)
            there = self.at({**x, "q": trial})
            after = _largest(there.phi)
            if not after < before:
                break
            q, here, moved = trial, there, moved + float(np.sqrt(step @ step))
            slow, before = after > SQUEEZED * before, after
            if slow:
                break
        if not before < 1e-10:
            return None

        def at(speeds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            now = self.at({**x, "q": q, "v": speeds * self.columns})
            return now.k, now.along.third - now.along.Jdot

        out |= {"q": q, "v": followed(here.J, here.b, v, window, at) * self.columns, "correction": moved}
        return out

    def _displaced(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        return q + step if len(q) == len(step) else displaced(self.skel, q, step)


def _flat(rows: slice, columns: slice, width: int) -> np.ndarray:
    """Places of a block in a dense matrix of that width, row by row."""
    return (np.arange(rows.start, rows.stop)[:, None] * width + np.arange(columns.start, columns.stop)).ravel()


def _largest(x: np.ndarray) -> float:
    return float(np.abs(x).max(initial=0.0))
