"""Crank chains in slack parameters: four-bar and slider-crank whose crank turns fully, whatever the numbers, and their coupler's angle.

Lengths are linear in a `shape` whose entries are not negative; the set of all shapes is exactly the set of linkages with a full turn,
so that every candidate of a search closes at every crank angle, on one circuit for each sign sigma. Faces (a slack of zero) are linkages
with a change point.

    four-bar       crank s, ground s + (b+c)/2, coupler s + (a+c)/2, rocker s + (a+b)/2; of a drag link ground and crank are exchanged
    slider-crank   crank s, coupler s + (a+b)/2, offset (b-a)/2

In the frame of the ground link (crank pivot at 0, rocker pivot at r1; the guide along x at the height of the offset) the coupler's pin is
r2 e^(i theta), its angle phi: `coupler` gives e^(i phi), `rates` the exact derivatives of phi. Arrays are candidates by positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

Array = np.ndarray
NEAR_DEAD = 1e-9  # of sin(transmission angle): derivatives are limited there


class Chain(Protocol):
    """A linkage with one crank in slack parameters."""

    name: str
    kinds: tuple[str, ...]  # by number: choices of a candidate
    links: tuple[str, ...]  # names of the lengths
    crank: int  # place of the crank among them
    lengths_of: Array  # (kinds, links, shape)

    def coupler(self, shape: Array, kind: Array, sigma: Array, theta: Array) -> Array:
        """Return e^(i phi) (N, n)."""
        ...

    def rates(self, shape: Array, kind: Array, theta: Array, coupler: Array) -> tuple[Array, Array]:
        """Return dphi/dshape (N, n, shape) and dphi/dtheta (N, n)."""
        ...

    def transmission(self, shape: Array, kind: Array, least: float) -> tuple[Array, Array]:
        """Return values (N, rows) that are 0 or less where the transmission angle is at least `least` over the cycle, and derivatives."""
        ...


def lengths(chain: Chain, shape: Array, kind: Array) -> Array:
    """Return the lengths (N, links) of shapes (N, shape)."""
    return _sizes(chain.lengths_of, shape, kind)


def _sizes(lengths_of: Array, shape: Array, kind: Array) -> Array:
    return np.einsum("nls,ns->nl", lengths_of[kind], shape)


@dataclass(frozen=True, eq=False)
class FourBarChain:
    """Ground, crank, coupler, rocker; crank-rocker (crank shortest) or drag link (ground shortest)."""

    name: str = "four-bar"
    kinds: tuple[str, ...] = ("crank-rocker", "drag link")
    links: tuple[str, ...] = ("ground", "crank", "coupler", "rocker")
    crank: int = 1

    @property
    def lengths_of(self) -> Array:
        return _FOUR_BAR

    def coupler(self, shape: Array, kind: Array, sigma: Array, theta: Array) -> Array:
        r1, r2, r3, r4 = (x[:, None] for x in _sizes(self.lengths_of, shape, kind).T)
        diagonal = r1 - r2 * np.exp(1j * theta)
        distance = np.maximum(np.abs(diagonal), 1e-12 * r1)
        cosine = np.clip((r3 * r3 - r4 * r4 + distance * distance) / (2.0 * r3 * distance), -1.0, 1.0)
        return diagonal / distance * (cosine + 1j * sigma[:, None] * np.sqrt(1.0 - cosine * cosine))

    def rates(self, shape: Array, kind: Array, theta: Array, coupler: Array) -> tuple[Array, Array]:
        r1, r2, r3, r4 = (x[:, None] for x in _sizes(self.lengths_of, shape, kind).T)
        turn = np.exp(1j * theta)
        pin = r2 * turn
        rocker = pin + r3 * coupler - r1  # of length r4
        # the loop |rocker|^2 = r4^2 differentiated: rate dphi = r4 dr4 + Re(rocker) dr1 - Re(conj(rocker) (e^(i theta) dr2 + ...))
        rate = np.imag(rocker * np.conj(r3 * coupler))  # +- r3 r4 sin(transmission angle)
        least = NEAR_DEAD * r3 * r4
        rate = np.where(np.abs(rate) < least, np.where(rate < 0.0, -least, least), rate)
        back = np.conj(rocker)
        by_length = np.stack([rocker.real, -(back * turn).real, -(back * coupler).real, np.broadcast_to(r4, rate.shape)], axis=-1)
        by_length /= rate[..., None]
        return by_length @ self.lengths_of[kind], (back * pin).imag / rate

    def transmission(self, shape: Array, kind: Array, least: float) -> tuple[Array, Array]:
        """The law of cosines for the longest and the shortest distance between crank pin and rocker pivot."""
        size = _sizes(self.lengths_of, shape, kind)
        r1, r2, r3, r4 = size.T
        cosine = np.cos(least)
        far, near = r1 + r2, r1 - r2
        one = np.zeros(r1.shape)
        at_near = r3 * r3 + r4 * r4 - 2.0 * r3 * r4 * cosine - near * near
        at_far = far * far - r3 * r3 - r4 * r4 - 2.0 * r3 * r4 * cosine
        by_near = np.stack([one - 2.0 * near, one + 2.0 * near, 2.0 * (r3 - r4 * cosine), 2.0 * (r4 - r3 * cosine)], axis=-1)
        by_far = np.stack([one + 2.0 * far, one + 2.0 * far, -2.0 * (r3 + r4 * cosine), -2.0 * (r4 + r3 * cosine)], axis=-1)
        return np.stack([at_near, at_far], axis=-1), np.stack([by_near, by_far], axis=1) @ self.lengths_of[kind]


@dataclass(frozen=True, eq=False)
class SliderCrankChain:
    """Crank, coupler and offset of the guide; the coupler's far pin moves along the guide."""

    name: str = "slider-crank"
    kinds: tuple[str, ...] = ("slider-crank",)
    links: tuple[str, ...] = ("crank", "coupler", "offset")
    crank: int = 0

    @property
    def lengths_of(self) -> Array:
        return _SLIDER_CRANK

    def coupler(self, shape: Array, kind: Array, sigma: Array, theta: Array) -> Array:
        r2, r3, offset = (x[:, None] for x in _sizes(self.lengths_of, shape, kind).T)
        sine = np.clip((offset - r2 * np.sin(theta)) / r3, -1.0, 1.0)
        return sigma[:, None] * np.sqrt(1.0 - sine * sine) + 1j * sine

    def rates(self, shape: Array, kind: Array, theta: Array, coupler: Array) -> tuple[Array, Array]:
        r2, r3, _ = (x[:, None] for x in _sizes(self.lengths_of, shape, kind).T)
        # r2 sin(theta) + r3 sin(phi) = offset differentiated
        rate = r3 * coupler.real
        least = NEAR_DEAD * r3
        rate = np.where(np.abs(rate) < least, np.where(rate < 0.0, -least, least), rate)
        by_length = np.stack([-np.sin(theta), -coupler.imag, np.ones_like(rate)], axis=-1) / rate[..., None]
        return by_length @ self.lengths_of[kind], -r2 * np.cos(theta) / rate

    def transmission(self, shape: Array, kind: Array, least: float) -> tuple[Array, Array]:
        """Between coupler and the normal of the guide: |sin(phi)| <= cos(least) at both heights of the crank pin."""
        rows = np.array([[1.0, -np.cos(least), 1.0], [1.0, -np.cos(least), -1.0]])
        derivative = rows @ self.lengths_of[kind]
        return np.einsum("nrs,ns->nr", derivative, shape), derivative


# ground, crank, coupler, rocker from (shortest, a, b, c)
_FOUR_BAR = np.array(
    [
        [[1.0, 0.0, 0.5, 0.5], [1.0, 0.0, 0.0, 0.0], [1.0, 0.5, 0.0, 0.5], [1.0, 0.5, 0.5, 0.0]],
        [[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.5, 0.5], [1.0, 0.5, 0.0, 0.5], [1.0, 0.5, 0.5, 0.0]],
    ]
)
_SLIDER_CRANK = np.array([[[1.0, 0.0, 0.0], [1.0, 0.5, 0.5], [0.0, -0.5, 0.5]]])

CHAINS: dict[str, Any] = {"four-bar": FourBarChain(), "slider-crank": SliderCrankChain()}
