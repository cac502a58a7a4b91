"""The largest effort that dry friction can hold, at one position.

At rest the friction s of every joint is unknown within Coulomb's bound, while reactions and the effort of the drive follow from it:

    |s_i| <= c_i |F_i(s)| + C_i        F(s) = F0 + F' s        u(s) = u0 + g's

c is mu times radius (mu of a slider), C the constant part. If P = c |F'| has a spectral radius below 1, all such s are the image of a cube:
s_i = theta_i (c_i |F_i(s)| + C_i) with |theta_i| <= 1 has one solution for every theta. The bounds are convex in s, so the largest u is
reached at a corner, where every joint is at its bound. The sign of theta_i is that of y_i, y = (1 - theta c F')^-T g, and |y - g| is at
most ((1 - P')^-1 - 1)|g|. Therefore the sign is certain where |g_i| is larger. For the other joints, near dead centers, both are tried.

If the spectral radius is 1 or more, friction may grow with the effort that it holds, without end: self-locking. Then the solutions are
followed from theta = 0 for every choice of signs, as points (x, w) with s = x / w, so that a solution that leaves for infinity has w = 0.
From there friction may turn to hold efforts of the other sign, which is looked for in small steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from linkwright.api import UsageError

MOST_OPEN = 12  # joints of either sign: each doubles the choices
MOST_FOLLOWED = 8  # joints where solutions have to be followed
ROUNDS = 200
SETTLED = 1e-15
NO_INFLUENCE = 1e-13  # share of the largest influence below which the sign of a friction does not matter
LONGEST, SHORTEST = 0.2, 1e-7  # steps along a solution, of an arc on the unit sphere
TRIES = 300  # random steps toward efforts of the other sign
MOST_POINTS = 2000  # points of one solution
Equations = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class AffineLoads:
    """Effort and forces in joints with friction as they depend on that friction."""

    u: float  # effort of the drive without friction
    g: np.ndarray  # (m,) by friction
    F: np.ndarray  # (m, 3) forces in the joints without friction
    dF: np.ndarray  # (m, 3, m)
    c: np.ndarray  # (m,) friction by force
    C: np.ndarray  # (m,) constant friction

    @property
    def gain(self) -> np.ndarray:
        """P: friction that a unit of another friction can cause at most."""
        return self.c[:, None] * np.linalg.norm(self.dF, axis=1)


class Limit(NamedTuple):
    """An end of the range: the effort, and what the friction of each joint adds to it; infinite where the mechanism locks itself."""

    effort: float
    shares: np.ndarray
    proven: bool


def limits(a: AffineLoads) -> tuple[Limit, Limit]:
    """The least and the largest effort of the drive at rest."""
    P = a.gain
    if not np.isfinite(P).all() or _radius(P) >= 1.0:
        return _followed(a)
    patterns = _patterns(a, P)
    s = np.concatenate([_settled(a, -patterns), _settled(a, patterns)])
    held = s @ a.g
    least, most = int(held.argmin()), int(held.argmax())
    return Limit(float(a.u + held[least]), a.g * s[least], True), Limit(float(a.u + held[most]), a.g * s[most], True)


def _radius(P: np.ndarray) -> float:
    return float(np.abs(np.linalg.eigvals(P)).max(initial=0.0))


def _patterns(a: AffineLoads, P: np.ndarray) -> np.ndarray:
    """Signs of the friction for the largest effort; several rows where those of some joints are not certain."""
    size = np.abs(a.g)
    doubt = np.linalg.solve(np.eye(len(size)) - P.T, size) - size
    open_ = np.flatnonzero((size <= doubt * (1.0 + 1e-9)) & (doubt > NO_INFLUENCE * size.max(initial=0.0)))
    if len(open_) > MOST_OPEN:
        raise UsageError(
            f"{len(open_)} joints have friction that can act either way at this position. At most {MOST_OPEN} are compared. "
            "Leave out friction that does not matter."
        )
    out = np.tile(np.where(a.g < 0.0, -1.0, 1.0), (2 ** len(open_), 1))
    out[:, open_] = np.array(list(product((1.0, -1.0), repeat=len(open_)))).reshape(len(out), len(open_))
    return out


def _settled(a: AffineLoads, theta: np.ndarray) -> np.ndarray:
    """Friction at its bounds with the given signs, (number, m): a fixed point that contracts, sharpened by Newton."""
    s = np.zeros_like(theta)
    for k in range(ROUNDS):
        F = a.F + np.einsum("ijk,nk->nij", a.dF, s)
        N = np.linalg.norm(F, axis=2)
        r = theta * (a.c * N + a.C) - s
        if np.abs(r).max(initial=0.0) <= SETTLED * np.abs(s).max(initial=0.0):
            break
        if k < 4 or k > ROUNDS // 2:
            s = s + r
        else:
            n = F / np.where(N > 0.0, N, 1.0)[:, :, None]
            G = np.eye(len(a.g)) - (theta * a.c)[:, :, None] * np.einsum("nij,ijk->nik", n, a.dF)
            s = s + np.linalg.solve(G, r[:, :, None])[:, :, 0]
            if np.abs(r).max() <= 1e-13 * np.abs(s).max():
                break
    return s


# -------------------------------------------------------------------- self-locking


def _followed(a: AffineLoads) -> tuple[Limit, Limit]:
    """Both ends where friction may lock the mechanism: over all signs, as far as solutions lead from no friction."""
    m = len(a.g)
    if m > MOST_FOLLOWED:
        raise UsageError(
            f"the friction of {m} joints is so strong here that the mechanism may lock itself, and this is computed for at most "
            f"{MOST_FOLLOWED} joints. Leave out friction that does not matter."
        )
    low = high = Limit(a.u, np.zeros(m), m == 1)  # one friction has one way to grow
    for signs in product((1.0, -1.0), repeat=m):
        x, w = _path(a, np.array(signs))
        shares = a.g * x
        held = float(shares.sum())
        if w <= 0.0:  # along this direction without end
            size = float(np.abs(shares).max(initial=0.0))
            if abs(held) <= NO_INFLUENCE * size or size == 0.0:
                continue
            other = _turned(a, x, -np.sign(held)) if m > 1 and not (np.isinf(low.effort) and np.isinf(high.effort)) else None
            ends = [_endless(shares), *([] if other is None else [_endless(a.g * other)])]
        else:
            ends = [Limit(a.u + held / w, shares / w, m == 1)]
        for end in ends:
            low, high = (end if end.effort < low.effort else low), (end if end.effort > high.effort else high)
    return low, high


def _endless(shares: np.ndarray) -> Limit:
    """An end without limit, in the direction of these shares."""
    counts = np.abs(shares) > NO_INFLUENCE * np.abs(shares).max()
    return Limit(float(np.copysign(np.inf, shares.sum())), np.where(counts, np.copysign(np.inf, shares), 0.0), True)


def _turned(a: AffineLoads, x: np.ndarray, way: float) -> np.ndarray | None:
    """A direction without end that holds efforts of the other sign, reached from x in small steps within the bounds; None if none is found.

    Directions without end form a cone, because the loads without friction do not count there.
    """
    size = np.where(x == 0.0, 1.0, np.abs(x))
    z, step, rng = x / size, 0.3, np.random.default_rng(0)

    def allowed(points: np.ndarray) -> bool:
        N = np.linalg.norm(np.einsum("ijk,nk->nij", a.dF, points * size), axis=2)
        return bool((np.abs(points) * size <= a.c * N).all())

    z = z / np.linalg.norm(z)
    for _ in range(TRIES):
        near = z + step * rng.normal(size=len(z))
        near = near / np.linalg.norm(near)
        better = way * float(a.g @ ((near - z) * size)) > 0.0
        if better and allowed(z + np.linspace(0.0, 1.0, 9)[1:, None] * (near - z)):
            z, step = near, min(1.5 * step, 0.5)
        else:
            step = max(0.9 * step, 1e-3)
        shares = a.g * z * size
        if way * shares.sum() > NO_INFLUENCE * np.abs(shares).max():
            return z * size
    return None


def _path(a: AffineLoads, signs: np.ndarray) -> tuple[np.ndarray, float]:
    """(x, w) with s = x / w at theta = signs, or w = 0 and a direction: the solution that begins without friction.

    Points are (x, w, tau) with theta = tau signs; x is measured in the size of the friction, so that the sphere is round.
    """
    m, size = len(signs), max(float((a.c * np.linalg.norm(a.F, axis=1) + a.C).max(initial=0.0)), 1e-300)

    def equations(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x, w, tau = z[:m] * size, z[m], z[m + 1]
        F = w * a.F + a.dF @ x
        N = np.linalg.norm(F, axis=1)
        n = F / np.where(N > 0.0, N, 1.0)[:, None]
        bound = a.c * N + w * a.C
        J = np.zeros((m + 1, m + 2))
        J[:m, :m] = np.eye(m) - tau * (signs * a.c)[:, None] * np.einsum("ij,ijk->ik", n, a.dF)
        J[:m, m] = -tau * signs * (a.c * np.einsum("ij,ij->i", n, a.F) + a.C) / size
        J[:m, m + 1] = -signs * bound / size
        J[m, : m + 1] = 2.0 * z[: m + 1]
        return np.append(z[:m] - tau * signs * bound / size, z[: m + 1] @ z[: m + 1] - 1.0), J

    z, way, step = np.append(np.zeros(m), (1.0, 0.0)), np.append(np.zeros(m + 1), 1.0), 0.05
    for _ in range(MOST_POINTS):
        tangent = np.linalg.svd(equations(z)[1])[2][-1]
        tangent = tangent if tangent @ way >= 0.0 else -tangent
        found = _corrected(equations, z + step * tangent, tangent, z + step * tangent)
        if found is None or (found - z) @ tangent < 0.5 * step:
            step *= 0.25
            if step < SHORTEST:  # a kink of a force that vanishes: what is reached is held
                break
            continue
        last, z, way, step = z, found, tangent, min(1.5 * step, LONGEST)
        if z[m] <= 0.0 or z[m + 1] >= 1.0:
            k = m if z[m] <= 0.0 and (last[m] / (last[m] - z[m])) * (z[m + 1] - last[m + 1]) + last[m + 1] < 1.0 else m + 1
            wanted = 0.0 if k == m else 1.0
            near = last + (wanted - last[k]) / (z[k] - last[k]) * (z - last)
            at = _corrected(equations, near, np.eye(m + 2)[k], near)
            z = near if at is None else at
            return z[:m] * size, 0.0 if k == m else float(z[m])
    return z[:m] * size, float(z[m])


def _corrected(equations: Equations, z: np.ndarray, normal: np.ndarray, through: np.ndarray) -> np.ndarray | None:
    """Newton onto the solution within the plane through a point."""
    for _ in range(12):
        r, J = equations(z)
        r, J = np.append(r, normal @ (z - through)), np.vstack([J, normal])
        try:
            step = np.linalg.solve(J, r)
        except np.linalg.LinAlgError:
            return None
        z = z - step
        if np.abs(step).max() <= 1e-14:
            return z
    return z if np.abs(step).max() <= 1e-10 else None
