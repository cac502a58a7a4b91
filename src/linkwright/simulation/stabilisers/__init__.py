"""How a run keeps its loops closed: four stabilisers behind one contract, and their combination.

    none          nothing is done: for comparison
    baumgarte     2 delta omega0 (J v + b) + omega0^2 phi in the equations             [Hoang2023 (24), (25)]
    post_adjust   dependent coordinates are adjusted after every step                  [Hoang2023 (26)-(34)]
    project       everything is projected onto the loops in the mass metric after every step: the default

`create` takes a name, an object with options or a combination: "project", Baumgarte(1, 50), ["baumgarte", "post_adjust"],
"baumgarte+post_adjust", Baumgarte() + PostAdjust(). Any works with any formulation. docs/stabilisation.md compares them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwright.errors import UsageError, nearest
from linkwright.simulation.stabilisers.base import Combined, Correction, Stabiliser, combined
from linkwright.simulation.stabilisers.baumgarte import Baumgarte
from linkwright.simulation.stabilisers.none import Nothing
from linkwright.simulation.stabilisers.post_adjust import PostAdjust
from linkwright.simulation.stabilisers.project import Project

STABILISERS: dict[str, Any] = {"none": Nothing, "baumgarte": Baumgarte, "post_adjust": PostAdjust, "project": Project}


def create(stabiliser: str | Stabiliser | Sequence[Any]) -> Stabiliser:
    """A stabiliser by name, the object itself, or several as one."""
    if isinstance(stabiliser, str):
        names = [n.strip() for n in stabiliser.split("+")]
        for n in names:
            if n not in STABILISERS:
                raise UsageError(f"there is no stabiliser '{n}'. {nearest(n, STABILISERS, 'Stabilisers')}")
        return combined([STABILISERS[n]() for n in names])
    if isinstance(stabiliser, Sequence):
        return combined([create(x) for x in stabiliser])
    if isinstance(stabiliser, type) or not hasattr(stabiliser, "correction"):
        raise UsageError(
            f"a stabiliser is a name ({', '.join(STABILISERS)}), an object such as Baumgarte(1, 50) or a list; not {stabiliser!r}."
        )
    return stabiliser


__all__ = ["STABILISERS", "Baumgarte", "Combined", "Correction", "Nothing", "PostAdjust", "Project", "Stabiliser", "create"]
