"""Equations of function generators that are linear in three numbers K: a four-bar from angle to angle, a slider-crank from angle to slide.

    four-bar (Freudenstein)   K1 cos o - K2 cos phi + K3 = cos(phi - o)       K1 = 1/a, K2 = 1/c, K3 = (1 + a^2 + c^2 - b^2) / (2 a c)
    slider-crank              K1 o cos phi + K2 sin phi + K3 = o^2            K1 = 2 a, K2 = 2 a e, K3 = b^2 - a^2 - e^2

with crank a, coupler b, rocker c, ground 1, offset e of the guide. A length of negative sign is a link at the opposite angle.
Three pairs (phi, o) give K by a linear system, more by least squares; the residual of these is not the error of the output.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

SIDES = (1.0, -1.0)  # the two closures


class GeneratorForm(Protocol):
    """One of the two equations F(K, phi, o) = 0; arrays broadcast, K has the last axis 3."""

    @property
    def slides(self) -> bool: ...

    def rows(self, phi: np.ndarray, o: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return M (..., 3) and r with M K = r."""
        ...

    def output(self, K: np.ndarray, phi: np.ndarray, side: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the output on one closure, and a margin that is negative where the linkage does not close."""
        ...

    def slopes(self, K: np.ndarray, phi: np.ndarray, o: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return F_phi and F_o."""
        ...

    def squares(self, K: np.ndarray) -> np.ndarray:
        """Return the squares of the lengths (..., n) whose ratio is bounded."""
        ...

    def squares_slope(self, K: np.ndarray) -> np.ndarray:
        """Return the derivatives (n, 3) of the squares by one K (3,)."""
        ...

    def transmission(self, K: np.ndarray, F_o: np.ndarray) -> np.ndarray:
        """Return the sine of the transmission angle."""
        ...


class AngleForm(NamedTuple):
    """A four-bar of ground 1: crank angle to rocker angle."""

    slides: bool = False

    def rows(self, phi: np.ndarray, o: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.stack([np.cos(o), -np.cos(phi), np.ones(np.broadcast_shapes(phi.shape, o.shape))], axis=-1), np.cos(phi - o)

    def output(self, K: np.ndarray, phi: np.ndarray, side: float) -> tuple[np.ndarray, np.ndarray]:
        A, B = K[..., 0] - np.cos(phi), -np.sin(phi)  # A cos o + B sin o = C
        C, size = K[..., 1] * np.cos(phi) - K[..., 2], np.maximum(np.hypot(A, B), 1e-300)
        return np.arctan2(B, A) + side * np.arccos(np.clip(C / size, -1.0, 1.0)), 1.0 - np.abs(C / size)

    def slopes(self, K: np.ndarray, phi: np.ndarray, o: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return K[..., 1] * np.sin(phi) + np.sin(phi - o), -K[..., 0] * np.sin(o) - np.sin(phi - o)

    def squares(self, K: np.ndarray) -> np.ndarray:
        """Ground, crank, coupler, rocker."""
        a, c = 1.0 / K[..., 0], 1.0 / K[..., 1]
        return np.stack([np.ones(a.shape), a**2, a**2 + c**2 + 1.0 - 2 * a * c * K[..., 2], c**2], axis=-1)

    def squares_slope(self, K: np.ndarray) -> np.ndarray:
        a, c, k = 1.0 / K[0], 1.0 / K[1], K[2]
        coupler = [-2 * a**3 + 2 * a**2 * c * k, -2 * c**3 + 2 * a * c**2 * k, -2 * a * c]
        return np.array([[0.0, 0.0, 0.0], [-2 * a**3, 0.0, 0.0], coupler, [0.0, -2 * c**3, 0.0]])

    def transmission(self, K: np.ndarray, F_o: np.ndarray) -> np.ndarray:
        coupler = np.sqrt(np.maximum(self.squares(K)[..., 2], 1e-300))
        return np.abs(F_o / K[..., 0]) / coupler


class SlideForm(NamedTuple):
    """A slider-crank: crank angle to slide, in units of the wanted slide."""

    slides: bool = True

    def rows(self, phi: np.ndarray, o: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.stack([o * np.cos(phi), np.sin(phi), np.ones(np.broadcast_shapes(phi.shape, o.shape))], axis=-1), o**2

    def output(self, K: np.ndarray, phi: np.ndarray, side: float) -> tuple[np.ndarray, np.ndarray]:
        half = 0.5 * K[..., 0] * np.cos(phi)
        square = half**2 + K[..., 1] * np.sin(phi) + K[..., 2]
        return half + side * np.sqrt(np.maximum(square, 0.0)), square

    def slopes(self, K: np.ndarray, phi: np.ndarray, o: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return -K[..., 0] * o * np.sin(phi) + K[..., 1] * np.cos(phi), K[..., 0] * np.cos(phi) - 2 * o

    def squares(self, K: np.ndarray) -> np.ndarray:
        """Crank and coupler."""
        a, e = 0.5 * K[..., 0], K[..., 1] / K[..., 0]
        return np.stack([a**2, K[..., 2] + a**2 + e**2], axis=-1)

    def squares_slope(self, K: np.ndarray) -> np.ndarray:
        a, e = 0.5 * K[0], K[1] / K[0]
        return np.array([[a, 0.0, 0.0], [a - 2 * e * e / K[0], 2 * e / K[0], 1.0]])

    def transmission(self, K: np.ndarray, F_o: np.ndarray) -> np.ndarray:
        return 0.5 * np.abs(F_o) / np.sqrt(np.maximum(self.squares(K)[..., 1], 1e-300))


def solved_for_three(form: GeneratorForm, phi: np.ndarray, o: np.ndarray) -> np.ndarray:
    """Return K (N, 3) through three pairs (N, 3), or by least squares through more; NaN where the pairs do not determine it."""
    M, r = form.rows(phi, o)
    s = np.linalg.svd(M, compute_uv=False)
    bad = s[:, -1] < 1e-10 * s[:, 0]
    M = np.where(bad[:, None, None], np.eye(M.shape[1], 3), M)
    K = np.linalg.solve(M, r[..., None]) if M.shape[1] == 3 else np.linalg.pinv(M) @ r[..., None]
    return np.where(bad[:, None], np.nan, K[..., 0])


def undetermined(form: GeneratorForm, phi: np.ndarray, o: np.ndarray, steps: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return (index, K) of pairs (N, n) that leave one number free, as parallelograms do, at several values of it."""
    M, r = form.rows(phi, o)
    U, s, Vt = np.linalg.svd(M, full_matrices=False)
    at = np.flatnonzero((s[:, -1] < 1e-10 * s[:, 0]) & (s[:, 1] > 1e-6 * s[:, 0]))
    K = (Vt[at, :2].swapaxes(1, 2) @ ((U[at, :, :2].swapaxes(1, 2) @ r[at][..., None]) / s[at, :2, None]))[..., 0]
    met = np.abs((M[at] @ K[..., None])[..., 0] - r[at]).max(axis=1, initial=0.0) < 1e-9
    at, K = at[met], K[met]
    many = K[:, None, :] + np.array(steps)[:, None] * Vt[at, 2][:, None, :]
    return np.repeat(at, len(steps)), many.reshape(-1, 3)


def link_ratio(form: GeneratorForm, K: np.ndarray) -> np.ndarray:
    """Return the longest length over the shortest; infinite where the coupler would be imaginary."""
    with np.errstate(all="ignore"):
        square = form.squares(K)
        least = square.min(axis=-1)
        ratio = np.sqrt(square.max(axis=-1) / np.where(least > 0.0, least, np.nan))
    return np.nan_to_num(ratio, nan=np.inf)


def generated_output(form: GeneratorForm, K: np.ndarray, phi: np.ndarray, near: np.ndarray, side: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the output on one closure, angles at the turn nearest to `near`, and the closing margin."""
    o, margin = form.output(K, phi, side)
    return (o, margin) if form.slides else (o - 2 * np.pi * np.round((o - near) / (2 * np.pi)), margin)
