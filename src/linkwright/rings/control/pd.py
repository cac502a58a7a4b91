"""Springs and dampers to a reference: efforts G_P e + G_D e' in the coordinates followed.

Where these are the drives' own, the efforts are that. Elsewhere (a point, a pose, a passive joint) the drives give what springs
and dampers at these coordinates would: the same accelerations of them, with least efforts. `gravity=True` adds what holds the
mechanism where it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from linkwright.api import Control, Situation, feedback
from linkwright.rings.control.gains import filled
from linkwright.simulation.feedback.task_coordinates import CoordinateTask


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Pd(Control):
    """`lw.control.pd(reference, P=..., D=...)`."""

    P: Any = 100.0  # effort per unit of error
    D: Any = None
    gravity: bool = False
    kind = "pd"
    solves = False

    def prepared(self, bound: Any) -> Pd:
        P, D = filled(self.P, self.D, bound.labels, self.kind)
        return replace(self, P=P, D=D)

    def command(self, at: Situation) -> feedback.Command:
        springs = self.P * at.error + self.D * at.error_rate
        mine = self._places(at)
        if mine is not None:
            efforts, authority, damped = [springs[i] for i in mine], 1.0, 0.0
        else:
            found = at.solve(self.outputs(at), at.J @ at.pushed(at.J.T @ springs))
            efforts, authority, damped = found.efforts, found.authority, found.damped
        if self.gravity:
            still = at.at_rest()
            held = still.solve(self.outputs(still), -(still.J @ still.model.a))
            efforts = [u + w for u, w in zip(efforts, held.efforts, strict=True)]
            authority, damped = held.authority, held.damped
        return feedback.Command(efforts, authority=authority, damped=damped)

    @staticmethod
    def _places(at: Situation) -> list[int] | None:
        """Places of the drives' own coordinates among those followed; None if they are not all of these."""
        tasks = at.bound.tasks
        names = [t.name if isinstance(t, CoordinateTask) else "" for t in tasks]
        drives = [x.name for x in at.bound.targets]
        if len(names) != len(drives) or set(names) != set(drives):
            return None
        return [names.index(d) for d in drives]
