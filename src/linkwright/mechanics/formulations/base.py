"""Contract of a formulation: inputs and outputs."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from linkwright.mechanics.dynamics.terms import Terms


class RawSolution(NamedTuple):
    """Accelerations and multipliers as a formulation found them; `dropped` rows were implied by others."""

    a: Any
    lam: Any
    dropped: tuple[int, ...] = ()
    smallest_pivot: float = 1.0  # of its elimination, relative: a small one asks for the rank-revealing path
    watch: tuple[tuple[Any, Any], ...] = ()  # traced: (pivot, what it is measured against), to be judged at run time


class Formulation(Protocol):
    """(terms, tau) -> Raw. Class attributes say what it can do."""

    needs_inertia: bool  # every subsystem's inertia must be positive definite
    handles_redundant: bool  # implied rows need not be removed first

    def __call__(self, terms: Terms, tau: Any) -> RawSolution: ...


def constraint_force(terms: Terms, a: Any, tau: Any) -> np.ndarray:
    """F = J' lam = M a + h - tau: unique even where lam is not."""
    parts = [I @ a[s] + h - tau[s] for I, s, h in zip(terms.I, terms.spans, terms.bias, strict=True)]  # no matrix of system size
    return np.concatenate(parts) if parts else np.zeros(0)
