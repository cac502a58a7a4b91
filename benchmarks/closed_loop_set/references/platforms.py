"""All poses of platforms on legs of given lengths: searched from random starts, refined in 40 digits, proven by Krawczyk's test.

The equations are distances between points, with the orientation as (cos, sin) in the plane and as a unit quaternion in space. A general
platform has at most 40 poses in space [Ronga, Vust 1992; Mourrain 1993] and six in the plane [Merlet, Parallel Robots, 4.3]; as many
different proven ones are all there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mpmath import mpf

from benchmarks.closed_loop_set.references.certificates import System, certified, evaluated, refined, separation, total

Points = Sequence[Sequence[str]]


def spatial(base: Points, platform: Points, legs: Sequence[str]) -> System:
    """Return the equations of (x, y, z, qw, qx, qy, qz): place of the platform's origin and its unit quaternion."""

    def system(x: Sequence[Any], number: Callable[[str], Any]) -> list[Any]:
        w, a, b, c = x[3:]
        R = [
            [w * w + a * a - b * b - c * c, 2 * (a * b - w * c), 2 * (a * c + w * b)],
            [2 * (a * b + w * c), w * w - a * a + b * b - c * c, 2 * (b * c - w * a)],
            [2 * (a * c - w * b), 2 * (b * c + w * a), w * w - a * a - b * b + c * c],
        ]
        return [w * w + a * a + b * b + c * c - 1, *_distances(x[:3], R, (base, platform, legs), number)]

    return system


def planar(base: Points, platform: Points, legs: Sequence[str]) -> System:
    """Return the equations of (x, y, cos, sin)."""

    def system(x: Sequence[Any], number: Callable[[str], Any]) -> list[Any]:
        c, s = x[2:]
        return [c * c + s * s - 1, *_distances(x[:2], [[c, -s], [s, c]], (base, platform, legs), number)]

    return system


def _distances(
    place: Sequence[Any], R: list[list[Any]], robot: tuple[Points, Points, Sequence[str]], number: Callable[[str], Any]
) -> list[Any]:
    out = []
    for a, b, leg in zip(*robot, strict=True):
        to = [place[i] + total([R[i][k] * number(b[k]) for k in range(len(b))]) - number(a[i]) for i in range(len(a))]
        out.append(total([d * d for d in to]) - number(leg) * number(leg))
    return out


def searched(base: Points, platform: Points, legs: Sequence[str], *, wanted: int, seed: int = 0, most: int = 200_000) -> np.ndarray:
    """Return different real solutions in doubles by Newton's method from random starts, at most `wanted` of them."""
    A, B, L = np.array(base, float), np.array(platform, float), np.array(legs, float)
    space = A.shape[1] == 3
    rng, found = np.random.default_rng(seed), np.zeros((0, 7 if space else 4))
    reach = float(L.max() + np.abs(A).max() + np.abs(B).max())
    for _ in range(max(1, most // 4000)):
        x = rng.standard_normal((4000, found.shape[1]))
        x[:, : A.shape[1]] *= 0.5 * reach
        for _ in range(40):
            F, J = _doubles(x, A, B, L)
            with np.errstate(all="ignore"):
                step = np.linalg.solve(J + 1e-14 * np.eye(J.shape[1]), F[..., None])[..., 0]
                x = x - step
            x = x[np.isfinite(x).all(axis=1) & (np.abs(x).max(axis=1) < 1e3 * reach)]
        x = x[np.abs(_doubles(x, A, B, L)[0]).max(axis=1) < 1e-9 * reach**2]
        if space:
            x[:, 3:] *= np.where(x[:, 3:4] < 0.0, -1.0, 1.0)
        for row in x:
            if not len(found) or np.abs(found - row).max(axis=1).min() > 1e-6:
                found = np.concatenate([found, row[None]])
        if len(found) >= wanted:
            break
    return found[:wanted]


def _doubles(x: np.ndarray, A: np.ndarray, B: np.ndarray, L: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return residuals and Jacobians of many points at once."""
    n = A.shape[1]
    R, slopes = _turned_space(x[:, 3:]) if n == 3 else _turned_plane(x[:, 2:])
    to = x[:, None, :n] + np.einsum("kij,lj->kli", R, B) - A
    F = np.concatenate([(x[:, n:] ** 2).sum(1, keepdims=True) - 1.0, (to**2).sum(2) - L**2], axis=1)
    J = np.zeros((*F.shape, x.shape[1]))
    J[:, 0, n:] = 2.0 * x[:, n:]
    J[:, 1:, :n] = 2.0 * to
    J[:, 1:, n:] = 2.0 * np.einsum("kli,kqij,lj->klq", to, slopes, B)
    return F, J


def _turned_plane(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    c, s = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[0.0, -1.0], [1.0, 0.0]])
    return u[:, 0, None, None] * c + u[:, 1, None, None] * s, np.broadcast_to(np.array([c, s]), (len(u), 2, 2, 2))


def _turned_space(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    w, x, y, z = q.T
    rows = [[w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z]]  # fmt: skip
    by = [[[w, -z, y], [z, w, -x], [-y, x, w]], [[x, y, z], [y, -x, -w], [z, w, -x]],
          [[-y, x, w], [x, y, z], [-w, z, -y]], [[-z, -w, x], [w, -z, y], [x, y, z]]]  # fmt: skip
    return np.moveaxis(np.array(rows), -1, 0), 2.0 * np.moveaxis(np.array(by), -1, 0)


def proven(system: System, starts: Sequence[Sequence[Any]], radius: str = "1e-10") -> tuple[list[list[Any]], Any, Any]:
    """Return refined roots, separation and largest residual; raise ArithmeticError unless every box of the radius holds one root."""
    roots = [refined(system, start) for start in starts]
    if not all(certified(system, x, mpf(radius)) for x in roots):
        raise ArithmeticError(f"Krawczyk's test does not hold in a box of radius {radius}")
    apart = separation(roots)
    if not apart > 2 * mpf(radius):
        raise ArithmeticError("two boxes meet: the roots are not proven to be different")
    return roots, apart, max(abs(f) for x in roots for f in evaluated(system, x)[0])
