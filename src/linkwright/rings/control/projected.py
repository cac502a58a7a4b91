"""Projected inverse dynamics: the motion that is wanted with the least efforts that give it  [Aghili2005 VII-A, B, D].

    f = P (h + M u_p),   u_p = Lambda' rate theta' + Lambda (theta_d'' + G_D e' + G_P e)                         (43), (44)

is, among all efforts that give theta'' = theta_d'' + G_D e' + G_P e, the one of least norm in the metric W^-1 (46), (47). With
the drives' response a = a_0 + G u and the rows J_t of theta this is

    J_t G u = theta_d'' + G_D e' + G_P e - J_t a_0 - bias,     |u|_W least,

which asks for no projector and holds for any subset of drives: for passive joints it is f = (1 + H) f_par (60), because adding
forces that only load the constraints is all that H does. The error obeys e'' + G_D e' + G_P e = 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from linkwright.api import Control, Situation, feedback
from linkwright.rings.control.gains import filled


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Projected(Control):
    """`lw.control.projected(reference, P=..., D=...)`."""

    P: Any = 100.0  # 1/s^2
    D: Any = None  # 1/s; default 2 sqrt(P): no overshoot
    kind = "projected"

    def prepared(self, bound: Any) -> Projected:
        P, D = filled(self.P, self.D, bound.labels, self.kind)
        return replace(self, P=P, D=D)

    def right(self, at: Situation) -> Any:
        """Accelerations of the coordinates followed that the drives must add."""
        return at.wanted_rest + self.P * at.error + self.D * at.error_rate - at.J @ at.model.a

    def command(self, at: Situation) -> feedback.Command:
        found = at.solve(self.outputs(at), self.right(at))
        return feedback.Command(found.efforts, authority=found.authority, damped=found.damped)
