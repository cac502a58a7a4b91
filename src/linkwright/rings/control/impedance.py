"""Impedance control: the coordinates followed behave toward outer forces as a mass, a damper and a spring would.

    M (x'' - x_d'') + D (x' - x_d') + K (x - x_d) = f

x are joint coordinates, points or poses, f the forces on them that the controller's model does not have: loads left out by `off`,
`wrench=` and other drives. With a = a_0 + G u, rows J of x and the mobility Y = J M_c^-1 J' (the inverse of the inertia felt at x, the
loops closed)

    J G u = x_d'' - bias - J a_0 + M^-1 (K e + D e' + f) - Y f,     |u|_W least          M given: f is measured by a force sensor
    J G u = x_d'' - bias - J a_0 + Y (K e + D e')                                        the mechanism's own inertia: M = Y^-1, no sensor

The second is the first with M = Y^-1: f falls out, so that no force sensor is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwright.api import Control, Situation, UsageError, feedback
from linkwright.rings.control.gains import gain_matrix


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Impedance(Control):
    """`lw.control.impedance(reference, K=..., D=..., M=...)`; matrices once it is at its place."""

    K: Any  # N/m, N m/rad
    D: Any = None  # times s; None: critically damped
    M: Any = None  # kg, kg m^2; None: that of the mechanism
    kind = "impedance"

    def prepared(self, bound: Any) -> Impedance:
        labels = bound.labels
        K = gain_matrix(self.K, labels, "impedance: K")
        M = None if self.M is None else gain_matrix(self.M, labels, "impedance: M", definite=True)
        D = _critical(_inertia(bound) if M is None else M, K) if self.D is None else gain_matrix(self.D, labels, "impedance: D")
        return replace(self, K=K, D=D, M=M)

    def continued(self, before: Control) -> Control:
        """Damping stays as chosen at the start of a run."""
        assert isinstance(before, Impedance)
        return replace(self, D=before.D)

    def sensors(self, bound: Any) -> Sequence[feedback.ForceSensor]:
        """Of the force on each coordinate, where the mass is not the mechanism's own."""
        if self.M is None:
            return ()
        pairs = zip(bound.labels, bound.kinds, strict=True)
        return [feedback.ForceSensor(label, "force" if kind == "length" else "torque") for label, kind in pairs]

    def channels(self, bound: Any) -> Mapping[str, str]:
        return {f"control.{s.name}.sensed": s.kind for s in self.sensors(bound)}

    def command(self, at: Situation) -> feedback.Command:
        springs = self.K @ at.error + self.D @ at.error_rate
        felt: Any = ()
        if self.M is None:
            wanted = at.mobility @ springs
        else:
            felt = at.contact
            wanted = np.linalg.inv(self.M) @ (springs + felt) - at.mobility @ felt
        found = at.solve(self.outputs(at), at.wanted_rest - at.J @ at.model.a + wanted)
        return feedback.Command(found.efforts, authority=found.authority, damped=found.damped, records=list(felt))


def _inertia(bound: Any) -> np.ndarray:
    """Inertia felt at the coordinates where the controller begins."""
    there = {"ref": np.asarray(bound.reference(bound.start["t"][0]), dtype=float), "state": np.zeros(0), "other": np.zeros(0)}
    mobility = np.asarray(Situation(bound, {**bound.start, **there}, safe=True).mobility, dtype=float)
    symmetric = 0.5 * (mobility + mobility.T)
    s = np.linalg.eigvalsh(symmetric)
    if not s.min(initial=1.0) > 1e-12 * s.max(initial=0.0):
        raise UsageError(
            f"impedance: the coordinates {', '.join(bound.labels)} depend on each other or cannot move here, so that they have no inertia "
            "to choose the damping by. Follow others, start elsewhere, or give D."
        )
    return np.linalg.inv(symmetric)


def _critical(M: np.ndarray, K: np.ndarray) -> np.ndarray:
    """D of M x'' + D x' + K x = 0 that makes every mode critically damped: with M = C C', D = 2 C (C^-1 K C^-T)^(1/2) C'."""
    C = np.linalg.cholesky(M)
    inner = np.linalg.solve(C, np.linalg.solve(C, K).T)
    s, V = np.linalg.eigh(0.5 * (inner + inner.T))
    return 2.0 * C @ (V * np.sqrt(np.maximum(s, 0.0))) @ V.T @ C.T
