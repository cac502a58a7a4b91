"""No stabilization: loops drift apart, as the square of time for errors of the velocity. For comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwright.simulation.stabilizers.base import Addable, Correction

if TYPE_CHECKING:
    from linkwright.kernels.kernels import Kernels


@dataclass(frozen=True)
class Nothing(Addable):
    """Loops are left to drift."""

    name = "none"
    gains = None
    corrects = ""
    closes = False
    text = "none: loops drift"

    @property
    def settings(self) -> dict[str, Any]:
        return {"stabilizer": self.name}

    def correction(self, kernels: Kernels, q: Any, near: Any, drives: Sequence[str] = (), gains: bool = False) -> Correction | None:
        return None
