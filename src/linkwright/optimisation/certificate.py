"""Certificate of an optimum: KKT residual, multipliers, and what binds.

At an optimum the gradient of the goal is a combination of the gradients of active rows and bounds with multipliers of the right sign,

    grad f = sum lam_i grad g_i + mu_low - mu_high,       lam, mu >= 0,

all in the unit cube of the variables and with the goal over its scale. The residual is the least norm of the difference over that of
grad f; multipliers come from the same non-negative least squares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwright.optimisation.local import LocalOptimum
from linkwright.optimisation.program import Program

ACTIVE = 1e-6  # relative: rows and bounds so near their end count as active


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
    def confirmed(self) -> bool:
        """True if at least two starts ended here."""
        return self.agreeing >= 2


def certify(found: LocalOptimum, agreeing: int, starts: int) -> OptimumCertificate:
    """Check the conditions of an optimum at the end of a local search."""
    program = found.program
    kkt, binding = _conditions(program, found)
    return OptimumCertificate(kkt, binding, agreeing, starts)


def _conditions(program: Program, found: LocalOptimum) -> tuple[float, tuple[Binding, ...]]:
    from scipy.optimize import lsq_linear

    p, z = found.point, found.z
    _, slope = program.objective(p, z)
    rows = [r for r in program.rows(p, z) if r.equality or r.value <= ACTIVE]
    low, high = np.flatnonzero(p.u <= ACTIVE), np.flatnonzero(p.u >= 1.0 - ACTIVE)
    columns = [r.gradient for r in rows] + [np.eye(len(z))[k] for k in low] + [-np.eye(len(z))[k] for k in high]
    size = float(np.linalg.norm(slope))
    if size == 0.0:
        return 0.0, ()
    if not columns:
        return _relative(slope, size, program), ()
    A = np.array(columns).T
    free = np.array([r.equality for r in rows] + [False] * (len(low) + len(high)))
    lam = lsq_linear(A, slope, bounds=(np.where(free, -np.inf, 0.0), np.full(len(free), np.inf)), tol=1e-14, max_iter=1000).x
    names = program.problem.variables
    factor = program.scale if not program.squared else program.scale / max(2.0 * np.sqrt(max(program.objective(p, z)[0], 0.0)), 1e-300)
    scales = {lim.text: lim.scale for lim in program.limits}
    out: dict[tuple[str, str], float] = {}
    for r, x in zip(rows, lam[: len(rows)], strict=True):
        if r.owner and abs(x) > 1e-9:
            out[r.owner, r.owner] = out.get((r.owner, r.owner), 0.0) + x * factor / scales[r.owner]
    for k, x in zip([*low, *high], lam[len(rows) :], strict=True):
        if x > 1e-9:
            out[names[k].name, "min" if k in low else "max"] = x * factor / names[k].span
    held = tuple(Binding(what, end, gain) for (what, end), gain in out.items())
    return _relative(slope - A @ lam, size, program), held


def _relative(left: np.ndarray, size: float, program: Program) -> float:
    """The part of the gradient that nothing holds; of a smooth goal near zero relative to the goal itself."""
    whole = size if program.aux else max(size, 1.0)
    return float(np.linalg.norm(left) / whole)
