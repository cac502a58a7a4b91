"""Terms of efforts along coordinates as a function of a state: the kernel of dry friction in joints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.mechanics.dynamics import coordinate_efforts
from linkwright.mechanics.dynamics.coordinate_efforts import EffortRows, EffortTerms
from linkwright.mechanics.kinematics.motion import qdot

if TYPE_CHECKING:
    from linkwright.kernels.equations.dynamic import Equations


class EffortEquations(NamedTuple):
    """`EffortTerms` of some rows, for efforts tau of everything else."""

    rows: EffortRows

    def __call__(self, eq: Equations, q: Any, v: Any, t: Any, near: Any, tau: Any) -> dict[str, Any]:
        place, skel = eq.place(q, v, t, near), eq.loops.skel
        read = self.rows.at(place)
        base, answers = eq.forward(q, v, tau, t, near), eq.responses(q, v, read.J.T, t, near)
        calm, drivers = coordinate_efforts.calm(place), slice(len(base["lam"]) - len(eq.drivers), None)
        dF, X = [], []
        for w, a, lam in zip(read.pushes, answers["G"].T, answers["L"].T, strict=True):
            dF.append(self.rows.changes(calm, w, a, lam))
            power = -(place.closure.b[drivers] @ lam[drivers]) if eq.drivers else 0.0
            X.append(np.concatenate([qdot(skel, q, a), a, np.array([power])]))
        F = self.rows.joint_forces(place, base["a"], base["lam"])
        out = EffortTerms(read.value, read.k, read.J, np.array(X), F, np.concatenate(dF, axis=1), self.rows.turns(place, read.J))
        return {**out._asdict(), "margin": base["margin"]}
