"""Mass data as other programs accept them: a floor for massless bodies and thin rods, moments that a real body can have."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwright.api import System, UsageError, compiled_of


class Solid(NamedTuple):
    """Mass, center in the body's frame, inertia about the center in the body's axes; `raised`: more than the model gave."""

    mass: float
    com: np.ndarray
    inertia: np.ndarray
    raised: bool


def need_floor(floor: float) -> None:
    """Raise UsageError unless a least share of inertia is a number from 0 to 1."""
    if not isinstance(floor, (int, float)) or not 0.0 <= floor <= 1.0:
        raise UsageError(f"floor is a share of the mechanism's inertia, from 0 to 1, not {floor!r}.", name="floor", value=floor)


def solids(system: System, floor: float, *, realistic: bool = False) -> list[Solid]:
    """Mass data of all nodes, none below `floor` times the mechanism's mass and mass times length squared.

    `realistic` also makes the principal moments satisfy A + B >= C. In a plane only the moment about z counts, so it is
    written to all three axes; in space the smallest moment is raised by what is missing.
    """
    skel = compiled_of(system).skel
    total = float(sum(skel.mass)) or 1.0
    size = compiled_of(system).loops.kappa
    out = []
    for mass, com, inertia in zip(skel.mass, skel.com, skel.inertia, strict=True):
        I = np.asarray(inertia, float)
        if realistic and system.description.planar:
            I = np.eye(3) * I[2, 2]
        m, I, raised = _raised(float(mass), I, floor * total, floor * total * size * size, realistic)
        out.append(Solid(m, np.asarray(com, float), I, raised))
    return out


def _raised(mass: float, I: np.ndarray, least_mass: float, least_moment: float, realistic: bool) -> tuple[float, np.ndarray, bool]:
    moments, axes = np.linalg.eigh(I)
    wanted = np.maximum(moments, least_moment)
    if realistic:
        short = wanted[2] * (1.0 + 1e-12) - wanted[0] - wanted[1]  # 1e-12: a flat plate must still pass after rounding
        wanted[0] += max(0.0, short)
    raised = mass < least_mass or bool((moments < least_moment).any())
    if (wanted == moments).all():
        return max(mass, least_mass), I, raised
    return max(mass, least_mass), (axes * wanted) @ axes.T, raised
