"""Best fit of dyads and linkages to more poses than can be met exactly.

Dyads: the distances |X_i - a| - R, or those from a line, are minimized from many starts by Levenberg-Marquardt steps on all at once.
Linkages: each wanted pose is projected onto the coupler's motion (two constraints, one for each dyad), and the distances, angles weighed by
a length, are minimized. By the envelope theorem their derivative by the dimensions is -G+ H, with G and H the derivatives of the
constraints by the pose and by the dimensions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from linkwright.api import tracking
from linkwright.rings.synthesis.burmester import DyadSet, PoseSet, curve, isolated, null_space


@dataclass(frozen=True, eq=False)
class FittedPoses:
    """Two dyads and the poses of their coupler nearest to the wanted ones, in scaled coordinates; `error` is the root mean square."""

    dyads: DyadSet
    place: np.ndarray
    turn: np.ndarray
    error: float


def fitted_links(poses: PoseSet, *, starts: int = 60, seed: int = 0) -> DyadSet:
    """Return links of locally least distance, best first."""
    candidates = DyadSet.joined(isolated(null_space(poses, 3), seed)[0], curve(null_space(poses, 4), starts, seed))
    rng = np.random.default_rng(seed)
    some = rng.uniform(-2, 2, (starts, 4)) @ np.array([[1, 0], [1j, 0], [0, 1], [0, 1j]])  # free starts beside the algebraic ones
    x, a = (np.concatenate([z, w]) for z, w in zip((candidates.moving, candidates.ground), some.T, strict=True))
    near = (np.abs(x) < 30) & (np.abs(a) < 30)
    z = np.column_stack([x.real, x.imag, a.real, a.imag])[near]
    z = np.column_stack([z, np.abs(poses.moved(x[near]) - a[near][:, None]).mean(axis=1)])
    z, cost = _minimized(lambda v: _link_residuals(poses, v), z)
    return _best(z, cost, DyadSet.links(z[:, 0] + 1j * z[:, 1], z[:, 2] + 1j * z[:, 3]))


def fitted_guides(poses: PoseSet, *, starts: int = 24) -> DyadSet:
    """Return points that stay nearest to straight lines, best first."""
    angle = np.pi * np.arange(starts) / starts
    z = np.column_stack([np.zeros((starts, 2)), angle, np.zeros(starts)])
    z, cost = _minimized(lambda v: _guide_residuals(poses, v), z)
    normal = np.exp(1j * z[:, 2])
    return _best(z, cost, DyadSet(z[:, 0] + 1j * z[:, 1], z[:, 3] * normal, 1j * normal))


def _best(z: np.ndarray, cost: np.ndarray, dyads: DyadSet) -> DyadSet:
    good = np.flatnonzero(np.isfinite(cost) & (np.abs(dyads.moving) < 100) & (np.abs(dyads.ground) < 100))
    order = good[np.argsort(cost[good], kind="stable")]
    keys = np.stack([dyads.moving, dyads.ground, dyads.direction**2], axis=1)[order]
    return dyads.taken(order[tracking.distinct(keys, 1e-4)])


def _link_residuals(poses: PoseSet, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """|X - a| - R (K, n) and its Jacobian by (x, a, R)."""
    away = poses.moved(z[:, 0] + 1j * z[:, 1]) - (z[:, 2] + 1j * z[:, 3])[:, None]
    length = np.maximum(np.abs(away), 1e-300)
    unit = np.conj(away / length)
    by_x = unit * poses.turn
    return length - z[:, 4:5], np.stack([by_x.real, -by_x.imag, -unit.real, unit.imag, -np.ones(length.shape)], axis=-1)


def _guide_residuals(poses: PoseSet, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Re(conj(normal) X) - offset (K, n) and its Jacobian by (x, angle of the normal, offset)."""
    normal = np.exp(1j * z[:, 2:3])
    X = poses.moved(z[:, 0] + 1j * z[:, 1])
    along = np.conj(normal) * poses.turn
    turned = np.conj(normal) * X
    return turned.real - z[:, 3:4], np.stack([along.real, -along.imag, turned.imag, -np.ones(X.shape)], axis=-1)


def _minimized(
    residuals: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], z: np.ndarray, iterations: int = 60
) -> tuple[np.ndarray, np.ndarray]:
    """Levenberg-Marquardt on every row of z; returns it with the root mean square of its residuals."""
    damping = np.full(len(z), 1e-3)
    r, J = residuals(z)
    cost = (r * r).sum(axis=1)
    for _ in range(iterations):
        H = np.swapaxes(J, 1, 2) @ J
        diagonal = np.einsum("kii->ki", H)
        H = H + (damping[:, None] * (diagonal + 1e-9 * diagonal.max(axis=1, keepdims=True)))[..., None] * np.eye(z.shape[1])
        step = tracking.solved(H, (np.swapaxes(J, 1, 2) @ r[..., None]))[..., 0]
        trial = z - np.where(np.isfinite(step), step, 0.0)
        r2, J2 = residuals(trial)
        cost2 = (r2 * r2).sum(axis=1)
        better = cost2 < cost
        z, r, J, cost = (np.where(_like(better, new), new, old) for new, old in ((trial, z), (r2, r), (J2, J), (cost2, cost)))
        damping = np.clip(np.where(better, 0.2 * damping, 5.0 * damping), 1e-12, 1e8)
    return z, np.sqrt(cost / r.shape[1])


def _like(mask: np.ndarray, array: np.ndarray) -> np.ndarray:
    return mask.reshape(-1, *[1] * (array.ndim - 1))


# ---------------------------------------------------------------- linkages


def fitted_pair(poses: PoseSet, dyads: DyadSet, lever: float, iterations: int = 40) -> FittedPoses:
    """Return two dyads refined together so that the coupler comes nearest to the wanted poses; `lever` weighs angles, in scaled lengths."""
    q = _dimensions(poses, dyads)
    kinds = dyads.direction != 0.0
    damping = 1e-3
    place, turn, e, J = _projected(poses, q, kinds, lever)
    cost = float((e * e).sum())
    for _ in range(iterations):
        H = J.T @ J
        diagonal = np.diag(H)
        step = np.linalg.lstsq(H + damping * np.diag(diagonal + 1e-9 * diagonal.max()), J.T @ e, rcond=None)[0]
        trial = [q[0] - step[: len(q[0])], q[1] - step[len(q[0]) :]]
        found = _projected(poses, trial, kinds, lever)
        new = float((found[2] ** 2).sum())
        if new < cost:
            small = cost - new < 1e-9 * cost
            q, (place, turn, e, J), cost = trial, found, new
            damping = max(0.2 * damping, 1e-12)
            if small:
                break
        else:
            damping *= 5.0
            if damping > 1e8:
                break
    refined = DyadSet(*(np.array(column) for column in zip(*(_dyad(v, guide) for v, guide in zip(q, kinds, strict=True)), strict=True)))
    return FittedPoses(refined, place, turn, float(np.sqrt(cost / len(poses.place))))


def _dimensions(poses: PoseSet, dyads: DyadSet) -> list[np.ndarray]:
    """(x, a, R) of a link, (x, angle of the normal, offset) of a guide."""
    out = []
    lengths = np.abs(poses.moved(dyads.moving) - dyads.ground[:, None]).mean(axis=1)
    for x, a, u, length in zip(dyads.moving, dyads.ground, dyads.direction, lengths, strict=True):
        normal = -1j * u
        guide = [x.real, x.imag, np.angle(normal), (np.conj(normal) * a).real]
        out.append(np.array(guide if u != 0.0 else [x.real, x.imag, a.real, a.imag, length]))
    return out


def _dyad(v: np.ndarray, guide: bool) -> tuple[complex, complex, complex]:
    normal = np.exp(1j * v[2])
    return (v[0] + 1j * v[1], v[3] * normal, 1j * normal) if guide else (v[0] + 1j * v[1], v[2] + 1j * v[3], 0.0)


def _projected(
    poses: PoseSet, q: list[np.ndarray], kinds: np.ndarray, lever: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Poses of the coupler nearest to the wanted ones, differences to these (3 n,) and their Jacobian by the dimensions."""
    n = len(poses.place)
    away = np.zeros((n, 3))  # from the wanted pose: x, y, lever * angle
    G, H = np.zeros((n, 2, 3)), np.zeros((n, 2, sum(map(len, q))))
    place, turn = poses.place, poses.turn
    for _ in range(8):
        place, turn = poses.place + away[:, 0] + 1j * away[:, 1], poses.turn * np.exp(1j * away[:, 2] / lever)
        here = PoseSet(place, turn, poses.center, poses.size)
        g = np.zeros((n, 2))
        column = 0
        for k, (v, guide) in enumerate(zip(q, kinds, strict=True)):
            r, J = (_guide_residuals if guide else _link_residuals)(here, v[None])
            g[:, k], H[:, k, column : column + len(v)] = r[0], J[0]
            column += len(v)
            x = v[0] + 1j * v[1]
            unit = np.exp(-1j * v[2]) if guide else np.conj((here.moved(np.array([x]))[0] - v[2] - 1j * v[3]) / (r[0] + v[4]))
            slope = np.broadcast_to(unit, n)
            G[:, k] = np.column_stack([slope.real, -slope.imag, (slope * 1j * turn * x).real / lever])
        inverse = np.swapaxes(tracking.solved(G @ np.swapaxes(G, 1, 2), G), 1, 2)  # of full row rank
        away = (inverse @ ((G @ away[..., None]) - g[..., None]))[..., 0]  # the least distance that meets the linearized constraints
    return place, turn, away.ravel(), -(inverse @ H).reshape(3 * n, -1)
