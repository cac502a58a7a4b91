"""Coupler-curve atlas: four-bars whose curve resembles a closed curve, found in milliseconds, as starts of a search.

The query is compared with 20,480 stored curves in four ways: as it is, in the other direction, and mirrored each time (a linkage on its
other branch). |c_k| sorts out all but CANDIDATES of each, these are aligned exactly. The crank angles of the wanted points follow from
their distances along the curve.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from linkwright.rings.synthesis.coupler_chains import CHAINS, lengths
from linkwright.rings.synthesis.path_problem import SMALLEST_INCREMENT, TURN, PathChoices, PathProblem
from linkwright.rings.synthesis.path_starts import projected

Array = np.ndarray
CANDIDATES = 1024
MATCHES = 64
FILE = Path(__file__).with_name("coupler_atlas.npz")  # made by `tools/make_coupler_atlas.py`
DRAG_LINKS = 4  # one of so many stored linkages has the ground as its shortest link
STEPS = 255
CRANKS = 96  # positions of a stored curve
SLACKS = (-1.2, 1.2)  # log10 of the slacks over the shortest link
RADII = (0.05, 2.5)  # of the coupler point from the crank pin, over the coupler's length

HARMONICS = 8
ORDERS = np.array([k for k in range(-HARMONICS, HARMONICS + 1) if k != 0])
SHIFTS = 64  # start points that are tried
SMOOTHED = 8  # pieces of a segment where the points are few
ATLAS_STARTS = 40


@dataclass(frozen=True)
class CouplerAtlas:
    """Stored curves: kinds, shapes and coupler points of the linkages, descriptors of norm 1 and their absolute values."""

    kind: Array
    shape: Array
    point: Array
    descriptors: Array
    sizes: Array


def parameters(codes: Array) -> tuple[Array, Array, Array]:
    """Return kinds (N,), shapes (N, 4) with shortest link 1, and coupler points (N,) complex of codes (N, 5) from 0 to 255."""
    u = codes / STEPS
    shape = np.column_stack([np.ones(len(u)), 10.0 ** (SLACKS[0] + (SLACKS[1] - SLACKS[0]) * u[:, :3])])
    kind = np.where(np.arange(len(u)) % DRAG_LINKS == DRAG_LINKS - 1, 1, 0)
    coupler = lengths(CHAINS["four-bar"], shape, kind)[:, 2]
    radius = RADII[0] * (RADII[1] / RADII[0]) ** u[:, 3]
    return kind, shape, radius * coupler * np.exp(2j * np.pi * u[:, 4] * STEPS / (STEPS + 1))


def curves(kind: Array, shape: Array, point: Array, sigma: float = 1.0, count: int = CRANKS) -> Array:
    """Return the coupler points (N, count) over a turn of the crank, crank pivot at 0 and ground along x."""
    chain = CHAINS["four-bar"]
    theta = np.broadcast_to(2.0 * np.pi * np.arange(count) / count, (len(kind), count))
    coupler = chain.coupler(shape, kind, np.full(len(kind), sigma), theta)
    return lengths(chain, shape, kind)[:, chain.crank, None] * np.exp(1j * theta) + point[:, None] * coupler


@cache
def atlas() -> CouplerAtlas:
    """Return the built-in atlas."""
    with np.load(FILE) as stored:
        codes, parts, scale = (stored[name] for name in ("codes", "descriptors", "scale"))
    found = (parts[..., 0] + 1j * parts[..., 1]) * (scale / 127.0)
    found = (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.complex64)
    return CouplerAtlas(*parameters(codes), found, np.abs(found))


@dataclass(frozen=True)
class CurveMatch:
    """A stored curve like the wanted one: its number, branch, direction of the crank, distance (0 equal, 1 nothing in common) and start."""

    row: int
    sigma: float
    direction: float
    distance: float
    start: float  # share of the stored curve, as it runs with the crank, at which the wanted one begins


def matches(points: Array, count: int = MATCHES) -> list[CurveMatch]:
    """Return the stored curves most like the closed curve through these points, nearest first."""
    stored = atlas()
    query = descriptors(smoothed(points)[0])[0]
    backwards = reversed_descriptor(query)
    # The mirror image of a linkage has the other branch and the other direction of the crank.
    variants = (
        (query, 1.0, 1.0),
        (backwards, 1.0, -1.0),
        (mirrored_descriptor(query), -1.0, -1.0),
        (mirrored_descriptor(backwards), -1.0, 1.0),
    )
    out: list[CurveMatch] = []
    for wanted, sigma, direction in variants:
        unlike = np.einsum("nk,nk->n", stored.sizes, stored.sizes) - 2.0 * stored.sizes @ np.abs(wanted).astype(np.float32)
        near = np.argpartition(unlike, CANDIDATES)[:CANDIDATES]
        distance, start = alignments(wanted, stored.descriptors[near])
        best = np.argsort(distance, kind="stable")[:count]
        out += [CurveMatch(int(near[k]), sigma, direction, float(distance[k]), float(start[k])) for k in best]
    return sorted(out, key=lambda m: m.distance)[:count]


def atlas_starts(problem: PathProblem, count: int = MATCHES) -> tuple[Array, PathChoices] | None:
    """Return starts of a closed path without timing, as variables and choices; None if the problem is of another kind."""
    if problem.chain.name != "four-bar" or problem.timing is not None or len(problem.points) < 4:
        return None
    stored = atlas()
    points = problem.points[:-1] if abs(problem.points[0] - problem.points[-1]) < 1e-9 else problem.points
    held = dict(problem.held).get("t1")
    found = [m for m in matches(points, count) if held is None]
    if not found:
        return None
    rows = np.array([m.row for m in found])
    choices = PathChoices(stored.kind[rows], np.array([m.sigma for m in found]), np.array([m.direction for m in found]))
    angle = np.stack(list(_angles(found, points)))
    if len(points) < len(problem.points):  # the last point is the first one after a cycle
        angle = np.column_stack([angle, angle[:, 0] + TURN * choices.direction])
    increments = np.clip(np.diff(angle, axis=1) * choices.direction[:, None], SMALLEST_INCREMENT, TURN)
    return projected(problem, choices, stored.shape[rows, 1:], angle[:, 0], increments), choices


def _angles(found: list[CurveMatch], points: Array) -> Iterator[Array]:
    """Crank angles of the points on each matched curve, increasing or decreasing with the crank's direction."""
    stored = atlas()
    polygon, places = smoothed(points)
    along = distances(polygon)
    share = along[places] / along[-1]
    traced = 360  # positions of a curve that is matched
    for m in found:
        row = np.array([m.row])
        curve = curves(stored.kind[row], stored.shape[row], stored.point[row], count=traced)[0]
        run = distances(curve)
        crank = np.arange(traced + 1) * (TURN / traced)
        # along the stored curve: forwards, or backwards for a crank that turns backwards or a mirrored linkage
        forwards = m.direction * m.sigma
        position = m.start + share if forwards > 0.0 else m.start - share
        turns = np.floor(position)
        theta = TURN * turns + np.interp(position - turns, run / run[-1], crank)
        yield m.sigma * theta  # a mirrored linkage has mirrored angles


# Fourier descriptors of closed curves: invariant to place and size; compared for the best rotation and start point.
#
# A curve is sampled at equal distances along itself, z_j = sum_k c_k e^(2 pi i j k / N). c_0 is its place and is left out, the others are
# divided by their norm. Rotation multiplies all c_k by one unit number, another start point multiplies c_k by e^(i k t): both are found by
# maximizing the correlation |sum_k conj(c_k) q_k e^(-i k t)| over t, for many curves at once by one FFT each. |c_k| needs neither and sorts
# out most curves first.


def distances(points: Array) -> Array:
    """Return the distance along the closed polygon to each point, and its whole length as the last entry (n + 1,)."""
    return np.concatenate([[0.0], np.cumsum(np.abs(np.diff(np.append(points, points[0]))))])


def smoothed(points: Array) -> tuple[Array, Array]:
    """Return a closed polygon through the points, rounded between them where they are few, and the places of the points in it."""
    n = len(points)
    if n >= ATLAS_STARTS or n < 4:
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
    samples = 128
    even = np.arange(samples) / samples
    sampled = np.stack(
        [np.interp(even * x[-1], x, z.real) + 1j * np.interp(even * x[-1], x, z.imag) for x, z in zip(along, closed, strict=True)]
    )
    found = np.fft.fft(sampled, axis=1)[:, ORDERS] / samples
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
