"""Paths from one assembly mode to another that meet no singular position: two random trees on the set of all closed positions.

Positions are pairs z = (x, u / units) of poses and drives on F(x, u) = 0. Where det F_x is zero the drives lose control of the poses, and
on a path without such a position it keeps its sign: modes with different signs have no such path. Trees grow from both modes along tangents
toward random poses and toward each other, in lanes; a step counts if Newton's method brings it back onto the loops, the sign stays and
the smallest singular value of F_x with unit rows stays above a margin, also half way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from linkwright.compiler.complex_newton import linearized
from linkwright.compiler.derivatives import replay
from linkwright.compiler.program import Program
from linkwright.mechanics.closing.newton import EachRule, onto_each
from linkwright.motion.pose_equations import PoseEquations

STEP = 0.1  # of a path, in unknowns: radians or typical lengths
LANES = 48  # positions that grow at once
GREEDY = 6  # steps toward one random pose
LAST_STEP = 1e-5  # of Newton's method, in unknowns: what is left is of the size of its square


@dataclass(frozen=True)
class ClosedPositions:
    """Closed positions of a mechanism: projection, regularity and distances in lanes."""

    P: PoseEquations
    whole: Program
    margin: float
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, P: PoseEquations, margin: float, within: Mapping[str, tuple[float, float]]) -> ClosedPositions:
        """The positions whose drives are within limits."""
        low, high = (np.array([within.get(name, (-np.inf, np.inf))[k] for name in P.names]) for k in (0, 1))
        low, high = low / P.units, high / P.units
        return cls(P, linearized(P.manifold_program()), margin, low, high)

    def evaluated(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """F (N, n) and its Jacobian by x and u (N, n, n + k)."""
        zero = np.zeros(len(z))
        values = replay(self.whole, [*z.T, zero, zero])
        packed = np.stack([np.broadcast_to(y, len(z)) for y in values], axis=-1).astype(float)
        spans = {b.name: b.span for b in self.whole.outputs}
        return packed[:, spans["F"]], packed[:, spans["J"]].reshape(len(z), self.P.count, z.shape[1])

    def closed(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions brought onto the loops by steps of minimum norm, and whether they are there."""

        def steps(x: np.ndarray, at: np.ndarray) -> np.ndarray:
            F, J = self.evaluated(x)
            return -_shortest(J, F)

        return onto_each(steps, np.add, z, EachRule(most=8, last=LAST_STEP))

    def signs(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sign of det F_x and the smallest singular value of F_x with unit rows."""
        A = self.evaluated(z)[1][:, :, : self.P.size]
        A = A / np.maximum(np.linalg.norm(A, axis=2, keepdims=True), 1e-300)
        return np.linalg.slogdet(A)[0], np.linalg.svd(A, compute_uv=False)[:, -1]

    def stepped(self, z: np.ndarray, toward: np.ndarray, sign: float, step: float) -> tuple[np.ndarray, np.ndarray]:
        """One step of every position along its tangent space toward another, and whether it counts."""
        J = self.evaluated(z)[1]
        d = toward - z
        d = d - _shortest(J, (J @ d[..., None])[..., 0])
        length = np.linalg.norm(d, axis=1)
        d *= (np.minimum(step, length) / np.maximum(length, 1e-300))[:, None]
        (ends, ok), (middle, also) = self.closed(z + d), self.closed(z + 0.5 * d)
        ok &= also & (length > 1e-3 * step) & (np.linalg.norm(ends - z, axis=1) < 2.0 * step)
        ok &= self.good(np.where(ok[:, None], ends, z), sign) & self.good(np.where(ok[:, None], middle, z), sign)
        return ends, ok

    def good(self, z: np.ndarray, sign: float) -> np.ndarray:
        """Return whether positions keep the sign, the margin and the limits of the drives."""
        signs, smallest = self.signs(z)
        u = z[:, self.P.size :]
        lengths = list(self.P.lengths.values())
        return (
            (signs == sign)
            & (smallest > self.margin)
            & (u >= self.low).all(axis=1)
            & (u <= self.high).all(axis=1)
            & (u[:, lengths] > 0.0).all(axis=1)
        )


def _shortest(J: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The shortest x with J x = b in every lane; a little damping lets singular positions pass."""
    gram = J @ J.transpose(0, 2, 1) + 1e-14 * np.eye(J.shape[1])
    return (J.transpose(0, 2, 1) @ np.linalg.solve(gram, b[..., None]))[..., 0]


@dataclass
class ReachedTree:
    """Positions reached from a mode, each with the one before it."""

    z: np.ndarray
    before: list[int] = field(default_factory=lambda: [-1])

    def add(self, z: np.ndarray, before: np.ndarray) -> np.ndarray:
        """Add positions; return their places."""
        places = len(self.z) + np.arange(len(z))
        self.z = np.concatenate([self.z, z])
        self.before += [int(i) for i in before]
        return places

    def way(self, i: int) -> list[int]:
        """Places from the mode to a position."""
        out = []
        while i >= 0:
            out.append(i)
            i = self.before[i]
        return out[::-1]


def singularity_free(on: ClosedPositions, first: np.ndarray, second: np.ndarray, *, most: int, seed: int) -> np.ndarray | None:
    """Return positions of a path between two modes (same sign of det F_x), at steps of a quarter of STEP; None if none was found."""
    sign = float(on.signs(first[None])[0][0])
    rng = np.random.default_rng(seed)
    trees = [ReachedTree(first[None]), ReachedTree(second[None])]
    by_poses = on.P.count - sum(b.kind != "slide" for b in on.P.blocks) == len(on.P.names)
    near = slice(0, on.P.size) if by_poses else slice(None)  # as many drives as equations: the poses are free
    for _ in range(max(1, most // LANES)):  # a round in which no step counts adds nothing
        if sum(len(t.z) for t in trees) >= most:
            break
        for mine, other in (trees, trees[::-1]):
            targets = np.concatenate(
                [_random(on, first, second, rng, LANES // 2), other.z[rng.integers(len(other.z), size=LANES - LANES // 2)]]
            )
            joined = _grown(on, mine, other, targets, near, sign)
            if joined is not None:
                pair = joined if mine is trees[0] else joined[::-1]
                path = np.concatenate([trees[0].z[trees[0].way(pair[0])], trees[1].z[trees[1].way(pair[1])[::-1]]])
                return _checked(on, _shortened(on, path, sign, rng), sign)
    return None


def _random(on: ClosedPositions, first: np.ndarray, second: np.ndarray, rng: np.random.Generator, count: int) -> np.ndarray:
    """Random poses in and around the region of the modes."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    room = 0.5 * (high - low) + 0.7
    z = rng.uniform(low - room, high + room, size=(count, len(first)))
    for b in on.P.blocks:
        if b.kind != "slide":
            part = rng.standard_normal((count, b.size))
            z[:, b.span] = part / np.linalg.norm(part, axis=1, keepdims=True)
    return z


def _grown(
    on: ClosedPositions, mine: ReachedTree, other: ReachedTree, targets: np.ndarray, near: slice, sign: float
) -> tuple[int, int] | None:
    """Steps of a tree toward targets; the places where it met the other one."""
    at = np.array([int(np.argmin(((mine.z[:, near] - t[near]) ** 2).sum(axis=1))) for t in targets])
    at, chosen = np.unique(at, return_index=True)  # several targets for one position: the first
    targets = targets[chosen]
    if near != slice(None):  # drives follow the poses
        targets = np.array(targets)
        targets[:, near.stop :] = mine.z[at][:, near.stop :]
    for _ in range(GREEDY):
        if not len(at):
            return None
        z, ok = on.stepped(mine.z[at], targets, sign, STEP)
        fresh = mine.add(z[ok], at[ok])
        for i in fresh:
            apart = np.linalg.norm(other.z - mine.z[i], axis=1)
            k = int(np.argmin(apart))
            if apart[k] < 1.5 * STEP and _straight(on, mine.z[i], other.z[k], sign) is not None:
                return int(i), k
        at, targets = fresh, targets[ok]
    return None


def _straight(on: ClosedPositions, a: np.ndarray, b: np.ndarray, sign: float) -> np.ndarray | None:
    """Positions from a to b along a straight line brought onto the loops, b with them; None if one is not good."""
    count = max(2, int(np.ceil(4.0 * np.linalg.norm(b - a) / STEP)))
    z, ok = on.closed(a + np.linspace(0.0, 1.0, count + 1)[1:, None] * (b - a))
    gaps = np.linalg.norm(np.diff(np.concatenate([a[None], z]), axis=0), axis=1)
    near = ok.all() and gaps.max() < 0.75 * STEP and np.abs(z[-1] - b).max() < 1e-6
    return z if near and on.good(z, sign).all() else None


def _shortened(on: ClosedPositions, path: np.ndarray, sign: float, rng: np.random.Generator) -> np.ndarray:
    """The path with detours replaced by straight pieces where these are good."""
    for _ in range(60):
        if len(path) < 3:
            break
        i, k = sorted(rng.choice(len(path), size=2, replace=False))
        if k - i < 2:
            continue
        piece = _straight(on, path[i], path[k], sign)
        if piece is not None:
            path = np.concatenate([path[: i + 1], piece[3::4], path[k:] if (len(piece) % 4) else path[k + 1 :]])
    return path


def _checked(on: ClosedPositions, path: np.ndarray, sign: float) -> np.ndarray | None:
    """All positions at a quarter of the step; None if one of them is not good."""
    out = [path[:1]]
    for a, b in pairwise(path):
        piece = _straight(on, a, b, sign)
        if piece is None:
            return None
        out.append(piece)
    return np.concatenate(out)
