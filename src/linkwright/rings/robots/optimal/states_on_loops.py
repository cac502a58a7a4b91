"""States of a motion in independent coordinates: q on the loops for every theta, and the equations there with exact derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import Compiled, tolerances
from linkwright.properties import cached_property

Array = np.ndarray
LONGEST = 0.25  # radians or kappa in one step along the loops: short enough to stay on the branch
MOST_STEPS = 200
NEWTON = 12
DIFFERENCE = 1e-6  # of a dimensionless variable, for second derivatives from exact first ones


@dataclass(frozen=True, eq=False)
class LoopStates:
    """Positions of a mechanism on its loops by independent coordinates, of one branch."""

    core: Compiled
    coordinates: tuple[str, ...]
    sizes: Array  # of the coordinates: 1 rad, or the characteristic length

    @cached_property
    def _stride(self) -> Any:
        return self.core.kernels.get("stride", drives=self.coordinates)

    def closed(self, theta: Array, from_theta: Array, from_q: Array) -> tuple[Array, Array]:
        """q for rows of theta, from positions on the loops with other values; and a mask of the rows that were reached on the branch."""
        change = theta - from_theta
        longest = float(np.nanmax(np.abs(change / self.sizes), initial=0.0))
        if not np.isfinite(longest) or longest > LONGEST * MOST_STEPS:
            return from_q, np.zeros(len(theta), dtype=bool)
        q, steps, sign = from_q, max(1, int(np.ceil(longest / LONGEST))), None
        ok = np.ones(len(theta), dtype=bool)
        for k in range(1, steps + 1):
            goal = from_theta + change * (k / steps)
            for _ in range(NEWTON):
                found = self._once(q, goal)
                sign = np.sign(found.determinant[:, 0]) if sign is None else sign
                gap, q = found.residual[:, 0], np.where(np.isfinite(found.q), found.q, q)
                if gap.max(initial=0.0) < tolerances.CLOSED:
                    break
            ok &= (gap < tolerances.CLOSED_AT_BEST) & (np.sign(found.determinant[:, 0]) == sign)
        return q, ok

    def near(self, theta: Array, q: Array) -> Array:
        """q for theta so near that two steps of Newton's method are exact."""
        return self._once(self._once(q, theta).q, theta).q

    def _once(self, q: Array, theta: Array) -> Any:
        return self._stride(np.ascontiguousarray(q), np.ascontiguousarray(theta), np.zeros_like(theta))

    def along(self, theta: Array, start_theta: Array, start_q: Array) -> tuple[Array, int | None]:
        """q for rows of theta one after the other, from a start; and the first row that cannot be reached."""
        out, q, before = [], start_q[None], start_theta[None]
        for i, row in enumerate(theta):
            q, ok = self.closed(row[None], before, q)
            if not ok[0]:
                return np.array(out), i
            out.append(q[0])
            before = row[None]
        return np.array(out).reshape(len(theta), -1), None


@dataclass(frozen=True, eq=False)
class MotionPoints:
    """The equations at many states z = (theta, w, u), one in each row: see `CoordinateMotion`."""

    states: LoopStates
    motion: Any  # kernels.coordinate_motion.CoordinateMotion
    sizes: Array  # of z
    scale: Array | None = None  # factors of the last reads, which are those of contacts

    def at(self, z: Array, q: Array, *, slopes: bool = True) -> dict[str, Array]:
        n = len(self.states.coordinates)
        out = self.motion.values(q, z[:, n : 2 * n], z[:, 2 * n :], slopes=slopes)
        if self.scale is not None:
            count = len(self.scale)
            out["reads"][:, -count:] *= self.scale
            if slopes:
                out["D"][:, -count:] *= self.scale[:, None]
        return out

    def curvature(self, z: Array, q: Array, D: Array, weights: Array) -> Array:
        """Second derivatives of the weighted sum of f and reads at every state, (rows, nz, nz), from differences of exact first ones."""
        n, nz = len(self.states.coordinates), z.shape[1]
        out = np.empty((len(z), nz, nz))
        base = np.einsum("kr,krz->kz", weights, D)
        for j in range(nz):
            step = DIFFERENCE * self.sizes[j]
            there = z.copy()
            there[:, j] += step
            q_there = self.states.near(there[:, :n], q) if j < n else q
            out[:, j] = (np.einsum("kr,krz->kz", weights, self.at(there, q_there)["D"]) - base) / step
        return 0.5 * (out + out.transpose(0, 2, 1))


def spread(values: Sequence[float] | Array, count: int) -> Array:
    """The same row many times."""
    return np.tile(np.asarray(values, dtype=float), (count, 1))
