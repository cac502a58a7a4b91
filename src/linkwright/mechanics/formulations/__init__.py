"""Forward dynamics by five interchangeable formulations: accelerations and loop multipliers from one set of terms.

    kkt         one saddle-point system for everything                         [Koul2013 (9)]
    slm         system-level multipliers, then accelerations                   [Koul2013 (10)-(12)]
    sslm        subsystem-level multipliers: block by block, loop by loop      [Koul2013 (15)-(24)]
    nullspace   multipliers eliminated by a null-space matrix                  [Hoang2023 (18)-(23)]
    projection  projection operator, three constraint inertia matrices         [Aghili2005 (19)-(32)]

A formulation is a frozen object called with (terms, tau); it gives raw accelerations and multipliers. What they share
(rank, redundant rows, singular passages, the choice of least reactions) is written once in `forward`. `auto` is sslm with
its pivots watched. Adding one: a file and a line in `FORMULATIONS`; the registry-wide tests check it at once.
"""

from __future__ import annotations

from typing import Any

from linkwright.errors import UsageError, nearest
from linkwright.mechanics.formulations.base import Formulation, RawSolution, constraint_force
from linkwright.mechanics.formulations.kkt import Kkt
from linkwright.mechanics.formulations.nullspace import Nullspace
from linkwright.mechanics.formulations.projection import Projection
from linkwright.mechanics.formulations.slm import Slm
from linkwright.mechanics.formulations.sslm import Sslm

FORMULATIONS: dict[str, Any] = {"kkt": Kkt, "slm": Slm, "sslm": Sslm, "nullspace": Nullspace, "projection": Projection}


def create(formulation: str | Formulation) -> Formulation:
    """A formulation by name, or the object itself."""
    if isinstance(formulation, str):
        if formulation not in FORMULATIONS:
            raise UsageError(f"there is no formulation '{formulation}'. {nearest(formulation, ['auto', *FORMULATIONS], 'Formulations')}")
        return FORMULATIONS[formulation]()
    if isinstance(formulation, type) or not callable(formulation) or not hasattr(formulation, "needs_inertia"):
        raise UsageError(
            f"a formulation is a name (auto, {', '.join(FORMULATIONS)}) or an object such as Projection('skew') of "
            f"linkwright.mechanics.formulations, not {formulation!r:.60}."
        )
    return formulation


def registered(formulation: str | Formulation | None) -> str | Formulation | None:
    """The registered name of a formulation, or the object where its options are not the default; None for auto."""
    if formulation is None or (isinstance(formulation, str) and formulation == "auto"):
        return None
    made = create(formulation)
    return next((name for name, kind in FORMULATIONS.items() if made == kind()), made)


__all__ = [
    "FORMULATIONS", "Formulation", "Kkt", "Nullspace", "Projection", "RawSolution", "Slm", "Sslm",
    "constraint_force", "create", "registered",
]  # fmt: skip
