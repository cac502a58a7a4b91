"""Augmented Lagrangian: a penalty on the accelerations of the loops, whose part the multipliers take over step by step  [Bayo1988].

    (M + A J'J) a  =  tau - h + J' (lam - A k)          lam <- lam - A (J a + k)          from lam = 0

in dimensionless rows and columns. Each step solves the dynamics exactly and shrinks J a + k by 1/(1 + g), g the eigenvalues of
A J M^-1 J'. A penalty has a meaning only against inertia, so

    A = alpha m          m the mean of the diagonal of M

With n velocities and s the smallest singular value of J that is not zero, M <= n m gives g >= alpha s^2 / n, whatever the masses are:
alpha = 1e6 gains four digits a step at s = 0.3 and n = 10. A step is taken from where the last one ended,

    (M + A J'J) da  =  tau - h - M a + J' lam - A J' (J a + k)

which is the same in exact arithmetic and loses no digits to the size of alpha: the iteration refines its own solution. At the end the
multipliers are refined in the same way, lam + A J (M + A J'J)^-1 (M a + h - tau - J' lam).

Multipliers converge to the exact ones; of redundant rows to those of least sum of squares in dimensionless rows. M may be singular as
long as J holds what it leaves open. Where a row is lost the motion along it is left to dynamics; next to such a position g is small and
the steps are many. (The paper's mu and Omega are Baumgarte's terms, which k contains if that stabilizer is chosen.)

Kernels take a fixed number of steps. They watch what the last step changed, and how much one step shrinks a second gap that is not
orthogonal to any direction by chance: as little as 1/(1 + g) of the weakest one, whatever the forces are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from linkwright.errors import SingularityError, UsageError
from linkwright.mechanics.dynamics.terms import Terms
from linkwright.mechanics.formulations.base import Formulation, RawSolution
from linkwright.numerics.linalg import Ldl, ldl
from linkwright.numerics.tolerances import CONVERGED

ZERO_ACCELERATION = 1e-60  # m/s^2, squared: nothing acts
SQUARED_GAP = 1e-30  # of a gap of size one after a step, squared
MOST = 200  # steps: enough for singular values from 1e-3 on
TRACED = 6  # steps of a kernel: 1e-10 where each gains 1.7 digits, a singular value of about 0.01


@dataclass(frozen=True)
class AugmentedLagrangian:
    needs_inertia: ClassVar[bool] = False
    handles_redundant: ClassVar[bool] = True
    drops_lost_rows: ClassVar[bool] = True
    alpha: float = 1e6  # penalty over the mass felt by a row
    steps: int | None = None  # None: until converged

    def __post_init__(self) -> None:
        if not self.alpha > 0.0:
            raise UsageError(
                f"alpha of the augmented Lagrangian is a positive number (default 1e6), not {self.alpha!r}.", value=self.alpha, name="alpha"
            )
        if self.steps is not None and self.steps < 1:
            raise UsageError(
                f"steps of the augmented Lagrangian is a whole number from 1 on, or None: until converged, not {self.steps!r}.",
                value=self.steps,
                name="steps",
            )

    def __call__(self, terms: Terms, tau: Any) -> RawSolution:
        if not terms.nv:
            return RawSolution(0.0 * terms.h, 0.0 * terms.k)
        c, r = terms.columns, terms.row_scale
        J, k = terms.dimensionless_J(), terms.k / r
        M, f = terms.M * c * c[:, None], (tau - terms.h) * c
        mean = _mean(M)
        no_pivot = 1e-15  # a pivot of M + J'AJ against its diagonal entry, which may be alpha times an inertia
        A, factors = self.alpha * mean, ldl(self._penalized(M, J), tolerance=no_pivot)
        given = f @ f / (mean * mean) + k @ k + ZERO_ACCELERATION  # size of what is asked for: accelerations may cancel to round-off
        a, lam, share, before = 0.0 * f, 0.0 * k, 0.0, np.inf
        stalled = 1e-6  # a change below this that no longer falls is round-off
        for step in range(1, self._most(terms.nc) + 1):
            change = factors.solve(f - M @ a + J.T @ (lam - A * (J @ a + k)))
            a = a + change
            lam = lam - A * (J @ a + k)
            share = (change @ change) / (a @ a + given)  # squared: a square root has no derivative at zero
            if self.steps is None:
                now = float(np.real(share))
                if now <= CONVERGED**2 or before <= now < stalled**2:
                    break
                if step == MOST:
                    raise SingularityError(_too_slow(self.alpha, now))
                before = now
        lam = lam + A * (J @ factors.solve(M @ a - f - J.T @ lam))  # round-off of J a, times alpha, is in lam
        pivots = [(p / (p + mean), 1.0) for p, _ in factors.watch]
        slow = 3e-12  # change in the last step of a kernel at which its watched value is one half; a share of 1e-5 is left of it at 1e-9
        rows = [] if not terms.nc else [(_probed(factors, J, A), 1.0), (1.0 / (1.0 + share / slow**2), 1.0)]
        return RawSolution(a * c, lam / r, smallest_pivot=factors.smallest, watch=(*pivots, *rows))

    def matrix(self, terms: Terms) -> np.ndarray:
        return self._penalized(terms.M, terms.J)

    def traced(self) -> Formulation:
        return self if self.steps is not None else replace(self, steps=TRACED)

    def variants(self) -> Mapping[str, Formulation]:
        return {"": self}

    def _penalized(self, M: np.ndarray, J: np.ndarray) -> np.ndarray:
        return M + self.alpha * _mean(M) * (J.T @ J)

    def _most(self, rows: int) -> int:
        return 1 if not rows else MOST if self.steps is None else self.steps


def _mean(M: Any) -> Any:
    """Mean inertia: of the diagonal of M."""
    return np.trace(M) / len(M)


def _probed(factors: Ldl, J: np.ndarray, A: Any) -> Any:
    """How much one step shrinks a gap z of no symmetry, |z| / |(1 + A J M^-1 J')^-1 z|: about 1 + g of the weakest direction."""
    z = np.cos(np.arange(1.0, len(J) + 1.0))
    left = z - J @ factors.solve(J.T @ (A * z))
    return np.sqrt(z @ z / (left @ left + SQUARED_GAP))


def _too_slow(alpha: float, share: float) -> str:
    return (
        f"the augmented Lagrangian has not converged after {MOST} steps: the last one still changed the accelerations by {share**0.5:.1e} "
        f"of their size, because a direction of the loops is nearly lost here. Use another formulation, which solves the limit, or a "
        f"larger penalty than alpha={alpha:g}: AugmentedLagrangian(alpha=...)."
    )
