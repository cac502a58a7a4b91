"""Forward dynamics by six interchangeable formulations: accelerations and loop multipliers from one set of terms.

    kkt         one saddle-point system for everything                         [Koul2013 (9)]
    slm         system-level multipliers, then accelerations                   [Koul2013 (10), (11)]
    sslm        subsystem-level multipliers: block by block, loop by loop      [Koul2013 (15)-(24)]
    nullspace   multipliers eliminated by a null-space matrix                  [Hoang2023 (19)-(23)]
    projection  projection operator, three constraint inertia matrices         [Aghili2005 (17)-(32)]
    augmented   augmented Lagrangian: penalty, multipliers by iteration        [Bayo1988]

A formulation is a frozen object called with (terms, tau); it gives raw accelerations and multipliers. What they share
(rank, redundant rows, singular passages, the choice of least reactions) is written once in `forward`. `auto` is sslm with
its pivots watched. Adding one: a file and a line in `FORMULATIONS`. All else (which are compiled, compared, offered on the
command line) follows from the registry and from what the class says of itself (`base`); the registry-wide tests check it at once.
"""

from __future__ import annotations

from typing import Any

from linkwright.errors import UsageError, nearest
from linkwright.mechanics.formulations.augmented import AugmentedLagrangian
from linkwright.mechanics.formulations.base import Formulation, RawSolution, constraint_force
from linkwright.mechanics.formulations.kkt import Kkt
from linkwright.mechanics.formulations.nullspace import Nullspace
from linkwright.mechanics.formulations.projection import Projection
from linkwright.mechanics.formulations.slm import Slm
from linkwright.mechanics.formulations.sslm import Sslm

FORMULATIONS: dict[str, type[Formulation]] = {
    "kkt": Kkt,
    "slm": Slm,
    "sslm": Sslm,
    "nullspace": Nullspace,
    "projection": Projection,
    "augmented": AugmentedLagrangian,
}


def create(formulation: str | Formulation) -> Formulation:
    """A formulation by name, or the object itself."""
    if isinstance(formulation, str):
        if formulation not in FORMULATIONS:
            raise UsageError(f"there is no formulation '{formulation}'.", nearest(formulation, ["auto", *FORMULATIONS], "Formulations"))
        return FORMULATIONS[formulation]()
    if isinstance(formulation, type) or not callable(formulation) or not hasattr(formulation, "needs_inertia"):
        raise UsageError(
            f"a formulation is a name (auto, {', '.join(FORMULATIONS)}) or an object such as Projection('skew') of "
            f"lw.formulations, not {formulation!r:.60}.",
            value=formulation,
            name="formulation",
        )
    return formulation


def registered(formulation: str | Formulation | None) -> str | Formulation | None:
    """The registered name of a formulation, or the object where its options are not the default; None for auto."""
    if formulation is None or (isinstance(formulation, str) and formulation == "auto"):
        return None
    made = create(formulation)
    return next((name for name, kind in FORMULATIONS.items() if made == kind()), made)


def family(formulation: str | Formulation) -> str:
    """The registered name of a formulation with any options; what an object of a class that is not registered says of itself."""
    if isinstance(formulation, str):
        return formulation
    return next((name for name, kind in FORMULATIONS.items() if type(formulation) is kind), repr(formulation))


def traced(name: str) -> Formulation | None:
    """The object that kernels trace for a registered formulation; None where they have none."""
    return FORMULATIONS[name]().traced()


def compiled() -> tuple[str, ...]:
    """Names of the formulations that kernels have."""
    return tuple(name for name in FORMULATIONS if traced(name) is not None)


def has_kernel(formulation: Any) -> bool:
    """True for auto, and for names of formulations that kernels have."""
    if formulation is None or not isinstance(formulation, str):
        return formulation is None
    return formulation == "auto" or (formulation in FORMULATIONS and traced(formulation) is not None)


def compiled_as(formulation: str | Formulation | None) -> str:
    """Name under which kernels have a formulation (sslm for auto); raise an error that says which they have, and who solves by others."""
    found = formulation if isinstance(formulation, str) else registered(formulation)
    if found is None or found == "auto":
        return "sslm"
    if isinstance(found, str) and has_kernel(found):
        return found
    able = compiled()
    if not isinstance(found, str):
        raise UsageError(f"a kernel's formulation is one of {', '.join(able)}, not {found!r:.60}.", value=found, allowed=able)
    if found not in FORMULATIONS:
        raise UsageError(f"there is no formulation '{found}'.", nearest(found, able, "Formulations of kernels"))
    raise UsageError(
        f"the formulation '{found}' is not compiled. Kernels have {', '.join(able)}. "
        f"s.forward(st, formulation='{found}') and s.simulate(st, 1, formulation='{found}') solve by it in Python.",
        name=found,
    )


def interpreted() -> tuple[str, ...]:
    """Names of the formulations that run in Python only."""
    return tuple(name for name in FORMULATIONS if traced(name) is None)


__all__ = [
    "FORMULATIONS", "AugmentedLagrangian", "Formulation", "Kkt", "Nullspace", "Projection", "RawSolution", "Slm", "Sslm",
    "constraint_force", "create",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
