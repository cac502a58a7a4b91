"""Printed data of [Koul2013]: Table 1, how its rows and columns are ordered, and the Jacobians of Appendix A.1 and A.2 as printed.

`reference(name)` are the matrices of (15)-(17) of both examples from a derivation without the library, link by link in complex
numbers: koul_reference.json, written by `tests/data/generate/koul_matrices.py`; `tests/rings/papers/koul_by_hand.py` has the derivation.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Matrices(NamedTuple):
    """I q'' = phi + J' lambda, J q'' = Psi  [Koul2013 (16)], gravity included in phi."""

    I: np.ndarray
    phi: np.ndarray
    J: np.ndarray
    Psi: np.ndarray

    @property
    def gicm(self) -> np.ndarray:
        """(22): J I^-1 J'."""
        return self.J @ np.linalg.solve(self.I, self.J.T)

    @property
    def Psi_bar(self) -> np.ndarray:
        return self.Psi - self.J @ np.linalg.solve(self.I, self.phi)


@dataclass(frozen=True)
class Example:
    """A planar tree with cut joints in the paper's numbering: angles of the links, rows and columns of J."""

    hangs: tuple[tuple[int, ...], ...]  # joints that turn each link, counted from 1
    offsets: tuple[float, ...]  # alpha - sum of theta, rad
    signs: tuple[int, ...]  # of the rows of J as printed
    columns: tuple[slice, ...]  # subsystems

    @property
    def A(self) -> np.ndarray:
        return np.array([[float(j in joints) for j in range(1, len(self.hangs) + 1)] for joints in self.hangs])

    def alpha(self, theta: np.ndarray) -> np.ndarray:
        """Return the angles of the links with the horizontal."""
        return self.A @ theta + np.array(self.offsets)

    def block(self, J: np.ndarray, i: int, j: int) -> np.ndarray:
        """Return J_ij, counted from 1."""
        return J[2 * i - 2 : 2 * i, self.columns[j - 1]]


class PrintedMatrices(NamedTuple):
    """Matrices at the start of Table 2; I and C q' of (4) at a state in motion."""

    start: Matrices
    moving_I: np.ndarray
    moving_C: np.ndarray


@cache
def reference(name: str) -> PrintedMatrices:
    """Return the reference matrices of a model, in the paper's rows and columns."""
    found = json.loads(Path(__file__).with_name("koul_reference.json").read_text(encoding="utf-8"))[name]
    values = {key: np.array(x) for key, x in found.items()}
    return PrintedMatrices(Matrices(*(values[key] for key in Matrices._fields)), values["moving_I"], values["moving_C"])


# -------------------------------------------------------------------- Table 1 and the figures

LENGTHS = (0.038, 0.1152, 0.2304, 0.3346, 0.239, 0.8365, 0.239)  # m, Table 1
MASSES = (1.5, 3.0, 5.0, 4.2, 3.0, 10.5, 3.0)  # kg
SCRAPER = Example(
    hangs=((1,), (2,), (2, 3), (4,), (4, 5), (4, 6), (4, 6, 7)),
    offsets=(0.0, 0.0, math.pi, 0.0, -2.0 * math.pi, -2.0 * math.pi, -4.0 * math.pi),  # alpha_3 points from joint 3 to joint 8
    signs=(1, -1, 1, 1, 1, 1),  # the y row of loop 1 is crank minus coupler
    columns=(slice(0, 1), slice(1, 3), slice(3, 7)),
)

RRR_LENGTHS = (0.4, 0.6, 0.4, 0.6, 0.6, 0.4, 0.4)  # m, Table 1; link 3 is a triangle of this side
RRR_MASSES = (3.0, 4.0, 8.0, 4.0, 4.0, 3.0, 3.0)  # kg
MANIPULATOR = Example(
    hangs=((1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), (1, 2, 3, 5), (6,), (7,)),
    offsets=(0.0, 0.0, 0.0, 0.0, math.pi / 3, 0.0, 0.0),  # theta_5 counts from the edge to joint 5
    signs=(1, 1, 1, 1),
    columns=(slice(0, 5), slice(5, 6), slice(6, 7)),
)

# -------------------------------------------------------------------- Appendix A.1 and A.2

APPENDIX_LENGTHS = {"a1": 0.038, "a2": 0.1152, "a38": 0.1152, "a39": 0.1152, "a46": 0.3346, "a56": 0.239, "a59": 0.239} | {
    "a67": 0.239,
    "a97": 0.239,
}


def printed_scraper(theta: np.ndarray, *, corrected: bool, lengths: dict[str, float] | None = None) -> np.ndarray:
    """J of (25) with the blocks of A.1; `corrected`: J22(2,1) with + a2 c2."""
    a1, a2, a38, a39, a46, a56, a59, a67, a97 = (lengths or APPENDIX_LENGTHS).values()
    alpha = SCRAPER.alpha(theta)
    (s1, s2, s3, s4, s5, s6, s7), (c1, c2, c3, c4, c5, c6, c7) = np.sin(alpha), np.cos(alpha)
    sign = 1.0 if corrected else -1.0
    J = np.zeros((6, 7))
    J[0:2, 0] = a1 * s1, a1 * c1
    J[0:2, 1:3] = [[-a2 * s2 - a38 * s3, -a38 * s3], [-a2 * c2 - a38 * c3, -a38 * c3]]
    J[2:4, 1:3] = [[-a2 * s2 + a39 * s3, a39 * s3], [sign * a2 * c2 - a39 * c3, -a39 * c3]]
    J[2:4, 3:5] = [[a59 * s5 + (a46 - a56) * s4, a59 * s5], [-a59 * c5 - (a46 - a56) * c4, -a59 * c5]]
    J[4, 3:] = -a46 * s4 - a67 * s6 - a97 * s7 + a59 * s5 + (a46 - a56) * s4, a59 * s5, -a67 * s6 - a97 * s7, -a97 * s7
    J[5, 3:] = a46 * c4 + a67 * c6 + a97 * c7 - a59 * c5 - (a46 - a56) * c4, -a59 * c5, a67 * c6 + a97 * c7, a97 * c7
    return J


def printed_manipulator(theta: np.ndarray, *, corrected: bool) -> np.ndarray:
    """J of (36) with the blocks of A.2; `corrected`: J11(2,1) and J11(2,2) with + d1 c7."""
    a, b, d1 = 0.4, 0.6, 0.4
    t1, t2, t3, t4, t5, t6, t7 = theta
    platform = t1 + t2 + t3
    alpha = np.array(
        [t1, t6, t7, t1 + t2, platform + t4 - math.pi, platform + t5 - (math.pi - math.pi / 3), platform, platform + math.pi / 3]
    )
    (s1, s2, s3, s4, s5, s6, s7, s7d), (c1, c2, c3, c4, c5, c6, c7, c7d) = np.sin(alpha), np.cos(alpha)
    sign = 1.0 if corrected else -1.0
    J = np.zeros((4, 7))
    J[0, :4] = -a * s1 - b * s4 - d1 * s7 + b * s5, -b * s4 - d1 * s7 + b * s5, -d1 * s7 + b * s5, b * s5
    J[1, :4] = a * c1 + b * c4 + sign * d1 * c7 - b * c5, b * c4 + sign * d1 * c7 - b * c5, d1 * c7 - b * c5, -b * c5
    J[2, :3] = -a * s1 - b * s4 - d1 * s7d + b * s6, -b * s4 - d1 * s7d + b * s6, -d1 * s7d + b * s6
    J[3, :3] = a * c1 + b * c4 + d1 * c7d - b * c6, b * c4 + d1 * c7d - b * c6, d1 * c7d - b * c6
    J[2:4, 4] = b * s6, -b * c6
    J[0:2, 5] = a * s2, -a * c2
    J[2:4, 6] = a * s3, -a * c3
    return J
