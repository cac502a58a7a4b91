"""Straightness of a point's path: width of the narrowest strip that holds its samples, in space the diameter of the narrowest cylinder.

In the plane the narrowest strip lies flush with an edge of the convex hull; all edges are tried (rotating calipers). Its width follows
from three points, w = cross(q - p, r - p)/|q - p|, and so do its derivatives. In space a line near the principal axis is moved until its
largest distance from the points is least: a second-order cone problem in its place and direction, by an interior-point method, with the
axis taken anew until it rests. Derivatives follow from the multipliers of the points that touch (envelope theorem).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

AXES = 12  # times the axis of a cylinder is taken anew at most
RESTS = 1e-10  # change of its direction at which it rests
BARRIER = 1e-13  # share of the radius by which the interior-point method may be off
SHRINK = 0.1  # of the barrier, from one center to the next
CENTRING = 25  # Newton steps to a center at most
ACTIVE = 1e-5  # share of the radius: points this near to the surface may touch


def straightness(points: np.ndarray) -> float:
    """Of points (n, 2) or (n, 3); nan where there are none."""
    if not len(points) or not np.isfinite(points).all():
        return float("nan")
    if points.shape[1] == 2:
        return _strip(points).width
    return 2.0 * _cylinder(points).radius


def straightness_pull(points: np.ndarray) -> np.ndarray:
    """Derivatives by the coordinates of the points, (n, axes)."""
    out = np.zeros(points.shape)
    if not len(points) or not np.isfinite(points).all():
        return out + np.nan
    if points.shape[1] == 2:
        p, q, r = _strip(points).touching
        if p == q:
            return out
        edge, to = points[q] - points[p], points[r] - points[p]
        length = np.hypot(*edge)
        across = edge[0] * to[1] - edge[1] * to[0]
        sign = 1.0 if across >= 0.0 else -1.0
        by_edge = np.array([to[1], -to[0]]) / length - across * edge / length**3
        by_to = np.array([-edge[1], edge[0]]) / length
        out[q], out[r], out[p] = sign * by_edge, sign * by_to, -sign * (by_edge + by_to)
        return out
    return _cylinder_pull(points)


# -------------------------------------------------------------------- in the plane


class _Strip(NamedTuple):
    width: float
    touching: tuple[int, int, int]  # the edge and the point opposite


def _strip(points: np.ndarray) -> _Strip:
    hull = _hull(points)
    if len(hull) < 3:
        return _Strip(0.0, (int(hull[0]), int(hull[-1]), int(hull[0])))
    corner = points[hull]
    edge = np.roll(corner, -1, axis=0) - corner
    length = np.hypot(edge[:, 0], edge[:, 1])
    angle = np.unwrap(np.arctan2(edge[:, 1], edge[:, 0]))
    turned = np.concatenate([angle, angle + 2.0 * np.pi])
    opposite = np.searchsorted(turned, angle + np.pi)  # the corner from which edges run back is the farthest
    near = np.mod(opposite[:, None] + np.arange(-1, 2), len(hull))  # and its neighbors, for the last digit
    to = corner[near] - corner[:, None]
    height = np.abs(edge[:, None, 0] * to[..., 1] - edge[:, None, 1] * to[..., 0]) / length[:, None]
    which = np.argmax(height, axis=1)
    far, reach = near[np.arange(len(hull)), which], height[np.arange(len(hull)), which]
    best = int(np.argmin(reach))
    return _Strip(float(reach[best]), (int(hull[best]), int(hull[(best + 1) % len(hull)]), int(hull[far[best]])))


def _hull(points: np.ndarray) -> np.ndarray:
    """Indices of the corners of the convex hull, counterclockwise; of points on a line its two ends (Andrew's monotone chain)."""
    order = np.lexsort((points[:, 1], points[:, 0])).tolist()
    x, y = points[:, 0].tolist(), points[:, 1].tolist()

    def chain(of: list[int]) -> list[int]:
        out: list[int] = []
        for i in of:
            while len(out) > 1:
                a, b = out[-2], out[-1]
                if (x[b] - x[a]) * (y[i] - y[a]) - (y[b] - y[a]) * (x[i] - x[a]) > 0.0:
                    break
                out.pop()
            out.append(i)
        return out

    lower, upper = chain(order), chain(order[::-1])
    return np.array([*lower[:-1], *upper[:-1]] or order[:1])


# -------------------------------------------------------------------- in space


class _Cylinder(NamedTuple):
    radius: float
    offsets: np.ndarray  # (n, 3): from the axis to the points, across it
    along: np.ndarray  # (n,): places along it, from the middle
    axis: np.ndarray


def _cylinder(points: np.ndarray) -> _Cylinder:
    middle = points.mean(axis=0)
    p = points - middle
    axis = np.linalg.svd(p, full_matrices=False)[2][0]
    size = float(np.abs(p).max(initial=0.0))
    if size == 0.0:
        return _Cylinder(0.0, np.zeros_like(p), np.zeros(len(p)), axis)
    for _ in range(AXES):
        across = np.linalg.svd(axis[None])[2][1:]
        y, z = p @ across.T / size, p @ axis / size
        c, s = _best_line(y, z)
        turned = axis + s @ across
        turned /= np.linalg.norm(turned)
        foot = size * (c @ across)
        rests = np.linalg.norm(turned - axis) <= RESTS
        axis = turned
        if rests:
            break
    from_ = p - foot
    along = from_ @ axis
    offsets = from_ - along[:, None] * axis
    return _Cylinder(float(np.sqrt((offsets**2).sum(axis=1)).max()), offsets, along, axis)


def _best_line(y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(c, s) with the least largest |y - c - z s|: log barrier of the cones |r_i| <= t, Newton's method."""
    x = np.concatenate([np.zeros(4), [1.1 * np.sqrt((y**2).sum(axis=1)).max() + 1e-12]])
    n, weight = len(y), 1.0
    first = x[4]
    A = np.zeros((n, 2, 5))  # dr/dx
    A[:, 0, 0] = A[:, 1, 1] = -1.0
    A[:, 0, 2] = A[:, 1, 3] = -z

    def residuals(x: np.ndarray) -> np.ndarray:
        return y - x[:2] - z[:, None] * x[2:4]

    weight = first / (2.0 * n)
    while True:
        for _ in range(CENTRING):
            r = residuals(x)
            gap = x[4] ** 2 - (r**2).sum(axis=1)
            g = np.einsum("nij,ni->nj", A, r) * -1.0
            g[:, 4] += x[4]  # half the gradient of the gap
            gradient = -2.0 * (g / gap[:, None]).sum(axis=0)
            gradient[4] += 1.0 / weight
            H = 4.0 * np.einsum("ni,nj->ij", g / gap[:, None], g / gap[:, None])
            H += 2.0 * np.einsum("nki,nkj->ij", A / gap[:, None, None], A)
            H[4, 4] -= 2.0 * (1.0 / gap).sum()
            step = -np.linalg.lstsq(H, gradient, rcond=None)[0]
            share = 1.0
            while share > 1e-12:
                new = x + share * step
                if new[4] > 0.0 and (new[4] ** 2 > (residuals(new) ** 2).sum(axis=1)).all():
                    break
                share *= 0.5
            x = x + 0.9 * share * step if share < 1.0 else x + step
            if -gradient @ step <= 1e-8:
                break
        if 2.0 * n * weight <= BARRIER * first or 2.0 * n * weight <= 1e-9 * x[4]:
            return x[:2], x[2:4]
        weight *= SHRINK


def _cylinder_pull(points: np.ndarray) -> np.ndarray:
    """The points that touch move the diameter with their multipliers: sum w_i = 1, sum w_i n_i = 0, sum w_i z_i n_i = 0."""
    out, found = np.zeros(points.shape), _cylinder(points)
    if found.radius == 0.0:
        return out
    distance = np.sqrt((found.offsets**2).sum(axis=1))
    touching = np.flatnonzero(distance >= found.radius * (1.0 - ACTIVE))
    n = found.offsets[touching] / distance[touching, None]
    size = np.abs(found.along).max() or 1.0
    across = np.linalg.svd(found.axis[None])[2][1:]
    flat = n @ across.T
    equations = np.concatenate([np.ones((1, len(n))), flat.T, (found.along[touching, None] / size * flat).T])
    from scipy.optimize import nnls

    weights = nnls(equations, np.array([1.0, 0.0, 0.0, 0.0, 0.0]))[0]
    out[touching] = 2.0 * weights[:, None] * n
    return out
