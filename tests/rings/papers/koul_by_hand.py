"""The two examples of [Koul2013] written out by hand from its Tables 1 and 2, without the library: links as complex numbers.

A point of a planar tree is the sum over the links of z exp(i alpha), alpha = A theta + offset; with these z for the mass centers
and for the gaps of the cut joints, I, phi, J and Psi of (15)-(17) are a line each. The library's matrices and the numbers of
koul_reference.json are compared with them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from linkwright.rings.papers import koul_printed
from linkwright.rings.papers.koul_printed import Example, Matrices

GRAVITY = 9.81  # m/s^2 along -y; ours, the paper does not say
SIXTY = np.exp(1j * math.pi / 3)


@dataclass(frozen=True)
class Links:
    """A planar tree with cut joints: where mass centers and gaps are along the links."""

    example: Example
    centers: tuple[dict[int, complex], ...]  # mass center of each link: link -> z
    gaps: tuple[dict[int, complex], ...]  # of each cut joint, second end minus first
    masses: tuple[float, ...]
    inertias: tuple[float, ...]  # about the mass centers

    def matrices(self, theta: np.ndarray, rate: np.ndarray) -> Matrices:
        A, e = self.example.A, np.exp(1j * self.example.alpha(theta))
        turning = A @ rate
        center, gap = (_table(x, len(A)) * e for x in (self.centers, self.gaps))
        Jc, Jg = 1j * center @ A, 1j * gap @ A  # velocities of points by those of joints
        ac, ag = -center @ turning**2, -gap @ turning**2  # their accelerations without those of the joints
        m, signs = np.array(self.masses), np.array(self.example.signs)
        I = (Jc.conj().T * m @ Jc).real + A.T * np.array(self.inertias) @ A
        phi = (Jc.conj().T @ (m * (-1j * GRAVITY - ac))).real
        return Matrices(I, phi, signs[:, None] * _rows(Jg), -signs * _rows(ag))

    def coriolis(self, theta: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """Return C q': what phi loses by the motion."""
        return self.matrices(theta, 0.0 * rate).phi - self.matrices(theta, rate).phi


def _table(points: tuple[dict[int, complex], ...], links: int) -> np.ndarray:
    return np.array([[complex(p.get(k, 0.0)) for k in range(1, links + 1)] for p in points])


def _rows(z: np.ndarray) -> np.ndarray:
    """x and y of every point as rows of their own."""
    pairs = np.stack([np.real(z), np.imag(z)], axis=1)
    return pairs.reshape(2 * len(z), *z.shape[1:])


def rods(lengths: tuple[float, ...], masses: tuple[float, ...]) -> tuple[float, ...]:
    """Inertias of uniform rods about their middles."""
    return tuple(m * L**2 / 12.0 for L, m in zip(lengths, masses, strict=True))


A45 = 0.3346 - 0.239  # m: the pin P on link 4, printed as a difference only
SCRAPER = Links(
    koul_printed.SCRAPER,
    centers=(
        {1: 0.019}, {2: 0.0576}, {2: 0.1152}, {4: 0.1673}, {4: A45, 5: 0.1195}, {4: 0.3346, 6: 0.41825}, {4: 0.3346, 6: 0.239, 7: 0.1195},
    ),
    gaps=({2: 0.1152, 3: 0.1152, 1: -0.038}, {2: 0.1152, 3: -0.1152, 4: -A45, 5: -0.239}, {4: 0.3346 - A45, 6: 0.239, 7: 0.239, 5: -0.239}),
    masses=koul_printed.MASSES,
    inertias=rods(koul_printed.LENGTHS, koul_printed.MASSES),
)  # fmt: skip
# the triangle as a uniform plate has m s^2 / 12, as a rod of its side has
MANIPULATOR = Links(
    koul_printed.MANIPULATOR,
    centers=(
        {1: 0.2}, {1: 0.4, 2: 0.3}, {1: 0.4, 2: 0.6, 3: 0.4 / math.sqrt(3) * np.exp(1j * math.pi / 6)}, {1: 0.4, 2: 0.6, 3: 0.4, 4: 0.3},
        {1: 0.4, 2: 0.6, 3: 0.4 * SIXTY, 5: 0.3}, {6: 0.2}, {7: 0.2},
    ),
    gaps=({1: 0.4, 2: 0.6, 3: 0.4, 4: 0.6, 6: -0.4}, {1: 0.4, 2: 0.6, 3: 0.4 * SIXTY, 5: 0.6, 7: -0.4}),
    masses=koul_printed.RRR_MASSES,
    inertias=rods(koul_printed.RRR_LENGTHS, koul_printed.RRR_MASSES),
)  # fmt: skip
LINKS = {"carpet-scraper": SCRAPER, "3-rrr": MANIPULATOR}
TABLE_LENGTHS = koul_printed.APPENDIX_LENGTHS | {"a38": 0.2304, "a39": 0.2304, "a67": 0.8365}  # a3 and a6 read as lengths of Table 1
