"""Plays of a model: how far an output moves within one, for the forces that a unit load on the output makes in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwright.numerics.tolerances import SQUARE_FLOOR

ENTRIES = 5  # of a play: force x, y, z and moment of a pin or block, force of a row


@dataclass(frozen=True)
class Play:
    """A play: the joint whose clearance it is or the row of a constraint, and half its size; `length` is that of a block."""

    name: str
    half: float
    joint: str = ""
    row: str = ""
    length: float | None = None

    def within(self, y: np.ndarray) -> np.ndarray:
        """How far the output moves, for forces (n, entries); also for complex numbers, by whose imaginary parts it is differentiated."""
        if self.row:
            return self.half * _positive(y[:, 4])
        if self.length is None:
            return self.half * np.sqrt(y[:, 0] ** 2 + y[:, 1] ** 2 + y[:, 2] ** 2 + SQUARE_FLOOR)
        shifted, tilted = _positive(y[:, 1]), 2.0 / self.length * _positive(y[:, 3])
        return self.half * np.where(shifted.real > tilted.real, shifted, tilted)


def _positive(y: np.ndarray) -> np.ndarray:
    return np.where(y.real < 0.0, -y, y)
