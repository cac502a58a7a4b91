"""Fourier descriptors of closed curves: invariant to place and size; compared for the best rotation and start point.

A curve is sampled at equal distances along itself, z_j = sum_k c_k e^(2 pi i j k / N). c_0 is its place and is left out, the others are
divided by their norm. Rotation multiplies all c_k by one unit number, another start point multiplies c_k by e^(i k t): both are found by
maximizing the correlation |sum_k conj(c_k) q_k e^(-i k t)| over t, for many curves at once by one FFT each. |c_k| needs neither and sorts
out most curves first.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray

HARMONICS = 8
ORDERS = np.array([k for k in range(-HARMONICS, HARMONICS + 1) if k != 0])
SAMPLES = 128
SHIFTS = 64  # start points that are tried
SMOOTHED = 8  # pieces of a segment where the points are few
FEW = 40


def distances(points: Array) -> Array:
    """Return the distance along the closed polygon to each point, and its whole length as the last entry (n + 1,)."""
    return np.concatenate([[0.0], np.cumsum(np.abs(np.diff(np.append(points, points[0]))))])


def smoothed(points: Array) -> tuple[Array, Array]:
    """Return a closed polygon through the points, rounded between them where they are few, and the places of the points in it."""
    n = len(points)
    if n >= FEW or n < 4:
        return points, np.arange(n)
    chord = np.abs(np.roll(points, -1) - points)
    before = np.roll(chord, 1)
    slope = (np.roll(points, -1) - points) / chord, (points - np.roll(points, 1)) / before
    tangent = (slope[0] * before + slope[1] * chord) / (chord + before)  # of the parabola through three points
    t = (np.arange(SMOOTHED) / SMOOTHED)[None, :]
    first, last = points[:, None], np.roll(points, -1)[:, None]
    start, end = (chord * tangent)[:, None], (chord * np.roll(tangent, -1))[:, None]
    curve = (2 * t**3 - 3 * t**2 + 1) * first + (t**3 - 2 * t**2 + t) * start + (3 * t**2 - 2 * t**3) * last + (t**3 - t**2) * end
    return curve.ravel(), np.arange(n) * SMOOTHED


def descriptors(curves: Array) -> Array:
    """Return the coefficients (N, orders) of closed curves (N, samples), in the order of ORDERS, with norm 1."""
    curves = np.atleast_2d(curves)
    closed = np.concatenate([curves, curves[:, :1]], axis=1)
    along = np.concatenate([np.zeros((len(curves), 1)), np.cumsum(np.abs(np.diff(closed, axis=1)), axis=1)], axis=1)
    even = np.arange(SAMPLES) / SAMPLES
    sampled = np.stack(
        [np.interp(even * x[-1], x, z.real) + 1j * np.interp(even * x[-1], x, z.imag) for x, z in zip(along, closed, strict=True)]
    )
    found = np.fft.fft(sampled, axis=1)[:, ORDERS] / SAMPLES
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-300)


def reversed_descriptor(descriptor: Array) -> Array:
    """Return that of the curve in the other direction."""
    return descriptor[..., ::-1]


def mirrored_descriptor(descriptor: Array) -> Array:
    """Return that of the curve mirrored in the x axis."""
    return np.conj(descriptor[..., ::-1])


def alignments(query: Array, stored: Array) -> tuple[Array, Array]:
    """Return for each stored descriptor the distance (0 .. 1) to the query at the best rotation and start, and that start.

    start: the query's first sample is at this share of the stored curve.
    """
    spread = np.zeros((len(stored), SHIFTS), dtype=complex)
    spread[:, ORDERS % SHIFTS] = np.conj(stored) * query
    correlation = np.abs(np.fft.fft(spread, axis=1))  # over t = 2 pi m / SHIFTS
    best = correlation.argmax(axis=1)
    rows = np.arange(len(stored))
    peak, left, right = (correlation[rows, (best + k) % SHIFTS] for k in (0, -1, 1))
    curve = left - 2.0 * peak + right
    offset = np.where(curve < 0.0, 0.5 * (left - right) / np.where(curve < 0.0, curve, -1.0), 0.0)
    height = np.minimum(peak - 0.25 * (left - right) * offset, 1.0)
    return np.sqrt(np.maximum(1.0 - height * height, 0.0)), ((best + offset) / SHIFTS) % 1.0
