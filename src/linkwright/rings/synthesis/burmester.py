"""Dyads through poses: the links and guides that hold one point of a body on a circle or a line in all wanted poses (Burmester theory).

A point x of the body is at X_i = d_i + e_i x in pose i, e_i = exp(i angle_i). |X_i - a|^2 = R^2 is linear in eight homogeneous numbers
w (1; x; a; conj(a) x; |x|^2 + |a|^2 - R^2), so poses are rows of a matrix, and a dyad is a vector of its null space on which
p0 (p5 + i p6) = (p3 - i p4)(p1 + i p2) holds: two quadrics. Five poses leave a plane (four points at most), four a curve, three and two
families. p0 = 0 is a point at infinity: a guide if p1 = p2 = 0, else a line of the body through a ground pivot. The body's own dimensions
never enter, so special poses show as a null space that is too large.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwright.api import tolerances, tracking

REAL = 1e-7  # imaginary part of a real solution, relative
INFINITE = 1e-9  # |w| below this is a point at infinity


@dataclass(frozen=True, eq=False)
class PoseSet:
    """Poses of a body: places d (n,) and turns e (n,), unit complex numbers, moved to their centroid and scaled to `size`."""

    place: np.ndarray
    turn: np.ndarray
    center: complex
    size: float

    @classmethod
    def of(cls, poses: np.ndarray) -> PoseSet:
        """The set of rows (x, y, angle)."""
        d = poses[:, 0] + 1j * poses[:, 1]
        center = complex(d.mean())
        extent = float(np.abs(d - center).max())
        size = extent if extent > 1e-12 * (1.0 + abs(center)) else 1.0
        return cls((d - center) / size, np.exp(1j * poses[:, 2]), center, size)

    def moved(self, x: np.ndarray) -> np.ndarray:
        """Points (K, n) of the body in all poses, in scaled coordinates."""
        return self.place + self.turn * np.asarray(x)[:, None]

    def seen(self, a: np.ndarray) -> np.ndarray:
        """Ground points (K, n) as the body sees them in all poses."""
        return (np.asarray(a)[:, None] - self.place) / self.turn

    def rows(self) -> np.ndarray:
        """Return the matrix (n, 8) of |X_i - a|^2 = R^2."""
        d, e = self.place, self.turn
        g = np.conj(d) * e
        columns = [np.abs(d) ** 2, 2 * g.real, -2 * g.imag, -2 * d.real, -2 * d.imag, -2 * e.real, 2 * e.imag, np.ones(len(d))]
        return np.column_stack(columns)


@dataclass(frozen=True, eq=False)
class DyadSet:
    """Dyads in scaled coordinates: points x (K,) of the body on circles about a (K,), or on lines of direction u through a."""

    moving: np.ndarray
    ground: np.ndarray
    direction: np.ndarray  # unit vectors of guides; 0 for links

    def __len__(self) -> int:
        return len(self.moving)

    @classmethod
    def links(cls, moving: np.ndarray, ground: np.ndarray) -> DyadSet:
        return cls(np.asarray(moving, dtype=complex), np.asarray(ground, dtype=complex), np.zeros(len(moving), dtype=complex))

    @classmethod
    def joined(cls, *sets: DyadSet) -> DyadSet:
        return cls(*(np.concatenate([getattr(s, name) for s in sets]) for name in ("moving", "ground", "direction")))

    def taken(self, at: np.ndarray) -> DyadSet:
        return DyadSet(self.moving[at], self.ground[at], self.direction[at])


@dataclass(frozen=True, eq=False)
class NullSpace:
    """Solutions of the linear equations: columns of `basis` (8, m), and the smallest singular value that counts over the largest."""

    basis: np.ndarray
    rank: int
    smallest: float

    @property
    def dimension(self) -> int:
        return self.basis.shape[1]


def null_space(poses: PoseSet, dimension: int | None = None) -> NullSpace:
    """Return the null space of the rows; with `dimension` the directions of the smallest singular values, for a least-squares fit."""
    _, s, Vt = np.linalg.svd(poses.rows())
    rank = int((s > tolerances.RANK * s[0]).sum()) if dimension is None else 8 - dimension
    return NullSpace(Vt[rank:].T, rank, float(s[min(rank, len(s)) - 1] / s[0]))


# ---------------------------------------------------------------- two quadrics


def quadrics(basis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the two symmetric forms (..., m, m) of p0 (p5 + i p6) = (p3 - i p4)(p1 + i p2) on a basis (..., 8, m)."""

    def form(i: int, j: int) -> np.ndarray:
        product = basis[..., i, :, None] * basis[..., j, None, :]
        return 0.5 * (product + np.swapaxes(product, -1, -2))

    return form(0, 5) - form(3, 1) - form(4, 2), form(0, 6) - form(3, 2) + form(4, 1)


def common_points(first: np.ndarray, second: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the four common points (N, 4, 3) of pairs of conics (N, 3, 3), and True for pairs that share a component.

    In a random frame (u, v, 1) the resultant by u is a quartic in v, whose companion matrices are solved; Newton's method completes.
    """
    frame = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    A, B = frame.T @ first @ frame, frame.T @ second @ frame
    scale = [np.abs(Q).max(axis=(-2, -1), keepdims=True) for Q in (A, B)]
    A, B = (Q / np.maximum(s, np.finfo(float).tiny) for Q, s in zip((A, B), scale, strict=True))
    # a u^2 + b(v) u + c(v), coefficients ascending in v
    (a1, b1, c1), (a2, b2, c2) = (
        (Q[:, 0, 0, None], 2 * Q[:, 0, [2, 1]], np.stack([Q[:, 2, 2], 2 * Q[:, 1, 2], Q[:, 1, 1]], axis=1)) for Q in (A, B)
    )
    ac, ab = a1 * c2 - a2 * c1, a1 * b2 - a2 * b1
    bc = _product(b1, c2) - _product(b2, c1)
    quartic = _product(ac, ac) - _product(ab, bc)
    shared = np.abs(quartic).max(axis=1) < 1e-12
    lead = np.where(np.abs(quartic[:, 4:]) > 1e-300, quartic[:, 4:], 1e-300)
    companion = np.zeros((len(A), 4, 4))
    companion[:, [1, 2, 3], [0, 1, 2]] = 1.0
    companion[:, :, 3] = -quartic[:, :4] / lead
    usable = np.isfinite(companion).all(axis=(1, 2)) & ~shared
    v = np.full((len(A), 4), np.nan, dtype=complex)
    v[usable] = np.linalg.eigvals(companion[usable])
    with np.errstate(all="ignore"):
        u = -_value(ac, v) / _value(ab, v)
        z = np.stack([u, v, np.ones_like(v)], axis=-1)
        for _ in range(4):
            images = [z @ Q for Q in (A, B)]
            F = np.stack([(z * image).sum(axis=-1) for image in images], axis=-1)
            J = np.stack([2 * image[..., :2] for image in images], axis=-2)
            step = tracking.solved(J, F[..., None])[..., 0]
            z[..., :2] -= np.where(np.isfinite(step).all(axis=-1, keepdims=True), step, 0.0)
    return z @ frame.T, shared


def _product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Products of polynomials, coefficients in the last axis."""
    out = np.zeros((len(p), p.shape[1] + q.shape[1] - 1))
    for i in range(p.shape[1]):
        out[:, i : i + q.shape[1]] += p[:, i : i + 1] * q
    return out


def _value(p: np.ndarray, v: np.ndarray) -> np.ndarray:
    out = np.zeros_like(v)
    for c in p.T[::-1]:
        out = out * v + c[:, None]
    return out


# ---------------------------------------------------------------- dyads of a null space


def isolated(space: NullSpace, seed: int = 0) -> tuple[DyadSet, bool]:
    """Return the links of a null space of three dimensions, and True if there is a curve of them in place of four points."""
    found, shared = common_points(*(Q[None] for Q in quadrics(space.basis)), np.random.default_rng(seed))
    if shared[0]:
        return _component(space, np.random.default_rng(seed)), True
    return _links(found.reshape(-1, 3) @ space.basis.T), False


def curve(space: NullSpace, slices: int = 120, seed: int = 0) -> DyadSet:
    """Return links along the circle-point and center-point curves: a null space of four dimensions cut by a pencil of planes."""
    rng = np.random.default_rng(seed)
    basis = space.basis @ np.linalg.qr(rng.standard_normal((4, 4)))[0]
    angle = np.pi * (np.arange(slices) + 0.5) / slices
    cut = np.zeros((slices, 4, 3))
    cut[:, 0, 0] = cut[:, 1, 1] = 1.0
    cut[:, 2, 2], cut[:, 3, 2] = np.cos(angle), np.sin(angle)
    cut = basis @ cut
    found, _ = common_points(*quadrics(cut), rng)
    return _links(np.einsum("sij,skj->ski", cut, found).reshape(-1, 8))


def _component(space: NullSpace, rng: np.random.Generator, lines: int = 60) -> DyadSet:
    """Links on what two conics have in common: where random lines meet the first one and the second one vanishes."""
    first, second = quadrics(space.basis)
    found = []
    for _ in range(lines):
        p, q = rng.standard_normal((2, 3))
        for t in np.roots([q @ first @ q, 2 * p @ first @ q, p @ first @ p]):
            z = p + t * q
            if abs(z @ second @ z) < 1e-9 * np.abs(second).max() * (np.abs(z) ** 2).sum():
                found.append(space.basis @ z)
    return _links(np.array(found)) if found else DyadSet.links(np.zeros(0), np.zeros(0))


def _links(p: np.ndarray) -> DyadSet:
    """Real vectors of the null space that are not at infinity, each once."""
    largest = np.take_along_axis(p, np.abs(p).argmax(axis=1)[:, None], axis=1)
    with np.errstate(all="ignore"):
        q = p / largest
    real = np.isfinite(q).all(axis=1) & (np.abs(q.imag).max(axis=1) < REAL)
    q = q[real].real
    q = q[np.abs(q[:, 0]) > INFINITE]
    moving, ground = (q[:, 1] + 1j * q[:, 2]) / q[:, 0], (q[:, 3] + 1j * q[:, 4]) / q[:, 0]
    keys = np.stack([moving, ground], axis=1)
    at = tracking.distinct(keys, 1e-9)
    # p0 (p5 + i p6) = (p3 - i p4)(p1 + i p2), checked: roots of multiplicity two and more may be inexact
    valid = np.abs(q[at, 0] * (q[at, 5] + 1j * q[at, 6]) - (q[at, 3] - 1j * q[at, 4]) * (q[at, 1] + 1j * q[at, 2])) < 1e-9
    return DyadSet.links(moving[at][valid], ground[at][valid])


def guides(space: NullSpace, count: int = 24) -> DyadSet:
    """Return points that move on straight lines: vectors of the null space with p0 = p1 = p2 = 0, `count` of a family.

    p3 + i p4 is then the normal of the line, p5 + i p6 its conjugate times x, and p7 twice the distance from the origin.
    """
    _, s, Vt = np.linalg.svd(space.basis[:3])
    inside = space.basis @ Vt[int((s > 1e-7).sum()) :].T  # (8, f)
    if inside.shape[1] == 0:
        return DyadSet(*(np.zeros(0, dtype=complex) for _ in range(3)))
    if inside.shape[1] > 1:
        angles = np.pi * (np.arange(count) + 0.5) / count
        weights = np.stack([np.cos(angles), np.sin(angles), *(np.sin(3.0 * k * angles) for k in range(1, inside.shape[1] - 1))])
        inside = inside @ weights
    normal, product = inside[3] + 1j * inside[4], inside[5] + 1j * inside[6]
    good = np.abs(normal) > 1e-7 * np.linalg.norm(inside, axis=0)
    normal, product, constant = normal[good], product[good], inside[7][good]
    # Row i of p is -2 Re(conj(normal) X_i) + p7 = 0.
    ground = 0.5 * constant * normal / np.abs(normal) ** 2
    return DyadSet(product / np.conj(normal), ground, 1j * normal / np.abs(normal))


def inverted(space: NullSpace) -> int:
    """Return how many lines of the body pass through a fixed ground pivot in all poses (p0 = p3 = p4 = 0); -1 for a family."""
    _, s, Vt = np.linalg.svd(space.basis[[0, 3, 4]])
    count = space.dimension - int((s > 1e-7).sum())
    if count != 1:
        return -1 if count > 1 else 0
    vector = space.basis @ Vt[-1]
    return int(np.hypot(vector[1], vector[2]) > 1e-7)


# ---------------------------------------------------------------- families of two and three poses


def circle_centers(points: np.ndarray, along: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the centers (K,) of the circles through points (K, n) and True where there is none (points on a line).

    For two points `along` chooses the center on their bisector, in distances of the two from their midpoint.
    """
    if points.shape[1] == 2:
        chord = points[:, 1] - points[:, 0]
        return points.mean(axis=1) + 1j * chord * (np.zeros(len(points)) if along is None else along), np.abs(chord) < 1e-12
    middle = points.mean(axis=1, keepdims=True)
    z = points - middle
    extent = np.maximum(np.abs(z).max(axis=1, keepdims=True), 1e-300)
    z = z / extent
    A = np.stack([2 * z.real, 2 * z.imag, np.ones(z.shape)], axis=-1)
    s = np.linalg.svd(A, compute_uv=False)
    flat = s[:, -1] < tolerances.RANK * s[:, 0]
    A = np.where(flat[:, None, None], np.eye(A.shape[1], 3), A)
    found = (np.linalg.pinv(A) @ (np.abs(z) ** 2)[..., None])[..., 0]
    return middle[:, 0] + extent[:, 0] * (found[:, 0] + 1j * found[:, 1]), flat


def with_moving(poses: PoseSet, x: np.ndarray, along: np.ndarray | None = None) -> DyadSet:
    """Return the dyads of chosen points of the body, for two or three poses: a guide where its places are on a line."""
    points = poses.moved(x)
    center, flat = circle_centers(points, along)
    direction = points[:, -1] - points[:, 0]
    unit = direction / np.maximum(np.abs(direction), 1e-300)
    return DyadSet(np.asarray(x, dtype=complex), np.where(flat, points[:, 0], center), np.where(flat, unit, 0.0))


def with_ground(poses: PoseSet, a: np.ndarray, along: np.ndarray | None = None) -> DyadSet:
    """Return the links of chosen ground pivots, for two or three poses; pivots whose link would be infinitely long are left out."""
    center, flat = circle_centers(poses.seen(a), along)
    return DyadSet.links(center[~flat], np.asarray(a, dtype=complex)[~flat])


def deviations(poses: PoseSet, dyads: DyadSet) -> np.ndarray:
    """Return the largest deviation (K,) of the points from their circles or lines, in scaled coordinates."""
    away = poses.moved(dyads.moving) - dyads.ground[:, None]
    guide = dyads.direction != 0.0
    off = np.where(guide[:, None], (away * np.conj(dyads.direction)[:, None]).imag, np.abs(away))
    return np.where(guide, np.abs(off).max(axis=1), 0.5 * np.ptp(off, axis=1))
