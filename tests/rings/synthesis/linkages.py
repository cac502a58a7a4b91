"""Four-bars and slider-cranks in closed form, for tests of the synthesis: written once more, by triangles."""

from __future__ import annotations

import numpy as np

from linkwright.rings.synthesis.linkage import Linkage


def four_bar(lengths: tuple[float, float, float, float], crank: np.ndarray, side: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Pins B and C of ground, crank, coupler, rocker (A at 0, D on the x axis) at crank angles; NaN where it does not close."""
    ground, a, b, c = lengths
    B = a * np.exp(1j * crank)
    apart = ground - B
    with np.errstate(invalid="ignore"):
        corner = np.arccos((np.abs(apart) ** 2 + b * b - c * c) / (2 * np.abs(apart) * b))
    return B, B + b * np.exp(1j * (np.angle(apart) + side * corner))


def coupler_poses(lengths: tuple[float, float, float, float], point: complex, crank: np.ndarray, side: float = 1.0) -> np.ndarray:
    """Poses (x, y, angle) of a frame on the coupler whose origin is at `point` from B, x along B C."""
    B, C = four_bar(lengths, crank, side)
    turn = (C - B) / np.abs(C - B)
    P = B + point * turn
    return np.column_stack([P.real, P.imag, np.angle(turn)])


def slider_poses(crank: float, coupler: float, offset: float, point: complex, angle: np.ndarray) -> np.ndarray:
    """The same of a slider-crank with its guide along x at a height."""
    B = crank * np.exp(1j * angle)
    C = B.real + np.sqrt(coupler**2 - (offset - B.imag) ** 2) + 1j * offset
    turn = (C - B) / coupler
    P = B + point * turn
    return np.column_stack([P.real, P.imag, np.angle(turn)])


def engine_poses(linkage: Linkage, angles: np.ndarray) -> np.ndarray:
    """Poses (x, y, angle) of the coupler by the real engine at angles of the drive A, from the drawn position on its branch."""
    import linkwright as lw

    system = lw.load(linkage.document()).system
    states = [system.assemble({"A": float(a)}) for a in angles]
    return np.array([[*np.asarray(st["coupler.P"])[:2], float(st["coupler.angle"])] for st in states])
