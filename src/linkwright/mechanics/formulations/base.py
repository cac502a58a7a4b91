"""Contract of a formulation: inputs, outputs, and what it says of itself.

Everything that the rest of the program must know of a formulation is an attribute or a method here, so that no other file
lists formulations by name. The registry `FORMULATIONS` gives each class its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from linkwright.mechanics.dynamics.terms import Terms


class RawSolution(NamedTuple):
    """Accelerations and multipliers as a formulation found them. `dropped` rows were implied by others."""

    a: Any
    lam: Any
    dropped: tuple[int, ...] = ()
    smallest_pivot: float = 1.0  # of its elimination, relative: a small one asks for the rank-revealing path
    # (pivot, what it is measured against), to be judged at run time where they are traced: first one for each velocity, which may vary
    # much, then those of the rows, which ask for the rank-revealing path where they fall to a small share of their typical size
    watch: tuple[tuple[Any, Any], ...] = ()


class Formulation(Protocol):
    """(terms, tau) -> RawSolution. Frozen dataclasses; without arguments they are what their registered name means."""

    needs_inertia: ClassVar[bool]  # every subsystem's inertia must be positive definite
    handles_redundant: ClassVar[bool]  # called bare: implied rows need not be removed first
    drops_lost_rows: ClassVar[bool]  # has `limit="drop"`: where a row is lost, the motion along it is left to dynamics

    def __call__(self, terms: Terms, tau: Any) -> RawSolution: ...

    def matrix(self, terms: Terms) -> np.ndarray:
        """Matrix that is inverted, of dimensionless terms with independent rows: `crosscheck` reports its condition."""
        ...

    def traced(self) -> Formulation | None:
        """The object that kernels trace, which may neither pivot nor branch on values, or None if it runs in Python only."""
        ...

    def variants(self) -> Mapping[str, Formulation]:
        """Objects that `crosscheck` runs, by what is added to the registered name; {"": self} for one without options."""
        ...


def constraint_force(terms: Terms, a: Any, tau: Any) -> np.ndarray:
    """F = J' lam = M a + h - tau: unique even if lam is not."""
    parts = [I @ a[s] + h - tau[s] for I, s, h in zip(terms.I, terms.spans, terms.bias, strict=True)]  # no matrix of system size
    return np.concatenate(parts) if parts else np.zeros(0)
