"""Baumgarte's stabilization: an open loop closes like a damped oscillator  [Hoang2023 (24), (25)].

    J a + k + 2 delta omega0 (J v + b) + omega0^2 phi = 0

It costs nothing and never jumps, but it is a part of the equations: an open loop pushes and pulls the mechanism until it has
closed, and the oscillator must be slow against the step (RK4 with delta = 1 is stable for omega0 * step < 2.78).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwright.errors import UsageError, call_explained
from linkwright.simulation.stabilizers.base import Addable, Correction

if TYPE_CHECKING:
    from linkwright.kernels.kernels import Kernels


@dataclass(frozen=True)
class Baumgarte(Addable):
    """Damping ratio delta (1: critical) and frequency omega0 in rad/s."""

    delta: float = 1.0
    omega0: float = 10.0

    name = "baumgarte"
    corrects = ""
    closes = False

    def __post_init__(self) -> None:
        for key in ("delta", "omega0"):
            value = getattr(self, key)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value < math.inf:
                raise UsageError(
                    f"{key} of Baumgarte's stabilization must be a positive number, not {value!r}. 'none' is without.",
                    name=key,
                    value=value,
                )

    @property
    def gains(self) -> tuple[float, float]:
        return 2.0 * float(self.delta) * float(self.omega0), float(self.omega0) ** 2

    @property
    def settings(self) -> dict[str, Any]:
        return {"stabilizer": self.name, "delta": float(self.delta), "omega0": float(self.omega0)}

    @property
    def text(self) -> str:
        return f"Baumgarte, delta {self.delta:g}, omega0 {self.omega0:g} rad/s"

    def correction(self, kernels: Kernels, q: Any, near: Any, drives: Sequence[str] = (), gains: bool = False) -> Correction | None:
        return None


@call_explained
def baumgarte(delta: float = 1.0, omega0: float = 10.0) -> Baumgarte:
    """Stabilize loops by 2 delta omega0 (J v + b) + omega0^2 phi in the equations: damping ratio and frequency in rad/s."""
    return Baumgarte(delta, omega0)
