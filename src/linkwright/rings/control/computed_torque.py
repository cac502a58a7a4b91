"""The classical inverse dynamics (computed torque): as many drives as coordinates, and efforts that give their accelerations.

    J_t G u = theta_d'' + G_D e' + G_P e - J_t a_0 - bias

On a mechanism with all its loops and as many drives as degrees of freedom this is `projected`, which has nothing left to minimize. With
`off=[...]` the controller does not know some of the constraints: it commands the directions they hold as well, stiffly, and a
small error in where they are becomes a large force  [Aghili2005 IX-B].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkwright.api import UsageError
from linkwright.rings.control.projected import Projected


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ComputedTorque(Projected):
    """`lw.control.computed_torque(reference, P=..., D=...)`."""

    kind = "computed_torque"

    def prepared(self, bound: Any) -> Projected:
        n, p = bound.n_tasks, len(bound.targets)
        if n != p:
            drives, followed = ", ".join(x.name for x in bound.targets), ", ".join(bound.labels)
            raise UsageError(
                f"computed_torque follows as many coordinates as it has drives; here {n} ({followed}) with {p} drives ({drives}). "
                "Name other drives=[...], or use lw.control.projected, which shares the work among redundant drives."
            )
        return super().prepared(bound)
