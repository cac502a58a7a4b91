"""Certificate of an optimum: KKT residual, multipliers, and what binds.

At an optimum the gradient of the goal is a combination of the gradients of active rows and bounds with multipliers of the right sign,

    grad f = sum lam_i grad g_i + mu_low - mu_high,       lam, mu >= 0,

all in the unit cube of the variables and with the goal over its scale. The residual is the least norm of the difference, and of lam g
for rows that are not quite active, over that of grad f; multipliers come from the same non-negative least squares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwright.rings.design.optimization.local_search import NOTHING, LocalOptimum
from linkwright.rings.design.optimization.nonlinear_program import GoalProgram
from linkwright.rings.design.optimization.problem import DesignPoint

ACTIVE = 1e-4  # relative to the scale of a row, or the range of a number: what is so near its end counts as active
OPTIMAL = 1e-3  # KKT residual up to which a design counts as a local optimum
MATTERS = 1e-9  # multipliers above it


@dataclass(frozen=True)
class Binding:
    """A bound or limit that holds the optimum: `gain` is by how much the goal falls (scaled as the goal) if it is relaxed by one unit."""

    what: str
    end: str  # "min", "max" or the limit's text
    gain: float  # of the goal in SI, per SI unit of what is relaxed


@dataclass(frozen=True)
class OptimumCertificate:
    """How well the conditions of an optimum hold."""

    kkt: float
    binding: tuple[Binding, ...]
    agreeing: int = 0  # starts that ended at this value
    starts: int = 0

    @property
    def optimal(self) -> bool:
        """True if the residual is that of a local optimum."""
        return self.kkt <= OPTIMAL

    @property
    def confirmed(self) -> bool:
        """True if at least two starts ended here."""
        return self.agreeing >= 2


def certify(found: LocalOptimum, agreeing: int, starts: int, scale: float = 0.0) -> OptimumCertificate:
    """Check the conditions of an optimum at the end of a local search; a goal that is met to round-off of `scale` needs none."""
    p, old = found.point, found.program
    if abs(found.value) <= NOTHING * scale:
        return OptimumCertificate(0.0, (), agreeing, starts)
    program = GoalProgram(old.problem, old.terms, p, limits=found.limits or old.limits)
    program.with_every_sample(p)
    z = program.start(p)
    kkt, binding = _conditions(program, p, z)
    return OptimumCertificate(kkt, binding, agreeing, starts)


def _conditions(program: GoalProgram, p: DesignPoint, z: np.ndarray) -> tuple[float, tuple[Binding, ...]]:
    from scipy.optimize import lsq_linear

    value, slope = program.objective(p, z)
    every = program.rows(p, z)
    rows = every.some(every.equality | (every.values <= 10.0 * ACTIVE))
    low, high = np.flatnonzero(p.u <= 10.0 * ACTIVE), np.flatnonzero(p.u >= 1.0 - 10.0 * ACTIVE)
    eye = np.eye(len(z))
    A = np.concatenate([rows.slopes, eye[low], -eye[high]]).T
    inactive = np.concatenate([np.where(rows.equality, 0.0, rows.values), p.u[low], 1.0 - p.u[high]]) / ACTIVE
    size = float(np.linalg.norm(slope))
    if size == 0.0:
        return 0.0, ()
    if not A.shape[1]:
        return _relative(slope, size, program), ()
    free = np.concatenate([rows.equality, np.zeros(len(low) + len(high), dtype=bool)])
    # a multiplier of a row that is not quite active counts as an error, too: complementarity
    whole, right = np.concatenate([A, np.diag(inactive)]), np.concatenate([slope, np.zeros(len(inactive))])
    lam = lsq_linear(whole, right, bounds=(np.where(free, -np.inf, 0.0), np.full(len(free), np.inf)), tol=1e-14, max_iter=1000).x
    # the objective of a squared program is (f / scale)^2: its slope by f is 2 f / scale^2
    factor = program.scale if not program.squared else program.scale / max(2.0 * np.sqrt(max(value, 0.0)), 1e-300)
    scales = {**dict.fromkeys(program.owners, 1.0), **{lim.text: lim.scale for lim in program.limits}}
    out: dict[tuple[str, str], float] = {}
    for owner, x in zip(rows.owners, lam, strict=False):
        if owner and abs(x) > MATTERS:
            out[owner, owner] = out.get((owner, owner), 0.0) + float(x) * factor / scales[owner]
    names = program.problem.variables
    for k, x in zip([*low, *high], lam[len(rows.owners) :], strict=True):
        if x > MATTERS:
            out[names[k].name, "min" if k in low else "max"] = float(x) * factor / names[k].span
    held = tuple(Binding(what, end, gain) for (what, end), gain in out.items())
    return _relative(right - whole @ lam, size, program), held


def _relative(left: np.ndarray, size: float, program: GoalProgram) -> float:
    """The part of the gradient that nothing holds; of a smooth goal relative to the goal itself where its gradient is smaller."""
    whole = size if program.aux else max(size, 1.0)
    return float(np.linalg.norm(left) / whole)
